"""Look at data and answers before a fit: ``python src/check.py --help``."""

import sys

from semicrowd.__main__ import main

if __name__ == "__main__":
    sys.exit(main(["check", *sys.argv[1:]]))
