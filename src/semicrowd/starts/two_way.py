"""A classifier for features that depend on a second latent factor besides the cluster, as faces on the person.

x = a_k + b_l + c_kl + noise: a two-way analysis of variance with interactions (Searle, Casella & McCulloch 1992) whose
factors are latent. The first factor is the cluster k, known of some items; the second has L levels l, known of none.
"""

import warnings
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int
from scipy.cluster.vq import kmeans2
from scipy.special import gammaln, softmax
from sklearn.cluster import kmeans_plusplus

from semicrowd.random import stream
from semicrowd.starts.gaussians import Gaussians
from semicrowd.starts.item_classifiers import BatchedClassifier, GaussianClassifier, Predictor, in_batches

#: Numbers L of levels of the second factor that are compared; 1: there is no second factor.
_NUM_LEVELS = (1, 6, 24)
#: Clusters × levels, at most.
_MAX_CELLS = 256
#: Known items that are used for training, at most.
_MAX_KNOWN = 1000
#: Unannotated items that are used for training, at most.
_MAX_UNANNOTATED = 1000
#: Training items for each level, at least.
_MIN_ITEMS_PER_LEVEL = 8
#: Expected number of known items from which on a cluster takes part.
_MIN_KNOWN_ITEMS = 0.5
#: Probability of a cluster that takes no part, and lower bound of a known probability.
_MIN_PROBABILITY = 1e-9
#: Iterations of EM, at most.
_ITERATIONS = 5
#: EM ends when no probability changes by more.
_TOLERANCE = 2e-2
#: Prior precision of a_k, in pseudo-items.
_PSEUDO_ITEMS_CLUSTER = 0.01
#: Prior precision of b_l, in pseudo-items.
_PSEUDO_ITEMS_LEVEL = 0.1
#: Prior precision of c_kl, in pseudo-items: interactions are small compared with both main effects.
_PSEUDO_ITEMS_INTERACTION = 10.0
#: Steps of k-means that initialises the levels.
_KMEANS_STEPS = 10


class TwoWays:
    """Variational EM of the two-way mixture.

    Conjugate priors as in starts/gaussians.py: a_k ~ N(0, Σ / .01), b_l ~ N(0, Σ / .1), c_kl ~ N(0, Σ / 10),
    Σ ~ inverse Wishart(d + 2, diag(variance) K^(−2/d)); the independent mixing weights of clusters and of levels
    ~ Dirichlet(2). q(a, b, c | Σ) is exact, Σ and the weights are point estimates, and q factorises into items and
    means, so no step lowers :attr:`TwoWayMode.bound`.

    Parameters
    ----------
    variance : of each column, [d]
    """

    def __init__(self, x: Float[np.ndarray, "N d"], variance: np.ndarray) -> None:
        self.x, self.variance, self.total = x, variance, x.T @ x

    def fit(
        self,
        items: Int[np.ndarray, "n"],
        known: Float[np.ndarray, "n K"],
        probabilities: Float[np.ndarray, "N K"],
        levels: int,
    ) -> "TwoWayMode":
        """Fit from initial probabilities of all items; ``known`` ones are above 0 and stay.

        Levels are initialised as k-means cells of the residuals after the clusters' means.
        """
        z = probabilities.copy()
        z[items] = known
        rest = self.x - z @ ((z.T @ self.x) / (z.sum(0) + _PSEUDO_ITEMS_CLUSTER)[:, None])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # a level without items does no harm
            cells = kmeans2(rest, kmeans_plusplus(rest, levels, random_state=0)[0], _KMEANS_STEPS, minit="matrix")[1]
        joint = z[:, :, None] * np.eye(levels)[cells][:, None]
        log_known = np.zeros_like(z)
        log_known[items] = np.log(known)
        for _ in range(_ITERATIONS):
            mode = self.mode(joint)
            before, joint = joint, _normalised(mode.log_density(self.x) + log_known[:, :, None])
            if np.abs(joint - before).max() < _TOLERANCE:
                break
        return self.mode(joint, log_known)

    def mode(
        self, joint: Float[np.ndarray, "N K L"], log_known: Float[np.ndarray, "N K"] | None = None
    ) -> "TwoWayMode":
        """The posterior mode given probabilities of clusters and levels; with the bound if ``log_known`` is given."""
        (N, K, L), d = joint.shape, self.x.shape[1]
        size, sums = joint.sum(0), (joint.reshape(N, -1).T @ self.x).reshape(K, L, d)
        # Interactions are integrated out: a cell's effective sample size for a_k + b_l is at most the prior's.
        share = _PSEUDO_ITEMS_INTERACTION / (_PSEUDO_ITEMS_INTERACTION + size)
        seen = share * size
        of_clusters, of_levels = seen.sum(1) + _PSEUDO_ITEMS_CLUSTER, seen.sum(0) + _PSEUDO_ITEMS_LEVEL
        precision = np.block([[np.diag(of_clusters), seen], [seen.T, np.diag(of_levels)]])
        covariance_of_effects = np.linalg.inv(precision)
        weighted = share[..., None] * sums
        ab = covariance_of_effects @ np.concatenate([weighted.sum(1), weighted.sum(0)])
        additive = ab[:K, None] + ab[None, K:]
        mean = share[..., None] * additive + (1 / (_PSEUDO_ITEMS_INTERACTION + size))[..., None] * sums
        alone = np.diag(covariance_of_effects)
        of_additive = alone[:K, None] + alone[None, K:] + 2 * covariance_of_effects[:K, K:]
        mean_variance = 1 / (_PSEUDO_ITEMS_INTERACTION + size) + share**2 * of_additive
        scatter = self.total - sums.reshape(-1, d).T @ mean.reshape(-1, d)
        scatter = (scatter + scatter.T) / 2 + np.diag(self.variance) * K ** (-2 / d)
        covariance = scatter / (N + 2 * d + 4)
        pull = np.linalg.solve(covariance, mean.reshape(-1, d).T).T.reshape(K, L, d)
        log_k, log_l = (np.log((one + 1) / (N + len(one))) for one in (size.sum(1), size.sum(0)))
        constant = log_k[:, None] + log_l - 0.5 * (pull * mean).sum(-1) - 0.5 * d * mean_variance
        if log_known is None:
            return TwoWayMode(pull, constant, np.nan)
        means = np.linalg.slogdet(precision)[1] - K * np.log(_PSEUDO_ITEMS_CLUSTER)
        means = means - L * np.log(_PSEUDO_ITEMS_LEVEL) - np.log(share).sum()
        bound = -0.5 * d * means - 0.5 * (N + 2 * d + 4) * np.linalg.slogdet(covariance)[1]
        bound += ((size.sum(1) + 1) @ log_k) + ((size.sum(0) + 1) @ log_l) + gammaln(2 * K) + gammaln(2 * L)
        bound += (joint.sum(2) * log_known).sum() - (joint * np.log(np.maximum(joint, 1e-300))).sum()
        return TwoWayMode(pull, constant, bound + gammaln(L + 1))  # L! labellings of the levels


class TwoWayMode(NamedTuple):
    """E ln π_k ρ_l N(x | a_k + b_l + c_kl, Σ), up to a constant of each item, as a polynomial of x.

    Attributes
    ----------
    bound : lower bound of ln p(features, known clusters | L), up to a constant that does not depend on L
    """

    pull: Float[np.ndarray, "K L d"]
    constant: Float[np.ndarray, "K L"]
    bound: float

    def log_density(self, x: Float[np.ndarray, "n d"]) -> Float[np.ndarray, "n K L"]:
        """Log densities of items, for each cluster and level."""
        K, L, d = self.pull.shape
        return (x @ self.pull.reshape(-1, d).T).reshape(-1, K, L) + self.constant

    def probabilities(self, x: Float[np.ndarray, "n d"]) -> Float[np.ndarray, "n K"]:
        """Cluster probabilities, summed over levels."""
        return _normalised(self.log_density(x)).sum(2)


def _normalised(log_p: Float[np.ndarray, "N K L"]) -> Float[np.ndarray, "N K L"]:
    probabilities: np.ndarray = softmax(log_p.reshape(len(log_p), -1), axis=1).reshape(log_p.shape)
    return probabilities


class TwoWayClassifier(BatchedClassifier):
    """Classifies by the two-way mixture with the number of levels whose bound is highest.

    The number is chosen once for each number of clusters, to save time. With one level the classifier is
    ``one_level``. Training uses a sample of the items, so its time does not depend on their number.

    Parameters
    ----------
    features : columns of which ``one_level`` uses the first
    one_level : the Gaussian mixture with one covariance for all clusters, without a second factor
    """

    def __init__(self, features: Float[np.ndarray, "N D"], one_level: GaussianClassifier) -> None:
        super().__init__(len(features))
        self.one_level = one_level
        self.sample = stream(0, "two_way/sample").permutation(len(features))[:_MAX_UNANNOTATED]
        self.levels: dict[int, int] = {}

    def learn(self, items: np.ndarray, known: np.ndarray) -> Predictor:
        """See :class:`ItemClassifier`."""
        used = np.flatnonzero(known.sum(0) > _MIN_KNOWN_ITEMS)
        levels = self.levels.get(len(used))
        if levels is None:
            modes = {levels: self._fit(items, known[:, used], levels) for levels in self._tried(len(used))}
            levels = max(modes, key=lambda one: modes[one].bound)
            self.levels[len(used)] = levels
        if levels == 1:
            return self.one_level.learn(items, known)
        mode, x = self._fit(items, known[:, used], levels), self.one_level.x
        return in_batches(lambda rows: mode.probabilities(x[rows].astype(np.float64)), used, known.shape[1])

    def out_of_sample(self, items: np.ndarray, known: np.ndarray, fold: np.ndarray) -> np.ndarray:
        """See :class:`ItemClassifier`."""
        used = int((known[fold != 0].sum(0) > _MIN_KNOWN_ITEMS).sum())
        if self.levels.get(used) == 1:
            return self.one_level.out_of_sample(items, known, fold)  # all folds at once
        return super().out_of_sample(items, known, fold)

    def _tried(self, clusters: int) -> list[int]:
        most = min(_MAX_CELLS // clusters, len(self.sample) // _MIN_ITEMS_PER_LEVEL)
        return [levels for levels in _NUM_LEVELS if levels <= max(most, 1)]

    def _fit(self, items: np.ndarray, known: np.ndarray, levels: int) -> TwoWayMode:
        some = np.linspace(0, len(items) - 1, min(len(items), _MAX_KNOWN)).astype(int)
        items, known = items[some], known[some] + _MIN_PROBABILITY
        known = known / known.sum(1, keepdims=True)
        rows = np.union1d(self.sample, items)
        x, variance = self.one_level.x[rows].astype(np.float64), self.one_level.variance
        place = np.searchsorted(rows, items)
        # Initialised by linear borders of the known items: label propagation would follow the second factor.
        of_known = Gaussians(x[place], variance, shared=True)
        guess = softmax(of_known.mode(known).log_density(x), axis=1)
        return TwoWays(x, variance).fit(place, known, guess, levels)
