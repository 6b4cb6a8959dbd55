"""``make record`` and ``make verify``: runs that take too long for ``make reproduce``, kept in recorded/ and repeated.

``recorded/runs/<experiment>.json`` has for each run its arguments of ``src/train.py``, configuration, metrics, commit,
processor and versions; ``recorded/slpd`` the trials of the SLPD paper's tables.
"""

import argparse
import math
import platform
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pandas as pd
import torch
from rich.console import Console
from rich.table import Table

from reproduction.commandline import without_traceback
from reproduction.files import read_config, read_metrics, revision
from semicrowd.errors import UserError
from semicrowd.files import PROVENANCE, read_object, write_csv, write_json
from semicrowd.nets.mlp import native_bfloat16

RECORDED = Path("recorded")
#: Folder of the runs while they are made, with one for each commit.
RUNS = Path("runs/recorded")
#: What ``make verify`` repeats: an experiment of each paper.
VERIFIED = ("pinwheel_two_coin", "deep_moons_dpm", "bnp_chains_dpm", "crowd_iris_slpd")
#: Largest accepted difference of a score on another kind of processor, where rounding can lead to another result.
TOLERANCE = 0.03
#: Endings of the names of scores between 0 and 1, to which the tolerance applies.
_SCORES = ("/acc", "/nmi", "/bri", "/f1")


def read(experiment: str) -> list[dict[str, Any]]:
    """The recorded runs of an experiment; none if there are none."""
    return list(read_object(RECORDED / "runs" / f"{experiment}.json").get("runs", ()))


def train(arguments: Sequence[str], *, quiet: bool = False) -> int:
    """Run ``src/train.py`` without figures and tracking; its exit code."""
    print("$ python src/train.py", *arguments, flush=True)
    command = [sys.executable, "src/train.py", *arguments, "figures=false", "logger=none"]
    return subprocess.run(command, stdout=subprocess.DEVNULL if quiet else None, check=False).returncode


def processor() -> str:
    """Processor, vector instructions, bfloat16 and GPU; equal bytes can only be expected where these are equal."""
    path = Path("/proc/cpuinfo")
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    known = {name.strip(): value.strip() for name, _, value in (line.partition(":") for line in reversed(lines))}
    # Linear-algebra libraries choose their code, and so rounding, by maker, family and model.
    model = [f"{name} {known[name]}" for name in ("vendor_id", "cpu family", "model") if name in known]
    device = torch.cuda.get_device_name() if torch.cuda.is_available() else "no GPU"
    reduced = "bfloat16" if native_bfloat16() else "no bfloat16"
    named = ", ".join(model) or platform.processor()
    return f"{platform.machine()} ({named}), {torch.backends.cpu.get_cpu_capability()}, {reduced}, {device}"


def record(experiment: str, arguments: Sequence[str]) -> Path:
    """Run a sweep and keep its runs; without arguments, the recorded runs of the experiment again. The file's path."""
    commit = _commit()
    folder = RUNS / commit[:10] / experiment
    if arguments:
        train(["-m", *arguments, f"hydra.sweep.dir={folder}"])
    else:
        for number, run in enumerate(read(experiment)):
            train([*run["arguments"], f"hydra.run.dir={folder / str(number)}"])
    found = [*_runs_of(folder, commit)]
    if not found:
        raise UserError(f"{experiment}: no run has finished; expected ARGS, arguments of src/train.py")
    # A run replaces one with the same arguments.
    kept = {tuple(sorted(run["arguments"])): run for run in (*read(experiment), *found)}
    path = RECORDED / "runs" / f"{experiment}.json"
    write_json(path, {"runs": sorted(kept.values(), key=lambda run: run["seed"])})
    return path


def _commit() -> str:
    now = revision()
    if now["git_dirty"] or not now["git_commit"]:
        raise UserError("the code differs from its commit, and what is recorded says which code it is of: commit first")
    return str(now["git_commit"])


def _runs_of(folder: Path, commit: str) -> Iterator[dict[str, Any]]:
    """The runs below a folder. One that failed, for example because it diverged, is a result; a stopped one is not."""
    table = folder / "jobs.csv"
    jobs = pd.read_csv(table, dtype=str).fillna("").to_dict("records") if table.is_file() else []
    errors = {Path(job["folder"]).name: job["error"] for job in jobs if job["status"] == "failed"}
    for path in sorted(folder.glob(f"*/{PROVENANCE}")):
        run, origin = path.parent, read_object(path)
        finished = (run / "metrics.json").is_file()
        if not (finished or run.name in errors):
            continue
        if origin["git_dirty"] or origin["git_commit"] != commit:
            raise UserError(f"{run}: not recorded, the code was changed before it began; remove the folder")
        config, restarts = read_config(run), run / "restarts.csv"
        for part in (config, config.get("model", {})):  # paths of this machine
            part.update({name: None for name in ("trainer", "memory") if name in part})
        given = [one for one in origin["overrides"] if not one.startswith(("figures=", "logger=", "memory="))]
        columns = pd.read_csv(restarts) if restarts.is_file() else pd.DataFrame()
        columns = columns.replace([math.inf, -math.inf], math.nan).dropna(axis="columns", how="all")  # of the diverged
        yield {
            "seed": config["seed"], "status": "finished" if finished else "failed", "message": errors.get(run.name, ""),
            "arguments": given, "metrics": read_metrics(run) if finished else {}, "config": config,
            "restarts": columns.astype(object).where(columns.notna(), None).to_dict("list"),
            "answers": origin["annotations"] or {}, "commit": commit, "date": origin["started"],
            "processor": processor(), "versions": origin["versions"], "data_hashes": origin["data_hashes"], "notes": [],
        }  # fmt: skip


def record_slpd(arguments: Sequence[str]) -> Path:
    """Keep trials of the SLPD paper's tables, ``--iris 100 --wine 100 …``, of the methods that the paper has."""
    from reproduction.stages import slpd

    commit = _commit()
    place, kept = RUNS / commit[:10] / "slpd", RECORDED / "slpd"
    started = datetime.now(UTC).isoformat(timespec="seconds")
    if slpd.main([str(place), *arguments]):
        raise UserError(f"slpd: data are missing, {kept} stays as it is")
    for path in (place / f"{name}.csv" for name in slpd.SETS):
        if path.is_file():
            rows = pd.read_csv(path)
            rows = rows[rows["method"].isin(("ckm", "slpd", slpd.CHOSEN))].sort_values([*slpd.COLUMNS[:4]]).round(6)
            write_csv(kept / path.name, slpd.COLUMNS, rows.itertuples(index=False))
            write_json(kept / f"{path.stem}.json", {
                "command": f'make record EXPERIMENT=slpd ARGS="--{path.stem} {rows["trial"].nunique()}"',
                "git_commit": commit, "started": started, "processor": processor(),
                "trials": int(rows["trial"].nunique()),
            })  # fmt: skip
    return kept


def differences(before: Mapping[str, float], now: Mapping[str, float], *, same_machine: bool) -> list[str]:
    """Differences from the recorded metrics, one line each.

    On the same kind of processor, with the same packages, every metric except times must be the same number. Otherwise
    scores may differ by :data:`TOLERANCE`, and other metrics are not compared.
    """
    lines = []
    for name, value in before.items():
        if name.startswith("seconds/") or not (same_machine or name.endswith(_SCORES)):
            continue
        found = now.get(name, math.nan)
        if not (found == value or (not same_machine and abs(found - value) <= TOLERANCE)):
            lines.append(f"{name}: recorded {value:.6g}, now {found:.6g}")
    return lines


def verify(experiments: Sequence[str]) -> bool:
    """Repeat the cheapest recorded run of each experiment, print a table; whether all numbers are the same."""
    table, same = Table("experiment", "seed", "recorded", "test or train NMI", "now", title="recorded, run again"), True
    for name in experiments:
        finished = [run for run in read(name) if run["status"] == "finished"]
        if not finished:
            raise UserError(f"{name}: not recorded in {RECORDED / 'runs'}")
        one = min(finished, key=lambda run: run["metrics"]["seconds/fit"])
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place) / "run"
            code = train([*one["arguments"], f"hydra.run.dir={folder}"], quiet=True)
            now, origin = read_object(folder / "metrics.json"), read_object(folder / PROVENANCE)
        others = [] if one["processor"] == processor() else [f"recorded on {one['processor']}, now on {processor()}"]
        others += [
            f"recorded with {package} {version}, now {origin.get('versions', {}).get(package)}"
            for package, version in one["versions"].items() if origin.get("versions", {}).get(package) != version
        ]  # fmt: skip
        lines = differences(one["metrics"], now, same_machine=not others)
        shown = "test/nmi" if "test/nmi" in one["metrics"] else "train/nmi"
        values = (f"{metrics[shown]:.4f}" if shown in metrics else "–" for metrics in (one["metrics"], now))
        table.add_row(name, str(one["seed"]), one["commit"][:10], *values)
        same = same and not (code or lines)
        for line in (*(lines and others), *lines):
            print(f"{name}, seed {one['seed']}: {line}", file=sys.stderr)
    Console().print(table)
    return same


@without_traceback
def main(arguments: list[str] | None = None) -> int:
    """``python -m reproduction.recorded record NAME …`` or ``verify``; exit code 1 if a number differs."""
    parser = argparse.ArgumentParser(description="keep the numbers of long runs in recorded/, or repeat some of them")
    tasks = parser.add_subparsers(dest="task", required=True)
    keep = tasks.add_parser("record", help="run a sweep of src/train.py and keep its runs in recorded/runs/NAME.json")
    keep.add_argument("name", help="of the file; slpd: trials of the SLPD paper's tables")
    keep.add_argument("arguments", nargs=argparse.REMAINDER, help="of src/train.py -m; none: the recorded runs again")
    tasks.add_parser("verify", help="repeat recorded runs and compare").add_argument("names", nargs="*")
    options = parser.parse_args(arguments)
    if options.task == "verify":
        return 0 if verify(options.names or VERIFIED) else 1
    given = options.arguments
    print(record_slpd(given) if options.name == "slpd" else record(options.name, given))
    return 0


if __name__ == "__main__":
    sys.exit(main())
