"""``python -m semicrowd.pipeline.generality``: run what is not finished yet, then write the tables and the picture."""

import argparse
import re
import sys
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pandas as pd
from joblib import Parallel, delayed, parallel_config

from semicrowd.data import load_dataset
from semicrowd.data.fetch import data_root
from semicrowd.errors import without_traceback
from semicrowd.files import read_object, write_text
from semicrowd.pipeline.experiments import parse_ranges
from semicrowd.pipeline.generality.cell import fingerprint, finished, run_cell
from semicrowd.pipeline.generality.figures import draw_differences
from semicrowd.pipeline.generality.plan import BASELINES, OURS, Cell, base_of, cells, expanded
from semicrowd.pipeline.generality.record import FILES, FOLDER, LOOKS, record
from semicrowd.pipeline.generality.summary import ablation, summary
from semicrowd.pipeline.generality.tables import DEVELOPMENT, LOCKED, REGIMES, TABLES, missing_file
from semicrowd.run.files.provenance import revision

_CELLS = Path("results/generality")
_REPORTS = Path("reports/generality")


@without_traceback
def main(arguments: list[str] | None = None) -> int:
    """Run the command; exit code 2 for a mistake of the user, 1 if a fit failed."""
    options = _options(arguments)
    try:
        plan = list(cells(options.data, options.regimes, options.methods, options.seeds, locked=options.locked))
        if not options.summary_only:
            _run(plan, options)
        if options.record:
            _record(plan, options)
        rows = _rows(options)
        if not rows.empty:
            _write(rows, options)
    except KeyboardInterrupt:
        print("stopped; the same command continues from here", file=sys.stderr)
        return 130
    failed = rows[rows["status"].str.contains(":")] if len(rows) else rows
    for row in failed.itertuples():
        print(f"failed: {row.data}/{row.regime}/{row.method}/{row.seed}: {row.status}", file=sys.stderr)
    return 1 if len(failed) else 0


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m semicrowd.pipeline.generality", formatter_class=argparse.ArgumentDefaultsHelpFormatter,
        description="Measure methods on many data sets under many regimes of answers. Our methods are not given the "
        "number of clusters, the others are. A finished fit is only run again if code that it depends on has changed.",
    )  # fmt: skip
    # Commas within brackets belong to the settings of a variant.
    listed: dict[str, Any] = {"type": lambda text: re.split(r",(?![^\[]*\])", text), "metavar": "A,B,…"}
    variants = (
        "methods; a baseline stands for all of its variants, such as mcvc_raw_one; scdc[model.latent_dim=4;epochs=0] "
        "is scdc with other settings, reported in a table of its own"
    )
    parser.add_argument("--data", default=None, help="data sets; if none are given, all that are available", **listed)
    parser.add_argument("--regimes", default=list(REGIMES), help="regimes of answers", **listed)
    parser.add_argument("--methods", default=[*OURS, *BASELINES], help=variants, **listed)
    parser.add_argument("--seeds", default="0-4", type=parse_ranges, help="seeds of answers and fits: 0-4 or 0,2")
    parser.add_argument("--jobs", default=2, type=int, help="processes, one thread each")
    parser.add_argument("--limit", default=600.0, type=float, help="seconds for a fit")
    parser.add_argument("--keep", default=[], help="methods whose fits are not run again for new code", **listed)
    parser.add_argument("--locked", action="store_true", help="use the locked data sets instead; this is logged")
    parser.add_argument("--summary-only", action="store_true", help="run nothing")
    parser.add_argument("--record", action="store_true", help="add fits of the current code to the recorded tables")
    parser.add_argument("--recorded", default=FOLDER, type=Path, help="folder of these and of the log of --locked")
    parser.add_argument("--cells", default=_CELLS, type=Path, help="where finished fits are kept")
    parser.add_argument("--reports", default=_REPORTS, type=Path, help="where tables and picture go")
    options = parser.parse_args(arguments)
    options.data = options.data or _at_hand(LOCKED if options.locked else DEVELOPMENT)
    return options


def _at_hand(names: Iterable[str]) -> list[str]:
    """The available data sets; for each of the others, a line says where to get it."""
    missing = {name: missing_file(name, data_root()) for name in names}
    for name, reason in missing.items():
        if reason:
            print(f"left out: {name}: {reason}", file=sys.stderr)
    return [name for name, reason in missing.items() if not reason]


def _run(plan: list[Cell], options: argparse.Namespace) -> None:
    place = {cell: options.cells / f"{cell.name}.json" for cell in plan}
    waiting = [
        cell for cell in plan
        if not finished(cell, place[cell], options.limit, any_code=cell.method in expanded(options.keep))
    ]  # fmt: skip
    print(f"{len(plan)} fits, {len(plan) - len(waiting)} of them finished before")
    if not waiting:
        return
    root, made = data_root(), revision()
    for name in dict.fromkeys(cell.data for cell in waiting):  # fetched here, to report missing files before any fit
        table = TABLES[name]
        load_dataset(table.loader, root, **table.options)
    if options.locked:
        _note_look(options, made)
    started = datetime.now(UTC)
    with parallel_config(backend="loky", inner_max_num_threads=1):
        done = Parallel(n_jobs=options.jobs, batch_size=1, return_as="generator_unordered")(
            delayed(run_cell)(cell, place[cell], root, options.limit, made) for cell in waiting
        )
        for number, row in enumerate(done, 1):
            score = f"NMI {row['nmi']:.3f}, {row['clusters']} clusters" if row["status"] == "done" else row["status"]
            spent = (datetime.now(UTC) - started).total_seconds()
            name = f"{row['data']}/{row['regime']}/{row['method']}/{row['seed']}"
            print(f"[{number}/{len(waiting)}, {spent:.0f} s] {name}: {score}, {row['seconds']} s", flush=True)


def _note_look(options: argparse.Namespace, made: dict[str, Any]) -> None:
    """Log an evaluation on locked data sets, before the first fit."""
    path = options.recorded / LOOKS
    path.parent.mkdir(parents=True, exist_ok=True)
    look = pd.DataFrame([{**made, "data": " ".join(options.data), "methods": " ".join(options.methods),
                          "regimes": " ".join(options.regimes), "seeds": " ".join(map(str, options.seeds))}])
    look.to_csv(path, mode="a", header=not path.exists(), index=False)
    print(f"locked data sets: this evaluation is logged in {path}")


def _record(plan: list[Cell], options: argparse.Namespace) -> None:
    """Record the requested fits by the current code, and those by any code of the methods of ``--keep``."""
    kept = expanded(options.keep)
    found = [(cell, read_object(options.cells / f"{cell.name}.json")) for cell in plan]
    rows = [row for cell, row in found if row and (cell.method in kept or row["fingerprint"] == fingerprint(cell))]
    path = options.recorded / FILES["locked" if options.locked else "development"]
    there = record(rows, path, options.cells / "record.lock")
    print(f"recorded: {len(rows)} of {len(plan)} fits; {path} has {there} now")


def _rows(options: argparse.Namespace) -> pd.DataFrame:
    """All finished fits on these data sets, regimes and seeds: of every method, and of the requested variants."""
    found = []
    for name in options.data:
        for path in sorted((options.cells / name).glob("*/*/*.json")):
            row = read_object(path)
            method = row.get("method", "")
            asked = method == base_of(method) or method in options.methods
            if asked and row.get("regime") in options.regimes and row.get("seed") in options.seeds:
                found.append(row)
    return pd.DataFrame(found)


def _write(rows: pd.DataFrame, options: argparse.Namespace) -> None:
    prefix = "locked_" if options.locked else ""
    whole = rows["method"].map(base_of) == rows["method"]
    table, text = summary(rows[whole], options.data, options.regimes)
    variants = "" if whole.all() else ablation(rows, options.data, options.regimes)
    folder: Path = options.reports
    pages = {
        "results.csv": rows[whole].to_csv(index=False), "cells.csv": table.to_csv(index=False), "summary.md": text,
    } | ({"ablation.md": variants} if variants else {})  # fmt: skip
    for name, content in pages.items():
        write_text(folder / f"{prefix}{name}", content)
    draw_differences(table, options.data, options.regimes, folder / f"{prefix}difference.png")
    print("\n".join([text, *filter(None, [variants])]))
    print(f"written: {folder}/{prefix}{', '.join(pages)}, difference.png")


if __name__ == "__main__":
    sys.exit(main())
