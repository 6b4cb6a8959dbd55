"""Parameters of the Dirichlet process mixtures and infinite hidden Markov models, which find the number of clusters."""

from dataclasses import dataclass

from semicrowd.errors import UserError
from semicrowd.settings.baselines import Parameters
from semicrowd.settings.fields import choice, each, flag, number, setting, whole

_GAMMA = each(number(above=0), "[1.0, 1.0]", length=2)


@dataclass(eq=False, repr=False, kw_only=True)
class SampledParameters(Parameters):
    """What all Gibbs samplers of partitions have in common."""

    family: str = setting(
        "gaussian", "of the clusters: gaussian (any covariance) | multinomial (of counts)",
        choice("gaussian", "multinomial"),
    )  # fmt: skip
    n_chains: int = setting(10, "independent chains, in parallel", whole(1, 10_000))
    n_sweeps: int = setting(100, "of each chain", whole(1))
    n_start: int = setting(
        1, "clusters of a random first partition; 1: items are seated one after the other", whole(1, 10_000)
    )
    n_kept: int = setting(5, "last sweeps of each chain whose partitions are kept", whole(1))
    keep_every: int = setting(0, "also keep the partition of every so many sweeps; 0: the last alone", whole(0))
    loss: str = setting(
        "vi", "whose expectation is least for the kept partition that is shown: vi | binder", choice("vi", "binder")
    )
    alpha_prior: tuple[float, float] = setting((1.0, 1.0), "shape and rate of the concentration's Gamma prior", _GAMMA)
    scatter: float = setting(
        1.0, "gaussian: a cluster's expected covariance, in units of the columns' variances", number(above=0)
    )
    mean_strength: float = setting(0.01, "gaussian: items that the prior mean counts for", number(above=0))
    dirichlet: float = setting(0.01, "multinomial: parameter of the symmetric Dirichlet base", number(above=0))
    count_scale: float = setting(1.0, "multinomial: counts are X times this, rounded", number(above=0))

    def check_parameters(self, group: str = "") -> None:
        """As everywhere; what is kept must be of sweeps that there are, all with hyperplanes or all without."""
        super().check_parameters(group)
        prefix, warm = f"{group}." if group else "", getattr(self, "n_warm", 0)
        if warm + self.n_kept > self.n_sweeps:
            more = f" and {prefix}n_warm={warm} before them" if warm else ""
            raise UserError(f"{prefix}n_sweeps={self.n_sweeps}: too few for {prefix}n_kept={self.n_kept}{more}")


@dataclass(eq=False, repr=False, kw_only=True)
class DPMParameters(SampledParameters):
    """A Dirichlet process mixture (Antoniak 1974); answers are ignored."""

    splits: int = setting(
        0, "splits and merges of clusters that are proposed before a sweep without hyperplanes", whole(0)
    )


@dataclass(eq=False, repr=False, kw_only=True)
class IHMMParameters(SampledParameters):
    """An infinite hidden Markov model (Teh et al. 2006); rows are in order of time, answers are ignored."""

    gamma_prior: tuple[float, float] = setting(
        (1.0, 1.0), "shape and rate of the Gamma prior of the states' own concentration", _GAMMA
    )


@dataclass(eq=False, repr=False, kw_only=True)
class _WithPlanes(SampledParameters):
    n_warm: int = setting(10, "first sweeps without hyperplanes", whole(0))
    w: float = setting(1.0, "prior variance of a hyperplane's weights", number(above=0))
    bias: bool = setting(True, "hyperplanes that need not go through the origin", flag())
    scale: str = setting(
        "standard", "what hyperplanes see: standard (mean 0, one variance, length 1 in the mean) | none (X as it is)",
        choice("standard", "none"),
    )  # fmt: skip


@dataclass(eq=False, repr=False, kw_only=True)
class _Discriminative(_WithPlanes):
    new: str = setting(
        "corrected", "a new cluster's hyperplane is drawn: corrected (given that no item is in it) | paper (prior)",
        choice("corrected", "paper"),
    )  # fmt: skip


@dataclass(eq=False, repr=False, kw_only=True)
class DDPMParameters(_Discriminative, DPMParameters):
    """A Dirichlet process mixture whose clusters hyperplanes separate (Nguyen et al. 2017); answers are ignored."""


@dataclass(eq=False, repr=False, kw_only=True)
class MMGMParameters(_WithPlanes, DPMParameters):
    """A max-margin Dirichlet process mixture (Chen, Zhu & Zhang 2014); answers are ignored."""

    cost: float = setting(1.0, "of an item within the margin, as far as it is within", number(above=0))
    margin: float = setting(1.0, "between the scores of an item's cluster and of the best other", number(above=0))


@dataclass(eq=False, repr=False, kw_only=True)
class DIHParameters(_Discriminative, IHMMParameters):
    """An infinite hidden Markov model whose states hyperplanes separate (Nguyen et al. 2017); answers are ignored."""


#: Method → its parameters.
GIBBS_PARAMETERS: dict[str, type[Parameters]] = {
    "dpm": DPMParameters, "ddpm_s": DDPMParameters, "ddpm_l": DDPMParameters, "mmgm": MMGMParameters,
    "ihmm": IHMMParameters, "dih_s": DIHParameters, "dih_l": DIHParameters,
}  # fmt: skip
