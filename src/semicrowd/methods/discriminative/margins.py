"""A margin between each item's cluster and the best of the others: the max-margin Dirichlet process mixture.

Chen, Zhu & Zhang 2014, "Robust Bayesian max-margin clustering" (NIPS). Cluster k has weights η_k ~ N(0, w I) and gives
item i the score f_ik = x_i · η_k. With the best rival s = argmax_{l ≠ z_i} f_il, the likelihood of the item is
exp(−2 c max(0, ℓ − f_{i z_i} + f_is)). In η_k it is a hinge exp(−2 c max(0, ζ_i)), where ζ_i =
ℓ − f_ik + max_{l ≠ k} f_il if z_i = k, else f_ik − max(f_{i z_i} − ℓ, max_{l ∉ {k, z_i}} f_il). Auxiliary variables
1/λ_i ~ InverseGaussian(1 / (c |ζ_i|), 1) make it Gaussian in η_k, for any number of clusters.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from semicrowd.inference.gibbs.hyperplanes import Hyperplanes, reciprocal_scales


@dataclass(frozen=True)
class Margins(Hyperplanes):
    """Weight vectors of clusters, which replace hyperplanes.

    Attributes
    ----------
    cost : c
    margin : ℓ
    """

    cost: float = 1.0
    margin: float = 1.0

    def log_ratio(self, eta: Float[np.ndarray, "H r"], rivals: Int[np.ndarray, "K"]) -> Float[np.ndarray, "N H"]:
        """:func:`log_margins` of the items' scores."""
        return log_margins(self.items @ eta.T, rivals, self.cost, self.margin)

    def redraw(
        self, eta: Float[np.ndarray, "K r"], y: Float[np.ndarray, "N K"], rng: np.random.Generator
    ) -> Float[np.ndarray, "K r"]:
        """Sample the weight vectors of all clusters in turn; y is 1 in the column of an item's cluster, else −1."""
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
            # ζ = ℓ − f + ``best`` for items of this cluster, ζ = f − ``best`` for the others.
            best = others.max(1)
            offset = np.where(own, self.margin + best, -best)
            scale = reciprocal_scales(self.cost * np.abs(offset - side * score[:, cluster]), rng)
            weight = self.cost**2 * scale
            linear = self.cost * side * (1 + self.cost * offset * scale)
            eta[cluster] = self.drawn(weight[:, None], linear[:, None], eta[cluster][None], rng)[0]
            score[:, cluster] = self.items @ eta[cluster]
        return eta


def log_margins(
    score: Float[np.ndarray, "N H"], rivals: Int[np.ndarray, "K"], cost: float, margin: float
) -> Float[np.ndarray, "N H"]:
    """Log-weight of item i in the cluster of h: −2 c max(0, ℓ − f_ih + the highest score of rivals other than h)."""
    best = np.full(score.shape, -np.inf)
    if len(rivals):
        of_rivals = score[:, rivals]
        top = of_rivals.argmax(1)
        best[:] = of_rivals.max(1, keepdims=True)
        rows = np.arange(len(score))
        of_rivals[rows, top] = -np.inf  # a copy of the scores
        best[rows, rivals[top]] = of_rivals.max(1)
    return -2 * cost * np.maximum(0, margin - score + best)
