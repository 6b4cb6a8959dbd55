"""Parameters of all methods, mutable and checked by ``fit`` as in scikit-learn; and the settings of a fit.

Each estimator inherits from a class of parameters (both in :mod:`semicrowd.methods`), which defines its signature,
defaults, help texts and checks. On the command line parameters are ``model.NAME``; ``n_clusters`` is
``model.K`` and ``random_state`` is ``seed``. There is no ``verbose``: ``trainer.progress`` shows a bar.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

from semicrowd.settings.fields import check, described, described_by_name, each, names, setting, whole
from semicrowd.settings.model import BayesSettings, GenerativeSettings, NetSettings, SCDCSettings
from semicrowd.settings.training import StartSettings, TrainingSettings, ViewSettings

#: Beta prior of sensitivity and specificity with mean 10/11, which assumes good annotators; from MCVC (Chang et al.
#: 2017).
QUALITY_PRIOR = (10.0, 1.0)

#: Rule for the widths of hidden layers.
WIDTHS = each(whole(1, 100_000), "[40, 40]")
#: Help text for a number of random starts.
STARTS = "number of random starts, of which the one with the best objective is kept"
#: Help text of ``standardize``.
STANDARDIZE = "scale features to mean 0 and variance 1"


@dataclass(eq=False, repr=False, kw_only=True)
class Parameters:
    """The parameters of all methods."""

    #: Parameter → its name on the command line, if different.
    spelling: ClassVar[dict[str, str]] = {"n_clusters": "K"}

    random_state: Any = 0
    verbose: Any = False

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Self:
        """Make parameters from values by their names on the command line; the others have their defaults."""
        names_of = {one.spelled: one.name for one in described(cls)}
        given = {names_of.get(name, name): tuple(value) if isinstance(value, list) else value
                 for name, value in values.items()}
        check(cls, given, "model")
        made = cls(**given)
        made.check_parameters("model")
        return made

    def check_parameters(self, group: str = "") -> None:
        """Check all values and their combination.

        Parameters
        ----------
        group : group of the command line, which is prepended to names in messages
        """
        check(type(self), {name: self.plain(name) for name in names(type(self))}, group)

    def plain(self, name: str) -> Any:
        """The value of a parameter, with NumPy scalars and arrays converted to numbers and lists."""
        value = getattr(self, name)
        return value.tolist() if hasattr(value, "tolist") else value


@dataclass(eq=False, repr=False)
class CountedParameters(Parameters):
    """Parameters of all methods that need the number of clusters."""

    n_clusters: int = setting(4, "number of clusters", whole(2, 100_000))


@dataclass(frozen=True)
class FitSettings:
    """All settings of a fit, of any method; data, answers and seed are not among them.

    Attributes
    ----------
    model : the method's own settings; for methods other than SCDC and BayesSCDC the estimator before ``fit``
    """

    model: Parameters | GenerativeSettings

    @property
    def values(self) -> dict[str, Any]:
        """Every setting by its dotted name, as ``model.K`` or ``epochs``."""
        others = self.model.others if isinstance(self.model, GenerativeSettings) else {}
        groups = {"model": self.model, **{group: getattr(self, group or "training") for group in others}}
        known = described_by_name({group: type(settings) for group, settings in groups.items()})
        return {name: getattr(groups[name.rpartition(".")[0]], one.name) for name, one in known.items()}


@dataclass(frozen=True)
class Recipe(FitSettings):
    """The :class:`FitSettings` of SCDC or BayesSCDC."""

    model: BayesSettings | SCDCSettings
    nets: NetSettings = field(default_factory=NetSettings)
    start: StartSettings = field(default_factory=StartSettings)
    views: ViewSettings = field(default_factory=ViewSettings)
    training: TrainingSettings = field(default_factory=TrainingSettings)
