"""Fig. 3: what the prior variance of the hyperplanes, w, decides."""

from pathlib import Path

from matplotlib.figure import Figure

from semicrowd.figures.style import MUTED, look, new_figure, save, tidy
from semicrowd.report.cells import Cell, Summary
from semicrowd.report.exhibits import Exhibit, Image, Result
from semicrowd.report.papers.discriminative_bnp.protocols import NMI
from semicrowd.report.papers.discriminative_bnp.sampled import cells
from semicrowd.report.runs import Collected

WIDTH = "model.w"
REFERENCE, EXPERIMENTS = "bnp_optdigits_dpm", {"bnp_optdigits_ddpm_s": "DDPM-S", "bnp_optdigits_ddpm_l": "DDPM-L"}
QUANTITIES = {"nmi": "NMI", "clusters": "K"}
IMAGE = Path("figures/bnp-prior-of-hyperplanes.png")
NAME = "optdigits, 1,000 images"
TEXT = (
    "NUS-WIDE's animals cannot be had here (Table 1 says how to get them). In their place stand 1,000 images of "
    "optdigits, whose 64 features are counts as they are. DPM is where w goes to 0. "
    f"{NMI}"
)
Curve = dict[float, Summary]


def build(exhibit: Exhibit, collected: Collected, folder: Path) -> Result:
    """The paper's two numbers, which stay empty; K and NMI against w here."""
    why = next((run.message for run in collected.unfinished("bnp_nus_ddpm_s")), "put its counts into a table")
    rows = [Cell(value.cell, value.quantity, value, remark=f"data not available here: {why}")
            for value in exhibit.values]  # fmt: skip
    rows += cells(collected, REFERENCE, exhibit, "", f"{NAME}, DPM", tuple(QUANTITIES))
    reference = {cell.quantity: cell.ours for cell in rows[len(exhibit.values) :] if cell.ours is not None}
    curves: dict[str, dict[str, Curve]] = {}
    for experiment, method in EXPERIMENTS.items():
        for w in sorted({run.point[WIDTH] for run in collected.runs.get(experiment, [])}):
            label = f"{NAME}, {method}, w = {w:g}"
            found = cells(collected.at({WIDTH: w}), experiment, exhibit, "", label, tuple(QUANTITIES))
            rows += found
            for cell in found:
                if cell.ours is not None:
                    curves.setdefault(method, {}).setdefault(cell.quantity, {})[w] = cell.ours
    images: tuple[Image, ...] = ()
    if curves:
        save(draw(curves, reference), folder / IMAGE)
        images = (Image(IMAGE, f"{NAME}: NMI and K against w, mean and one standard deviation over the partitions "
                               "kept; dashed: DPM."),)  # fmt: skip
    commands = collected.commands_of(REFERENCE, *EXPERIMENTS)
    return Result(cells=tuple(rows), text=TEXT, images=images, commands=commands)


def draw(curves: dict[str, dict[str, Curve]], reference: dict[str, Summary]) -> Figure:
    """NMI and K, one beside the other, a line for each method."""
    figure = new_figure(8.6, 3.8, f"{NAME}: prior variance of the hyperplanes")
    for axes, (quantity, name) in zip(figure.subplots(1, 2), QUANTITIES.items(), strict=True):
        for rank, (method, curve) in enumerate(curves.items()):
            points = curve.get(quantity, {})
            colour, marker = look(rank)
            axes.errorbar(
                list(points), [s.mean for s in points.values()], [s.sd or 0 for s in points.values()], color=colour,
                marker=marker, capsize=3, lw=1.5, label=method,
            )  # fmt: skip
        if quantity in reference:
            axes.axhline(reference[quantity].mean, ls="--", lw=1, color=MUTED, label="DPM")
        axes.set_xscale("log")
        tidy(axes, "", "w", name)
    figure.axes[0].legend(fontsize=9, frameon=False)
    return figure
