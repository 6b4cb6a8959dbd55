"""Figures of the deep DPM paper: synthetic sets, both feature spaces, t-SNE and generated digits."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from reproduction.report.engine import Image, drawn
from reproduction.report.runs import data_of
from reproduction.report.tables import Row, Summary
from semicrowd.data.fetch import data_root
from semicrowd.data.frames import read_npz
from semicrowd.estimators.persistence import load
from semicrowd.figures.images import draw_grid
from semicrowd.figures.plane import Panel, draw_panels
from semicrowd.figures.style import look, new_figure, tidy
from semicrowd.files import MODEL

SPACES = ("autoencoder", "flow")
_METHODS = {
    "kmeans": "k-means told the K that deep DPM has found", "kmeans, oracle": "k-means told the true K (oracle)",
    "bgmm": "variational Dirichlet process mixture (scikit-learn)", "gmeans": "G-means",
}  # fmt: skip
#: Radius of the circles, in standard deviations of the Gaussians.
_DEVIATIONS = 2.0
#: Accuracy from which on the clusters of a synthetic set count as found.
SOLVED = 0.95


def prepare(runs: pd.DataFrame, results: Path) -> pd.DataFrame:
    """Add whether the clusters were found, and as rows what other stages wrote.

    ``scores.csv`` has other methods in both spaces of deep DPM's runs, ``embedding.npz`` the variance within digits,
    ``digits.npz`` generated images, ``training.csv`` the errors of the autoencoder.
    """
    frames = []
    for path in sorted(results.glob("**/scores.csv")):
        scores = pd.read_csv(path).rename(columns={"which": "data.which", "clusters": "clusters/occupied"})
        scores = scores.rename(columns={name: f"train/{name}" for name in ("ari", "f1", "nmi")})
        scores["method"] = scores["method"].map(_METHODS)
        frames.append(scores.assign(data="spaces", folder=path.as_posix(), command="dvc repro spaces"))
    for path in sorted(results.glob("**/embedding.npz")):
        arrays = read_npz(path)
        frame = pd.DataFrame({"epoch": arrays["epochs"], "within": arrays["within"]})
        frames.append(frame.assign(data="embedding", folder=path.as_posix(), command="dvc repro spaces"))
    for path in sorted(results.glob("**/digits.npz")):
        frame = pd.DataFrame({"digits": [len(read_npz(path)["classes"])]})
        frames.append(frame.assign(data="digits", folder=path.as_posix(), command="dvc repro spaces"))
    path = data_root() / "encoded" / "mnist" / "training.csv"
    if path.is_file():
        training = pd.read_csv(path)
        frames.append(training.assign(data="training", folder=path.as_posix(), command="dvc repro autoencoder"))
    about = {"recorded": False, "status": "finished", "commit": "", "seed": 0, "message": ""}
    added = [frame.assign(**{name: value for name, value in about.items() if name not in frame}) for frame in frames]
    if "train/acc" in runs:
        runs = runs.assign(**{"train/solved": (runs["train/acc"] >= SOLVED).where(runs["train/acc"].notna())})
    return pd.concat([runs, *added], ignore_index=True)


def synthetic(rows: Sequence[Row], folder: Path) -> list[Image]:
    """Fig. 1: the flow's space after each epoch that the first run saved, and the clusters at the end."""
    images = []
    for row in rows:
        run = row.first_run() if row.key in ("gaussians", "moons") else None
        if run is None:
            continue
        name = row.label.partition(",")[0]
        (features, labels), model = data_of(run), load(Path(run["folder"]) / MODEL)
        panels = [Panel(f"{name}: the points", model.scaler_.transform(features), labels)]
        panels += [Panel(f"after {n} epochs", model.transform(features, n), labels) for n in model.epochs_]
        circles = np.column_stack([model.means_, _DEVIATIONS / np.sqrt(model.precisions_)])
        points, clusters = model.transform(features), model.predict(features)
        panels.append(Panel(f"{model.n_clusters_} clusters found", points, clusters, circles))
        path = Path(f"figures/deep-dpm-{row.key}.png")
        draw_panels(f"{name}: the flow's space", panels, folder / path)
        caption = f"{name}, seed {run['seed']}: {'; '.join(panel.title for panel in panels)}."
        images.append(Image(path, caption, run.to_frame().T))
    return images


def spaces(rows: Sequence[Row], folder: Path) -> list[Image]:
    """Fig. 2: a row of panels for each method, a panel for each data set, bars of the two spaces."""
    measures = ("ARI", "F", "V")
    pairs: dict[str, dict[str, list[Row]]] = {"Dirichlet process mixture": {}, "k-means": {}}
    for row in rows:
        name, _, method = row.label.rpartition(", ")
        panel = "k-means" if method.startswith("k-means") else "Dirichlet process mixture"
        if all(row.number(measure) for measure in measures):
            pairs[panel].setdefault(name, []).append(row)
    bars = {panel: {name: two for name, two in of.items() if len(two) == 2} for panel, of in pairs.items()}
    columns = max(len(of) for of in bars.values())
    if not columns:
        return []
    figure = new_figure(3.2 * columns + 1.2, 6.0, "Autoencoder's features and the flow's")
    grid, shown = figure.subplots(2, columns, squeeze=False, sharey=True), []
    for line, (panel, of) in zip(grid, bars.items(), strict=True):
        for axes, (name, two) in zip(line, of.items(), strict=False):
            for rank, (space, row) in enumerate(zip(SPACES, two, strict=True)):
                numbers = [number for measure in measures if (number := row.number(measure)) is not None]
                _bars(axes, numbers, rank, space)
                shown.append(numbers[0].runs)
            axes.set_xticks(range(len(measures)), measures)
            tidy(axes, f"{panel}\n{name}", "", "")
        for axes in line[len(of) :]:
            axes.set_axis_off()
    legend = next(axes for axes in grid.ravel() if axes.get_legend_handles_labels()[0]).get_legend_handles_labels()
    figure.legend(*legend, loc="outside lower center", ncols=2, frameon=False)
    caption = "ARI, F and V with the autoencoder's features and with the flow's; mean and standard deviation."
    return drawn(figure, folder, "deep-dpm-spaces", caption, shown)


def _bars(axes, numbers: Sequence[Summary], rank: int, label: str) -> None:  # type: ignore[no-untyped-def]
    places = [position + (rank - 0.5) * 0.38 for position in range(len(numbers))]
    errors = [number.sd or 0 for number in numbers]
    axes.bar(places, [number.mean for number in numbers], 0.36, yerr=errors, color=look(rank)[0], label=label,
             error_kw={"lw": 1})  # fmt: skip


def embedding(rows: Sequence[Row], folder: Path) -> list[Image]:
    """Fig. 3: t-SNE of the autoencoder's features, and of the flow's after some epochs."""
    found = rows[0].number("share")
    if found is None:
        return []
    arrays = read_npz(Path(found.runs["folder"].iloc[0]))
    points, labels, epochs = arrays["points"], arrays["labels"], arrays["epochs"].tolist()
    figure = new_figure(4.2 * len(points), 4.6, "MNIST: t-SNE while the flow learns")
    for axes, plane, epoch in zip(figure.subplots(1, len(points), squeeze=False)[0], points, epochs, strict=True):
        for digit in np.unique(labels):
            colour, marker = look(int(digit))
            of = plane[labels == digit]
            axes.scatter(of[:, 0], of[:, 1], s=5, color=colour, marker=marker, linewidths=0, alpha=0.7, label=digit)
        axes.set_title(f"after {epoch} epochs" if epoch else "autoencoder's features", fontsize=10)
        axes.set_xticks([])
        axes.set_yticks([])
    figure.legend(*axes.get_legend_handles_labels(), loc="outside right center", frameon=False, markerscale=3)
    shown = ", ".join(map(str, epochs[1:]))
    caption = f"MNIST, 2,500 images: t-SNE of the autoencoder's features and after epochs {shown}."
    return drawn(figure, folder, "deep-dpm-tsne", caption, [found.runs])


def digits(rows: Sequence[Row], folder: Path) -> list[Image]:
    """Fig. 4: a row of generated images for each digit."""
    found = rows[0].number("number")
    if found is None:
        return []
    arrays = read_npz(Path(found.runs["folder"].iloc[0]))
    images, classes = arrays["images"], [str(name) for name in arrays["classes"]]
    figure = new_figure(9.6, 0.4 * len(images) + 0.8, "MNIST: digits generated around cluster centres")
    draw_grid(figure.subplots(), images, (28, 28), classes)
    caption = f"Digits generated from the largest Gaussians of {', '.join(classes)}."
    return drawn(figure, folder, "deep-dpm-digits", caption, [found.runs])
