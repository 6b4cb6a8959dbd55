"""Checks of the items and answers that are passed to an estimator (arrays, data frames, files), and conversions."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator
from sklearn.utils import get_tags
from sklearn.utils.validation import validate_data

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.crowd.answer_files import as_text, joined, tables_of
from semicrowd.data.columns import IN_PYTHON, LARGEST, Columns, id_text, ids_of
from semicrowd.data.dataset import Dataset
from semicrowd.data.frames import ID, LABEL, as_pandas, refuse_answers
from semicrowd.errors import UserError, warn


def checked_features(estimator: BaseEstimator, X: Any, *, fit: bool) -> np.ndarray:
    """X as float64 [N, D], finite; NaN is allowed if the method accepts missing values.

    It has the columns of the fit unless it is that of a ``fit``. Sparse matrices and other objects are a ``TypeError``,
    as in scikit-learn, all else is a ``UserError``.
    """
    try:
        if isinstance(X, np.ma.MaskedArray):  # scikit-learn would take what the mask hides
            X = np.ma.filled(X.astype(np.float64), np.nan)
        found = validate_data(estimator, X, reset=fit, dtype="numeric", ensure_all_finite=False)
    except ValueError as error:
        raise UserError(f"X: {' '.join(str(error).split())}") from error
    features = found.astype(np.float64)
    bad = np.abs(features) > LARGEST
    if not get_tags(estimator).input_tags.allow_nan:
        bad |= np.isnan(features)
    row, column = np.nonzero(bad)
    if len(row):
        value = features[row[0], column[0]]
        shown = "NaN" if np.isnan(value) else value
        raise UserError(f"X, row {row[0]}, column {column[0]}: {shown}; expected a number up to {LARGEST:.0e}")
    return features


def checked_answers(pairs: Any, num_items: int, names: Sequence[str] | None = None) -> PairAnnotations | None:
    """Answers about the items 0 … ``num_items`` − 1.

    Parameters
    ----------
    pairs : PairAnnotations; or what :func:`semicrowd.read_answers` takes: an array, a data frame, a file or a list; or
        None
    names : of the items, by which answers call them; None: they call them by row numbers
    """
    if pairs is None or isinstance(pairs, PairAnnotations):
        if pairs is not None and pairs.num_items != num_items:
            raise UserError(f"pairs: answers about {pairs.num_items} items; expected {num_items}, the rows of X")
        return pairs
    return _warned(joined([one.about(names or num_items) for one in tables_of(pairs, name="pairs")]))


def _warned(answers: PairAnnotations) -> PairAnnotations:
    for note in answers.notes:
        warn(note)
    return answers


def read_answers(
    answers: Any, *, columns: Mapping[str, str] | None = None, items: Any = None, errors: str = "raise"
) -> pd.DataFrame:
    """Answers as ``fit(X, pairs=…)`` takes them: a row for each answer about a pair of items.

    Parameters
    ----------
    answers : path, data frame, array or list
        A .csv, .tsv or .parquet file, a frame, an array [P, 3 to 5] of i, j[, worker], label[, task]; or a list of
        files and frames, each in a form of its own: ``i,j,worker,label[,task]`` with the label 1 or 0, true or false,
        yes or no, same or different, empty for no answer; ``item,worker,group,task``; or ``item,worker,label``, where
        items of one worker are the same if their labels are equal. Without a column worker all are of one person
    columns : name of a column (i, j, item, worker, label, group, task) → its name in the files
    items : ids of all items (a column, list or array), to check those of the answers; None: ``fit`` checks them
    errors : "raise", or "drop": rows with an error are left out, and a warning says how many

    Returns
    -------
    pd.DataFrame
        Columns i, j, worker (text), label (1: same, 0: different), and task if there are some.

    Raises
    ------
    UserError
        Naming the file, the row and the column.

    Examples
    --------
    >>> import pandas as pd
    >>> verdicts = pd.DataFrame({"left": ["a", "b"], "right": ["b", "c"], "label": ["same", "different"]})
    >>> read_answers(verdicts, columns={"i": "left", "j": "right"})
       i  j     worker  label
    0  a  b  everybody      1
    1  b  c  everybody      0
    """
    if errors not in ("raise", "drop"):
        raise UserError(f"errors={errors}: expected raise or drop")
    given = [as_pandas(one) for one in answers] if isinstance(answers, list | tuple) else as_pandas(answers)
    tables = tables_of(given, columns)
    names = as_text(list(items)) if items is not None else None
    if names is None:
        parts = [one.columns[name] for one in tables for name in ("i", "j", "item") if name in one.columns]
        names = pd.unique(np.concatenate(parts))
        names = names[names != ""]
    found = _warned(joined([one.about(list(names), errors) for one in tables]))
    frame = pd.DataFrame({"i": names[found.i], "j": names[found.j],
                          "worker": np.array(found.worker_names)[found.worker], "label": found.label})  # fmt: skip
    return frame if found.task is None else frame.assign(task=found.task)


def labels_alone(y: Any) -> bool:
    """Whether ``y`` has a label for each item, as scikit-learn passes it to every fit, and no answers."""
    if y is None or isinstance(y, PairAnnotations | str | Path | pd.DataFrame):
        return False
    try:
        cells = np.asarray(y)
    except ValueError:  # rows of unequal length: answers, which are refused with what was expected
        return False
    return cells.ndim == 1 and not (len(cells) and all(isinstance(o, str | Path) and Path(o).is_file() for o in cells))


def check_memory(method: str, what: str, num_items: int, arrays: int) -> None:
    """Refuse ``arrays`` square matrices of ``num_items`` items that no memory of this machine can hold."""
    needed, there = 8 * arrays * num_items**2, os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    if needed > there:
        raise UserError(f"{method}: {what} of {num_items} items need about {needed / 2**30:.0f} GiB of memory; this "
                        f"machine has {there / 2**30:.0f} GiB; expected fewer items")  # fmt: skip


def items_to_fit(estimator: BaseEstimator, X: Any) -> tuple[Any, tuple[str, ...] | None, Columns | None]:
    """The items of a fit: numbers that scikit-learn checks further, names of the rows, and how columns were converted.

    The columns of a data frame become features as those of a table on the command line do
    (:mod:`semicrowd.data.columns`). A column ``id`` names the rows, otherwise the index does; a column ``label`` is
    left out. Warnings name the columns that are no features. Other items have neither names nor columns.
    """
    takes_missing = get_tags(estimator).input_tags.allow_nan
    if isinstance(X, Dataset):
        if X.columns is not None and not X.columns.filled and not takes_missing:
            X = X.with_gaps_filled()
        return X.features, X.names, X.columns
    if not isinstance(X, pd.DataFrame) or not len(X):
        return X, None, None
    refuse_answers(X.columns, IN_PYTHON)
    frame, ids = _named(X), ID if ID in X else None
    if LABEL in frame:
        warn("X: column label is left out, it would give away what is to be found")
    columns, notes = Columns.of(frame.drop(columns=[ID, LABEL], errors="ignore"), IN_PYTHON, ids)
    for note in notes:
        warn(f"X: {note}")
    columns = columns if takes_missing else columns.with_gaps_filled()
    return _numbers(frame, columns), names_of_rows(X, columns), columns


def items_to_predict(estimator: BaseEstimator, X: Any) -> Any:
    """New items. The columns of a data frame are found by their names in the fit, in any order."""
    X, columns = as_pandas(X), getattr(estimator, "columns_", None)
    if columns is None:
        return X
    if columns.named and isinstance(X, pd.DataFrame) and len(X):
        found = _numbers(_named(X), columns)
        names = getattr(estimator, "feature_names_in_", None)  # not there where the fit was given an array
        return found if names is not None else found.to_numpy()
    if not columns.named and columns.filled and np.shape(X)[1:] == (len(columns.columns),):
        return columns.fill(np.asarray(X, np.float64))  # a run was fitted to an array with gaps
    return X


def names_of_rows(X: Any, columns: Columns | None = None) -> tuple[str, ...] | None:
    """The names of rows in the fit's column of ids, else in the index of a data frame; None for other items.

    Two rows may have the same name in an index.
    """
    X, ids = as_pandas(X), None if columns is None else columns.ids
    if not isinstance(X, pd.DataFrame):
        return None
    return ids_of(X[ids], IN_PYTHON) if ids in X else tuple(map(id_text, X.index))


def refuse_positions(names: Sequence[str] | None, pairs: Any) -> None:
    """Refuse an array of answers that counts rows where the items have names that are no row numbers."""
    if names is None or tuple(names) == tuple(map(str, range(len(names)))):
        return
    try:
        counted = isinstance(pairs, list | tuple | np.ndarray) and np.asarray(pairs).dtype.kind in "iuf"
    except ValueError:  # rows of unequal length, refused with what was expected
        return
    if counted:
        raise UserError("pairs: an array counts rows, but X has names for them, in a column id or an index other than "
                        "0, 1, 2, …; expected a data frame with columns i, j, worker, label that have these names, or "
                        "X.reset_index(drop=True) without a column id")  # fmt: skip


def _named(X: pd.DataFrame) -> pd.DataFrame:
    frame = X.set_axis([str(name) for name in X.columns], axis=1)
    if len(twice := frame.columns[frame.columns.duplicated()]):
        raise UserError(f"X: column {twice[0]} is there twice; expected a name of its own for each")
    return frame


def _numbers(frame: pd.DataFrame, columns: Columns) -> pd.DataFrame:
    features, notes = columns.features(frame, IN_PYTHON)
    for note in notes:
        warn(f"X: {note}")
    values = columns.fill(features) if columns.filled else features
    return pd.DataFrame(values, columns=columns.feature_names)
