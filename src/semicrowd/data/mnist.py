"""MNIST: 60,000 training and 10,000 test images of handwritten digits, 28 × 28 pixels; and people's answers about them.

The answers (SCDC paper, section 5.3) are of 48 people who grouped the 36 images of 91 tasks, 57,330 about pairs.
"""

from pathlib import Path

import numpy as np
from sklearn.utils._param_validation import validate_params

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.data.dataset import SEED, SUBSET, Dataset, drawn
from semicrowd.data.fetch import PUBLIC, data_root, fetch
from semicrowd.errors import UserError
from semicrowd.random import stream

_SHAPE = (28, 28)
#: Training images and labels, test images and labels.
MNIST_IDX = (
    "train-images-idx3-ubyte",
    "train-labels-idx1-ubyte",
    "t10k-images-idx3-ubyte",
    "t10k-labels-idx1-ubyte",
)
#: Tasks of the crowd, their file, and the pairs of 36 images.
CROWD_TASKS = 91
_CROWD_FILE = "crowd_annotations_mnist.npy"
_PAIRS_OF_TASK = 36 * 35 // 2


@validate_params({"subset": SUBSET, "data_seed": SEED}, prefer_skip_nested_validation=False)
def load_mnist(*, subset: int | None = None, data_seed: int = 0, root: Path | None = None) -> Dataset:
    """Load MNIST from ``root/mnist/MNIST/raw`` (torchvision's layout); what is not there is fetched.

    Parameters
    ----------
    subset : number of training images, drawn at random; None: all
    data_seed : of this draw, apart from the run's seed
    root : data root; None: that of the environment

    Returns
    -------
    Dataset
        ``features`` [60000 or subset, 784] and ``test_features`` [10000, 784], pixels / 255, in the files' order.
    """
    paths = fetch("mnist", root or data_root())
    splits = []
    for images, labels in (MNIST_IDX[:2], MNIST_IDX[2:]):
        pixels = read_idx(paths[images]).reshape(-1, _SHAPE[0] * _SHAPE[1])
        splits.append((pixels / np.float32(255), read_idx(paths[labels]).astype(np.int64)))
    (features, labels_), (test_features, test_labels) = splits
    features, labels_ = drawn(subset, data_seed, features, labels_)
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


def answers_about_mnist(data: Dataset, num_tasks: int | None, seed: int, root: Path) -> PairAnnotations:
    """Answers of the crowd to ``num_tasks`` of its tasks, drawn at random, fewer among more; None: to all.

    Annotators keep their names.
    """
    if data.name != "mnist" or data.labels is None:
        raise UserError(
            f"annotations=crowd: data={data.name} has no real answers; expected data=mnist, or data that have some"
        )
    tasks = np.arange(CROWD_TASKS)
    if num_tasks is not None:
        tasks = np.sort(stream(seed, "annotations").permutation(CROWD_TASKS)[:num_tasks])
    rows = np.load(fetch("mnist_crowd", root)[_CROWD_FILE], allow_pickle=False)
    rows = rows.reshape(CROWD_TASKS, _PAIRS_OF_TASK, 4)[tasks].reshape(-1, 4)
    people, worker = np.unique(rows[:, 2], return_inverse=True)
    return PairAnnotations.from_arrays(
        rows[:, 0], rows[:, 1], worker, rows[:, 3],
        task=np.repeat(np.arange(len(tasks)), _PAIRS_OF_TASK), num_items=data.num_items,
        worker_names=[str(person) for person in people],
        source="crowd" if len(tasks) == CROWD_TASKS else f"crowd ({len(tasks)} of {CROWD_TASKS} tasks)",
    )  # fmt: skip
