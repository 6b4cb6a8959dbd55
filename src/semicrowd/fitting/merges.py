"""Merge moves: two clusters become one if the ELBO, after a refit of the mixture, is higher.

Gradient steps alone do not merge a class that the start has split into two clusters.
"""

from collections.abc import Iterator
from functools import partial

import torch
from torch import Tensor

from semicrowd.fitting.climb import MIN_COUNT, Climber, Move, climb
from semicrowd.inference.mixture import union_gains


def merge_moves(climber: Climber) -> Tensor:
    """A round of merges; returns how many each restart accepted, [R]."""
    return climb(climber, _proposals)


def _proposals(climber: Climber) -> list[Iterator[Move]]:
    return [_moves(climber, restart) for restart in range(climber.model.num_restarts)]


def _moves(climber: Climber, restart: int) -> Iterator[Move]:
    for pair in candidates(climber, restart):
        yield partial(climber.unite, restart, *pair)


def candidates(climber: Climber, restart: int) -> list[tuple[int, int]]:
    """Pairs of clusters in use, sorted by the evidence of the conjugate mixture that their union loses, least first."""
    used = torch.nonzero(climber.counts(restart) > MIN_COUNT)[:, 0]
    gains = union_gains(climber.components(restart)[used], climber.prior)
    a, b = torch.triu_indices(len(used), len(used), offset=1)
    gains = gains[a, b]
    order = [index for index in gains.argsort(descending=True).tolist() if gains[index].isfinite()]
    return [(int(used[a[index]]), int(used[b[index]])) for index in order]
