"""Checks of a composed configuration before anything is read or written, and its comparison with an earlier one."""

from pathlib import Path
from typing import Any

import yaml
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from semicrowd.errors import UserError

#: Lowest value of each setting that must be a whole number.
_LOWEST = {"seed": 0, "restarts": 1, "epochs": 0, "batch_size": 1, "model.K": 2}
_GROUPS = ("data", "model", "annotations", "trainer", "logger")
#: Settings that say how to run, not what: a resumed run may change them.
_FREE = ("resume", "figures", "trainer", "logger")


def check(cfg: DictConfig) -> None:
    """Refuse a configuration that cannot run.

    Raises
    ------
    UserError
        Naming the setting, its value and what was expected.
    """
    for group in _GROUPS:
        if not isinstance(cfg.get(group), DictConfig) or (group != "trainer" and "name" not in cfg[group]):
            raise UserError(f"{group}: missing; expected {group}=<name>")
    for key, lowest in _LOWEST.items():
        value = OmegaConf.select(cfg, key)
        if isinstance(value, bool) or not isinstance(value, int) or value < lowest:
            raise UserError(f"{key}={_show(value)}: expected a whole number >= {lowest}")
    for key in ("resume", "figures"):
        if not isinstance(cfg.get(key), bool):
            raise UserError(f"{key}={_show(cfg.get(key))}: expected true or false")


def _show(value: Any) -> str:
    return "null" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def resolved(cfg: DictConfig) -> dict[str, Any]:
    """The configuration as plain values, interpolations resolved.

    Raises
    ------
    UserError
        For an interpolation that leads nowhere or a mandatory value that is missing.
    """
    try:
        content = OmegaConf.to_container(cfg, resolve=True, throw_on_missing=True)
    except OmegaConfBaseException as error:
        raise UserError(f"configuration: {str(error).splitlines()[0]}") from error
    assert isinstance(content, dict)
    return {str(key): value for key, value in content.items()}


def read_config(path: Path) -> dict[str, Any]:
    """A run's config.yaml.

    Raises
    ------
    UserError
        Where it is missing or not YAML.
    """
    try:
        content = yaml.safe_load(path.read_text())
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror}") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise UserError(f"{path}: not valid YAML") from error
    if not isinstance(content, dict):
        raise UserError(f"{path}: not the configuration of a run")
    return content


def check_same(before: dict[str, Any], now: dict[str, Any], path: Path) -> None:
    """Refuse to resume a run under other settings than it was started with.

    Raises
    ------
    UserError
        Naming the first setting that differs and both values.
    """
    old, new = _flat(before), _flat(now)
    for key in sorted(old.keys() | new.keys()):
        if key.split(".")[0] not in _FREE and old.get(key) != new.get(key):
            raise UserError(f"{path}: resume=true, but the run was started with {key}={_show(old.get(key))}, "
                            f"not {_show(new.get(key))}")


def _flat(content: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for key, value in content.items():
        if isinstance(value, dict):
            flat |= _flat(value, f"{prefix}{key}.")
        else:
            flat[f"{prefix}{key}"] = value
    return flat
