"""Principal components of images, computed once and stored, so that the runs of a sweep use the same file.

For few images the components are stored (:func:`principal_components`), for many images the axes
(:func:`principal_axes`), on which a test split is projected, too.
"""

from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from semicrowd.data.frames import read_npz
from semicrowd.errors import UserError
from semicrowd.files import write_arrays

#: Option ``standardize`` → whether pixels are scaled to mean 0 and variance 1, and whether components are.
SCALINGS = {"none": (False, False), "before": (True, False), "after": (False, True), "both": (True, True)}


def principal_components(pixels: np.ndarray, num: int, standardize: str, folder: Path | None = None) -> np.ndarray:
    """The first ``num`` principal components of ``pixels`` [N, D], as [N, num] float64.

    Each has the sign that makes its largest loading positive.

    Parameters
    ----------
    standardize : key of :data:`SCALINGS`
    folder : folder in which they may be stored; None: they are computed
    """
    kept = None if folder is None else _read(place(folder, num, standardize), pixels, ("scores",))
    if kept is not None:
        return kept[0]
    # Imported here, because most data sets do not need it and the import takes half a second.
    from sklearn.decomposition import PCA
    from sklearn.preprocessing import StandardScaler

    before, after = SCALINGS[standardize]
    if before:
        pixels = StandardScaler().fit_transform(pixels)
    # The exact decomposition, which uses no random numbers; scikit-learn fixes the signs.
    scores = PCA(num, svd_solver="full").fit_transform(pixels)
    return StandardScaler().fit_transform(scores) if after else scores


def keep(path: Path, pixels: np.ndarray, content: Mapping[str, np.ndarray]) -> Path:
    """Write what was made of ``pixels`` (``scores``, or :class:`Axes`) and the hash of what it is made of."""
    write_arrays(path, {**content, "made_of": np.array(_made_of(pixels))})
    return path


def place(folder: Path, num: int, standardize: str) -> Path:
    """The file of stored components."""
    return folder / f"pca-{num}_standardize-{standardize}.npz"


class Axes(NamedTuple):
    """The mean of images and their first principal axes, float32."""

    mean: Float[np.ndarray, "D"]
    loadings: Float[np.ndarray, "num D"]

    def project(self, pixels: np.ndarray) -> np.ndarray:
        """Principal components [N, num] float32 of ``pixels`` [N, D] / 255, bytes."""
        centred = _scaled(pixels)
        centred -= self.mean
        return centred @ self.loadings.T


def principal_axes(pixels: np.ndarray, num: int, folder: Path | None = None) -> Axes:
    """The first ``num`` principal axes of ``pixels`` / 255, bytes [N, D], each with a positive largest loading.

    With more images than pixels they are eigenvectors of the covariance: 5 s for 20,000 images of 3072 pixels.

    Parameters
    ----------
    folder : folder in which they may be stored; None: they are computed
    """
    kept = None if folder is None else _read(axes_place(folder, num), pixels, ("mean", "loadings"))
    if kept is not None:
        return Axes(*kept)
    from sklearn.decomposition import PCA

    # Both solvers are exact and use no random numbers.
    solver = "covariance_eigh" if pixels.shape[0] > pixels.shape[1] else "full"
    fitted = PCA(num, svd_solver=solver).fit(_scaled(pixels))
    return Axes(fitted.mean_, fitted.components_)


def axes_place(folder: Path, num: int) -> Path:
    """The file of stored axes."""
    return folder / f"pca-{num}.npz"


def _made_of(pixels: np.ndarray) -> str:
    return sha256(Path(__file__).read_bytes() + np.ascontiguousarray(pixels).tobytes()).hexdigest()


def _read(path: Path, pixels: np.ndarray, names: tuple[str, ...]) -> list[np.ndarray] | None:
    if not path.exists():
        return None
    try:
        content = read_npz(path)
        return [content[name] for name in names] if str(content["made_of"]) == _made_of(pixels) else None
    except (UserError, KeyError) as error:
        raise UserError(f"{path}: damaged, or not the components that were kept here; delete it") from error


def _scaled(pixels: np.ndarray) -> np.ndarray:
    return pixels / np.float32(255)
