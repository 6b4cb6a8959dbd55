"""Train a model, or a sweep of them: ``python src/train.py --help``."""

import sys

from semicrowd.run.cli import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
