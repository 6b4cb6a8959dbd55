"""EM of Gaussian mixtures in which the clusters of some items are known."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int
from scipy.special import softmax

#: Iterations of EM, at most.
_ITERATIONS = 10
#: EM ends when no probability changes by more.
_TOLERANCE = 1e-2
#: Prior precision of a mean, in pseudo-items (Fraley & Raftery 2007).
_KAPPA = 0.01


class Gaussians:
    """A mixture whose prior of means and covariances is that of Fraley & Raftery 2007, section 3.

    κ = .01, ν = d + 2, S = diag(variance) K^(−2/d).

    Parameters
    ----------
    variance : [d]
    shared : one covariance for all clusters (linear borders), or one for each
    """

    def __init__(self, x: Float[np.ndarray, "N d"], variance: np.ndarray, *, shared: bool) -> None:
        self.x, self.variance = x, variance
        self.outer = None if shared else _outer(x)
        self.total = x.T @ x

    def fit(
        self, items: Int[np.ndarray, "n"], known: Float[np.ndarray, "n K"], probabilities: Float[np.ndarray, "N K"]
    ) -> "Mode":
        """Fit from initial probabilities of all items; ``known`` ones stay."""
        for _ in range(_ITERATIONS):
            held = probabilities.copy()
            held[items] = known
            mode = self.mode(held)
            before, probabilities = probabilities, softmax(mode.log_density(self.x, self.outer), axis=1)
            if np.abs(probabilities - before).max() < _TOLERANCE:
                break
        return mode

    def mode(self, z: Float[np.ndarray, "N K"]) -> "Mode":
        """The posterior mode given z."""
        x, (items, d), size = self.x, self.x.shape, z.sum(0)
        mean = (z.T @ x) / (size + _KAPPA)[:, None]
        prior = np.diag(self.variance) * len(size) ** (-2 / d)
        log_share = np.log((size + 1) / (items + len(size)))
        if self.outer is None:
            scatter = self.total - (mean * (size + _KAPPA)[:, None]).T @ mean + prior
            pull = mean @ np.linalg.inv(scatter / (items + 2 * d + 4))
            return Mode(pull, log_share - 0.5 * (pull * mean).sum(1), None)
        outer = (size + _KAPPA)[:, None, None] * mean[:, :, None] * mean[:, None]
        scatter = (z.T @ self.outer).reshape(-1, d, d) - outer + prior
        precision = np.linalg.inv(scatter / (size + 2 * d + 4)[:, None, None])
        pull = np.einsum("kde,ke->kd", precision, mean)
        constant = log_share + 0.5 * np.linalg.slogdet(precision)[1] - 0.5 * (pull * mean).sum(1)
        return Mode(pull, constant, precision.reshape(len(size), -1))


class Mode(NamedTuple):
    """ln π_k + ln N(x | μ_k, Σ_k), up to a constant of each item, as a polynomial of x."""

    pull: Float[np.ndarray, "K d"]
    constant: Float[np.ndarray, "K"]
    precision: Float[np.ndarray, "K d*d"] | None

    def log_density(self, x: Float[np.ndarray, "n d"], outer: np.ndarray | None = None) -> Float[np.ndarray, "n K"]:
        """Log densities of items, for each cluster; ``outer`` is x xᵀ of each, if it was computed before."""
        found = x @ self.pull.T + self.constant
        if self.precision is not None:
            found -= 0.5 * (_outer(x) if outer is None else outer) @ self.precision.T
        return found


def _outer(x: Float[np.ndarray, "n d"]) -> Float[np.ndarray, "n d*d"]:
    return np.einsum("nd,ne->nde", x, x).reshape(len(x), -1)
