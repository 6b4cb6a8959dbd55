"""Load the user's own features: a CSV file with a header, another table that pandas can read, or a NumPy array."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype

from semicrowd.data.arrays import read_npy
from semicrowd.data.cells import CATEGORY, column_called, id_column, id_columns, ids_of
from semicrowd.data.columns import Columns, as_list
from semicrowd.data.dataset import Dataset
from semicrowd.data.frames import EXPECTED, LABEL, READERS, SEQUENCE, TEXT_FILES, Frame, check_table, read_frame
from semicrowd.errors import UserError, nearest
from semicrowd.files import check_exists, check_is_file, expanded, sha256_of
from semicrowd.settings.sources import TableSettings

#: What is done with a further column of ids.
_FURTHER = "further ids, no feature; to use it, give the column a name that is not one of ids"
#: Settings that name columns.
_OF_COLUMNS = ("id", "label", "weight", "ignore")
#: Larger numbers could overflow when they are squared and summed in single precision.
_LARGEST = 1e15


def load_table(root: Path, settings: TableSettings) -> Dataset:  # noqa: ARG001 - not a public file
    """Load a feature table.

    A table has a row for each item. A column ``label`` (whole numbers or names) is only used for the metrics; names are
    numbered in sorted order. A column ``sequence`` (whole numbers or names) assigns each item to a sequence, in the
    order of the rows; ``data.weight`` names a column with weights of the items. A column called id or similar, a first
    column of text with only distinct values, or a column whose name ends as those of ids do (customer_id, order_no) and
    whose values are distinct has the ids of the items. Columns of numbers are features, yes and no become 1 and 0, and
    columns with a few different words are categories; empty cells are missing values (:mod:`semicrowd.data.columns`).
    An .npy file has a table of numbers without these special columns. An .npz file has such a table, called features or
    X (or the only array in it), and optionally ``labels`` (or y), ``ids`` and ``columns``, the names of the columns.

    Raises
    ------
    UserError
        The message names the file, row, column and what was expected.
    """
    if not settings.path:
        raise UserError(f"data=table: data.path is missing; expected {EXPECTED}")
    path = expanded(settings.path)
    check_exists(path)
    if path.suffix.lower() not in (*READERS, ".npy", ".npz"):
        hint = "; pictures in a folder are data=images" if path.is_dir() else ""
        raise UserError(f"{path}: expected {EXPECTED}{hint}")
    check_is_file(path, EXPECTED)
    try:
        digest = sha256_of(path)
        if path.suffix.lower() == ".npy" and (given := [name for name in _OF_COLUMNS if getattr(settings, name)]):
            raise UserError(f"data.{given[0]}: an .npy file has no named columns; expected an .npz file with arrays "
                            "features, ids and columns, or a table")
        data = _array(path) if path.suffix.lower() == ".npy" else _of_file(path, settings)
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror or error}; expected {EXPECTED}") from error
    except MemoryError as error:
        raise UserError(f"{path}: does not fit into memory; expected fewer rows or columns") from error
    return replace(data, hashes={path.name: digest})


def load_new_items(path: Path, columns: Columns) -> Dataset:
    """Load new items for a run that was trained on a table with these columns, which are matched by name.

    Raises
    ------
    UserError
        As in :func:`load_table`, and if a column is missing.
    """
    if path.suffix.lower() == ".npy" or not columns.named:
        data = load_table(path, TableSettings(path=path))
        if not columns.filled:
            return replace(data, columns=columns)
        if data.num_features != len(columns.names):
            return data  # as the method has them, or an error there
        filled = np.ascontiguousarray(columns.fill(data.features), np.float32)
        return replace(data, features=filled, missing="", columns=columns)
    # Of few rows a column of categories may hold nothing but numbers, or TRUE and FALSE. Without its unit, too, 1.234
    # means what it means in the fit; in other files than texts it is a number already.
    texts = [column.name for column in columns.columns if column.kind == CATEGORY]
    if path.suffix.lower() in TEXT_FILES:
        texts += [column.name for column in columns.columns if column.unit is not None]
    frame = read_frame(path, columns.ids, texts, columns.decimal)
    table = frame.table
    ids = ids_of(table, columns.ids, str(path)) if columns.ids is not None and columns.ids in table else None
    known = {columns.ids, column_called(LABEL, table), column_called(SEQUENCE, table)}
    known |= {name for name, *_ in columns.others}
    known -= {column.name for column in columns.columns}  # a column label is a feature where data.label names another
    table = table.drop(columns=[name for name in known if name in table])
    features, missing, notes = _features(replace(frame, table=table), columns, new=True)
    notes += (*_how_read(frame),)
    if columns.filled:
        # No feature of the fit says that cells of these columns are empty.
        complete = {column.name for column in columns.columns if not column.gaps}
        gaps = zip(columns.names, np.isnan(features).sum(0).tolist(), strict=True)
        notes += tuple(f"column {name}: {number} empty cells, none in the training items; replaced by their median"
                       for name, number in gaps if number and name in complete)
    data = Dataset("table", features, missing=missing, ids=ids, columns=columns, notes=notes)
    return data.with_gaps_filled() if columns.filled else data


def _of_file(path: Path, settings: TableSettings) -> Dataset:
    return _dataset(read_frame(path, settings.id, decimal=settings.decimal), settings)


def _dataset(frame: Frame, settings: TableSettings) -> Dataset:
    path, table = frame.path, frame.table
    given = {"ignore": settings.ignore, "id": (settings.id,), "label": (settings.label,), "weight": (settings.weight,)}
    for option, wanted in given.items():
        unknown = [one for one in wanted if one is not None and one not in table]
        if unknown:
            raise UserError(f"data.{option}={as_list(unknown)}: {path} has no such column; "
                            f"it has {', '.join(map(str, table.columns))[:200]}{nearest(unknown[0], table.columns)}")
    roles = Counter(one for wanted in given.values() for one in set(wanted) if one is not None)
    if roles and (most := roles.most_common(1)[0])[1] > 1:
        raise UserError(f"{path}, column {most[0]}: expected in one of data.ignore, data.id, data.label and "
                        "data.weight only")
    others = [(name, "ignored", "left out: data.ignore") for name in settings.ignore]
    table = table.drop(columns=list(settings.ignore))
    weights = None
    if settings.weight is not None:
        weights = _weights(frame, table.pop(settings.weight))
        others.insert(0, (settings.weight, "weights", "how much each item counts, no feature"))
    # A column that is given as ids may be called label.
    free = table.drop(columns=[settings.id] if settings.id is not None else [])
    label, order = settings.label or column_called(LABEL, free) or LABEL, column_called(SEQUENCE, free) or SEQUENCE
    (labels, class_names), (sequence, _) = (
        _named(frame, table.pop(name), name) if name in free else (None, None) for name in (label, order)
    )
    if labels is not None:
        others.insert(0, (label, "classes", "for the scores alone, no feature"))
    if sequence is not None:
        others.insert(0, (order, "sequences", "which rows follow each other, no feature"))
    name = settings.id or (id_column(table) if table.shape[1] else None)
    if name is not None and frame.line and is_numeric_dtype(table[name]):
        # Only now it is known that this column has the ids: read as numbers they have lost zeros in front.
        table = table.assign(**{name: read_frame(path, name).table[name]})
    ids = None if name is None else ids_of(table, name, str(path))
    if name is not None:
        table = table.drop(columns=[name])
        others.insert(0, (name or "(without a name)", "ids", "name the items, no feature"))
    more = id_columns(table)
    others += [(one, "ids", _FURTHER) for one in more]
    table = table.drop(columns=more)
    if not table.shape[1]:
        there = " and ".join(other for other, *_ in others)
        raise UserError(f"{path}, line 1: no column of features; expected one at least besides {there}")
    codes = [column for column in frame.codes if column in table]
    note = (f"{path}: {', '.join(codes)}: numbers with zeros in front, taken as numbers; codes such as postcodes are "
            f"no measurements: 'data.ignore={as_list(codes)}'")  # fmt: skip
    texts = (lambda: read_frame(path, name, None).table) if path.suffix.lower() in TEXT_FILES else None
    columns = Columns.of(
        table, str(path), name, others, decimal=settings.decimal, as_written=texts,
        european=frame.separator != "," and frame.decimal is None,
    )  # fmt: skip
    columns = replace(columns, decimal=columns.decimal or frame.decimal)
    features, missing, _ = _features(replace(frame, table=table), columns)
    return Dataset(
        "table", features, labels, num_classes=None if labels is None else len(np.unique(labels)), sequence=sequence,
        class_names=class_names, missing=missing, ids=ids, columns=columns, weights=weights,
        notes=(*((note,) if codes else ()), *_how_read(frame)),
    )


def _how_read(frame: Frame) -> Iterator[str]:
    """Notes on what a text file does not say of itself."""
    if frame.encoding == "cp1252":
        yield f"{frame.path}: not UTF-8; read as cp1252, as Excel in Western Europe writes csv"
    if frame.decimal == "comma":
        yield f"{frame.path}: numbers are read with decimal commas; points are between thousands"


def _features(frame: Frame, columns: Columns, *, new: bool = False) -> tuple[np.ndarray, str, tuple[str, ...]]:
    """Features of the rows, float32; description of the position of the first missing value; notes."""
    numbers, notes = columns.features(frame.table, str(frame.path), frame.where, new=new)
    return *_as_features(numbers, lambda row, column: frame.where(row, columns.names[column])), notes


def _array(path: Path) -> Dataset:
    array = read_npy(path)
    check_table(array, str(path))
    features, missing = _as_features(array, lambda row, column: f"{path}, row {row}, column {column}")
    return Dataset("table", features, missing=missing, columns=Columns.of_array(features) if missing else None)


def _named(frame: Frame, cells: pd.Series, column: str) -> tuple[np.ndarray, tuple[str, ...] | None]:
    """Encode a column's names as numbers: the numbers, and the names in their order; None if they are numbers."""
    empty = np.flatnonzero(cells.isna().to_numpy())
    if len(empty):
        where = frame.where(int(empty[0]), column)
        raise UserError(f"{where}: empty; expected a {column} in every row, or no such column")
    names = np.char.strip(cells.to_numpy(str))
    try:
        return names.astype(np.int64), None
    except (ValueError, OverflowError):
        names_in_order, numbers = np.unique(names, return_inverse=True)
        return numbers.astype(np.int64), tuple(names_in_order.tolist())


def _weights(frame: Frame, cells: pd.Series) -> np.ndarray:
    """A column of weights; its cells may be text where it was read as such."""
    weights = pd.to_numeric(cells, errors="coerce").to_numpy(np.float64)
    wrong = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))
    if len(wrong):
        row = int(wrong[0])
        there = "empty" if pd.isna(cells.iloc[row]) else cells.iloc[row]
        raise UserError(f"{frame.where(row, str(cells.name))}: {there}; expected a weight, a finite number from 0 on, "
                        "in every row")
    if not weights.any():
        raise UserError(f"{frame.path}, column {cells.name}: all weights are 0; expected one above 0 at least")
    return weights


def _as_features(array: np.ndarray, where: Callable[[int, int], str]) -> tuple[np.ndarray, str]:
    """Convert to float32; also describes the position of the first missing value."""
    with np.errstate(over="ignore"):
        features = np.ascontiguousarray(array, np.float32)
    for row, column in np.argwhere(np.isinf(features))[:1].tolist():
        raise UserError(f"{where(row, column)}: {array[row, column]}; expected a finite number of float32")
    for row, column in np.argwhere(np.abs(features) > _LARGEST)[:1].tolist():
        raise UserError(f"{where(row, column)}: {array[row, column]}; expected a number below {_LARGEST:.0e}: leave "
                        "the column out if it is an id (data.id, data.ignore), or give it in a larger unit")
    missing = np.argwhere(np.isnan(features))[:1].tolist()
    return features, where(*missing[0]) if missing else ""


