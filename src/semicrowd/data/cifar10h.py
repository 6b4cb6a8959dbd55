"""How often people assign a CIFAR-10 image to a wrong class (CIFAR-10H: Peterson et al. 2019).

About fifty people chose a class for every test image. The counts are public for non-commercial use (CC BY-NC-SA
4.0), so they are fetched and not part of this project.
"""

from pathlib import Path

import numpy as np
from jaxtyping import Float, Int

from semicrowd.data.fetch import fetch
from semicrowd.errors import UserError

_FILE = "cifar10h-counts.npy"
_NUM_CLASSES = 10


def confusions(root: Path, test_labels: Int[np.ndarray, "n"] | None) -> Float[np.ndarray, "10 10"]:
    """P(a person chooses class l | the image is of class k), [k, l].

    Parameters
    ----------
    root : data root; the counts lie in ``root/cifar10h``
    test_labels : classes of the test images in their order, or of the first ones only
    """
    counts = np.load(fetch("cifar10h", root)[_FILE], allow_pickle=False)
    labels = np.zeros(0, np.int64) if test_labels is None else test_labels
    frequency = np.zeros((_NUM_CLASSES, _NUM_CLASSES))
    np.add.at(frequency, labels, counts[: len(labels)])
    if not frequency.sum(1).all():
        raise UserError(
            "annotations.confused=cifar10h: each count belongs to a test image of CIFAR-10; expected "
            "test_batch.bin beside the training batches"
        )
    return frequency / frequency.sum(1, keepdims=True)
