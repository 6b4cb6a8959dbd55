"""Look at data and answers before a fit: ``python src/check.py --help``."""

import sys

from semicrowd.run.interrupts import end_at_once

if __name__ == "__main__":
    end_at_once()
    from semicrowd.run.check import main

    sys.exit(main(sys.argv[1:]))
