"""Assign new items to the clusters of a finished run: ``python src/predict.py --help``."""

import sys

from reproduction.predict import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
