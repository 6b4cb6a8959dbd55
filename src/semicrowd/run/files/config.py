"""A run's config.yaml: all resolved settings, and those of them that the user has given."""

from collections.abc import Mapping
from copy import deepcopy
from pathlib import Path
from typing import Any

import yaml

from semicrowd.errors import UserError
from semicrowd.files import write_text
from semicrowd.settings.fields import dotted, shown

CONFIG = "config.yaml"
#: Key of config.yaml that holds the given settings.
GIVEN = "given"
#: Settings of how a run is executed, which may change when a run is resumed.
_CHANGEABLE = ("resume", "figures", "trainer", "logger", GIVEN)


def write_config(run_dir: Path, content: Mapping[str, Any], given: Mapping[str, Any]) -> None:
    """Write all settings (nested) and the given ones (by dotted name)."""
    # A copy, since YAML writes an alias (*id001) in place of an object that it has written before.
    text = yaml.safe_dump({**content, GIVEN: deepcopy(dict(given))}, sort_keys=False, allow_unicode=True)
    write_text(run_dir / CONFIG, text)


def read_config(path: Path) -> dict[str, Any]:
    """A run's config.yaml."""
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror}") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise UserError(f"{path}: not valid YAML") from error
    if not isinstance(content, dict):
        raise UserError(f"{path}: not the configuration of a run")
    return content


def same_given(before: Mapping[str, Any], given: Mapping[str, Any]) -> bool:
    """Whether a run was given exactly these settings, apart from those of how it is executed."""
    old = before.get(GIVEN)
    return isinstance(old, dict) and _decisive(old) == _decisive(given)


def _decisive(flat: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in flat.items() if key.split(".")[0] not in _CHANGEABLE}


def more_epochs(before: Mapping[str, Any], now: Mapping[str, Any]) -> bool:
    """Whether more epochs are asked for than before, so that even a finished run is continued."""
    old, new = before.get("epochs"), now.get("epochs")
    return isinstance(old, int) and isinstance(new, int) and new > old


def check_same(before: Mapping[str, Any], now: Mapping[str, Any], path: Path) -> None:
    """Refuse to resume a run with other settings than it was started with; more epochs are allowed."""
    old, new = _decisive(dotted(before)), _decisive(dotted(now))
    if more_epochs(old, new):
        old["epochs"] = new["epochs"]
    for key in sorted(old.keys() | new.keys()):
        if old.get(key) != new.get(key):
            raise UserError(f"{path}: resume=true, but the run was started with {key}={shown(old.get(key))}, "
                            f"not {shown(new.get(key))}")
