"""How often people take a CIFAR-10 image of one kind for one of another (CIFAR-10H: Peterson et al. 2019).

Some fifty people each chose a kind for every test image. The counts are public for non-commercial use (CC BY-NC-SA
4.0): they are fetched and never part of this project.
"""

from pathlib import Path

import numpy as np
from jaxtyping import Float, Int

from semicrowd.data.fetch import fetch
from semicrowd.errors import UserError

_FILE = "cifar10h-counts.npy"
_NUM_CLASSES = 10


def confusions(root: Path, test_labels: Int[np.ndarray, "n"] | None) -> Float[np.ndarray, "10 10"]:
    """P(a person says kind l | the image shows kind k), by kind.

    Parameters
    ----------
    root : data root; the counts lie in ``root/cifar10h``
    test_labels : kinds of the test images in their order, of the first ones where not all are there

    Raises
    ------
    UserError
        Where the counts cannot be had, or there are no test images of some kind.
    """
    counts = np.load(fetch("cifar10h", root)[_FILE], allow_pickle=False)
    labels = np.zeros(0, np.int64) if test_labels is None else test_labels
    frequency = np.zeros((_NUM_CLASSES, _NUM_CLASSES))
    np.add.at(frequency, labels, counts[: len(labels)])
    if not frequency.sum(1).all():
        raise UserError(
            "annotations.confused=cifar10h: CIFAR-10's test images say of which kind each count is; expected "
            "test_batch.bin beside the training batches"
        )
    return frequency / frequency.sum(1, keepdims=True)
