"""Stage ``cifar10_embedding``: EfficientNet-Lite0's features of CIFAR-10, once for all runs.

It takes about ten minutes of one core for 21,000 images; a stopped stage is continued. Nothing is written if the images
or the network are not available.
"""

import argparse
import sys

from semicrowd.data.cifar10 import EMBEDDED, keep_embedding
from semicrowd.errors import without_traceback
from semicrowd.pipeline.experiments import DATA
from semicrowd.pipeline.fetch import why_missing
from semicrowd.run.interrupts import end_with_dvc
from semicrowd.settings.data import EFFICIENTNET_LITE0


@without_traceback
def main(arguments: list[str] | None = None) -> int:
    """``python -m semicrowd.pipeline.embedding``."""
    argparse.ArgumentParser(description="make the embedding of CIFAR-10").parse_args(arguments)
    end_with_dvc()
    (DATA / EMBEDDED).mkdir(parents=True, exist_ok=True)
    for name in ("cifar10", EFFICIENTNET_LITE0):
        if message := why_missing(name):
            print(f"{name} is not available here: {message}")
            return 0
    print(keep_embedding(DATA))
    return 0


if __name__ == "__main__":
    sys.exit(main())
