"""Dirichlet process mixtures by Gibbs sampling, with and without hyperplanes between the clusters.

Antoniak 1974; Nguyen, Phung, Le & Bui 2017; Chen, Zhu & Zhang 2014. The number of clusters is estimated; answers are
ignored.
"""

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import log_softmax

from semicrowd.estimators.inputs import checked_counts
from semicrowd.methods.gibbs import PlanesClusterer, SampledClusterer
from semicrowd.result import Assignment

if TYPE_CHECKING:
    from semicrowd.inference.gibbs.chain import Chain, Model
    from semicrowd.inference.gibbs.hyperplanes import Hyperplanes

#: Of max-margin mixtures: factor of the hinge loss of an item within the margin, and the margin between the scores of
#: an item's cluster and the best other.
_COST, _MARGIN = 1.0, 1.0


class _Mixture(SampledClusterer):
    """Mixture of items without order; new items are assigned by the predictive density, given the partition labels_."""

    splits: int
    sizes_: np.ndarray
    clusters_: dict

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
        self.clusters_ = family.of(np.zeros((0, features.shape[1])))._asdict()
        return Assignment.of(self._probabilities(features))

    def _probabilities(self, features: np.ndarray) -> np.ndarray:
        from semicrowd.inference.gibbs.gaussian import Gaussian
        from semicrowd.inference.gibbs.multinomial import Multinomial
        from semicrowd.inference.gibbs.sweep import predictive

        counted = self.family == "multinomial"
        kind: Any = Multinomial if counted else Gaussian
        family = kind(**self.clusters_).of(checked_counts(features, self.count_scale) if counted else features)
        score = predictive(family, len(features), len(self.sizes_)) + np.log(self.sizes_)
        if self.loss_of_planes:
            score += self._tilt(self._seen(features) @ self.hyperplanes_.T)
        return np.exp(log_softmax(score, axis=-1))


class DPM(_Mixture):
    """A Dirichlet process mixture of Gaussians or multinomials, whose parameters are integrated out.

    Answers are ignored. Several chains are sampled from random initial partitions (Antoniak 1974). ``labels_`` is the
    partition with the least expected loss (variation of information) among those of their last sweeps; ``mixed_`` is
    whether the chains have mixed.

    Parameters
    ----------
    n_start : int, default=1
        Number of clusters of the initial random partition; 1: items are assigned one after the other.
    scatter : float, default=1.0
        With gaussian, the prior mean of a cluster's covariance, in units of the columns' variances.
    family : {"gaussian", "multinomial"}, default="gaussian"
        Distribution of a cluster: Gaussian with full covariance, or multinomial for counts.
    n_chains : int, default=10
        Number of independent chains.
    n_sweeps : int, default=100
        Sweeps of each chain.
    n_kept : int, default=5
        Number of last sweeps of each chain whose partitions are kept.
    keep_every : int, default=0
        Interval of sweeps after which a partition is also kept; 0: only the last ones.
    count_scale : float, default=1.0
        With multinomial, counts are X multiplied by this, rounded.
    splits : int, default=0
        Split or merge proposals before each sweep.
    random_state : int, RandomState instance or None, default=0
    verbose : bool, default=False

    Attributes
    ----------
    chains_ : DataFrame
        A row for each sweep of each chain: number of clusters, ln p(x | partition), concentrations.
    rhat_, ess_ : dict
        R-hat and effective sample size of ``clusters`` and ``log_likelihood`` over the second half of the sweeps.
    mixed_ : bool
        Whether R-hat and effective sample size are within the usual limits.
    sizes_ : ndarray of shape (n_clusters_,)
        Number of items of each cluster of ``labels_``.
    clusters_ : dict
        Their sufficient statistics.
    """

    def __init__(
        self, *, n_start: int = 1, scatter: float = 1.0, family: str = "gaussian", n_chains: int = 10,
        n_sweeps: int = 100, n_kept: int = 5, keep_every: int = 0, count_scale: float = 1.0, splits: int = 0,
        random_state: Any = 0, verbose: Any = False,
    ) -> None:  # fmt: skip
        super().__init__(
            n_start=n_start, scatter=scatter, family=family, n_chains=n_chains, n_sweeps=n_sweeps, n_kept=n_kept,
            keep_every=keep_every, count_scale=count_scale, random_state=random_state, verbose=verbose,
        )  # fmt: skip
        self.splits = splits


class DDPMS(_Mixture, PlanesClusterer):
    """DDPM-S: a Dirichlet process mixture with a Bayesian support vector machine for each cluster against all others.

    Nguyen, Phung, Le & Bui 2017. Parameters and attributes are those of :class:`DPM`, and these.

    Parameters
    ----------
    n_warm : int, default=10
        Number of first sweeps without hyperplanes.
    w : float, default=1.0
        Prior variance of a hyperplane's weights.
    bias : bool, default=True
        Hyperplanes with an intercept.
    scale : {"standard", "none"}, default="standard"
        Scaling of the hyperplanes' input: columns of mean 0 and equal variance, rows of mean squared length 1.
    new : {"corrected", "paper"}, default="corrected"
        Distribution of a new cluster's hyperplane: given that it is empty, or its prior, as in the paper.
    splits : int, default=0
        Split or merge proposals before each sweep; with ``new="paper"`` only before sweeps without hyperplanes.

    Attributes
    ----------
    hyperplanes_ : ndarray of shape (n_clusters_, n_features) or, with bias, (n_clusters_, n_features + 1)
        Weights of the clusters of ``labels_``.
    plane_center_, plane_scale_ : ndarray of shape (n_features,)
        Scaling of the hyperplanes' input.
    """

    loss_of_planes = "svm"

    def __init__(
        self, *, n_start: int = 1, scatter: float = 1.0, family: str = "gaussian", n_chains: int = 10,
        n_sweeps: int = 100, n_kept: int = 5, keep_every: int = 0, count_scale: float = 1.0, n_warm: int = 10,
        w: float = 1.0, bias: bool = True, scale: str = "standard", new: str = "corrected", splits: int = 0,
        random_state: Any = 0, verbose: Any = False,
    ) -> None:  # fmt: skip
        super().__init__(
            n_start=n_start, scatter=scatter, family=family, n_chains=n_chains, n_sweeps=n_sweeps, n_kept=n_kept,
            keep_every=keep_every, count_scale=count_scale, n_warm=n_warm, w=w, bias=bias, scale=scale, new=new,
            random_state=random_state, verbose=verbose,
        )  # fmt: skip
        self.splits = splits


class DDPML(DDPMS):
    """DDPM-L: a Dirichlet process mixture with a Bayesian logistic regression for each cluster against all others.

    Nguyen, Phung, Le & Bui 2017. Parameters and attributes are those of :class:`DDPMS`.
    """

    loss_of_planes = "logistic"


class MaxMarginMixture(_Mixture, PlanesClusterer):
    """MMGM: a Dirichlet process mixture with a margin between an item's cluster and the best other.

    Chen, Zhu & Zhang 2014. Parameters and attributes are those of :class:`DDPMS` with ``new="paper"``; the score of a
    cluster is given by its hyperplane, and the factor of the hinge loss and the margin are 1. Hyperplanes are sampled
    given the partition. The clusters with which an item's cluster is compared are updated only once per sweep, so the
    samples are not exactly from one joint posterior.
    """

    loss_of_planes, new = "margin", "paper"

    def __init__(
        self, *, n_start: int = 1, scatter: float = 1.0, family: str = "gaussian", n_chains: int = 10,
        n_sweeps: int = 100, n_kept: int = 5, keep_every: int = 0, count_scale: float = 1.0, n_warm: int = 10,
        w: float = 1.0, bias: bool = True, scale: str = "standard", splits: int = 0, random_state: Any = 0,
        verbose: Any = False,
    ) -> None:  # fmt: skip
        SampledClusterer.__init__(
            self, n_start=n_start, scatter=scatter, family=family, n_chains=n_chains, n_sweeps=n_sweeps, n_kept=n_kept,
            keep_every=keep_every, count_scale=count_scale, random_state=random_state, verbose=verbose,
        )  # fmt: skip
        self.n_warm = n_warm
        self.w = w
        self.bias = bias
        self.scale = scale
        self.splits = splits

    def _planes(self, items: np.ndarray) -> "Hyperplanes":
        from semicrowd.inference.gibbs.margins import Margins

        return Margins(items, self.loss_of_planes, self.w, _COST, _MARGIN)

    def _chain(self, model: "Model") -> "Chain":
        from semicrowd.inference.gibbs.margins import MarginChain

        return MarginChain(model)

    def _tilt(self, score: np.ndarray) -> np.ndarray:
        from semicrowd.inference.gibbs.margins import log_margins

        return log_margins(score, np.arange(score.shape[1]), _COST, _MARGIN)
