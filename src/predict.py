"""Assign new items to the clusters of a finished run: ``python src/predict.py --help``."""

import sys

from semicrowd.run.interrupts import end_at_once

if __name__ == "__main__":
    end_at_once()
    from semicrowd.run.predict import main

    sys.exit(main(sys.argv[1:]))
