"""Answers by the name of their origin."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from semicrowd.crowd import csv_file, simulate
from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.data import Dataset
from semicrowd.data.fetch import fetch
from semicrowd.data.options import check_options, choose
from semicrowd.errors import UserError
from semicrowd.random import stream

#: Simulators; called with the true labels and the stream "annotations" of the run's seed.
SIMULATORS: dict[str, Callable[..., PairAnnotations]] = {
    "two_coin": simulate.two_coin,
    "quota": simulate.quota,
    "tasks": simulate.tasks,
}

_CROWD_FILE = "crowd_annotations_mnist.npy"
_PAIRS_OF_TASK = 36 * 35 // 2
_CROWD_TASKS = 91


def load_annotations(kind: str, data: Dataset, seed: int, root: Path, **options: Any) -> PairAnnotations | None:
    """The answers about a data set.

    Parameters
    ----------
    kind : ``none``, ``two_coin``, ``quota``, ``tasks`` (simulated), ``crowd`` (real, MNIST) or ``file``
    seed : of the run; the simulators, and what ``crowd`` leaves to chance, draw from its streams "annotations"
    root : data root
    options : of the simulator; ``num_tasks`` and ``flipped`` of ``crowd``; ``path`` of ``file``

    Returns
    -------
    PairAnnotations or None
        None for ``none``.

    Raises
    ------
    UserError
        For an unknown kind or option, and for answers that cannot be had, read or simulated.
    """
    readers: dict[str, Callable[..., PairAnnotations | None]] = {
        "none": _none, **SIMULATORS, "crowd": _crowd, "file": _file,
    }
    reader = choose("annotations", kind, readers)
    check_options("annotations", reader, options)
    if kind in SIMULATORS:
        if data.labels is None:
            raise UserError(
                f"annotations={kind}: data={data.name} has no true labels to simulate answers from; "
                "expected a column label, or annotations=file with answers of people"
            )
        return reader(data.labels, stream(seed, "annotations"), **options)
    return reader(data, root, seed, **options)


def _none(data: Dataset, root: Path, seed: int) -> None:  # noqa: ARG001 - called as the others are
    return None


def _file(data: Dataset, root: Path, seed: int, *, path: str | Path | None = None) -> PairAnnotations:  # noqa: ARG001
    if not path:
        raise UserError("annotations=file: annotations.path is missing; expected a csv with i,j,worker,label[,task]")
    return csv_file.read(path, data.num_items)


def _crowd(
    data: Dataset, root: Path, seed: int, *, num_tasks: int | None = None, flipped: float = 0.0
) -> PairAnnotations:
    """The 57,330 answers of 48 people about MNIST's training images: 91 tasks of 36 images, row after row.

    The truth is each annotator's rate of right answers on what they saw of the tasks in use. Annotators keep the names
    that they have in the whole.

    Parameters
    ----------
    num_tasks : tasks in use, drawn at random: for one seed, fewer are among more; None: all
    flipped : see :func:`semicrowd.crowd.simulate.flip_annotators`
    """
    if data.name != "mnist" or data.labels is None:
        raise UserError(f"annotations=crowd: these answers are about data=mnist, not data={data.name}")
    tasks = _draw_tasks(num_tasks, stream(seed, "annotations"))
    rows = np.load(fetch("mnist_crowd", root)[_CROWD_FILE], allow_pickle=False)
    rows = rows.reshape(_CROWD_TASKS, _PAIRS_OF_TASK, 4)[tasks].reshape(-1, 4)
    people, worker = np.unique(rows[:, 2], return_inverse=True)
    answers = PairAnnotations.from_arrays(
        rows[:, 0], rows[:, 1], worker, rows[:, 3],
        task=np.repeat(np.arange(len(tasks)), _PAIRS_OF_TASK), num_items=data.num_items,
        worker_names=[str(person) for person in people],
        source="crowd" if len(tasks) == _CROWD_TASKS else f"crowd ({len(tasks)} of {_CROWD_TASKS} tasks)",
    )  # fmt: skip
    sensitivity, specificity = answers.empirical_quality(data.labels)
    answers = replace(answers, true_sensitivity=sensitivity, true_specificity=specificity)
    return simulate.flip_annotators(answers, flipped, stream(seed, "annotations/flipped"))


def _draw_tasks(num_tasks: int | None, rng: np.random.Generator) -> np.ndarray:
    """Sorted numbers of the crowd's tasks to use."""
    if num_tasks is None:
        return np.arange(_CROWD_TASKS)
    if isinstance(num_tasks, bool) or not isinstance(num_tasks, int) or not 1 <= num_tasks <= _CROWD_TASKS:
        raise UserError(
            f"annotations.num_tasks={num_tasks}: expected a whole number from 1 to {_CROWD_TASKS}, or null for all"
        )
    # The first of one permutation, so that fewer tasks are among more.
    return np.sort(rng.permutation(_CROWD_TASKS)[:num_tasks])
