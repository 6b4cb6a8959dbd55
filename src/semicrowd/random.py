"""Named random streams: changing what one stream draws leaves the others alone.

Data, simulated answers, initial values, data order and noise each draw from a stream of their own, addressed by (seed,
name, indices). A stream is a function of its address alone, so epoch 3 of a resumed run sees the same draws as epoch 3
of an uninterrupted one.
"""

import zlib
from typing import TYPE_CHECKING

import numpy as np

from semicrowd.errors import UserError

if TYPE_CHECKING:
    import torch


def _sequence(seed: int, name: str, indices: tuple[int, ...]) -> np.random.SeedSequence:
    if seed < 0:
        raise UserError(f"seed={seed}: expected an integer >= 0")
    # With the number of indices: NumPy pads with zeros, and ("order",) would be the same stream as ("order", 0).
    return np.random.SeedSequence([seed, zlib.crc32(name.encode()), len(indices), *indices])


def stream(seed: int, name: str, *indices: int) -> np.random.Generator:
    """NumPy generator of a stream.

    Parameters
    ----------
    seed : >= 0
    name : what the draws are for, such as ``"training/order"``; each purpose has a name of its own
    indices : address streams of one purpose: an epoch, a restart
    """
    return np.random.default_rng(_sequence(seed, name, indices))


def torch_stream(seed: int, name: str, *indices: int, device: "str | torch.device" = "cpu") -> "torch.Generator":
    """Torch generator of a stream; see :func:`stream`."""
    # Imported here: torch takes seconds, and data and answers do without.
    import torch

    state = _sequence(seed, name, indices).generate_state(1, np.uint64)[0]
    return torch.Generator(device=device).manual_seed(int(state >> np.uint64(1)))
