"""All settings of a fit: given values, else those of the protocol's rule, else defaults.

``src/train.py`` and the estimators of SCDC and BayesSCDC both call this. Other estimators take their parameters as
given; ``src/train.py`` gets these from here, too.
"""

from collections.abc import Mapping
from typing import Any

from semicrowd.defaults.rule import Facts, statements
from semicrowd.errors import UserError
from semicrowd.settings.fields import described_by_name
from semicrowd.settings.methods import METHODS
from semicrowd.settings.parameters import FitSettings, Recipe


def fit_settings(
    method: str, given: Mapping[str, Any], facts: Facts | None, protocol: str = "semicrowd"
) -> FitSettings:
    """All settings of a fit by ``method``, with the reasons of those that the rule sets.

    Parameters
    ----------
    given : dotted name → value, such as ``model.K``, ``start.kind`` or ``epochs``; None means "not given", unless None
        is a valid value of the setting
    facts : properties of the data and the answers; None: no rules, settings that are not given keep their defaults
    protocol : ``semicrowd`` (the best inference here) or ``paper`` (what the SCDC paper states)

    Raises
    ------
    UserError
        For an unknown setting, an invalid value, or if a setting that the method needs is neither given nor derivable.
    """
    kinds = METHODS[method].groups
    optional = {name for name, one in described_by_name(kinds).items() if one.optional}
    chosen = {name: value for name, value in given.items() if value is not None or name in optional}
    rules = [] if facts is None else statements(method, chosen, facts, protocol)
    by_rule = {name: (value, why) for values, why in rules for name, value in values.items()}
    groups: dict[str, dict[str, Any]] = {}
    for name, value in ({name: value for name, (value, _) in by_rule.items()} | chosen).items():
        group, _, setting = name.rpartition(".")
        groups.setdefault(group, {})[setting] = value
    for group in groups.keys() - kinds.keys():
        there = ", ".join(filter(None, kinds))
        raise UserError(f"{group or next(iter(groups[group]))}: no such group of settings; there are {there}")
    made: dict[str, Any] = {group or "training": kind.of(groups.get(group, {})) for group, kind in kinds.items()}
    reasons = {name: why for name, (_, why) in by_rule.items() if name not in chosen}
    return (Recipe if METHODS[method].trained else FitSettings)(**made, reasons=reasons)


def recipe(method: str, given: Mapping[str, Any], facts: Facts | None, protocol: str = "semicrowd") -> Recipe:
    """:func:`fit_settings` of ``bayes`` or ``scdc``."""
    found = fit_settings(method, given, facts, protocol)
    assert isinstance(found, Recipe)
    return found
