"""All runs that the report shows, one row each: those below ``results/``, and those of the repository (recorded/runs).

A run is found by its files, never by the names of folders: ``config.yaml``, ``metrics.json`` once it has finished, and
``provenance.json``. Recorded runs take too long for ``make reproduce``; only ``make record`` writes them.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import yaml
from hydra.utils import instantiate

from semicrowd.files import read_object

RESULTS = Path("results")
RECORDED = Path("recorded/runs")
#: Arguments that never change a number.
_NO_NUMBER = ("figures", "verbose", "logger", "memory")


def read_runs(results: Path = RESULTS, recorded: Path = RECORDED) -> pd.DataFrame:
    """One row a run, those of ``results`` first.

    Columns: the configuration with dotted names (``data``, ``annotations`` and ``model`` are the choices,
    ``model.hidden`` a value that was given, ``params.hidden`` the one that was used); the metrics by their names in
    metrics.json; ``seconds/epoch``, which includes the start; of runs with several starts ``worst/acc`` of the one with
    the lowest ELBO, ``starts/mean_acc``, and ``starts/oracle_acc``, the highest, and the same of NMI;
    ``workers/weight_1`` and so on; ``answers.num_pairs`` and the like; ``seed``, ``status`` (finished,
    failed, unfinished), ``message``, ``folder``, ``arguments`` (of src/train.py), ``commit``, ``recorded``, and of a
    recorded run ``experiment``, the name of its file.
    """
    rows = [_of_folder(path.parent) for path in sorted(results.glob("*/*/config.yaml"))]
    for path in sorted(recorded.glob("*.json")):
        for run in json.loads(path.read_text(encoding="utf-8"))["runs"]:
            kept = {name: run[name] for name in ("seed", "status", "message", "commit", "arguments")}
            row = _row(run["config"], run["metrics"], run["restarts"], run["answers"])
            rows.append({**row, **kept, "experiment": path.stem, "recorded": True, "folder": ""})
    # One dtype: hundreds of columns of different ones make every selection slow.
    columns = None if rows else ["status", "seed", "recorded", "folder", "arguments", "commit", "message", "data"]
    return pd.DataFrame(rows, columns=columns, dtype=object)


def _of_folder(folder: Path) -> dict[str, Any]:
    """A run of the pipeline; of one without metrics.json, jobs.csv of its sweep says why."""
    # LibYAML's loader reads a thousand configurations in a second; the default loader is much slower.
    config = yaml.load((folder / "config.yaml").read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)
    metrics, origin = read_object(folder / "metrics.json"), read_object(folder / "provenance.json")
    restarts, workers = (
        pd.read_csv(path) if path.is_file() else pd.DataFrame()
        for path in (folder / "restarts.csv", folder / "workers.csv")
    )
    row = _row(config, metrics, restarts.to_dict("list"), origin.get("annotations") or {})
    weights = workers["weight"].head(10) if "weight" in workers else ()
    row |= {f"workers/weight_{number}": weight for number, weight in enumerate(weights, start=1)}
    status, message = "finished" if metrics else "unfinished", ""
    if not metrics and (path := folder.parent / "jobs.csv").is_file():
        jobs = pd.read_csv(path, dtype=str, keep_default_na=False)
        errors = [job["error"] for job in jobs.to_dict("records") if Path(job["folder"]).name == folder.name]
        status, message = "failed", "".join(errors)
    return row | {
        "seed": config["seed"], "status": status,
        "message": message, "commit": origin.get("git_commit") or "",
        "arguments": origin.get("overrides", []), "recorded": False, "folder": folder.as_posix(),
    }  # fmt: skip


def _row(
    config: Mapping[str, Any], metrics: Mapping[str, float], restarts: Mapping[str, Sequence[Any]],
    answers: Mapping[str, Any],
) -> dict[str, Any]:
    row = dict(_dotted(config)) | {f"answers.{name}": value for name, value in _dotted(answers)} | dict(metrics)
    for name in ("data", "annotations", "model"):
        row[name] = row.pop(f"choices.{name}", None) or row.get(f"{name}.name")
    if metrics.get("epochs") and "seconds/fit" in metrics:
        row["seconds/epoch"] = metrics["seconds/fit"] / metrics["epochs"]
    elbo = np.array(restarts.get("elbo", ()), float)
    ended = np.flatnonzero(np.isfinite(elbo))  # a start that diverged has no ELBO
    for name in ("acc", "nmi") if len(elbo) > 1 and len(ended) else ():
        scores = np.array(restarts[f"oracle_{name}"], float)[ended]
        row[f"worst/{name}"] = scores[elbo[ended].argmin()]
        row |= {f"starts/mean_{name}": scores.mean(), f"starts/oracle_{name}": scores.max()}
    return row


def _dotted(content: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    """Dotted names and values. Lists are texts, so that values can be compared; None is "null", what is absent NaN."""
    for key, value in content.items():
        if isinstance(value, Mapping):
            yield from _dotted(value, f"{before}{key}.")
        else:
            yield f"{before}{key}", comparable(value)


def comparable(value: Any) -> Any:
    """A value of a YAML file as the table of runs has it."""
    return "null" if value is None else str(value) if isinstance(value, list) else value


def select(runs: pd.DataFrame, where: Mapping[str, Any]) -> pd.DataFrame:
    """The runs that have these values: column → a value, a list of allowed ones, or ``{not: value}``; ``seed: 0-9``.

    ``null`` is a value that is not given; a column that no run has is null everywhere.
    """
    chosen = pd.Series(True, index=runs.index)
    for name, wanted in where.items():
        if name == "seed" and isinstance(wanted, str):
            first, _, last = wanted.partition("-")
            wanted = list(range(int(first), int(last) + 1))
        values = wanted if isinstance(wanted, list) else [wanted["not"] if isinstance(wanted, Mapping) else wanted]
        column = runs[name] if name in runs else pd.Series(None, index=runs.index, dtype=object)
        equal = column.isin([comparable(value) for value in values]) | (column.isna() & (None in values))
        chosen &= ~equal if isinstance(wanted, Mapping) else equal
    return runs[chosen]


def data_of(run: pd.Series) -> tuple[np.ndarray, np.ndarray]:
    """Features [N, D] and true classes [N] of the training items of a run of the pipeline."""
    config = yaml.safe_load((Path(run["folder"]) / "config.yaml").read_text(encoding="utf-8"))
    data = instantiate(config["data"], _convert_="all")
    return data.features, data.labels


def format_ranges(numbers: Iterable[int]) -> str:
    """Numbers as the command line takes seeds: ``0-4`` or ``0-2,7``."""
    runs = groupby(enumerate(sorted({int(number) for number in numbers})), lambda pair: pair[1] - pair[0])
    parts = [[number for _, number in run] for _, run in runs]
    return ",".join(str(part[0]) if len(part) == 1 else f"{part[0]}-{part[-1]}" for part in parts)


def commands(runs: pd.DataFrame) -> list[str]:
    """Commands that repeat the runs: those whose arguments have the same names share one sweep of ``src/train.py``."""
    if "command" in runs and runs["command"].notna().any():  # rows of another stage
        return list(dict.fromkeys(runs["command"].dropna()))
    sweeps: dict[tuple[str, ...], dict[str, list[str]]] = {}
    for arguments in runs["arguments"]:
        values = dict(argument.partition("=")[::2] for argument in arguments)
        values = {name: value for name, value in values.items() if name not in _NO_NUMBER}
        sweep = sweeps.setdefault(tuple(values), {name: [] for name in values})
        for name, value in values.items():
            sweep[name] += [value] if value not in sweep[name] else []
    lines = []
    for sweep in sweeps.values():
        several = any(len(values) > 1 for values in sweep.values())
        if all(seed.isdigit() for seed in sweep.get("seed", ["-"])):
            sweep["seed"] = [format_ranges(map(int, sweep["seed"]))]
        words = [f"{name}={','.join(values)}" for name, values in sweep.items()]
        lines.append(" ".join(["python src/train.py", *(["-m"] if several else []), *words]))
    return lines
