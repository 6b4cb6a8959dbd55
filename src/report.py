"""The page of a run, or of all that params.yaml asks for.

``python src/report.py FOLDER`` makes FOLDER/report.html anew. Without it, reports/index.html and reports/REPORT.md
are written from the runs that are there, finished or not; ``make reproduce`` does the same as its last step.
"""

import sys

from semicrowd.report.build import main

if __name__ == "__main__":
    sys.exit(main(["--collect", *sys.argv[1:]]))
