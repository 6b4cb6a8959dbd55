"""Parameters of the methods beside SCDC and BayesSCDC, as scikit-learn has them: mutable, and checked by a fit.

Each estimator of :mod:`semicrowd.estimators` inherits its class of parameters, which thus are written once: signature,
defaults, lines of help, checks. On the command line they are ``model.NAME``, ``n_clusters`` is ``model.K`` and
``random_state`` is ``seed``.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self

from semicrowd.errors import UserError
from semicrowd.settings.fields import (
    Settings,
    check,
    choice,
    described,
    each,
    flag,
    names,
    number,
    setting,
    shown,
    whole,
)

#: Beta prior of sensitivity and specificity where annotators are trusted until their answers speak against it: right in
#: ten of eleven answers. MCVC's (Chang et al. 2017).
QUALITY_PRIOR = (10.0, 1.0)

_WIDTHS = each(whole(1, 100_000), "[40, 40]")
_STARTS = "starts; the one with the best objective is kept"
_STANDARDIZE = "features to mean 0 and variance 1"
_WEIGHTING = "of a majority vote: unit | net (the majority in answers)"


@dataclass(eq=False, repr=False, kw_only=True)
class Parameters:
    """What all methods have."""

    #: Parameter → its name on the command line, where that is another.
    spelling: ClassVar[dict[str, str]] = {"n_clusters": "K"}
    #: Other groups that have settings of the method.
    others: ClassVar[Mapping[str, type[Settings]]] = {}

    random_state: Any = 0

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Self:
        """Parameters by their names on the command line; what is left out keeps its default.

        Raises
        ------
        UserError
            For values that do not fit, alone or together.
        """
        names_of = {one.spelled: one.name for one in described(cls)}
        given = {names_of.get(name, name): value for name, value in values.items()}
        check(cls, given, "model")
        made = cls(**given)
        made.check_parameters("model")
        return made

    def check_parameters(self, group: str = "") -> None:
        """Refuse values that do not fit, alone or together.

        Parameters
        ----------
        group : of the command line, which a message names them by

        Raises
        ------
        UserError
            Naming the parameter, its value and what was expected.
        """
        check(type(self), {name: self.plain(name) for name in names(type(self))}, group)

    def plain(self, name: str) -> Any:
        """A parameter's value, a number or a list where it is NumPy's."""
        value = getattr(self, name)
        return value.tolist() if hasattr(value, "tolist") else value


@dataclass(eq=False, repr=False, kw_only=True)
class CoTrainingParameters(Parameters):
    """Co-training: classifiers of the features and the answers teach each other; no generative model."""

    max_clusters: int | None = setting(
        None, "clusters at most; null: twice the square root of the number of annotated items (of all, without "
        "answers), 4 to 50", whole(2, 100_000), optional=True,
    )  # fmt: skip
    image_shape: tuple[int, ...] | None = setting(
        None, "(height, width) or (colours, height, width) where a row of X is an image; on the command line null is "
        "as the data say", each(whole(1), "[28, 28]", least=2), optional=True,
    )  # fmt: skip


@dataclass(eq=False, repr=False)
class CountedParameters(Parameters):
    """Parameters of all methods that need the number of clusters."""

    n_clusters: int = setting(4, "number of clusters", whole(2, 100_000))


@dataclass(eq=False, repr=False, kw_only=True)
class MCVCParameters(CountedParameters):
    """MCVC: discriminative clusterings, one for each group of annotators (Chang et al. 2017)."""

    n_views: int = setting(5, "most groups of annotators", whole(1, 10_000))
    n_restarts: int = setting(20, "the one with the highest bound is kept", whole(1, 100_000))
    hidden: tuple[int, ...] = setting((), "widths of hidden layers; MCVC is linear", _WIDTHS)
    quality_prior: tuple[float, float] = setting(
        QUALITY_PRIOR, "Beta prior of sensitivity and specificity", each(number(above=0), "[10.0, 1.0]", length=2)
    )
    learning_rate: float = setting(0.1, "largest step of Adam", number(above=0))
    n_steps: int = setting(300, "of Adam", whole(1))
    n_held: int = setting(40, "first steps, in which the annotators are trusted as the prior has it", whole(0))
    standardize: bool = setting(True, _STANDARDIZE, flag())


@dataclass(eq=False, repr=False, kw_only=True)
class DeepMCVCParameters(MCVCParameters):
    """Deep MCVC: MCVC with networks in place of its linear maps (SCDC paper, appendix C)."""

    hidden: tuple[int, ...] = setting((40, 40), "widths of hidden layers", _WIDTHS)
    learning_rate: float = setting(0.03, "largest step of Adam", number(above=0))
    n_steps: int = setting(600, "of Adam", whole(1))


@dataclass(eq=False, repr=False, kw_only=True)
class SemiCrowdParameters(CountedParameters):
    """SemiCrowd: matrix completion, metric, spectral clustering (Yi et al. 2012)."""

    lower: float = setting(1 / 3, "share of 'same' up to which a pair counts as different", number(0, 1))
    upper: float = setting(2 / 3, "and from which it counts as the same", number(0, 1))
    sparsity: float = setting(1.0, "weight of wrong entries, in units of the theory's value", number(above=0))
    ridge: float = setting(0.01, "in units of the features' mean variance", number(0))

    def check_parameters(self, group: str = "") -> None:
        """As everywhere; the thresholds must be in order, too."""
        super().check_parameters(group)
        if not self.lower < self.upper:
            prefix = f"{group}." if group else ""
            raise UserError(
                f"{prefix}lower={shown(self.lower)}, {prefix}upper={shown(self.upper)}: expected lower < upper"
            )


@dataclass(eq=False, repr=False, kw_only=True)
class ITMLParameters(CountedParameters):
    """ITML and k-means: a metric learned from majority votes (Davis et al. 2007)."""

    gamma: float | None = setting(
        None, "weight of the answers; null: the one of .01, .1, 1, 10 that ranks held-out answers best",
        number(above=0), optional=True,
    )  # fmt: skip
    max_iter: int = setting(50, "passes over all answers", whole(1))


@dataclass(eq=False, repr=False, kw_only=True)
class ConstrainedKMeansParameters(CountedParameters):
    """PCKMeans: k-means with majority votes (Basu et al. 2004)."""

    penalty: float = setting(1.0, "of a violated majority vote, in units of an average item's cost", number(0))
    weighting: Literal["unit", "net"] = setting("unit", _WEIGHTING, choice("unit", "net"))
    n_init: int = setting(10, _STARTS, whole(1, 100_000))
    max_iter: int = setting(100, "rounds of assignment and centres", whole(1))


@dataclass(eq=False, repr=False, kw_only=True)
class MPCKMeansParameters(ConstrainedKMeansParameters):
    """MPCK-means: k-means with majority votes and a learned metric (Bilenko et al. 2004)."""

    metric: str = setting("full", "full | diagonal", choice("full", "diagonal"))
    shared: bool = setting(True, "one metric for all clusters", flag())
    penalty: float = setting(1.0, "of a violated majority vote, in units of `unit`", number(0))
    unit: str = setting("item", "item (an average item's cost) | paper (1)", choice("item", "paper"))
    n_init: int = setting(5, _STARTS, whole(1, 100_000))


@dataclass(eq=False, repr=False, kw_only=True)
class CSPAParameters(CountedParameters):
    """CSPA: a balanced cut of the annotators' co-association graph (Strehl & Ghosh 2002)."""

    clusterings: str = setting(
        "balance", "what an annotator's clustering is: balance | closure | constrained_kmeans",
        choice("balance", "closure", "constrained_kmeans"),
    )  # fmt: skip


@dataclass(eq=False, repr=False, kw_only=True)
class KMeansParameters(CountedParameters):
    """k-means on the features; answers are ignored."""

    n_init: int = setting(20, _STARTS, whole(1, 100_000))


@dataclass(eq=False, repr=False, kw_only=True)
class MixtureParameters(KMeansParameters):
    """Gaussian mixture on the features; answers are ignored."""


@dataclass(eq=False, repr=False, kw_only=True)
class VariationalMixtureParameters(KMeansParameters):
    """Dirichlet process mixture of at most K Gaussians on the features, by scikit-learn; answers are ignored."""

    n_init: int = setting(1, _STARTS, whole(1, 100_000))
    max_iter: int = setting(300, "steps, fewer where the bound has settled", whole(1))


@dataclass(eq=False, repr=False, kw_only=True)
class AffinityPropagationParameters(CountedParameters):
    """Affinity propagation on the features (Frey & Dueck 2007); comes near K clusters; answers are ignored."""

    preference: float | None = setting(
        None, "similarity of an item to itself, minus a squared distance; null: what comes nearest to K clusters",
        number(), optional=True,
    )  # fmt: skip
    damping: float = setting(0.9, "share of the old message in the new one", number(0.5, 0.999))
    max_iter: int = setting(1000, "rounds of messages, fewer where the exemplars have settled", whole(1))


@dataclass(eq=False, repr=False, kw_only=True)
class DPMeansParameters(CountedParameters):
    """DP-means: k-means with a price for a cluster; expects K of them (Kulis & Jordan 2012); answers are ignored."""

    penalty: float | None = setting(
        None, "of a cluster, a squared distance (their lambda); null: by farthest-first from K", number(above=0),
        optional=True,
    )  # fmt: skip
    max_iter: int = setting(100, "passes over the items, fewer where the clusters have settled", whole(1))


@dataclass(eq=False, repr=False, kw_only=True)
class GMeansParameters(Parameters):
    """G-means: k-means that splits clusters until each looks Gaussian; finds their number; answers are ignored."""

    critical: float = setting(
        1.8692, "Anderson-Darling statistic from which a cluster is split; 1.8692: significance .0001", number(above=0)
    )
    most: int = setting(1000, "clusters; no round of splits goes beyond it", whole(1))
    max_iter: int = setting(100, "rounds of splits, fewer where no cluster is split", whole(1))


@dataclass(eq=False, repr=False, kw_only=True)
class HMMParameters(CountedParameters):
    """Hidden Markov model of items in the order of time; answers are ignored."""

    family: str = setting(
        "gaussian", "of the states: gaussian (diagonal) | multinomial (of counts)", choice("gaussian", "multinomial")
    )
    n_init: int = setting(5, _STARTS, whole(1, 100_000))
    max_iter: int = setting(100, "steps of EM, fewer where the likelihood has settled", whole(1))


@dataclass(eq=False, repr=False, kw_only=True)
class CKMParameters(CountedParameters):
    """k-means that keeps all must-links (CKM of Li et al. 2009)."""

    standardize: bool = setting(True, _STANDARDIZE, flag())
    n_init: int = setting(10, _STARTS, whole(1, 100_000))


@dataclass(eq=False, repr=False, kw_only=True)
class UKMParameters(CKMParameters):
    """k-means; answers are ignored (UKM of Li et al. 2009)."""


@dataclass(eq=False, repr=False, kw_only=True)
class SLPDParameters(CountedParameters):
    """SLPD: a latent process decomposition whose linked items share their proportions (Li et al. 2009)."""

    standardize: bool = setting(True, "features to mean 0 and variance 1; false: to mean 0 alone", flag())
    n_restarts: int = setting(10, "the one with the highest bound is kept", whole(1, 100_000))
    n_iter: int = setting(500, "most iterations of EM", whole(1))
    mean_variance: float | None = setting(
        None, "of the means' prior (paper, eq. 9); null: maximum likelihood", number(above=0), optional=True
    )
    variance_scale: float = setting(0.0, "s of the variances' prior exp(−s/σ²); 0: maximum likelihood", number(0))
    least_variance: float = setting(0.03, "of a cluster's feature, after it was scaled", number(above=0))
    n_draws: int = setting(1000, "proportions drawn for the likelihood of an item", whole(2, 10_000_000))


@dataclass(eq=False, repr=False, kw_only=True)
class CrowdOnlyParameters(CountedParameters):
    """Signed spectral clustering of the answers; features are ignored."""

    n_reweightings: int = setting(3, "rounds in which the annotators are weighted", whole(0))
    n_init: int = setting(20, "starts of k-means", whole(1, 100_000))


@dataclass(eq=False, repr=False, kw_only=True)
class CrowdLogisticParameters(CrowdOnlyParameters):
    """crowd_only, and a logistic regression from the features for the other items."""

    classifier: str = setting("logistic", "of the other items: logistic (regression) | mlp", choice("logistic", "mlp"))
    standardize: bool = setting(True, _STANDARDIZE, flag())
