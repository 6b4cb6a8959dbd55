"""Embeddings of pictures, computed once and stored by the content of each picture."""

import hashlib
import sqlite3
import sys
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

import numpy as np
from filelock import FileLock
from jaxtyping import Float, UInt8

from semicrowd.data import embedding
from semicrowd.data.embedding import BATCH, EMBEDDING_SIZE, WEIGHTS, Network, efficientnet_lite0
from semicrowd.data.progress import PictureProgress
from semicrowd.errors import UserError
from semicrowd.settings.data import EFFICIENTNET_LITE0

#: Number of pictures after which new embeddings are committed to the file.
_KEPT = 64
#: Seconds that one process waits for another to write.
_WAIT = 60.0
#: Bytes of a page of the file. A page has several rows; of SQLite's default size a row would need two pages.
_PAGE = 65536
_SCHEMA = "CREATE TABLE IF NOT EXISTS embeddings (picture BLOB PRIMARY KEY, numbers BLOB NOT NULL) WITHOUT ROWID"


def embedded(
    pictures: Iterable[UInt8[np.ndarray, "_ _ 3"]], number: int, folder: Path
) -> Float[np.ndarray, "number 1280"]:
    """EfficientNet-Lite0's features of ``number`` pictures, from an iterator: see :class:`Embeddings`."""
    with Embeddings(number, folder) as embeddings:
        for picture in pictures:
            embeddings.add(picture)
        return embeddings.rows()


class Embeddings:
    """EfficientNet-Lite0's features of pictures: stored ones are read, the others are computed and stored.

    A picture is identified by its content, not by its path. An interrupted run continues, and a new picture costs only
    its own computation. One process computes, the others wait. At most :data:`BATCH` pictures are in memory. To be
    used in a ``with`` statement.

    Parameters
    ----------
    number : of pictures
    folder : folder of the file ``efficientnet_lite0.sqlite``, in which they are stored; created if missing

    Raises
    ------
    UserError
        If features must be computed and the extra ``embeddings`` is not installed; if the file cannot be written or is
        no store of embeddings.
    """

    def __init__(self, number: int, folder: Path) -> None:
        self._path = folder / f"{EFFICIENTNET_LITE0}.sqlite"
        self._found = np.empty((number, EMBEDDING_SIZE), np.float32)
        self._added = 0
        self._waiting: list[tuple[int, bytes, np.ndarray]] = []
        self._network: Network | None = None
        # The key contains code and weights, so that features of other versions are not reused.
        self._version = WEIGHTS.encode() + Path(embedding.__file__).read_bytes()

    def __enter__(self) -> "Embeddings":
        with ExitStack() as opened, self._user_errors():
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._connection = opened.enter_context(closing(sqlite3.connect(self._path, timeout=_WAIT)))
            there = "SELECT count(*) FROM sqlite_master WHERE name = 'embeddings'"
            if not self._connection.execute(there).fetchone()[0]:
                self._connection.execute(f"PRAGMA page_size = {_PAGE}")
                with self._connection:
                    self._connection.execute(_SCHEMA)
            self._progress = opened.enter_context(PictureProgress(EFFICIENTNET_LITE0, len(self._found)))
            self._opened = opened.pop_all()
        return self

    def __exit__(self, *error: object) -> None:
        self._opened.close()

    def add(self, picture: UInt8[np.ndarray, "_ _ 3"]) -> None:
        """The next picture: red, green and blue, of any size."""
        with self._user_errors():
            key = self._key(picture)
            row = self._kept(key)
            if row is None and self._network is None:
                self._begin()
                row = self._kept(key)  # computed by another process in the meantime
            if row is None:
                self._waiting.append((self._added, key, picture))
            else:
                self._found[self._added] = row
            self._added += 1
            if len(self._waiting) == BATCH:
                self._make()
            if self._added % _KEPT == 0:
                self._connection.commit()
                self._progress.reach(self._added)

    def rows(self) -> Float[np.ndarray, "n 1280"]:
        """The features of all pictures, float32, in the order in which they were added."""
        assert self._added == len(self._found), f"{self._added} pictures of {len(self._found)}"
        with self._user_errors():
            self._make()
            self._connection.commit()
        return self._found

    def _begin(self) -> None:
        self._network = efficientnet_lite0()
        print(
            f"note: {EFFICIENTNET_LITE0}: computing features of pictures, about 20 ms each; stored in {self._path}",
            file=sys.stderr,
        )
        # Outside the folder, because the pipeline tracks the folder.
        self._opened.enter_context(FileLock(self._path.parent.parent / f".{self._path.name}.lock"))

    def _key(self, picture: np.ndarray) -> bytes:
        content = hashlib.sha256(self._version)
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

    def _make(self) -> None:
        if not self._waiting:
            return
        assert self._network is not None
        made = self._network([picture for _, _, picture in self._waiting])
        for (place, key, _), numbers in zip(self._waiting, made, strict=True):
            self._found[place] = numbers
            content = (key, numbers.astype("<f4").tobytes())
            self._connection.execute("INSERT OR IGNORE INTO embeddings VALUES (?, ?)", content)
        self._waiting.clear()

    @contextmanager
    def _user_errors(self) -> Iterator[None]:
        """Turn errors of the database into a :class:`UserError` of one line."""
        try:
            yield
        except sqlite3.OperationalError as error:
            raise UserError(f"{self._path}: cannot be used: {error}") from error
        except sqlite3.DatabaseError as error:
            raise UserError(f"{self._path}: damaged, or not the embeddings that were kept here; delete it") from error
        except OSError as error:
            raise UserError(f"{self._path}: cannot be used: {error.strerror or error}") from error
