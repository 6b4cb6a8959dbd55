"""Merge and split moves: accepted if the ELBO, after a refit of the mixture, is higher.

Coordinate ascent and gradient steps neither merge a class that the start has divided into two clusters nor separate two
classes that it has put into one. A split cuts the cluster's items into two halves (inference/cuts.py), and assigns one
half to a component that is not in use.
"""

from collections.abc import Iterator
from functools import partial

import torch
from torch import Tensor

from semicrowd.fitting.acceptance import MIN_COUNT, MovableModel, Move, accept_moves
from semicrowd.inference.cuts import Items, cuts
from semicrowd.inference.mixture import union_gains


def merge_moves(movable: MovableModel) -> Tensor:
    """A round of merges; returns how many each restart accepted, [R]."""
    restarts = range(movable.model.num_restarts)
    return accept_moves(movable, lambda movable: [merges(movable, restart) for restart in restarts])


def split_moves(movable: MovableModel) -> Tensor:
    """A round of splits; returns how many each restart accepted, [R]."""

    def proposals(movable: MovableModel) -> list[Iterator[Move]]:
        items = movable.items()
        return [splits(movable, restart, items) for restart in range(movable.model.num_restarts)]

    return accept_moves(movable, proposals)


def merges(movable: MovableModel, restart: int) -> Iterator[Move]:
    """The merges of :func:`candidates`."""
    for pair in candidates(movable, restart):
        yield partial(movable.unite, restart, *pair)


def candidates(movable: MovableModel, restart: int) -> list[tuple[int, int]]:
    """Pairs of clusters in use, sorted by the change of the mixture's log evidence when merged, highest first.

    Pairs whose change is not finite are left out.
    """
    used = torch.nonzero(movable.counts(restart) > MIN_COUNT)[:, 0]
    gains = union_gains(movable.components(restart)[used], movable.prior)
    a, b = torch.triu_indices(len(used), len(used), offset=1)
    gains = gains[a, b]
    order = [index for index in gains.argsort(descending=True).tolist() if gains[index].isfinite()]
    return [(int(used[a[index]]), int(used[b[index]])) for index in order]


def splits(movable: MovableModel, restart: int, items: Items) -> Iterator[Move]:
    """Splits of clusters, sorted by their gain from items and answers, highest first.

    There are none if every component is in use.
    """
    free = torch.nonzero(movable.counts(restart) <= MIN_COUNT)[:, 0]
    if not len(free):
        return
    for cut in sorted(cuts(items, restart, movable.prior), key=lambda cut: -cut.gain):
        yield partial(movable.divide, restart, cut, int(free[0]))
