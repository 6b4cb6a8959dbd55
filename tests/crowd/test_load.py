"""Answers by the name of their origin, and the facts of the real MNIST crowd."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from semicrowd.crowd.load import load_annotations
from semicrowd.data import Dataset, load_dataset
from semicrowd.errors import UserError
from semicrowd.random import stream

ROOT = Path("unused")


@pytest.fixture
def pinwheel() -> Dataset:
    return load_dataset("pinwheel", ROOT)


def test_none(pinwheel: Dataset) -> None:
    assert load_annotations("none", pinwheel, 0, ROOT) is None


@pytest.mark.parametrize("kind", ["two_coin", "quota", "tasks"])
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


def test_options_reach_the_simulator(pinwheel: Dataset) -> None:
    answers = load_annotations("two_coin", pinwheel, 0, ROOT, num_annotators=3, sensitivity=[0.5, 0.6, 0.7])
    assert answers is not None
    assert answers.true_sensitivity is not None
    assert answers.true_sensitivity.tolist() == [0.5, 0.6, 0.7]


def test_file(pinwheel: Dataset, tmp_path: Path) -> None:
    (tmp_path / "mine.csv").write_text("i,j,worker,label\n0,499,ann,1\n")
    answers = load_annotations("file", pinwheel, 0, ROOT, path=str(tmp_path / "mine.csv"))
    assert answers is not None
    assert (answers.num_pairs, answers.num_items) == (1, 500)


def test_mistakes(pinwheel: Dataset) -> None:
    with pytest.raises(UserError, match=r"^annotations=two_coins: no such annotations; the nearest is two_coin"):
        load_annotations("two_coins", pinwheel, 0, ROOT)
    with pytest.raises(UserError, match=r"^annotations\.num_annotator: no such option; the nearest is num_annotat"):
        load_annotations("two_coin", pinwheel, 0, ROOT, num_annotator=3)
    with pytest.raises(UserError, match=r"^annotations=file: annotations\.path is missing"):
        load_annotations("file", pinwheel, 0, ROOT)
    with pytest.raises(UserError, match=r"^annotations=crowd: these answers are about data=mnist, not data=pinwheel"):
        load_annotations("crowd", pinwheel, 0, ROOT)
    unlabelled = Dataset("table", pinwheel.features)
    with pytest.raises(UserError, match=r"^annotations=tasks: data=table has no true labels"):
        load_annotations("tasks", unlabelled, 0, ROOT)


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
    # One annotator saw one pair in two tasks and said the same.
    assert answers.notes == ("crowd: 1 duplicate answer (same pair, annotator and label), kept",)
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
