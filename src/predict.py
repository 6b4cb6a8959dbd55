"""Assign new items to the clusters of a finished run: ``python src/predict.py --help``."""

import sys

if __name__ == "__main__":
    try:
        from semicrowd.run.predict import main

        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:  # while the modules are imported
        sys.exit(130)
