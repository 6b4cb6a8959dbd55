"""A classifier for features that show, beside what is asked, something else as well: who it is beside how he looks.

A mixture in two ways, x = a_k + b_l + c_kl + noise: the cluster k of an item is known, or to be found; what else it
shows, one of L kinds l, nobody knows of any item. An analysis of variance in two ways with interactions (Searle,
Casella & McCulloch 1992), whose factors are latent.
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
from semicrowd.starts.spreading import GaussianSpread, Learned, Spread, in_pieces

#: Numbers of other kinds that are tried; one is a mixture without them.
_KINDS = (1, 6, 24)
#: Clusters × other kinds, at most.
_MOST_CELLS = 256
#: Known items that it learns from, at most.
_KNOWN = 1000
#: Other items that it learns from, at most.
_SAMPLE = 1000
#: Items for each other kind, at least.
_ITEMS = 8
#: Known items that a cluster needs to be in use.
_FEWEST = 0.5
#: Probability of a cluster that is not in use, and of one that an item is not in.
_LEAST = 1e-9
#: Iterations of EM, at most.
_ITERATIONS = 5
#: Change of a probability at which they end.
_TOLERANCE = 2e-2
#: Pseudo-items of a cluster's mean.
_CLUSTER = 0.01
#: Pseudo-items of another kind's mean.
_OTHER = 0.1
#: Pseudo-items of their interaction, which thus is small beside both.
_CELL = 10.0
#: Steps of k-means, which EM begins with.
_FIRST = 10


class TwoWays:
    """The mixture in two ways of some items: variational EM.

    Conjugate priors as those of starts/gaussians.py: a_k ~ N(0, Σ / .01), b_l ~ N(0, Σ / .1), c_kl ~ N(0, Σ / 10),
    Σ ~ inverse Wishart with d + 2 and diag(variance) K^(−2/d), and shares of clusters and of other kinds, which are
    independent, ~ Dirichlet(2). q(a, b, c | Σ) is exact, Σ and the shares are modes; items are independent of the
    means. So no step lowers :attr:`TwoWayMode.bound`.

    Parameters
    ----------
    variance : [d]
    """

    def __init__(self, x: Float[np.ndarray, "N d"], variance: np.ndarray) -> None:
        self.x, self.variance = x, variance
        self.total = x.T @ x

    def fit(
        self, items: Int[np.ndarray, "n"], known: Float[np.ndarray, "n K"], found: Float[np.ndarray, "N K"], kinds: int
    ) -> "TwoWayMode":
        """From first probabilities of all items; those of some are known, all above 0.

        The other kinds begin as cells of what the clusters leave of the features.
        """
        z = found.copy()
        z[items] = known
        rest = self.x - z @ ((z.T @ self.x) / (z.sum(0) + _CLUSTER)[:, None])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # a kind without items is as good as none
            cells = kmeans2(rest, kmeans_plusplus(rest, kinds, random_state=0)[0], _FIRST, minit="matrix")[1]
        both = z[:, :, None] * np.eye(kinds)[cells][:, None]
        log_known = np.zeros_like(z)
        log_known[items] = np.log(known)
        for _ in range(_ITERATIONS):
            mode = self.mode(both)
            before, both = both, _normalised(mode.log_density(self.x) + log_known[:, :, None])
            if np.abs(both - before).max() < _TOLERANCE:
                break
        return self.mode(both, log_known)

    def mode(self, both: Float[np.ndarray, "N K L"], log_known: Float[np.ndarray, "N K"] | None = None) -> "TwoWayMode":
        """The posterior mode given probabilities of clusters and other kinds; with the bound, if it gets the second."""
        N, K, L = both.shape
        d = self.x.shape[1]
        size, sums = both.sum(0), (both.reshape(N, -1).T @ self.x).reshape(K, L, d)
        # Interactions integrated out: items of a large cell are no more witnesses of a_k + b_l than _CELL items.
        share = _CELL / (_CELL + size)
        seen = share * size
        precision = np.block([[np.diag(seen.sum(1) + _CLUSTER), seen], [seen.T, np.diag(seen.sum(0) + _OTHER)]])
        spread = np.linalg.inv(precision)
        ab = spread @ np.concatenate([(share[..., None] * sums).sum(1), (share[..., None] * sums).sum(0)])
        additive = ab[:K, None] + ab[None, K:]
        mean = share[..., None] * additive + (1 / (_CELL + size))[..., None] * sums
        alone = np.diag(spread)
        of_additive = alone[:K, None] + alone[None, K:] + 2 * spread[:K, K:]
        doubt = 1 / (_CELL + size) + share**2 * of_additive
        scatter = self.total - sums.reshape(-1, d).T @ mean.reshape(-1, d)
        scatter = (scatter + scatter.T) / 2 + np.diag(self.variance) * K ** (-2 / d)
        covariance = scatter / (N + 2 * d + 4)
        pull = np.linalg.solve(covariance, mean.reshape(-1, d).T).T.reshape(K, L, d)
        log_k, log_l = (np.log((one + 1) / (N + len(one))) for one in (size.sum(1), size.sum(0)))
        constant = log_k[:, None] + log_l - 0.5 * (pull * mean).sum(-1) - 0.5 * d * doubt
        if log_known is None:
            return TwoWayMode(pull, constant, np.nan)
        means = np.linalg.slogdet(precision)[1] - K * np.log(_CLUSTER) - L * np.log(_OTHER) - np.log(share).sum()
        bound = -0.5 * d * means - 0.5 * (N + 2 * d + 4) * np.linalg.slogdet(covariance)[1]
        bound += ((size.sum(1) + 1) @ log_k) + ((size.sum(0) + 1) @ log_l) + gammaln(2 * K) + gammaln(2 * L)
        bound += (both.sum(2) * log_known).sum() - (both * np.log(np.maximum(both, 1e-300))).sum()
        return TwoWayMode(pull, constant, bound + gammaln(L + 1))  # as many names of the other kinds, one mode each


class TwoWayMode(NamedTuple):
    """E ln π_k ρ_l N(x | a_k + b_l + c_kl, Σ), up to a constant of each item, as a polynomial of x.

    Attributes
    ----------
    bound : on ln p(features, what is known | L) up to a constant that is the same for every L
    """

    pull: Float[np.ndarray, "K L d"]
    constant: Float[np.ndarray, "K L"]
    bound: float

    def log_density(self, x: Float[np.ndarray, "n d"]) -> Float[np.ndarray, "n K L"]:
        """Of rows of items."""
        K, L, d = self.pull.shape
        return (x @ self.pull.reshape(-1, d).T).reshape(-1, K, L) + self.constant

    def probabilities(self, x: Float[np.ndarray, "n d"]) -> Float[np.ndarray, "n K"]:
        """Of the clusters, whatever else the items show."""
        return _normalised(self.log_density(x)).sum(2)


def _normalised(log_p: Float[np.ndarray, "N K L"]) -> Float[np.ndarray, "N K L"]:
    found: np.ndarray = softmax(log_p.reshape(len(log_p), -1), axis=1).reshape(log_p.shape)
    return found


class TwoWaySpread(Spread):
    """Clusters by the mixture in two ways, where that is likelier than the one with one other kind for all items.

    The bound decides, once for each number of clusters, for that is most of the time otherwise; with one other kind
    it is ``plain``. It learns from a sample of the items, so its time does not grow with their number.

    Parameters
    ----------
    features : those of ``plain`` or more of them
    plain : the mixture of Gaussians with one covariance for all clusters, which has nothing else in it
    """

    def __init__(self, features: Float[np.ndarray, "N D"], plain: GaussianSpread) -> None:
        self.plain, self.num_items = plain, len(features)
        self.sample = stream(0, "two_way/sample").permutation(len(features))[:_SAMPLE]
        self.kinds: dict[int, int] = {}

    def __call__(self, items: np.ndarray, known: np.ndarray) -> np.ndarray:
        """See :class:`Spread`."""
        return self.learn(items, known)(np.arange(self.num_items))

    def learn(self, items: np.ndarray, known: np.ndarray) -> Learned:
        """See :class:`Spread`."""
        used = np.flatnonzero(known.sum(0) > _FEWEST)
        kinds = self.kinds.get(len(used))
        if kinds is None:
            modes = {kinds: self._fit(items, known[:, used], kinds) for kinds in self._tried(len(used))}
            kinds = max(modes, key=lambda one: modes[one].bound)
            self.kinds[len(used)] = kinds
        if kinds == 1:
            return self.plain.learn(items, known)
        mode, x = self._fit(items, known[:, used], kinds), self.plain.x

        def learned(rows: np.ndarray) -> np.ndarray:
            found = np.full((len(rows), known.shape[1]), _LEAST)
            for piece in in_pieces(np.arange(len(rows))):
                found[piece[:, None], used] = mode.probabilities(x[rows[piece]].astype(np.float64))
            return found

        return learned

    def out_of_sample(self, items: np.ndarray, known: np.ndarray, fold: np.ndarray) -> np.ndarray:
        """See :class:`Spread`."""
        used = int((known[fold != 0].sum(0) > _FEWEST).sum())
        if self.kinds.get(used) == 1:
            return self.plain.out_of_sample(items, known, fold)  # all folds at once
        return super().out_of_sample(items, known, fold)

    def _tried(self, clusters: int) -> list[int]:
        most = min(_MOST_CELLS // clusters, len(self.sample) // _ITEMS)
        return [kinds for kinds in _KINDS if kinds <= max(most, 1)]

    def _fit(self, items: np.ndarray, known: np.ndarray, kinds: int) -> TwoWayMode:
        some = np.linspace(0, len(items) - 1, min(len(items), _KNOWN)).astype(int)
        items, known = items[some], known[some] + _LEAST
        known = known / known.sum(1, keepdims=True)
        rows = np.union1d(self.sample, items)
        x, variance = self.plain.x[rows].astype(np.float64), self.plain.variance
        place = np.searchsorted(rows, items)
        # Straight borders of the known items: neighbours would have what else shows.
        guess = softmax(Gaussians(x[place], variance, shared=True).mode(known).log_density(x), axis=1)
        return TwoWays(x, variance).fit(place, known, guess, kinds)
