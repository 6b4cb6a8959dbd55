"""Fig. 5 of the SCDC paper: deep MCVC beside MCVC and SCDC on Face with pairs over 100 images."""

from pathlib import Path

from semicrowd.report.cells import Cell
from semicrowd.report.collect import Collected
from semicrowd.report.exhibits import exhibit
from semicrowd.report.face_curves import cells, image
from semicrowd.report.figure3 import SOME, commands
from semicrowd.report.paper_values import values_of
from semicrowd.report.results import Result

KEY = "scdc/figure-5"
MODELS = ("scdc", "bayes", "deep_mcvc", "mcvc")
IMAGE = Path("figures/face-100-deep-mcvc.png")
#: Why the paper's two numbers have none of ours beside them.
_NO_CIFAR = (
    "data not available here: this project has no loader of CIFAR-10 yet (its images are at "
    "https://www.cs.toronto.edu/~kriz/cifar.html) and the paper's answers about them are not published"
)


def build(collected: Collected, folder: Path) -> Result:
    """Those of Fig. 3b's runs that the figure shows, and the two numbers on CIFAR-10 that the paper prints."""
    experiments = [f"{SOME}_{model}" for model in MODELS]
    on_cifar = [Cell(value.cell, value.quantity, value, remark=_NO_CIFAR) for value in values_of(KEY)]
    return Result(
        exhibit=exhibit(KEY),
        cells=(*cells(collected, KEY, SOME, MODELS), *on_cifar),
        text=(
            "The runs of Fig. 3b with deep MCVC, whose views are networks of two hidden layers of 40 ReLU units. The "
            "paper finds it better than MCVC with many answers and below SCDC. It prints no numbers on Face."
        ),
        images=image(collected, KEY, SOME, MODELS, "Face, pairs over 100 images, deep MCVC", IMAGE, folder),
        commands=commands(collected, experiments),
    )
