"""Infinite hidden Markov models by Gibbs sampling, with and without hyperplanes between the states.

Teh, Jordan, Beal & Blei 2006; Nguyen, Phung, Le & Bui 2017. The number of states is found; answers are ignored.
"""

from dataclasses import dataclass

from semicrowd.estimators.ordered import OrderedClusterer
from semicrowd.methods.gibbs import GAMMA, DiscriminativeParameters, SampledClusterer, SampledParameters
from semicrowd.settings.fields import setting


@dataclass(eq=False, repr=False, kw_only=True)
class IHMMParameters(SampledParameters):
    """Parameters of :class:`IHMM`."""

    gamma_prior: tuple[float, float] = setting(
        (1.0, 1.0), "shape and rate of the Gamma prior of the states' own concentration", GAMMA
    )


@dataclass(eq=False, repr=False, kw_only=True)
class DIHParameters(DiscriminativeParameters, IHMMParameters):
    """Infinite hidden Markov models whose states hyperplanes separate (Nguyen et al. 2017)."""


@dataclass(eq=False, repr=False, kw_only=True)
class DIHSParameters(DIHParameters):
    """Parameters of :class:`DIHS`."""


@dataclass(eq=False, repr=False, kw_only=True)
class DIHLParameters(DIHParameters):
    """Parameters of :class:`DIHL`."""


class _Sequential(OrderedClusterer, SampledClusterer):
    """Items in order of time."""


class IHMM(IHMMParameters, _Sequential):
    """An infinite hidden Markov model: states that rows in order of time go through. No prediction row by row.

    Attributes are those of :class:`DPM` but for ``sizes_``.
    """


class DIHS(DIHSParameters, _Sequential):
    """DIH-S: an infinite hidden Markov model with a Bayesian support vector machine for each state against all others.

    Attributes are those of :class:`IHMM`, and ``hyperplanes_``.
    """

    loss_of_planes = "svm"


class DIHL(DIHLParameters, _Sequential):
    """DIH-L: an infinite hidden Markov model with a Bayesian logistic regression for each state against all others.

    Attributes are those of :class:`IHMM`, and ``hyperplanes_``.
    """

    loss_of_planes = "logistic"
