"""Loads or simulates the answers that the setting ``annotations`` selects."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from semicrowd.crowd import simulate
from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.crowd.answer_files import joined, tables_of
from semicrowd.data import Dataset
from semicrowd.data.cifar10h import confusions
from semicrowd.data.fetch import fetch
from semicrowd.errors import UserError
from semicrowd.random import stream
from semicrowd.settings.data import FileSettings
from semicrowd.settings.sources import (
    CROWD_TASKS,
    CrowdSettings,
    NoAnswers,
    TasksSettings,
    source_settings,
)

#: Simulators; called with the true labels and the stream "annotations" of the run's seed.
SIMULATORS: dict[str, Callable[..., PairAnnotations]] = {
    "two_coin": simulate.two_coin,
    "quota": simulate.quota,
    "tasks": simulate.tasks,
    "labels": simulate.labels_of_some,
}

_CROWD_FILE = "crowd_annotations_mnist.npy"
#: Pairs of the 36 images of a task in that file.
_PAIRS_OF_TASK = 36 * 35 // 2


def load_annotations(
    kind: str, data: Dataset, seed: int, root: Path, **options: Any
) -> PairAnnotations | None:
    """The answers about a data set.

    Parameters
    ----------
    kind : ``none``; ``two_coin``, ``quota``, ``tasks``, ``labels`` (simulated); ``crowd`` (real answers: those about
        MNIST, or those that an .npz file contains) or ``file``
    seed : of the run; simulators and the choice of crowd tasks use its stream "annotations"
    root : data root
    options : of the kind; see :mod:`semicrowd.settings.sources`

    Returns
    -------
    PairAnnotations or None
        None for ``none``.
    """
    settings = source_settings("annotations", kind, options)
    match settings:
        case NoAnswers():
            return None
        case FileSettings():
            return answers_of_files(data, settings)
        case CrowdSettings():
            return _crowd(data, root, seed, settings)
    if data.labels is None:
        raise UserError(
            f"annotations={kind}: data={data.name} has no true labels to simulate answers from; "
            "expected a column label, or annotations=file with answers of people"
        )
    rng = stream(seed, "annotations")
    confused: tuple[np.ndarray, ...] = ()
    if isinstance(settings, TasksSettings) and settings.confused is not None:
        if data.name != "cifar10":
            raise UserError(f"annotations.confused={settings.confused}: expected data=cifar10, not data={data.name}")
        confused = (confusions(root, data.test_labels),)
    return SIMULATORS[kind](data.labels, rng, *confused, **vars(settings))


def answers_of_files(data: Dataset, settings: FileSettings) -> PairAnnotations:
    """The answers of files about the items of ``data``: by their ids, their paths in a folder, or their rows."""
    if settings.path is None:
        raise UserError("annotations=file: annotations.path is missing; expected a file of answers")
    tables = tables_of(list(settings.paths), settings.columns)
    return joined([one.about(data.names or data.num_items, settings.errors) for one in tables])


def _crowd(data: Dataset, root: Path, seed: int, settings: CrowdSettings) -> PairAnnotations:
    """Real answers: those of the data's own file, or the 57,330 answers of 48 annotators to 91 tasks about MNIST.

    Of the latter ``settings.num_tasks`` selects some tasks at random; annotators keep their names. If labels are known,
    an annotator's true rates are the shares of correct answers among the answers in use.
    """
    answers = data.answers
    if answers is None:
        answers = _of_mnist(data, root, seed, settings.num_tasks)
    elif settings.num_tasks is not None:
        raise UserError(f"annotations.num_tasks={settings.num_tasks}: expected null, all answers of data={data.name}")
    return answers if data.labels is None else answers.with_true_rates(data.labels)


def _of_mnist(data: Dataset, root: Path, seed: int, num_tasks: int | None) -> PairAnnotations:
    if data.name != "mnist" or data.labels is None:
        raise UserError(
            f"annotations=crowd: data={data.name} has no real answers; expected data=mnist, or data that have some"
        )
    tasks = np.arange(CROWD_TASKS)
    if num_tasks is not None:  # the first of one permutation, so that fewer tasks are among more
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
