"""Checks of the items and answers that are passed to an estimator (arrays, data frames, files), and conversions."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.sparse import issparse
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


def checked_answers(
    pairs: Any, num_items: int, ids: Sequence[str] | None = None, *, index: Sequence[str] | None = None
) -> PairAnnotations | None:
    """Answers about the items 0 … ``num_items`` − 1.

    Parameters
    ----------
    pairs : PairAnnotations; or what :func:`semicrowd.read_answers` takes: an array, a data frame, a file or a list; or
        None
    ids, index : names of the items in a column of ids, else in the index of a data frame, by which answers call them;
        without both, they are called by row numbers
    """
    if pairs is None or isinstance(pairs, PairAnnotations):
        if pairs is not None and pairs.num_items != num_items:
            raise UserError(f"pairs: answers about {pairs.num_items} items; expected {num_items}, the rows of X")
        return pairs
    names = ids or index or num_items
    answers = joined([one.about(names) for one in tables_of(pairs, name="pairs")])
    for note in answers.notes:
        warn(note)
    return answers


def read_answers(
    answers: Any,
    *,
    columns: Mapping[str, str] | None = None,
    items: Any = None,
    errors: str = "raise",
) -> pd.DataFrame:
    """Answers as ``fit(X, pairs=…)`` takes them: a row for each answer about a pair of items.

    Parameters
    ----------
    answers : path of a .csv, .tsv or .parquet file, a data frame, or an array [P, 3 to 5] of i, j[, worker], label[,
        task]; or a list of files and data frames, each in a form of its own. The forms: ``i,j,worker,label[,task]``
        with the label 1 or 0, true or false, yes or no, same or different, empty for no answer; or
        ``item,worker,group,task``; or ``item,worker,label``, in which two items of one worker are the same if their
        labels are equal. Without a column worker all answers are of one person
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
    found = joined([one.about(list(names), errors) for one in tables])
    for note in found.notes:
        warn(note)
    frame = pd.DataFrame({"i": names[found.i], "j": names[found.j],
                          "worker": np.array(found.worker_names)[found.worker], "label": found.label})  # fmt: skip
    return frame if found.task is None else frame.assign(task=found.task)


def labels_alone(y: Any) -> bool:
    """Whether ``y`` has a label for each item, as scikit-learn passes it to every fit, and no answers."""
    if y is None or isinstance(y, PairAnnotations | str | Path | pd.DataFrame):
        return False
    if isinstance(y, list | tuple) and y and all(isinstance(one, str | Path) and Path(one).is_file() for one in y):
        return False  # files of answers
    try:
        return np.asarray(y).ndim == 1
    except ValueError:  # rows of unequal length: answers, which are refused with what was expected
        return False


def checked_counts(features: np.ndarray, scale: float | None = None) -> np.ndarray:
    """Counts [N, D] for multinomial clusters: features times ``scale``, rounded; None: features must be whole."""
    counts = np.rint(features * (1.0 if scale is None else scale))
    bad = counts < 0 if scale is not None else (counts < 0) | (counts != features)
    if bad.any():
        row, column = (int(index[0]) for index in np.nonzero(bad))
        expected = "counts >= 0" if scale is not None else "whole counts >= 0"
        value = f"{features[row, column]:g}"
        raise UserError(f"X, row {row}, column {column}: {value}; family=multinomial takes {expected}")
    return counts.astype(np.int64)


def check_memory(method: str, what: str, num_items: int, arrays: int) -> None:
    """Refuse ``arrays`` square matrices of ``num_items`` items that no memory of this machine can hold."""
    needed = 8 * arrays * num_items**2
    there = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    if needed > there:
        raise UserError(
            f"{method}: {what} of {num_items} items need about {needed / 2**30:.0f} GiB of memory; this machine has "
            f"{there / 2**30:.0f} GiB; expected fewer items"
        )


#: Largest sparse matrix that is converted to a dense one, in GiB of double precision.
_LARGEST_DENSE = 4


class Items(NamedTuple):
    """Items as an array or a data frame of numbers.

    Attributes
    ----------
    X : array or data frame of numbers, which scikit-learn checks further
    ids, by_index : names of the rows, by which answers may call them: of a column of ids, and of the index; else None
    columns : how the columns of a data frame were converted; None for other items
    """

    X: Any
    ids: tuple[str, ...] | None
    by_index: tuple[str, ...] | None
    columns: Columns | None


def items_to_fit(estimator: BaseEstimator, X: Any) -> Items:
    """The items of a fit.

    The columns of a data frame become features as those of a table on the command line do
    (:mod:`semicrowd.data.columns`). A column ``id`` names the rows, otherwise the index does; a column ``label`` is
    left out. Warnings name the columns that are no features.
    """
    if isinstance(X, Dataset):
        if X.columns is not None and not X.columns.filled and not get_tags(estimator).input_tags.allow_nan:
            X = X.with_gaps_filled()
        return Items(X.features, X.names, None, X.columns)
    X = _dense(X)
    if not isinstance(X, pd.DataFrame) or not len(X):
        return Items(X, None, None, None)
    refuse_answers(X.columns, IN_PYTHON)
    frame, ids = _named(X), None
    if LABEL in frame:
        said = "X: column label is left out, it would give away what is to be found"
        warn(said)
        frame = frame.drop(columns=LABEL)
    if ID in frame:
        ids = ids_of(frame[ID], IN_PYTHON)
        frame = frame.drop(columns=ID)
    columns, notes = Columns.of(frame, IN_PYTHON, None if ids is None else ID)
    for note in notes:
        warn(f"X: {note}")
    if not get_tags(estimator).input_tags.allow_nan:
        columns = columns.with_gaps_filled()
    return Items(_numbers(frame, columns), ids, None if ids else names_of_rows(X), columns)


def items_to_predict(estimator: BaseEstimator, X: Any) -> Any:
    """New items. The columns of a data frame are found by their names in the fit, in any order."""
    X, columns = as_pandas(_dense(X)), getattr(estimator, "columns_", None)
    if columns is None:
        return X
    if columns.named and isinstance(X, pd.DataFrame) and len(X):
        found = _numbers(_named(X), columns)
        names = getattr(estimator, "feature_names_in_", None)  # not there where the fit was given an array
        return found if names is not None else found.to_numpy()
    if not columns.named and columns.filled and np.shape(X)[1:] == (len(columns.columns),):
        return columns.fill(np.asarray(X, np.float64))  # a run was fitted to an array with gaps
    return X


def ids_of_rows(estimator: BaseEstimator, X: Any) -> tuple[str, ...] | None:
    """Ids of new items, in the column that gave the ids in the fit; None without it."""
    X, columns = as_pandas(X), getattr(estimator, "columns_", None)
    if columns is None or columns.ids is None or not isinstance(X, pd.DataFrame) or columns.ids not in X:
        return None
    return ids_of(X[columns.ids], IN_PYTHON)


def names_of_rows(X: Any) -> tuple[str, ...] | None:
    """The names of rows in the index of a data frame, two of which may be the same; None for other items."""
    return tuple(map(id_text, X.index)) if isinstance(X, pd.DataFrame) else None


def refuse_positions(items: Items, pairs: Any) -> None:
    """Refuse an array of answers that counts rows where the items have names that are no row numbers."""
    names = items.ids or items.by_index
    if names is None or (items.ids is None and names == tuple(map(str, range(len(names))))):
        return
    if isinstance(pairs, list | tuple):
        try:
            pairs = np.asarray(pairs)
        except ValueError:  # rows of unequal length, refused with what was expected
            return
    if isinstance(pairs, np.ndarray) and pairs.dtype.kind in "iuf":
        named = "a column id" if items.ids is not None else "an index other than 0, 1, 2, …"
        raise UserError(f"pairs: an array counts rows, but X has {named}; expected a data frame with columns i, j, "
                        "worker, label that have these ids, or X.reset_index(drop=True) without a column id")


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


def _dense(X: Any) -> Any:
    if not issparse(X):
        return X
    size = 8 * X.shape[0] * X.shape[-1] / 2**30
    if X.ndim != 2 or size > _LARGEST_DENSE:
        raise UserError(f"X: a sparse matrix {list(X.shape)} is {size:,.1f} GiB when it is made dense, which every "
                        f"method needs; expected {_LARGEST_DENSE} at most: sklearn.decomposition.TruncatedSVD makes "
                        "fewer columns")
    return X.toarray()
