"""Embeddings of pictures, made once and kept by the content of each picture."""

import hashlib
import multiprocessing
import sqlite3
import sys
from collections.abc import Iterable
from contextlib import ExitStack, closing
from pathlib import Path

import numpy as np
from filelock import FileLock
from jaxtyping import Float, UInt8
from rich.console import Console
from rich.progress import Progress, TaskID

from semicrowd.data import embedding
from semicrowd.data.embedding import BATCH, EMBEDDING_SIZE, WEIGHTS, Network, efficientnet_lite0
from semicrowd.errors import UserError
from semicrowd.settings.embedding import EFFICIENTNET_LITE0

#: Pictures after which what has been made is on disk for good.
_KEPT = 64
#: Seconds that one process waits for another to write.
_WAIT = 60.0
_SCHEMA = "CREATE TABLE IF NOT EXISTS embeddings (picture BLOB PRIMARY KEY, numbers BLOB NOT NULL) WITHOUT ROWID"


def embedded(
    pictures: Iterable[UInt8[np.ndarray, "_ _ 3"]], number: int, folder: Path
) -> Float[np.ndarray, "number 1280"]:
    """EfficientNet-Lite0's features of pictures: those that were made before are read, the others are made and kept.

    A picture is known by its content, wherever it came from; so what was stopped goes on where it was, and one more
    picture in a folder costs one more. One process makes them, others that want some wait for it. Pictures are looked
    at one after the other: few are in memory at a time.

    Parameters
    ----------
    pictures : red, green, blue, of any sizes
    number : of them
    folder : where they are kept, in a file ``efficientnet_lite0.sqlite``; made where it is not there

    Raises
    ------
    UserError
        Where there is something to make and the extra ``embeddings`` is not installed; where the file cannot be
        written, or is not one of these.
    """
    path = folder / f"{EFFICIENTNET_LITE0}.sqlite"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with closing(sqlite3.connect(path, timeout=_WAIT)) as connection, _progress() as progress, ExitStack() as held:
            task = progress.add_task(EFFICIENTNET_LITE0, total=number)
            return _Maker(connection, path, held).rows(pictures, number, progress, task)
    except sqlite3.OperationalError as error:
        raise UserError(f"{path}: cannot be used: {error}") from error
    except sqlite3.DatabaseError as error:
        raise UserError(f"{path}: damaged, or not the embeddings that were kept here; delete it") from error
    except OSError as error:
        raise UserError(f"{path}: cannot be used: {error.strerror or error}") from error


class _Maker:
    """Rows of one file, and the network that makes those that it does not have.

    Parameters
    ----------
    held : keeps other processes from making the same until it is closed
    """

    def __init__(self, connection: sqlite3.Connection, path: Path, held: ExitStack) -> None:
        self._connection, self._path, self._held = connection, path, held
        self._network: Network | None = None
        if not connection.execute("SELECT count(*) FROM sqlite_master WHERE name = 'embeddings'").fetchone()[0]:
            with connection:
                connection.execute(_SCHEMA)
        # Numbers that other code or other weights have made are not found.
        self._made_by = WEIGHTS.encode() + Path(embedding.__file__).read_bytes()

    def rows(self, pictures: Iterable[np.ndarray], number: int, progress: Progress, task: TaskID) -> np.ndarray:
        found = np.empty((number, EMBEDDING_SIZE), np.float32)
        waiting: list[tuple[int, bytes, np.ndarray]] = []
        for place, picture in enumerate(pictures):
            key = self._key(picture)
            row = self._kept(key)
            if row is None and self._network is None:
                self._begin()
                row = self._kept(key)  # by another process, meanwhile
            if row is None:
                waiting.append((place, key, picture))
            else:
                found[place] = row
            if len(waiting) == BATCH:
                self._make(waiting, found)
            if (place + 1) % _KEPT == 0:
                self._connection.commit()
                progress.update(task, completed=place + 1)
        if waiting:
            self._make(waiting, found)
        self._connection.commit()
        return found

    def _begin(self) -> None:
        self._network = efficientnet_lite0()
        print(
            f"note: {EFFICIENTNET_LITE0}: features of pictures are made, some 20 ms of a core each, and kept in "
            f"{self._path}", file=sys.stderr,
        )  # fmt: skip
        # Beside the folder, which the pipeline keeps as a whole.
        self._held.enter_context(FileLock(self._path.parent.parent / f".{self._path.name}.lock"))

    def _key(self, picture: np.ndarray) -> bytes:
        content = hashlib.sha256(self._made_by)
        content.update(repr(picture.shape).encode())
        content.update(np.ascontiguousarray(picture).data)
        return content.digest()

    def _kept(self, key: bytes) -> np.ndarray | None:
        row = self._connection.execute("SELECT numbers FROM embeddings WHERE picture = ?", (key,)).fetchone()
        if row is None:
            return None
        if len(row[0]) != EMBEDDING_SIZE * np.dtype("<f4").itemsize:
            raise sqlite3.DatabaseError(f"{len(row[0])} bytes")
        return np.frombuffer(row[0], "<f4")

    def _make(self, waiting: list[tuple[int, bytes, np.ndarray]], found: np.ndarray) -> None:
        assert self._network is not None
        made = self._network([picture for _, _, picture in waiting])
        for (place, key, _), numbers in zip(waiting, made, strict=True):
            found[place] = numbers
            content = (key, numbers.astype("<f4").tobytes())
            self._connection.execute("INSERT OR IGNORE INTO embeddings VALUES (?, ?)", content)
        waiting.clear()


def _progress() -> Progress:
    """A bar on the standard error stream; none where that is no terminal, and none of parallel jobs."""
    console = Console(stderr=True)
    alone = multiprocessing.current_process().name == "MainProcess"
    return Progress(console=console, disable=not (alone and console.is_terminal), transient=True)
