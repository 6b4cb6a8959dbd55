"""Seconds of whole runs of ``src/train.py``: the pinwheel's restarts."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from table import at_most, print_table

ROOT = Path(__file__).resolve().parents[1]


def fit_seconds(*overrides: str, threads: str | None = "1") -> float:
    """Wall time of the fit of one run, in seconds; ``threads``: OMP_NUM_THREADS, None: that of the user."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "src/train.py", *overrides, "logger=none", "figures=false",
                   f"hydra.run.dir={folder}/run"]  # fmt: skip
        environment = {k: v for k, v in os.environ.items() if not k.endswith("_NUM_THREADS")}
        environment |= {} if threads is None else {"OMP_NUM_THREADS": threads, "MKL_NUM_THREADS": threads}
        subprocess.run(command, cwd=ROOT, env=environment, check=True, stdout=subprocess.DEVNULL)
        return float(json.loads((Path(folder) / "run" / "metrics.json").read_text())["seconds/fit"])


def restarts(quick: bool = False) -> None:
    """Twenty starts in one fit against one start: the pinwheel, as the report's experiments run it."""
    short, repeats = (("model.epochs=2", "model.init_epochs=2"), 1) if quick else ((), 2)
    rows = []
    for annotations, what in (("two_coin", "with answers"), ("none", "without answers")):
        common = ("data=pinwheel", "model=bayes", f"annotations={annotations}", "seed=0", *short)
        one, twenty = (
            min(fit_seconds(*common, f"model.restarts={number}") for _ in range(repeats)) for number in (1, 20)
        )
        rows.append((what, f"{twenty:.1f}", f"{one:.1f}", f"{twenty / one:.2f}", at_most(twenty / one, 3)))
    print_table(("pinwheel, BayesSCDC", "s, 20 restarts", "s, 1 restart", "ratio", "bar"), rows)
