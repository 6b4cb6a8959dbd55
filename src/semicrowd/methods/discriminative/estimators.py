"""Dirichlet process mixtures and infinite hidden Markov models, with and without hyperplanes between the clusters.

Antoniak 1974; Teh, Jordan, Beal & Blei 2006; Chen, Zhu & Zhang 2014; Nguyen, Phung, Le & Bui 2017, "Discriminative
Bayesian nonparametric clustering" (IJCAI), whose equations are quoted. The number of clusters is estimated; answers are
ignored.
"""

from typing import Any

import numpy as np
from scipy.special import log_softmax

from semicrowd.inference.gibbs.gaussian import Gaussian
from semicrowd.inference.gibbs.hyperplanes import Hyperplanes
from semicrowd.inference.gibbs.multinomial import Multinomial
from semicrowd.inference.gibbs.sweep import predictive, seat
from semicrowd.methods.discriminative.margins import Margins
from semicrowd.methods.discriminative.sampling import PlanesClusterer, SampledClusterer
from semicrowd.methods.unsupervised import OrderedClusterer, checked_counts
from semicrowd.result import Assignment


class _Mixture(SampledClusterer):
    """Mixture of items without order; new items are assigned by the predictive density, given the partition labels_."""

    splits: int
    sizes_: np.ndarray
    clusters_: dict

    def predict(self, X: Any) -> np.ndarray:
        """Clusters [N] of items."""
        return Assignment.of(self.predict_proba(X), self.components_).cluster

    def predict_proba(self, X: Any) -> np.ndarray:
        """Cluster probabilities [N, K], given the partition ``labels_``: eq. 5 for an item that is in no cluster."""
        return self._in_order(self._probabilities(self._new_items(X)))

    def _of_features(self, features: np.ndarray, final: Assignment) -> Assignment:
        family = self._families(features)(int(final.cluster.max()) + 1)
        self.sizes_ = np.zeros(int(final.cluster.max()) + 1, np.int64)
        seat(family, final.cluster, self.sizes_)
        self.clusters_ = family.of(np.zeros((0, features.shape[1])))._asdict()
        return Assignment.of(self._probabilities(features))

    def _probabilities(self, features: np.ndarray) -> np.ndarray:
        counted = self.family == "multinomial"
        kind: Any = Multinomial if counted else Gaussian
        family = kind(**self.clusters_).of(checked_counts(features, self.count_scale) if counted else features)
        score = predictive(family, len(features), len(self.sizes_)) + np.log(self.sizes_)
        if self.loss_of_planes:
            planes = self._planes(self._seen(features))
            score += planes.log_ratio(self.hyperplanes_, np.arange(len(self.sizes_)))
        return np.exp(log_softmax(score, axis=-1))


class DPM(_Mixture):
    """A Dirichlet process mixture of Gaussians or multinomials, whose parameters are integrated out.

    Several chains are sampled, from random initial partitions, by these steps (Antoniak 1974; eq. 5 of Nguyen et al.
    2017 without its last factor):

    1. Splits and merges of clusters are proposed (Dahl 2005; :mod:`semicrowd.inference.gibbs.splits`).
    2. Each item leaves its cluster and enters one with probability
       p(z_i = k | …) ∝ n_k p(x_i | items of k), or a new one ∝ α p(x_i), with the parameters of clusters integrated
       out: a Student density for Gaussians, a Dirichlet-multinomial for counts.
    3. The concentration α ~ Gamma(1, 1) is sampled (Escobar & West 1995).

    ``labels_`` is the partition with the least expected loss (variation of information) among those of the last sweeps;
    ``mixed_`` is whether the chains have mixed. Answers are ignored.

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

    Examples
    --------
    >>> import numpy as np
    >>> from semicrowd import DPM
    >>> X = np.repeat([[0.0, 0], [50, 50]], 20, axis=0) + np.sin(np.arange(80)).reshape(40, 2)
    >>> DPM(n_chains=2, n_sweeps=20, scatter=0.01).fit(X).n_clusters_
    2
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

    Cluster k has a hyperplane η_k ~ N(0, w I), and p(y_ik | x_i, η_k) ∝ exp(−2 max(1 − y_ik η_kᵀ x_i, 0)) is the
    likelihood of an item's side y_ik, 1 in the cluster and −1 in all others (Nguyen et al. 2017, eq. 2). The first
    ``n_warm`` sweeps are those of :class:`DPM`; the others have these steps:

    1. Auxiliary variables, one for each item and hyperplane, 1/λ ~ InverseGaussian(1 / |1 − y η_kᵀ x_i|, 1); given
       them η_k is Gaussian and is sampled (eq. 4; :mod:`semicrowd.inference.gibbs.hyperplanes`).
    2. Splits and merges of clusters, with their hyperplanes, are proposed.
    3. The cluster of each item is sampled as by :class:`DPM`, times p(y_ik = 1 | x_i, η_k) / p(y_ik = −1 | x_i, η_k)
       (eqs. 3 and 5).
    4. The concentration is sampled.

    Parameters and attributes are those of :class:`DPM`, and these.

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

    Nguyen, Phung, Le & Bui 2017: :class:`DDPMS` with p(y_ik | x_i, η_k) = 1 / (1 + exp(−y_ik η_kᵀ x_i)), and auxiliary
    variables ~ PólyaGamma(1, η_kᵀ x_i). Parameters and attributes are those of :class:`DDPMS`.
    """

    loss_of_planes = "logistic"


class MaxMarginMixture(_Mixture, PlanesClusterer):
    """MMGM: a Dirichlet process mixture with a margin between an item's cluster and the best other.

    Chen, Zhu & Zhang 2014 (:mod:`semicrowd.methods.discriminative.margins`). Parameters and attributes are those of
    :class:`DDPMS` with ``new="paper"``; the score of a cluster is given by its hyperplane, and the factor of the hinge
    loss and the margin are 1. Hyperplanes are sampled given the partition. The clusters with which an item's cluster is
    compared are updated only once per sweep, so the samples are not exactly from one joint posterior.
    """

    loss_of_planes = "margin"
    new: str

    def __init__(
        self, *, n_start: int = 1, scatter: float = 1.0, family: str = "gaussian", n_chains: int = 10,
        n_sweeps: int = 100, n_kept: int = 5, keep_every: int = 0, count_scale: float = 1.0, n_warm: int = 10,
        w: float = 1.0, bias: bool = True, scale: str = "standard", splits: int = 0, random_state: Any = 0,
        verbose: Any = False,
    ) -> None:  # fmt: skip
        super().__init__(
            n_start=n_start, scatter=scatter, family=family, n_chains=n_chains, n_sweeps=n_sweeps, n_kept=n_kept,
            keep_every=keep_every, count_scale=count_scale, n_warm=n_warm, w=w, bias=bias, scale=scale, new="paper",
            random_state=random_state, verbose=verbose,
        )  # fmt: skip
        self.splits = splits

    def _planes(self, items: np.ndarray) -> Hyperplanes:
        return Margins(items, self.loss_of_planes, self.w)


class IHMM(OrderedClusterer, SampledClusterer):
    """An infinite hidden Markov model of rows in temporal order (Teh et al. 2006).

    The steps are those of :class:`DPM`, with the transitions to and from an item for n_k
    (:mod:`semicrowd.inference.gibbs.franchise`; Nguyen et al. 2017, section 3.2), and without splits. It cannot predict
    states of new rows. Parameters and attributes are those of :class:`DPM` without ``splits``, ``sizes_`` and
    ``clusters_``.
    """


class DIHS(OrderedClusterer, PlanesClusterer):
    """DIH-S: an infinite hidden Markov model with a Bayesian support vector machine for each state against all others.

    Nguyen, Phung, Le & Bui 2017: :class:`IHMM` with the hyperplanes of DDPM-S. Parameters and attributes are those of
    :class:`DDPMS` without ``splits``, ``sizes_`` and ``clusters_``.
    """

    loss_of_planes = "svm"


class DIHL(OrderedClusterer, PlanesClusterer):
    """DIH-L: an infinite hidden Markov model with a Bayesian logistic regression for each state against all others.

    Nguyen, Phung, Le & Bui 2017. Parameters and attributes are those of :class:`DIHS`.
    """

    loss_of_planes = "logistic"
