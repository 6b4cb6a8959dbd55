"""The report of all runs below results/: ``python src/report.py``; or the page of one run: ``python src/report.py FOLDER``."""

import sys

from reproduction.report.engine import main

if __name__ == "__main__":
    sys.exit(main())
