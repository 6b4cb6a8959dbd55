"""The settings of a run: checked before anything is done, then resolved: given, else a rule's, else the default."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from semicrowd.defaults.facts import Facts
from semicrowd.defaults.rule import baseline, recipe
from semicrowd.errors import UserError
from semicrowd.run.composition import Given, composed
from semicrowd.settings.baselines import Parameters
from semicrowd.settings.fields import check, described, plain, shown
from semicrowd.settings.groups import MODELS, TOP, groups_of, names_of
from semicrowd.settings.training import TrainingSettings

#: Groups that a method of estimators.BASELINES has nothing of.
_GENERATIVE = ("nets", "start", "views")
#: Where a value is from that nobody has set.
DEFAULT = "default"


@dataclass(frozen=True)
class Resolved:
    """All settings of a run.

    Attributes
    ----------
    choices : data, model, annotations → name
    values : dotted setting → value
    origins : dotted setting or group → the argument, the file or the rule with its reason; ``default``
    extra : what ``+name=value`` has added
    """

    choices: dict[str, str]
    values: dict[str, Any]
    origins: dict[str, str]
    extra: dict[str, Any]

    def group(self, name: str) -> dict[str, Any]:
        """Settings of a group, or those without one: ``""``."""
        return group_of(self.values, name)

    @property
    def content(self) -> dict[str, Any]:
        """As config.yaml has it: nested, plain values."""
        nested: dict[str, Any] = {name: plain(value) for name, value in self.group("").items()} | self.extra
        for group in groups_of(self.choices):
            named = {"name": self.choices[group]} if group in self.choices else {}
            settings = named | {name: plain(value) for name, value in self.group(group).items()}
            if settings:
                nested[group] = settings
        return nested


def group_of(values: Mapping[str, Any], name: str) -> dict[str, Any]:
    """The settings of a group of dotted ones, or those without one: ``""``."""
    return {key.rpartition(".")[2]: value for key, value in values.items() if key.rpartition(".")[0] == name}


def check_given(given: Given) -> None:
    """Refuse settings that are none, or do not fit, alone or together. Nothing is read for it but the arguments.

    Raises
    ------
    UserError
        Naming the setting, its value and what was expected.
    """
    for group, kind in _kinds(given.choices):
        fields = {one.spelled: one.name for one in described(kind)}
        values = group_of(given.values, group)
        if not group:
            values = {name: value for name, value in values.items() if name in fields}
        check(kind, {fields.get(name, name): value for name, value in values.items()}, group)
    sources(given)
    if not given.run_dir.strip() or not given.sweep_dir.strip():
        raise UserError("hydra.run.dir=: expected the path of a folder")
    model = given.choices["model"]
    if model not in MODELS:
        _filled(given, [("model", groups_of(given.choices)["model"])], {})
        for name in given.values:
            if name.partition(".")[0] in _GENERATIVE:
                raise UserError(f"{_argument(given, name)}: model={model} has no such settings; leave it out")
    if given.values.get("held_out") and given.values.get("trainer.strategy") == "ddp":
        raise UserError("held_out=true: fits twice in one process; expected trainer=single")
    if given.values.get("trainer.strategy", "single") != "ddp" or model not in MODELS:
        several = "trainer=ddp" if model in MODELS else f"model={' or '.join(MODELS)}"
        for name in ("trainer.devices", "trainer.num_nodes"):
            if given.values.get(name, 1) > 1:
                raise UserError(f"{_argument(given, name)}: several processes need {several}")


def given_in_vain(given: Given) -> list[str]:
    """A line for each setting that the method has no use for."""
    if given.choices["model"] in MODELS:
        return []
    vain = {"protocol", "snapshots", *(one.name for one in described(TrainingSettings))} & given.values.keys()
    return [f"{_argument(given, name)}: model={given.choices['model']} is fitted once, by its own settings"
            for name in sorted(vain)]


def _argument(given: Given, name: str) -> str:
    origin = given.origins.get(name, "")
    return origin if "=" in origin else f"{name}={shown(given.values[name])}"


def _kinds(choices: Mapping[str, str]) -> Iterator[tuple[str, type]]:
    """Group and settings, those without a group first, of several dataclasses."""
    yield from (("", kind) for kind in TOP)
    yield from groups_of(choices).items()


def sources(given: Given, chosen: Mapping[str, tuple[Any, str]] = MappingProxyType({})) -> Resolved:
    """What can be resolved before there are data: where data and answers come from, tracking, the machine, the seed.

    Parameters
    ----------
    chosen : once the data are there, the options of theirs that their loader decided, with its reasons
    """
    kinds = [(group, kind) for group, kind in _kinds(given.choices)
             if group not in ("model", *_GENERATIVE) and kind is not TrainingSettings]
    return _filled(given, kinds, {f"data.{name}": said for name, said in chosen.items()})


def resolved(given: Given, facts: Facts, chosen: Mapping[str, tuple[Any, str]] = MappingProxyType({})) -> Resolved:
    """All settings of a run on data of these facts, whose loader has ``chosen`` some of their options.

    Raises
    ------
    UserError
        Where the settings do not fit each other or the facts.
    """
    before, model = sources(given, chosen), given.choices["model"]
    if model in MODELS:
        found = recipe(model, _of_the_recipe(given), facts, before.values["protocol"])
        values = found.values
        origins = {name: _origin(name, given, found.reasons) for name in values}
        after = Resolved(given.choices, values, origins, {})
    else:
        kind = groups_of(given.choices)["model"]
        counted = "K" in names_of(kind)
        said = {f"model.{name}": told for name, told in baseline(facts).items()} if counted else {}
        if counted and "model.K" not in said and "model.K" not in given.values:
            raise UserError(f"model.K: expected a number of clusters, since data={facts.data} has no labels to count")
        after = _filled(given, [("model", kind)], said)
    values = before.values | after.values
    if values.get("model.K", 0) > facts.num_items:
        raise UserError(f"model.K={values['model.K']}: more clusters than the {facts.num_items} items of {facts.data}")
    snapshots, last = values["snapshots"], values.get("epochs", 0)
    if snapshots and model in MODELS and facts.image_shape is None:
        raise UserError(f"snapshots={shown(snapshots)}: expected [], since data={facts.data} has no images to draw")
    if model in MODELS and any(epoch > last for epoch in snapshots):
        raise UserError(f"snapshots={shown(snapshots)}: expected a list of epochs from 0 (the start) to {last}")
    return Resolved(given.choices, values, before.origins | after.origins, given.extra)


def resolve(overrides: Sequence[str]) -> dict[str, Any]:
    """The settings that a run of ``src/train.py`` with these arguments gets, as far as they do not depend on its data.

    What the rule decides with the data in front of it is left out.

    Raises
    ------
    UserError, HydraException, OmegaConfBaseException
        For arguments that are wrong; see :mod:`semicrowd.run.commandline.mistakes`.
    """
    given = composed(overrides)
    check_given(given)
    before = sources(given)
    return Resolved(given.choices, before.values | given.values, {}, given.extra).content


def _of_the_recipe(given: Given) -> dict[str, Any]:
    groups = {"model", *_GENERATIVE}
    top = {one.name for one in described(TrainingSettings)}
    return {name: value for name, value in given.values.items() if name.partition(".")[0] in groups or name in top}


def _filled(given: Given, kinds: Sequence[tuple[str, type]], said: Mapping[str, tuple[Any, str]]) -> Resolved:
    """Given, else said by a rule, else the default."""
    values, reasons = {}, {name: why for name, (_, why) in said.items()}
    for group, kind in kinds:
        fields = {}
        for one in described(kind):
            name = f"{group}.{one.spelled}" if group else one.spelled
            ruled = said[name][0] if name in said else one.default
            fields[one.name] = values[name] = given.values.get(name, ruled)
        made = kind(**fields)  # which checks what depends on several of them
        if isinstance(made, Parameters):
            made.check_parameters(group)
    origins = {name: _origin(name, given, reasons) for name in values}
    origins |= {group: given.origins[group] for group in given.choices}
    return Resolved(given.choices, values, origins, given.extra)


def _origin(name: str, given: Given, reasons: Mapping[str, str]) -> str:
    if name in given.values:
        return given.origins.get(name, "argument")
    return f"rule: {reasons[name]}" if name in reasons else DEFAULT
