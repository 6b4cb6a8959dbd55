"""Train a model, or a sweep of them: ``python src/train.py --help``."""

import sys

from semicrowd.run.interrupts import end_at_once

if __name__ == "__main__":
    end_at_once()
    from semicrowd.run.main import main

    sys.exit(main(sys.argv[1:]))
