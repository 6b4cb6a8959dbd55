"""Convert the items that are passed to an estimator to numbers: data frames, sparse matrices."""

import warnings
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.sparse import issparse
from sklearn.base import BaseEstimator
from sklearn.utils import get_tags

from semicrowd.data.cells import column_called, id_column, id_text, ids_of
from semicrowd.data.columns import IN_PYTHON, Columns
from semicrowd.data.frames import LABEL
from semicrowd.errors import UserError

#: Largest sparse matrix that is converted to a dense one, in GiB of double precision.
_LARGEST_DENSE = 4


class Items(NamedTuple):
    """Items as an array or a data frame of numbers.

    Attributes
    ----------
    X : array or data frame of numbers, which scikit-learn checks further
    ids, by_index : names of the rows, by which answers may call them: of a column of ids, and of the index; else None
    columns : how the columns of a data frame were converted; None for other items
    named : whether rows keep their names if some of them are selected: True for a data frame
    """

    X: Any
    ids: tuple[str, ...] | None
    by_index: tuple[str, ...] | None
    columns: Columns | None
    named: bool = False


def items_to_fit(estimator: BaseEstimator, X: Any) -> Items:
    """The items of a fit.

    The columns of a data frame are converted like those of a table on the command line: each category becomes a column
    of 0 and 1, and missing values become the median, with a further column that marks them, unless the method accepts
    missing values. A column label is left out, and so is a column id, which names the rows; a warning says so.

    Raises
    ------
    UserError
        Naming all columns of dates or text, and for a sparse matrix that is too large.
    """
    X = _dense(X)
    if not _has_names(X):
        return Items(X, None, names_of_rows(X), None, isinstance(X, pd.DataFrame))
    frame, ids = X, None
    if (label := column_called(LABEL, frame)) is not None:
        said = f"X: column {label} is left out, it would give away what is to be found"
        warnings.warn(said, UserWarning, stacklevel=4)
        frame = frame.drop(columns=label)
    name = id_column(frame) if frame.shape[1] else None
    if name is not None:
        said = f"X: column {name or 'without a name'} is taken for the items' ids and is no feature"
        warnings.warn(said, UserWarning, stacklevel=4)
        ids = ids_of(frame, name, IN_PYTHON)
        frame = frame.drop(columns=name)
    if not frame.shape[1]:
        raise UserError("X: no column of features")
    columns = Columns.of(frame, IN_PYTHON, name)
    if not get_tags(estimator).input_tags.allow_nan:
        columns = columns.with_gaps_filled()
    return Items(_numbers(frame, columns), ids, names_of_rows(X), columns, True)


def items_to_predict(estimator: BaseEstimator, X: Any) -> Any:
    """New items. The columns of a data frame are found by their names in the fit, in any order.

    Raises
    ------
    UserError
        Naming the columns that are missing.
    """
    X, columns = _dense(X), getattr(estimator, "columns_", None)
    if columns is not None and not columns.named and columns.filled:  # a run was fitted to an array with gaps
        return _filled(X, columns)
    if columns is None or not columns.named or not _has_names(X):
        return X
    found = _numbers(X, columns)
    names = getattr(estimator, "feature_names_in_", None)  # not there where the fit was given an array
    return found if names is not None else found.to_numpy()


def ids_of_rows(estimator: BaseEstimator, X: Any) -> tuple[str, ...] | None:
    """Ids of new items, in the column that gave the ids in the fit; None without it.

    Raises
    ------
    UserError
        If an id in that column is empty or occurs twice.
    """
    columns = getattr(estimator, "columns_", None)
    if columns is None or columns.ids is None or not isinstance(X, pd.DataFrame) or columns.ids not in X:
        return None
    return ids_of(X, columns.ids, IN_PYTHON)


def names_of_rows(X: Any) -> tuple[str, ...] | None:
    """The names of rows in the index of a data frame; None if it is 0, 1, 2, … or has a name twice."""
    index = getattr(X, "index", None)
    if not isinstance(index, pd.Index) or index.equals(pd.RangeIndex(len(index))) or not index.is_unique:
        return None
    return tuple(map(id_text, index))


def _has_names(X: Any) -> bool:
    """Whether X is a data frame with rows whose column names are text; refuses a name that occurs twice."""
    if not isinstance(X, pd.DataFrame) or not all(isinstance(name, str) for name in X.columns):
        return False
    if len(twice := X.columns[X.columns.duplicated()]):
        raise UserError(f"X: column {twice[0]} is there twice; expected a name of its own for each")
    return bool(len(X))


def _numbers(frame: pd.DataFrame, columns: Columns) -> pd.DataFrame:
    known = [one.name for one in columns.columns if one.name in frame]
    features, notes = columns.features(frame[known], IN_PYTHON, lambda row, name: f"X, row {row}, column {name}")
    for note in notes:
        warnings.warn(f"X: {note}", UserWarning, stacklevel=5)
    values = columns.fill(features) if columns.filled else features
    return pd.DataFrame(values, columns=columns.feature_names)


def _filled(X: Any, columns: Columns) -> Any:
    """An array's missing values replaced as in the fit; one of another shape as it is, for an error that says so."""
    try:
        features = np.asarray(X, np.float64)
    except (TypeError, ValueError):
        return X
    return columns.fill(features) if features.ndim == 2 and features.shape[1] == len(columns.columns) else X


def _dense(X: Any) -> Any:
    if not issparse(X):
        return X
    size = 8 * X.shape[0] * X.shape[-1] / 2**30
    if X.ndim != 2 or size > _LARGEST_DENSE:
        raise UserError(f"X: a sparse matrix {list(X.shape)} is {size:,.1f} GiB when it is made dense, which every "
                        f"method needs; expected {_LARGEST_DENSE} at most: sklearn.decomposition.TruncatedSVD makes "
                        "fewer columns")
    return X.toarray()
