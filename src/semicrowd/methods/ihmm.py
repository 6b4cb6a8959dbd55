"""Infinite hidden Markov models by Gibbs sampling, with and without hyperplanes between the states.

Teh, Jordan, Beal & Blei 2006; Nguyen, Phung, Le & Bui 2017. The number of states is estimated; answers are ignored.
"""

from semicrowd.estimators.base import OrderedClusterer
from semicrowd.methods.gibbs import PlanesClusterer, SampledClusterer


class IHMM(OrderedClusterer, SampledClusterer):
    """An infinite hidden Markov model of rows in temporal order (Teh et al. 2006).

    It cannot predict states of new rows. Several chains are sampled; ``labels_`` is the partition with the least
    expected loss (variation of information) among those of their last sweeps. Parameters and attributes are those of
    :class:`DPM` without ``splits``, ``sizes_`` and ``clusters_``.
    """


class DIHS(OrderedClusterer, PlanesClusterer):
    """DIH-S: an infinite hidden Markov model with a Bayesian support vector machine for each state against all others.

    Nguyen, Phung, Le & Bui 2017. Parameters and attributes are those of :class:`DDPMS` without ``splits``, ``sizes_``
    and ``clusters_``.
    """

    loss_of_planes = "svm"


class DIHL(OrderedClusterer, PlanesClusterer):
    """DIH-L: an infinite hidden Markov model with a Bayesian logistic regression for each state against all others.

    Nguyen, Phung, Le & Bui 2017. Parameters and attributes are those of :class:`DIHS`.
    """

    loss_of_planes = "logistic"
