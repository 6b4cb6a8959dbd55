"""Fig. 4: what the decoder makes of points around the clusters."""

from pathlib import Path

import numpy as np

from semicrowd.figures.grid import draw_grid
from semicrowd.figures.style import new_figure, save
from semicrowd.pipeline.deep_spaces import FOLDER, NOISE
from semicrowd.report.cells import Cell, summarise
from semicrowd.report.exhibits import Exhibit, Image, Result
from semicrowd.report.runs import Collected

EXPERIMENT = "deep_mnist"
IMAGE = Path("figures/deep-dpm-digits.png")
TEXT = (
    "Of the first run of Table 2: for each digit that some cluster has most of, the largest such cluster, its centre "
    f"and 24 points around it ({NOISE:g} standard deviations of the cluster; the paper does not say how much noise), "
    "through the inverse of the flow and the autoencoder's decoder. Labels name the rows, as in the paper."
)


def build(exhibit: Exhibit, collected: Collected, folder: Path) -> Result:  # noqa: ARG001 - none are printed
    """A row of images for each digit, once the stage ``deep_spaces`` has run."""
    path = FOLDER / EXPERIMENT / "digits.npz"
    commands = (*collected.commands_of(EXPERIMENT), f"python -m semicrowd.pipeline.deep_spaces {EXPERIMENT}")
    if not path.is_file():
        return Result(text=TEXT, commands=commands)
    with np.load(path, allow_pickle=False) as content:
        images, classes = content["images"], content["classes"]
    figure = new_figure(9.6, 0.4 * len(images) + 0.8, "MNIST: digits generated around cluster centres")
    draw_grid(figure.subplots(), images, (28, 28), [str(name) for name in classes])
    save(figure, folder / IMAGE)
    image = Image(IMAGE, f"Digits generated from the largest clusters of {', '.join(map(str, classes))}.")
    seeds = [run.seed for run in collected.finished(EXPERIMENT)[:1]]
    count = summarise([float(len(classes))] * len(seeds), seeds)
    cell = Cell("digits that some cluster has most of", "clusters", ours=count)
    return Result((cell,), TEXT, (image,), commands)
