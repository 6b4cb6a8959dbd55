"""Writes reports/index.html and reports/REPORT.md from the runs that params.yaml asks for, finished or not.

``make reproduce`` does the same as its last step; this is for a look at what is there already.
"""

import sys

from semicrowd.report.build import main

if __name__ == "__main__":
    sys.exit(main(["--collect", *sys.argv[1:]]))
