"""Clusters joined where views cross from one to another, against the evidence that the union loses.

A link is an item with its view (models/views.py). Links inside a cluster cost nothing; one between two clusters speaks
for their union with the log odds ``weight``, and so do answers with theirs, for it or against it. What the union loses
is exact: the evidence of the conjugate mixture.
"""

import numpy as np
import torch
from torch import Tensor

from semicrowd.expfam import normal_inverse_wishart


def count_links(clusters: np.ndarray, of_views: np.ndarray, num_clusters: int) -> np.ndarray:
    """Items of one cluster with a view in another, in either order: [K, K], symmetric, from [N] and [N]."""
    links = np.zeros((num_clusters, num_clusters))
    np.add.at(links, (clusters, of_views), 1)
    return links + links.T


def evidence_of_clusters(statistics: Tensor, prior: Tensor) -> Tensor:
    """Of each cluster's items and of their share in ln p(z) at the most likely π, up to a constant.

    Parameters
    ----------
    statistics : [..., F], sums of (t(x), 1, 1)
    prior : [F], natural parameter of p(μ, Σ)
    """
    constant = normal_inverse_wishart.log_partition(prior)
    shares = torch.special.xlogy(statistics[..., -1], statistics[..., -1])
    return normal_inverse_wishart.log_partition(prior + statistics) - constant + shares


def join_by_links(
    statistics: Tensor, prior: Tensor, links: np.ndarray, weight: float, odds: np.ndarray | None = None
) -> tuple[np.ndarray, float]:
    """Join clusters pair by pair, that first which pays least evidence for a link, while it pays less than ``weight``.

    Parameters
    ----------
    statistics : [K, F], see :func:`evidence_of_clusters`
    prior : [F]
    links : [K, K], from :func:`count_links`
    weight : nats that a link between two clusters is worth
    odds : [K, K], log odds of the answers between clusters (crowd/cells.py), or None

    Returns
    -------
    name : [K] int, the cluster that each belongs to now
    evidence : log evidence of the mixture, of the links and of the answers within its clusters, up to a constant
    """
    statistics, links = statistics.clone(), links.copy()
    odds = np.zeros_like(links) if odds is None else odds.copy()
    name, left = np.arange(len(statistics)), [int(k) for k in torch.nonzero(statistics[:, -1] > 0)]
    while len(left) > 1:
        single = evidence_of_clusters(statistics[left], prior)
        union = evidence_of_clusters(statistics[left][:, None] + statistics[left], prior)
        loss = (single[:, None] + single - union).numpy() - odds[np.ix_(left, left)]
        number = links[np.ix_(left, left)]
        price = np.where(number > 0, loss / np.maximum(number, 1), np.where(loss < 0, loss, np.inf))
        np.fill_diagonal(price, np.inf)
        a, b = np.unravel_index(price.argmin(), price.shape)
        if price[a, b] >= weight:
            break
        keep, gone = left[a], left.pop(b)
        statistics[keep] += statistics[gone]
        statistics[gone] = 0
        for between in (links, odds):
            between[keep] += between[gone]
            between[:, keep] += between[:, gone]
            between[gone], between[:, gone] = 0, 0
        name[name == gone] = keep
    mixture = evidence_of_clusters(statistics[statistics[:, -1] > 0], prior).sum()
    return name, float(mixture) + (weight * links + odds).trace() / 2
