"""Files: written as a whole or not at all; digests; pictures in a folder."""

import contextlib
import csv
import hashlib
import json
import math
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from semicrowd.errors import UserError

#: The fitted estimator of a run, which semicrowd.load reads.
MODEL = "model.pt"
#: File by which the folder of a run is known.
PROVENANCE = "provenance.json"
#: Endings of the files that are taken for pictures.
_SUFFIXES = (".jpg", ".jpeg", ".png", ".bmp", ".tif", ".tiff", ".pgm", ".ppm", ".gif", ".webp")
PICTURES = "a folder of pictures, or of a folder of pictures for each class"
#: The apostrophe of a cell that :func:`write_csv` has protected.
PROTECTED = re.compile(r"^'(?=[=+@-])")


def expanded(path: str | Path) -> Path:
    """The path with ``~`` replaced by the home folder; of a user who does not exist, as it is."""
    return Path(os.path.expanduser(path))  # noqa: PTH111 - pathlib's raises RuntimeError for such a user


def write_atomic(path: Path, write: Callable[[Path], object]) -> None:
    """Let ``write`` fill a temporary file beside ``path`` and move it there: readers see all of it or nothing."""
    if path.is_dir():
        raise UserError(f"{path}: cannot be written: it is a folder; expected a file")
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        if path.exists() and not path.is_file():
            write(path)  # a device or a pipe, such as /dev/stdout, must not be replaced
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        write(temporary)
        with temporary.open("rb") as file:
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as error:
        raise UserError(f"{path}: cannot be written: {error.strerror or error}") from error
    finally:
        with contextlib.suppress(OSError):  # a folder out of reach: that is the error already on its way
            temporary.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """Write a text, utf-8 with its line ends as they are."""
    write_atomic(path, lambda temporary: temporary.write_text(text, encoding="utf-8", newline=""))


def write_arrays(path: Path, arrays: Mapping[str, np.ndarray]) -> None:
    """Write arrays by their names, as npz."""

    def write(temporary: Path) -> None:
        with temporary.open("wb") as file:
            np.savez_compressed(file, **arrays)  # type: ignore[arg-type]

    write_atomic(path, write)


def write_json(path: Path, content: dict[str, Any]) -> None:
    """Write a JSON object, with keys in the given order; NaN and infinite values raise ``ValueError``."""
    write_text(path, json.dumps(content, indent=2, allow_nan=False) + "\n")


def write_csv(path: Path, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Write a table; floats keep what is needed to read them back, None and NaN are empty cells.

    Names are :func:`protected`.
    """

    def write(temporary: Path) -> None:
        with temporary.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow([protected(name) for name in header])
            writer.writerows(
                ["" if isinstance(one, float) and math.isnan(one) else protected(one) for one in row] for row in rows
            )

    write_atomic(path, write)


def protected(cell: Any) -> Any:
    """A text that a spreadsheet would run as a formula with an apostrophe before it; numbers stay numbers."""
    if not isinstance(cell, str) or cell[:1] not in ("=", "+", "@", "-"):
        return cell
    try:
        float(cell)
    except ValueError:
        return f"'{cell}"
    return cell


def read_object(path: Path) -> dict[str, Any]:
    """Content of a json file, empty where there is none, it is damaged, or it holds no object."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}


def sha256_of(path: Path) -> str:
    """The digest of a file, which need not fit into memory."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def find_images(folder: Path) -> list[Path]:
    """All pictures below a folder, sorted: folder by folder, names by their characters (``img10`` before ``img2``).

    Hidden files and folders are left out, and folders of runs, whose figures are no items.
    """
    check_exists(folder)
    paths = []
    for place, folders, names in os.walk(folder, followlinks=True):
        folders[:] = [one for one in folders if one[0] != "." and not (Path(place) / one / PROVENANCE).exists()]
        paths += [Path(place) / name for name in names if name[0] != "." and Path(name).suffix.lower() in _SUFFIXES]
    if not paths:
        raise UserError(f"{folder}: no pictures ({', '.join(_SUFFIXES)}); expected {PICTURES}")
    return sorted(paths)


def digest_of(paths: list[Path]) -> str:
    """sha256 of the sha256 of each file."""
    return hashlib.sha256(b"".join(bytes.fromhex(sha256_of(path)) for path in paths)).hexdigest()


def check_is_file(path: Path, expected: str) -> None:
    """Refuse what is no file, without opening it: a named pipe would have us wait for somebody to write."""
    check_exists(path)
    if not path.is_file():
        reason = "a folder" if path.is_dir() else "not a file"
        raise UserError(f"{path}: cannot be read: {reason}; expected {expected}")


def check_exists(path: Path) -> None:
    """Refuse a path where there is nothing."""
    if not path.exists():
        raise UserError(f"{path}: cannot be read: No such file or directory")
