"""``make verify``: repeat one recorded run of each paper and compare the numbers."""

import argparse
import math
import sys
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from semicrowd.errors import UserError, without_traceback
from semicrowd.files import read_object
from semicrowd.report.build import find_papers
from semicrowd.report.collect import FOLDER, RecordedRun, read_recorded
from semicrowd.report.record import processor, run_again

#: Largest accepted difference of a score on another kind of processor, where rounding can lead to another result.
TOLERANCE = 0.03
#: Beginnings of the names of metrics that are times.
_TIMES = ("seconds/",)
#: Endings of the names of scores between 0 and 1, to which the tolerance applies.
_SCORES = ("/acc", "/nmi", "/bri", "/f1")


def cheapest(runs: Iterable[RecordedRun]) -> RecordedRun:
    """The run that took the least time."""
    return min((one for one in runs if one.run.status == "finished"), key=lambda one: one.run.metrics["seconds/fit"])


def differences(before: Mapping[str, float], now: Mapping[str, float], *, same_machine: bool) -> list[str]:
    """Differences from the recorded metrics, one line each.

    On the same kind of processor, with the same packages, every metric except times must be the same number. Otherwise
    scores may differ by :data:`TOLERANCE`, and other metrics are not compared.
    """
    lines = []
    for name, value in before.items():
        if name.startswith(_TIMES) or not (same_machine or name.endswith(_SCORES)):
            continue
        found = now.get(name, math.nan)
        if not (found == value or (not same_machine and abs(found - value) <= TOLERANCE)):
            lines.append(f"{name}: recorded {value:.6g}, now {found:.6g}")
    return lines


def elsewhere(one: RecordedRun, now: Mapping[str, Any]) -> list[str]:
    """Differences in processor and packages from the recorded run, which can change the rounding; one line each."""
    lines = [] if one.processor == processor() else [f"recorded on {one.processor}, now on {processor()}"]
    versions: Mapping[str, str] = now.get("versions", {})
    return lines + [
        f"recorded with {name} {version}, now {versions.get(name)}"
        for name, version in one.versions.items() if versions.get(name) != version
    ]  # fmt: skip


@without_traceback
def main(arguments: list[str] | None = None) -> int:
    """``python -m semicrowd.report.verify``; exit code 1 if a number differs from the recorded one."""
    parser = argparse.ArgumentParser(
        prog="make verify",
        description="Repeat the cheapest recorded run of each experiment. With the recorded kind of processor and the "
        f"recorded packages every number must be the same; otherwise scores may differ by up to {TOLERANCE}.",
    )
    parser.add_argument("--experiments", nargs="+", help="default: one of each paper")
    parser.add_argument("--folder", type=Path, default=FOLDER)
    options = parser.parse_args(arguments)
    recorded = read_recorded(options.folder)
    names = options.experiments or [paper.verified for paper in find_papers()]
    for name in names:
        if not any(one.run.status == "finished" for one in recorded.get(name, [])):
            raise UserError(f"{name}: not recorded; {options.folder} has {', '.join(recorded) or 'nothing'}")
    table, failed = Table("experiment", "seed", "recorded", "test or train NMI", "now", title="recorded, run again"), 0
    for name in names:
        one = cheapest(recorded[name])
        with tempfile.TemporaryDirectory() as folder:
            code = run_again(one.arguments, Path(folder) / "run", quiet=True)
            now = read_object(Path(folder) / "run" / "metrics.json")
            others = elsewhere(one, read_object(Path(folder) / "run" / "provenance.json"))
        lines = differences(one.run.metrics, now, same_machine=not others)
        shown = "test/nmi" if "test/nmi" in one.run.metrics else "train/nmi"
        values = (f"{metrics[shown]:.4f}" if shown in metrics else "–" for metrics in (one.run.metrics, now))
        table.add_row(name, str(one.run.seed), one.commit[:10], *values)
        failed += bool(code or lines)
        for line in (*(lines and others), *lines):
            print(f"{name}, seed {one.run.seed}: {line}", file=sys.stderr)
    Console().print(table)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
