"""Merge and split moves: accepted if the ELBO, after a refit of the mixture, is higher.

Coordinate ascent and gradient steps neither merge a class that the start has divided into two clusters nor separate two
classes that it has put into one. A split divides a cluster's items in two (inference/mixture.py) and
moves one part to a component that is not in use.

A move is proposed for every restart at once. It sets some of the model's parameters; then the mixture is refitted with
the networks fixed. In restarts with a higher ELBO than that of the refitted model without the move, it is accepted.
This ELBO includes views and answers; the best restart is chosen by the same ELBO.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from functools import cached_property, partial

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from semicrowd.crowd.two_coin import pair_evidence
from semicrowd.inference.mixture import Cut, Items, cuts, union_gains
from semicrowd.models.generative import GenerativeModel
from semicrowd.models.training_data import TrainingData

#: A restart's moves end after this number of rejected moves in a row.
REJECTIONS = 4
#: Clusters with at most this number of items are not in use.
MIN_COUNT = 2.0

#: Sets the parameters of one restart to their proposed values.
Move = Callable[[], None]
#: Returns the possible moves of every restart of the current model, the most promising first.
Proposals = Callable[["MovableModel"], list[Iterator[Move]]]


class MovableModel(ABC):
    """The interface of a model and its training data to the moves."""

    model: GenerativeModel
    data: TrainingData

    @cached_property
    def prior(self) -> Float[Tensor, "F"]:
        """Natural parameter of the prior of a component, on the data's device."""
        return self.model.mixture_prior().components[0, 0].to(self.data.device)

    @abstractmethod
    def tensors(self) -> list[Tensor]:
        """The parameters that moves and refits change; restarts on the first axis."""

    @abstractmethod
    def bound(self) -> Float[Tensor, "R"]:
        """The ELBO of the current model."""

    @abstractmethod
    def refitted_bound(self) -> Float[Tensor, "R"]:
        """Refit the mixture with the networks fixed; returns the ELBO after the refit."""

    @abstractmethod
    def counts(self, restart: int) -> Float[Tensor, "K"]:
        """Number of items of each cluster."""

    @abstractmethod
    def components(self, restart: int) -> Float[Tensor, "K F"]:
        """Natural parameters of the posterior of each component."""

    @abstractmethod
    def items(self) -> Items:
        """The current posterior of items, and the answers about them."""

    def answers(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Both items of each answer, as positions among the annotated items, and its log odds w, [R, P] (eq. 14)."""
        known = self.data.answers
        if known is None:
            return np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros((self.model.num_restarts, 0))
        weight = pair_evidence(*self.model.annotator_statistics(), known.worker, known.label).weight
        return known.i.cpu().numpy(), known.j.cpu().numpy(), weight.detach().cpu().double().numpy()

    @abstractmethod
    def unite(self, restart: int, keep: int, gone: int) -> None:
        """Move the items of cluster ``gone`` to cluster ``keep``."""

    @abstractmethod
    def divide(self, restart: int, cut: Cut, free: int) -> None:
        """Move the items of the cut from their cluster to cluster ``free``, which is not in use."""


@torch.no_grad()
def accept_moves(movable: MovableModel, propose: Proposals) -> Tensor:
    """Try moves in each restart until :data:`REJECTIONS` in a row are rejected; returns how many it accepted, [R].

    A restart that accepts no move gets back its parameters from before the first refit. So does a restart whose ELBO is
    not higher than before the first refit. This can happen, as a refit maximises a part of the ELBO, or a surrogate.
    """
    accepted = torch.zeros(movable.model.num_restarts, dtype=torch.long)
    rejected = accepted.clone()
    before, first = _state(movable), movable.bound()
    rejected[~first.isfinite()] = REJECTIONS  # a restart that has diverged
    best = movable.refitted_bound()
    waiting = propose(movable)
    while True:
        state = _state(movable)
        moves = [next(waiting[r], None) if rejected[r] < REJECTIONS else None for r in range(len(waiting))]
        if all(move is None for move in moves):
            break
        for move in moves:
            if move is not None:
                move()
        bound = movable.refitted_bound()
        moved = torch.tensor([move is not None for move in moves])
        better = bound > best
        best = torch.where(better, bound, best)
        # A restart without a move in this turn may still rise by the refit alone, which makes no move acceptable.
        gained = moved & better
        rejected = torch.where(gained, 0, rejected + 1)
        anew = propose(movable) if gained.any() else waiting
        waiting = [anew[r] if gained[r] else waiting[r] for r in range(len(waiting))]
        accepted += gained
        _restore(movable, state, ~better)
    if accepted.any():
        accepted[movable.bound() <= first] = 0
    _restore(movable, before, accepted == 0)
    return accepted


def _state(movable: MovableModel) -> list[Tensor]:
    return [tensor.detach().clone() for tensor in movable.tensors()]


def _restore(movable: MovableModel, state: list[Tensor], restarts: Tensor) -> None:
    """Restore ``state`` in the marked restarts, [R] bool."""
    for tensor, earlier in zip(movable.tensors(), state, strict=True):
        tensor[restarts.to(tensor.device)] = earlier[restarts.to(tensor.device)]


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
