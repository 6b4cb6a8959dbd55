"""Classifiers of all items from clusters of some: what is known of the annotated ones, spread by the features.

Each takes rows of items and their cluster probabilities [n, K] and gives probabilities [N, K] of all items, those rows
too, each from its features alone. They differ in what they expect of the features: straight borders, neighbours of one
kind, Gaussian clusters, or what a network can learn.
"""

import warnings
from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np
import torch
from jaxtyping import Float, Int
from scipy import sparse
from scipy.special import softmax
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from semicrowd.starts.answer_classifier import average_of_learners, held_out
from semicrowd.starts.neighbours import neighbour_graph

#: Probability of a cluster that a classifier has not seen.
_LEAST = 1e-9
#: Least variance of a column that the prior takes for one, as a share of the largest.
_FLATTEST = 1e-6
#: Known items that a Gaussian needs, of a cluster that is in use.
_FEWEST = 0.5
#: Neighbours of an item; share of an item's probabilities that comes from them; steps along the graph.
_NEIGHBOURS, _FROM_NEIGHBOURS, _STEPS = 7, 0.8, 40
#: Iterations of EM, and the change of a probability at which they end.
_ITERATIONS, _TOLERANCE = 10, 1e-2
#: The same of the shares of a mixture of classifiers, whose steps cost nothing.
_SHARE_ITERATIONS = 100
#: Pseudo-items of a Gaussian's mean (Fraley & Raftery 2007).
_KAPPA = 0.01
#: Powers of probabilities, and the share of the clusters' sizes that is mixed in; the least share of a mixture, and
#: items that speak for each classifier before any has spoken: thirty items can't tell the best of four.
_POWERS, _DOUBT, _LEAST_SHARE, _ALIKE = (0.25, 0.5, 1.0, 2.0, 4.0), 0.02, 0.02, 5.0


class Spread(ABC):
    """One way to come from some items to all."""

    @abstractmethod
    def __call__(self, items: Int[np.ndarray, "n"], known: Float[np.ndarray, "n K"]) -> Float[np.ndarray, "N K"]:
        """Cluster probabilities of all items from those of some."""

    def out_of_sample(
        self, items: Int[np.ndarray, "n"], known: Float[np.ndarray, "n K"], fold: Int[np.ndarray, "n"]
    ) -> Float[np.ndarray, "n K"]:
        """Those of each known item from the known items of the other folds."""
        found = np.empty_like(known)
        for one in range(int(fold.max()) + 1):
            rest = fold != one
            found[~rest] = self(items[rest], known[rest])[items[~rest]]
        return found


class LogisticSpread(Spread):
    """Multinomial logistic regression with a ridge penalty, on the most probable clusters."""

    def __init__(self, features: Float[np.ndarray, "N D"]) -> None:
        self.features = features

    def __call__(self, items: np.ndarray, known: np.ndarray) -> np.ndarray:
        """See :class:`Spread`."""
        found = np.full((len(self.features), known.shape[1]), _LEAST)
        clusters = known.argmax(1)
        if (clusters == clusters[0]).all():
            found[:, clusters[0]] = 1.0
            return found
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # a rough one is as good
            regression = LogisticRegression(max_iter=200).fit(self.features[items], clusters)
        found[:, regression.classes_] = regression.predict_proba(self.features)
        return found


class NeighbourSpread(Spread):
    """Local and global consistency (Zhou et al. 2004) on the graph of nearest neighbours.

    F ← a S F + (1 − a) Y with S = D^(−½) W D^(−½), as scikit-learn's LabelSpreading, which takes no probabilities.
    """

    def __init__(self, features: Float[np.ndarray, "N D"]) -> None:
        nearest = neighbour_graph(features, _NEIGHBOURS).sign()
        scale = sparse.diags_array(1 / np.sqrt(np.asarray(nearest.sum(1)).ravel()))
        self.graph = (scale @ nearest @ scale).tocsr()

    def __call__(self, items: np.ndarray, known: np.ndarray) -> np.ndarray:
        """See :class:`Spread`."""
        said = np.zeros((self.graph.shape[0], known.shape[1]))
        said[items] = known
        found = said
        for _ in range(_STEPS):
            found = _FROM_NEIGHBOURS * (self.graph @ found) + (1 - _FROM_NEIGHBOURS) * said
        found = found + 1e-6 * known.mean(0)  # items that no path leads to
        return found / found.sum(1, keepdims=True)


class GaussianSpread(Spread):
    """Semi-supervised discriminant analysis: a Gaussian mixture by EM on all items, the known ones held.

    The prior of means and covariances is that of Fraley & Raftery 2007, section 3: κ = .01, ν = d + 2,
    S = diag(variances) K^(−2/d). EM begins with what neighbours say.

    Parameters
    ----------
    features : principal components, the largest first
    dims : of them are looked at
    shared : one covariance for all clusters (linear borders), or one for each
    """

    def __init__(
        self, features: Float[np.ndarray, "N D"], neighbours: NeighbourSpread, dims: int, *, shared: bool
    ) -> None:
        self.x = features[:, :dims].astype(np.float64)
        self.neighbours = neighbours
        self.outer = None if shared else np.einsum("nd,ne->nde", self.x, self.x).reshape(len(self.x), -1)
        variance = self.x.var(0)
        self.variance = np.maximum(variance, _FLATTEST * (variance.max() or 1.0))
        self.total = self.x.T @ self.x

    def __call__(self, items: np.ndarray, known: np.ndarray) -> np.ndarray:
        """See :class:`Spread`."""
        seen = known.sum(0) > _FEWEST
        found = self.neighbours(items, known)[:, seen]
        for _ in range(_ITERATIONS):
            held = found.copy()
            held[items] = known[:, seen]
            before, found = found, softmax(self._log_density(held), axis=1)
            if np.abs(found - before).max() < _TOLERANCE:
                break
        everywhere = np.full((len(found), len(seen)), _LEAST)
        everywhere[:, seen] = found
        return everywhere

    def _log_density(self, z: Float[np.ndarray, "N K"]) -> Float[np.ndarray, "N K"]:
        """ln π_k + ln N(x | μ_k, Σ_k) at the posterior mode given z, up to a constant of each item."""
        x, (items, d), size = self.x, self.x.shape, z.sum(0)
        mean = (z.T @ x) / (size + _KAPPA)[:, None]
        prior = np.diag(self.variance) * len(size) ** (-2 / d)
        log_share = np.log((size + 1) / (items + len(size)))
        if self.outer is None:
            scatter = self.total - (mean * (size + _KAPPA)[:, None]).T @ mean + prior
            pull = mean @ np.linalg.inv(scatter / (items + 2 * d + 4))
            return x @ pull.T - 0.5 * (pull * mean).sum(1) + log_share
        outer = (size + _KAPPA)[:, None, None] * mean[:, :, None] * mean[:, None]
        scatter = (z.T @ self.outer).reshape(-1, d, d) - outer + prior
        precision = np.linalg.inv(scatter / (size + 2 * d + 4)[:, None, None])
        pull = np.einsum("kde,ke->kd", precision, mean)
        constant = log_share + 0.5 * np.linalg.slogdet(precision)[1] - 0.5 * (pull * mean).sum(1)
        return x @ pull.T - 0.5 * self.outer @ precision.reshape(len(size), -1).T + constant


class NetworkSpread(Spread):
    """The mean of some networks that learn the probabilities, with noise on the features."""

    def __init__(self, features: Float[np.ndarray, "N D"], hidden: Sequence[int], networks: int, seed: int) -> None:
        self.features, self.hidden, self.networks, self.seed = torch.from_numpy(features), hidden, networks, seed

    def __call__(self, items: np.ndarray, known: np.ndarray) -> np.ndarray:
        """See :class:`Spread`."""
        rows, target = torch.from_numpy(items), torch.from_numpy(known).float()[None]
        found = average_of_learners(self.features, rows, target, self.hidden, self.networks, self.seed)
        return found[0].double().numpy()

    def out_of_sample(self, items: np.ndarray, known: np.ndarray, fold: np.ndarray) -> np.ndarray:
        """See :class:`Spread`; with a third of the networks for each fold."""
        told, target = self.features[torch.from_numpy(items)], torch.from_numpy(known).float()[None]
        networks = max(self.networks // 3, 1)
        found = held_out(told, target, torch.from_numpy(fold), self.hidden, networks, self.seed)
        return found[0].double().numpy()


class StackedSpread(Spread):
    """Several classifiers' probabilities mixed (stacking: Wolpert 1992; Breiman 1996).

    The powers that they are raised to, since some are too sure and some not enough, and their shares in the mixture are
    the most probable ones given the known items, each out of sample: :meth:`out_of_sample` finds them, and what is
    asked afterwards takes them over.
    """

    def __init__(self, spreads: Sequence[Spread]) -> None:
        self.spreads = spreads
        self.powers, self.shares = np.ones(len(spreads)), np.full(len(spreads), 1 / len(spreads))

    def __call__(self, items: np.ndarray, known: np.ndarray) -> np.ndarray:
        """See :class:`Spread`."""
        used = np.flatnonzero(self.shares > _LEAST_SHARE)
        found = [raised(self.spreads[int(s)](items, known), self.powers[s]) for s in used]
        return np.tensordot(self.shares[used] / self.shares[used].sum(), found, 1)

    def out_of_sample(self, items: np.ndarray, known: np.ndarray, fold: np.ndarray) -> np.ndarray:
        """See :class:`Spread`."""
        found = [spread.out_of_sample(items, known, fold) for spread in self.spreads]
        self.powers = np.array([max(_POWERS, key=lambda power: _likely(raised(one, power), known)) for one in found])
        found = [raised(one, power) for one, power in zip(found, self.powers, strict=True)]
        for _ in range(_SHARE_ITERATIONS):  # EM
            mixed = self.shares[:, None, None] * found
            whose = mixed / mixed.sum(0)
            self.shares = (whose * known).sum((1, 2)) + _ALIKE
            self.shares /= self.shares.sum()
        return np.tensordot(self.shares, found, 1)


def raised(found: Float[np.ndarray, "n K"], power: float) -> Float[np.ndarray, "n K"]:
    """Probabilities to a power, with the clusters' sizes mixed in: no features are never wrong."""
    powered = np.maximum(found, 1e-12) ** power
    powered /= powered.sum(1, keepdims=True)
    return (1 - _DOUBT) * powered + _DOUBT * powered.mean(0)


def _likely(found: np.ndarray, known: np.ndarray) -> float:
    return float((known * np.log(found)).sum())
