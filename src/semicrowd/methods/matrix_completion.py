"""SemiCrowd: Yi, Jin, Jain, Jain & Yang 2012 (NeurIPS), "Semi-crowdsourced clustering: generalizing crowd labeling by
robust distance metric learning".

The answers' similarity matrix is filtered and completed, a metric is regressed on it from the features, and all items
are clustered by the similarity that the metric gives them.
"""

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.cluster import SpectralClustering

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.estimators.base import InductiveClusterer
from semicrowd.estimators.inputs import check_memory
from semicrowd.methods.constrained_kmeans import cluster_means
from semicrowd.result import Assignment, Result

#: Share of "same" up to which a pair counts as different, and from which it counts as the same.
LOWER, UPPER = 1 / 3, 2 / 3
#: λ, in units of the features' mean variance.
RIDGE = 0.01
#: Penalty of ADMM; it changes the speed, not the minimum.
PENALTY = 0.1
#: Over-relaxation of ADMM; it changes the speed, not the minimum.
RELAXATION = 1.6
#: Matrices of all items × all items in memory at once (measured).
MATRICES = 4
#: Matrices of annotated × annotated items in memory at once during the completion (measured).
COMPLETION = 11


class MatrixCompletion(InductiveClusterer):
    """SemiCrowd: robust matrix completion of the answers, metric by regression on it, spectral clustering.

    1. Similarity of a pair: the share of its answers that say "same".
    2. Filter: 1 from ⅔ on, 0 up to ⅓; pairs in between count as not answered.
    3. Completion: the matrix A of :func:`complete`, over the annotated items.
    4. Metric: M = (C + λI)⁻¹ (Xᵀ A X / n²) (C + λI)⁻¹ with X the features of the annotated items less their mean and
       C = Xᵀ X / n: ridge regression of A on xᵀ M y. M is made positive semidefinite.
    5. Normalised spectral clustering of all items with the similarity max(xᵀ M y, 0), again less the mean.

    Memory is quadratic in the number of items.

    The paper (Yi, Jin, Jain, Jain & Yang 2012) has two thresholds, for many answers a pair; with few, ⅓ and ⅔ leave out
    the pairs on which the annotators disagree about evenly (chosen without labels). The weight of the wrong entries is
    the value that Candès, Li, Ma & Wright 2011 prove for partly observed matrices (theorem 1.2): 1/√(share of entries
    observed × n). λ is small: it is there for features that depend on each other.

    Parameters
    ----------
    n_clusters : int, default=4
    random_state : int, RandomState instance or None, default=0
    verbose : bool, default=False

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
    metric_ : ndarray of shape (n_features, n_features)
        M.
    completed_ : ndarray of shape (n_annotated, n_annotated)
        A over ``pairs.annotated``.
    """

    cluster_centers_: np.ndarray
    metric_: np.ndarray
    completed_: np.ndarray
    _mean: np.ndarray

    def _assign(self, features: np.ndarray) -> Assignment:
        return Assignment.hard(np.argmin(cdist(self._embed(features), self._embed(self.cluster_centers_)), axis=1))

    def _run(self, features: np.ndarray, answers: PairAnnotations) -> Result:
        check_memory("matrix_completion", "similarities", len(features), MATRICES)
        check_memory("matrix_completion", "answers", len(answers.annotated), COMPLETION)
        items = answers.annotated
        similarity, observed = filtered_similarity(answers)
        self.completed_ = complete(similarity, observed, 1 / np.sqrt(observed.mean() * len(items)))
        self._mean = features[items].mean(axis=0)
        self.metric_ = regress_metric(features[items] - self._mean, self.completed_, RIDGE)
        embedded = self._embed(features)
        # Without a path between all items spectral clustering would warn and separate the parts, whatever their size.
        affinity = np.maximum(embedded @ embedded.T, 0.0)
        affinity += 1e-9 * (affinity.max() or 1.0)
        spectral = SpectralClustering(self.n_clusters, affinity="precomputed", random_state=self.seed_)
        labels = spectral.fit(affinity).labels_.astype(np.int64)
        self.cluster_centers_ = cluster_means(features, labels, self.n_clusters)
        return self._result(Assignment.hard(labels), self._assign(features))

    def _embed(self, features: np.ndarray) -> np.ndarray:
        """Points [N, D] with inner products xᵀ M y."""
        values, vectors = np.linalg.eigh(self.metric_)
        return (features - self._mean) @ (vectors * np.sqrt(np.maximum(values, 0.0)))


def filtered_similarity(pairs: PairAnnotations) -> tuple[np.ndarray, np.ndarray]:
    """Similarity 0 or 1 and whether it counts, [N_a, N_a] each, of ``pairs.annotated``.

    An item is similar to itself.
    """
    n = len(pairs.annotated)
    i, j = pairs.index.i, pairs.index.j
    same, answers = np.zeros((n, n)), np.zeros((n, n))
    np.add.at(same, (i, j), pairs.label)
    np.add.at(answers, (i, j), 1)
    same, answers = same + same.T, answers + answers.T
    average = np.divide(same, answers, out=np.full((n, n), np.nan), where=answers > 0)
    similarity = average >= UPPER
    observed = similarity | (average <= LOWER)
    np.fill_diagonal(similarity, True)
    np.fill_diagonal(observed, True)
    return similarity.astype(float), observed


def complete(
    matrix: np.ndarray, observed: np.ndarray, weight: float, *, tolerance: float = 3e-3, max_iter: int = 100
) -> np.ndarray:
    """The A that minimises |A|_* + weight · Σ_{observed} |A_ij − matrix_ij|, for a symmetric matrix.

    Entries that do not fit a matrix of low rank are taken for wrong. Alternating direction method of multipliers (Boyd
    et al. 2011, section 3) with the two terms apart.

    Parameters
    ----------
    matrix, observed : [n, n], symmetric
    tolerance : on the distance of the two terms' matrices and on the change of a round, relative to the matrix' norm
    """
    fitted = np.where(observed, matrix, 0.0)
    low_rank, multiplier = np.zeros_like(fitted), np.zeros_like(fitted)
    for _ in range(max_iter):
        values, vectors = np.linalg.eigh(fitted - multiplier)
        shrunk = _shrink(values, 1 / PENALTY)
        kept = shrunk != 0
        low_rank = (vectors[:, kept] * shrunk[kept]) @ vectors[:, kept].T
        relaxed = RELAXATION * low_rank + (1 - RELAXATION) * fitted
        before, fitted = fitted, relaxed + multiplier
        fitted = np.where(observed, matrix + _shrink(fitted - matrix, weight / PENALTY), fitted)
        multiplier += relaxed - fitted
        size = tolerance * np.linalg.norm(fitted)
        if np.linalg.norm(low_rank - fitted) <= size and np.linalg.norm(fitted - before) <= size:
            break
    return low_rank


def _shrink(values: np.ndarray, threshold: float) -> np.ndarray:
    return np.sign(values) * np.maximum(np.abs(values) - threshold, 0.0)


def regress_metric(features: np.ndarray, similarity: np.ndarray, ridge: float) -> np.ndarray:
    """M [D, D], symmetric: the regression of similarity [n, n] on x_iᵀ M x_j; see :class:`MatrixCompletion`, step 4.

    With ``ridge`` 0 it minimises Σ_ij (similarity_ij − x_iᵀ M x_j)².
    """
    n, d = features.shape
    covariance = features.T @ features / n
    regular = covariance + ridge * np.trace(covariance) / d * np.eye(d)
    inverse = np.linalg.pinv(regular, hermitian=True)
    metric = inverse @ (features.T @ similarity @ features / n**2) @ inverse
    return (metric + metric.T) / 2
