"""Compilation of loops by numba, without the global interpreter lock and, if possible, cached on disk."""

import hashlib
import inspect
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from numba import config, njit

_HERE = Path(__file__).parent


def _cache() -> str | None:
    """A folder in NUMBA_CACHE_DIR, else beside this file, which can be written; None if there is none.

    Its name has the hash of this folder's files: numba misses changes of functions that another file calls.
    """
    content = b"".join(path.read_bytes() for path in sorted(_HERE.rglob("*.py")))
    digest = hashlib.sha256(content).hexdigest()[:12]
    folder = Path(config.CACHE_DIR or _HERE / "__pycache__") / f"compiled-{digest}"  # type: ignore[attr-defined]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError:
        return None
    return str(folder)


_CACHE = _cache()


def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """``function`` as machine code, compiled when it is first called with arguments of new types."""
    # numba reads this variable when it decorates a function; functions of other packages must not use this cache.
    before = config.CACHE_DIR  # type: ignore[attr-defined]
    config.CACHE_DIR = _CACHE or before  # type: ignore[attr-defined]
    try:
        # Unwrapped, because the tests wrap the package's functions to check the shapes of arguments.
        return njit(cache=_CACHE is not None, nogil=True, error_model="numpy")(inspect.unwrap(function))
    finally:
        config.CACHE_DIR = before  # type: ignore[attr-defined]
