"""The settings of a run. They are checked first; then each gets the user's value, else a rule's, else the default."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from semicrowd.errors import UserError
from semicrowd.run.composition import Given, composed
from semicrowd.settings.fields import described_by_name, plain, shown
from semicrowd.settings.groups import TOP, groups_foreign_to, groups_of, names_of
from semicrowd.settings.methods import METHODS, Kind
from semicrowd.settings.parameters import FitSettings
from semicrowd.settings.rule import Facts, fit_settings
from semicrowd.settings.training import RunSettings, TrainingSettings


@dataclass(frozen=True)
class Resolved:
    """All settings of a run.

    Attributes
    ----------
    choices : data, model, annotations → name
    values : dotted setting → value
    given : those of the values that neither a rule nor a default has set
    extra : what ``+name=value`` has added
    fit : settings of the fit, in the form that the estimator takes; None before the data are known
    """

    choices: dict[str, str]
    values: dict[str, Any]
    given: dict[str, Any]
    extra: dict[str, Any]
    fit: FitSettings | None = None

    def group(self, name: str) -> dict[str, Any]:
        """Settings of a group; ``""`` stands for the settings without a group."""
        return group_of(self.values, name)

    @property
    def content(self) -> dict[str, Any]:
        """The settings as in config.yaml: nested, as plain values."""
        nested: dict[str, Any] = {name: plain(value) for name, value in self.group("").items()} | self.extra
        for group in groups_of(self.choices):
            named = {"name": self.choices[group]} if group in self.choices else {}
            settings = named | {name: plain(value) for name, value in self.group(group).items()}
            if settings:
                nested[group] = settings
        return nested


def group_of(values: Mapping[str, Any], name: str) -> dict[str, Any]:
    """The settings of a group among dotted ones; ``""`` stands for the settings without a group."""
    return {key.rpartition(".")[2]: value for key, value in values.items() if key.rpartition(".")[0] == name}


def check_given(given: Given) -> None:
    """Refuse settings that do not exist, have a wrong value, or do not fit each other. No data are read."""
    for top in TOP:
        top.of({name: value for name, value in given.values.items() if name in names_of(top)})
    for group, kind in groups_of(given.choices).items():
        kind.of(group_of(given.values, group))
    if not given.run_dir.strip() or not given.sweep_dir.strip():
        raise UserError("hydra.run.dir=: expected the path of a folder")
    model = given.choices["model"]
    trained, foreign = METHODS[model].trained, groups_foreign_to(model)
    for name in given.values:
        if "." in name and name.partition(".")[0] in foreign:
            raise UserError(f"{_argument(given, name)}: model={model} has no such settings; leave it out")
    if given.values.get("held_out") and given.values.get("trainer.strategy") == "ddp":
        raise UserError("held_out=true: fits twice in one process; expected trainer=single")
    if given.values.get("trainer.strategy", "single") != "ddp" or not trained:
        able = (name for name, method in METHODS.items() if method.trained)
        several = "trainer=ddp" if trained else f"model={' or '.join(able)}"
        for name in ("trainer.devices", "trainer.num_nodes"):
            if given.values.get(name, 1) > 1:
                raise UserError(f"{_argument(given, name)}: several processes need {several}")


def given_in_vain(given: Given) -> list[str]:
    """A line for each given setting that has no effect with this method."""
    model = given.choices["model"]
    if METHODS[model].trained:
        return []
    vain = {"protocol", "snapshots", *names_of(TrainingSettings)} & given.values.keys()
    return [f"{_argument(given, name)}: has no effect with model={model}" for name in sorted(vain)]


def _argument(given: Given, name: str) -> str:
    return f"{name}={shown(given.values[name])}"


def sources(given: Given, chosen: Mapping[str, Any] = MappingProxyType({})) -> Resolved:
    """The settings that do not depend on the data: sources of data and answers, tracking, trainer, seed.

    Parameters
    ----------
    chosen : option of the data → the value that their loader has chosen; empty before they are loaded
    """
    of_the_fit = METHODS[given.choices["model"]].groups
    groups = {group: kind for group, kind in groups_of(given.choices).items() if group not in of_the_fit}
    kinds: dict[str, Kind] = {"": RunSettings, **groups}
    ruled = {f"data.{name}": value for name, value in chosen.items()}
    defaults = {name: one.default for name, one in described_by_name(kinds).items()}
    values = {name: given.values.get(name, ruled.get(name, default)) for name, default in defaults.items()}
    for group, kind in kinds.items():
        kind.of(group_of(values, group))  # checks that the settings of the group fit each other
    return Resolved(given.choices, values, _given(values, given), given.extra)


def resolved(given: Given, facts: Facts, chosen: Mapping[str, Any] = MappingProxyType({})) -> Resolved:
    """All settings of a run on data with these facts; ``chosen`` is as in :func:`sources`."""
    before, model = sources(given, chosen), given.choices["model"]
    known = described_by_name(METHODS[model].groups)
    fit_values = {name: value for name, value in given.values.items() if name in known}
    fit = fit_settings(model, fit_values, facts, before.values["protocol"])
    values = before.values | fit.values
    if values.get("model.K", 0) > facts.num_items:
        raise UserError(f"model.K={values['model.K']}: more clusters than the {facts.num_items} items of {facts.data}")
    snapshots, last = values["snapshots"], values.get("epochs")
    if snapshots and last is not None:
        if facts.image_shape is None:
            raise UserError(f"snapshots={shown(snapshots)}: expected [], since data={facts.data} has no images to draw")
        if any(epoch > last for epoch in snapshots):
            raise UserError(f"snapshots={shown(snapshots)}: expected a list of epochs from 0 (the start) to {last}")
    return Resolved(given.choices, values, _given(values, given), given.extra, fit)


def resolve(overrides: Sequence[str]) -> dict[str, Any]:
    """The settings of a run of ``src/train.py`` with these arguments, as far as they do not depend on its data.

    Settings that a rule derives from the data are left out.
    """
    given = composed(overrides)
    check_given(given)
    before = sources(given)
    return Resolved(given.choices, before.values | given.values, {}, given.extra).content


def _given(values: Mapping[str, Any], given: Given) -> dict[str, Any]:
    return {name: value for name, value in values.items() if name in given.values}
