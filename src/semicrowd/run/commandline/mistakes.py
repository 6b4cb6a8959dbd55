"""Turns Hydra's exceptions into one line: the argument, what is wrong with it, and the nearest valid name or value."""

import re
from collections.abc import Sequence
from pathlib import Path

from hydra.errors import HydraException, MissingConfigException, OverrideParseException
from omegaconf.errors import OmegaConfBaseException

from semicrowd.errors import UserError, nearest
from semicrowd.run.commandline.arguments import SPECIAL
from semicrowd.run.composition import known_keys
from semicrowd.settings.groups import CHOSEN, names_in

#: Setting → names for it that people try, without underscores and in lower case.
_TRIED = {
    "hydra.run.dir": ("dir", "folder", "out", "outdir", "output", "outputdir", "run.dir", "rundir", "savedir"),
    "data.path": ("features", "file", "input", "items", "table", "x"),
    "annotations.path": ("answers", "labels", "pairs"),
    "model.K": ("clusters", "k", "nclusters", "numclusters"),
}


def explain(error: Exception, arguments: Sequence[str]) -> UserError:
    """The user's mistake behind an exception that Hydra raised while it read the arguments."""
    if isinstance(error, UserError):
        return error
    if isinstance(error, MissingConfigException) and error.missing_cfg_file is not None:
        group, _, path = error.missing_cfg_file.partition("/")
        if path and Path(path).exists() and group in ("data", "annotations"):
            kind = "file" if group == "annotations" else "images" if Path(path).is_dir() else "table"
            usual = f"{group}={kind} {group}.path={path}"
            return UserError(f"{group}={path}: a path, where a choice is expected; write {usual}")
        group, _, name = error.missing_cfg_file.rpartition("/")
        options = sorted(error.options or [])
        return UserError(f"{group}={name}: no such {group}{nearest(name, options)}; there are {', '.join(options)}")
    if isinstance(error, OverrideParseException):
        given = str(error.override)
        hint = _quoted(given) or "expected <setting>=<value>, such as seed=0"
        return UserError(f"{given}: cannot be read; {hint}")
    text = str(error)
    if "Config group override must be" in text:
        return UserError("a group was set to null; expected the name of one of its choices (--help lists them)")
    unknown = re.search(r"Could not (?:override|delete) '([^'@]+)'", text)
    if unknown:
        key = unknown[1].lstrip("+~")
        given = next((o for o in arguments if o.split("=")[0].lstrip("+~") == key), key)
        keys = known_keys()
        group, _, name = key.partition(".")
        owners = [choice for choice in CHOSEN.get(group, {}) if name in names_in(group, choice)]
        if owners:
            chosen = [one.partition("=")[2] for one in arguments if one.startswith(f"{group}=")]
            what = f"{group}={chosen[-1]}" if chosen else f"the default {group}"
            itself = " and finds the number of clusters by itself" if key == "model.K" else ""
            way = f"add {group}={owners[0]}, which has" if len(owners) == 1 else f"{group}={', '.join(owners)} have"
            return UserError(f"{given}: {what} has no setting {name}{itself}; {way} it")
        if meant := next((setting for setting, tried in _TRIED.items() if key.lower().replace("_", "") in tried), None):
            return UserError(f"{given}: unknown setting {key}; perhaps {meant} is meant")
        others = [k for k in keys if k != key]
        if same := [k for k in others if k.endswith(f".{key}")]:
            return UserError(f"{given}: unknown setting {key}; the nearest is {same[0]}")
        alike = [k for k in others if k.count(".") == key.count(".")]
        return UserError(f"{given}: unknown setting {key}{nearest(key, alike)}")
    if "Ambiguous value for argument" in text:
        argument = re.search(r"argument '([^']+)'", text)
        quoted = _quoted(argument[1]) if argument else None
        said = f"{argument[1] if argument else 'a list of values'}: several values need -m"
        return UserError(f"{said}; {quoted}" if quoted else said)
    return UserError(" ".join(text.split("\n")[0].split()).rstrip(".") or type(error).__name__)


def _quoted(override: str) -> str | None:
    """How to quote a path with a character that Hydra would interpret, and words in a list or mapping."""
    key, _, value = override.partition("=")
    if value.startswith("[") and not value.endswith("]"):
        return f"a list is one word of the command line: write it without blanks or in quotes, '{key}=[first, second]'"
    if value[:1] in ("[", "{") and SPECIAL.search(re.sub(r"[\[\]{},: ]", "", value)):
        from semicrowd.data.columns import as_list  # imports pandas, which takes time

        words = [word.strip(" \"'") for word in value[1:-1].split(",")]
        usual = f"{key}={as_list(words)}" if value[0] == "[" else 'data.ignore=["Druck [bar]","läuft"]'
        return f"words with special characters need quotes of their own: '{usual}'"
    if not key.endswith("path") or '"' in value or not SPECIAL.search(value):
        return None
    return f"""a path with special characters needs two kinds of quotes: '{key}="{value}"'"""


def is_mistake(error: BaseException) -> bool:
    """Whether an exception comes from reading the arguments."""
    if isinstance(error, ValueError) and "Config group override must be" in str(error):
        return True  # Hydra's answer to model=null
    return isinstance(error, UserError | HydraException | OmegaConfBaseException)
