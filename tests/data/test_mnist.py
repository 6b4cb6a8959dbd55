"""MNIST: the idx format on a file written by hand, and the facts of the real files."""

import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from torchvision.datasets import MNIST  # type: ignore[import-untyped]

from semicrowd.data import load_dataset
from semicrowd.data.mnist import MNIST_IDX, read_idx


def test_idx_format(tmp_path: Path) -> None:
    path = tmp_path / "toy"
    path.write_bytes(bytes([0, 0, 8, 2, 0, 0, 0, 2, 0, 0, 0, 3]) + bytes(range(6)))
    assert read_idx(path).tolist() == [[0, 1, 2], [3, 4, 5]]
    path.write_bytes(bytes([0, 0, 13, 1, 0, 0, 0, 1]) + bytes(4))
    with pytest.raises(ValueError, match="not an idx file of unsigned bytes"):
        read_idx(path)


@pytest.mark.needs_data
def test_real_files(public_data: Callable[[str], Path]) -> None:
    root = public_data("mnist")
    started = time.perf_counter()
    data = load_dataset("mnist", root)
    seconds = time.perf_counter() - started
    assert data.labels is not None
    assert data.test_features is not None
    assert data.test_labels is not None
    assert data.features.shape == (60000, 784)
    assert data.test_features.shape == (10000, 784)
    assert data.image_shape == (28, 28)
    assert data.num_classes == len(np.unique(data.labels))
    assert (data.features.min(), data.features.max()) == (0, 1)
    # Published: the mean and standard deviation that everybody normalises with, and the first labels.
    assert data.features.mean(dtype=np.float64) == pytest.approx(0.1307, abs=5e-5)
    assert data.features.std(dtype=np.float64) == pytest.approx(0.3081, abs=5e-5)
    assert data.labels[:8].tolist() == [5, 0, 4, 1, 9, 2, 1, 3]
    assert np.bincount(data.test_labels).tolist() == [980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009]
    assert set(data.hashes) == set(MNIST_IDX)
    for train, features, labels in ((True, data.features, data.labels), (False, data.test_features, data.test_labels)):
        theirs = MNIST(root / "mnist", train=train)
        assert (np.rint(features * 255) == theirs.data.flatten(1).numpy()).all()
        assert (labels == theirs.targets.numpy()).all()
    # Generous against a busy machine: well below a second where it is not.
    assert seconds < 5
