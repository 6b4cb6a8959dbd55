"""Parameters of the Dirichlet process mixtures and infinite hidden Markov models, which find the number of clusters."""

from dataclasses import dataclass

from semicrowd.errors import UserError
from semicrowd.settings.baselines import QUALITY_PRIOR, Parameters
from semicrowd.settings.fields import choice, each, flag, number, setting, whole

_GAMMA = each(number(above=0), "[1.0, 1.0]", length=2)


@dataclass(eq=False, repr=False, kw_only=True)
class _Partitions(Parameters):
    """The prior of partitions, and that of Gaussians."""

    n_start: int = setting(
        1, "clusters of the first partition; 1: items are seated one after the other", whole(1, 10_000)
    )
    start: str = setting("random", "first partition: random | kmeans (its cells)", choice("random", "kmeans"))
    alpha: float | None = setting(None, "the concentration; null: it is drawn", number(above=0), optional=True)
    alpha_prior: tuple[float, float] = setting((1.0, 1.0), "shape and rate of the concentration's Gamma prior", _GAMMA)
    scatter: float = setting(
        1.0, "gaussian: a cluster's expected covariance, in units of the columns' variances", number(above=0)
    )
    mean_strength: float = setting(0.01, "gaussian: items that the prior mean counts for", number(above=0))
    variance_strength: float = setting(1.0, "isotropic: items that the prior variance counts for", number(above=0))
    eq19: str = setting(
        "corrected", "isotropic: marginal density of a new cluster: corrected | printed (as the paper has it)",
        choice("corrected", "printed"),
    )  # fmt: skip


@dataclass(eq=False, repr=False, kw_only=True)
class SampledParameters(_Partitions):
    """What all Gibbs samplers of partitions have in common."""

    family: str = setting(
        "gaussian",
        "of the clusters: gaussian (any covariance) | isotropic (gaussian, one variance) | multinomial (of counts)",
        choice("gaussian", "isotropic", "multinomial"),
    )
    n_chains: int = setting(10, "independent chains, in parallel", whole(1, 10_000))
    n_sweeps: int = setting(100, "of each chain", whole(1))
    n_kept: int = setting(5, "last sweeps of each chain whose partitions are kept", whole(1))
    keep_every: int = setting(0, "also keep the partition of every so many sweeps; 0: the last alone", whole(0))
    loss: str = setting(
        "vi", "whose expectation is least for the kept partition that is shown: vi | binder", choice("vi", "binder")
    )
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
    """DPM: a Dirichlet process mixture of Gaussians or multinomials; finds the number of clusters (Antoniak 1974)."""

    splits: int = setting(
        0, "splits and merges of clusters that are proposed before a sweep (mmgm, new=paper: one without hyperplanes)",
        whole(0),
    )  # fmt: skip


@dataclass(eq=False, repr=False, kw_only=True)
class IHMMParameters(SampledParameters):
    """Infinite hidden Markov model: rows in order of time; finds the number of states (Teh et al. 2006)."""

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
    """Dirichlet process mixtures whose clusters hyperplanes separate (Nguyen et al. 2017)."""


@dataclass(eq=False, repr=False, kw_only=True)
class DDPMSParameters(DDPMParameters):
    """DDPM-S: DPM with a Bayesian support vector machine for each cluster (Nguyen et al. 2017)."""


@dataclass(eq=False, repr=False, kw_only=True)
class DDPMLParameters(DDPMParameters):
    """DDPM-L: DPM with a Bayesian logistic regression for each cluster (Nguyen et al. 2017)."""


@dataclass(eq=False, repr=False, kw_only=True)
class MMGMParameters(_WithPlanes, DPMParameters):
    """Max-margin Dirichlet process mixture (Chen, Zhu & Zhang 2014); answers are ignored."""

    cost: float = setting(1.0, "of an item within the margin, as far as it is within", number(above=0))
    margin: float = setting(1.0, "between the scores of an item's cluster and of the best other", number(above=0))


@dataclass(eq=False, repr=False, kw_only=True)
class DIHParameters(_Discriminative, IHMMParameters):
    """Infinite hidden Markov models whose states hyperplanes separate (Nguyen et al. 2017)."""


@dataclass(eq=False, repr=False, kw_only=True)
class DIHSParameters(DIHParameters):
    """DIH-S: infinite HMM with a Bayesian support vector machine for each state (Nguyen et al. 2017)."""


@dataclass(eq=False, repr=False, kw_only=True)
class DIHLParameters(DIHParameters):
    """DIH-L: infinite HMM with a Bayesian logistic regression for each state (Nguyen et al. 2017)."""


@dataclass(eq=False, repr=False, kw_only=True)
class DeepDPMParameters(_Partitions):
    """Deep DPM: a flow that keeps volumes and a Dirichlet process mixture behind it; finds the number of clusters."""

    start: str = setting("kmeans", "first partition: random | kmeans (its cells)", choice("random", "kmeans"))
    scatter: float = setting(0.5, "a cluster's expected variance, in units of the columns' variances", number(above=0))
    variance_strength: float = setting(40.0, "items that the prior variance counts for", number(above=0))
    n_warm: int = setting(3, "first epochs, in which the flow stays the identity", whole(0))
    n_epochs: int = setting(300, "epochs in which the flow learns, after the first", whole(1))
    n_sweeps: int = setting(3, "of the Gibbs sampler in an epoch", whole(1))
    splits: int = setting(
        10, "splits and merges of clusters that are proposed before a sweep of the first epochs", whole(0)
    )
    unions: bool = setting(
        True, "at the end, Gaussians are one cluster where items and partition are then likelier together", flag()
    )
    n_steps: int | None = setting(
        10, "of the flow in an epoch; null: N / 5, as the paper has it", whole(0), optional=True
    )
    batch_size: int = setting(128, "items of a step", whole(1))
    learning_rate: float = setting(1e-3, "of the flow, by Adam", number(above=0))
    quality_prior: tuple[float, float] = setting(
        QUALITY_PRIOR, "Beta prior of the annotators' sensitivity and specificity",
        each(number(above=0), "[10.0, 1.0]", length=2),
    )  # fmt: skip
    n_layers: int = setting(6, "coupling layers of the flow", whole(1, 1000))
    width: int = setting(512, "hidden units of each", whole(1, 100_000))
    keep_every: int = setting(0, "the flow of every so many epochs is kept, too; 0: the last alone", whole(0))
