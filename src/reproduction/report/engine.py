"""The report: every number that the papers print, and beside it what the runs of this project give.

A paper has a folder: ``printed.yaml`` says what it prints and concludes and which runs belong beside it, ``figures.py``
draws; a cell names the commands and commits of its runs (:mod:`reproduction.report.tables`).
"""

import argparse
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import jinja2
import pandas as pd
import yaml
from matplotlib.figure import Figure

from reproduction.commandline import without_traceback
from reproduction.report.runs import RECORDED, RESULTS, commands, comparable, format_ranges, read_runs
from reproduction.report.tables import COLUMNS, STATES, Row, Summary, conclusions, fill, format_number, mark, scoreboard
from semicrowd.errors import UserError
from semicrowd.figures.style import save
from semicrowd.files import write_text

REPORTS = Path("reports")
PAPERS = ("scdc", "deep_dpm", "discriminative_bnp", "slpd")


@dataclass(frozen=True)
class Image:
    """A figure: its file relative to the report's folder, what it shows, and the runs that it is drawn from."""

    path: Path
    caption: str
    runs: pd.DataFrame


def drawn(figure: Figure, folder: Path, name: str, caption: str, runs: Iterable[pd.DataFrame]) -> list[Image]:
    """The image of a figure, which is saved in the report's folder."""
    save(figure, folder / "figures" / f"{name}.png")
    return [Image(Path("figures") / f"{name}.png", caption, pd.concat(runs))]


def deviations(row: Row, summary: Summary) -> list[str]:
    """How the runs behind a number differ from the paper's: their number, and settings of the models that it names."""
    spec, run, found = row.spec, summary.runs.iloc[0], []
    if row.paper and summary.n == len(summary.runs) != spec.get("n", summary.n):
        found.append(f"n = {summary.n} (paper: {spec['n']})")
    for name, paper in spec["settings"].items() if run.get("model") in spec.get("models", ()) else ():
        values = [run[one] for one in (f"params.{name}", f"model.{name}", name) if one in run and pd.notna(run[one])]
        printed = [paper["paper"], *paper["same"]] if isinstance(paper, Mapping) else [paper]
        if values and values[0] not in [comparable(one) for one in printed]:
            found.append(f"{name} {values[0]} (paper: {comparable(printed[0])})")
    return found


def _section(exhibit: Mapping[str, Any], rows: Sequence[Row], module: ModuleType, folder: Path) -> dict[str, Any]:
    """What the templates show of an exhibit."""
    table: list[dict[str, Any]] = []
    images: list[dict[str, Any]] = []
    problem = ""
    sources: dict[tuple[Any, ...], tuple[list[pd.DataFrame], Sequence[str]]] = {}

    def source(key: tuple[Any, ...], of: pd.DataFrame, differs: Sequence[str] = ()) -> int:
        """Number of the source of a row's column, the same for all its points and quantities."""
        sources.setdefault(key, ([], differs))[0].append(of)
        return list(sources).index(key) + 1

    shown = [name for name in COLUMNS if any(at.get(name) for row in rows for at in row.cells.values())] or ["ours"]
    for row in rows:
        place = row.spec.get("no_data", "")
        missing = "no data" if place is True or (place and not Path(place).exists()) else "–"
        for quantity, columns in row.cells.items():
            mean, sd = row.paper.get(quantity, (None, None))
            texts: dict[str, list[dict[str, Any]]] = {column: [] for column in shown}
            for column, one in [(name, one) for name in shown for one in columns.get(name, ())]:
                share = one.runs["recorded"].mean()
                kept = "recorded, " if share == 1 else "partly recorded, " if share else ""
                seeds = format_ranges(one.runs["seed"])
                text = f"{format_number(one.mean, one.sd, quantity)} ({kept}n {one.n}, seeds {seeds})"
                number = source((row.key, column, kept), one.runs, deviations(row, one))
                state = STATES[sign] if mean is not None and (sign := mark(quantity, mean, sd, one.mean)) else ""
                texts[column].append({"text": text, "remark": one.remark, "source": number, "state": state})
            if quantity in row.paper or any(texts.values()):
                paper = "–" if mean is None else format_number(mean, sd, quantity)
                table.append({"row": row.label, "quantity": quantity, "paper": paper, "cells": texts,
                              "missing": missing, "remark": row.spec.get("remark", "")})  # fmt: skip
    try:
        for name in exhibit.get("figures", ()):
            images += [{"path": one.path, "caption": one.caption, "source": source((one.path,), one.runs)}
                       for one in getattr(module, name)(rows, folder)]  # fmt: skip
    except (UserError, FileNotFoundError) as error:  # a report may be made of pulled results, without the data
        problem = f"Not drawn here: {error}"
    counted: dict[str, bool] = {}
    for row in [row for row in rows if row.paper] or rows:
        counted[row.key] = counted.get(row.key, False) or row.has_runs  # rows with ``each`` share a key
    state = "done" if all(counted.values()) else "partly done" if any(counted.values()) or images else "not yet done"
    return {
        "text": "", "gap": "", "notes": (), **exhibit, "table": table, "images": images, "problem": problem,
        "columns": {name: COLUMNS[name] for name in shown},
        "absent": [row.label for row in rows if not row.paper and not row.has_runs],
        "sources": [_source(pd.concat(of), differs) for of, differs in sources.values()],
        "state": state if exhibit.get("computed", True) else "nothing to compute",
    }  # fmt: skip


def _source(runs: pd.DataFrame, differs: Sequence[str]) -> dict[str, Any]:
    runs = runs[~runs.index.duplicated()]
    return {
        "commands": commands(runs), "differs": differs, "places": sorted(set(_places(runs))),
        "commits": sorted({commit[:10] for commit in runs["commit"] if commit}),
    }  # fmt: skip


def _places(runs: pd.DataFrame) -> list[str]:
    """Folder of the sweep, or file of recorded runs, of each run."""
    known = zip(runs["recorded"], runs["folder"], runs.get("experiment", runs["folder"]), strict=True)
    return [f"{RECORDED}/{experiment}.json" if recorded else f"{Path(folder).parent.as_posix()}/"
            for recorded, folder, experiment in known]  # fmt: skip


def read_papers() -> dict[str, dict[str, Any]]:
    """The content of each paper's printed.yaml by the name of its folder."""
    place = Path(__file__).parent
    texts = {name: (place / name / "printed.yaml").read_text(encoding="utf-8") for name in PAPERS}
    return {name: yaml.load(text, Loader=yaml.CSafeLoader) for name, text in texts.items()}


def build(results: Path = RESULTS, folder: Path = REPORTS) -> str:
    """Write index.html, REPORT.md and the figures into ``folder``; returns how many tables and figures have numbers."""
    (folder / "figures").mkdir(parents=True, exist_ok=True)  # an output of the pipeline's stage, even if it is empty
    papers, runs = [], read_runs(results)
    for name, paper in read_papers().items():
        module = import_module(f"reproduction.report.{name}.figures")
        own = module.prepare(runs, results)
        tables = {one["key"]: fill(one, own) for one in paper["exhibits"]}
        sections = [{**_section(one, tables[one["key"]], module, folder), "key": f"{name}-{one['key']}"}
                    for one in paper["exhibits"]]  # fmt: skip
        labels = {one["key"]: one["label"] for one in paper["exhibits"]}
        claims = [{**one, "label": labels[one["exhibit"]], "exhibit": f"{name}-{one['exhibit']}"}
                  for one in conclusions(paper, tables)]  # fmt: skip
        columns = {column: text for column, text in COLUMNS.items() if any(column in one["cells"] for one in claims)}
        papers.append({"title": paper["title"], "key": name, "sections": sections, "conclusions": claims,
                       "columns": columns, "scoreboard": scoreboard(tables)})  # fmt: skip
    states = [one["state"] for paper in papers for one in paper["sections"] if one["state"] != "nothing to compute"]
    done = len(states) - states.count("not yet done")
    progress = f"{done} of {len(states)} tables and figures have numbers of our own"
    overview = [
        {
            "place": place, "status": status, "n": len(found), "seeds": format_ranges(found["seed"]),
            "commits": ", ".join(sorted({commit[:10] for commit in found["commit"]})),
            "message": "; ".join(sorted({message for message in found["message"] if message})),
        }
        for (place, status), found in runs.groupby([pd.Series(_places(runs), runs.index, object), "status"])
    ]  # fmt: skip
    templates = jinja2.Environment(
        loader=jinja2.PackageLoader("reproduction.report"), autoescape=jinja2.select_autoescape(["html"]),
        undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True,
    )  # fmt: skip
    for template, path in (("index.html", "index.html"), ("report.md", "REPORT.md")):
        content = templates.get_template(template).render(papers=papers, progress=progress, runs=overview)
        write_text(folder / path, content)
    return progress


@without_traceback
def main(arguments: list[str] | None = None) -> int:
    """Command line of ``src/report.py`` and of ``semicrowd report``."""
    parser = argparse.ArgumentParser(
        description="Write the report of all runs below results/ and of recorded ones: reports/index.html and "
        "reports/REPORT.md. With FOLDER, make the page of a finished run anew: its report.html and questions.csv."
    )
    parser.add_argument("runs", nargs="*", type=Path, metavar="FOLDER", help="folder of a finished run")
    parser.add_argument("--results", type=Path, default=RESULTS, help=f"folder of the runs (default: {RESULTS})")
    parser.add_argument("--out", type=Path, default=REPORTS, help=f"folder of the report (default: {REPORTS})")
    options = parser.parse_args(arguments)
    if options.runs:
        from reproduction.run import rebuild

        print(*map(rebuild, options.runs), sep="\n")
    else:
        print(f"{options.out / 'index.html'}: {build(options.results, options.out)}")
    return 0
