"""The page of a run, or of all that params.yaml asks for.

``python src/report.py run=FOLDER`` makes FOLDER/report.html anew. Without it, reports/index.html and reports/REPORT.md
are written from the runs that are there, finished or not; ``make reproduce`` does the same as its last step.
"""

import sys

from semicrowd.report.build import main as build
from semicrowd.run import page


def main(arguments: list[str]) -> int:
    """Make the page of each run that is named, or the report of all runs there are; returns the exit code."""
    if any(one.startswith(page.ARGUMENT) for one in arguments):
        return page.main(arguments)
    return build(["--collect", *arguments])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
