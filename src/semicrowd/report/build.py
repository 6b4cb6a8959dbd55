"""Make the report: the tables and figures of all papers, including those without results, and our own studies."""

import argparse
import sys
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

from semicrowd.errors import without_traceback
from semicrowd.report import collect, papers, site
from semicrowd.report.collect import Collected
from semicrowd.report.exhibits import Exhibit, Paper, Result
from semicrowd.report.studies import embedded, generality
from semicrowd.run import page
from semicrowd.run.commandline import program

REPORTS = Path("reports")


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
    site.write(results, (*generality(folder), embedded(collected)), collected, folder)
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
    print(f"{options.out / 'index.html'}: {site.progress(results)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
