"""CMU Face (UCI): 624 images of 20 people, 30 × 32 pixels; the classes are the four poses (SCDC paper, section 5.2).

UCI's archive (data set 124) has ``faces.tar.gz``, or the folders ``faces/<userid>/``. There are images of 20 people in
4 poses × 4 expressions × 2 (eyes open, sunglasses), at three scales; the files are named
``<userid>_<pose>_<expression>_<eyes>_<scale>.pgm``. 16 of the 640 images are damaged; their names end in ``.bad``. 624
quarter-scale images (``_4``, 32 columns × 30 rows) remain.
"""

import io
import re
import tarfile
import zipfile
from collections.abc import Iterator
from numbers import Integral
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
from PIL import Image
from sklearn.utils._param_validation import Interval, StrOptions, validate_params

from semicrowd.data.components import SCALINGS, principal_components
from semicrowd.data.dataset import Dataset
from semicrowd.data.fetch import PUBLIC, data_root, fetch
from semicrowd.errors import UserError

#: The classes, in the order of the label.
POSES = ("straight", "left", "right", "up")
#: Rows × columns of a quarter-scale image.
FACE_SHAPE = (30, 32)
_NAME = re.compile(r"(?P<person>[a-z0-9]+)_(?P<pose>straight|left|right|up)_"
                   r"(?P<expression>angry|happy|neutral|sad)_(?P<eyes>open|sunglasses)_4\.pgm")
#: First indices of blocks of the sorted images, except the first block; the published table has the blocks in reverse.
_BLOCK_STARTS = (104, 209, 314, 419, 524)
#: Folder below the data root in which the pipeline stores the components.
FEATURES = "face_features"


@validate_params(
    {"pca": [Interval(Integral, 1, 600, closed="both"), None], "standardize": [StrOptions(set(SCALINGS))]},
    prefer_skip_nested_validation=False,
)
def load_face(*, pca: int | None = 20, standardize: str = "none", root: Path | None = None) -> Dataset:
    """Load the faces, as principal components or as pixels.

    Parameters
    ----------
    pca : number of principal components (20 in the paper); None: pixels / 255
    standardize : what is scaled to mean 0 and variance 1: none, the pixels before the PCA, the components after it, or
        both. Neither the paper nor MCVC's code says it (docs/DEVIATIONS.md)
    root : data root, None: that of the environment; the table is in ``root/cmu_faces``, and is fetched if missing

    Returns
    -------
    Dataset
        ``features`` [624, pca] or [624, 960] in the table's order, ``labels`` the pose: straight, left, right, up.
    """
    if pca is None and standardize != "none":
        raise UserError(f"data.standardize={standardize}: expected none with data.pca=null (the pixels as they are)")
    root = root or data_root()
    pixels, pose = read_faces(root)
    labels = np.array([POSES.index(name) for name in pose], np.int64)
    features, shape = pixels, FACE_SHAPE if pca is None else None
    if pca is not None:
        features = principal_components(pixels, pca, standardize, root / FEATURES)
    hashes = dict(PUBLIC["face"].files)
    return Dataset(
        "face", features.astype(np.float32), labels, image_shape=shape, hashes=hashes, num_classes=len(POSES),
    )  # fmt: skip


def read_faces(root: Path) -> tuple[np.ndarray, np.ndarray]:
    """Pixels / 255 [624, 960] and names of the poses [624]; fetched if missing."""
    (path,) = fetch_faces(root).values()
    with np.load(path, allow_pickle=False) as table:
        pixels = table["images"].reshape(-1, FACE_SHAPE[0] * FACE_SHAPE[1]) / 255
        return pixels, table["pose"]


def fetch_faces(root: Path) -> dict[str, Path]:
    """The table of faces below ``root``; if missing it is made of UCI's archive, which lies beside it or is fetched."""
    return fetch("face", root, faces_of_archive)


def faces_of_archive(archive: zipfile.ZipFile, name: str) -> bytes:  # noqa: ARG001 - there is one file
    """Content of the table of the images, identical to the published file.

    Raises
    ------
    ValueError
        If the archive has no such images.
    """
    table = read_archive(archive)
    order = np.concatenate(np.split(np.arange(len(table["images"])), _BLOCK_STARTS)[::-1])
    content = io.BytesIO()
    arrays: dict[str, Any] = {name: column[order] for name, column in table.items()}
    np.savez_compressed(content, **arrays)
    return content.getvalue()


def read_archive(archive: zipfile.ZipFile) -> dict[str, np.ndarray]:
    """All quarter-scale images of an archive that can be read, sorted by person, pose, expression and eyes.

    Returns
    -------
    dict
        images [N, 30, 32] uint8; pose, expression and eyes [N], words; person [N], the position of the user id in
        alphabetical order.

    Raises
    ------
    ValueError
        If there are none.
    """
    image_of: dict[tuple[str, int, str, str], np.ndarray] = {}
    for name, content in _files(archive):
        match = _NAME.fullmatch(name)
        image = read_pgm(content) if match else None
        if match and image is not None:
            image_of[match["person"], POSES.index(match["pose"]), match["expression"], match["eyes"]] = image
    if not image_of:
        raise ValueError("no quarter-scale face images in it")
    keys = sorted(image_of)
    person, pose, expression, eyes = zip(*keys, strict=True)
    return {
        "images": np.stack([image_of[key] for key in keys]),
        "pose": np.array(POSES)[list(pose)],
        "expression": np.array(expression, "<U10"),
        "eyes": np.array(eyes, "<U10"),
        "person": np.unique(person, return_inverse=True)[1].astype(np.int16),
    }


def read_pgm(content: bytes) -> np.ndarray | None:
    """Grey values [30, 32] uint8 of a portable grey map; None if it is damaged or has another size."""
    try:
        with Image.open(io.BytesIO(content), formats=["PPM"]) as image:
            pixels = np.asarray(image)
    # Pillow raises these for an invalid header and for missing pixels.
    except (OSError, ValueError):
        return None
    return pixels if pixels.shape == FACE_SHAPE and pixels.dtype == np.uint8 else None


def _files(archive: zipfile.ZipFile) -> Iterator[tuple[str, bytes]]:
    """Name and content of the files that may be images, including those inside tar archives."""
    for member in archive.namelist():
        name = PurePosixPath(member).name
        if name.endswith((".tar.gz", ".tar", ".tgz")):
            with archive.open(member) as stream, tarfile.open(fileobj=stream) as tar:
                for inner in tar:
                    file = tar.extractfile(inner) if inner.isfile() else None
                    if file is not None:
                        yield PurePosixPath(inner.name).name, file.read()
        elif name.endswith(".pgm"):
            yield name, archive.read(member)
