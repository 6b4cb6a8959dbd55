"""Split moves: a cluster becomes two where the ELBO, after a refit of the conjugate part, says so.

Coordinate ascent and gradient steps do not leave a union of two kinds that a start has made. A cut of the cluster's
items is proposed (inference/cuts.py), one half goes to a component that is not in use, and both halves get their exact
conjugate posteriors.
"""

from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from semicrowd.crowd.two_coin import pair_evidence
from semicrowd.fitting.climb import MIN_COUNT, MOST_ITEMS, Move, climb, expected_items
from semicrowd.inference.cuts import LEAST_ITEMS, cut_by_answers, cut_by_means, cut_gain
from semicrowd.inference.message_passing import Found
from semicrowd.models.bayes import REFIT_SWEEPS, BayesSCDC
from semicrowd.models.training_data import TrainingData


class Items(NamedTuple):
    """What cuts look at: the n items that refits look at, views not among them.

    Attributes
    ----------
    shares : [R, n, K], q(z)
    statistics : [R, n, F], (E t(x), 1, 1) times the weight of the item's part
    means : [R, n, d]
    i, j : [P] places of the items that each answer compares
    weight : [R, P], its log odds that they are of one kind
    """

    shares: Tensor
    statistics: Tensor
    means: np.ndarray
    i: np.ndarray
    j: np.ndarray
    weight: np.ndarray


class Cut(NamedTuple):
    """A proposal: items of ``cluster`` go to an unused component.

    Attributes
    ----------
    gain : nats, :func:`semicrowd.inference.cuts.cut_gain`
    kept, gone : [F] each, sums of (E t(x), 1, 1) over what stays and what goes
    """

    gain: float
    cluster: int
    kept: Tensor
    gone: Tensor


def split_moves(model: BayesSCDC, data: TrainingData) -> Tensor:
    """A round of splits; returns how many each restart accepted, [R]."""
    return climb(model, data, _proposals)


def _proposals(model: BayesSCDC, data: TrainingData, found: list[Found]) -> list[Iterator[Move]]:
    items = _items(model, data, found)
    return [_moves(model, restart, items) for restart in range(model.num_restarts)]


def _moves(model: BayesSCDC, restart: int, items: Items) -> Iterator[Move]:
    free = torch.nonzero(expected_items(model, restart) <= MIN_COUNT)[:, 0]
    if not len(free):
        return
    for cut in sorted(cuts(model, restart, items), key=lambda cut: -cut.gain):
        yield partial(model.globals.divide, restart, cut.cluster, int(free[0]), cut.kept, cut.gone)


def cuts(model: BayesSCDC, restart: int, items: Items) -> list[Cut]:
    """Cuts of every cluster in use: by latent means in two ways, and by the answers."""
    prior = model.globals.prior("components")[0, 0]
    found = []
    own = items.shares[restart].argmax(-1).cpu().numpy()
    place = np.full(len(own), -1)
    totals = items.shares[restart].mT @ items.statistics[restart]
    for cluster in np.unique(own).tolist():
        rows = np.flatnonzero(own == cluster)
        if len(rows) < 2 * LEAST_ITEMS:
            continue
        place[:] = -1
        place[rows] = np.arange(len(rows))
        inside = (place[items.i] >= 0) & (place[items.j] >= 0)
        ends, weight = (place[items.i[inside]], place[items.j[inside]]), items.weight[restart, inside]
        means = items.means[restart, rows]
        halves = [cut_by_means(means, whitened=False), cut_by_means(means, whitened=True),
                  cut_by_answers(means, *ends, weight)]  # fmt: skip
        index = torch.from_numpy(rows).to(items.statistics.device)
        statistics = items.statistics[restart, index] * items.shares[restart, index, cluster, None]
        for half in halves:
            if half is not None and LEAST_ITEMS <= half.sum() <= len(half) - LEAST_ITEMS:
                gone = statistics[torch.from_numpy(half).to(statistics.device)].sum(0)
                gain = cut_gain(statistics, half, prior, ends, weight)
                found.append(Cut(gain, cluster, totals[cluster] - gone, gone))
    return found


def _items(model: BayesSCDC, data: TrainingData, found: list[Found]) -> Items:
    """The present local posterior of what refits look at."""
    shares, statistics, means = [], [], []
    i = j = worker = label = torch.zeros(0, dtype=torch.long, device=data.device)
    for part, start in zip(data.parts(model.num_restarts, MOST_ITEMS), found, strict=True):
        local, _ = model.infer(part, REFIT_SWEEPS, start)
        n = len(part.features)  # views follow
        t_x = local.t_x[:, :n].double()
        shares.append(local.probabilities[:, :n].double())
        statistics.append(part.weight * torch.cat([t_x, t_x.new_ones(*t_x.shape[:2], 2)], -1))
        means.append(local.mean[:, :n])
        if part.answers is not None:
            i, j, worker, label = part.answers.i, part.answers.j, part.answers.worker, part.answers.label
    weight = means[0].new_zeros(model.num_restarts, 0)
    if len(i):
        expected = model.globals.expected()
        weight = pair_evidence(expected.sensitivity, expected.specificity, worker, label).weight
    return Items(
        torch.cat(shares, 1), torch.cat(statistics, 1), torch.cat(means, 1).cpu().numpy(),
        i.cpu().numpy(), j.cpu().numpy(), weight.detach().cpu().double().numpy(),
    )  # fmt: skip
