"""MNIST's arrays out of a pickle that is never carried out."""

import gzip
import pickle
import zipfile
from pathlib import Path

import numpy as np
import pytest

from semicrowd.data.mnist import read_idx
from semicrowd.data.public import MNIST_IDX
from semicrowd.data.unpickled import mnist_of_wheel


def _wheel(path: Path, content: bytes) -> zipfile.ZipFile:
    with zipfile.ZipFile(path, "w") as wheel:
        wheel.writestr("mnist/data/mnist.pkl.gz", gzip.compress(content, 1))
    return zipfile.ZipFile(path)


def test_arrays_come_out_as_they_went_in(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    splits = [(rng.integers(256, size=(n, 784), dtype=np.uint8), rng.integers(10, size=n)) for n in (1400, 1300, 1250)]
    packed = tuple((pixels.astype(np.float32) / 256, labels.astype(np.int64)) for pixels, labels in splits)
    with _wheel(tmp_path / "toy.whl", pickle.dumps(packed, protocol=2)) as wheel:
        mnist_of_wheel(wheel, MNIST_IDX, tmp_path)
    train, valid, test = splits
    images = np.concatenate([train[0], valid[0]]).reshape(-1, 28, 28)
    assert np.array_equal(read_idx(tmp_path / MNIST_IDX[0]), images)
    assert np.array_equal(read_idx(tmp_path / MNIST_IDX[1]), np.concatenate([train[1], valid[1]]))
    assert np.array_equal(read_idx(tmp_path / MNIST_IDX[2]), test[0].reshape(-1, 28, 28))
    assert np.array_equal(read_idx(tmp_path / MNIST_IDX[3]), test[1])


class _Trap:
    def __init__(self, target: Path) -> None:
        self.target = target

    def __reduce__(self) -> tuple[object, ...]:
        return Path.touch, (self.target,)


def test_instructions_are_not_carried_out(tmp_path: Path) -> None:
    target = tmp_path / "sprung"
    content = pickle.dumps(_Trap(target), protocol=2)
    with _wheel(tmp_path / "forged.whl", content) as wheel, pytest.raises(ValueError, match="0 arrays instead of 6"):
        mnist_of_wheel(wheel, MNIST_IDX, tmp_path)
    assert not target.exists()
    # The trap is a real one.
    pickle.loads(content)
    assert target.exists()
