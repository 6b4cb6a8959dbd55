"""Split moves: a cluster becomes two if the ELBO, after a refit of the mixture, is higher.

Coordinate ascent and gradient steps cannot separate two classes that the start has put into one cluster. A move cuts
the cluster's items into two halves (inference/cuts.py), and assigns one half to a component that is not in use.
"""

from collections.abc import Iterator
from functools import partial

import torch
from torch import Tensor

from semicrowd.fitting.climb import MIN_COUNT, Climber, Move, climb
from semicrowd.inference.cuts import Items, cuts


def split_moves(climber: Climber) -> Tensor:
    """A round of splits; returns how many each restart accepted, [R]."""
    return climb(climber, _proposals)


def _proposals(climber: Climber) -> list[Iterator[Move]]:
    items = climber.items()
    return [_moves(climber, restart, items) for restart in range(climber.model.num_restarts)]


def _moves(climber: Climber, restart: int, items: Items) -> Iterator[Move]:
    free = torch.nonzero(climber.counts(restart) <= MIN_COUNT)[:, 0]
    if not len(free):
        return
    for cut in sorted(cuts(items, restart, climber.prior), key=lambda cut: -cut.gain):
        yield partial(climber.divide, restart, cut, int(free[0]))
