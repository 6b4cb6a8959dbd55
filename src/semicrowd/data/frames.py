"""Read files with a table: text with a header, .parquet, .xlsx and .npz."""

import csv
import re
import warnings
import zipfile
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Shaped

from semicrowd.data.arrays import check_memory, read_npz
from semicrowd.data.cells import called_ids
from semicrowd.data.units import has_decimal_comma, has_unit
from semicrowd.errors import UserError, listed, naming_extras
from semicrowd.files import check_is_file, encoding_of

#: Column of true classes; its cells are names, even if they look like numbers.
LABEL = "label"
#: Column of the sequence to which an item belongs; its cells are names, too.
SEQUENCE = "sequence"
EXPECTED = "a .csv or .tsv with a header, a .parquet or .xlsx table, or an .npy or .npz array [items, features]"
#: Role of an array in an .npz file → its possible names; the first that is in the file is used.
_ARRAYS = {"features": ("features", "X"), "labels": ("labels", "label", "y"), "ids": ("ids", "id")}
#: Suffixes of tables that are text.
TEXT_FILES = (".csv", ".tsv", ".txt")
_SEPARATORS = (",", ";", "\t")
_QUOTED = re.compile(r'"[^"]*"')
#: Decimal commas, in a file whose separator is no comma; that of 1,234 may be one between thousands.
_DECIMAL_COMMA = re.compile(r"(?:^|[;\t])\s*-?(?![1-9]\d{0,2},\d{3}\s*(?:$|[;\t]))\d[\d.]*,\d+\s*(?=$|[;\t])", re.M)
#: A number with a decimal comma, perhaps with points between thousands: 2.750,75.
_WITH_COMMA = re.compile(r"\s*([+-]?\d+(?:\.\d{3})*),(\d+)\s*")
#: A whole number with points between thousands: 2.750. In a file with decimal commas it is no fraction.
_THOUSANDS = re.compile(r"\s*[+-]?[1-9]\d{0,2}(?:\.\d{3})+\s*")
#: A number with a zero in front, and the number of rows in which such are looked for.
_CODE = re.compile(r"0[0-9]+")
_FIRST_ROWS = 1_000
#: Characters of a file in which decimal commas are looked for.
_BEGINNING = 10_000
_NO_TEXT = "not a csv text file (utf-8); save it as such, in Excel as 'CSV UTF-8'"
#: Bytes of a number of a table in memory.
_NUMBER = 8


@dataclass(frozen=True)
class Frame:
    """Rows of a table file.

    Attributes
    ----------
    line : the line of the first row, 0 for files without lines
    codes : columns of numbers some of which are written with zeros in front, such as postcodes
    decimal : ``comma`` where a text file is read with decimal commas; otherwise None
    separator, encoding : of a text file
    """

    table: pd.DataFrame
    path: Path
    line: int = 0
    codes: tuple[str, ...] = ()
    decimal: str | None = None
    separator: str = ","
    encoding: str = "utf-8-sig"

    def where(self, row: int, column: str) -> str:
        """The position of a cell, for messages."""
        return f"{self.path}, {'line' if self.line else 'row'} {row + self.line}, column {column or 'without a name'}"


def read_frame(
    path: Path, ids: str | None = None, texts: Collection[str] | None = (), decimal: str | None = None
) -> Frame:
    """The rows of a table file.

    Parameters
    ----------
    ids : the column of ids, where the user names it; of a text file its cells are kept as they are (007), as are those
        of a column that is called id or similar
    texts : further columns of a text file or .xlsx table whose cells are kept so; None: all
    decimal : ``comma`` or ``point``, the decimal sign of a text file; None: that which its beginning has

    Raises
    ------
    UserError
        For a file that is not of the type of its suffix, has no rows, or has two columns of the same name.
    """
    check_is_file(path, EXPECTED)
    if path.suffix.lower() not in READERS:
        raise UserError(f"{path}: expected {EXPECTED}")
    frame = READERS[path.suffix.lower()](path, ids, texts, decimal)
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


def as_pandas(frame: Any) -> Any:
    """A data frame of another library (polars, pyarrow, …) as one of pandas; anything else as it is."""
    if isinstance(frame, pd.DataFrame | np.ndarray | list) or not hasattr(frame, "columns"):
        return frame
    import narwhals.stable.v2 as narwhals  # here: most fits are given arrays or frames of pandas

    with naming_extras():  # polars' conversion needs pyarrow
        native = narwhals.from_native(frame, eager_only=True, pass_through=True)
        return native.to_pandas() if isinstance(native, narwhals.DataFrame) else frame


def check_table(array: np.ndarray, where: str) -> None:
    """Refuse an array that is no table of numbers.

    Raises
    ------
    UserError
        Saying what it is.
    """
    if array.ndim != 2 or array.dtype.kind not in "fiub" or 0 in array.shape:
        actual = f"{array.dtype} {list(array.shape)}"
        raise UserError(f"{where}: expected a table of numbers [items, features], found {actual}")


@dataclass(frozen=True)
class Archive:
    """A table in an .npz file, with its labels and ids.

    Attributes
    ----------
    features : numbers
    labels, ids : None where there are none
    arrays : all arrays of the file, by name
    """

    features: Shaped[np.ndarray, "N D"]
    labels: Shaped[np.ndarray, "N"] | None
    ids: Shaped[np.ndarray, "N"] | None
    arrays: Mapping[str, np.ndarray]


def read_archive(path: Path) -> Archive:
    """The table of an .npz file: ``features`` or ``X``, or its only table of numbers.

    Raises
    ------
    UserError
        For a file without one, and for labels (``label``, ``y``) or ids (``id``) that are not one for each item.
    """
    arrays = read_npz(path)
    found = {what: next((one for one in names if one in arrays), None) for what, names in _ARRAYS.items()}
    tables = [name for name, array in arrays.items() if array.ndim == 2 and array.dtype.kind in "fiub"]
    name = found["features"] or (tables[0] if len(tables) == 1 else None)
    if name is None:
        raise UserError(f"{path}: it has {listed(list(arrays)) or 'nothing'}; expected features or X, a table of "
                        "numbers [items, features], and perhaps labels (or y), ids and columns (their names)")
    features = arrays[name]
    check_table(features, f"{path}, {name}")
    beside = [found["labels"], found["ids"]]
    for one in beside:
        if one is not None and arrays[one].shape != (len(features),):
            shape = list(arrays[one].shape)
            raise UserError(f"{path}, {one}: {shape}; expected one for each of {len(features)} items")
    labels, ids = (None if one is None else arrays[one] for one in beside)
    return Archive(features, labels, ids, arrays)


def _read_npz(path: Path, _ids: str | None, _texts: Collection[str] | None, _decimal: str | None) -> Frame:
    """Features with the names of their columns, and labels and ids beside them."""
    archive = read_archive(path)
    width = archive.features.shape[1]
    named = archive.arrays.get("columns", np.array([f"x{d}" for d in range(width)]))
    names = [_name(one) for one in _as_text(named.ravel())]
    if len(names) != width:
        raise UserError(f"{path}, columns: {len(names)} names; expected {width}, one for each column of the features")
    frame = pd.DataFrame(archive.features, columns=names)
    for column, values in ((LABEL, archive.labels), ("id", archive.ids)):
        if values is not None:
            if column in frame:
                raise UserError(f"{path}, columns: {column} is a feature's name, and the file has {column}s, too")
            frame[column] = _as_text(values)
    return Frame(frame, path)


def _as_text(values: np.ndarray) -> list[str]:
    return [one.decode(errors="replace") if isinstance(one, bytes) else str(one) for one in values.tolist()]


def _read_csv(path: Path, ids: str | None, texts: Collection[str] | None, decimal: str | None) -> Frame:
    try:
        encoding = encoding_of(path)
    except UnicodeDecodeError as error:
        raise UserError(f"{path}: {_NO_TEXT}") from error
    header, separator = _header(path, encoding)
    frame, comma = _frame(path, header, separator, _texts_of(header, ids, texts), decimal, encoding)
    codes = tuple(_codes(path, header, separator, frame, encoding))
    return Frame(frame, path, 2, codes, "comma" if comma else None, separator, encoding)


def _read_parquet(path: Path, _ids: str | None, _texts: Collection[str] | None, _decimal: str | None) -> Frame:
    try:
        from pyarrow.parquet import ParquetFile

        with ParquetFile(path) as file:
            rows, columns = file.metadata.num_rows, file.metadata.num_columns
        check_memory(_NUMBER * rows * columns, f"{path}, {rows:,} rows of {columns} columns")
        return Frame(_with_index(pd.read_parquet(path)), path)
    except ImportError:
        raise UserError(f"{path}: needs pyarrow (pip install 'semicrowd[tables]'); or save it as .csv") from None
    except UserError:
        raise
    except Exception as error:  # what damaged bytes make the reader raise depends on where they are
        raise UserError(f"{path}: not a parquet file ({' '.join(str(error).split())[:100]})") from error


def _texts_of(header: Sequence[str], ids: str | None, texts: Collection[str] | None) -> set[str]:
    """Columns whose cells are read as text: ids, labels and sequences, and ``texts`` (None: all)."""
    if texts is None:
        return set(header)
    named = {name for name in header if name.lower() in (LABEL, SEQUENCE)} | {ids or called_ids(list(header)), *texts}
    return {name for name in header if name in named}


def _read_xlsx(path: Path, ids: str | None, texts: Collection[str] | None, _decimal: str | None) -> Frame:
    try:
        with zipfile.ZipFile(path) as archive:
            check_memory(sum(entry.file_size for entry in archive.infolist()), str(path))
        first = pd.read_excel(path, header=None, nrows=1, dtype=str).fillna("")
        header = [name for row in first.to_numpy().tolist() for name in row]
        _check_names(path, header)
        as_text = dict.fromkeys(_texts_of(header, ids, texts), str)
        frame = pd.read_excel(path, keep_default_na=False, na_values=[""], dtype=as_text)
        return Frame(_with_index(frame), path, line=2)
    except ImportError:
        raise UserError(f"{path}: needs openpyxl (pip install 'semicrowd[tables]'); or save it as .csv") from None
    except UserError:
        raise
    except Exception as error:  # as above
        raise UserError(f"{path}: not an .xlsx table ({' '.join(str(error).split())[:100]})") from error


def _with_index(frame: pd.DataFrame) -> pd.DataFrame:
    """Make a column of an index that is not 0, 1, 2, …; column names become text."""
    if not frame.index.equals(pd.RangeIndex(len(frame))):
        frame = frame.reset_index()
    frame.columns = [_name(str(name)) for name in frame.columns]
    return frame


def _name(text: str) -> str:
    """The name of a column as one printable line."""
    return "".join(sign if sign.isprintable() else "?" for sign in " ".join(text.split()))


def _header(path: Path, encoding: str) -> tuple[list[str], str]:
    """Names of the columns, and what separates them."""
    try:
        with path.open(newline="", encoding=encoding) as file:
            first, second = (_QUOTED.sub("", file.readline()) for _ in range(2))
            # Names may hold a separator (Länge, cm;Breite, cm): the right one is as often in the first row of cells.
            # So may numbers, with decimal commas.
            alike = [one for one in _SEPARATORS if 0 < first.count(one) == second.count(one)]
            separator = max(alike or _SEPARATORS, key=lambda one: (bool(alike) and one != ",", first.count(one)))
            file.seek(0)
            header = [_name(name) for name in next(csv.reader(file, delimiter=separator), [])]
    except (UnicodeDecodeError, csv.Error) as error:
        raise UserError(f"{path}: {_NO_TEXT}") from error
    _check_names(path, header)
    try:
        list(map(float, header))
    except ValueError:
        return header, separator
    raise UserError(f"{path}, line 1: only numbers; expected a header with the columns' names")


def _check_names(path: Path, header: list[str]) -> None:
    """Refuse a file without names of columns, and two columns of one name; the first one may have none."""
    if not any(header):
        raise UserError(f"{path}: empty; expected a header and a row for each item")
    number = Counter(header)
    for position, name in enumerate(header):
        if (not name and position) or number[name] > 1:
            raise UserError(f"{path}, line 1, column {name or 'without a name'}: expected a name of its own")


def _frame(
    path: Path, header: list[str], separator: str, texts: Collection[str | None], named: str | None, encoding: str
) -> tuple[pd.DataFrame, bool]:
    """All rows, and whether the file has decimal commas.

    ``texts``, and columns with a cell that is no number, come as text, an empty cell as NaN.
    """
    try:
        with path.open(encoding=encoding) as file:
            file.readline()  # a header of thousands of names would hide the numbers
            beginning = file.read(_BEGINNING)
        found = separator != "," and _DECIMAL_COMMA.search(beginning)
        decimal = "," if (found if named is None else named == "comma") else "."
        with warnings.catch_warnings():
            # A row with more cells than the header is only a warning to pandas.
            warnings.simplefilter("error", pd.errors.ParserWarning)
            frame = pd.read_csv(
                path, header=0, names=header, index_col=False, dtype=dict.fromkeys(texts, str), sep=separator,
                decimal=decimal, skip_blank_lines=False, encoding=encoding, keep_default_na=False, na_values=[""],
                low_memory=False,
            )
    except (pd.errors.ParserWarning, pd.errors.ParserError) as error:
        reason = " ".join(str(error).replace("Error tokenizing data. C error: ", "").split())
        raise UserError(f"{path}, {_first_too_long(path, len(header), separator, encoding) or reason}") from error
    except UnicodeDecodeError as error:
        raise UserError(f"{path}: {_NO_TEXT}") from error
    if decimal == ",":  # pandas leaves a column as text where one of its cells is a word for nothing, or 2.750,75
        for name in set(header) - set(texts):
            if not pd.api.types.is_numeric_dtype(frame[name]):
                cells = frame[name].dropna().astype(str)
                if 2 * sum(map(bool, map(has_unit, cells))) > len(cells) or has_decimal_comma(list(cells)) is False:
                    continue  # numbers without unit are written as those with one beside them, 1,234 as 1,234,567
                thousands = any(map(_WITH_COMMA.fullmatch, cells)) or all(
                    _THOUSANDS.fullmatch(cell) for cell in cells if "." in cell
                )
                frame[name] = frame[name].map(partial(_with_point, thousands=thousands), na_action="ignore")
    # Blank lines at the end are no items; elsewhere they are, with every cell empty.
    return frame.iloc[: frame.notna().any(axis=1).to_numpy().nonzero()[0].max(initial=-1) + 1], decimal == ","


def _codes(
    path: Path, header: Sequence[str], separator: str, frame: pd.DataFrame, encoding: str
) -> Iterator[str]:
    """Columns of whole numbers that have zeros in front in one of the first rows."""
    try:
        with path.open(newline="", encoding=encoding) as file:
            rows = list(islice(csv.reader(file, delimiter=separator), 1, _FIRST_ROWS))
    except csv.Error:  # pandas could read it
        return
    for position, name in enumerate(header):
        cells = [row[position].strip() for row in rows if len(row) > position]
        if frame[name].dtype.kind in "iuf" and any(_CODE.fullmatch(cell) for cell in cells):
            yield name


def _with_point(cell: Any, thousands: bool) -> Any:
    """A cell with a decimal point; ``thousands``: points of whole numbers are between thousands."""
    if number := _WITH_COMMA.fullmatch(str(cell)):
        return f"{number[1].replace('.', '')}.{number[2]}"
    return str(cell).replace(".", "") if thousands and _THOUSANDS.fullmatch(str(cell)) else cell


def _first_too_long(path: Path, width: int, separator: str, encoding: str) -> str:
    """Position of the first row with more cells than the header; empty if there is none, or none can be read."""
    with path.open(newline="", encoding=encoding) as file, suppress(csv.Error):
        rows = csv.reader(file, delimiter=separator)
        messages = (f"line {rows.line_num}: {len(row)} cells; expected {width} as in the header"
                 for row in rows if len(row) > width)
        return next(messages, "")
    return ""


READERS: dict[str, Callable[[Path, str | None, Collection[str] | None, str | None], Frame]] = {
    **dict.fromkeys(TEXT_FILES, _read_csv), ".parquet": _read_parquet, ".xlsx": _read_xlsx, ".npz": _read_npz,
}  # fmt: skip
