"""Annotators who take images for other kinds, as often as people do."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from semicrowd.crowd import simulate
from semicrowd.crowd.simulate import taken_for, tasks
from semicrowd.data import Dataset, cifar10h
from semicrowd.data.answers import load_annotations
from semicrowd.errors import UserError

SEEN_AS = np.array([[0.9, 0.1, 0.0], [0.3, 0.7, 0.0], [0.0, 0.0, 1.0]])


def test_items_are_taken_for_others_as_often_as_is_said() -> None:
    labels = np.repeat([0, 1, 2], 20_000)
    seen = taken_for(labels, SEEN_AS, np.random.default_rng(0))
    share = np.stack([np.bincount(seen[labels == kind], minlength=3) / 20_000 for kind in range(3)])
    np.testing.assert_allclose(share, SEEN_AS, atol=5 * 0.5 / 20_000**0.5)


def test_rates_of_the_answers_are_those_of_two_items_taken_for_one_kind() -> None:
    """Without other mistakes two items are put together where they are taken for the same kind."""
    labels = np.repeat([0, 1, 2], 100)
    answers = simulate.tasks(
        labels, np.random.default_rng(0), SEEN_AS, num_annotators=4, num_tasks=400, task_size=30, num_annotated=None,
        sensitivity=1.0, specificity=1.0,
    )  # fmt: skip
    together = SEEN_AS @ SEEN_AS.T
    for one in range(3):
        for other in range(3):
            both = (labels[answers.i] == one) & (labels[answers.j] == other)
            assert answers.label[both].mean() == pytest.approx(together[one, other], abs=0.03)
    assert answers.true_sensitivity is not None
    assert answers.true_sensitivity.mean() == pytest.approx(together.diagonal().mean(), abs=0.02)


def test_nobody_is_confused_unless_that_is_asked_for() -> None:
    labels = np.repeat([0, 1, 2], 30)
    options: dict[str, Any] = {"num_annotators": 3, "num_tasks": 9, "task_size": 10, "num_annotated": 60}
    none = simulate.tasks(labels, np.random.default_rng(0), None, **options)
    assert np.array_equal(none.label, simulate.tasks(labels, np.random.default_rng(0), **options).label)
    perfect: dict[str, Any] = {**options, "sensitivity": 1.0, "specificity": 1.0}
    answers = simulate.tasks(labels, np.random.default_rng(0), np.eye(3), **perfect)
    assert np.array_equal(answers.label == 1, labels[answers.i] == labels[answers.j])


@pytest.fixture
def images(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Dataset:
    """Ten kinds, and counts where one in ten takes a kind for the next."""
    counts = (45 * np.eye(10, dtype=np.int64) + 5 * np.roll(np.eye(10, dtype=np.int64), 1, 1))[np.arange(40) % 10]
    path = tmp_path / "cifar10h-counts.npy"
    np.save(path, counts)
    monkeypatch.setattr(cifar10h, "fetch", lambda name, root: {path.name: path})  # noqa: ARG005 - as fetch has it
    labels = np.arange(200) % 10
    return Dataset("cifar10", np.zeros((200, 3), np.float32), labels, np.zeros((30, 3), np.float32), labels[:30])


def test_confusions_are_counted_by_kind_of_the_test_images_that_are_there(images: Dataset) -> None:
    found = cifar10h.confusions(Path("unused"), images.test_labels)
    np.testing.assert_allclose(found, 0.9 * np.eye(10) + 0.1 * np.roll(np.eye(10), 1, 1))
    for labels in (None, np.zeros(5, np.int64)):
        with pytest.raises(UserError, match=r"annotations\.confused=cifar10h: each count belongs to a test image"):
            cifar10h.confusions(Path("unused"), labels)


def test_classes_without_annotated_items_have_a_family_too() -> None:
    """Two items of class 0 that are taken for class 3, which no annotated item has."""
    seen_as = np.zeros((4, 4))
    seen_as[:, 3] = 1
    found = tasks(np.array([0, 0, 1, 2]), np.random.default_rng(0), seen_as, num_annotators=1, num_tasks=1, task_size=4,
                  num_annotated=4, families=2, alike=0.1, sensitivity=1.0, specificity=0.9)  # fmt: skip
    assert found.label.all(), "all of one class, as far as the annotator can see"


def test_a_run_has_them_by_name_and_other_data_do_not(images: Dataset, pinwheel: Dataset) -> None:
    options: dict[str, Any] = {"num_annotators": 2, "num_tasks": 20, "task_size": 20, "num_annotated": 200}
    options |= {"sensitivity": 1.0, "specificity": 1.0}
    found = load_annotations("tasks", images, 0, Path("unused"), confused="cifar10h", **options)
    assert found is not None
    assert found.true_sensitivity is not None
    assert found.true_sensitivity.mean() == pytest.approx(0.82, abs=0.04)
    with pytest.raises(UserError, match=r"annotations\.confused=cifar10h: expected data=cifar10, not data="):
        load_annotations("tasks", pinwheel, 0, Path("unused"), confused="cifar10h", **options)
    with pytest.raises(UserError, match=r"annotations\.confused=imagenet: expected cifar10h"):
        load_annotations("tasks", images, 0, Path("unused"), confused="imagenet", **options)
