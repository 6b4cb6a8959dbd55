"""Speed, as ratios and seconds of one run on one core: ``make bench``.

Each figure comes from ``src/train.py`` itself, on this machine, now. Seconds an epoch are differences between runs of
different length, so that start-up, warm start and evaluation cancel.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from semicrowd.data.fetch import data_root, fetch
from semicrowd.errors import UserError

ROOT = Path(__file__).resolve().parents[1]


def fit_seconds(*overrides: str) -> float:
    """Wall time of the fit of one run on one core, in seconds."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "src/train.py", *overrides, "logger=none", f"hydra.run.dir={folder}/run"]
        environment = os.environ | {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
        subprocess.run(command, cwd=ROOT, env=environment, check=True, stdout=subprocess.DEVNULL)
        return float(json.loads((Path(folder) / "run" / "metrics.json").read_text())["seconds/fit"])


def restarts(repeats: int) -> None:
    """Twenty starts in one fit against one start: the pinwheel, as the report's experiments run it."""
    for annotations, what in (("two_coin", "with answers"), ("none", "without answers, merges every 10 epochs")):
        common = ("data=pinwheel", "model=bayes", f"annotations={annotations}", "seed=0")
        one, twenty = (min(fit_seconds(*common, f"restarts={number}") for _ in range(repeats)) for number in (1, 20))
        print(f"pinwheel {what}, 20 restarts against 1: {twenty:.1f} s / {one:.1f} s = {twenty / one:.2f} (bar: 3)")


def mnist_epoch() -> None:
    """Seconds an epoch of BayesSCDC on MNIST with the real answers."""
    try:
        for name in ("mnist", "mnist_crowd"):
            fetch(name, data_root())
    except UserError as error:
        print(f"MNIST, seconds an epoch: data not available here: {error}")
        return
    common = ("data=mnist", "model=bayes", "annotations=crowd", "seed=0", "model.warm.epochs=1")
    short, long = (fit_seconds(*common, f"epochs={epochs}") for epochs in (1, 4))
    print(f"MNIST, BayesSCDC with the crowd's answers, seconds an epoch: {(long - short) / 3:.1f} (bar: 15)")


def main() -> None:
    """Run all benchmarks, or those named."""
    benchmarks = {"restarts": lambda: restarts(repeats=2), "mnist": mnist_epoch}
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="*", choices=[*benchmarks, []], help="which (default: all)")
    for name in parser.parse_args().names or benchmarks:
        benchmarks[name]()


if __name__ == "__main__":
    main()
