"""Tables in files (text with a header, .parquet, .xlsx, .npy, .npz) and data frames of other libraries, by pandas."""

import warnings
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Shaped

from semicrowd.errors import UserError, listed, naming_extras
from semicrowd.files import check_exists, check_is_file

#: Suffixes of tables that are text.
TEXT_FILES = (".csv", ".tsv", ".txt")
EXPECTED = "a .csv or .tsv with a header, a .parquet or .xlsx table, or an .npy or .npz array [items, features]"
_EXPECTED_ARRAY = "a NumPy array of numbers that is whole (no objects)"
#: Columns with a role by their names: ids of the items, true classes, and the sequence that a row belongs to.
ID, LABEL, SEQUENCE = "id", "label", "sequence"
#: Columns by which a table is one of answers.
_OF_ANSWERS = ({"i", "j", "label"}, {"item", "worker", "label"}, {"item", "worker", "group"})
#: What a message on a table outside the documented form ends with.
PAGE = "see docs/howto/table.md"
#: An id NA is a name; what words mean among numbers and categories, skrub says.
_GAPS: dict[str, Any] = {"keep_default_na": False, "na_values": [""]}
#: Role of an array in an .npz file → its possible names; the first that is in the file is used.
_ARRAYS = {"features": ("features", "X"), "labels": ("labels", "label", "y"), "ids": ("ids", "id")}


def as_pandas(frame: Any) -> Any:
    """A data frame of another library (polars, pyarrow, …) as one of pandas; anything else as it is."""
    if isinstance(frame, pd.DataFrame | np.ndarray | list) or not hasattr(frame, "columns"):
        return frame
    import narwhals.stable.v2 as narwhals  # here: most fits are given arrays or frames of pandas

    with naming_extras():  # polars' conversion needs pyarrow
        native = narwhals.from_native(frame, eager_only=True, pass_through=True)
        return native.to_pandas() if isinstance(native, narwhals.DataFrame) else frame


def read_frame(path: Path, texts: Collection[str] = (), read_csv: Mapping[str, Any] | None = None) -> pd.DataFrame:
    """The rows of a table file, by pandas; those of a text are called by its lines (:func:`place`).

    Parameters
    ----------
    texts : columns of a text file or .xlsx table whose cells are kept as they are written (007)
    read_csv : keywords of :func:`pandas.read_csv`, for text files
    """
    check_exists(path)
    suffix = path.suffix.lower()
    if suffix not in (*TEXT_FILES, ".parquet", ".xlsx", ".npy", ".npz"):
        hint = "; a run of pictures is trained with data=images" if path.is_dir() else ""
        raise UserError(f"{path}: expected {EXPECTED}{hint}; {PAGE}")
    check_is_file(path, EXPECTED)
    if read_csv and suffix not in TEXT_FILES:
        raise UserError(f"data.read_csv: {path} is no text file, so pandas.read_csv does not read it")
    try:
        if suffix in TEXT_FILES:
            frame = _read_csv(path, texts, dict(read_csv or {}))
        elif suffix == ".parquet":
            frame = pd.read_parquet(path)
            if not frame.index.equals(pd.RangeIndex(len(frame))) and "id" not in frame:
                frame = frame.assign(id=frame.index)
        elif suffix == ".xlsx":
            frame = pd.read_excel(path, dtype=dict.fromkeys(texts, str), **_GAPS)
        elif suffix == ".npy":
            array = read_npy(path)
            check_table(array, str(path))
            frame = pd.DataFrame(array, columns=[str(d) for d in range(array.shape[1])])
        else:
            frame = read_archive(path).frame
    except UserError:
        raise
    except MemoryError as error:
        raise UserError(f"{path}: does not fit into memory; expected fewer rows or columns") from error
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror or error}; expected {EXPECTED}") from error
    except UnicodeDecodeError as error:
        raise UserError(f"{path}: no UTF-8 text; expected another encoding such as 'data.read_csv={{encoding: "
                        f"cp1252}}'; {PAGE}") from error  # fmt: skip
    except Exception as error:  # what damaged bytes make a reader raise depends on where they are
        reason = " ".join(str(error).split()) or type(error).__name__
        raise UserError(f"{path}: pandas cannot read it ({reason[:200]}); {PAGE}") from error
    frame.columns = [str(name).strip() for name in frame.columns]
    if not len(frame):
        raise UserError(f"{path}: no rows; expected one for each item after the header; {PAGE}")
    if suffix in (*TEXT_FILES, ".xlsx") and not {"header", "skiprows", "comment", "names"} & {*(read_csv or {})}:
        frame.index = pd.RangeIndex(2, len(frame) + 2, name="line")
    if len(twice := frame.columns[frame.columns.duplicated()]):
        raise UserError(f"{path}, column {twice[0]}: is there twice; expected a name of its own")
    return frame


def _read_csv(path: Path, texts: Collection[str], keywords: dict[str, Any]) -> pd.DataFrame:
    usual = {"sep": "\t" if path.suffix.lower() == ".tsv" else ",", "encoding": "utf-8-sig", **_GAPS}
    keywords = {**usual, **keywords, "index_col": False, "dtype": dict.fromkeys(texts, str), "low_memory": False}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pd.errors.ParserWarning)
        names = [str(name) for name in pd.read_csv(path, **keywords, nrows=0).columns]
    if len(names) == 1 and (others := [one for one in ";\t|," if one in names[0] and one != keywords["sep"]]):
        raise UserError(f"{path}: one column, {names[0][:50]!r}; its cells are separated by "
                        f"{others[0]!r}, expected {keywords['sep']!r} (a run is trained with another separator by "
                        f"'data.read_csv={{sep: \"{others[0]}\"}}'); {PAGE}")  # fmt: skip
    if pd.to_numeric(pd.Series(names), errors="coerce").notna().all():
        raise UserError(f"{path}: the first line has only numbers; expected a header with the columns' names; {PAGE}")
    with warnings.catch_warnings():
        warnings.simplefilter("error", pd.errors.ParserWarning)  # a row with more cells than the header
        return pd.read_csv(path, **keywords)


def place(rows: pd.Index, row: int | np.integer) -> str:
    """What messages call a row, counted from 0: its id, the line of the file, or its number."""
    return f"{rows.name or 'row'} {str(rows[row])[:50]}"


def refuse_answers(columns: Iterable[Any], where: str) -> None:
    """Refuse a table of items that has the columns of answers (docs/howto/answers.md)."""
    there = {str(name) for name in columns}
    for form in _OF_ANSWERS:
        if form <= there:
            raise UserError(f"{where}: has the columns {', '.join(sorted(form))} of answers; expected items: are items "
                            "and answers swapped?")  # fmt: skip


def check_table(array: np.ndarray, where: str) -> None:
    """Refuse an array that is no table of numbers."""
    if array.ndim != 2 or array.dtype.kind not in "fiub" or 0 in array.shape:
        actual = f"{array.dtype} {list(array.shape)}"
        raise UserError(f"{where}: expected a table of numbers [items, features], found {actual}")


@dataclass(frozen=True)
class Archive:
    """A table in an .npz file: its numbers, labels and ids (None where there are none), and all arrays by name."""

    features: Shaped[np.ndarray, "N D"]
    labels: Shaped[np.ndarray, "N"] | None
    ids: Shaped[np.ndarray, "N"] | None
    arrays: Mapping[str, np.ndarray]
    path: Path

    @property
    def frame(self) -> pd.DataFrame:
        """The features, with the names in ``columns``, and columns label and id."""
        width = self.features.shape[1]
        names = _as_text(self.arrays.get("columns", np.array([f"x{d}" for d in range(width)])).ravel())
        if len(names) != width:
            raise UserError(f"{self.path}, columns: {len(names)} names; expected {width}, one for each feature")
        beside = {"label": self.labels, "id": self.ids}
        more = {name: _as_text(values) for name, values in beside.items() if values is not None}
        if both := more.keys() & set(names):
            raise UserError(f"{self.path}, columns: {listed(sorted(both))} is a feature's name, and an array, too")
        return pd.DataFrame(self.features, columns=names).assign(**more)


def read_archive(path: Path) -> Archive:
    """The table of an .npz file: ``features`` or ``X``, or its only table of numbers."""
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
    return Archive(features, labels, ids, arrays, path)


def _as_text(values: np.ndarray) -> list[str]:
    return [one.decode(errors="replace") if isinstance(one, bytes) else str(one) for one in values.tolist()]


def read_npy(path: Path) -> np.ndarray:
    """The array of an .npy file."""
    with _refusing(path), path.open("rb") as file:
        array = np.load(file, allow_pickle=False)
        if not isinstance(array, np.ndarray):
            raise ValueError("an archive")
    return array


def read_npz(path: Path) -> dict[str, np.ndarray]:
    """The arrays of an .npz file by their names."""
    with _refusing(path), path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
        return dict(archive)


@contextmanager
def _refusing(path: Path) -> Iterator[None]:
    check_is_file(path, _EXPECTED_ARRAY)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of NumPy, about headers that Python 2 wrote
            yield
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror or error}; expected {_EXPECTED_ARRAY}") from error
    except Exception as error:  # what a damaged header makes NumPy raise depends on where it is damaged
        raise UserError(f"{path}: not {_EXPECTED_ARRAY}") from error
