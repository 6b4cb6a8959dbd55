"""Checks of the items and answers that are passed to an estimator (arrays, data frames, files), and conversions."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.sparse import issparse
from sklearn.base import BaseEstimator
from sklearn.utils import get_tags
from sklearn.utils.validation import validate_data

from semicrowd.crowd import csv_file
from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.crowd.answer_header import header_of, looks_like_answers
from semicrowd.crowd.answer_table import AnswerTable
from semicrowd.crowd.unsure import NO_ANSWER
from semicrowd.crowd.wording import Wording
from semicrowd.data.answer_files import KNOWN_PAIRS, read_answers
from semicrowd.data.answer_tables import by_file, frame_of_rows, table_of_file
from semicrowd.data.arrays import memory_of_machine
from semicrowd.data.columns import IN_PYTHON, LARGEST, Columns, id_text, ids_of
from semicrowd.data.dataset import Dataset
from semicrowd.data.frames import ID, LABEL, as_pandas
from semicrowd.errors import UserError, listed, warn
from semicrowd.files import expanded


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
    pairs : PairAnnotations; an array [P, 3 … 5] or a list of rows, whose columns are i, j, label, or i, j, worker,
        label[, task]; a data frame with columns of these names, i, j and label at least, or with groupings or classes
        (:func:`semicrowd.crowd.csv_file.of_table`); the path of a csv, .parquet or .xlsx file, or a list of paths; or
        None
    ids, index : names of the items in a column of ids and in the index of a data frame, by which the answers may call
        them; of both, the ids in the column, unless hardly any answer names one. Answers that name other items are left
        out, with a warning that says how many: a fit of a cross-validation gets some rows of a data frame, which keep
        their names. Without ids and index, items are called by row numbers

    Raises
    ------
    UserError
        Naming the row, the column and what was expected.
    """
    answers = _checked(pairs, num_items, ids, index)
    more = pairs.attrs if isinstance(pairs, pd.DataFrame) else {}
    if answers is not None and KNOWN_PAIRS in more:
        frame = pd.DataFrame(more[KNOWN_PAIRS])
        parts = [answers]
        for label in (1, 0):  # one after the other, as the two lists of the command line
            some = frame[frame["label"] == label]
            if len(some):
                table = AnswerTable.of_frame(some, "known")
                parts.append(_of_table(table, num_items, ids, index, known=True))
        answers = csv_file.joined(parts)
    return answers


def _checked(
    pairs: Any, num_items: int, ids: Sequence[str] | None, index: Sequence[str] | None
) -> PairAnnotations | None:
    if pairs is None or isinstance(pairs, PairAnnotations):
        if pairs is not None and pairs.num_items != num_items:
            raise UserError(f"pairs: answers about {pairs.num_items} items; expected {num_items}, the rows of X")
        return pairs
    if isinstance(pairs, list | tuple) and pairs and all(isinstance(one, str | Path) for one in pairs):
        pairs = read_answers(pairs)
    if isinstance(pairs, str | Path):
        return _of_table(table_of_file(expanded(pairs), Wording()), num_items, ids, index)
    if isinstance(pairs, pd.DataFrame) and (tables := by_file(pairs)):
        return csv_file.joined([_of_table(one, num_items, ids, index) for one in tables])
    if not isinstance(pairs, pd.DataFrame):
        pairs = frame_of_rows(pairs, "pairs")
    _, at = header_of("pairs", [str(name) for name in pairs.columns])
    numeric = {name: pairs.iloc[:, position].dtype.kind in "iuf" for name, position in at.items()}
    gaps = any(pairs.iloc[:, at[name]].isna().any() for name in ("label", "worker") if name in at)
    # Names may be 7 and "7", or have spaces around them: the table makes text of them all.
    plain = {"i", "j"} <= numeric.keys() and all(numeric.values()) and not gaps
    if ids is not None or index is not None or not plain:
        return _of_table(AnswerTable.of_frame(pairs, "pairs"), num_items, ids, index)
    return _from_frame(pairs.iloc[:, list(at.values())].set_axis(list(at), axis=1), num_items)


def _of_table(
    table: AnswerTable,
    num_items: int,
    ids: Sequence[str] | None,
    index: Sequence[str] | None,
    *,
    known: bool = False,
) -> PairAnnotations:
    # Ids in a column come first: after rows were left out, an index 0, 1, 3, … also has most of the ids 1, 2, 3, …
    by_index = index is not None and (ids is None or 2 * table.number_named(ids) < table.number_named(index))
    if by_index and (twice := [name for name, number in Counter(index).items() if number > 1]):
        raise UserError(f"X: its index has {listed(twice)} more than once, so that answers cannot call rows by it; "
                        "X.reset_index(drop=True) numbers the rows from 0, or give X a column id with a name for each")
    truth = csv_file.truth_path(table.path) if table.unit == "line" else None
    names = index if by_index else ids
    return _with_warnings(csv_file.of_table(table, num_items, names, truth, by_index=by_index, known=known))


def refuse_swapped(X: Any, pairs: Any) -> None:
    """Refuse items that have the columns of answers, where the answers have not and are a table or an array of numbers.

    Raises
    ------
    UserError
        With the order of the two arguments.
    """
    frames = [one for one in (X, pairs) if isinstance(one, pd.DataFrame)]
    alike = [looks_like_answers([str(name) for name in one.columns]) for one in frames]
    array = isinstance(pairs, np.ndarray) and pairs.ndim == 2
    if alike == [True, False] or (alike == [True] and X is frames[0] and array):
        names = ", ".join(map(str, X.columns[:5]))
        raise UserError(f"X has the columns of answers ({names}): are X and the answers swapped? expected "
                        "fit(X, answers)")


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


def _with_warnings(answers: PairAnnotations) -> PairAnnotations:
    """Return the answers; warn if some rows were left out."""
    for note in answers.notes:
        if csv_file.LEFT_OUT in note or NO_ANSWER in note:
            warn(note)
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
    """Refuse ``arrays`` square matrices of ``num_items`` items that no memory of this machine can hold."""
    needed = 8 * arrays * num_items**2
    there = memory_of_machine()
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

    Raises
    ------
    UserError
        Naming a column that cannot be a feature, and for a sparse matrix that is too large.
    """
    if isinstance(X, Dataset):
        return Items(X.features, None, None, X.columns)
    X = _dense(X)
    if not isinstance(X, pd.DataFrame) or not len(X):
        return Items(X, None, None, None)
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
    """A frame whose columns' names are texts; refuses a name that occurs twice."""
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
