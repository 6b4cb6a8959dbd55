"""Dirichlet process mixtures by Gibbs sampling, with and without hyperplanes between the clusters.

Antoniak 1974; Nguyen, Phung, Le & Bui 2017; Chen, Zhu & Zhang 2014. The number of clusters is estimated; answers are
ignored.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import log_softmax

from semicrowd.estimators.inputs import checked_counts
from semicrowd.fitting.result import Assignment
from semicrowd.methods.gibbs import DiscriminativeParameters, PlaneParameters, SampledClusterer, SampledParameters
from semicrowd.settings.fields import number, setting, whole

if TYPE_CHECKING:
    from semicrowd.inference.gibbs.chain import Chain, Model
    from semicrowd.inference.gibbs.hyperplanes import Hyperplanes


@dataclass(eq=False, repr=False, kw_only=True)
class DPMParameters(SampledParameters):
    """Parameters of :class:`DPM`."""

    splits: int = setting(
        0, "split or merge proposals before each sweep (mmgm, and new=paper: only before sweeps without hyperplanes)",
        whole(0, 1000),
    )  # fmt: skip


@dataclass(eq=False, repr=False, kw_only=True)
class DDPMParameters(DiscriminativeParameters, DPMParameters):
    """Parameters of :class:`DDPMS` and :class:`DDPML`, with hyperplanes between clusters (Nguyen et al. 2017)."""


@dataclass(eq=False, repr=False, kw_only=True)
class MMGMParameters(PlaneParameters, DPMParameters):
    """Parameters of :class:`MaxMarginMixture`."""

    cost: float = setting(1.0, "factor of the hinge loss of an item within the margin", number(above=0))
    margin: float = setting(1.0, "margin between the scores of an item's cluster and the best other", number(above=0))


class _Mixture(SampledClusterer):
    """Mixture of items without order; new items are assigned by the predictive density, given the partition labels_."""

    def predict(self, X: Any) -> np.ndarray:
        """Clusters [N] of items."""
        return Assignment.of(self.predict_proba(X), self.components_).cluster

    def predict_proba(self, X: Any) -> np.ndarray:
        """Cluster probabilities [N, K], given the partition ``labels_``."""
        return self._in_order(self._probabilities(self._new_items(X)))

    def _of_features(self, features: np.ndarray, final: Assignment) -> Assignment:
        from semicrowd.inference.gibbs.sweep import seat

        family = self._families(features)(int(final.cluster.max()) + 1)
        self.sizes_ = np.zeros(int(final.cluster.max()) + 1, np.int64)
        seat(family, final.cluster, self.sizes_)
        if self.family == "isotropic":
            family = family.expected()
        self.clusters_ = family.of(np.zeros((0, features.shape[1])))._asdict()
        return Assignment.of(self._probabilities(features))

    def _probabilities(self, features: np.ndarray) -> np.ndarray:
        from semicrowd.inference.gibbs.gaussian import Gaussian
        from semicrowd.inference.gibbs.isotropic import Isotropic
        from semicrowd.inference.gibbs.multinomial import Multinomial
        from semicrowd.inference.gibbs.sweep import predictive

        kinds: dict[str, Any] = {"gaussian": Gaussian, "isotropic": Isotropic, "multinomial": Multinomial}
        items = checked_counts(features, self.count_scale) if self.family == "multinomial" else features
        family = kinds[self.family](**self.clusters_).of(items)
        score = predictive(family, len(features), len(self.sizes_)) + np.log(self.sizes_)
        if self.loss_of_planes:
            score += self._tilt(self._seen(features) @ self.hyperplanes_.T)
        return np.exp(log_softmax(score, axis=-1))


class DPM(DPMParameters, _Mixture):
    """A Dirichlet process mixture of Gaussians or multinomials, whose parameters are integrated out.

    Several chains are sampled from different initial partitions. ``labels_`` is the partition with the least expected
    loss among those of their last sweeps; :attr:`mixed_` is whether the chains have mixed.

    Attributes
    ----------
    chains_ : data frame, a row for each sweep of each chain: number of clusters, ln p(x | partition), concentrations
    rhat_, ess_ : R-hat and effective sample size of ``clusters`` and ``log_likelihood`` over the second half of the
        sweeps
    mixed_ : whether R-hat and effective sample size are within the usual limits
    sizes_ : [K] number of items of each cluster of ``labels_``
    """


class DDPMS(DDPMParameters, _Mixture):
    """DDPM-S: a Dirichlet process mixture with a Bayesian support vector machine for each cluster against all others.

    Otherwise like :class:`DPM`.

    Attributes
    ----------
    hyperplanes_ : [K, D] or, with bias, [K, D + 1] weights of the clusters of ``labels_``
    """

    loss_of_planes = "svm"


class DDPML(DDPMParameters, _Mixture):
    """DDPM-L: a Dirichlet process mixture with a Bayesian logistic regression for each cluster against all others.

    Attributes are those of :class:`DDPMS`.
    """

    loss_of_planes = "logistic"


class MaxMarginMixture(MMGMParameters, _Mixture):
    """MMGM: a Dirichlet process mixture with a margin between an item's cluster and the best other (Chen et al. 2014).

    Otherwise like :class:`DDPMS`; the score of a cluster is given by its hyperplane. Hyperplanes are sampled given the
    partition. The clusters with which an item's cluster is compared are updated only once per sweep, so the samples are
    not exactly from one joint posterior.
    """

    loss_of_planes = "margin"
    new = "paper"

    def _planes(self, items: np.ndarray) -> "Hyperplanes":
        from semicrowd.inference.gibbs.margins import Margins

        return Margins(items, self.loss_of_planes, self.w, self.cost, self.margin)

    def _chain(self, model: "Model") -> "Chain":
        from semicrowd.inference.gibbs.margins import MarginChain

        return MarginChain(model)

    def _tilt(self, score: np.ndarray) -> np.ndarray:
        from semicrowd.inference.gibbs.margins import log_margins

        return log_margins(score, np.arange(score.shape[1]), self.cost, self.margin)
