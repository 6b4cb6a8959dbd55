"""The user's own features: a csv file with a header or another table that pandas reads, or a NumPy array."""

import csv
import hashlib
import re
import warnings
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd

from semicrowd.data.columns import CATEGORY, Columns, first_bad, id_column, ids_of
from semicrowd.data.dataset import Dataset
from semicrowd.errors import UserError
from semicrowd.settings.sources import TableSettings

_LABEL = "label"
_SEQUENCE = "sequence"
_EXPECTED = "a .csv or .tsv with a header, a .parquet or .xlsx table, or a .npy array [items, features]"
_SEPARATORS = (",", ";", "\t")
#: Decimal commas, in a file whose separator is no comma.
_DECIMAL_COMMA = re.compile(r"(?:^|[;\t])\s*-?\d+,\d+\s*(?=$|[;\t])", re.M)


@dataclass(frozen=True)
class Frame:
    """Rows of a table file; ``line`` is what people call the first of them."""

    table: pd.DataFrame
    path: Path
    line: int = 0

    def where(self, row: int, column: str) -> str:
        """A cell, as people find it."""
        return f"{self.path}, {'line' if self.line else 'row'} {row + self.line}, column {column or 'without a name'}"


def load_table(root: Path, settings: TableSettings) -> Dataset:  # noqa: ARG001 - not a public file
    """Load a feature table.

    A table has a row for each item. A column ``label`` (whole numbers or names) is kept for the metrics; names are
    numbered in their order. A column ``sequence`` of the same kind says which items follow each other, in the order of
    the rows. A column called id, or a first one of text that is all different, names the items. Numbers are features,
    yes and no are 1 and 0, a few words that come again and again are categories; empty cells are missing values
    (:mod:`semicrowd.data.columns`). A .npy file holds a table of numbers, without these columns.

    Raises
    ------
    UserError
        Naming file, row, column and what was expected.
    """
    if not settings.path:
        raise UserError(f"data=table: data.path is missing; expected {_EXPECTED}")
    path = Path(settings.path)
    if path.suffix.lower() not in (*_READERS, ".npy"):
        raise UserError(f"{path}: expected {_EXPECTED}")
    try:
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        data = _array(path) if path.suffix.lower() == ".npy" else _dataset(read_frame(path), settings.ignore)
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror or error}; expected {_EXPECTED}") from error
    return replace(data, hashes={path.name: digest})


def load_new_items(path: Path, columns: Columns) -> Dataset:
    """New items for a run that was trained on a table with these columns, found by their names.

    Raises
    ------
    UserError
        As :func:`load_table`; and for a column that is missing.
    """
    frame = read_frame(path)
    table = frame.table
    ids = ids_of(table, columns.ids, str(path)) if columns.ids is not None and columns.ids in table else None
    table = table.drop(columns=[name for name in (columns.ids, _LABEL, _SEQUENCE) if name in table])
    features, missing, notes = _features(replace(frame, table=table), columns)
    data = Dataset("table", features, missing=missing, ids=ids, columns=columns, notes=notes)
    return data.with_gaps_filled() if columns.filled else data


def _dataset(frame: Frame, ignore: Sequence[str]) -> Dataset:
    path, table = frame.path, frame.table
    unknown = [name for name in ignore if name not in table]
    if unknown:
        raise UserError(f"data.ignore=[{','.join(unknown)}]: {path} has no such column; "
                        f"it has {', '.join(map(str, table.columns))[:200]}")
    table = table.drop(columns=list(ignore))
    labels, sequence = (
        _named(frame, table.pop(name), name) if name in table else None for name in (_LABEL, _SEQUENCE)
    )
    name = id_column(table) if table.shape[1] else None
    ids = None if name is None else ids_of(table, name, str(path))
    table = table if name is None else table.drop(columns=[name])
    if not table.shape[1]:
        others = [one for one, there in ((_LABEL, labels), (_SEQUENCE, sequence), (name or "the ids", ids))
                  if there is not None]
        raise UserError(f"{path}, line 1: no column of features; expected one at least besides {' and '.join(others)}")
    columns, notes = Columns.of(table, name, str(path))
    features, missing, _ = _features(replace(frame, table=table), columns)
    if name is not None:
        notes = (f"column {name or 'without a name'}: the items' ids", *notes)
    return Dataset(
        "table", features, labels, num_classes=None if labels is None else len(np.unique(labels)), sequence=sequence,
        missing=missing, ids=ids, columns=columns, notes=notes,
    )  # fmt: skip


def _features(frame: Frame, columns: Columns) -> tuple[np.ndarray, str, tuple[str, ...]]:
    """Features of the rows, float32, where the first missing value is, and notes."""
    for one in columns.columns:
        if one.kind == CATEGORY or one.name not in frame.table:
            continue
        if (bad := first_bad(frame.table[one.name], one.kind)) is not None:
            raise UserError(f"{frame.where(bad[0], one.name)}: {bad[1][:50]}; expected a number")
    numbers, notes = columns.features(frame.table, str(frame.path))
    return *_as_features(numbers, lambda row, column: frame.where(row, columns.names[column])), notes


def read_frame(path: Path) -> Frame:
    """The rows of a table file.

    Raises
    ------
    UserError
        For a file that is not what its name says, has no rows or two columns of one name.
    """
    if not path.is_file():
        raise UserError(f"{path}: {'not a file' if path.exists() else 'not found'}; expected {_EXPECTED}")
    frame = _READERS[path.suffix.lower()](path)
    table = frame.table
    if not len(table):
        raise UserError(f"{path}: no rows; expected one for each item after the header")
    if len(twice := table.columns[table.columns.duplicated()]):
        raise UserError(f"{path}, column {twice[0] or 'without a name'}: expected a name of its own")
    empty = np.flatnonzero(table.isna().all(axis=1))
    if len(empty):
        unit = "line" if frame.line else "row"
        raise UserError(f"{path}, {unit} {empty[0] + frame.line}: every cell is empty; expected an item in every row")
    return frame


def _array(path: Path) -> Dataset:
    try:
        array = np.load(path, allow_pickle=False)
    except (ValueError, EOFError) as error:
        raise UserError(f"{path}: not a whole NumPy array of numbers") from error
    if not isinstance(array, np.ndarray) or array.ndim != 2 or array.dtype.kind not in "fiub" or 0 in array.shape:
        found = f"{array.dtype} {list(array.shape)}" if isinstance(array, np.ndarray) else "an archive"
        raise UserError(f"{path}: expected a table of numbers [items, features], found {found}")
    features, missing = _as_features(array, lambda row, column: f"{path}, row {row}, column {column}")
    return Dataset("table", features, missing=missing)


def _read_csv(path: Path) -> Frame:
    header, separator = _header(path)
    return Frame(_frame(path, header, separator), path, line=2)


def _read_parquet(path: Path) -> Frame:
    try:
        return Frame(_with_index(pd.read_parquet(path)), path)
    except ImportError:
        raise UserError(f"{path}: needs pyarrow (pip install pyarrow); or save it as .csv") from None
    except (ValueError, OSError) as error:
        raise UserError(f"{path}: not a parquet file ({' '.join(str(error).split())[:100]})") from error


def _read_xlsx(path: Path) -> Frame:
    try:
        return Frame(_with_index(pd.read_excel(path)), path, line=2)
    except ImportError:
        raise UserError(f"{path}: needs openpyxl (pip install openpyxl); or save it as .csv") from None
    except (ValueError, OSError, KeyError, zipfile.BadZipFile) as error:
        raise UserError(f"{path}: not an .xlsx table ({' '.join(str(error).split())[:100]})") from error


def _with_index(frame: pd.DataFrame) -> pd.DataFrame:
    """An index that is more than the rows' numbers is a column; names are text."""
    if not isinstance(frame.index, pd.RangeIndex):
        frame = frame.reset_index()
    frame.columns = [_name(str(name)) for name in frame.columns]
    return frame


def _name(text: str) -> str:
    """A column's name in one line that can be printed."""
    return "".join(sign if sign.isprintable() else "?" for sign in " ".join(text.split()))


def _header(path: Path) -> tuple[list[str], str]:
    """Names of the columns, and what separates them."""
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            first = file.readline()
            separator = max(_SEPARATORS, key=first.count)
            file.seek(0)
            header = [_name(name) for name in next(csv.reader(file, delimiter=separator), [])]
    except (UnicodeDecodeError, csv.Error) as error:
        raise UserError(f"{path}: not a csv text file (utf-8)") from error
    if not any(header):
        raise UserError(f"{path}: empty; expected a header and a row for each item")
    for position, name in enumerate(header):
        if (not name and position) or header.count(name) > 1:
            raise UserError(f"{path}, line 1, column {name or 'without a name'}: expected a name of its own")
    if all(_is_number(name) for name in header):
        raise UserError(f"{path}, line 1: only numbers; expected a header with the columns' names")
    return header, separator


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _frame(path: Path, header: list[str], separator: str) -> pd.DataFrame:
    """All rows; a column with a cell that is no number comes as text, an empty cell as NaN."""
    try:
        beginning = path.read_text(encoding="utf-8-sig")[:10_000]
        decimal = "," if separator != "," and _DECIMAL_COMMA.search(beginning) else "."
        with warnings.catch_warnings():
            # A row with more cells than the header is only a warning to pandas.
            warnings.simplefilter("error", pd.errors.ParserWarning)
            frame = pd.read_csv(
                path, header=0, names=header, index_col=False, dtype={_LABEL: str, _SEQUENCE: str}, sep=separator,
                decimal=decimal, skip_blank_lines=False, encoding="utf-8-sig", keep_default_na=False, na_values=[""],
                low_memory=False,
            )
    except (pd.errors.ParserWarning, pd.errors.ParserError) as error:
        reason = " ".join(str(error).replace("Error tokenizing data. C error: ", "").split())
        raise UserError(f"{path}, {_first_too_long(path, len(header), separator) or reason}") from error
    except UnicodeDecodeError as error:
        raise UserError(f"{path}: not a csv text file (utf-8)") from error
    # Blank lines at the end are no items; elsewhere they are, with every cell empty.
    return frame.iloc[: frame.notna().any(axis=1).to_numpy().nonzero()[0].max(initial=-1) + 1]


def _first_too_long(path: Path, width: int, separator: str) -> str:
    """Where the first row is that has more cells than the header; empty where there is none."""
    with path.open(newline="", encoding="utf-8-sig") as file:
        rows = csv.reader(file, delimiter=separator)
        found = (f"line {rows.line_num}: {len(row)} cells; expected {width} as in the header"
                 for row in rows if len(row) > width)
        return next(found, "")


def _named(frame: Frame, cells: pd.Series, column: str) -> np.ndarray:
    empty = np.flatnonzero(cells.isna().to_numpy())
    if len(empty):
        where = frame.where(int(empty[0]), column)
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


_READERS: dict[str, Callable[[Path], Frame]] = {
    ".csv": _read_csv, ".tsv": _read_csv, ".parquet": _read_parquet, ".xlsx": _read_xlsx,
}  # fmt: skip
