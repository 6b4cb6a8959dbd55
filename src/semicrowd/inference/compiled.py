"""Compilation of this folder's loops by numba, without the global interpreter lock and with a cache on disk."""

import hashlib
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

from numba import config, njit

_HERE = Path(__file__).parent


def _digest() -> str:
    """Hash of this folder's files, for the cache's name: numba misses changes of functions that another file calls."""
    content = b"".join(path.read_bytes() for path in sorted(_HERE.rglob("*.py")))
    return hashlib.sha256(content).hexdigest()[:12]


_CACHE = str(_HERE / "__pycache__" / f"compiled-{_digest()}")


def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """``function`` as machine code, compiled when it is first called with arguments of new types."""
    # numba reads this variable when it decorates a function; functions of other packages must not use this cache.
    before, config.CACHE_DIR = config.CACHE_DIR, _CACHE  # type: ignore[attr-defined]
    try:
        # Unwrapped, because the tests wrap the package's functions to check the shapes of arguments.
        return njit(cache=True, nogil=True, error_model="numpy")(inspect.unwrap(function))
    finally:
        config.CACHE_DIR = before  # type: ignore[attr-defined]
