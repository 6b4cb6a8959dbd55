"""Named random streams: changing what one stream draws leaves the others alone.

Data, simulated answers, initial values, data order and noise each draw from a stream of their own, addressed by (seed,
name, indices). A stream is a function of its address alone, so epoch 3 of a resumed run sees the same draws as epoch 3
of an uninterrupted one.
"""

import zlib
from types import EllipsisType
from typing import TYPE_CHECKING

import numpy as np

from semicrowd.errors import UserError

if TYPE_CHECKING:
    import torch

#: Purpose → its address: a family of streams and numbers in it, ``...`` where the caller's indices go. These purposes
#: had numbers before they had names, and keep their draws. A name that is not here is a family of its own.
PURPOSES: dict[str, tuple[str | int | EllipsisType, ...]] = {
    # An epoch of training: the items' order (epoch), the answers drawn (epoch, 1 + rank), noise (epoch, step, rank).
    "training/order": ("order", ...),
    "training/answers": ("order", ...),
    "training/noise": ("noise", ...),
    # First values of a restart's networks (restart).
    "networks": ("init", ...),
    # Partitions to begin with, and new ones on the way (restart, candidate[, 1 + epoch]); the views they look at.
    "partition": ("init", ...),
    "partition/views": ("noise", 0, 0, 0, 0, 1),
    # The VAE before the first partition (epoch).
    "vae/order": ("order", 0, 0, ...),
    "vae/noise": ("noise", 0, 0, 0, ...),
    # Networks that learn the first clusters (epoch): SCDC's classifier, and all of BayesSCDC.
    "classifier/order": ("order", 0, 1, ...),
    "teaching/order": ("order", 0, 2, ...),
    "teaching/noise": ("noise", 0, 0, 0, ..., 3),
    # Classifiers of the answers: their networks (restart, candidate), the clusters some are taught, annotators who
    # say the opposite; and those that learn from the best of them (restart, candidate).
    "answers/networks": ("init", ..., 0, 0),
    "answers/noise": ("noise", 0, 0, 0, 0, 2),
    "answers/spectral": ("init", 0, 0, 0, 0, 0),
    "answers/reversed": ("init", 0, 0, 0, 0, 1),
    "learners/networks": ("init", ..., 0, 1),
    "learners/noise": ("noise", 0, 0, 0, 0, 4),
    # The ELBO by draws, the items that it is estimated from, samples of the clusters for figures and on the way.
    "evaluation/noise": ("evaluation",),
    "evaluation/items": ("evaluation", 1),
    "evaluation/samples": ("evaluation", 1),
    "evaluation/snapshots": ("evaluation", 2),
    # Annotators of the crowd whose answers are turned into their opposite.
    "annotations/flipped": ("annotations", 1),
}


def _sequence(seed: int, name: str, indices: tuple[int, ...]) -> np.random.SeedSequence:
    if seed < 0:
        raise UserError(f"seed={seed}: expected an integer >= 0")
    family, *numbers = PURPOSES.get(name, (name, ...))
    assert ... in numbers or not indices, f"{name} is one stream"
    address = [n for number in numbers for n in ([number] if isinstance(number, int) else indices)]
    # With the number of indices: NumPy pads with zeros, and "order" would be the same stream as "order", 0.
    return np.random.SeedSequence([seed, zlib.crc32(str(family).encode()), len(address), *address])


def stream(seed: int, name: str, *indices: int) -> np.random.Generator:
    """NumPy generator of a stream.

    Parameters
    ----------
    seed : >= 0
    name : a purpose (:data:`PURPOSES`), or any other word
    indices : address streams of one purpose: an epoch, a restart

    Raises
    ------
    UserError
        If ``seed`` is negative.
    """
    return np.random.default_rng(_sequence(seed, name, indices))


def torch_stream(seed: int, name: str, *indices: int, device: "str | torch.device" = "cpu") -> "torch.Generator":
    """Torch generator of a stream; see :func:`stream`."""
    # Imported here: torch takes seconds, and data and answers do without.
    import torch

    state = _sequence(seed, name, indices).generate_state(1, np.uint64)[0]
    return torch.Generator(device=device).manual_seed(int(state >> np.uint64(1)))
