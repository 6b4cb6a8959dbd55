"""MNIST: the idx format on a file written by hand, the facts of the real files and of people's answers about them."""

from collections.abc import Callable
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from torchvision.datasets import MNIST  # type: ignore[import-untyped]

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.data import Dataset, answers
from semicrowd.data.mnist import MNIST_IDX, load_mnist, read_idx


def test_idx_format(tmp_path: Path) -> None:
    path = tmp_path / "toy"
    path.write_bytes(bytes([0, 0, 8, 2, 0, 0, 0, 2, 0, 0, 0, 3]) + bytes(range(6)))
    assert read_idx(path).tolist() == [[0, 1, 2], [3, 4, 5]]
    path.write_bytes(bytes([0, 0, 13, 1, 0, 0, 0, 1]) + bytes(4))
    with pytest.raises(ValueError, match="toy"):
        read_idx(path)


@pytest.mark.needs_data
def test_real_files(public_data: Callable[[str], Path]) -> None:
    root = public_data("mnist")
    data, some = load_mnist(root=root), load_mnist(subset=2000, root=root)
    assert (data.features.shape, data.test_features.shape) == ((60000, 784), (10000, 784))
    assert (data.image_shape, data.num_classes) == ((28, 28), 10)
    # Published: the mean and standard deviation that everybody normalises with.
    assert data.features.mean(dtype=np.float64) == pytest.approx(0.1307, abs=5e-5)
    assert data.features.std(dtype=np.float64) == pytest.approx(0.3081, abs=5e-5)
    assert set(data.hashes) == set(MNIST_IDX)
    for train, features, labels in ((True, data.features, data.labels), (False, data.test_features, data.test_labels)):
        theirs = MNIST(root / "mnist", train=train)
        assert (np.rint(features * 255) == theirs.data.flatten(1).numpy()).all()
        assert (labels == theirs.targets.numpy()).all()
    rows = {image.tobytes(): label for image, label in zip(data.features, data.labels.tolist(), strict=True)}
    assert [rows[image.tobytes()] for image in some.features] == some.labels.tolist()


Crowd = Callable[..., PairAnnotations]
#: Annotator of each task of the made-up crowd: sixteen, their numbers have gaps and another order than their texts.
TASK_OF = [(3 * t * t) % 31 for t in range(91)]


@pytest.fixture(scope="module")
def made_up(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, np.ndarray, Dataset]:
    """A file like that of the real crowd, its rows, and items about which they are."""
    rng = np.random.default_rng(0)
    rows = [
        (i, j, person, rng.integers(2)) for person in TASK_OF
        for i, j in combinations(rng.choice(300, 36, replace=False).tolist(), 2)
    ]  # fmt: skip
    path = tmp_path_factory.mktemp("crowd") / "crowd.npy"
    np.save(path, np.array(rows))
    return path, np.array(rows), Dataset("mnist", np.zeros((300, 1), np.float32), rng.integers(5, size=300))


@pytest.fixture
def crowd(made_up: tuple[Path, np.ndarray, Dataset], monkeypatch: pytest.MonkeyPatch) -> Crowd:
    """The made-up crowd's answers, by options."""
    path, _, data = made_up
    monkeypatch.setattr("semicrowd.data.mnist.fetch", lambda *_: {"crowd_annotations_mnist.npy": path})
    return lambda **options: answers.crowd(data, **options)


def rows_of(found: PairAnnotations) -> np.ndarray:
    """Answers as rows of the file."""
    names = np.array(found.worker_names).astype(int)
    return np.stack([found.i, found.j, names[found.worker], found.label], -1)


def tasks_of(found: PairAnnotations, rows: np.ndarray) -> set[int]:
    """Tasks of the file that the answers are, each of them whole."""
    tasks = set()
    for t in range(found.num_tasks):
        mine = rows_of(found)[found.task == t]
        (same,) = [k for k in range(91) if np.array_equal(rows[630 * k : 630 * (k + 1)], mine)]
        tasks.add(same)
    return tasks


def test_all_tasks_are_the_file_and_few_are_drawn_by_the_seed_and_among_more(
    made_up: tuple[Path, np.ndarray, Dataset], crowd: Crowd
) -> None:
    rows = made_up[1]
    for options in ({}, {"num_tasks": 91}):
        assert np.array_equal(rows_of(crowd(**options)), rows)
    five, ten, other = (tasks_of(crowd(seed=seed, num_tasks=n), rows) for seed, n in ((0, 5), (0, 10), (1, 10)))
    assert (len(five), len(ten), len(other)) == (5, 10, 10)
    assert five < ten
    assert ten != other


def test_annotators_without_answers_are_gone_and_the_others_keep_their_names(crowd: Crowd) -> None:
    everybody = sorted(set(TASK_OF))
    assert crowd().worker_names == tuple(map(str, everybody))
    for n in (1, 4, 12):
        found = crowd(num_tasks=n)
        assert 1 <= found.num_annotators < len(everybody)
        assert {int(name) for name in found.worker_names} == set(rows_of(found)[:, 2])


@pytest.mark.needs_data
def test_real_crowd(public_data: Callable[[str], Path]) -> None:
    data = load_mnist(root=public_data("mnist"))
    found = answers.crowd(data, root=public_data("mnist_crowd"))
    assert (found.num_pairs, found.num_tasks, found.num_annotators) == (57_330, 91, 48)
    assert len(found.annotated) == 2759
    assert not found.simulated
    # One annotator saw one pair in two tasks.
    assert len(np.unique(np.stack([found.worker, found.pair]), axis=1).T) == 57_329
    rows = np.bincount(found.worker)
    assert (rows.min(), rows.max()) == (630, 5040)
    same = data.labels[found.i] == data.labels[found.j]
    assert same.mean() == pytest.approx(0.098, abs=5e-4)
    assert found.label[same].mean() == pytest.approx(0.983, abs=5e-4)
    assert 1 - found.label[~same].mean() == pytest.approx(0.992, abs=5e-4)
    sensitivity, specificity = found.true_sensitivity, found.true_specificity
    assert (sensitivity.argmin(), specificity.argmin()) == (45, 26)
    assert sensitivity.min() == pytest.approx(0.683, abs=5e-4)
    assert specificity.min() == pytest.approx(0.826, abs=5e-4)
