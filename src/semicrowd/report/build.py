"""Makes the report: every table and figure of the four papers, in their order."""

import argparse
from collections.abc import Callable
from pathlib import Path

from semicrowd.report import collect, figure2, figure3, figure4a, figure5, site, table1
from semicrowd.report.collect import Collected
from semicrowd.report.exhibits import EXHIBITS
from semicrowd.report.results import Result, pending

REPORTS = Path("reports")
#: Exhibit → what fills it. A new table or figure adds its module and one line here.
BUILDERS: dict[str, Callable[[Collected, Path], Result]] = {
    figure2.KEY: figure2.build,
    **figure3.BUILDERS,
    figure5.KEY: figure5.build,
    table1.KEY: table1.build,
    figure4a.KEY: figure4a.build,
}


def build(collected: Collected, folder: Path = REPORTS) -> list[Result]:
    """Write the page and its figures into ``folder``; the folder of the figures is there even where there are none."""
    (folder / "figures").mkdir(parents=True, exist_ok=True)
    results = [
        BUILDERS[exhibit.key](collected, folder) if exhibit.key in BUILDERS else pending(exhibit)
        for exhibit in EXHIBITS
    ]
    site.write(results, collected, folder)
    return results


def main(arguments: list[str] | None = None) -> None:
    """Command line of ``src/report.py`` and of the pipeline's last stage."""
    parser = argparse.ArgumentParser(description="write reports/index.html and reports/REPORT.md")
    parser.add_argument("--collect", action="store_true", help="gather the runs of params.yaml first, finished or not")
    parser.add_argument("--out", type=Path, default=REPORTS, help=f"folder of the report (default: {REPORTS})")
    options = parser.parse_args(arguments)
    if options.collect:
        collect.save(collect.collect())
    results = build(collect.load(), options.out)
    done = sum(result.status in ("done", "partly done") for result in results)
    print(f"{options.out / 'index.html'}: {done} of {sum(r.exhibit.computed for r in results)} tables and figures")


if __name__ == "__main__":
    main()
