"""Answers about a data set: none, simulated by its true classes, or of people. Each is a choice of ``annotations``."""

from collections.abc import Mapping, Sequence
from numbers import Integral
from pathlib import Path

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions, validate_params

from semicrowd.crowd import simulate
from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.crowd.answer_files import joined, tables_of
from semicrowd.crowd.simulate import FACE_RATES, Rates
from semicrowd.data.cifar10 import confusions
from semicrowd.data.dataset import Dataset
from semicrowd.data.fetch import data_root
from semicrowd.data.mnist import CROWD_TASKS, answers_about_mnist
from semicrowd.errors import UserError
from semicrowd.random import stream


def none(data: Dataset, *, seed: int = 0) -> None:
    """No answers."""


def two_coin(
    data: Dataset, *, num_annotators: int = 20, pairs_per_annotator: int = 49, num_annotated: int | None = 100,
    sensitivity: Rates = 0.9, specificity: Rates = 0.9, seed: int = 0,
) -> PairAnnotations:  # fmt: skip
    """Simulated: annotators answer random pairs (:func:`semicrowd.crowd.simulate.two_coin`)."""
    return simulate.two_coin(
        _labels(data), stream(seed, "annotations"), num_annotators=num_annotators,
        pairs_per_annotator=pairs_per_annotator, num_annotated=num_annotated, sensitivity=sensitivity,
        specificity=specificity,
    )  # fmt: skip


def quota(
    data: Dataset, *, sensitivity: Rates = FACE_RATES, specificity: Rates = FACE_RATES, pairs_per_annotator: int = 200,
    num_annotated: int | None = None, seed: int = 0,
) -> PairAnnotations:  # fmt: skip
    """Simulated: half of each annotator's pairs are truly the same (:func:`semicrowd.crowd.simulate.quota`)."""
    return simulate.quota(
        _labels(data), stream(seed, "annotations"), sensitivity=sensitivity, specificity=specificity,
        pairs_per_annotator=pairs_per_annotator, num_annotated=num_annotated,
    )  # fmt: skip


@validate_params({"confused": [StrOptions({"cifar10h"}), None]}, prefer_skip_nested_validation=False)
def tasks(
    data: Dataset, *, num_annotators: int = 48, num_tasks: int = 91, task_size: int | Sequence[int] = 36,
    num_annotated: int | None = 2759, sensitivity: Rates = 0.98, specificity: Rates = 0.99,
    confused: str | None = None, seed: int = 0, root: Path | None = None,
) -> PairAnnotations:  # fmt: skip
    """Simulated: annotators group the items of tasks (:func:`semicrowd.crowd.simulate.tasks`).

    Parameters
    ----------
    confused : cifar10h: each annotator confuses the classes of CIFAR-10 as often as people do (Peterson et al. 2019)
    root : data root with the counts of CIFAR-10H; None: that of the environment
    """
    labels, seen_as = _labels(data), None
    if confused is not None:
        if data.name != "cifar10":
            raise UserError(f"annotations.confused={confused}: expected data=cifar10, not data={data.name}")
        seen_as = confusions(root or data_root(), data.test_labels)
    return simulate.tasks(
        labels, stream(seed, "annotations"), seen_as, num_annotators=num_annotators, num_tasks=num_tasks,
        task_size=task_size, num_annotated=num_annotated, sensitivity=sensitivity, specificity=specificity,
    )  # fmt: skip


def labels(data: Dataset, *, fraction: float = 0.25, seed: int = 0) -> PairAnnotations:
    """Simulated: labels of some items, as must-links (:func:`semicrowd.crowd.simulate.labels_of_some`)."""
    return simulate.labels_of_some(_labels(data), stream(seed, "annotations"), fraction=fraction)


@validate_params(
    {"num_tasks": [Interval(Integral, 1, CROWD_TASKS, closed="both"), None]}, prefer_skip_nested_validation=False
)
def crowd(
    data: Dataset, *, num_tasks: int | None = None, seed: int = 0, root: Path | None = None
) -> PairAnnotations:
    """Answers of people: those in the data's own .npz file, or of 48 people about MNIST, in 91 tasks of 36 images.

    If labels are known, an annotator's true rates are the shares of correct answers among the answers in use.

    Parameters
    ----------
    num_tasks : number of MNIST's tasks, drawn by the seed (a larger number includes those of a smaller); None: all
    root : data root; None: that of the environment
    """
    answers = data.answers
    if answers is None:
        answers = answers_about_mnist(data, num_tasks, seed, root or data_root())
    elif num_tasks is not None:
        raise UserError(f"annotations.num_tasks={num_tasks}: expected null, all answers of data={data.name}")
    return answers if data.labels is None else answers.with_true_rates(data.labels)


@validate_params(
    {"path": [str, Path, "array-like", None], "columns": [Mapping, None], "errors": [StrOptions({"raise", "drop"})]},
    prefer_skip_nested_validation=False,
)
def file(
    data: Dataset, *, path: str | Path | Sequence[str | Path] | None = None, columns: Mapping[str, str] | None = None,
    errors: str = "raise", seed: int = 0,  # noqa: ARG001 - called as the others are
) -> PairAnnotations:  # fmt: skip
    """Answers in files (docs/howto/answers.md) about items by their ids, their paths in a folder, or their rows from 0.

    The forms: i,j,worker,label[,task] with the label 1/0, true/false, yes/no or same/different, empty for no answer;
    item,worker,group,task; or item,worker,label. Without a column worker all answers are of one person.

    Parameters
    ----------
    path : csv, tsv or parquet; or a list of such files, each in a form of its own, in which people of the same name are
        the same person
    columns : names of the columns in the file where they are others, such as {i: left, j: right, label: verdict}
    errors : what becomes of a row with an unknown item, a wrong label or an item beside itself: raise (an error) or
        drop (left out and counted)
    """
    if path is None:
        raise UserError("annotations=file: annotations.path is missing; expected a file of answers")
    paths = [path] if isinstance(path, str | Path) else list(path)
    tables = tables_of(paths, columns)
    for one in tables:
        if data.names is None and not any(cell.isdecimal() for cell in one.columns[one.form[0]]):
            raise UserError(f"{one.source}, column {one.form[0]}: has names, but data={data.name} has no ids; expected "
                            "rows from 0, or a column id in the table (or the name of one, data.id)")  # fmt: skip
    return joined([one.about(data.names or data.num_items, errors) for one in tables])


def _labels(data: Dataset) -> np.ndarray:
    if data.labels is None:
        raise UserError(
            f"annotations: data={data.name} has no true labels to simulate answers from; expected a column label, or "
            "annotations=file with answers of people"
        )
    return data.labels
