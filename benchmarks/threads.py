"""What a user's run takes beside another busy process: the machine's own threads against one."""

import subprocess
import sys

from table import at_most, print_table
from training import fit_seconds


def threads(quick: bool = False) -> None:
    """A fit of BayesSCDC with answers, by ``src/train.py`` as a user types it, while another process computes.

    The environment is left alone in one turn and has OMP_NUM_THREADS=1 in the other, one after the other, twice.
    """
    case = ("data=pinwheel", "annotations=two_coin", "model.epochs=2", "model.init_epochs=2") if quick else (
        "data=mnist", "annotations=crowd", "model.epochs=1", "model.init_epochs=2",
    )  # fmt: skip
    busy = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        seconds = {
            number: min(fit_seconds(*case, "model=bayes", "seed=0", threads=number) for _ in range(1 if quick else 2))
            for number in ("1", None)
        }
    finally:
        busy.kill()
        busy.wait()
    ratio = seconds[None] / seconds["1"]
    row = (" ".join(case), f"{seconds[None]:.1f}", f"{seconds['1']:.1f}", f"{ratio:.2f}", at_most(ratio, 1.3))
    print_table(("beside a busy process", "s, as it is", "s, OMP_NUM_THREADS=1", "ratio", "bar"), [row])
