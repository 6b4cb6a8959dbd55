"""A run's directory: atomic files, and a status that survives a crash."""

import contextlib
import csv
import hashlib
import json
import math
import os
import re
import shutil
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from semicrowd.errors import UserError

#: The fitted estimator of a run, which semicrowd.load reads.
MODEL = "model.pt"
#: What a run writes, in the order in which a new run removes it, the result first → whether the tracker keeps it too.
RUN_FILES = {
    "metrics.json": False,
    "assignments.csv": True,
    "test_assignments.csv": True,
    "workers.csv": True,
    "restarts.csv": True,
    "candidates.csv": True,
    "warnings.json": True,
    "restart_assignments.npz": False,
    "snapshots.npz": False,
    "likeliest.npz": False,
    "chains.csv": True,
    "partitions.npz": False,
    "annotations.csv": True,
    "curves.csv": True,
    MODEL: False,
    "checkpoints": False,
    "figures": True,
    "questions.csv": True,
    "report.html": True,
    "provenance.json": True,
    "config.yaml": True,
}
STATUS = "status.json"
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


def read_status(path: Path) -> dict[str, Any]:
    """Content of a run directory's status.json, empty where there is none or it cannot be read."""
    return read_object(path / STATUS)


def check_finished(run: Path) -> None:
    """Refuse a folder without a finished run, and say what else it is."""
    check_exists(run)
    status = read_status(run).get("status")
    if status is None:
        raise UserError(f"{run}: not the folder of a run (no {STATUS} that can be read)")
    if status != "finished":
        status = "running, or killed" if status == "running" else status
        raise UserError(f"{run}: a run that has not finished ({status}); the same command with resume=true goes on")


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
        folders[:] = [one for one in folders if one[0] != "." and not (Path(place) / one / STATUS).exists()]
        paths += [Path(place) / name for name in names if name[0] != "." and Path(name).suffix.lower() in _SUFFIXES]
    if not paths:
        raise UserError(f"{folder}: no pictures ({', '.join(_SUFFIXES)}); expected {PICTURES}")
    return sorted(paths)


def digest_of(paths: list[Path]) -> str:
    """sha256 of the sha256 of each file."""
    return hashlib.sha256(b"".join(bytes.fromhex(sha256_of(path)) for path in paths)).hexdigest()


def read_metrics(path: Path) -> dict[str, float | int]:
    """Content of a finished run's metrics.json."""
    metrics = read_object(path / "metrics.json")
    if not metrics:
        raise UserError(f"{path / 'metrics.json'}: cannot be read; is {path} a finished run?")
    return metrics


class RunDirectory:
    """A run's directory, which is made if it is not there.

    Attributes
    ----------
    path : the directory
    checkpoint : where the last finished epoch is kept
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.checkpoint = path / "checkpoints" / "last.ckpt"
        self._earlier, self._status, self._set_aside = path / ".earlier", read_status(path), False
        self._started = time.time()
        try:
            path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UserError(f"{path}: cannot be used as run directory: {error.strerror}") from error
        foreign = [] if self._status else [name for name in RUN_FILES if (path / name).exists()]
        if foreign:
            raise UserError(f"{path}: has a {foreign[0]} that is not from a run; choose another hydra.run.dir")
        for one in (path / STATUS, self.checkpoint, *map(path.joinpath, RUN_FILES)):
            for cut_off in one.parent.glob(f".{one.name}.*.tmp"):  # of a process that was killed while it wrote
                cut_off.unlink(missing_ok=True)

    @property
    def can_resume(self) -> bool:
        """Whether an interrupted fit has left something to continue from."""
        return self.checkpoint.exists()

    def set_aside(self) -> None:
        """Put away what an earlier run left here, until :meth:`restore` or :meth:`clear`."""
        self.clear()  # of a process that was killed
        self._earlier.mkdir()
        self._move(self.path, self._earlier)
        self._set_aside = bool(self._status)

    def restore(self) -> bool:
        """If an earlier run was set aside, put it back instead of what is there; returns whether one was."""
        if not self._set_aside:
            return False
        written = self.path / ".written"
        written.mkdir()
        self._move(self.path, written)
        self._move(self._earlier, self.path)
        write_json(self.path / STATUS, self._status)
        shutil.rmtree(written)
        self.clear()
        return True

    def clear(self) -> None:
        """Remove what was set aside."""
        shutil.rmtree(self._earlier, ignore_errors=True)
        self._set_aside = False

    @staticmethod
    def _move(here: Path, there: Path) -> None:
        for name in RUN_FILES:
            if (here / name).exists() or (here / name).is_symlink():
                (here / name).rename(there / name)

    def set_status(self, status: str, error: str | None = None) -> None:
        """Write status.json: running, finished, failed or interrupted."""
        seconds = round(time.time() - self._started, 3)
        write_json(self.path / STATUS, {"status": status, "error": error, "seconds": seconds})


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


def settle(path: Path) -> None:
    """Let status.json of a run whose process has gone without a word say so: interrupted, not running."""
    status = read_status(path)
    if status.get("status") == "running":
        write_json(path / STATUS, status | {"status": "interrupted"})


def existing_ancestor(path: Path) -> Path:
    """The deepest folder on the way to ``path`` (itself included) that is there."""
    path = path.absolute()
    return next(one for one in (path, *path.parents) if one.exists())


def remove_empty(path: Path, keep: Path) -> None:
    """Remove ``path`` and its parents below ``keep`` as far as they are empty folders."""
    path = path.absolute()
    while path != keep and keep in path.parents:
        try:
            path.rmdir()
        except FileNotFoundError:
            pass
        except OSError:
            return
        path = path.parent
