"""All settings of a fit of SCDC or BayesSCDC, and where each came from."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from semicrowd.settings.fields import Settings, described
from semicrowd.settings.model import BayesSettings, NetSettings, SCDCSettings
from semicrowd.settings.training import StartSettings, TrainingSettings, ViewSettings


@dataclass(frozen=True)
class Recipe:
    """What decides a fit beside data, answers and seed.

    Attributes
    ----------
    reasons : dotted setting → the rule that set it; those that the user gave or left at their default are not in it
    """

    model: BayesSettings | SCDCSettings
    nets: NetSettings = field(default_factory=NetSettings)
    start: StartSettings = field(default_factory=StartSettings)
    views: ViewSettings = field(default_factory=ViewSettings)
    training: TrainingSettings = field(default_factory=TrainingSettings)
    reasons: Mapping[str, str] = field(default_factory=dict, compare=False)

    @property
    def values(self) -> dict[str, Any]:
        """Every setting by its dotted name, as ``model.K`` or ``epochs``."""
        groups: dict[str, Settings] = {
            "model.": self.model, "nets.": self.nets, "start.": self.start, "views.": self.views, "": self.training,
        }  # fmt: skip
        return {f"{group}{one.name}": getattr(settings, one.name)
                for group, settings in groups.items() for one in described(type(settings))}
