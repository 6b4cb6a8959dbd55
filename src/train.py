"""Train a model, or a sweep of them: ``python src/train.py --help``."""

import sys

if __name__ == "__main__":
    try:
        from semicrowd.run.main import main

        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:  # while the modules are imported
        sys.exit(130)
