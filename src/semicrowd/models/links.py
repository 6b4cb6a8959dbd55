"""Clusters joined where views cross from one to another, against the evidence that the union loses.

A link is an item with its view (models/views.py). Links inside a cluster cost nothing; one between two clusters speaks
for their union with the log odds ``weight``. What the union loses is exact: the evidence of the conjugate mixture.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from semicrowd.expfam import normal_inverse_wishart
from semicrowd.random import torch_stream

if TYPE_CHECKING:
    from semicrowd.models.bayes import BayesSCDC


def count_links(clusters: np.ndarray, of_views: np.ndarray, num_clusters: int) -> np.ndarray:
    """Items of one cluster with a view in another, in either order: [K, K], symmetric, from [N] and [N]."""
    links = np.zeros((num_clusters, num_clusters))
    np.add.at(links, (clusters, of_views), 1)
    return links + links.T


@torch.no_grad()
def join_by_links(eta: Tensor, prior: Tensor, links: np.ndarray, weight: float) -> tuple[np.ndarray, float]:
    """Join clusters pair by pair, that first which pays least evidence for a link, while it pays less than ``weight``.

    Parameters
    ----------
    eta : [K, F], natural parameters of the components' posteriors (their last entry counts the items)
    prior : [F]
    links : [K, K], from :func:`count_links`
    weight : nats that a link between two clusters is worth

    Returns
    -------
    name : [K] int, the cluster that each belongs to now
    evidence : log evidence of the joined mixture and its links, up to a constant
    """
    statistics, links = (eta - prior).clone(), links.copy()
    name, left = np.arange(len(eta)), [int(k) for k in torch.nonzero(statistics[:, -1] > 1)]
    constant = normal_inverse_wishart.log_partition(prior)

    def evidence_of(statistic: Tensor) -> Tensor:
        """Of one cluster's items and of their share in ln p(z), at the most likely π."""
        count = statistic[..., -1]
        shares = torch.special.xlogy(count, count / count.new_tensor(len(statistics)))
        return normal_inverse_wishart.log_partition(prior + statistic) - constant + shares

    while len(left) > 1:
        single = evidence_of(statistics[left])
        union = evidence_of(statistics[left][:, None] + statistics[left])
        price = (single[:, None] + single - union).numpy() / np.maximum(links[np.ix_(left, left)], 1)
        np.fill_diagonal(price, np.inf)
        a, b = np.unravel_index(price.argmin(), price.shape)
        if price[a, b] >= weight:
            break
        keep, gone = left[a], left.pop(b)
        statistics[keep] += statistics[gone]
        links[keep] += links[gone]
        links[:, keep] += links[:, gone]
        name[name == gone] = keep
    inside = sum(links[k, k] for k in left) / 2
    return name, float(evidence_of(statistics[left]).sum()) + weight * inside


@torch.no_grad()
def link_moves(model: BayesSCDC) -> int:
    """Join the clusters of a BayesSCDC by the views of all items, networks fixed; returns how many are gone."""
    views = model.views
    assert views is not None
    noise = torch_stream(model.seed, "evaluation", 2, model.current_epoch, device=model.device)
    clusters, of_views = [], []
    for features in model.chunks(model.features):
        clusters.append(model.posterior(features).probabilities.argmax(-1))
        of_views.append(model.posterior(views.of(features, noise)).probabilities.argmax(-1))
    gone = 0
    for restart, (own, other) in enumerate(zip(torch.cat(clusters, 1), torch.cat(of_views, 1), strict=True)):
        links = count_links(own.numpy(), other.numpy(), model.num_clusters)
        eta = model.globals.eta["components"]
        name, _ = join_by_links(eta[restart].cpu(), model.globals.prior("components")[0, 0].cpu(), links,
                                views.settings.join_weight)  # fmt: skip
        for old in np.flatnonzero(name != np.arange(len(name))):
            model.globals.unite(restart, int(name[old]), int(old))
            gone += 1
    return gone
