"""Principal components of images, computed once and kept: the runs of a sweep start from the same file."""

import zlib
from hashlib import sha256
from pathlib import Path
from zipfile import BadZipFile

import numpy as np

from semicrowd.errors import UserError

#: Option ``standardize`` → whether pixels, and whether principal components, get mean 0 and variance 1.
SCALINGS = {"none": (False, False), "before": (True, False), "after": (False, True), "both": (True, True)}


def principal_components(pixels: np.ndarray, num: int, standardize: str, folder: Path | None = None) -> np.ndarray:
    """The first ``num`` principal components of ``pixels`` [N, D], as [N, num] float64.

    Each has the sign that makes its largest loading positive.

    Parameters
    ----------
    standardize : key of :data:`SCALINGS`
    folder : where they may have been kept; None: compute
    """
    kept = None if folder is None else _read(place(folder, num, standardize), pixels)
    return _compute(pixels, num, standardize) if kept is None else kept


def kept_components(pixels: np.ndarray, num: int, standardize: str) -> dict[str, np.ndarray]:
    """Content of the npz file at :func:`place`: the components, and the hash of what they are made of."""
    return {"scores": _compute(pixels, num, standardize), "made_of": np.array(_made_of(pixels))}


def place(folder: Path, num: int, standardize: str) -> Path:
    """Where components are kept."""
    return folder / f"pca-{num}_standardize-{standardize}.npz"


def _made_of(pixels: np.ndarray) -> str:
    """Hash of the pixels and of this file, so that components made of others are not taken."""
    return sha256(Path(__file__).read_bytes() + np.ascontiguousarray(pixels).tobytes()).hexdigest()


def _read(path: Path, pixels: np.ndarray) -> np.ndarray | None:
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as content:
            return content["scores"] if str(content["made_of"]) == _made_of(pixels) else None
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, EOFError, TypeError, BadZipFile, zlib.error) as error:
        raise UserError(f"{path}: damaged, or not the components that were kept here; delete it") from error


def _compute(pixels: np.ndarray, num: int, standardize: str) -> np.ndarray:
    # Imported here: most data sets do without, and it takes half a second.
    from sklearn.decomposition import PCA
    from sklearn.preprocessing import StandardScaler

    before, after = SCALINGS[standardize]
    if before:
        pixels = StandardScaler().fit_transform(pixels)
    # The exact decomposition, whose signs scikit-learn fixes: no draw is involved.
    scores = PCA(num, svd_solver="full").fit_transform(pixels)
    return StandardScaler().fit_transform(scores) if after else scores
