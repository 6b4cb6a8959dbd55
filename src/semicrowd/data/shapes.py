"""Points of the plane in long and in bent clusters (Li et al. 2022, Fig. 1)."""

import hashlib
from pathlib import Path

import numpy as np
from sklearn.datasets import make_moons

from semicrowd.data.dataset import Dataset
from semicrowd.random import stream
from semicrowd.settings.sources import ShapesSettings

#: Centres of the Gaussians.
_CENTRES = np.array([[0.0, 0.0], [3.0, 3.0], [3.5, -3.0]])
#: Angles of their long axes, in radians.
_ANGLES = np.array([0.3, 2.2, 1.2])
#: Standard deviations along the long axes.
_ALONG = np.array([1.6, 1.6, 1.4])
#: Standard deviations across.
_ACROSS = np.array([0.35, 0.35, 0.4])
#: Standard deviation of the moons' points, whose radius is 1.
_NOISE = 0.07


def load_shapes(root: Path, settings: ShapesSettings) -> Dataset:  # noqa: ARG001 - generated: no file is read
    """Draw three Gaussians with long axes of their own, or two half circles in each other. The paper gives no numbers.

    Returns
    -------
    Dataset
        ``features`` [classes · points_per_class, 2], the items in random order.
    """
    rng, number = stream(settings.data_seed, "shapes"), settings.points_per_class
    if settings.which == "moons":
        state = np.random.RandomState(rng.integers(2**31))
        points, labels = make_moons(2 * number, noise=_NOISE, random_state=state)
    else:
        labels = rng.permutation(np.repeat(np.arange(len(_CENTRES)), number))
        axes = np.exp(1j * _ANGLES[labels]) * (_ALONG[labels] * rng.normal(size=len(labels))
                                               + 1j * _ACROSS[labels] * rng.normal(size=len(labels)))  # fmt: skip
        points = _CENTRES[labels] + np.stack([axes.real, axes.imag], 1)
    features, labels = points.astype(np.float32), labels.astype(np.int64)
    digest = hashlib.sha256(features.tobytes() + labels.tobytes()).hexdigest()
    hashes = {f"{settings.which} (generated)": digest}
    return Dataset(settings.which, features, labels, hashes=hashes, num_classes=int(labels.max()) + 1)
