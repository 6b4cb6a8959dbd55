"""Information-theoretic metric learning on majority votes, then k-means: Davis, Kulis, Jain, Sra & Dhillon 2007 (ICML).

The metric is metric-learn's.
"""

from typing import Any

import numpy as np
from metric_learn.itml import _BaseITML
from sklearn.cluster import KMeans
from sklearn.metrics import roc_auc_score

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.crowd.links import Links, majority_vote
from semicrowd.estimators.base import InductiveClusterer
from semicrowd.methods.constrained_kmeans import cluster_means
from semicrowd.random import stream
from semicrowd.result import Assignment, Result

#: Values of γ that the paper cross-validates over.
GAMMAS = (0.01, 0.1, 1.0, 10.0)

#: Percentiles of the squared distances that bound must-links from above and cannot-links from below (paper, section 5).
PERCENTILES = (5, 95)

#: Passes over all links, at most.
MOST_PASSES = 50

#: So many pairs of items stand for all where there are more.
MAX_PAIRS = 200_000


class _Solver(_BaseITML):
    """metric-learn's ITML without its check of the input, which scikit-learn 1.8 and later refuse."""

    def _prepare_inputs(self, X: Any, y: Any = None, type_of_inputs: str = "tuples", **_: Any) -> Any:  # noqa: ARG002
        return X, y


class ITML(InductiveClusterer):
    """Majority vote over the annotators, a Mahalanobis metric by ITML, k-means in that metric.

    ITML minimises the LogDet divergence of A from the identity subject to (x − y)ᵀ A (x − y) ≤ u for must-links and ≥ l
    for cannot-links, with slack of weight γ (Davis et al. 2007). metric-learn's own bounds are percentiles of distances
    but are compared with squared distances; here they are percentiles of squared distances, as in the paper.

    γ is the value of the paper's grid whose metric ranks held-out links best (the area under the ROC curve; 30 % of the
    links, one split), 1 where these are all of one kind. The paper cross-validates with labels.

    Parameters
    ----------
    n_clusters : int, default=4
    random_state : int, RandomState instance or None, default=0
    verbose : bool, default=False

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        In the features' own space.
    metric_ : ndarray of shape (n_features, n_features)
        A of (x − y)ᵀ A (x − y).
    gamma_ : float
        The γ used.
    n_iter_ : int
        Passes over all links.
    """

    cluster_centers_: np.ndarray
    metric_: np.ndarray
    gamma_: float
    n_iter_: int
    _root: np.ndarray
    _kmeans: KMeans

    def _assign(self, features: np.ndarray) -> Assignment:
        return Assignment.hard(self._kmeans.predict(features @ self._root.T))

    def _run(self, features: np.ndarray, answers: PairAnnotations) -> Result:
        rng = stream(self.seed_, "itml")
        difference, must = _differences(features, majority_vote(answers))
        bounds = np.percentile(_squared_distances(features, rng), PERCENTILES)
        self.gamma_ = self._choose_gamma(difference, must, bounds, rng)
        self._root = self._learn(difference, must, bounds, self.gamma_)
        self.metric_ = self._root.T @ self._root
        self._kmeans = KMeans(self.n_clusters, n_init=10, random_state=self.seed_).fit(features @ self._root.T)
        labels = self._kmeans.labels_.astype(np.int64)
        self.cluster_centers_ = cluster_means(features, labels, self.n_clusters)
        return self._result(Assignment.hard(labels), self._assign(features))

    def _learn(self, difference: np.ndarray, must: np.ndarray, bounds: np.ndarray, gamma: float) -> np.ndarray:
        """L [D, D] with A = LᵀL."""
        if not len(difference):
            self.n_iter_ = 1  # nothing to learn from
            return np.eye(difference.shape[1])
        solver = _Solver(gamma=gamma, max_iter=MOST_PASSES)
        tuples = np.stack([difference, np.zeros_like(difference)], axis=1)
        solver._fit(tuples, np.where(must, 1, -1), bounds=bounds.copy())
        self.n_iter_ = solver.n_iter_
        return np.asarray(solver.components_)

    def _choose_gamma(
        self, difference: np.ndarray, must: np.ndarray, bounds: np.ndarray, rng: np.random.Generator
    ) -> float:
        held_out = rng.random(len(must)) < 0.3
        if len(np.unique(must[held_out])) < 2 or held_out.all():
            return 1.0
        scores = []
        for gamma in GAMMAS:
            root = self._learn(difference[~held_out], must[~held_out], bounds, gamma)
            distance = ((difference[held_out] @ root.T) ** 2).sum(axis=1)
            scores.append(roc_auc_score(must[held_out], -distance))
        return GAMMAS[int(np.argmax(scores))]


def _differences(features: np.ndarray, links: Links) -> tuple[np.ndarray, np.ndarray]:
    """x_i − x_j [C, D] and must [C] of the links between items with different features; no metric parts the others."""
    difference = features[links.i] - features[links.j]
    apart = np.any(difference != 0, axis=1)
    return difference[apart], links.must[apart]


def _squared_distances(features: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Of all pairs of items, or of as many random ones as MAX_PAIRS."""
    n = len(features)
    if n * (n - 1) // 2 <= MAX_PAIRS:
        first, second = np.triu_indices(n, k=1)
    else:
        first = rng.integers(n, size=MAX_PAIRS)
        second = (first + rng.integers(1, n, size=MAX_PAIRS)) % n
    return np.asarray(((features[first] - features[second]) ** 2).sum(axis=1))
