"""Merge moves: two clusters become one where the ELBO, after a refit of the conjugate part, says so.

Gradient steps alone keep a cluster that was cut in two by its start. A move is proposed for every restart at once: the
two posteriors are added (the exact posterior of the united cluster), the conjugate part is refitted by coordinate
ascent with the networks fixed, and the move is kept where the ELBO beats that of a refitted model without it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from semicrowd.expfam import normal_inverse_wishart
from semicrowd.models.global_posterior import FAMILIES

#: Largest number of sweeps of an iteration, and the change of a probability at which it stops earlier.
SWEEPS = (10, 1e-3)

if TYPE_CHECKING:
    from semicrowd.models.bayes import BayesSCDC


@torch.no_grad()
def merge_moves(model: BayesSCDC) -> Tensor:
    """Propose merges in each restart until ``moves.rejections`` in a row fail; returns how many each accepted, [R].

    A restart that accepts none keeps its q(Θ) as it was before the refits.
    """
    settings = model.settings.moves
    accepted = torch.zeros(model.num_restarts, dtype=torch.long)
    before = _state(model)
    best = _refitted_bound(model)
    tried: list[set[tuple[int, int]]] = [set() for _ in range(model.num_restarts)]  # since the last that was accepted
    while True:
        state = _state(model)
        pairs = [
            _candidate(model, r, tried[r]) if len(tried[r]) < settings.rejections else None
            for r in range(model.num_restarts)
        ]
        if all(pair is None for pair in pairs):
            break
        for r, pair in enumerate(pairs):
            if pair is not None:
                tried[r].add(pair)
                model.globals.unite(r, *pair)
        bound = _refitted_bound(model)
        better = bound > best
        for r, pair in enumerate(pairs):
            if better[r] and pair is not None:
                accepted[r] += 1
                tried[r] = set()
        best = torch.where(better, bound, best)
        _restore(model, state, ~better)
    _restore(model, before, accepted == 0)
    return accepted


def _refitted_bound(model: BayesSCDC) -> Tensor:
    """The ELBO after a refit, [R]."""
    settings = model.settings.moves
    log_z = refit(model, settings.refits, max_items=settings.max_items)
    return model.elbo(settings.max_items, log_z)["total"]


def _state(model: BayesSCDC) -> dict[str, Tensor]:
    return {name: eta.detach().clone() for name, eta in model.globals.eta.items()}


def _restore(model: BayesSCDC, state: dict[str, Tensor], restarts: Tensor) -> None:
    """Set q(Θ) of the marked restarts, [R] bool, back to ``state``."""
    for name, eta in model.globals.eta.items():
        eta[restarts.to(eta.device)] = state[name][restarts.to(eta.device)]


def _candidate(model: BayesSCDC, restart: int, tried: set[tuple[int, int]]) -> tuple[int, int] | None:
    """The untried pair of clusters in use whose union loses the least evidence of the conjugate mixture."""
    counts = model.globals.eta["pi"][restart] - model.globals.prior("pi")[0]
    used = torch.nonzero(counts > model.settings.moves.min_count)[:, 0]
    if len(used) < 2:
        return None
    prior = model.globals.prior("components")[0, 0]
    eta = model.globals.eta["components"][restart, used]
    single = normal_inverse_wishart.log_partition(eta)
    union = normal_inverse_wishart.log_partition(eta[:, None] + eta[None] - prior)
    gain = union + normal_inverse_wishart.log_partition(prior) - single[:, None] - single[None]
    gain = gain.masked_fill(torch.eye(len(used), dtype=torch.bool, device=gain.device), -torch.inf).triu()
    gain = torch.where(torch.ones_like(gain).triu(1) > 0, gain, -torch.inf)
    for index in gain.flatten().argsort(descending=True).tolist():
        a, b = divmod(index, len(used))
        pair = (int(used[a]), int(used[b]))
        if not gain[a, b].isfinite():
            return None
        if pair not in tried:
            return pair
    return None


@torch.no_grad()
def refit(
    model: BayesSCDC, iterations: int, names: tuple[str, ...] = tuple(FAMILIES), max_items: int | None = None
) -> list[Tensor]:
    """Coordinate ascent of q(Θ) on the whole training set (eqs. 26–29 at ρ = 1) with the networks fixed.

    ``names`` restricts it to some of the global variables; q(α) and q(β) alone need only the annotated items.
    ``max_items``: see :meth:`BayesSCDC.evaluation_parts`. Each iteration goes on from the last one's q(z); returns
    ln q(z) of every part that was looked at, [R, B, K] each.
    """
    log_z: list[Tensor] = []
    annotated_only = not {"pi", "components"} & set(names)
    for _ in range(iterations):
        totals = {name: model.globals.prior(name).expand_as(eta).clone() for name, eta in model.globals.eta.items()}
        starts, log_z = log_z, []
        for part, (features, batch, weight) in enumerate(model.evaluation_parts(max_items)):
            if batch is None and annotated_only:
                continue
            local, graph, _ = model.infer(features, batch, *SWEEPS, starts[part] if starts else None)
            log_z.append(local.log_z)
            q = local.probabilities.double()
            t = torch.cat([local.t_x.double(), q.new_ones(*q.shape[:2], 2)], -1)
            totals["pi"] += weight * q.sum(1)
            totals["components"] += weight * (q.mT @ t)
            if graph is not None and batch is not None:
                same = graph.agreement(local.probabilities[:, : graph.num_nodes]).double()
                yes = batch.label.to(same)
                worker = batch.worker.to(same.device)
                for name, chance, answer in (("sensitivity", same, yes), ("specificity", 1 - same, 1 - yes)):
                    counts = torch.stack([chance * answer, chance * (1 - answer)], -1)
                    totals[name].index_add_(1, worker, counts)
        for name in names:
            model.globals.eta[name].copy_(totals[name])
    return log_z
