"""CIFAR-10: 50,000 training and 10,000 test images of ten kinds of things, 32 × 32 pixels in three colours.

The binary version of Krizhevsky 2009, https://www.cs.toronto.edu/~kriz/cifar.html: a batch is a row of records, each
the label (0 to 9) as one byte, then 1024 bytes of red, of green and of blue, each row by row.
"""

import sys
from hashlib import sha256
from pathlib import Path

import numpy as np

from semicrowd.data.components import principal_axes
from semicrowd.data.dataset import Dataset, drawn_items
from semicrowd.data.fetch import fetch
from semicrowd.data.public import CIFAR10_RECORD, CIFAR10_TEST, CIFAR10_TEST_PART, CIFAR10_TRAINING, PUBLIC
from semicrowd.errors import UserError
from semicrowd.settings.sources import CIFAR10Settings

#: Colour, row, column.
CIFAR10_SHAPE = (3, 32, 32)
#: Images of all training batches.
CIFAR10_IMAGES = 50_000
#: Folder below the data root where the pipeline keeps the components.
FEATURES = "cifar10_features"
#: Principal components that it keeps: the default of ``data.pca``.
COMPONENTS = 100
_NUM_CLASSES = 10
_ARCHIVE = "cifar-10-binary.tar.gz"


def load_cifar10(root: Path, settings: CIFAR10Settings) -> Dataset:
    """Load as many training batches as there are, and the test batch or its first thousand images.

    Parameters
    ----------
    root : data root; the batches lie in ``root/cifar10/cifar-10-batches-bin``. Where the first one is not there, all
        are fetched
    settings : principal components are those of the training images, each with the sign that makes its largest loading
        positive; pixels are divided by 255

    Returns
    -------
    Dataset
        ``features`` [N or subset, pca] or [N or subset, 3072] in the batches' order, N up to 50,000; a note says where
        there are fewer.

    Raises
    ------
    UserError
        If there is no batch to be had, one is not as published, for more components than images, and for a larger
        subset than there are.
    """
    pca, paths = settings.pca, fetch_cifar10(root)
    training = {name: paths[name] for name in CIFAR10_TRAINING if name in paths}
    test = {name: paths[name] for name in (CIFAR10_TEST, CIFAR10_TEST_PART) if name in paths}
    test = dict(list(test.items())[:1])
    pixels, labels = _read(list(training.values()))
    if len(pixels) < CIFAR10_IMAGES:
        print(f"note: cifar10: {len(pixels)} of the {CIFAR10_IMAGES} training images are there", file=sys.stderr)
    test_pixels, test_labels = _read(list(test.values())) if test else (None, None)
    if pca is None:
        features, test_features = (None if x is None else x / np.float32(255) for x in (pixels, test_pixels))
    else:
        if pca > len(pixels):
            raise UserError(f"data.pca={pca}: expected {len(pixels)} at most, the number of training images")
        axes = principal_axes(pixels, pca, root / FEATURES)
        features, test_features = (None if x is None else axes.project(x) for x in (pixels, test_pixels))
    assert features is not None
    if settings.subset is not None:
        chosen = drawn_items(len(features), settings.subset, settings.data_seed)
        features, labels = features[chosen], labels[chosen]
    return Dataset(
        "cifar10", features, labels, test_features, test_labels,
        image_shape=CIFAR10_SHAPE if pca is None else None,
        hashes={name: sha256(path.read_bytes()).hexdigest() for name, path in (training | test).items()},
        num_classes=_NUM_CLASSES,
    )  # fmt: skip


def read_training_pixels(root: Path) -> np.ndarray:
    """Bytes [N, 3072] of the training images that are there, fetched where there are none."""
    paths = fetch_cifar10(root)
    return _read([paths[name] for name in CIFAR10_TRAINING if name in paths])[0]


def read_batch(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Pixels [n, 3072] uint8 and labels [n] int64 of one batch.

    Raises
    ------
    UserError
        If it is no row of whole records, or has a label above 9.
    """
    content = np.fromfile(path, np.uint8)
    if not len(content) or len(content) % CIFAR10_RECORD:
        raise UserError(f"{path}: {len(content)} bytes; expected records of {CIFAR10_RECORD} bytes: label and image")
    records = content.reshape(-1, CIFAR10_RECORD)
    labels = records[:, 0].astype(np.int64)
    if labels.max() >= _NUM_CLASSES:
        first = int(np.argmax(labels >= _NUM_CLASSES))
        raise UserError(f"{path}: record {first} has the label {labels[first]}; expected 0 to {_NUM_CLASSES - 1}")
    return records[:, 1:], labels


def _read(paths: list[Path]) -> tuple[np.ndarray, np.ndarray]:
    pixels, labels = zip(*map(read_batch, paths), strict=True)
    return np.concatenate(pixels), np.concatenate(labels)


def fetch_cifar10(root: Path) -> dict[str, Path]:
    """Have a training batch or more below ``root``, and what else there is: file name → path.

    Raises
    ------
    UserError
        One line that says what to put where.
    """
    try:
        return fetch("cifar10", root)
    except UserError as error:
        folder = root / PUBLIC["cifar10"].folder.parent
        raise UserError(
            f"{error}; the first batch is enough, and {_ARCHIVE} of https://www.cs.toronto.edu/~kriz/cifar.html, "
            f"unpacked in {folder}, has all"
        ) from error
