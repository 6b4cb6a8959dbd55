"""What is printed: one run's result or the table of a sweep's jobs."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

#: Metric, heading and format of the table's columns; a metric that no job has is left out.
_COLUMNS = (
    ("train/acc", "ACC", ".3f"),
    ("train/nmi", "NMI", ".3f"),
    ("annotated/acc", "annotated ACC", ".3f"),
    ("test/acc", "test ACC", ".3f"),
    ("test/nmi", "test NMI", ".3f"),
    ("answers/held_out_gain", "held-out gain", "+.4f"),
    ("clusters/used", "clusters", "d"),
    ("elbo/train", "ELBO", ".5g"),
    ("seconds/fit", "fit (s)", ".1f"),
    ("warnings/count", "warnings", "d"),
)
_COLOURS = {"finished": "green", "failed": "red", "interrupted": "yellow", "not run": "yellow"}


#: Metrics that are not printed after a run: they say nothing of the result, and are 1 and 0 for most methods.
_FOR_PROGRAMS = ("epochs", "restart/best")


def show_run(metrics: dict[str, Any], run_dir: Path) -> None:
    """Print a run's metrics and where its files are."""
    if (number := metrics.get("clusters/occupied")) is not None:
        trust = "; read the warnings before you trust this result" if metrics.get("warnings/count") else ""
        print(f"{number} cluster{'s' * (number != 1)}{trust}")
    shown = {name: value for name, value in metrics.items() if name not in _FOR_PROGRAMS}
    width = max(map(len, shown))
    for name, value in shown.items():
        print(f"{name:{width}}  {value:.4f}" if isinstance(value, float) else f"{name:{width}}  {value}")
    page = run_dir / "report.html"
    print(f"files: {run_dir}" + (f"\npage: {page}" if page.exists() else ""))


def brief(metrics: dict[str, Any]) -> str:
    """A run's main numbers in a few words."""
    return ", ".join(f"{heading} {metrics[name]:{form}}" for name, heading, form in _COLUMNS if name in metrics)


def show_sweep(reports: Sequence[dict[str, Any]], folder: Path) -> None:
    """Print a row for each job: arguments, status, main metrics or the error."""
    console = Console(width=None if sys.stdout.isatty() else 200)
    table = Table(title=f"{len(reports)} jobs in {folder}", title_justify="left")
    shown = [column for column in _COLUMNS if any(column[0] in report["metrics"] for report in reports)]
    table.add_column("job", justify="right")
    table.add_column("arguments", overflow="fold")
    table.add_column("status", overflow="fold")
    for _, heading, _ in shown:
        table.add_column(heading, justify="right")
    for report in reports:
        status = report["status"] + (f": {report['error']}" if report["error"] else "")
        cells = [f"{report['metrics'][name]:{form}}" if name in report["metrics"] else "" for name, _, form in shown]
        table.add_row(str(report["job"]), Text(report["arguments"]),
                      Text(status, style=_COLOURS.get(report["status"], "")), *cells)
    console.print(table)
