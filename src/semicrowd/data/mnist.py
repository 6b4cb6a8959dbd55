"""MNIST: 60,000 training and 10,000 test images of handwritten digits, 28 × 28 pixels."""

from pathlib import Path

import numpy as np

from semicrowd.data.dataset import Dataset, drawn
from semicrowd.data.fetch import PUBLIC, fetch
from semicrowd.settings.sources import MNISTSettings

_SHAPE = (28, 28)
#: Training images and labels, test images and labels.
MNIST_IDX = (
    "train-images-idx3-ubyte",
    "train-labels-idx1-ubyte",
    "t10k-images-idx3-ubyte",
    "t10k-labels-idx1-ubyte",
)


def load_mnist(root: Path, settings: MNISTSettings) -> Dataset:
    """Load MNIST from ``root/mnist/MNIST/raw`` (torchvision's layout); what is not there is fetched.

    Returns
    -------
    Dataset
        ``features`` [60000 or subset, 784] and ``test_features`` [10000, 784], pixels / 255, in the files' order.
    """
    paths = fetch("mnist", root)
    splits = []
    for images, labels in (MNIST_IDX[:2], MNIST_IDX[2:]):
        pixels = read_idx(paths[images]).reshape(-1, _SHAPE[0] * _SHAPE[1])
        splits.append((pixels / np.float32(255), read_idx(paths[labels]).astype(np.int64)))
    (features, labels_), (test_features, test_labels) = splits
    features, labels_ = drawn(settings.subset, settings.data_seed, features, labels_)
    hashes = dict(PUBLIC["mnist"].files)
    return Dataset("mnist", features, labels_, test_features, test_labels, _SHAPE, hashes, num_classes=10)


def read_idx(path: Path) -> np.ndarray:
    """Unsigned bytes of an idx file that is known to be whole.

    The format is: two zero bytes, the code 8 of unsigned bytes, the number of dimensions, each dimension as a
    big-endian int32, the data.
    """
    content = path.read_bytes()
    if content[:3] != b"\0\0\x08":
        raise ValueError(f"{path}: not an idx file of unsigned bytes")
    num_dimensions = content[3]
    shape = np.frombuffer(content, ">i4", num_dimensions, offset=4)
    return np.frombuffer(content, np.uint8, offset=4 + 4 * num_dimensions).reshape(shape)
