"""Fig. 4: what the decoder makes of points around the clusters."""

from pathlib import Path

from semicrowd.figures.grid import draw_grid
from semicrowd.figures.style import new_figure, save
from semicrowd.pipeline.deep_spaces import NOISE
from semicrowd.report.cells import Cell, summarise
from semicrowd.report.exhibits import Exhibit, Image, Result
from semicrowd.report.papers.deep_dpm.spaces import read_picture
from semicrowd.report.runs import Collected

IMAGE = Path("figures/deep-dpm-digits.png")
TEXT = (
    "Of the first run of Table 2: for each digit that some Gaussian has most of, the largest such one, its centre "
    f"and 24 points around it ({NOISE:g} of its standard deviations; the paper does not say how much noise), "
    "through the inverse of the flow and the autoencoder's decoder. Labels name the rows, as in the paper."
)


def build(exhibit: Exhibit, collected: Collected, folder: Path) -> Result:  # noqa: ARG001 - none are printed
    """A row of images for each digit, once the stage ``deep_spaces`` has run."""
    arrays, seeds, commands = read_picture(collected, "digits")
    if arrays is None:
        return Result(text=TEXT, commands=commands)
    images, classes = arrays["images"], arrays["classes"]
    figure = new_figure(9.6, 0.4 * len(images) + 0.8, "MNIST: digits generated around cluster centres")
    draw_grid(figure.subplots(), images, (28, 28), [str(name) for name in classes])
    save(figure, folder / IMAGE)
    image = Image(IMAGE, f"Digits generated from the largest Gaussians of {', '.join(map(str, classes))}.")
    count = summarise([float(len(classes))] * len(seeds), seeds)
    cell = Cell("digits that some Gaussian has most of", "clusters", ours=count)
    return Result((cell,), TEXT, (image,), commands)
