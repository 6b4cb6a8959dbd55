"""CMU Face (UCI): 624 images of 20 people, 30 × 32 pixels; the classes are the four poses (SCDC paper, section 5.2)."""

import sys
import zipfile
from pathlib import Path

import numpy as np

from semicrowd.data.components import principal_components
from semicrowd.data.dataset import Dataset
from semicrowd.data.face_archive import FACE_SHAPE, POSES, faces_of_archive
from semicrowd.data.fetch import fetch
from semicrowd.data.public import FACE_TABLE, PUBLIC
from semicrowd.data.sources import BROKEN
from semicrowd.errors import UserError
from semicrowd.settings.sources import FaceSettings

#: Name of UCI's archive; one that was downloaded by hand must be in the folder of the table.
ARCHIVE = "cmu+face+images.zip"
#: Folder below the data root in which the pipeline stores the components.
FEATURES = "face_features"


def load_face(root: Path, settings: FaceSettings) -> Dataset:
    """Load the faces, as principal components or as pixels.

    Neither the paper nor MCVC's code says whether pixels or components are scaled (docs/DEVIATIONS.md), so it is an
    option.

    Parameters
    ----------
    root : data root; the table is in ``root/cmu_faces``, and is fetched if missing
    settings : with ``pca`` the features are principal components (20 in the paper), else pixels / 255; ``standardize``
        scales pixels, components or both to mean 0 and variance 1

    Returns
    -------
    Dataset
        ``features`` [624, pca] or [624, 960] in the table's order, ``labels`` the pose: straight, left, right, up.

    Raises
    ------
    UserError
        If the table cannot be fetched.
    """
    pixels, pose = read_faces(root)
    labels = np.array([POSES.index(name) for name in pose], np.int64)
    features, shape = pixels, FACE_SHAPE if settings.pca is None else None
    if settings.pca is not None:
        features = principal_components(pixels, settings.pca, settings.standardize, root / FEATURES)
    hashes = {file.name: file.sha256 for file in PUBLIC["face"].files}
    return Dataset(
        "face", features.astype(np.float32), labels, image_shape=shape, hashes=hashes, num_classes=len(POSES),
    )  # fmt: skip


def read_faces(root: Path) -> tuple[np.ndarray, np.ndarray]:
    """Pixels / 255 [624, 960] and names of the poses [624]; fetched if missing."""
    with np.load(fetch_faces(root), allow_pickle=False) as table:
        pixels = table["images"].reshape(-1, FACE_SHAPE[0] * FACE_SHAPE[1]) / 255
        return pixels, table["pose"]


def fetch_faces(root: Path) -> Path:
    """Path of the table of faces below ``root``; if missing it is made from UCI's archive in its folder, or fetched.

    Raises
    ------
    UserError
        If it cannot be fetched; the message says which file to put where.
    """
    folder = root / PUBLIC["face"].folder
    archive = folder / ARCHIVE
    if archive.is_file() and not (folder / FACE_TABLE).exists():
        try:
            with zipfile.ZipFile(archive) as file:
                faces_of_archive(file, [FACE_TABLE], folder)
        except (OSError, *BROKEN) as error:
            print(f"note: {archive}: not the archive that was expected ({error}), left alone", file=sys.stderr)
    try:
        return fetch("face", root)[FACE_TABLE]
    except UserError as error:
        raise UserError(f"{error}; UCI's {ARCHIVE} (data set 124) in {folder} will do as well") from error
