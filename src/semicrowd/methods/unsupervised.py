"""Baselines that use the features alone: k-means and Gaussian mixtures, which accept answers and ignore them."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float
from sklearn import cluster, mixture
from sklearn.metrics import pairwise_distances_argmin

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.crowd.workers import WorkerPosterior
from semicrowd.data.preparation import ColumnScaler
from semicrowd.estimators.base import InductiveClusterer
from semicrowd.fitting.result import Assignment, Result
from semicrowd.settings.fields import flag, setting, whole
from semicrowd.settings.parameters import STANDARDIZE, STARTS, CountedParameters


class FeaturesOnly(InductiveClusterer):
    """Base class of clusterings of the features that can predict the cluster of new items."""

    requires_answers = False

    def _cluster(self, features: np.ndarray, answers: PairAnnotations | None) -> Result:  # noqa: ARG002 - ignored
        self._learn(features)
        assignment = self._assign(features)
        return self._result(assignment, assignment)

    @abstractmethod
    def _learn(self, features: np.ndarray) -> None:
        """Fit, and set the attributes that :meth:`_assign` needs."""


class NearestCentre(FeaturesOnly):
    """Base class of clusterings that estimate their number of clusters; an item belongs to the nearest centre."""

    cluster_centers_: Float[np.ndarray, "K D"]

    def _assign(self, features: np.ndarray) -> Assignment:
        return Assignment.hard(pairwise_distances_argmin(features, self.cluster_centers_))

    def _result(self, final: Assignment, features: Assignment, workers: WorkerPosterior | None = None) -> Result:
        return Result(len(self.cluster_centers_), final, features, workers)


class _OfScikitLearn(FeaturesOnly):
    """Base class of wrappers of scikit-learn estimators."""

    model_: Any
    standardize: bool

    def _learn(self, features: np.ndarray) -> None:
        scaler = ColumnScaler(with_mean=self.standardize, with_std=self.standardize, indicators=self.indicators)
        self.scaler_ = scaler.fit(features)
        self.model_ = self._model().fit(self.scaler_.transform(features))

    def _assign(self, features: np.ndarray) -> Assignment:
        return Assignment.hard(self.model_.predict(self.scaler_.transform(features)))

    @abstractmethod
    def _model(self) -> Any:
        """The scikit-learn estimator, not fitted."""


@dataclass(eq=False, repr=False, kw_only=True)
class KMeansParameters(CountedParameters):
    """Parameters of :class:`KMeansOnly` and :class:`MixtureOnly`."""

    n_init: int = setting(20, STARTS, whole(1, 100_000))
    standardize: bool = setting(False, STANDARDIZE, flag())


@dataclass(eq=False, repr=False, kw_only=True)
class VariationalMixtureParameters(KMeansParameters):
    """Parameters of :class:`VariationalMixture`."""

    n_init: int = setting(1, STARTS, whole(1, 100_000))
    max_iter: int = setting(300, "maximal number of iterations", whole(1))


class KMeansOnly(KMeansParameters, _OfScikitLearn):
    """k-means from k-means++ starts.

    Attributes
    ----------
    model_, scaler_ : the fitted scikit-learn estimator and ColumnScaler
    """

    def _model(self) -> cluster.KMeans:
        return cluster.KMeans(self.n_clusters, n_init=self.n_init, random_state=self.seed_)


class _Mixture(_OfScikitLearn):
    def predict_proba(self, X: Any) -> np.ndarray:
        """Cluster probabilities [N, K] of items."""
        features = self._new_items(X)
        return self._in_order(self.model_.predict_proba(self.scaler_.transform(features)))

    def _assign(self, features: np.ndarray) -> Assignment:
        return Assignment.of(self.model_.predict_proba(self.scaler_.transform(features)))


class MixtureOnly(KMeansParameters, _Mixture):
    """A Gaussian mixture with full covariances, by maximum likelihood.

    Attributes
    ----------
    model_, scaler_ : the fitted scikit-learn estimator and ColumnScaler
    """

    def _model(self) -> mixture.GaussianMixture:
        return mixture.GaussianMixture(self.n_clusters, n_init=self.n_init, random_state=self.seed_)


class VariationalMixture(VariationalMixtureParameters, _Mixture):
    """A truncated Dirichlet process mixture of Gaussians with full covariances, by variational inference.

    It is the usual choice in scikit-learn for an unknown number of clusters; the priors are scikit-learn's defaults.

    Attributes
    ----------
    model_, scaler_ : the fitted scikit-learn estimator and ColumnScaler
    n_iter_ : steps of its best start
    """

    def _learn(self, features: np.ndarray) -> None:
        super()._learn(features)
        self.n_iter_ = self.model_.n_iter_

    def _model(self) -> mixture.BayesianGaussianMixture:
        return mixture.BayesianGaussianMixture(
            n_components=self.n_clusters, n_init=self.n_init, weight_concentration_prior_type="dirichlet_process",
            max_iter=self.max_iter, random_state=self.seed_,
        )  # fmt: skip
