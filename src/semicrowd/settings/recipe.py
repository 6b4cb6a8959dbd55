"""All settings of a fit of SCDC or BayesSCDC, and where each came from."""

from collections.abc import Mapping
from dataclasses import dataclass, field

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
