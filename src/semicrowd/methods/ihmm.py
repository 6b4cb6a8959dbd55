"""Infinite hidden Markov models by Gibbs sampling, with and without hyperplanes between the states.

Teh, Jordan, Beal & Blei 2006; Nguyen, Phung, Le & Bui 2017. The number of states is estimated; answers are ignored.
"""

from semicrowd.estimators.base import OrderedClusterer
from semicrowd.methods.gibbs import PlanesClusterer, SampledClusterer


class IHMM(OrderedClusterer, SampledClusterer):
    """An infinite hidden Markov model of rows in temporal order (Teh et al. 2006).

    It cannot predict states of new rows. Several chains are sampled; ``labels_`` is the partition with the least
    expected loss (variation of information) among those of their last sweeps. Parameters are those of :class:`DPM`
    without ``splits``.

    Attributes
    ----------
    chains_ : DataFrame
        A row for each sweep of each chain: number of clusters, ln p(x | partition), concentrations.
    rhat_, ess_ : dict
        R-hat and effective sample size of ``clusters`` and ``log_likelihood`` over the second half of the sweeps.
    mixed_ : bool
        Whether R-hat and effective sample size are within the usual limits.
    """


class DIHS(OrderedClusterer, PlanesClusterer):
    """DIH-S: an infinite hidden Markov model with a Bayesian support vector machine for each state against all others.

    Nguyen, Phung, Le & Bui 2017. Parameters are those of :class:`DDPMS` without ``splits``.

    Attributes
    ----------
    chains_ : DataFrame
        A row for each sweep of each chain: number of clusters, ln p(x | partition), concentrations.
    rhat_, ess_ : dict
        R-hat and effective sample size of ``clusters`` and ``log_likelihood`` over the second half of the sweeps.
    mixed_ : bool
        Whether R-hat and effective sample size are within the usual limits.
    hyperplanes_ : ndarray of shape (n_clusters_, n_features) or, with bias, (n_clusters_, n_features + 1)
        Weights of the clusters of ``labels_``.
    plane_center_, plane_scale_ : ndarray of shape (n_features,)
        Scaling of the hyperplanes' input.
    """

    loss_of_planes = "svm"


class DIHL(OrderedClusterer, PlanesClusterer):
    """DIH-L: an infinite hidden Markov model with a Bayesian logistic regression for each state against all others.

    Nguyen, Phung, Le & Bui 2017. Parameters and attributes are those of :class:`DIHS`.
    """

    loss_of_planes = "logistic"
