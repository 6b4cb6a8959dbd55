"""Infinite hidden Markov models by Gibbs sampling, with and without hyperplanes between the states.

Teh, Jordan, Beal & Blei 2006; Nguyen, Phung, Le & Bui 2017. The number of states is estimated; answers are ignored.
"""

from dataclasses import dataclass

from semicrowd.estimators.base import OrderedClusterer
from semicrowd.methods.gibbs import GAMMA, DiscriminativeParameters, SampledClusterer, SampledParameters
from semicrowd.settings.fields import setting


@dataclass(eq=False, repr=False, kw_only=True)
class IHMMParameters(SampledParameters):
    """Parameters of :class:`IHMM`."""

    gamma_prior: tuple[float, float] = setting(
        (1.0, 1.0), "shape and rate of the Gamma prior of gamma, the top-level concentration", GAMMA
    )


@dataclass(eq=False, repr=False, kw_only=True)
class DIHParameters(DiscriminativeParameters, IHMMParameters):
    """Parameters of :class:`DIHS` and :class:`DIHL`, with hyperplanes between states (Nguyen et al. 2017)."""


class IHMM(IHMMParameters, OrderedClusterer, SampledClusterer):
    """An infinite hidden Markov model of rows in temporal order. It cannot predict states of new rows.

    Attributes are those of :class:`DPM` except ``sizes_``.
    """


class DIHS(DIHParameters, OrderedClusterer, SampledClusterer):
    """DIH-S: an infinite hidden Markov model with a Bayesian support vector machine for each state against all others.

    Attributes are those of :class:`IHMM`, and ``hyperplanes_``.
    """

    loss_of_planes = "svm"


class DIHL(DIHParameters, OrderedClusterer, SampledClusterer):
    """DIH-L: an infinite hidden Markov model with a Bayesian logistic regression for each state against all others.

    Attributes are those of :class:`IHMM`, and ``hyperplanes_``.
    """

    loss_of_planes = "logistic"
