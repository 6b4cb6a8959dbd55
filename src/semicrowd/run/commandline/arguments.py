"""The command line before Hydra sees it: flags, seed ranges, and folders named after the arguments."""

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath

from semicrowd.errors import UserError
from semicrowd.files import check_exists, expanded

#: A character that Hydra interprets, or cannot read, outside quotes.
SPECIAL = re.compile(r"[^\w/.+%@?|*\\-]", re.ASCII)
_RANGE = re.compile(r"(\d+)-(\d+)")
_SEEDS = re.compile(r"seed=(\d+(?:-\d+)?(?:,\d+(?:-\d+)?)*)")
#: Quotes that may surround a path on the command line.
_QUOTES = "\"'"
#: Longest folder name made from arguments, in characters.
_LONGEST = 120
#: Characters of a name with a hash, at most, before settings other than files are left out.
_READABLE = 50
#: Settings of how a run is executed, which are not part of a folder's name.
_NOT_NAMED = ("resume", "figures", "logger", "trainer")
#: Settings of which a folder's name has only the file's name, and choices that these settings imply.
_FILES = {"data.path": ("data=table", "data=images"), "annotations.path": ("annotations=file",)}
#: A word that can only be meant as a path, without characters that Hydra interprets.
_FILE = re.compile(r"[^\[\](){},=:]+\.(csv|tsv|txt|parquet|np[yz]|xlsx?)", re.IGNORECASE)
_SWEEP = ("-m", "--multirun")
#: Flags of Hydra that show something and run nothing, with the values that may follow each.
_SHOWING = {
    "-c": ("job", "hydra", "all"), "--cfg": ("job", "hydra", "all"), "--resolve": (), "--hydra-help": (),
    "--version": (), "-i": ("all", "config", "defaults", "defaults-tree", "plugins", "searchpath"),
    "--info": ("all", "config", "defaults", "defaults-tree", "plugins", "searchpath"),
}  # fmt: skip


@dataclass(frozen=True)
class Command:
    """What a command line asks for.

    Attributes
    ----------
    overrides : ``key=value``, with ranges of seeds as lists, and with the folder of the run or sweep
    sweep : whether the command is a sweep
    help : whether to print the page and run nothing
    showing : flags of Hydra that show something
    """

    overrides: tuple[str, ...]
    sweep: bool = False
    help: bool = False
    showing: tuple[str, ...] = ()


def parse(arguments: Sequence[str]) -> Command:
    """Read the arguments after ``src/train.py``; flags may stand anywhere."""
    typed: list[str] = []
    showing: list[str] = []
    flags = set()
    values: tuple[str, ...] = ()
    for argument in arguments:
        if argument in values:
            showing.append(argument)
            values = ()
            continue
        values = _SHOWING.get(argument, ())
        if argument in _SHOWING:
            showing.append(argument)
        elif argument in (*_SWEEP, "-h", "--help"):
            flags.add(argument)
        elif argument.replace(" ", "").upper() == "HYDRA.MODE=MULTIRUN":
            flags.add("-m")
        elif argument.startswith("-"):
            key = argument.split("=")[0].lstrip("-")
            raise UserError(f"{argument}: unknown option; settings are written {key}=<value>, without dashes"
                            " (python src/train.py --help lists them)")
        else:
            typed.append(argument)
    sweep = not flags.isdisjoint(_SWEEP)
    overrides = [expand_seeds(one, sweep) if one.startswith("seed=") else one for one in typed]
    named = "hydra.sweep.dir" if sweep else "hydra.run.dir"
    if sweep:  # Hydra ignores hydra.run.dir in a sweep
        overrides = [one.replace("hydra.run.dir=", "hydra.sweep.dir=", 1) for one in overrides]
    if not any(one.lstrip("+").startswith(f"{named}=") for one in overrides):
        overrides.append(f"{named}='{'multirun' if sweep else 'runs'}/{folder_name(typed)}'")
    asks_help = not flags.isdisjoint(("-h", "--help"))
    return Command(tuple(overrides), sweep, asks_help, tuple(showing))


def completed(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """The arguments without bare paths, and the settings that these and other paths imply.

    Of ``items.csv answers.csv more.csv`` the first is the table or folder of the items, and the others are answers.
    ``data=`` and ``annotations=file`` follow from the paths, except beside an experiment.
    """
    others, paths, before = list[str](), list[str](), ""
    for argument in arguments:
        bare = "=" not in argument and argument[:1] not in ("", "-") and argument not in _SHOWING.get(before, ())
        if bare and _FILE.fullmatch(argument):
            check_exists(expanded(argument))
        (paths if bare and expanded(argument).exists() else others).append(argument)
        before = argument
    said = dict(argument.split("=", 1) for argument in others if "=" in argument)
    more = []
    if paths and "data.path" not in said:
        more.append(f"data.path={_as_value(paths.pop(0))}")
    if paths and "annotations.path" not in said:
        files = ",".join(map(_as_value, paths))
        more.append(f"annotations.path={files if len(paths) == 1 else f'[{files}]'}")
    elif paths:
        raise UserError(f"{paths[0]}: one path too many, since data.path and annotations.path are given")
    return others, [*more, *_implied(said | dict(one.split("=", 1) for one in more))]


def _as_value(path: str) -> str:
    return f'"{path}"' if SPECIAL.search(path) else path


def _implied(said: Mapping[str, str]) -> list[str]:
    if "experiment" in said:
        return []
    more = []
    if "data.path" in said and "data" not in said:
        more.append(f"data={'images' if expanded(said['data.path'].strip(_QUOTES)).is_dir() else 'table'}")
    if "annotations" not in said and "annotations.path" in said:
        more.append("annotations=file")
    return more


def expand_seeds(override: str, sweep: bool) -> str:
    """``seed=0-2,7`` as Hydra understands it: ``seed=0,1,2,7``.

    Hydra itself takes ``0-2`` for a string and runs one job.
    """
    match = _SEEDS.fullmatch(override)
    if match is None or "-" not in match[1]:
        return override
    if not sweep:
        raise UserError(f"{override}: several seeds need -m (python src/train.py -m {override} …)")
    seeds = [seed for part in match[1].split(",") for seed in _seeds_of(part, override)]
    return "seed=" + ",".join(str(seed) for seed in dict.fromkeys(seeds))


def _seeds_of(part: str, argument: str) -> range:
    match = _RANGE.fullmatch(part)
    first, last = (int(match[1]), int(match[2])) if match else (int(part), int(part))
    if last < first:
        raise UserError(f"{argument}: the range {part} runs backwards, expected first-last")
    return range(first, last + 1)


def folder_name(overrides: Sequence[str], *, all_of_them: bool = False) -> str:
    """A folder name for overrides. The same overrides get the same name, so that ``resume=true`` finds the run again.

    ``["data=mnist", "+note=a", "seed=0"]`` gives ``data-mnist_note-a_seed-0``, and ``["data.path=a.csv", "seed=0"]``
    gives ``a.csv_seed-0``. Folders of paths are left out, and characters that need quoting are replaced; a short hash
    then keeps different overrides apart, and files are named without their endings, other settings only where the name
    stays short. Settings of how a run is executed are left out, unless ``all_of_them``: two
    jobs of a sweep may differ in nothing else.
    """
    named = [o for o in overrides if "=" in o and (all_of_them or not _not_in_name(o))]
    if not named:
        return "default"
    spare = [choice for o in named for choice in _FILES.get(_key(o), ())]
    named = [o for o in named if o not in spare]
    plain = "_".join(o.lstrip("+").replace("=", "-", 1) for o in named)
    shown = "_".join(map(_shown, named)).replace(",", "+")
    name = re.sub(r"[^\w.+-]", "_", shown).lstrip(".")  # such as a folder of images that is called ..
    if name and name == shown and "/" not in plain and len(name.encode()) <= _LONGEST:
        return name
    if any(_key(o) in _FILES for o in named):
        name = _named_after_files(named, _LONGEST if all_of_them else _READABLE)
    short = name.encode()[: _LONGEST - 9].decode(errors="ignore")  # file systems count bytes
    return f"{short}-{hashlib.sha256(plain.encode(errors='surrogateescape')).hexdigest()[:8]}"


def _named_after_files(overrides: Sequence[str], longest: int) -> str:
    """Stems of the files, and the settings that fit into so many characters; a hash is to keep others apart."""
    parts = {o: _plain(_shown(o, stem=True)) for o in overrides}
    used = {o for o in overrides if _key(o) in _FILES}
    for one in overrides:
        if len("_".join(parts[o] for o in overrides if o in used or o == one)) <= longest:
            used.add(one)
    return "_".join(parts[o] for o in overrides if o in used and parts[o])


def _plain(text: str) -> str:
    return "+".join(re.sub(r"[^\w.+-]+", "_", value).strip("_.") for value in text.split(","))


def _key(override: str) -> str:
    return override.split("=", 1)[0].lstrip("+~")


def _shown(override: str, *, stem: bool = False) -> str:
    if _key(override) in _FILES:
        paths = [PurePath(path) for path in override.split("=", 1)[1].split(",")]
        return ",".join(path.stem if stem else path.name for path in paths)
    return override.lstrip("+").replace("=", "-", 1)


def _not_in_name(override: str) -> bool:
    key = _key(override)
    return key.startswith(("hydra.", "hydra/")) or key.split(".")[0] in _NOT_NAMED
