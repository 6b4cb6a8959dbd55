"""The report of all runs below results/; with FOLDER, the page of one finished run."""

import sys

from reproduction.report.engine import main

if __name__ == "__main__":
    sys.exit(main())
