"""A margin between each item's cluster and the best of the others: the max-margin Dirichlet process mixture.

Chen, Zhu & Zhang 2014, "Robust Bayesian max-margin clustering" (NIPS). Cluster k has weights η_k ~ N(0, w I) and gives
item i the score f_ik = x_i · η_k; with the best rival s = argmax_{l ≠ z_i} f_il the item weighs
exp(−2 c max(0, ℓ − f_{i z_i} + f_is)). In each η_k with all others held this is a hinge for every item: of
ℓ − f_ik + the best other for the cluster's own, of f_ik − max(f_{i z_i} − ℓ, the best third) for all others. So 1/λ_i ~
InverseGaussian(1 / (c |ζ_i|), 1) of the hinge's argument ζ_i makes it Gaussian in η_k, whatever the number of clusters.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from semicrowd.inference.gibbs.chain import Chain
from semicrowd.inference.gibbs.hyperplanes import Hyperplanes, reciprocal_scales


@dataclass(frozen=True)
class Margins(Hyperplanes):
    """Weight vectors in the place of hyperplanes.

    Attributes
    ----------
    cost : c
    margin : ℓ
    """

    cost: float = 1.0
    margin: float = 1.0

    def redraw(
        self, eta: Float[np.ndarray, "K r"], y: Float[np.ndarray, "N K"], rng: np.random.Generator
    ) -> Float[np.ndarray, "K r"]:
        """A step of the vectors of all clusters, one after the other; y is 1 in the column of an item's own."""
        z, rows = y.argmax(1), np.arange(len(y))
        eta, score = eta.copy(), self.items @ eta.T
        if len(eta) == 1:  # without a rival there is no margin
            return self.drawn(np.zeros(y.shape), np.zeros(y.shape), eta, rng)
        for cluster in range(len(eta)):
            own = z == cluster
            side = np.where(own, 1.0, -1.0)
            others = score.copy()
            others[:, cluster] = -np.inf
            others[rows[~own], z[~own]] -= self.margin
            # Of its own items ζ = ℓ − f + the best other; those of others pay as f passes the best rival and f_iz − ℓ.
            best = others.max(1)
            offset = np.where(own, self.margin + best, -best)
            scale = reciprocal_scales(self.cost * np.abs(offset - side * score[:, cluster]), rng)
            weight = self.cost**2 * scale
            linear = self.cost * side * (1 + self.cost * offset * scale)
            eta[cluster] = self.drawn(weight[:, None], linear[:, None], eta[cluster][None], rng)[0]
            score[:, cluster] = self.items @ eta[cluster]
        return eta


def best_rival(
    score: Float[np.ndarray, "N K"], z: Int[np.ndarray, "N"]
) -> tuple[Int[np.ndarray, "N"], Float[np.ndarray, "N"]]:
    """The cluster of highest score but an item's own, and that score, −∞ where there is no other."""
    others = score.copy()
    others[np.arange(len(z)), z] = -np.inf
    rival = others.argmax(1)
    return rival, others[np.arange(len(z)), rival]


def log_margins(
    score: Float[np.ndarray, "N H"], rivals: Int[np.ndarray, "K"], cost: float, margin: float
) -> Float[np.ndarray, "N H"]:
    """−2 c max(0, ℓ − f_ih + the best of the rivals other than h): what an item weighs in the cluster of h."""
    best = np.full(score.shape, -np.inf)
    if len(rivals):
        of_rivals = score[:, rivals]
        top = of_rivals.argmax(1)
        best[:] = of_rivals.max(1, keepdims=True)
        rows = np.arange(len(score))
        best[rows, rivals[top]] = best_rival(of_rivals, top)[1]
    return -2 * cost * np.maximum(0, margin - score + best)


class MarginChain(Chain):
    """A chain whose clusters are separated by margins; the rivals are those that have items when a sweep begins."""

    def _tilt(self) -> np.ndarray:
        planes = self.model.planes
        assert isinstance(planes, Margins)
        rivals = self.plane[np.unique(self.z[self.z >= 0])]
        return log_margins(planes.items @ self.eta.T, rivals, planes.cost, planes.margin)
