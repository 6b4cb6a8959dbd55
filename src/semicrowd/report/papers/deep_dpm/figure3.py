"""Fig. 3: t-SNE of MNIST before the flow and while it learns."""

from pathlib import Path

import numpy as np

from semicrowd.figures.style import look, new_figure, save
from semicrowd.report.cells import Cell, summarise
from semicrowd.report.exhibits import Exhibit, Image, Result
from semicrowd.report.papers.deep_dpm.spaces import read_picture
from semicrowd.report.runs import Collected

IMAGE = Path("figures/deep-dpm-tsne.png")
TEXT = (
    "5,000 images of the first run of Table 2, coloured by digit; each panel begins where the one before it has ended. "
    "The paper prints no numbers; one of ours: the share of the variance that is within digits, in the space of "
    "ten dimensions behind the panel."
)


def build(exhibit: Exhibit, collected: Collected, folder: Path) -> Result:  # noqa: ARG001 - none are printed
    """The panels, once the stage ``deep_spaces`` has run."""
    arrays, seeds, commands = read_picture(collected, "embedding")
    if arrays is None:
        return Result(text=TEXT, commands=commands)
    points, labels, numbers, within = (arrays[name] for name in ("points", "labels", "epochs", "within"))
    epochs = [int(number) for number in numbers]
    figure = new_figure(4.2 * len(points), 4.6, "MNIST: t-SNE while the flow learns")
    for axes, plane, epoch in zip(figure.subplots(1, len(points), squeeze=False)[0], points, epochs, strict=True):
        for digit in np.unique(labels):
            colour, marker = look(int(digit))
            mine = plane[labels == digit]
            axes.scatter(mine[:, 0], mine[:, 1], s=5, color=colour, marker=marker, linewidths=0, alpha=0.7, label=digit)
        axes.set_title(_name(epoch), fontsize=10)
        axes.set_xticks([])
        axes.set_yticks([])
    figure.legend(*axes.get_legend_handles_labels(), loc="outside right center", frameon=False, markerscale=3)
    save(figure, folder / IMAGE)
    shown = ", ".join(map(str, epochs[1:]))
    image = Image(IMAGE, f"MNIST, 5,000 images: t-SNE of the autoencoder's features and after epochs {shown}.")
    cells = tuple(
        Cell(f"{_name(epoch)}: share of the variance within digits", "share", ours=summarise([float(share)], seeds))
        for epoch, share in zip(epochs, within, strict=True)
        if seeds
    )
    return Result(cells, TEXT, (image,), commands)


def _name(epoch: int) -> str:
    return f"after {epoch} epochs" if epoch else "autoencoder's features"
