"""How the loops of this folder and those in it compile: without the interpreter's lock, and kept between processes."""

import hashlib
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

from numba import config, njit

_HERE = Path(__file__).parent


def _digest() -> str:
    """Of all files from here on: numba itself would miss that a function changed that another file's one calls."""
    content = b"".join(path.read_bytes() for path in sorted(_HERE.rglob("*.py")))
    return hashlib.sha256(content).hexdigest()[:12]


_CACHE = str(_HERE / "__pycache__" / f"compiled-{_digest()}")


def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function as machine code, compiled when it is first called with arguments of new types."""
    # numba reads the variable when a function is decorated, and so does everybody else's.
    before, config.CACHE_DIR = config.CACHE_DIR, _CACHE  # type: ignore[attr-defined]
    try:
        # Unwrapped: tests wrap the functions of the package, to see whether shapes are what they are said to be.
        return njit(cache=True, nogil=True, error_model="numpy")(inspect.unwrap(function))
    finally:
        config.CACHE_DIR = before  # type: ignore[attr-defined]
