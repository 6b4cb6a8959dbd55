"""Merge moves: two clusters become one where the ELBO, after a refit of the conjugate part, says so.

Gradient steps alone keep a cluster that was cut in two by its start. A move is proposed for every restart at once: the
two posteriors are added (the exact posterior of the united cluster), the conjugate part is refitted by coordinate
ascent with the networks fixed, and the move is kept where the ELBO beats that of a refitted model without it.
"""

import torch
from torch import Tensor

from semicrowd.inference.message_passing import Found
from semicrowd.inference.mixture import union_gains
from semicrowd.models.bayes import REFIT_SWEEPS, BayesSCDC
from semicrowd.models.training_data import TrainingData

#: A round of a restart ends after so many merges in a row that are rejected.
REJECTIONS = 4
#: Coordinate updates of q(Θ) before the comparison, and unannotated items that it looks at.
REFITS, MOST_ITEMS = 3, 5000
#: Clusters with fewer expected items are not in use.
MIN_COUNT = 2.0


@torch.no_grad()
def merge_moves(model: BayesSCDC, data: TrainingData) -> Tensor:
    """Propose merges in each restart until :data:`REJECTIONS` in a row fail; returns how many each accepted, [R].

    A restart that accepts none keeps its q(Θ) as it was before the refits.
    """
    accepted = torch.zeros(model.num_restarts, dtype=torch.long)
    before = _state(model)
    best = _refitted_bound(model, data)
    tried: list[set[tuple[int, int]]] = [set() for _ in range(model.num_restarts)]  # since the last that was accepted
    while True:
        state = _state(model)
        pairs = [_candidate(model, r, tried[r]) if len(tried[r]) < REJECTIONS else None for r in range(len(tried))]
        if all(pair is None for pair in pairs):
            break
        for r, pair in enumerate(pairs):
            if pair is not None:
                tried[r].add(pair)
                model.globals.unite(r, *pair)
        bound = _refitted_bound(model, data)
        better = bound > best
        for r, pair in enumerate(pairs):
            if better[r] and pair is not None:
                accepted[r] += 1
                tried[r] = set()
        best = torch.where(better, bound, best)
        _restore(model, state, ~better)
    _restore(model, before, accepted == 0)
    return accepted


def _refitted_bound(model: BayesSCDC, data: TrainingData) -> Tensor:
    """The ELBO after a refit, [R]."""
    found = refit(model, data, REFITS, MOST_ITEMS)
    return model.elbo(data, MOST_ITEMS, found)["total"]


def _state(model: BayesSCDC) -> dict[str, Tensor]:
    return {name: eta.detach().clone() for name, eta in model.globals.eta.items()}


def _restore(model: BayesSCDC, state: dict[str, Tensor], restarts: Tensor) -> None:
    """Set q(Θ) of the marked restarts, [R] bool, back to ``state``."""
    for name, eta in model.globals.eta.items():
        eta[restarts.to(eta.device)] = state[name][restarts.to(eta.device)]


def _candidate(model: BayesSCDC, restart: int, tried: set[tuple[int, int]]) -> tuple[int, int] | None:
    """The untried pair of clusters in use whose union loses the least evidence of the conjugate mixture."""
    counts = model.globals.eta["pi"][restart] - model.globals.prior("pi")[0]
    used = torch.nonzero(counts > MIN_COUNT)[:, 0]
    if len(used) < 2:
        return None
    gains = union_gains(model.globals.eta["components"][restart, used], model.globals.prior("components")[0, 0])
    a, b = torch.triu_indices(len(used), len(used), offset=1)
    for index in gains[a, b].argsort(descending=True).tolist():
        pair = (int(used[a[index]]), int(used[b[index]]))
        if pair not in tried and gains[a[index], b[index]].isfinite():
            return pair
    return None


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
