"""Clustering from the features alone, for scale: k-means and a Gaussian mixture that take answers and ignore them."""

from abc import ABC, abstractmethod
from typing import Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn import cluster, mixture
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import check_is_fitted

from semicrowd.estimators.input_checks import check_count, check_features, check_input
from semicrowd.crowd.annotations import PairAnnotations


class _FeaturesOnly(ClusterMixin, BaseEstimator, ABC):
    """A scikit-learn clustering of the features.

    Parameters
    ----------
    n_clusters : K
    n_init : starts; the one with the best objective is kept
    random_state : seed

    Attributes
    ----------
    labels_ : [N] clusters of the items of ``fit``
    model_ : the fitted scikit-learn estimator
    """

    def __init__(self, n_clusters: int = 4, *, n_init: int = 20, random_state: int = 0) -> None:
        self.n_clusters = n_clusters
        self.n_init = n_init
        self.random_state = random_state

    def fit(self, X: ArrayLike, pairs: PairAnnotations | None = None) -> Self:
        """Cluster the rows of X [N, D].

        Raises
        ------
        UserError
            If X is not a table of finite numbers with K rows at least, or the answers are about other items.
        """
        features = check_input(X, pairs, self.n_clusters)
        check_count(n_init=self.n_init)
        self.n_features_in_ = features.shape[1]
        self.model_ = self._model().fit(features)
        self.labels_ = self.predict(features)
        return self

    def predict(self, X: ArrayLike) -> np.ndarray:
        """Clusters [N] of items."""
        check_is_fitted(self, "model_")
        return self.model_.predict(check_features(X, self.n_features_in_)).astype(np.int64)

    @abstractmethod
    def _model(self) -> BaseEstimator:
        """The scikit-learn estimator, not fitted."""


class KMeansOnly(_FeaturesOnly):
    """k-means from k-means++ starts. Parameters ``n_clusters``, ``n_init``, ``random_state``; attribute ``labels_``."""

    def _model(self) -> cluster.KMeans:
        return cluster.KMeans(self.n_clusters, n_init=self.n_init, random_state=self.random_state)


class MixtureOnly(_FeaturesOnly):
    """A Gaussian mixture with full covariances, by maximum likelihood. Parameters and attributes of ``KMeansOnly``."""

    def predict_proba(self, X: ArrayLike) -> np.ndarray:
        """Cluster probabilities [N, K] of items."""
        check_is_fitted(self, "model_")
        return self.model_.predict_proba(check_features(X, self.n_features_in_))

    def _model(self) -> mixture.GaussianMixture:
        return mixture.GaussianMixture(self.n_clusters, n_init=self.n_init, random_state=self.random_state)
