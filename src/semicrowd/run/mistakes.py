"""Hydra's exceptions as one line that names the argument, what is wrong with it and the nearest thing that is right."""

import difflib
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

import yaml
from hydra.errors import HydraException, MissingConfigException, OverrideParseException
from omegaconf.errors import OmegaConfBaseException

from semicrowd.errors import UserError

#: The command-line flags of Hydra that make sense here.
_FLAGS = (
    "-m", "--multirun", "-r", "--run", "-c", "--cfg", "-p", "--package", "--resolve", "-i", "--info", "--hydra-help",
    "--version", "-cd", "--config-dir", "-cn", "--config-name", "-cp", "--config-path", "-sc", "--shell-completion",
)  # fmt: skip


def check_flags(arguments: Sequence[str]) -> None:
    """Refuse options that do not exist, such as ``--seed``.

    Raises
    ------
    UserError
        With the spelling that works.
    """
    for argument in arguments:
        name = argument.split("=")[0]
        if name.startswith("-") and name not in _FLAGS:
            key = name.lstrip("-")
            raise UserError(f"{argument}: unknown option; settings are written {key}=<value>, without dashes"
                            " (python src/train.py --help lists them)")


def nearest(word: str, words: Iterable[str]) -> str:
    """``"; nearest is …"`` for the word most like ``word``, or nothing."""
    choices = list(words)
    lower = {choice.lower(): choice for choice in choices}
    close = difflib.get_close_matches(word.lower(), lower, n=1, cutoff=0.5)
    return f"; the nearest is {lower[close[0]]}" if close else ""


def explain(error: Exception, keys: Iterable[str], overrides: Sequence[str]) -> UserError:
    """The user's mistake behind an exception of Hydra.

    Parameters
    ----------
    error : what Hydra raised while it read the arguments
    keys : all settings there are, dotted
    overrides : the arguments
    """
    if isinstance(error, UserError):
        return error
    if isinstance(error, MissingConfigException) and error.missing_cfg_file is not None:
        group, _, name = error.missing_cfg_file.rpartition("/")
        options = sorted(error.options or [])
        return UserError(f"{group}={name}: no such {group}{nearest(name, options)}; there are {', '.join(options)}")
    if isinstance(error, OverrideParseException):
        return UserError(f"{error.override}: cannot be read; expected <setting>=<value>, such as seed=0")
    text = str(error)
    if "Config group override must be" in text:
        return UserError("a group was set to null; expected the name of one of its choices (--help lists them)")
    unknown = re.search(r"Could not (?:override|delete) '([^'@]+)'", text)
    if unknown:
        key = unknown[1].lstrip("+~")
        given = next((o for o in overrides if o.split("=")[0].lstrip("+~") == key), key)
        alike = [k for k in keys if k.endswith(f".{key}")] or [k for k in keys if k.count(".") == key.count(".")]
        return UserError(f"{given}: unknown setting {key}{nearest(key, alike)}")
    if "Ambiguous value for argument" in text:
        argument = re.search(r"argument '([^']+)'", text)
        return UserError(f"{argument[1] if argument else 'a list of values'}: several values need -m")
    return UserError(" ".join(text.split("\n")[0].split()).rstrip(".") or type(error).__name__)


def is_mistake(error: BaseException) -> bool:
    """Whether an exception comes from reading the arguments."""
    if isinstance(error, ValueError) and "Config group override must be" in str(error):
        return True  # Hydra's answer to model=null
    return isinstance(error, UserError | HydraException | OmegaConfBaseException)


def known_keys(conf: Path) -> list[str]:
    """Every setting of the configuration folder, dotted, and every group."""
    config = yaml.safe_load((conf / "config.yaml").read_text())
    groups = [g for entry in config["defaults"] if isinstance(entry, dict) for g in entry if " " not in g]
    keys = [*groups, *_dotted({key: value for key, value in config.items() if key not in ("defaults", "hydra")}, ())]
    for group in groups:
        for path in sorted((conf / group).glob("*.yaml")):
            text = path.read_text()
            package = text.splitlines()[0].removeprefix("# @package ") if text.startswith("# @package ") else group
            within = () if package == "_global_" else tuple(package.split("."))
            keys.extend(_dotted(yaml.safe_load(text), within))
    return list(dict.fromkeys(keys))


def _dotted(content: dict[str, object], group: tuple[str, ...]) -> list[str]:
    keys: list[str] = []
    for key, value in content.items():
        keys.append(".".join((*group, key)))
        if isinstance(value, dict):
            keys.extend(_dotted(value, (*group, key)))
    return keys
