"""Methods that use the features alone, accept answers and ignore them: bases; k-means and Gaussian mixtures."""

from abc import abstractmethod
from typing import Any, ClassVar, Self

import numpy as np
from sklearn import cluster, mixture
from sklearn.metrics import pairwise_distances_argmin

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.crowd.workers import WorkerPosterior
from semicrowd.data.preparation import ColumnScaler
from semicrowd.errors import UserError
from semicrowd.estimators.base import COUNT, CrowdClusterer, InductiveClusterer
from semicrowd.result import Assignment, Result


class FeaturesOnly(InductiveClusterer):
    """Base class of clusterings of the features that can predict the cluster of new items."""

    requires_answers = False

    def _run(self, features: np.ndarray, answers: PairAnnotations | None) -> Result:  # noqa: ARG002 - ignored
        self._learn(features)
        assignment = self._assign(features)
        return self._result(assignment, assignment)

    @abstractmethod
    def _learn(self, features: np.ndarray) -> None:
        """Fit, and set the attributes that :meth:`_assign` needs."""


class NearestCentre(FeaturesOnly):
    """Base class of clusterings with a centre for each cluster; an item belongs to the nearest one."""

    cluster_centers_: np.ndarray

    def _assign(self, features: np.ndarray) -> Assignment:
        return Assignment.hard(pairwise_distances_argmin(features, self.cluster_centers_))

    def _result(self, final: Assignment, features: Assignment, workers: WorkerPosterior | None = None) -> Result:
        return Result(len(self.cluster_centers_), final, features, workers)


class OrderedClusterer(CrowdClusterer):
    """What an item is depends on its neighbours, so that there is no prediction item by item."""

    requires_answers = False

    def fit(self, X: Any, y: Any = None, pairs: Any = None, *, sequence: Any = None) -> Self:
        """Find states of the rows of X, which are in order of time.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
        y, pairs : ignored
        sequence : array-like of int of shape (n_samples,), default=None
            Which sequence a row is of; None: all are of one.

        Raises
        ------
        InvalidParameterError
            For parameters out of range.
        UserError
            For items or sequences that cannot be used.
        """
        return self._fit(X, y, pairs, sequence=sequence)


def checked_sequence(sequence: Any, num_items: int) -> np.ndarray:
    """Sequence of each item [N]; ``sequence`` is what ``fit`` of an ordered method was given."""
    if sequence is None:
        return np.zeros(num_items, np.int64)
    found = np.asarray(sequence)
    if found.shape != (num_items,) or found.dtype.kind not in "iu":
        raise UserError(f"sequence: {found.dtype} {list(found.shape)}; expected {num_items} whole numbers, one a row")
    return found


def checked_counts(features: np.ndarray, scale: float | None = None) -> np.ndarray:
    """Counts [N, D] for multinomial clusters: features times ``scale``, rounded; None: features must be whole."""
    counts = np.rint(features * (1.0 if scale is None else scale))
    bad = counts < 0 if scale is not None else (counts < 0) | (counts != features)
    if bad.any():
        row, column = (int(index[0]) for index in np.nonzero(bad))
        expected = "counts >= 0" if scale is not None else "whole counts >= 0"
        value = f"{features[row, column]:g}"
        raise UserError(f"X, row {row}, column {column}: {value}; family=multinomial takes {expected}")
    return counts.astype(np.int64)


class _OfScikitLearn(FeaturesOnly):
    """Base class of wrappers of scikit-learn estimators."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **CrowdClusterer._parameter_constraints, "n_init": [COUNT], "max_iter": [COUNT],
        "standardize": ["boolean", None],
    }  # fmt: skip
    model_: cluster.KMeans | mixture.GaussianMixture | mixture.BayesianGaussianMixture
    scaler_: ColumnScaler

    def __init__(
        self, n_clusters: int = 4, *, n_init: int = 20, standardize: bool | None = None, random_state: Any = 0,
        verbose: Any = False,
    ) -> None:  # fmt: skip
        self.n_clusters = n_clusters
        self.n_init = n_init
        self.standardize = standardize
        self.random_state = random_state
        self.verbose = verbose

    def _learn(self, features: np.ndarray) -> None:
        if self.params_["standardize"] is None:  # columns of a data frame have different units
            self.params_["standardize"] = self.columns_ is not None and self.columns_.named
        scaled = bool(self.params_["standardize"])
        self.scaler_ = ColumnScaler(with_mean=scaled, with_std=scaled, indicators=self.indicators).fit(features)
        self.model_ = self._model().fit(self.scaler_.transform(features))

    def _assign(self, features: np.ndarray) -> Assignment:
        return Assignment.hard(self.model_.predict(self.scaler_.transform(features)))

    @abstractmethod
    def _model(self) -> Any:
        """The scikit-learn estimator, not fitted."""


class KMeansOnly(_OfScikitLearn):
    """k-means from k-means++ starts, by scikit-learn; answers are ignored.

    Minimises Σ_i |x_i − μ_{z_i}|² over assignments and centres (Arthur & Vassilvitskii 2007 for the starts).

    Parameters
    ----------
    n_clusters : int, default=4
    n_init : int, default=20
        Number of random starts, of which the one with the best objective is kept.
    standardize : bool or None, default=None
        Scale features to mean 0 and variance 1; None: True for a data frame, whose columns have different units, False
        for an array.
    random_state : int, RandomState instance or None, default=0
    verbose : bool, default=False

    Attributes
    ----------
    model_, scaler_ : KMeans, ColumnScaler
        The fitted estimator, and the scaling of the features before it.

    Examples
    --------
    >>> import numpy as np
    >>> from semicrowd import KMeansOnly
    >>> X = np.array([[0.0, 0], [0, 1], [9, 9], [9, 8]])
    >>> KMeansOnly(2).fit_predict(X).tolist() in ([0, 0, 1, 1], [1, 1, 0, 0])
    True
    """

    def _model(self) -> cluster.KMeans:
        return cluster.KMeans(self.n_clusters, n_init=self.n_init, random_state=self.seed_)


class MixtureOnly(_OfScikitLearn):
    """A Gaussian mixture with full covariances, by maximum likelihood, by scikit-learn; answers are ignored.

    Parameters and attributes are those of :class:`KMeansOnly`, with a GaussianMixture, whose objective is the
    likelihood.
    """

    def predict_proba(self, X: Any) -> np.ndarray:
        """Cluster probabilities [N, K] of items."""
        features = self._new_items(X)
        return self._in_order(self.model_.predict_proba(self.scaler_.transform(features)))

    def _assign(self, features: np.ndarray) -> Assignment:
        return Assignment.of(self.model_.predict_proba(self.scaler_.transform(features)))

    def _model(self) -> Any:
        return mixture.GaussianMixture(self.n_clusters, n_init=self.n_init, random_state=self.seed_)


class VariationalMixture(MixtureOnly):
    """A truncated Dirichlet process mixture of Gaussians with full covariances, by variational inference.

    It is the usual choice in scikit-learn for an unknown number of clusters (Blei & Jordan 2006); the priors are
    scikit-learn's defaults, from one start. Answers are ignored.

    Parameters
    ----------
    n_clusters : int, default=4
        Maximal number of clusters.
    max_iter : int, default=300
        Maximal number of iterations.
    standardize : bool or None, default=None
        Scale features to mean 0 and variance 1; None: True for a data frame, whose columns have different units, False
        for an array.
    random_state : int, RandomState instance or None, default=0
    verbose : bool, default=False

    Attributes
    ----------
    model_, scaler_ : BayesianGaussianMixture, ColumnScaler
        The fitted estimator, and the scaling of the features before it.
    n_iter_ : int
        Steps.
    """

    n_iter_: int

    def __init__(
        self, n_clusters: int = 4, *, max_iter: int = 300, standardize: bool | None = None, random_state: Any = 0,
        verbose: Any = False,
    ) -> None:  # fmt: skip
        self.n_clusters = n_clusters
        self.max_iter = max_iter
        self.standardize = standardize
        self.random_state = random_state
        self.verbose = verbose

    def _learn(self, features: np.ndarray) -> None:
        super()._learn(features)
        self.n_iter_ = self.model_.n_iter_

    def _model(self) -> mixture.BayesianGaussianMixture:
        return mixture.BayesianGaussianMixture(
            n_components=self.n_clusters, weight_concentration_prior_type="dirichlet_process", max_iter=self.max_iter,
            random_state=self.seed_,
        )  # fmt: skip
