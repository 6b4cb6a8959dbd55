"""Three steps of SCDC at the full size of Fig. 4b on this processor, each precision in a process of its own.

The networks are of full size, the images of a step are not: untrained, every cluster is likely for every image, and the
exact sum over ten of them keeps the maps of ten images for each, more memory than a small machine has. A twentieth of a
step's images is run so, and a quarter with the likeliest cluster alone (``max_clusters=1``).
"""

import json
import sys
from dataclasses import replace
from typing import Any

from pairs import peak
from process import measured_apart
from scaling import settings
from semicrowd.estimators.base import threads_of_a_fit
from step_costs import Setting
from steps import StepTimer, images_per_step, train
from table import print_table

_STEPS = 3
#: Share of a step's images, and clusters of each.
_PARTS = ((0.05, 10), (0.25, 1))


def full_size(quick: bool = False) -> None:
    """Seconds of a core (the time of the process) and memory, float32 and bfloat16."""
    rows = []
    for share, clusters in ((0.01, 1),) if quick else _PARTS:
        for precision in ("float32", "bfloat16"):
            found = measured_apart(__file__, precision, share, clusters)
            rows.append((f"{found['images']:.0f}", str(clusters), precision, f"{found['seconds']:.1f}",
                         f"{found['memory'] / 2**30:.1f}"))  # fmt: skip
    header = (f"{_full().what}: images a step", "clusters of each", "precision", "s a step", "GiB at the peak")
    print_table(header, rows)


def _full() -> Setting:
    return next(one for one, _ in settings() if one.model == "scdc" and "full size" in one.what)


def _run(precision: str, share: float, clusters: int) -> dict[str, Any]:
    setting = _full()
    given = {**setting.given, "precision": precision, "max_clusters": clusters}
    module = replace(setting, given=given).module(share)
    images, timer = images_per_step(module), StepTimer()
    train(module, [timer], steps=_STEPS)
    return {"images": images, "seconds": timer.seconds, "memory": peak()}


if __name__ == "__main__":
    with threads_of_a_fit():
        print(json.dumps(_run(sys.argv[1], float(sys.argv[2]), int(sys.argv[3]))))
