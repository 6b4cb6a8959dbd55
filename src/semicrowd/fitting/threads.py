"""Number of threads of a fit: one by default, for single runs and for sweeps.

Operations of these models take microseconds, so that several threads would mostly wait for each other in busy loops.
`python benchmarks/run.py threads` measures the time of a fit beside another busy process (docs/BENCHMARKS.md).
"""

import contextlib
from collections.abc import Iterator

from threadpoolctl import threadpool_limits

DEFAULT = 1


@contextlib.contextmanager
def threads_of_a_fit(threads: int = DEFAULT) -> Iterator[None]:
    """Within the block, torch and the libraries of linear algebra use ``threads`` threads."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        with threadpool_limits(threads):
            yield
    finally:
        torch.set_num_threads(before)
