"""Answers by the name of their origin, and the facts of the real MNIST crowd."""

from collections.abc import Callable
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.answer_files import read_csv_answers

from semicrowd.crowd import answer_files
from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.data import Dataset, load_dataset
from semicrowd.data.load import load_annotations
from semicrowd.errors import UserError
from semicrowd.random import stream
from semicrowd.settings.fields import shown

ROOT = Path("unused")


@pytest.fixture
def pinwheel() -> Dataset:
    return load_dataset("pinwheel", ROOT)


def test_none(pinwheel: Dataset) -> None:
    assert load_annotations("none", pinwheel, 0, ROOT) is None


@pytest.mark.parametrize("kind", ["two_coin", "quota", "tasks", "labels"])
def test_simulated_answers_depend_on_the_seed_alone(pinwheel: Dataset, kind: str) -> None:
    first = load_annotations(kind, pinwheel, 0, ROOT)
    # Other streams of the same seed do not disturb it.
    stream(0, "init").random(100)
    again, other = load_annotations(kind, pinwheel, 0, ROOT), load_annotations(kind, pinwheel, 1, ROOT)
    assert first is not None
    assert again is not None
    assert other is not None
    assert np.array_equal(first.i, again.i)
    assert np.array_equal(first.label, again.label)
    assert not np.array_equal(first.i, other.i)


def test_file(pinwheel: Dataset, tmp_path: Path) -> None:
    (tmp_path / "mine.csv").write_text("i,j,worker,label\n0,499,ann,1\n")
    answers = load_annotations("file", pinwheel, 0, ROOT, path=str(tmp_path / "mine.csv"))
    assert answers is not None
    assert (answers.num_pairs, answers.num_items) == (1, 500)


def test_file_that_calls_the_items_by_the_ids_of_the_table(pinwheel: Dataset, tmp_path: Path) -> None:
    (tmp_path / "mine.csv").write_text("i,j,label\np0,p499,same\n")
    named = replace(pinwheel, ids=tuple(f"p{k}" for k in range(500)))
    answers = load_annotations("file", named, 0, ROOT, path=str(tmp_path / "mine.csv"))
    assert answers is not None
    assert (answers.i.tolist(), answers.j.tolist(), answers.label.tolist()) == ([0], [499], [1])
    pictures = replace(pinwheel, files=named.ids)
    assert load_annotations("file", pictures, 0, ROOT, path=str(tmp_path / "mine.csv")) is not None
    with pytest.raises(UserError, match=r"mine\.csv, line 2, column i"):
        load_annotations("file", pinwheel, 0, ROOT, path=str(tmp_path / "mine.csv"))


@pytest.mark.parametrize(
    ("kind", "options", "named"),
    [
        ("two_coins", {}, "annotations=two_coins"),
        ("two_coin", {"num_annotator": 3}, "annotations.num_annotator"),
        ("file", {}, "annotations.path"),
        ("file", {"path": "a.csv", "errors": "ignore"}, "annotations.errors"),
        ("file", {"path": "a.csv", "columns": {"who": "a"}}, "annotations.columns"),
        ("crowd", {}, "data=pinwheel"),
    ],
)
def test_mistakes_name_the_setting(pinwheel: Dataset, kind: str, options: dict[str, Any], named: str) -> None:
    with pytest.raises(UserError) as caught:
        load_annotations(kind, pinwheel, 0, ROOT, **options)
    assert named in str(caught.value)
    with pytest.raises(UserError, match="data=table"):
        load_annotations("tasks", Dataset("table", pinwheel.features), 0, ROOT)


Crowd = Callable[..., PairAnnotations]
#: Annotator of each task of the made-up crowd: sixteen, their numbers have gaps and another order than their texts.
TASK_OF = [(3 * t * t) % 31 for t in range(91)]


@pytest.fixture(scope="module")
def made_up_file(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, np.ndarray, Dataset]:
    """A file like that of the real crowd, its rows, and items about which they are."""
    rng = np.random.default_rng(0)
    labels = rng.integers(5, size=300)
    labels[:36] = np.arange(36)
    rows = []
    for person in TASK_OF:
        # The tasks of person 0 have no two images of a kind.
        items = np.arange(36) if person == 0 else rng.choice(np.arange(36, 300), 36, replace=False)
        rows += [(i, j, person, rng.integers(2)) for i, j in combinations(items.tolist(), 2)]
    path = tmp_path_factory.mktemp("crowd") / "crowd.npy"
    np.save(path, np.array(rows))
    return path, np.array(rows), Dataset("mnist", np.zeros((300, 1), np.float32), labels)


@pytest.fixture
def made_up(
    made_up_file: tuple[Path, np.ndarray, Dataset], monkeypatch: pytest.MonkeyPatch
) -> tuple[np.ndarray, Dataset]:
    """The rows that ``crowd`` then reads, and the items."""
    path, rows, data = made_up_file
    monkeypatch.setattr("semicrowd.data.mnist.fetch", lambda *_: {"crowd_annotations_mnist.npy": path})
    return rows, data


@pytest.fixture
def crowd(made_up: tuple[np.ndarray, Dataset]) -> Crowd:
    """The made-up crowd's answers, by seed and options."""

    def load(seed: int, **options: Any) -> PairAnnotations:
        answers = load_annotations("crowd", made_up[1], seed, ROOT, **options)
        assert answers is not None
        return answers

    return load


def rows_of(answers: PairAnnotations) -> np.ndarray:
    """Answers as rows of the file."""
    names = np.array(answers.worker_names).astype(int)
    return np.stack([answers.i, answers.j, names[answers.worker], answers.label], -1)


def tasks_of(answers: PairAnnotations, rows: np.ndarray) -> set[int]:
    """Tasks of the file that the answers are, each of them whole."""
    assert answers.task is not None
    assert answers.num_tasks == len(np.unique(answers.task))
    found = set()
    for t in range(answers.num_tasks):
        mine = rows_of(answers)[answers.task == t]
        (same,) = [k for k in range(91) if np.array_equal(rows[630 * k : 630 * (k + 1)], mine)]
        found.add(same)
    return found


def test_all_tasks_are_the_file(made_up: tuple[np.ndarray, Dataset], crowd: Crowd) -> None:
    for options in ({}, {"num_tasks": None}, {"num_tasks": 91}):
        answers = crowd(0, **options)
        assert np.array_equal(rows_of(answers), made_up[0])
        assert tasks_of(answers, made_up[0]) == set(range(91))
        assert (answers.source, answers.simulated) == ("crowd", False)


def test_few_tasks_are_drawn_by_the_seed_and_are_among_more(
    made_up: tuple[np.ndarray, Dataset], crowd: Crowd
) -> None:
    five, ten, other = (tasks_of(crowd(seed, num_tasks=n), made_up[0]) for seed, n in ((0, 5), (0, 10), (1, 10)))
    assert (len(five), len(ten), len(other)) == (5, 10, 10)
    assert five < ten
    assert ten != other
    assert crowd(0, num_tasks=5).source == "crowd (5 of 91 tasks)"


def test_annotators_without_answers_are_gone_and_the_others_keep_their_names(crowd: Crowd, tmp_path: Path) -> None:
    everybody = sorted(set(TASK_OF))
    assert crowd(0).worker_names == tuple(map(str, everybody))
    for n in (1, 4, 12):
        answers = crowd(0, num_tasks=n)
        assert 1 <= answers.num_annotators < len(everybody)
        assert {int(name) for name in answers.worker_names} == set(rows_of(answers)[:, 2])
        assert sorted(set(answers.worker.tolist())) == list(range(answers.num_annotators))
        # A finished run reads them back from its file: the annotators must have the same numbers there.
        answer_files.write(answers, tmp_path / "answers.csv")
        read = read_csv_answers(tmp_path / "answers.csv", 300)
        assert read.worker_names == answers.worker_names
        assert np.array_equal(read.worker, answers.worker)
        assert read.task is not None
        assert answers.task is not None
        assert np.array_equal(read.task, answers.task)


def check_truth(answers: PairAnnotations, labels: np.ndarray | None) -> None:
    """The true sensitivity and specificity are what counting answer by answer gives."""
    assert labels is not None
    for kind, truth in ((True, answers.true_sensitivity), (False, answers.true_specificity)):
        seen, right = [0] * answers.num_annotators, [0] * answers.num_annotators
        for i, j, m, label in zip(answers.i, answers.j, answers.worker, answers.label, strict=True):
            if (labels[i] == labels[j]) == kind:
                seen[m] += 1
                right[m] += bool(label) == kind
        rates = [r / s if s else float("nan") for r, s in zip(right, seen, strict=True)]
        assert truth == pytest.approx(rates, nan_ok=True)


@pytest.mark.parametrize("options", [{}, {"num_tasks": 7}])
def test_the_truth_is_the_rate_of_right_answers_in_use(
    made_up: tuple[np.ndarray, Dataset], crowd: Crowd, options: dict[str, Any]
) -> None:
    check_truth(crowd(2, **options), made_up[1].labels)


def test_the_truth_about_pairs_that_an_annotator_has_not_seen_is_not_known(crowd: Crowd) -> None:
    answers = crowd(0)
    assert answers.true_sensitivity is not None
    assert answers.true_specificity is not None
    unknown = np.isnan(answers.true_sensitivity)
    assert [name for name, nan in zip(answers.worker_names, unknown, strict=True) if nan] == ["0"]
    assert not np.isnan(answers.true_specificity).any()


@pytest.mark.parametrize("wrong", [0, -1, 92, 2.5, "five", True])
def test_a_number_of_tasks_that_there_is_not(crowd: Crowd, wrong: Any) -> None:
    with pytest.raises(
        UserError, match=rf"^annotations\.num_tasks={shown(wrong)}: expected a whole number from 1 to 91, or null "
    ):
        crowd(0, num_tasks=wrong)


@pytest.mark.needs_data
def test_real_crowd(public_data: Callable[[str], Path]) -> None:
    root = public_data("mnist_crowd")
    data = load_dataset("mnist", public_data("mnist"))
    answers = load_annotations("crowd", data, 0, root)
    assert answers is not None
    assert data.labels is not None
    assert (answers.num_pairs, answers.num_tasks, answers.num_annotators) == (57_330, 91, 48)
    assert len(answers.annotated) == 2759
    assert (answers.simulated, answers.source) == (False, "crowd")
    # One annotator saw one pair in two tasks.
    assert len(np.unique(np.stack([answers.worker, answers.pair]), axis=1).T) == 57_329
    rows = np.bincount(answers.worker)
    assert (rows.min(), rows.max()) == (630, 5040)

    same = data.labels[answers.i] == data.labels[answers.j]
    assert same.mean() == pytest.approx(0.098, abs=5e-4)
    assert answers.label[same].mean() == pytest.approx(0.983, abs=5e-4)
    assert 1 - answers.label[~same].mean() == pytest.approx(0.992, abs=5e-4)
    sensitivity, specificity = answers.true_sensitivity, answers.true_specificity
    assert sensitivity is not None
    assert specificity is not None
    assert (sensitivity.argmin(), specificity.argmin()) == (45, 26)
    assert sensitivity.min() == pytest.approx(0.683, abs=5e-4)
    assert specificity.min() == pytest.approx(0.826, abs=5e-4)

    assert answers.task is not None
    for t in range(91):
        task = answers.task == t
        items = np.unique(np.concatenate([answers.i[task], answers.j[task]]))
        assert (len(items), len(np.unique(answers.worker[task]))) == (36, 1)
        # Transitive: the annotator grouped the 36 images.
        a, b = np.searchsorted(items, answers.i[task]), np.searchsorted(items, answers.j[task])
        relation = np.eye(36, dtype=int)
        relation[a, b] = relation[b, a] = answers.label[task]
        assert np.array_equal(relation @ relation > 0, relation > 0)
