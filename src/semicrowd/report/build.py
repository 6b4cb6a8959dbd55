"""Make the report: the tables and figures of all papers, including those without results.

The page has two formats: ``index.html`` for a browser, ``REPORT.md`` as text.
"""

import argparse
import sys
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

import jinja2

from semicrowd.errors import without_traceback
from semicrowd.files import write_text
from semicrowd.pipeline.experiments import format_ranges
from semicrowd.report import collect, papers
from semicrowd.report.cells import PAIRED, Cell, format_difference, format_value
from semicrowd.report.collect import Collected, Run
from semicrowd.report.exhibits import NOT_YET_DONE, Exhibit, Paper, Result
from semicrowd.run import page
from semicrowd.run.commandline import program

REPORTS = Path("reports")
#: Paper → table or figure → its reproduction.
Results = Mapping[Paper, Mapping[Exhibit, Result]]

_QUANTITIES = {
    "accuracy": "accuracy",
    "nmi": "NMI",
    "f1": "F1 of pairs",
    "ari": "ARI",
    "weight": "weight, nats",
    "nmi, arithmetic": "NMI, arithmetic",
    "ami, arithmetic": "AMI, arithmetic",
    "acc": "accuracy",
    "clusters": "clusters",
    "seconds_per_epoch": "seconds an epoch",
    "sensitivity error": "error of sensitivity",
    "specificity error": "error of specificity",
    "sensitivity rank": "rank correlation of sensitivity",
    "specificity rank": "rank correlation of specificity",
}


def _name(quantity: str) -> str:
    if quantity.endswith(PAIRED):
        return f"{_name(quantity.removesuffix(PAIRED))}, paired difference"
    return _QUANTITIES.get(quantity, quantity)


def _row(cell: Cell, notes: list[str]) -> dict[str, Any]:
    """The texts of one table row; deviations are given as numbers of ``notes``, to which new ones are appended."""
    for deviation in cell.deviations:
        if deviation not in notes:
            notes.append(deviation)
    ours = cell.ours
    return {
        "cell": cell.cell,
        "quantity": _name(cell.quantity),
        "paper": format_value(cell.paper.value, cell.paper.sd, cell.quantity) if cell.paper else "–",
        "ours": format_value(ours.mean, ours.sd, cell.quantity) if ours else "–",
        "n": str(ours.num_runs) if ours else "–",
        "seeds": format_ranges(ours.seeds) if ours else "–",
        "difference": format_difference(cell),
        "notes": format_ranges([notes.index(deviation) + 1 for deviation in cell.deviations]) or "–",
        "remark": cell.remark,
        "missing": ours is None,
    }


def _section(paper: Paper, exhibit: Exhibit, result: Result) -> dict[str, Any]:
    notes: list[str] = []
    rows = [_row(cell, notes) for cell in result.cells]
    status = result.status if exhibit.computed else "nothing to compute"
    return {
        "key": f"{paper.key}-{exhibit.key}",
        "exhibit": exhibit,
        "result": result,
        "status": status + (", simulated answers" if result.simulated else ""),
        "state": status.replace(" ", "-"),
        "rows": rows,
        "notes": notes,
    }


def _runs(collected: Collected) -> list[dict[str, Any]]:
    """A row for each run; runs of a sweep that differ only in seed and folder share a row."""
    rows = []
    for name, runs in collected.runs.items():
        alike: dict[tuple[str, ...], list[Run]] = {}
        for run in runs:
            of_point = [f"{option}={value}" for option, value in run.point.items()]
            key = (" ".join([name, *of_point]), run.status, run.message, answers_text(run.answers))
            alike.setdefault(key if run.point else (*key, str(run.seed)), []).append(run)
        rows += [_runs_row(key, found) for key, found in alike.items()]
    return rows


def _runs_row(key: tuple[str, ...], runs: list[Run]) -> dict[str, Any]:
    directories = [run.directory for run in runs]
    several = f"{Path(directories[0]).parent.as_posix()}/…"
    return dict(zip(("experiment", "status", "message", "answers"), key, strict=False)) | {
        "seed": format_ranges([run.seed for run in runs]),
        "directory": directories[0] if len(runs) == 1 else several,
    }


def answers_text(answers: dict[str, Any]) -> str:
    """``57330 answers of 48 annotators (real)``; ``none`` for a run without answers."""
    if not answers.get("num_pairs"):
        return "none"
    kind = "simulated" if answers["simulated"] else "real"
    return f"{answers['num_pairs']} answers of {answers['num_annotators']} annotators ({kind})"


def progress(results: Results) -> str:
    """How many tables and figures have numbers of our own, and of how many papers."""
    computed = {p: [r for e, r in found.items() if e.computed] for p, found in results.items()}
    done = {p: sum(result.status != NOT_YET_DONE for result in found) for p, found in computed.items()}
    tables = f"{sum(done.values())} of {sum(map(len, computed.values()))} tables and figures"
    return f"{tables}, of {sum(map(bool, done.values()))} of {len(done)} papers, have numbers of our own"


def write(results: Results, collected: Collected, folder: Path) -> None:
    """Write ``index.html`` and ``REPORT.md`` into ``folder``."""
    templates = jinja2.Environment(
        loader=jinja2.PackageLoader("semicrowd.report"),
        autoescape=jinja2.select_autoescape(["html"]),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    content = {
        "profile": collected.profile,
        "progress": progress(results),
        "papers": [
            {"title": paper.title, "sections": [_section(paper, *one) for one in found.items()]}
            for paper, found in results.items()
        ],
        "runs": _runs(collected),
    }
    for template, name in (("index.html", "index.html"), ("report.md", "REPORT.md")):
        text = templates.get_template(template).render(content)
        write_text(folder / name, text)


def find_papers() -> list[Paper]:
    """The papers that have a folder in ``papers/``; the folder defines ``TITLE``, ``EXHIBITS``, ``VERIFIED``,
    and ``RECORD`` if it records results that are no runs of ``src/train.py``.

    They are sorted by their number of tables and figures, largest first, then by name.
    """
    found = []
    for folder in iter_modules(papers.__path__):
        package = import_module(f"{papers.__name__}.{folder.name}")
        own = getattr(package, "RECORD", None)
        found.append(Paper(folder.name.replace("_", "-"), package.TITLE, package.EXHIBITS, package.VERIFIED, own))
    return sorted(found, key=lambda paper: (-len(paper.exhibits), paper.key))


def build(collected: Collected, folder: Path = REPORTS) -> dict[Paper, dict[Exhibit, Result]]:
    """Write the page and its figures into ``folder``; the pipeline needs the folder of figures even if it is empty."""
    (folder / "figures").mkdir(parents=True, exist_ok=True)
    results = {
        paper: {exhibit: exhibit.build(collected, folder) for exhibit in paper.exhibits} for paper in find_papers()
    }
    write(results, collected, folder)
    return results


@without_traceback
def main(arguments: list[str] | None = None) -> int:
    """Command line of ``src/report.py``, of ``semicrowd report`` and of the pipeline's last stage."""
    parser = argparse.ArgumentParser(
        prog=program("report"),
        description="Make the page of a finished run again, or without FOLDER the report of all runs of params.yaml: "
        "reports/index.html and reports/REPORT.md.",
    )
    parser.add_argument(
        "runs", nargs="*", metavar="FOLDER",
        help="folder of a finished run, as runs/FOLDER or run=runs/FOLDER: writes its report.html and questions.csv",
    )  # fmt: skip
    parser.add_argument("--collect", action="store_true", help="gather the runs of params.yaml first, finished or not")
    parser.add_argument("--out", type=Path, default=REPORTS, help=f"folder of the report (default: {REPORTS})")
    options = parser.parse_args(arguments)
    if options.runs:
        return page.main(options.runs)
    if options.collect:
        collect.save(collect.collect())
    results = build(collect.load(), options.out)
    print(f"{options.out / 'index.html'}: {progress(results)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
