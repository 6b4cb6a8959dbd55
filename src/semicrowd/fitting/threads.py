"""Threads of a fit: one by default, for one run and for sweeps.

At the sizes of these models an operation takes microseconds, and threads that wait for each other at the end of each
spin. `python benchmarks/run.py threads` times a fit beside another busy process (docs/BENCHMARKS.md).
"""

import contextlib
from collections.abc import Iterator

from threadpoolctl import threadpool_limits

DEFAULT = 1


@contextlib.contextmanager
def threads_of_a_fit(threads: int = DEFAULT) -> Iterator[None]:
    """Torch and the libraries of linear algebra use ``threads`` threads within the block."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        with threadpool_limits(threads):
            yield
    finally:
        torch.set_num_threads(before)
