"""The conjugate Gaussian mixture given a hard partition: its posterior, its evidence, the loss by a union,
and proposed splits of a cluster into two halves.

The F = d + d² + 2 statistics of a cluster are the sums of (t(x), 1, 1) over its items (SCDC paper, App. A).
"""

from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from sklearn.cluster import KMeans
from torch import Tensor

from semicrowd.crowd.orientation import signed_embedding
from semicrowd.expfam import dirichlet, normal_inverse_wishart

#: κ of p(μ, Σ) = NIW(0, κ, (d + c) I, d + c) (App. B: S = (d + κ) I, ν = d + κ).
PRIOR_KAPPA = 0.5
#: c of this prior.
PRIOR_DEGREES = 0.5
#: Interpretations of "α₀ = 0.05/K" (docs/DEVIATIONS.md). ``corrected``: as the natural parameter, as in SVAE, which
#: the paper follows; ``released``: the value in the authors' MNIST code; ``paper``: as printed, a sparse prior.
CONCENTRATIONS = {"corrected": lambda K: 1 + 0.05 / K, "released": lambda _: 1.05, "paper": lambda K: 0.05 / K}


class Mixture(NamedTuple):
    """Natural parameters of π and of (μ, Σ), prior or posterior, in float64; a common prior has axes of size 1."""

    pi: Float[Tensor, "#R K"]
    components: Float[Tensor, "#R #K F"]

    def log_partition(self) -> Float[Tensor, "R"]:
        """Sum of ln Z of all factors. For the posterior given a partition: its log evidence, up to a constant."""
        components = normal_inverse_wishart.log_partition(self.components)
        return dirichlet.log_partition(self.pi) + components.sum(-1)


def niw_natural(location: Float[Tensor, "*batch d"], kappa: float, degrees: float) -> Float[Tensor, "*batch F"]:
    """Natural parameter of NIW(m, κ, (d + c) I, d + c), c = ``degrees``."""
    batch, d = location.shape[:-1], location.shape[-1]
    nu = torch.full(batch, d + degrees, dtype=location.dtype)
    scale = nu[..., None, None] * torch.eye(d, dtype=location.dtype)
    return normal_inverse_wishart.to_natural(location, torch.full(batch, kappa, dtype=location.dtype), scale, nu)


def mixture_prior(concentration: str, num_clusters: int, latent_dim: int) -> Mixture:
    """p(π), [1, K], by one of :data:`CONCENTRATIONS`, and p(μ, Σ), [1, 1, F]."""
    alpha = torch.full((1, num_clusters), CONCENTRATIONS[concentration](num_clusters), dtype=torch.float64)
    location = torch.zeros(1, 1, latent_dim, dtype=torch.float64)
    return Mixture(dirichlet.to_natural(alpha), niw_natural(location, PRIOR_KAPPA, PRIOR_DEGREES))


def partition_posterior(
    prior: Mixture,
    t_x: Float[Tensor, "R N S"],
    clusters: Int[Tensor, "R N"],
    weights: Float[Tensor, "N"] | None = None,
) -> Mixture:
    """The exact conjugate posterior of π and (μ, Σ) given assignments (eqs. 26 and 27 at ρ = 1), from E t(x).

    An item of weight w counts as w items; without ``weights`` all are 1.
    """
    num_clusters = prior.pi.shape[-1]
    one_hot = torch.nn.functional.one_hot(clusters.long().to(t_x.device), num_clusters).to(torch.float64)
    if weights is not None:
        one_hot = weights[:, None] * one_hot
    statistics = torch.cat([t_x, t_x.new_ones(*t_x.shape[:2], 2)], -1).double()
    pi, components = (eta.to(t_x.device) for eta in prior)
    return Mixture(pi + one_hot.sum(1), components + one_hot.mT @ statistics)


def union_gains(eta: Float[Tensor, "C F"], prior: Float[Tensor, "F"]) -> Float[Tensor, "C C"]:
    """Change of ln p(x) if two clusters become one, from the clusters' posteriors; it is mostly negative."""
    single = normal_inverse_wishart.log_partition(eta)
    union = normal_inverse_wishart.log_partition(eta[:, None] + eta[None] - prior)
    return union + normal_inverse_wishart.log_partition(prior) - single[:, None] - single[None]


def evidence_of_clusters(statistics: Float[Tensor, "*batch F"], prior: Float[Tensor, "F"]) -> Float[Tensor, "*batch"]:
    """ln p(x) of each cluster's items, plus their part of ln p(z) at the most likely π, up to a constant."""
    constant = normal_inverse_wishart.log_partition(prior)
    shares = torch.special.xlogy(statistics[..., -1], statistics[..., -1])
    return normal_inverse_wishart.log_partition(prior + statistics) - constant + shares


#: Minimal number of items in a half.
LEAST_ITEMS = 2
#: Number of initialisations of 2-means. Their seed is fixed, so that proposals depend on the items alone.
_STARTS = 3
#: In whitening, the least eigenvalue of a cluster's covariance relative to the largest; smaller ones are set to it.
_NARROW = 1e-3


class Items(NamedTuple):
    """The posterior of items, and the answers about them.

    Attributes
    ----------
    shares : q(z)
    statistics : (E t(x), 1, 1) times the number of items that the item stands for
    means : E x
    i, j : indices of the two items of each answer
    weight : log odds in nats, given the answer, that they are in the same cluster
    """

    shares: Float[Tensor, "R n K"]
    statistics: Float[Tensor, "R n F"]
    means: Float[np.ndarray, "R n d"]
    i: Int[np.ndarray, "P"]
    j: Int[np.ndarray, "P"]
    weight: Float[np.ndarray, "R P"]


class Cut(NamedTuple):
    """A proposal to move some of the items of ``cluster`` to another cluster.

    Attributes
    ----------
    gain : in nats, see :func:`cut_gain`
    rows : indices of the items that move
    kept, gone : sums of (E t(x), 1, 1) over the items that stay and over those that move
    """

    gain: float
    cluster: int
    rows: Int[np.ndarray, "moving"]
    kept: Float[Tensor, "F"]
    gone: Float[Tensor, "F"]


def cuts(items: Items, restart: int, prior: Float[Tensor, "F"]) -> list[Cut]:
    """Proposed cuts of every cluster in use: two by the latent means, one by the answers."""
    proposals = []
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
                proposals.append(Cut(gain, cluster, rows[half], totals[cluster] - gone, gone))
    return proposals


def cut_by_means(means: Float[np.ndarray, "n d"], *, whitened: bool) -> Bool[np.ndarray, "n"]:
    """2-means of a cluster's latent means.

    Without whitening, the cut is across the direction of largest variance. With whitening all directions have the same
    variance, so the cut is across the direction in which the items form two groups most clearly.
    """
    points = means.astype(np.float64) - means.mean(0)
    if whitened:
        values, vectors = np.linalg.eigh(np.cov(points.T, bias=True).reshape(means.shape[1], -1))
        points = points @ vectors / np.sqrt(np.maximum(values, max(_NARROW * values.max(), 1e-300)))
    return KMeans(2, n_init=_STARTS, random_state=0).fit_predict(points).astype(bool)


def cut_by_answers(
    means: Float[np.ndarray, "n d"],
    i: Int[np.ndarray, "P"],
    j: Int[np.ndarray, "P"],
    weight: Float[np.ndarray, "P"],
) -> Bool[np.ndarray, "n"] | None:
    """2-means of the signed spectral embedding of the answers within a cluster; None if they give no two groups.

    Items without answers go to the half whose mean is nearer.

    Parameters
    ----------
    i, j, weight : the items of each answer between the n items, and the log odds w that they are in one cluster
    """
    known, place = np.unique(np.concatenate([i, j]), return_inverse=True)
    if not (weight < 0).any() or len(known) < 2 * LEAST_ITEMS:
        return None
    a, b = place.reshape(2, -1)
    embedding = signed_embedding(a, b, weight, len(known), 2)
    half = KMeans(2, n_init=_STARTS, random_state=0).fit_predict(embedding).astype(bool)
    if half.all() or not half.any():
        return None
    of_halves = np.stack([means[known[half == side]].mean(0) for side in (False, True)])
    whole = np.square(means[:, None] - of_halves).sum(-1).argmin(1).astype(bool)
    whole[known] = half
    return whole


def cut_gain(
    statistics: Float[Tensor, "n F"],
    half: Bool[np.ndarray, "n"],
    prior: Float[Tensor, "F"],
    ends: tuple[Int[np.ndarray, "P"], Int[np.ndarray, "P"]],
    weight: Float[np.ndarray, "P"],
) -> float:
    """Gain of a cut in nats: the gain in the items' evidence, minus the log odds of the answers across the cut.

    Parameters
    ----------
    statistics : (E t(x), 1, 1) of the cluster's items, each times its q(z) of the cluster
    ends, weight : the two items of each answer within the cluster, and its log odds
    """
    side = torch.from_numpy(half).to(statistics.device)
    halves = torch.stack([statistics[~side].sum(0), statistics[side].sum(0)])
    evidence = evidence_of_clusters(halves, prior).sum() - evidence_of_clusters(halves.sum(0), prior)
    return float(evidence) - float(weight[half[ends[0]] != half[ends[1]]].sum())
