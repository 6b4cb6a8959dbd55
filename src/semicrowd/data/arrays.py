"""Read .npy and .npz files without unpickling; sizes are checked first, against the file and against the memory."""

import math
import os
import tokenize
import warnings
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from semicrowd.errors import UserError
from semicrowd.files import check_is_file

_EXPECTED = "a NumPy array of numbers that is whole (no objects)"
#: Arrays with a longer header, in bytes, are not read; NumPy writes shorter ones.
_LONGEST_HEADER = 10_000


def read_npy(path: Path) -> np.ndarray:
    """The array of an .npy file."""
    check_is_file(path, _EXPECTED)
    with _refusing(path), path.open("rb") as file:
        return _read(file, path.stat().st_size, str(path))


def read_npz(path: Path) -> dict[str, np.ndarray]:
    """The arrays of an .npz file by their names."""
    check_is_file(path, _EXPECTED)
    arrays = {}
    with _refusing(path), zipfile.ZipFile(path) as archive:
        for entry in archive.infolist():
            where = f"{path}, {entry.filename}"
            check_memory(entry.file_size, where)
            with archive.open(entry) as file:
                arrays[entry.filename.removesuffix(".npy")] = _read(file, entry.file_size, where)
    return arrays


def memory_of_machine() -> int:
    """Bytes of main memory of this machine."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def check_memory(size: int, where: str) -> None:
    """Check that the machine has at least ``size`` bytes of memory."""
    there = memory_of_machine()
    if size > there:
        sizes = f"{size / 2**30:,.0f} GiB; this machine has {there / 2**30:.0f} GiB"
        raise UserError(f"{where}: {sizes}; expected fewer rows")


@contextmanager
def _refusing(path: Path) -> Iterator[None]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of NumPy, about headers that Python 2 wrote
            yield
    except UserError:
        raise
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror or error}; expected {_EXPECTED}") from error
    except (
        ValueError, TypeError, EOFError, SyntaxError, RecursionError, MemoryError, OverflowError, KeyError,
        NotImplementedError, RuntimeError, zipfile.BadZipFile, zlib.error, tokenize.TokenError,
    ) as error:  # raised for damaged headers
        raise UserError(f"{path}: not {_EXPECTED}") from error


def _read(file: Any, size: int, where: str) -> np.ndarray:
    """Read an array from a binary file that has ``size`` bytes, including the header."""
    version = np.lib.format.read_magic(file)
    beginning = file.tell()
    if int.from_bytes(file.read(4 if version[0] > 1 else 2), "little") > _LONGEST_HEADER:
        raise ValueError("a header of that length")  # checked before NumPy allocates memory for it
    file.seek(beginning)
    read = np.lib.format.read_array_header_1_0 if version[0] == 1 else np.lib.format.read_array_header_2_0
    shape, _, dtype = read(file)
    if dtype.hasobject:
        raise ValueError("objects")
    content, needed = size - file.tell(), math.prod(shape, start=dtype.itemsize)
    if any(axis < 0 for axis in shape) or needed > content:
        raise UserError(f"{where}: {dtype} {list(shape)} needs {needed:,} bytes, and {content:,} are there; expected "
                        f"{_EXPECTED}")
    check_memory(needed, where)
    file.seek(0)
    array: np.ndarray = np.lib.format.read_array(file, allow_pickle=False)
    return array
