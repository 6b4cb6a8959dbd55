"""Moves of clusters, accepted one after the other by the ELBO after a refit of the conjugate part.

A move is proposed for every restart at once: it sets some of q(Θ), the conjugate part is refitted by coordinate ascent
with the networks fixed, and the move is kept where the ELBO beats that of a refitted model without it.
"""

from collections.abc import Callable, Iterator

import torch
from torch import Tensor

from semicrowd.inference.message_passing import Found
from semicrowd.models.bayes import REFIT_SWEEPS, BayesSCDC
from semicrowd.models.training_data import TrainingData

#: A round of a restart ends after so many moves in a row that are rejected.
REJECTIONS = 4
#: Coordinate updates of q(Θ) before the comparison, and unannotated items that it looks at.
REFITS, MOST_ITEMS = 3, 5000
#: Clusters with fewer expected items are not in use.
MIN_COUNT = 2.0

#: Sets q(Θ) of one restart to what is proposed.
Move = Callable[[], None]
#: The moves of every restart from the present model, the most promising first; what a refit found of every part.
Proposals = Callable[[BayesSCDC, TrainingData, list[Found]], list[Iterator[Move]]]


@torch.no_grad()
def climb(model: BayesSCDC, data: TrainingData, propose: Proposals) -> Tensor:
    """Try moves in each restart until :data:`REJECTIONS` in a row fail; returns how many each accepted, [R].

    A restart that accepts none keeps its q(Θ) as it was before the refits. So does one whose bound its moves do not
    bring above where it was then: a refit climbs the surrogate bound, not the ELBO.
    """
    accepted = torch.zeros(model.num_restarts, dtype=torch.long)
    rejected = accepted.clone()
    before, first = _state(model), model.elbo(data, MOST_ITEMS)["total"]
    best, found = _refitted_bound(model, data)
    waiting = propose(model, data, found)
    while True:
        state = _state(model)
        moves = [next(waiting[r], None) if rejected[r] < REJECTIONS else None for r in range(len(waiting))]
        if all(move is None for move in moves):
            break
        for move in moves:
            if move is not None:
                move()
        bound, found = _refitted_bound(model, data)
        moved = torch.tensor([move is not None for move in moves])
        better = bound > best
        best = torch.where(better, bound, best)
        accepted += moved & better
        rejected = torch.where(better, 0, rejected + 1)
        anew = propose(model, data, found) if (moved & better).any() else waiting
        waiting = [anew[r] if moved[r] and better[r] else waiting[r] for r in range(len(waiting))]
        _restore(model, state, ~better)
    if accepted.any():
        accepted[model.elbo(data, MOST_ITEMS)["total"] <= first] = 0
    _restore(model, before, accepted == 0)
    return accepted


def _refitted_bound(model: BayesSCDC, data: TrainingData) -> tuple[Tensor, list[Found]]:
    """The ELBO after a refit, [R], and what the refit found."""
    found = refit(model, data, REFITS, MOST_ITEMS)
    return model.elbo(data, MOST_ITEMS, found)["total"], found


def _state(model: BayesSCDC) -> dict[str, Tensor]:
    return {name: eta.detach().clone() for name, eta in model.globals.eta.items()}


def _restore(model: BayesSCDC, state: dict[str, Tensor], restarts: Tensor) -> None:
    """Set q(Θ) of the marked restarts, [R] bool, back to ``state``."""
    for name, eta in model.globals.eta.items():
        eta[restarts.to(eta.device)] = state[name][restarts.to(eta.device)]


def expected_items(model: BayesSCDC, restart: int) -> Tensor:
    """Expected number of items of each cluster, [K], float64."""
    return model.globals.eta["pi"].detach()[restart] - model.globals.prior("pi")[0]


@torch.no_grad()
def refit(model: BayesSCDC, data: TrainingData, iterations: int, max_items: int | None = None) -> list[Found]:
    """Coordinate ascent of q(Θ) on the whole training set (eqs. 26–29 at ρ = 1) with the networks fixed.

    ``max_items``: see :meth:`TrainingData.parts`. Each iteration goes on from the last one's q(z); returns what it
    found of every part that was looked at.
    """
    found: list[Found] = []
    for _ in range(iterations):
        targets = {name: model.globals.prior(name).expand_as(eta).clone() for name, eta in model.globals.eta.items()}
        starts, found = found, []
        for number, part in enumerate(data.parts(model.num_restarts, max_items)):
            local, graph = model.infer(part, REFIT_SWEEPS, starts[number] if starts else None)
            found.append(local.found)
            q = local.probabilities.double()
            t = torch.cat([local.t_x.double(), q.new_ones(*q.shape[:2], 2)], -1)
            targets["pi"] += part.weight * q.sum(1)
            targets["components"] += part.weight * (q.mT @ t)
            if part.answers is not None:
                targets |= model.annotator_targets(part, local, graph)
        for name, eta in targets.items():
            model.globals.eta[name].copy_(eta)
    return found
