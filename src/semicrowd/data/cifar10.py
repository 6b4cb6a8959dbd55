"""CIFAR-10: 50,000 training and 10,000 test images of ten classes, 32 × 32 pixels in three colours.

The binary version of Krizhevsky 2009, https://www.cs.toronto.edu/~kriz/cifar.html: a batch is a row of records, each
the label (0 to 9) as one byte, then 1024 bytes of red, of green and of blue, each row by row.

CIFAR-10H (Peterson et al. 2019): about fifty people chose a class for every test image. The counts are public for
non-commercial use (CC BY-NC-SA 4.0), so they are fetched and not part of this project.
"""

import sys
from numbers import Integral
from pathlib import Path

import numpy as np
from jaxtyping import Float, Int
from sklearn.utils._param_validation import Interval, StrOptions, validate_params

from semicrowd.data.components import principal_axes
from semicrowd.data.dataset import SEED, SUBSET, Dataset, drawn
from semicrowd.data.embedding import EFFICIENTNET_LITE0, embedded
from semicrowd.data.fetch import data_root, fetch
from semicrowd.errors import UserError
from semicrowd.files import sha256_of

#: Batches of the training images, the test images, and the first thousand of these.
CIFAR10_TRAINING = tuple(f"data_batch_{number}.bin" for number in range(1, 6))
CIFAR10_TEST = "test_batch.bin"
CIFAR10_TEST_PART = "test_batch_first1000.bin"
#: A label and the 32 × 32 pixels of three colours.
CIFAR10_RECORD = 1 + 3 * 32 * 32
#: Colour, row, column.
CIFAR10_SHAPE = (3, 32, 32)
#: Images of all training batches.
CIFAR10_IMAGES = 50_000
#: Folder below the data root where the pipeline keeps the components.
FEATURES = "cifar10_features"
#: Folder below the data root where the embeddings are kept.
EMBEDDED = "cifar10_embedding"
#: Principal components of the pixels that ``pca="auto"`` takes.
PIXEL_COMPONENTS = 100
_COUNTS = "cifar10h-counts.npy"
_NUM_CLASSES = 10


@validate_params(
    {
        "features": [StrOptions({"pixels", EFFICIENTNET_LITE0})],
        "pca": [Interval(Integral, 1, 3072, closed="both"), StrOptions({"auto"}), None],
        "subset": SUBSET, "data_seed": SEED,
    },
    prefer_skip_nested_validation=False,
)  # fmt: skip
def load_cifar10(
    *, features: str = "pixels", pca: int | str | None = "auto", subset: int | None = None, data_seed: int = 0,
    root: Path | None = None,
) -> Dataset:  # fmt: skip
    """Load as many training batches as there are, and the test batch or its first thousand images.

    Parameters
    ----------
    features : pixels, divided by 255; or efficientnet_lite0, 1280 numbers by a network trained on photographs
        (:mod:`semicrowd.data.embedding`), made of each image by itself and kept in ``root/cifar10_embedding``
    pca : number of principal components of the training images, each with the sign that makes its largest loading
        positive; auto: 100 of the pixels, none of an embedding; None: none
    subset : number of training images, drawn at random; None: all
    data_seed : of this draw, apart from the run's seed
    root : data root, None: that of the environment; the batches lie in ``root/cifar10/cifar-10-batches-bin``. Where the
        first one is not there, all are fetched

    Returns
    -------
    Dataset
        ``features`` [N or subset, pca], [N or subset, 3072] or [N or subset, 1280] in the batches' order, N up to
        50,000; a note says where there are fewer.
    """
    if features != "pixels" and pca not in ("auto", None):
        raise UserError(
            f"data.pca={pca}: expected auto or null with data.features={features}, because methods compute principal "
            "components of these themselves"
        )
    num = None if features != "pixels" else PIXEL_COMPONENTS if pca == "auto" else pca
    assert not isinstance(num, str)
    root = root or data_root()
    paths = fetch("cifar10", root)
    training = {name: paths[name] for name in CIFAR10_TRAINING if name in paths}
    test = {name: paths[name] for name in (CIFAR10_TEST, CIFAR10_TEST_PART) if name in paths}
    test = dict(list(test.items())[:1])
    pixels, labels = _read(list(training.values()))
    if len(pixels) < CIFAR10_IMAGES:
        print(f"note: cifar10: {len(pixels)} of the {CIFAR10_IMAGES} training images are there", file=sys.stderr)
    test_pixels, test_labels = _read(list(test.values())) if test else (None, None)
    if features == EFFICIENTNET_LITE0:
        x, labels = drawn(subset, data_seed, _embedded(list(training.values()), root), labels)
        test_x = _embedded(list(test.values()), root) if test else None
    else:
        if num is None:
            see = _scaled
        elif num > len(pixels):
            raise UserError(f"data.pca={num}: expected {len(pixels)} at most, the number of training images")
        else:
            see = principal_axes(pixels, num, root / FEATURES).project
        pixels, labels = drawn(subset, data_seed, pixels, labels)
        x, test_x = see(pixels), None if test_pixels is None else see(test_pixels)
    return Dataset(
        "cifar10", x, labels, test_x, test_labels,
        image_shape=CIFAR10_SHAPE if features == "pixels" and num is None else None,
        hashes={name: sha256_of(path) for name, path in (training | test).items()},
        num_classes=_NUM_CLASSES,
    )  # fmt: skip


def _scaled(pixels: np.ndarray) -> np.ndarray:
    return pixels / np.float32(255)


def _embedded(paths: list[Path], root: Path) -> np.ndarray:
    """Embeddings of all images of some batches, each batch kept on its own."""
    made = []
    for path in paths:
        pictures = read_batch(path)[0].reshape(-1, *CIFAR10_SHAPE).transpose(0, 2, 3, 1)
        made.append(embedded(list(pictures), np.asarray, sha256_of(path), root / EMBEDDED))
    return np.concatenate(made)


def read_training_pixels(root: Path) -> np.ndarray:
    """Bytes [N, 3072] of the training images that are there, fetched where there are none."""
    paths = fetch("cifar10", root)
    return _read([paths[name] for name in CIFAR10_TRAINING if name in paths])[0]


def read_batch(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Pixels [n, 3072] uint8 and labels [n] int64 of one batch, which is known to be whole."""
    records = np.fromfile(path, np.uint8).reshape(-1, CIFAR10_RECORD)
    return records[:, 1:], records[:, 0].astype(np.int64)


def _read(paths: list[Path]) -> tuple[np.ndarray, np.ndarray]:
    pixels, labels = zip(*map(read_batch, paths), strict=True)
    return np.concatenate(pixels), np.concatenate(labels)


def confusions(root: Path, test_labels: Int[np.ndarray, "n"] | None) -> Float[np.ndarray, "10 10"]:
    """P(a person chooses class l | the image is of class k), [k, l].

    Parameters
    ----------
    root : data root; the counts lie in ``root/cifar10h``
    test_labels : classes of the test images in their order, or of the first ones only
    """
    counts = np.load(fetch("cifar10h", root)[_COUNTS], allow_pickle=False)
    labels = np.zeros(0, np.int64) if test_labels is None else test_labels
    frequency = np.zeros((_NUM_CLASSES, _NUM_CLASSES))
    np.add.at(frequency, labels, counts[: len(labels)])
    if not frequency.sum(1).all():
        raise UserError(
            "annotations.confused=cifar10h: each count belongs to a test image of CIFAR-10; expected "
            "test_batch.bin beside the training batches"
        )
    return frequency / frequency.sum(1, keepdims=True)
