"""The user's own features: a csv file with a header, or a NumPy array."""

import csv
import hashlib
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

from semicrowd.data.dataset import Dataset
from semicrowd.errors import UserError
from semicrowd.settings.sources import TableSettings

_LABEL, _SEQUENCE = "label", "sequence"
_EXPECTED = "a .csv with a header or a .npy array [items, features]"


def load_table(root: Path, settings: TableSettings) -> Dataset:  # noqa: ARG001 - not a public file
    """Load a feature table.

    A csv file has a header, a row for each item and a number in each cell, or nothing where the value is missing. A
    column ``label`` (whole numbers or names) is kept for the metrics; names are numbered in their order. A column
    ``sequence`` of the same kind says which items follow each other, in the order of the rows. A .npy file holds a
    table of numbers, without these columns.

    Raises
    ------
    UserError
        Naming file, row, column and what was expected.
    """
    if not settings.path:
        raise UserError(f"data=table: data.path is missing; expected {_EXPECTED}")
    path = Path(settings.path)
    readers = {".csv": _read_csv, ".npy": _read_npy}
    if path.suffix.lower() not in readers:
        raise UserError(f"{path}: expected {_EXPECTED}")
    try:
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        features, labels, sequence, missing = readers[path.suffix.lower()](path)
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror or error}; expected {_EXPECTED}") from error
    num_classes = None if labels is None else len(np.unique(labels))
    return Dataset(
        "table", features, labels, hashes={path.name: digest}, num_classes=num_classes, sequence=sequence,
        missing=missing,
    )  # fmt: skip


def _read_npy(path: Path) -> tuple[np.ndarray, None, None, str]:
    try:
        array = np.load(path, allow_pickle=False)
    except (ValueError, EOFError) as error:
        raise UserError(f"{path}: not a whole NumPy array of numbers") from error
    if not isinstance(array, np.ndarray) or array.ndim != 2 or array.dtype.kind not in "fiub" or 0 in array.shape:
        found = f"{array.dtype} {list(array.shape)}" if isinstance(array, np.ndarray) else "an archive"
        raise UserError(f"{path}: expected a table of numbers [items, features], found {found}")
    features, missing = _as_features(array, lambda row, column: f"{path}, row {row}, column {column}")
    return features, None, None, missing


def _read_csv(path: Path) -> tuple[np.ndarray, np.ndarray | None, np.ndarray | None, str]:
    header = _header(path)
    frame = _frame(path, header)
    labels, sequence = (
        _named(path, frame.pop(name), name) if name in header else None for name in (_LABEL, _SEQUENCE)
    )
    if not frame.shape[1]:
        others = " and ".join(name for name in (_LABEL, _SEQUENCE) if name in header)
        raise UserError(f"{path}, line 1: no column of features; expected one at least besides {others}")
    for name in frame.columns:
        if frame[name].dtype.kind not in "fiu":
            frame[name] = _numbers(path, name, frame[name])
    features, missing = _as_features(
        frame.to_numpy(), lambda row, column: f"{path}, line {row + 2}, column {frame.columns[column]}"
    )
    return features, labels, sequence, missing


def _header(path: Path) -> list[str]:
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            header = [name.strip() for name in next(csv.reader(file), [])]
    except (UnicodeDecodeError, csv.Error) as error:
        raise UserError(f"{path}: not a csv text file (utf-8)") from error
    if not any(header):
        raise UserError(f"{path}: empty; expected a header and a row for each item")
    for name in header:
        if not name or header.count(name) > 1:
            raise UserError(f"{path}, line 1, column {name or 'without a name'}: expected a name of its own")
    if all(_is_number(name) for name in header):
        raise UserError(f"{path}, line 1: only numbers; expected a header with the columns' names")
    return header


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _frame(path: Path, header: list[str]) -> pd.DataFrame:
    """All rows; a column with a cell that is no number comes as text, an empty cell as NaN."""
    try:
        with warnings.catch_warnings():
            # A row with more cells than the header is only a warning to pandas.
            warnings.simplefilter("error", pd.errors.ParserWarning)
            frame = pd.read_csv(
                path, header=0, names=header, index_col=False, dtype={_LABEL: str, _SEQUENCE: str},
                skip_blank_lines=False, encoding="utf-8-sig", keep_default_na=False, na_values=[""], low_memory=False,
            )
    except (pd.errors.ParserWarning, pd.errors.ParserError) as error:
        reason = " ".join(str(error).replace("Error tokenizing data. C error: ", "").split())
        raise UserError(f"{path}, {_first_too_long(path, len(header)) or reason}") from error
    except UnicodeDecodeError as error:
        raise UserError(f"{path}: not a csv text file (utf-8)") from error
    # Blank lines at the end are no items; elsewhere they are, with every cell empty.
    frame = frame.iloc[: frame.notna().any(axis=1).to_numpy().nonzero()[0].max(initial=-1) + 1]
    if not len(frame):
        raise UserError(f"{path}: no rows; expected one for each item after the header")
    return frame


def _first_too_long(path: Path, width: int) -> str:
    """Where the first row is that has more cells than the header; empty where there is none."""
    with path.open(newline="", encoding="utf-8-sig") as file:
        rows = csv.reader(file)
        found = (f"line {rows.line_num}: {len(row)} cells; expected {width} as in the header"
                 for row in rows if len(row) > width)
        return next(found, "")


def _numbers(path: Path, name: str, cells: pd.Series) -> np.ndarray:
    """A column that pandas has left as text, as numbers; some cell will turn out not to be one."""
    numbers = pd.to_numeric(cells.astype(str), errors="coerce").to_numpy(np.float64)
    written_nan = cells.astype(str).str.strip().str.lower().isin(["nan", "inf", "-inf", "+inf"]).to_numpy()
    bad = np.flatnonzero(np.isnan(numbers) & ~written_nan & cells.notna().to_numpy())
    if len(bad):
        cell = str(cells.iloc[bad[0]]).strip()[:50] or "empty"
        raise UserError(f"{path}, line {bad[0] + 2}, column {name}: {cell}; expected a number")
    return numbers


def _named(path: Path, cells: pd.Series, column: str) -> np.ndarray:
    empty = np.flatnonzero(cells.isna().to_numpy())
    if len(empty):
        where = f"{path}, line {empty[0] + 2}, column {column}"
        raise UserError(f"{where}: empty; expected a {column} in every row, or no such column")
    names = np.char.strip(cells.to_numpy(str))
    try:
        return names.astype(np.int64)
    except (ValueError, OverflowError):
        return np.unique(names, return_inverse=True)[1].astype(np.int64)


def _as_features(array: np.ndarray, where: Callable[[int, int], str]) -> tuple[np.ndarray, str]:
    """Float32, and where the first missing value is."""
    with np.errstate(over="ignore"):
        features = np.ascontiguousarray(array, np.float32)
    for row, column in np.argwhere(np.isinf(features))[:1].tolist():
        raise UserError(f"{where(row, column)}: {array[row, column]}; expected a finite number of float32")
    missing = np.argwhere(np.isnan(features))[:1].tolist()
    return features, where(*missing[0]) if missing else ""
