"""Train a model, or a sweep of them: ``python src/train.py --help``."""

import sys

from semicrowd.__main__ import main

if __name__ == "__main__":
    sys.exit(main(["train", *sys.argv[1:]]))
