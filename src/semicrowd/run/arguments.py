"""The command line before Hydra sees it: seed ranges, and folders named after the arguments."""

import hashlib
import re
from collections.abc import Sequence

from semicrowd.errors import UserError

_RANGE = re.compile(r"(\d+)-(\d+)")
_SEEDS = re.compile(r"seed=(\d+(?:-\d+)?(?:,\d+(?:-\d+)?)*)")
#: Longest folder name made from arguments, in characters.
_LONGEST = 120
#: Arguments that say how to run, not what: they leave a run's folder alone.
_NOT_NAMED = ("resume", "figures", "logger", "trainer")


def is_sweep(arguments: Sequence[str]) -> bool:
    """Whether the arguments ask for several jobs."""
    return any(a in ("-m", "--multirun") or a.replace(" ", "").upper() == "HYDRA.MODE=MULTIRUN" for a in arguments)


def expand_seeds(arguments: Sequence[str]) -> list[str]:
    """``seed=0-2,7`` as Hydra understands it: ``seed=0,1,2,7``.

    Hydra itself takes ``0-2`` for a string and runs one job.

    Raises
    ------
    UserError
        For a range that runs backwards, or several seeds without ``-m``.
    """
    expanded = []
    for argument in arguments:
        match = _SEEDS.fullmatch(argument)
        if match is None or "-" not in match[1]:
            expanded.append(argument)
            continue
        if not is_sweep(arguments):
            raise UserError(f"{argument}: several seeds need -m (python src/train.py -m {argument} …)")
        seeds = [seed for part in match[1].split(",") for seed in _seeds_of(part, argument)]
        expanded.append("seed=" + ",".join(str(seed) for seed in dict.fromkeys(seeds)))
    return expanded


def _seeds_of(part: str, argument: str) -> range:
    match = _RANGE.fullmatch(part)
    if match is None:
        return range(int(part), int(part) + 1)
    first, last = int(match[1]), int(match[2])
    if last < first:
        raise UserError(f"{argument}: the range {part} runs backwards, expected first-last")
    return range(first, last + 1)


def folder_name(overrides: Sequence[str]) -> str:
    """A folder name for overrides: the same for the same ones, so that ``resume=true`` finds the run again.

    ``["data=mnist", "+note=a", "seed=0"]`` gives ``data-mnist_note-a_seed-0``. Characters that need quoting are
    replaced; a short hash then keeps different overrides apart.
    """
    named = [o for o in overrides if "=" in o and not _leaves_name(o)]
    if not named:
        return "default"
    plain = "_".join(o.lstrip("+").replace("=", "-", 1) for o in named)
    name = re.sub(r"[^\w.+-]", "_", plain.replace(",", "+"))
    if name == plain.replace(",", "+") and len(name) <= _LONGEST:
        return name
    return f"{name[: _LONGEST - 9]}-{hashlib.sha256(plain.encode()).hexdigest()[:8]}"


def _leaves_name(override: str) -> bool:
    key = override.split("=", 1)[0].lstrip("+~")
    return key.startswith(("hydra.", "hydra/")) or key.split(".")[0] in _NOT_NAMED


def place_output(arguments: Sequence[str], typed: Sequence[str]) -> list[str]:
    """Add the output folder, named after the arguments as ``typed``, where none is given.

    In a sweep ``hydra.run.dir``, which Hydra would ignore there, is taken for the sweep's folder.
    """
    given = [a for a in arguments if a.startswith(("hydra.run.dir=", "hydra.sweep.dir="))]
    if not is_sweep(arguments):
        return [*arguments] if given else [*arguments, f"hydra.run.dir='runs/{folder_name(typed)}'"]
    if not given:
        return [*arguments, f"hydra.sweep.dir='multirun/{folder_name(typed)}'"]
    if any(a.startswith("hydra.sweep.dir=") for a in given):
        return [*arguments]
    return [a.replace("hydra.run.dir=", "hydra.sweep.dir=", 1) for a in arguments]
