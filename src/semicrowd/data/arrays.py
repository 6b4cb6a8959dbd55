"""Read .npy and .npz files without unpickling."""

import tokenize
import warnings
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from semicrowd.errors import UserError
from semicrowd.files import check_is_file

_EXPECTED = "a NumPy array of numbers that is whole (no objects)"


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
    check_is_file(path, _EXPECTED)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of NumPy, about headers that Python 2 wrote
            yield
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror or error}; expected {_EXPECTED}") from error
    except (
        ValueError, TypeError, EOFError, SyntaxError, RecursionError, MemoryError, OverflowError, KeyError,
        AttributeError, NotImplementedError, RuntimeError, zipfile.BadZipFile, zlib.error, tokenize.TokenError,
    ) as error:  # raised for damaged headers
        raise UserError(f"{path}: not {_EXPECTED}") from error
