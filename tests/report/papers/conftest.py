"""Configurations of experiments, as their runs have them."""

from typing import Any

from semicrowd.pipeline.configurations import settings_of
from semicrowd.pipeline.experiments import Plan


def config_of_experiment(plan: Plan, name: str) -> dict[str, Any]:
    """What a run of the experiment has in config.yaml, where no rule sets what is not given."""
    settings = settings_of(plan.experiment(name).overrides)
    return {group: settings["defaults"][group] | settings[group] for group in ("data", "model")}
