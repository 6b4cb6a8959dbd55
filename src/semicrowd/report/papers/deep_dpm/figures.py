"""Fig. 1: two synthetic sets, their images under the flow, and the clusters found.

Figs. 2 to 4: the autoencoder's space and the flow's space, from the files of the task ``deep_spaces``.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from semicrowd.data.frames import read_npz
from semicrowd.estimators.persistence import load
from semicrowd.figures.images import draw_grid
from semicrowd.figures.plane import Panel, draw_panels
from semicrowd.figures.style import look, new_figure, tidy
from semicrowd.files import MODEL
from semicrowd.pipeline.deep_spaces import COLUMNS, FOLDER, NOISE, SPACES
from semicrowd.report.cells import Cell, Summary, summarise
from semicrowd.report.collect import Collected, Run
from semicrowd.report.exhibits import Exhibit, Image, Result, drawn
from semicrowd.report.experiments import Measure, Row, cells_of_rows, data_of, metric, paired, protocol_of, remarks_on
from semicrowd.report.papers.deep_dpm.paper import MEASURES, METHODS, QUANTITIES, ROWS

SETS = {"gaussians": "three long Gaussians", "moons": "two moons"}
EXPERIMENTS = {"deep_{}_deep_dpm": "deep DPM", "deep_{}_dpm": "DPM, as many sweeps"}
_MEASURES: dict[str, Measure] = {
    "acc": metric("train/acc"), "nmi": metric("train/nmi"), "clusters": metric("clusters/occupied")
}
#: ACC from which on the clusters count as correct.
FOUND = 0.95
#: Radius of the circles, in standard deviations of the Gaussians.
_DEVIATIONS = 2.0
_SETS_TEXT = (
    "Two-dimensional points, standardised. Both sets have the same settings, and the number of clusters is not given. "
    "The paper does not give its points, priors and training. The panels show the run of the first seed: the points "
    "after the flow, coloured by class, and the clusters found. Circles around the Gaussians have a radius of two "
    "standard deviations. DPM is deep DPM with a flow that takes no step; it has the same prior, start, moves and "
    "number of sweeps."
)


def figure_1(exhibit: Exhibit, collected: Collected, folder: Path) -> Result:
    """ACC, NMI and K over the seeds, and in how many of them the clusters are found."""
    rows: list[Cell] = []
    images: list[Image] = []
    for kind, name in SETS.items():
        for pattern, method in EXPERIMENTS.items():
            experiment = pattern.format(kind)
            row = Row(experiment, f"{name}, {method}", with_answers=False)
            rows += cells_of_rows(collected, exhibit, [row], _MEASURES)
            runs = collected.finished(experiment)
            if runs:
                found = sum(run.metrics["train/acc"] >= FOUND for run in runs)
                seeds = [run.seed for run in runs]
                rows.append(
                    Cell(f"{name}, {method}, number of seeds of {len(runs)} with ACC >= {FOUND}", "count",
                         ours=Summary(float(found), None, tuple(seeds)),
                         remark="; ".join(remarks_on(collected, experiment)),
                         deviations=protocol_of(runs, exhibit, with_answers=False))
                )  # fmt: skip
        first, second = (pattern.format(kind) for pattern in EXPERIMENTS)
        rows += paired(collected, f"{name}, deep DPM minus DPM", first, second, _MEASURES)
        for run in collected.finished(f"deep_{kind}_deep_dpm")[:1]:
            images.append(draw_run(run, name, folder, Path(f"figures/deep-dpm-{kind}.png")))
    commands = collected.commands_of(*(pattern.format(kind) for kind in SETS for pattern in EXPERIMENTS))
    return Result(cells=tuple(rows), text=_SETS_TEXT, images=tuple(images), commands=commands)


def draw_run(run: Run, name: str, folder: Path, path: Path) -> Image:
    """The flow's space after each epoch that was saved, and the clusters at the end."""
    x, labels = data_of(run)
    model = load(Path(run.directory) / MODEL)
    panels = [Panel(f"{name}: the points", model.scaler_.transform(x), labels)]
    panels += [Panel(f"after {epoch} epochs", model.transform(x, epoch), labels) for epoch in model.epochs_]
    circles = np.column_stack([model.means_, _DEVIATIONS / np.sqrt(model.precisions_)])
    panels.append(Panel(f"{model.n_clusters_} clusters found", model.transform(x), model.predict(x), circles))
    draw_panels(f"{name}: the flow's space", panels, folder / path)
    return Image(path, f"{name}, seed {run.seed}: {'; '.join(panel.title for panel in panels)}.")


#: Method of the task ``deep_spaces`` → its name here.
NAMES = {
    "kmeans": "k-means told the K that deep DPM has found", "kmeans, oracle": "k-means told the true K (oracle)",
    "bgmm": "variational Dirichlet process mixture (scikit-learn)", "gmeans": "G-means",
}  # fmt: skip
#: Experiment whose first run Figs. 3 and 4 show.
PICTURED = "deep_mnist"


def read_picture(collected: Collected, name: str) -> tuple[dict[str, np.ndarray] | None, list[int], tuple[str, ...]]:
    """Arrays of the first run, None if ``deep_spaces`` has not run; its seed, if the run exists; commands."""
    path = FOLDER / PICTURED / f"{name}.npz"
    commands = (*collected.commands_of(PICTURED), f"python -m semicrowd.pipeline.deep_spaces {PICTURED}")
    seeds = [run.seed for run in collected.finished(PICTURED)[:1]]
    return read_npz(path) if path.is_file() else None, seeds, commands


def read_scores(experiment: str, which: str) -> pd.DataFrame:
    """Scores on one data set; empty if ``deep_spaces`` has not run."""
    path = FOLDER / experiment / "scores.csv"
    if not path.is_file():
        return pd.DataFrame(columns=COLUMNS)
    scores = pd.read_csv(path)
    return scores[scores["which"] == which]


def cells(scores: pd.DataFrame, data: str, space: str, method: str) -> list[Cell]:
    """A cell for each measure and for K, mean over the runs; empty if ``deep_spaces`` has not run."""
    rows = scores[(scores["space"] == space) & (scores["method"] == method)]
    label = f"{data}, {NAMES[method]}, {space}'s space"
    return [Cell(label, quantity, ours=summarise(rows[quantity].tolist(), rows["seed"].tolist()))
            for quantity in (*QUANTITIES, "clusters") if len(rows)]  # fmt: skip


IMAGE = Path("figures/deep-dpm-spaces.png")
TEXT = (
    "Means over the runs of Table 2. The upper row shows DPM in the autoencoder's space, and deep DPM, with the same "
    "number of sweeps. The lower row shows k-means in both spaces, told the K that deep DPM has found. The paper "
    "prints no numbers except those of Table 2."
)
_SHOWN = {"ari": "ARI", "f1": "F", "nmi": "V"}
#: Panel → data set → for each measure, the numbers in the autoencoder's space and in the flow's.
Bars = dict[str, dict[str, list[tuple[Summary, Summary]]]]


def figure_2(exhibit: Exhibit, collected: Collected, folder: Path) -> Result:
    """Cells of k-means in both spaces, and the bars of both panels."""
    rows: list[Cell] = []
    bars: Bars = {"Dirichlet process mixture": {}, "k-means": {}}
    for row in ROWS:
        at = row.of(collected)
        sampled = [
            cells_of_rows(at, exhibit, [row.of_method(ending)], MEASURES) for ending in list(METHODS)[1:]
        ]  # fmt: skip
        scores = read_scores(row.experiment, row.which)
        means = [cells(scores, row.name, space, "kmeans") for space in SPACES]
        rows += [cell for group in (*sampled, *means) for cell in group]
        both: tuple[Sequence[Sequence[Cell]], ...] = (sampled, means)
        for panel, groups in zip(bars, both, strict=True):
            pairs = [_pair(groups, quantity) for quantity in QUANTITIES]
            bars[panel] |= {row.name: [pair for pair in pairs if pair]} if all(pairs) else {}
    caption = "ARI, F and V with the autoencoder's features and with the flow's; mean and standard deviation."
    images = (drawn(draw(bars), folder, IMAGE, caption),) if any(bars.values()) else ()
    experiments = [f"{row.experiment}{ending}" for row in ROWS for ending in ("_dpm", "")]
    return Result(cells=tuple(rows), text=TEXT, images=images, commands=collected.commands_of(*experiments))


def _pair(groups: Sequence[Sequence[Cell]], quantity: str) -> tuple[Summary, Summary] | None:
    """The first number of each of the two groups: that of the profile where there are recorded ones, too."""
    first, second = (
        next((cell.ours for cell in cells if cell.quantity == quantity and cell.ours is not None), None)
        for cells in groups
    )
    return (first, second) if first and second else None


def draw(bars: Bars) -> Figure:
    """A row of panels for each method, a panel for each data set."""
    columns = max(len(of) for of in bars.values())
    figure = new_figure(3.2 * columns + 1.2, 6.0, "Autoencoder's features and the flow's")
    grid = figure.subplots(2, columns, squeeze=False, sharey=True)
    for axes_of, (method, of) in zip(grid, bars.items(), strict=True):
        for axes, (name, pairs) in zip(axes_of, of.items(), strict=False):
            _panel(axes, f"{method}\n{name}", pairs)
        for axes in axes_of[len(of) :]:
            axes.set_axis_off()
    drawn = next(axes for axes in grid.ravel() if axes.get_legend_handles_labels()[0])
    figure.legend(*drawn.get_legend_handles_labels(), loc="outside lower center", ncols=2, frameon=False)
    return figure


def _panel(axes: Axes, title: str, pairs: Sequence[tuple[Summary, Summary]]) -> None:
    for rank, space in enumerate(SPACES):
        of = [pair[rank] for pair in pairs]
        places = [position + (rank - 0.5) * 0.38 for position in range(len(of))]
        axes.bar(places, [one.mean for one in of], 0.36, yerr=[one.sd or 0 for one in of], color=look(rank)[0],
                 label=space, error_kw={"lw": 1})  # fmt: skip
    axes.set_xticks(range(len(pairs)), list(_SHOWN.values()))
    tidy(axes, title, "", "")


TSNE_IMAGE = Path("figures/deep-dpm-tsne.png")
_TSNE_TEXT = (
    "2,500 images of the first run of Table 2, coloured by digit. The t-SNE of each panel starts from that of the "
    "panel before it. The paper prints no numbers. The table has a number of ours for each panel: the share of the "
    "variance that is within digits, in the ten-dimensional space to which t-SNE is applied."
)


def figure_3(exhibit: Exhibit, collected: Collected, folder: Path) -> Result:  # noqa: ARG001 - none are printed
    """The panels, if ``deep_spaces`` has run."""
    arrays, seeds, commands = read_picture(collected, "embedding")
    if arrays is None:
        return Result(text=_TSNE_TEXT, commands=commands)
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
    shown = ", ".join(map(str, epochs[1:]))
    caption = f"MNIST, 2,500 images: t-SNE of the autoencoder's features and after epochs {shown}."
    cells = tuple(
        Cell(f"{_name(epoch)}: share of the variance within digits", "share", ours=summarise([float(share)], seeds))
        for epoch, share in zip(epochs, within, strict=True)
        if seeds
    )
    return Result(cells, _TSNE_TEXT, (drawn(figure, folder, TSNE_IMAGE, caption),), commands)


def _name(epoch: int) -> str:
    return f"after {epoch} epochs" if epoch else "autoencoder's features"


DIGITS_IMAGE = Path("figures/deep-dpm-digits.png")
_DIGITS_TEXT = (
    "Images that are generated by the first run of Table 2. A Gaussian is named after the most frequent digit among "
    "its items. Each row has the largest Gaussian of a digit: its centre and 24 points around it, mapped to images by "
    f"the inverse of the flow and the autoencoder's decoder. The noise of the points is {NOISE:g} of the Gaussian's "
    "standard deviations; the paper does not give its own. The names of the rows come from the labels, as in the paper."
)


def figure_4(exhibit: Exhibit, collected: Collected, folder: Path) -> Result:  # noqa: ARG001 - none are printed
    """A row of images for each digit, if ``deep_spaces`` has run."""
    arrays, seeds, commands = read_picture(collected, "digits")
    if arrays is None:
        return Result(text=_DIGITS_TEXT, commands=commands)
    images, classes = arrays["images"], arrays["classes"]
    figure = new_figure(9.6, 0.4 * len(images) + 0.8, "MNIST: digits generated around cluster centres")
    draw_grid(figure.subplots(), images, (28, 28), [str(name) for name in classes])
    caption = f"Digits generated from the largest Gaussians of {', '.join(map(str, classes))}."
    count = summarise([float(len(classes))] * len(seeds), seeds)
    cell = Cell("digits that are the most frequent digit of a Gaussian", "clusters", ours=count)
    return Result((cell,), _DIGITS_TEXT, (drawn(figure, folder, DIGITS_IMAGE, caption),), commands)
