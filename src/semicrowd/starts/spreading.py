"""Classifiers of all items from clusters of some: what is known of the annotated ones, spread by the features.

Each takes rows of items and their cluster probabilities [n, K] and gives probabilities [N, K] of all items, those rows
too, each from its features alone. They differ in what they expect of the features: straight borders, neighbours of one
kind, or Gaussian clusters (and, in starts/two_way.py, something else that shows beside the clusters).

Time and memory grow in proportion to the number of items, up to a million of them. What is learned is learned from the
annotated items and from a random sample of the others, which are all of them until there are many; what has been
learned says of items in pieces what they are, or of those that are asked for and no others.
"""

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator

import numpy as np
from jaxtyping import Float, Int
from scipy import sparse
from scipy.special import softmax
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from semicrowd.random import stream
from semicrowd.starts.gaussians import Gaussians, Mode
from semicrowd.starts.neighbours import neighbour_graph

#: Probability of a cluster that a classifier has not seen.
_LEAST = 1e-9
#: Items whose probabilities are computed at once.
_PIECE = 1 << 14
#: Least variance of a column that the prior takes for one, as a share of the largest.
_FLATTEST = 1e-6
#: Known items that a Gaussian needs, of a cluster that is in use.
_FEWEST = 0.5
#: Neighbours of an item.
_NEIGHBOURS = 7
#: Share of an item's probabilities that comes from them.
_FROM_NEIGHBOURS = 0.8
#: Steps along the graph.
_STEPS = 20
#: Columns that go along the graph at once: with a million items some 130 MB each time they are held.
_COLUMNS = 32
#: Items beside the annotated ones that Gaussians are fitted to, at most.
_SAMPLE = 20_000

#: Says of rows of items [n] what their cluster probabilities [n, K] are.
Learned = Callable[[Int[np.ndarray, "n"]], Float[np.ndarray, "n K"]]


class Spread(ABC):
    """One way to come from some items to all."""

    @abstractmethod
    def __call__(self, items: Int[np.ndarray, "n"], known: Float[np.ndarray, "n K"]) -> Float[np.ndarray, "N K"]:
        """Cluster probabilities of all items from those of some."""

    def learn(self, items: Int[np.ndarray, "n"], known: Float[np.ndarray, "n K"]) -> Learned:
        """What gives those of any items from those of some."""
        found = self(items, known)
        return lambda rows: found[rows]

    def out_of_sample(
        self, items: Int[np.ndarray, "n"], known: Float[np.ndarray, "n K"], fold: Int[np.ndarray, "n"]
    ) -> Float[np.ndarray, "n K"]:
        """Those of each known item from the known items of the other folds."""
        found = np.empty_like(known)
        for one in range(int(fold.max()) + 1):
            rest = fold != one
            found[~rest] = self.learn(items[rest], known[rest])(items[~rest])
        return found


class _Learner(Spread):
    """A spread that learns first and then says of items in pieces what they are.

    Parameters
    ----------
    num_items : N
    """

    def __init__(self, num_items: int) -> None:
        self.num_items = num_items

    @abstractmethod
    def learn(self, items: Int[np.ndarray, "n"], known: Float[np.ndarray, "n K"]) -> Learned:
        """See :class:`Spread`."""

    def __call__(self, items: np.ndarray, known: np.ndarray) -> np.ndarray:
        """See :class:`Spread`."""
        learned, found = self.learn(items, known), np.empty((self.num_items, known.shape[1]))
        for piece in in_pieces(np.arange(self.num_items)):
            found[piece] = learned(piece)
        return found


class LogisticSpread(_Learner):
    """Multinomial logistic regression with a ridge penalty, on the most probable clusters.

    Its time is in proportion to the annotated items: 50,000 × 50 in ten clusters take 1.5 s of one core.
    """

    def __init__(self, features: Float[np.ndarray, "N D"]) -> None:
        super().__init__(len(features))
        self.features = features

    def learn(self, items: np.ndarray, known: np.ndarray) -> Learned:
        """See :class:`Spread`."""
        clusters, K = known.argmax(1), known.shape[1]
        if (clusters == clusters[0]).all():
            return lambda rows: np.where(np.arange(K) == clusters[0], 1.0, np.full((len(rows), 1), _LEAST))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # a rough one is as good
            regression = LogisticRegression(max_iter=200).fit(self.features[items], clusters)

        def learned(rows: np.ndarray) -> np.ndarray:
            found = np.full((len(rows), K), _LEAST)
            for piece in in_pieces(np.arange(len(rows))):
                found[piece[:, None], regression.classes_] = regression.predict_proba(self.features[rows[piece]])
            return found

        return learned


class NeighbourSpread(_Learner):
    """Local and global consistency (Zhou et al. 2004) on the graph of nearest neighbours.

    F = a S F + (1 − a) Y with S = D^(−½) W D^(−½), as scikit-learn's LabelSpreading, which takes no probabilities.
    The eigenvalues of a S lie within ± a, so Chebyshev's steps halve the error each (Golub & Varga 1961), where the
    step F ← a S F + (1 − a) Y takes three for that.

    Attributes
    ----------
    sample : rows of at most :data:`_SAMPLE` items drawn at random, in their order
    """

    def __init__(self, features: Float[np.ndarray, "N D"]) -> None:
        super().__init__(len(features))
        nearest = neighbour_graph(features, _NEIGHBOURS).sign().astype(np.float32)
        scale = sparse.diags_array(1 / np.sqrt(np.asarray(nearest.sum(1)).ravel()), dtype=np.float32)
        self.graph = (scale @ nearest @ scale).tocsr()
        self.sample = np.sort(stream(0, "spreading/sample").permutation(len(features))[:_SAMPLE])
        self._last: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None

    def learn(self, items: np.ndarray, known: np.ndarray) -> Learned:
        """See :class:`Spread`."""
        found = self._along_graph(items, known)
        self._last = items, known[None], found[None, self.seen_with(items)]
        everywhere = known.mean(0)
        return lambda rows: _reached(found[rows], everywhere)

    def out_of_sample(self, items: np.ndarray, known: np.ndarray, fold: np.ndarray) -> np.ndarray:
        """See :class:`Spread`."""
        folds = self.of_folds(items, told_by_fold(known, fold))
        return folds[fold, np.searchsorted(self.seen_with(items), items)]

    def seen_with(self, items: Int[np.ndarray, "n"]) -> Int[np.ndarray, "m"]:
        """The sample and these, in their order."""
        return np.union1d(self.sample, items)

    def of_folds(self, items: Int[np.ndarray, "n"], told: Float[np.ndarray, "F n K"]) -> Float[np.ndarray, "F m K"]:
        """Probabilities of those that are seen with the items, F times; remembers the last that was asked.

        Parameters
        ----------
        told : zeros where an item is not known
        """
        if self._last is None or not (np.array_equal(items, self._last[0]) and np.array_equal(told, self._last[1])):
            rows, (folds, n, K) = self.seen_with(items), told.shape
            found = self._along_graph(items, told.transpose(1, 0, 2).reshape(n, folds * K), rows)
            self._last = items, told, found.reshape(len(rows), folds, K).transpose(1, 0, 2)
        everywhere = told.sum(1) / (told.sum(2) > 0).sum(1)[:, None]
        return np.stack([_reached(one, mean) for one, mean in zip(self._last[2], everywhere, strict=True)])

    def _along_graph(
        self, items: np.ndarray, known: Float[np.ndarray, "n C"], rows: Int[np.ndarray, "m"] | None = None
    ) -> Float[np.ndarray, "m C"]:
        """The fixed point, of all items or of some; single precision, which is more than the steps give."""
        found = np.empty((self.num_items if rows is None else len(rows), known.shape[1]), np.float32)
        for first in range(0, known.shape[1], _COLUMNS):
            columns = slice(first, first + _COLUMNS)
            said = ((1 - _FROM_NEIGHBOURS) * known[:, columns]).astype(np.float32)
            before = np.zeros((self.num_items, said.shape[1]), np.float32)
            now = before.copy()
            now[items] = said
            weight = 2.0
            for _ in range(_STEPS):
                weight = 1 / (1 - weight * _FROM_NEIGHBOURS**2 / 4)
                following = self.graph @ now
                following *= _FROM_NEIGHBOURS
                following[items] += said
                following -= before
                following *= weight
                following += before
                before, now = now, following
            found[:, columns] = now if rows is None else now[rows]
        return found


class GaussianSpread(_Learner):
    """Semi-supervised discriminant analysis: a Gaussian mixture by EM on all items, the known ones held.

    The prior is that of starts/gaussians.py; EM begins with what neighbours say. Of more items than the neighbours have
    in their sample EM sees these and the known ones.

    Parameters
    ----------
    features : principal components, the largest first
    dims : of them are looked at
    shared : one covariance for all clusters (linear borders), or one for each
    """

    def __init__(
        self, features: Float[np.ndarray, "N D"], neighbours: NeighbourSpread, dims: int, *, shared: bool
    ) -> None:
        super().__init__(len(features))
        self.x, self.neighbours, self.shared = features[:, :dims], neighbours, shared
        variance = self.x.var(0, dtype=np.float64)
        self.variance = np.maximum(variance, _FLATTEST * (variance.max() or 1.0))

    def learn(self, items: np.ndarray, known: np.ndarray) -> Learned:
        """See :class:`Spread`."""
        return next(self._learned(items, known[None]))

    def out_of_sample(self, items: np.ndarray, known: np.ndarray, fold: np.ndarray) -> np.ndarray:
        """See :class:`Spread`."""
        found = np.empty_like(known)
        for one, learned in enumerate(self._learned(items, told_by_fold(known, fold))):
            found[fold == one] = learned(items[fold == one])
        return found

    def _learned(self, items: np.ndarray, told: Float[np.ndarray, "F n K"]) -> Iterator[Learned]:
        """What EM finds, F times."""
        rows = self.neighbours.seen_with(items)
        seen = Gaussians(self.x[rows].astype(np.float64), self.variance, shared=self.shared)
        first, place = self.neighbours.of_folds(items, told), np.searchsorted(rows, items)
        for known, guess in zip(told, first, strict=True):
            held, used = known.sum(1) > 0, known.sum(0) > _FEWEST
            mode = seen.fit(place[held], known[held][:, used], guess[:, used])
            yield self._of_rows(mode, used)

    def _of_rows(self, mode: Mode, used: np.ndarray) -> Learned:
        def learned(rows: np.ndarray) -> np.ndarray:
            found = np.full((len(rows), len(used)), _LEAST)
            for piece in in_pieces(np.arange(len(rows))):
                x = self.x[rows[piece]].astype(np.float64)
                found[piece[:, None], np.flatnonzero(used)] = softmax(mode.log_density(x), axis=1)
            return found

        return learned


def told_by_fold(known: Float[np.ndarray, "n K"], fold: Int[np.ndarray, "n"]) -> Float[np.ndarray, "F n K"]:
    """For each fold what is known of the items of the others, and zeros for its own."""
    return np.where((fold == np.arange(int(fold.max()) + 1)[:, None])[..., None], 0.0, known)


def in_pieces(rows: Int[np.ndarray, "n"]) -> list[Int[np.ndarray, "m"]]:
    """Rows, some at a time."""
    return [rows[first : first + _PIECE] for first in range(0, len(rows), _PIECE)]


def _reached(found: Float[np.ndarray, "n K"], everywhere: Float[np.ndarray, "K"]) -> Float[np.ndarray, "n K"]:
    """Probabilities; items that no path leads to have those of the known ones."""
    found = np.maximum(found, 0) + 1e-6 * everywhere  # Chebyshev's steps end just below zero, too
    return found / found.sum(1, keepdims=True)
