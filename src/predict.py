"""Assign new items to the clusters of a finished run: ``python src/predict.py --help``."""

import sys

from semicrowd.__main__ import main

if __name__ == "__main__":
    sys.exit(main(["predict", *sys.argv[1:]]))
