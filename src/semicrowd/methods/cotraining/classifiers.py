"""Classifiers: from the clusters of the annotated items to those of all items, by the features.

Each takes rows of items and their cluster probabilities [n, K] and returns probabilities [N, K] of all items, the
given ones included, each predicted from its features alone. They differ in the assumption: smooth borders
(:class:`KernelClassifier`), neighbours in one cluster (:class:`LabelPropagation`), or Gaussian clusters
(:class:`GaussianClassifier`). Time and memory are proportional to the number of items, up to a million. Training uses
the annotated items and a random sample of the others (all of them, if they are few); prediction runs in batches.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int
from scipy import sparse
from scipy.special import softmax
from sklearn.svm import SVC

from semicrowd.inference.neighbours import neighbour_graph
from semicrowd.random import stream

#: Probability of a cluster without training items.
_MIN_PROBABILITY = 1e-9
#: Items whose probabilities are computed at once.
_BATCH = 1 << 14
#: Known items that a support vector machine is trained on, at most: its time grows with their square.
_MAX_KERNEL = 2000
#: Cost of an item within the margin.
_COST = 10.0
#: Principal components of the Gaussian classifiers with one covariance for each cluster, and with one for all.
_DIMS, _DIMS_SHARED = 16, 50
#: Lower bound of a column's variance in the prior of the covariances, as a share of the largest variance.
_MIN_VARIANCE_SHARE = 1e-6
#: Expected number of known items from which on a cluster has a Gaussian.
_MIN_KNOWN_ITEMS = 0.5
#: Neighbours of an item in the graph.
_NUM_NEIGHBOURS = 7
#: a of label propagation: share of an item's probabilities that comes from its neighbours.
_NEIGHBOUR_WEIGHT = 0.8
#: Steps of Chebyshev's iteration.
_CHEBYSHEV_STEPS = 20
#: Columns that are propagated together: 32 columns of a million items are some 130 MB.
_COLUMNS_AT_ONCE = 32
#: Unannotated items that Gaussians are fitted to, at most.
_MAX_UNANNOTATED = 20_000

#: Predicts cluster probabilities [n, K] for rows of items [n].
Predictor = Callable[[Int[np.ndarray, "n"]], Float[np.ndarray, "n K"]]
#: Iterations of EM, at most.
_EM_OF_GAUSSIANS = 10
#: EM ends when no probability changes by more.
_EM_TOLERANCE = 1e-2
#: Prior precision of a mean, in pseudo-items (Fraley & Raftery 2007).
_KAPPA = 0.01


class ItemClassifier(ABC):
    """Predicts the clusters of all items from those of some.

    Parameters
    ----------
    num_items : N
    """

    def __init__(self, num_items: int) -> None:
        self.num_items = num_items

    @abstractmethod
    def learn(self, items: Int[np.ndarray, "n"], known: Float[np.ndarray, "n K"]) -> Predictor:
        """A predictor of any items' probabilities, learned from those of some."""

    def __call__(self, items: Int[np.ndarray, "n"], known: Float[np.ndarray, "n K"]) -> Float[np.ndarray, "N K"]:
        """Cluster probabilities of all items, learned from those of some."""
        return self.learn(items, known)(np.arange(self.num_items))

    def out_of_sample(
        self, items: Int[np.ndarray, "n"], known: Float[np.ndarray, "n K"], fold: Int[np.ndarray, "n"]
    ) -> Float[np.ndarray, "n K"]:
        """Cross-validated probabilities: of each known item, learned from the known items of the other folds."""
        probabilities = np.empty_like(known)
        for one in range(int(fold.max()) + 1):
            rest = fold != one
            probabilities[~rest] = self.learn(items[rest], known[rest])(items[~rest])
        return probabilities


class KernelClassifier(ItemClassifier):
    """A support vector machine with the Gaussian kernel of scikit-learn, on the most probable clusters.

    Its values are no probabilities; :class:`Calibration` turns them into some. The width of the kernel is the root of
    the expected squared distance of two items.
    """

    def __init__(self, features: Float[np.ndarray, "N D"]) -> None:
        super().__init__(len(features))
        self.features = features

    def learn(self, items: np.ndarray, known: np.ndarray) -> Predictor:
        """See :class:`ItemClassifier`."""
        clusters, K = known.argmax(1), known.shape[1]
        if (clusters == clusters[0]).all():
            return in_batches(lambda rows: np.ones((len(rows), 1)), clusters[:1], K)
        if len(items) > _MAX_KERNEL:
            some = np.linspace(0, len(items) - 1, _MAX_KERNEL).astype(int)
            items, clusters = items[some], clusters[some]
        x = self.features[items]
        machine = SVC(C=_COST, gamma=0.5 / max(x.shape[1] * x.var(), 1e-12)).fit(x, clusters)

        def of_rows(rows: np.ndarray) -> np.ndarray:
            values = machine.decision_function(self.features[rows])
            return softmax(np.stack([-values, values], 1) if values.ndim == 1 else values, axis=1)

        return in_batches(of_rows, machine.classes_, K)


class LabelPropagation(ItemClassifier):
    """Local and global consistency (Zhou et al. 2004) on the graph of nearest neighbours.

    Solves F = a S F + (1 − a) Y with S = D^(−½) W D^(−½), as scikit-learn's LabelSpreading, which takes labels only,
    not probabilities. The eigenvalues of a S lie within ± a, so each step of Chebyshev's iteration halves the error
    (Golub & Varga 1961); the fixed-point step F ← a S F + (1 − a) Y needs three steps to do so.

    Attributes
    ----------
    sample : sorted rows of at most :data:`_MAX_UNANNOTATED` random items
    """

    def __init__(self, features: Float[np.ndarray, "N D"]) -> None:
        super().__init__(len(features))
        nearest = neighbour_graph(features, _NUM_NEIGHBOURS).sign().astype(np.float32)
        scale = sparse.diags_array(1 / np.sqrt(np.asarray(nearest.sum(1)).ravel()), dtype=np.float32)
        self.graph = (scale @ nearest @ scale).tocsr()
        self.sample = np.sort(stream(0, "spreading/sample").permutation(len(features))[:_MAX_UNANNOTATED])
        self._last: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None

    def learn(self, items: np.ndarray, known: np.ndarray) -> Predictor:
        """See :class:`ItemClassifier`."""
        probabilities = self._along_graph(items, known)
        self._last = items, known[None], probabilities[None, self.training_rows(items)]
        everywhere, K = known.mean(0), known.shape[1]
        return in_batches(lambda rows: _normalised(probabilities[rows], everywhere), np.arange(K), K)

    def out_of_sample(self, items: np.ndarray, known: np.ndarray, fold: np.ndarray) -> np.ndarray:
        """See :class:`ItemClassifier`."""
        folds = self.predict_folds(items, known_outside_fold(known, fold))
        return folds[fold, np.searchsorted(self.training_rows(items), items)]

    def training_rows(self, items: Int[np.ndarray, "n"]) -> Int[np.ndarray, "m"]:
        """Sorted rows of the sample and of ``items``."""
        return np.union1d(self.sample, items)

    def predict_folds(
        self, items: Int[np.ndarray, "n"], known_by_fold: Float[np.ndarray, "F n K"]
    ) -> Float[np.ndarray, "F m K"]:
        """Probabilities of :meth:`training_rows`, for each of F folds; caches the result of the last call.

        Parameters
        ----------
        known_by_fold : zeros where an item is not known
        """
        last = self._last
        if last is None or not (np.array_equal(items, last[0]) and np.array_equal(known_by_fold, last[1])):
            rows, (folds, n, K) = self.training_rows(items), known_by_fold.shape
            probabilities = self._along_graph(items, known_by_fold.transpose(1, 0, 2).reshape(n, folds * K), rows)
            last = items, known_by_fold, probabilities.reshape(len(rows), folds, K).transpose(1, 0, 2)
            self._last = last
        everywhere = known_by_fold.sum(1) / (known_by_fold.sum(2) > 0).sum(1)[:, None]
        return np.stack([_normalised(one, mean) for one, mean in zip(last[2], everywhere, strict=True)])

    def _along_graph(
        self, items: np.ndarray, known: Float[np.ndarray, "n C"], rows: Int[np.ndarray, "m"] | None = None
    ) -> Float[np.ndarray, "m C"]:
        """F of all items or of ``rows``; single precision is finer than the error that the iteration leaves."""
        probabilities = np.empty((self.num_items if rows is None else len(rows), known.shape[1]), np.float32)
        for first in range(0, known.shape[1], _COLUMNS_AT_ONCE):
            columns = slice(first, first + _COLUMNS_AT_ONCE)
            source = ((1 - _NEIGHBOUR_WEIGHT) * known[:, columns]).astype(np.float32)
            before = np.zeros((self.num_items, source.shape[1]), np.float32)
            now = before.copy()
            now[items] = source
            weight = 2.0
            for _ in range(_CHEBYSHEV_STEPS):
                weight = 1 / (1 - weight * _NEIGHBOUR_WEIGHT**2 / 4)
                following = self.graph @ now
                following *= _NEIGHBOUR_WEIGHT
                following[items] += source
                following -= before
                following *= weight
                following += before
                before, now = now, following
            probabilities[:, columns] = now if rows is None else now[rows]
        return probabilities


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
        for _ in range(_EM_OF_GAUSSIANS):
            held = probabilities.copy()
            held[items] = known
            mode = self.mode(held)
            before, probabilities = probabilities, softmax(mode.log_density(self.x, self.outer), axis=1)
            if np.abs(probabilities - before).max() < _EM_TOLERANCE:
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


class GaussianClassifier(ItemClassifier):
    """Semi-supervised discriminant analysis: EM of a Gaussian mixture, with the clusters of the known items fixed.

    The prior is that of :class:`Gaussians`. EM starts at the probabilities of label propagation and is fitted to its
    sample and the known items.

    Parameters
    ----------
    features : principal components, the largest first
    neighbours : label propagation over the same items
    dims : number of principal components that are used
    shared : one covariance for all clusters (linear borders), or one for each
    """

    def __init__(
        self, features: Float[np.ndarray, "N D"], neighbours: LabelPropagation, dims: int, *, shared: bool
    ) -> None:
        super().__init__(len(features))
        self.x, self.neighbours, self.shared = features[:, :dims], neighbours, shared
        variance = self.x.var(0, dtype=np.float64)
        self.variance = np.maximum(variance, _MIN_VARIANCE_SHARE * (variance.max() or 1.0))

    def learn(self, items: np.ndarray, known: np.ndarray) -> Predictor:
        """See :class:`ItemClassifier`."""
        return next(self._predictors(items, known[None]))

    def out_of_sample(self, items: np.ndarray, known: np.ndarray, fold: np.ndarray) -> np.ndarray:
        """See :class:`ItemClassifier`."""
        probabilities = np.empty_like(known)
        for one, predict in enumerate(self._predictors(items, known_outside_fold(known, fold))):
            probabilities[fold == one] = predict(items[fold == one])
        return probabilities

    def _predictors(self, items: np.ndarray, known_by_fold: Float[np.ndarray, "F n K"]) -> Iterator[Predictor]:
        """A predictor fitted by EM for each of F folds."""
        rows = self.neighbours.training_rows(items)
        seen = Gaussians(self.x[rows].astype(np.float64), self.variance, shared=self.shared)
        first, place = self.neighbours.predict_folds(items, known_by_fold), np.searchsorted(rows, items)
        for known, guess in zip(known_by_fold, first, strict=True):
            labelled, used = known.sum(1) > 0, known.sum(0) > _MIN_KNOWN_ITEMS
            mode = seen.fit(place[labelled], known[labelled][:, used], guess[:, used])
            yield self._of_rows(mode, used)

    def _of_rows(self, mode: Mode, used: np.ndarray) -> Predictor:
        def predict(rows: np.ndarray) -> np.ndarray:
            return softmax(mode.log_density(self.x[rows].astype(np.float64)), axis=1)

        return in_batches(predict, np.flatnonzero(used), len(used))


def known_outside_fold(known: Float[np.ndarray, "n K"], fold: Int[np.ndarray, "n"]) -> Float[np.ndarray, "F n K"]:
    """For each fold the known probabilities, with zeros for the items of this fold."""
    return np.where((fold == np.arange(int(fold.max()) + 1)[:, None])[..., None], 0.0, known)


def in_batches(predict: Predictor, columns: Int[np.ndarray, "k"], num_clusters: int) -> Predictor:
    """A predictor that asks ``predict``, which knows the clusters ``columns`` only, for :data:`_BATCH` rows at once."""

    def of_rows(rows: np.ndarray) -> np.ndarray:
        probabilities = np.full((len(rows), num_clusters), _MIN_PROBABILITY)
        for first in range(0, len(rows), _BATCH):
            batch = slice(first, first + _BATCH)
            probabilities[batch, columns] = predict(rows[batch])
        return probabilities

    return of_rows


def _normalised(
    probabilities: Float[np.ndarray, "n K"], everywhere: Float[np.ndarray, "K"]
) -> Float[np.ndarray, "n K"]:
    probabilities = np.maximum(probabilities, 0) + 1e-6 * everywhere  # Chebyshev's iteration may end below zero
    return probabilities / probabilities.sum(1, keepdims=True)


def classifiers_of(x: Float[np.ndarray, "N C"]) -> list[ItemClassifier]:
    """The classifiers of one preparation; the first two are quick."""
    neighbours = LabelPropagation(x)
    full = GaussianClassifier(x, neighbours, _DIMS, shared=False)
    shared = GaussianClassifier(x, neighbours, _DIMS_SHARED, shared=True)
    return [KernelClassifier(x), neighbours, full, shared]
