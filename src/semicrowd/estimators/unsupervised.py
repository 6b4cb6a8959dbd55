"""Clustering from the features alone, for scale: k-means and a Gaussian mixture that take answers and ignore them."""

from abc import abstractmethod
from typing import Any

import numpy as np
from sklearn import cluster, mixture

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.estimators.base import OneShotClusterer
from semicrowd.fitting.result import Assignment, Result
from semicrowd.settings.baselines import KMeansParameters, MixtureParameters


class _FeaturesOnly(OneShotClusterer):
    """A scikit-learn clustering of the features."""

    requires_answers = False
    model_: Any

    def predict(self, X: Any) -> np.ndarray:
        """Clusters [N] of items."""
        return self._assign(self._new_items(X)).cluster

    def _cluster(self, features: np.ndarray, answers: PairAnnotations | None) -> Result:  # noqa: ARG002 - ignored
        self.model_ = self._model().fit(features)
        found = self._assign(features)
        return self._found(found, found)

    def _assign(self, features: np.ndarray) -> Assignment:
        return Assignment.hard(self.model_.predict(features))

    @abstractmethod
    def _model(self) -> Any:
        """The scikit-learn estimator, not fitted."""


class KMeansOnly(KMeansParameters, _FeaturesOnly):
    """k-means from k-means++ starts.

    Attributes
    ----------
    model_ : the fitted scikit-learn estimator
    """

    def _model(self) -> cluster.KMeans:
        return cluster.KMeans(self.n_clusters, n_init=self.n_init, random_state=self.seed_)


class MixtureOnly(MixtureParameters, _FeaturesOnly):
    """A Gaussian mixture with full covariances, by maximum likelihood.

    Attributes
    ----------
    model_ : the fitted scikit-learn estimator
    """

    def predict_proba(self, X: Any) -> np.ndarray:
        """Cluster probabilities [N, K] of items."""
        features = self._new_items(X)
        return self.model_.predict_proba(features)

    def _assign(self, features: np.ndarray) -> Assignment:
        return Assignment.of(self.model_.predict_proba(features))

    def _model(self) -> mixture.GaussianMixture:
        return mixture.GaussianMixture(self.n_clusters, n_init=self.n_init, random_state=self.seed_)
