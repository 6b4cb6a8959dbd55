"""The pinwheel: rotated, bent arms in the plane (Johnson et al. 2016, SVAE's synthetic example)."""

import hashlib
from pathlib import Path

import numpy as np

from semicrowd.data.dataset import Dataset
from semicrowd.random import stream
from semicrowd.settings.sources import PinwheelSettings

#: Standard deviation along the radius, before scaling (all four numbers: Johnson et al. 2016).
_RADIAL_SD = 0.3
#: Standard deviation across the radius, before scaling.
_TANGENTIAL_SD = 0.05
#: Angle of the bend at radius r, in radians, divided by exp(r).
_TWIST = 0.25
#: Factor of the coordinates.
_SCALE = 10.0


def load_pinwheel(root: Path, settings: PinwheelSettings) -> Dataset:  # noqa: ARG001 - generated: no file is read
    """Draw a pinwheel.

    A point of an arm is Gaussian around radius 1 before scaling, with a small standard deviation across the
    radius, and turned by an angle that grows with the radius. The arms lie evenly around 0, so nothing is centred. The
    order of the items is random.

    Returns
    -------
    Dataset
        ``features`` [num_classes · points_per_class, 2], ``labels`` the arm.
    """
    num_classes = settings.num_classes
    rng = stream(settings.data_seed, "data")
    labels = rng.permutation(np.repeat(np.arange(num_classes), settings.points_per_class))
    radius = rng.normal(1.0, _RADIAL_SD, len(labels))
    across = rng.normal(0.0, _TANGENTIAL_SD, len(labels))
    angle = 2 * np.pi * labels / num_classes + _TWIST * np.exp(radius)
    point = _SCALE * (radius + 1j * across) * np.exp(-1j * angle)
    features = np.stack([point.real, point.imag], axis=1).astype(np.float32)
    digest = hashlib.sha256(features.tobytes() + labels.tobytes()).hexdigest()
    return Dataset("pinwheel", features, labels, hashes={"pinwheel (generated)": digest}, num_classes=num_classes)
