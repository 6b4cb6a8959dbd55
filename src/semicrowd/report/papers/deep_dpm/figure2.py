"""Fig. 2: the autoencoder's features against those of the flow, under the Dirichlet process and under k-means."""

from collections.abc import Sequence
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from semicrowd.figures.style import look, new_figure, save, tidy
from semicrowd.pipeline.deep_spaces import SPACES
from semicrowd.report.cells import Cell, Summary
from semicrowd.report.exhibits import Exhibit, Image, Result
from semicrowd.report.experiments import cells_of_experiment
from semicrowd.report.papers.deep_dpm.paper_values import QUANTITIES
from semicrowd.report.papers.deep_dpm.sets import MEASURES, METHODS, ROWS
from semicrowd.report.papers.deep_dpm.spaces import cells, read_scores
from semicrowd.report.runs import Collected

IMAGE = Path("figures/deep-dpm-spaces.png")
TEXT = (
    "Means over the runs of Table 2. Above: DPM in the autoencoder's space and deep DPM, with as many sweeps. Below: "
    "k-means in both spaces, told the K that deep DPM has found. The paper prints no numbers beside those of Table 2."
)
_SHOWN = {"ari": "ARI", "f1": "F", "nmi": "V"}
#: Panel → data set → the autoencoder's and the flow's number of each measure.
Bars = dict[str, dict[str, list[tuple[Summary, Summary]]]]


def build(exhibit: Exhibit, collected: Collected, folder: Path) -> Result:
    """Cells of k-means in both spaces, and the bars of both panels."""
    rows: list[Cell] = []
    bars: Bars = {"Dirichlet process mixture": {}, "k-means": {}}
    for row in ROWS:
        at = row.of(collected)
        sampled = [
            cells_of_experiment(at, f"{row.experiment}{ending}", exhibit, f"{row.name}, {method}", MEASURES,
                                with_answers=False)
            for ending, method in list(METHODS.items())[1:]
        ]  # fmt: skip
        scores = read_scores(row.experiment, row.which)
        means = [cells(scores, row.name, space, "kmeans") for space in SPACES]
        rows += [cell for group in (*sampled, *means) for cell in group]
        both: tuple[Sequence[Sequence[Cell]], ...] = (sampled, means)
        for panel, groups in zip(bars, both, strict=True):
            pairs = [_pair(groups, quantity) for quantity in QUANTITIES]
            bars[panel] |= {row.name: [pair for pair in pairs if pair]} if all(pairs) else {}
    images: tuple[Image, ...] = ()
    if any(bars.values()):
        save(draw(bars), folder / IMAGE)
        images = (Image(IMAGE, "ARI, F and V with the autoencoder's features and with the flow's, mean and sd."),)
    experiments = [f"{row.experiment}{ending}" for row in ROWS for ending in ("_dpm", "")]
    return Result(cells=tuple(rows), text=TEXT, images=images, commands=collected.commands_of(*experiments))


def _pair(groups: Sequence[Sequence[Cell]], quantity: str) -> tuple[Summary, Summary] | None:
    found = [cell.ours for cells in groups for cell in cells if cell.quantity == quantity and cell.ours is not None]
    return (found[0], found[1]) if len(found) == 2 else None


def draw(bars: Bars) -> Figure:
    """A row of panels for each method, a panel for each data set."""
    columns = max(len(of) for of in bars.values())
    figure = new_figure(3.2 * columns + 1.2, 6.0, "Autoencoder's features and the flow's")
    grid = figure.subplots(2, columns, squeeze=False, sharey=True)
    for axes_of, (method, of) in zip(grid, bars.items(), strict=True):
        for axes, (name, pairs) in zip(axes_of, of.items(), strict=False):
            _panel(axes, f"{method}: {name}", pairs)
        for axes in axes_of[len(of) :]:
            axes.set_axis_off()
    figure.legend(*grid[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=2, frameon=False)
    return figure


def _panel(axes: Axes, title: str, pairs: Sequence[tuple[Summary, Summary]]) -> None:
    for rank, space in enumerate(SPACES):
        of = [pair[rank] for pair in pairs]
        places = [position + (rank - 0.5) * 0.38 for position in range(len(of))]
        axes.bar(places, [one.mean for one in of], 0.36, yerr=[one.sd or 0 for one in of], color=look(rank)[0],
                 label=space, error_kw={"lw": 1})  # fmt: skip
    axes.set_xticks(range(len(pairs)), list(_SHOWN.values()))
    tidy(axes, title, "", "")
