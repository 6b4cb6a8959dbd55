"""Answers by the name of their origin."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from semicrowd.crowd import simulate
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


def load_annotations(kind: str, data: Dataset, seed: int, root: Path, **options: Any) -> PairAnnotations | None:
    """The answers about a data set.

    Parameters
    ----------
    kind : ``none``, ``two_coin``, ``quota``, ``tasks`` (simulated), ``crowd`` (real, MNIST) or ``file``
    seed : of the simulators
    root : data root
    options : of the simulator; ``path`` of ``file``

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
    return reader(data, root, **options)


def _none(data: Dataset, root: Path) -> None:  # noqa: ARG001 - called as the others are
    return None


def _file(data: Dataset, root: Path, *, path: str | Path | None = None) -> PairAnnotations:  # noqa: ARG001
    if not path:
        raise UserError("annotations=file: annotations.path is missing; expected a csv with i,j,worker,label[,task]")
    return PairAnnotations.from_csv(path, data.num_items)


def _crowd(data: Dataset, root: Path) -> PairAnnotations:
    """The 57,330 answers of 48 people about MNIST's training images: 91 tasks of 36 images, row after row.

    The truth is each annotator's rate of right answers on what they saw.
    """
    if data.name != "mnist" or data.labels is None:
        raise UserError(f"annotations=crowd: these answers are about data=mnist, not data={data.name}")
    rows = np.load(fetch("mnist_crowd", root)[_CROWD_FILE], allow_pickle=False)
    columns = {"i": rows[:, 0], "j": rows[:, 1], "worker": rows[:, 2], "label": rows[:, 3]}
    task = np.arange(len(rows)) // _PAIRS_OF_TASK
    common: dict[str, Any] = {"num_items": data.num_items, "task": task, "source": "crowd"}
    answers = PairAnnotations.from_arrays(**columns, **common)
    sensitivity, specificity = answers.empirical_quality(data.labels)
    return PairAnnotations.from_arrays(
        **columns, **common, true_sensitivity=sensitivity, true_specificity=specificity
    )
