"""All settings of a fit, and where each came from."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from semicrowd.settings.fields import described_by_name
from semicrowd.settings.model import BayesSettings, GenerativeSettings, NetSettings, SCDCSettings
from semicrowd.settings.parameters import Parameters
from semicrowd.settings.training import StartSettings, TrainingSettings, ViewSettings


@dataclass(frozen=True)
class FitSettings:
    """What decides a fit beside data, answers and seed, whatever the method.

    Attributes
    ----------
    model : the method's own settings; of a method that has no others its estimator, not fitted
    reasons : dotted setting → the rule that set it; those that the user gave or left at their default are not in it
    """

    model: Parameters | GenerativeSettings
    reasons: Mapping[str, str] = field(default_factory=dict, compare=False, kw_only=True)

    @property
    def values(self) -> dict[str, Any]:
        """Every setting by its dotted name, as ``model.K`` or ``epochs``."""
        others = self.model.others if isinstance(self.model, GenerativeSettings) else {}
        groups = {"model": self.model, **{group: getattr(self, group or "training") for group in others}}
        known = described_by_name({group: type(settings) for group, settings in groups.items()})
        return {name: getattr(groups[name.rpartition(".")[0]], one.name) for name, one in known.items()}


@dataclass(frozen=True)
class Recipe(FitSettings):
    """The same of SCDC or BayesSCDC."""

    model: BayesSettings | SCDCSettings
    nets: NetSettings = field(default_factory=NetSettings)
    start: StartSettings = field(default_factory=StartSettings)
    views: ViewSettings = field(default_factory=ViewSettings)
    training: TrainingSettings = field(default_factory=TrainingSettings)
