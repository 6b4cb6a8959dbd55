"""Checks of the items and answers that are passed to an estimator: arrays, data frames, files."""

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator
from sklearn.utils import get_tags
from sklearn.utils.validation import validate_data

from semicrowd.crowd import csv_file
from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.crowd.answer_table import AnswerTable
from semicrowd.data.arrays import memory_of_machine
from semicrowd.errors import UserError

#: Columns of answers by their number.
_COLUMNS = {3: ("i", "j", "label"), 4: ("i", "j", "worker", "label"), 5: ("i", "j", "worker", "label", "task")}
_EXPECTED = "expected [answers, 3 to 5]: i, j[, worker], label[, task]"


def checked_features(estimator: BaseEstimator, X: Any, *, fit: bool) -> np.ndarray:
    """X as float64 [N, D], finite; NaN is allowed if the method accepts missing values.

    Parameters
    ----------
    fit : whether X is that of a fit; otherwise it must have the columns of the fit

    Raises
    ------
    UserError
        For another shape, other columns, values that are not numbers or not finite.
    TypeError
        For sparse matrices and other objects, as in scikit-learn.
    """
    try:
        found = validate_data(estimator, X, reset=fit, dtype="numeric", ensure_all_finite=False)
    except ValueError as error:
        raise UserError(f"X: {' '.join(str(error).split())}") from error
    features = found.astype(np.float64)
    bad = np.isinf(features) if get_tags(estimator).input_tags.allow_nan else ~np.isfinite(features)
    row, column = np.nonzero(bad)
    if len(row):
        value = features[row[0], column[0]]
        shown = "NaN" if np.isnan(value) else value
        raise UserError(f"X, row {row[0]}, column {column[0]}: {shown}; expected a finite number")
    return features


def checked_answers(
    pairs: Any,
    num_items: int,
    ids: Sequence[str] | None = None,
    *,
    index: Sequence[str] | None = None,
    skip_unknown: bool = False,
) -> PairAnnotations | None:
    """Answers about the items 0 … ``num_items`` − 1.

    Parameters
    ----------
    pairs : PairAnnotations; an array [P, 3 … 5] or a list of rows, whose columns are i, j, label, or i, j, worker,
        label[, task]; a data frame with columns of these names, i, j and label at least, or with groupings or classes
        (:func:`semicrowd.crowd.csv_file.read`); the path of a csv file; or None
    ids, index : names of the items in a column of ids and in the index of a data frame, by which the answers may call
        them; of both, those count that occur more often in the answers. Without, items are called by row numbers
    skip_unknown : leave out answers about items that are not there, with a warning that says how many. A fit of a
        cross-validation gets some rows of a data frame, which keep their names

    Raises
    ------
    UserError
        Naming the row, the column and what was expected.
    """
    if pairs is None or isinstance(pairs, PairAnnotations):
        if pairs is not None and pairs.num_items != num_items:
            raise UserError(f"pairs: answers about {pairs.num_items} items; expected {num_items}, the rows of X")
        return pairs
    if isinstance(pairs, str | Path):
        return _of_table(AnswerTable.read(Path(pairs)), num_items, ids, index, skip_unknown)
    if not isinstance(pairs, pd.DataFrame):
        try:
            table = np.asarray(pairs)
        except ValueError as error:  # rows of unequal length
            raise UserError(f"pairs: {str(error).splitlines()[0]}; {_EXPECTED}") from error
        if table.ndim != 2 or table.shape[1] not in _COLUMNS:
            raise UserError(f"pairs: shape {table.shape}; {_EXPECTED}")
        rows = list(pairs) if table.dtype.kind in "USO" else table  # an array would make text of numbers beside text
        pairs = pd.DataFrame(rows, columns=list(_COLUMNS[table.shape[1]]))
    plain = all(name in pairs and pairs[name].dtype.kind in "iuf" for name in ("i", "j", "label"))
    if ids is not None or index is not None or skip_unknown or not plain:
        return _of_table(AnswerTable.of_frame(pairs, "pairs"), num_items, ids, index, skip_unknown)
    return _from_frame(pairs, num_items)


def _of_table(
    table: AnswerTable, num_items: int, ids: Sequence[str] | None, index: Sequence[str] | None, skip_unknown: bool
) -> PairAnnotations:
    by_index = index is not None and (ids is None or table.number_named(index) > table.number_named(ids))
    truth = csv_file.truth_path(table.path) if table.unit == "line" else None
    return _told(csv_file.of_table(
        table, num_items, index if by_index else ids, truth, skip_unknown=skip_unknown, by_index=by_index,
    ))  # fmt: skip


def labels_alone(y: Any) -> bool:
    """Whether ``y`` has a label for each item, as scikit-learn passes it to every fit, and no answers."""
    if y is None or isinstance(y, PairAnnotations | str | Path | pd.DataFrame):
        return False
    return np.asarray(y).ndim == 1


def _told(answers: PairAnnotations) -> PairAnnotations:
    """Return the answers; warn if some were left out."""
    for note in answers.notes:
        if csv_file.LEFT_OUT in note:
            warnings.warn(note, UserWarning, stacklevel=4)
    return answers


def _from_frame(frame: pd.DataFrame, num_items: int) -> PairAnnotations:
    columns = {name: _whole(frame[name]) for name in ("i", "j", "label")}
    worker, names = np.zeros(len(frame), np.int64), [csv_file.EVERYBODY]
    task = None
    if "worker" in frame:
        worker, names = _numbered(frame, "worker")
    if "task" in frame:
        task = _numbered(frame, "task")[0]
    return PairAnnotations.from_arrays(
        columns["i"], columns["j"], worker, columns["label"], task=task, num_items=num_items, worker_names=names,
        source="pairs",
    )  # fmt: skip


def _whole(column: pd.Series) -> np.ndarray:
    """Convert floats to integers if all are whole; other values stay, and ``from_arrays`` refuses them."""
    values = column.to_numpy()
    with np.errstate(invalid="ignore"):
        if values.dtype.kind == "f" and np.array_equal(values, values.astype(np.int64)):
            return values.astype(np.int64)
    return values


def _numbered(frame: pd.DataFrame, name: str) -> tuple[np.ndarray, list[str]]:
    """Encode names as integers, in the order of the sorted names; returns the integers and the names."""
    column = pd.Series(_whole(frame[name]))
    if column.isna().any():
        raise UserError(f"pairs, row {int(column.isna().argmax())}, column {name}: empty; expected a name or number")
    numbers, names = pd.factorize(column, sort=True)
    return numbers.astype(np.int64), [str(one) for one in names]


def checked_counts(features: np.ndarray, scale: float | None = None) -> np.ndarray:
    """Counts [N, D] for multinomial clusters: features times ``scale``, rounded; None: features must be whole numbers.

    Raises
    ------
    UserError
        Naming the row and the column.
    """
    counts = np.rint(features * (1.0 if scale is None else scale))
    bad = counts < 0 if scale is not None else (counts < 0) | (counts != features)
    if bad.any():
        row, column = (int(index[0]) for index in np.nonzero(bad))
        expected = "counts >= 0" if scale is not None else "whole counts >= 0"
        value = f"{features[row, column]:g}"
        raise UserError(f"X, row {row}, column {column}: {value}; family=multinomial takes {expected}")
    return counts.astype(np.int64)


def check_memory(method: str, what: str, num_items: int, arrays: int) -> None:
    """Refuse ``arrays`` square matrices of ``num_items`` items that no memory of this machine can hold.

    Raises
    ------
    UserError
        With the size that is needed and the memory of the machine.
    """
    needed = 8 * arrays * num_items**2
    there = memory_of_machine()
    if needed > there:
        raise UserError(
            f"{method}: {what} of {num_items} items need about {needed / 2**30:.0f} GiB of memory; this machine has "
            f"{there / 2**30:.0f} GiB; expected fewer items"
        )
