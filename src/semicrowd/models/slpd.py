"""SLPD: fits of one table or of many by variational EM, and what they say of new samples (Li, Ying & Campbell 2009)."""

from collections.abc import Mapping
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor

from semicrowd.inference.slpd import Clusters, Prior, Samples, bound, first_gamma, sweep, update

#: A fit has converged where an iteration gains no more than this share of its bound.
_TOLERANCE = 1e-6
#: Sweeps over new samples, at most.
_SWEEPS = 100
#: Largest change of γ, as a share of a sample's values, that ends them.
_STILL = 1e-4


class Decomposition:
    """F fits side by side, each of one of T tables; a fit that has converged rests.

    Attributes
    ----------
    samples, table : the tables, and which of them each fit is of, [F]
    clusters, gamma : Θ and γ of every fit
    bound : [F], −∞ before the first iteration
    active : [F], whether a fit has not converged yet
    """

    def __init__(
        self, samples: Samples, table: Int[Tensor, "F"], mean: Float[Tensor, "F K G"], first: Int[Tensor, "F D"],
        prior: Prior,
    ) -> None:  # fmt: skip
        """Begin with σ² = 1, α = 1/K and all values of a sample in its cluster of ``first`` (−1: shared evenly)."""
        self.samples, self.table, self.prior = samples, table, prior
        alpha = torch.full_like(mean[..., 0], 1 / mean.shape[1])
        self.clusters = Clusters(mean, torch.ones_like(mean), alpha)
        self.gamma = first_gamma(samples.of(table), self.clusters, first)
        self.bound = torch.full((len(table),), -torch.inf, dtype=mean.dtype)
        self.active = torch.ones(len(table), dtype=torch.bool)
        self._gathered: tuple[Tensor, Samples] | None = None

    def step(self) -> None:
        """One iteration of the fits that are active."""
        fits = self.active.nonzero()[:, 0]
        if not len(fits):
            return
        samples = self._samples_of(fits)
        clusters, gamma = Clusters(*(part[fits] for part in self.clusters)), self.gamma[fits]
        sums = sweep(samples, clusters, gamma)
        value = bound(samples, clusters, gamma, sums, self.prior)
        self.active[fits] = value - self.bound[fits] > _TOLERANCE * value.abs()
        self.bound[fits] = value
        found, gamma = update(samples, clusters, sums, self.prior)
        for old, new in zip((*self.clusters, self.gamma), (*found, gamma), strict=True):
            old[fits] = new

    def _samples_of(self, fits: Tensor) -> Samples:
        if self._gathered is None or len(self._gathered[0]) != len(fits):
            self._gathered = fits, self.samples.of(self.table[fits])
        return self._gathered[1]

    def state(self) -> dict[str, Any]:
        """What the iterations to come depend on."""
        return {"clusters": tuple(self.clusters), "gamma": self.gamma, "bound": self.bound, "active": self.active}

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Go on where :meth:`state` was taken."""
        self.clusters, self.gamma = Clusters(*state["clusters"]), state["gamma"]
        self.bound, self.active = state["bound"], state["active"]


def best_of(bound: Float[Tensor, "R"], clusters: Clusters) -> int:
    """The start with the highest bound; those last whose prior outweighs an item's own values, Σ α > G.

    Their clusters have become alike, and so have the items.
    """
    alike = clusters.concentration.sum(-1) > clusters.mean.shape[-1]
    return max(range(len(bound)), key=lambda start: (not alike[start], float(bound[start])))


def posterior(samples: Samples, clusters: Clusters) -> Float[Tensor, "F C K"]:
    """γ of blocks of new samples with the clusters as they are: eqs. 6 and 7 in turn."""
    gamma = first_gamma(samples, clusters)
    values = (gamma - clusters.concentration[:, None]).sum(-1, keepdim=True).clamp(min=1)
    moving = torch.ones_like(values, dtype=torch.bool)
    for _ in range(_SWEEPS):
        new = clusters.concentration[:, None] + sweep(samples, clusters, gamma).block
        moving = ((new - gamma).abs() > _STILL * values).any(-1, keepdim=True) & moving
        if not moving.any():
            break
        # A block that is still stays as it is: what is found of it does not depend on the others.
        gamma = new.where(moving, gamma)
    return gamma
