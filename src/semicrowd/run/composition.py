"""The configuration that Hydra composes: the choices, and all settings; those that were not given are null."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import Any, Self

from hydra import compose, initialize_config_dir
from hydra.core.config_store import ConfigNode, ConfigStore
from hydra.core.global_hydra import GlobalHydra
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override
from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException

from semicrowd.errors import UserError
from semicrowd.settings.fields import described_by_name, dotted
from semicrowd.settings.groups import (
    CHOSEN,
    FIXED,
    TOP,
    choice_of,
    chosen_with,
    groups_of,
    names_in,
    names_of,
    stands_for,
)

_PACKAGE = Path(__file__).resolve().parents[1]
#: Folder of the configuration files: that of the installed package, else that of the source tree.
CONF = _PACKAGE / "conf" if (_PACKAGE / "conf").is_dir() else _PACKAGE.parents[1] / "conf"


class _Names(ConfigNode):
    """All settings of a choice, set to null. Their names are only looked up when Hydra copies this node."""

    def __init__(self, group: str, choice: str) -> None:
        super().__init__(f"{choice}.yaml", OmegaConf.create(), f"settings/{group}", None, None)
        self.of = group, choice

    def __copy__(self) -> ConfigNode:
        return ConfigNode(self.name, OmegaConf.create(dict.fromkeys(names_in(*self.of))), self.group, None, None)


@cache
def register() -> None:
    """Register all choices, and the names of all settings, with Hydra, once in a process.

    A choice consists of its name and of the names in ``settings/…``, which a user's configuration file can include.
    """
    store = ConfigStore.instance()
    for group, kinds in CHOSEN.items():
        for name in kinds:
            store.store(group=f"settings/{group}", name=name, node={})
            store.repo["settings"][group][f"{name}.yaml"] = _Names(group, name)
            others = [{f"override /{other}@_global_.{other}": choice}
                      for other, choice in chosen_with(group, name).items()]
            defaults = [{f"/settings/{group}@_here_": name}, *others]
            store.store(group=group, name=name, node={"defaults": defaults, "name": name})
    node = {name: None for kind in TOP for name in names_of(kind)}
    groups = {group: dict.fromkeys(names_of(kind)) for group, kind in FIXED.items()}
    store.store(group="settings", name="run", node=node | groups)
    for group in FIXED:
        for choice in choice_of(group)[1]:
            store.store(group=group, name=choice, node=stands_for(group, choice), package=group)


@dataclass(frozen=True)
class Given:
    """The part of a composed configuration that arguments or configuration files have given.

    Attributes
    ----------
    choices : data, model, annotations → name
    values : dotted setting → value; None if an optional setting was set to null
    extra : further values, added by ``+name=value``
    overrides : the arguments
    run_dir, sweep_dir : where the files of a single run, and of a sweep, go
    launcher : name of Hydra's launcher of a sweep, and its settings
    """

    choices: dict[str, str]
    values: dict[str, Any]
    extra: dict[str, Any] = field(default_factory=dict)
    overrides: tuple[str, ...] = ()
    run_dir: str = "runs/default"
    sweep_dir: str = "multirun/default"
    launcher: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def read(cls, content: Mapping[str, Any]) -> Self:
        """All settings of a run's config.yaml as given ones, so that no rule sets any of them again."""
        choices = {group: content[group]["name"] for group in CHOSEN}
        known = {*(name for kind in TOP for name in names_of(kind)), *described_by_name(groups_of(choices))}
        values = {name: value for name, value in dotted(content).items() if name in known}
        return cls(choices, values)


def parsed(overrides: Sequence[str]) -> list[Override]:
    """The arguments as Hydra parses them, including sweeps over the names of a group."""
    register()
    with initialize_config_dir(str(CONF), version_base="1.3", job_name="train"):
        return OverridesParser.create(GlobalHydra.instance().config_loader()).parse_overrides(list(overrides))


def composed(overrides: Sequence[str]) -> Given:
    """The settings that these arguments give to a run of ``src/train.py``.

    Raises
    ------
    HydraException, OmegaConfBaseException
        For arguments that Hydra cannot read.
    UserError
        For an interpolation that cannot be resolved, and for a group that is missing or has an unknown name.
    """
    register()
    plain: Callable[[Any], Any] = partial(OmegaConf.to_container, resolve=True, throw_on_missing=True)
    with initialize_config_dir(str(CONF), version_base="1.3", job_name="train"):
        cfg = compose("config", list(overrides), return_hydra_config=True)
        try:
            parts = {str(key): value for key, value in cfg.items() if key != "hydra"}
            content = {key: plain(value) if OmegaConf.is_config(value) else value for key, value in parts.items()}
            folders = str(cfg.hydra.run.dir), str(cfg.hydra.sweep.dir)
            launcher = {"name": cfg.hydra.runtime.choices["hydra/launcher"], **plain(cfg.hydra.launcher)}
        except OmegaConfBaseException as error:
            raise UserError(f"configuration: {str(error).splitlines()[0]}") from error
    known = {*(name for kind in TOP for name in names_of(kind)), *CHOSEN, *FIXED}
    choices: dict[str, str] = {}
    values: dict[str, Any] = {}
    for group in (*CHOSEN, *FIXED):
        settings = content.get(group)
        if settings is None:
            raise UserError(f"~{group}: every run needs it; choose one with {group}=… (--help lists them)")
        if not isinstance(settings, dict):
            raise UserError(f"{group}={settings}: no such {group}")
        if group in CHOSEN:
            choices[group] = str(settings.pop("name", None))
            if choices[group] not in CHOSEN[group]:
                raise UserError(f"{group}.name={choices[group]}: expected one of {', '.join(CHOSEN[group])}")
        values |= {f"{group}.{name}": value for name, value in settings.items()}
    values |= {name: value for name, value in content.items() if name in known and name not in (*CHOSEN, *FIXED)}
    optional = {name for name, one in described_by_name(groups_of(choices)).items() if one.optional}
    said = {one.get_key_element().lstrip("+") for one in OverridesParser.create().parse_overrides(list(overrides))}
    # Null stands for what is not given, unless an argument has said null.
    values = {name: value for name, value in values.items() if value is not None or name in optional & said}
    extra = {name: value for name, value in content.items() if name not in known}
    return Given(choices, values, extra, tuple(overrides), *folders, launcher)
