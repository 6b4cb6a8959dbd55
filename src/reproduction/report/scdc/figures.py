"""Figures of the SCDC paper: pinwheel, Face, MNIST and CIFAR-10."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from reproduction.report.engine import Image, drawn
from reproduction.report.runs import data_of
from reproduction.report.tables import Row, Summary
from semicrowd.data.cifar10 import CIFAR10_SHAPE
from semicrowd.data.frames import read_npz
from semicrowd.evaluation.scores import Likeliest
from semicrowd.figures.images import cluster_images, in_use, training_samples
from semicrowd.figures.plane import Panel, draw_panels
from semicrowd.figures.style import ACCENT, COLOURS, MAIN, MUTED, look, new_figure, tidy
from semicrowd.metrics import clustering_scores
from semicrowd.training.callbacks import Snapshots, read_snapshots

NMI = "NMI"
#: Rows of Face that are in the table alone: the models with one piece changed.
_PIECES = (
    "scdc_answers", "scdc_features", "scdc_cold", "scdc_frozen", "scdc_start", "bayes_start", "bayes_step",
)  # fmt: skip
#: The paper's models, drawn with thicker lines.
_MODELS = ("scdc", "bayes")
_COLUMNS = {"ours": "", "protocol": ", the paper's protocol", "alone": ", the paper's model alone",
            "released": ", the authors' code, rebuilt"}  # fmt: skip
MNIST_SHAPE = (28, 28)


def prepare(runs: pd.DataFrame, results: Path) -> pd.DataFrame:  # noqa: ARG001 - from the runs' own folders
    """Add ``snapshots/<epoch>``: the number of clusters in use after each epoch of which a run has a snapshot."""
    found = {index: read_snapshots(Path(folder)) for index, folder in runs["folder"].items() if folder}
    counts = {
        index: {f"snapshots/{epoch}": in_use(weights) for epoch, weights in zip(one.epochs, one.weights, strict=True)}
        for index, one in found.items() if one is not None
    }  # fmt: skip
    return runs.join(pd.DataFrame.from_dict(counts, orient="index")) if counts else runs


def _row(rows: Sequence[Row], key: str) -> Row:
    return next(row for row in rows if row.key == key)


def pinwheel(rows: Sequence[Row], folder: Path) -> list[Image]:
    """Fig. 2: panels a to d of the first seed; titles have the scores of the clusters that are drawn."""
    without, asked = _row(rows, "none").first_run(), _row(rows, "two_coin").first_run()
    shown = [run for run in (without, asked) if run is not None]
    if not shown:
        return []
    features, labels = data_of(shown[0])
    panels = [Panel("a: true classes", features, labels)]

    def add(title: str, run: pd.Series, clusters: np.ndarray) -> None:
        scores = clustering_scores(labels, clusters)
        numbers = f"{len(np.unique(clusters))} clusters, accuracy {scores['acc']:.3f}, NMI {scores['nmi']:.3f}"
        panels.append(Panel(f"{title} (seed {run['seed']}): {numbers}", features, clusters))

    if without is not None:
        place = Path(without["folder"])
        elbo = pd.read_csv(place / "restarts.csv")["elbo"].replace([np.inf, -np.inf], np.nan)  # NaN: it diverged
        clusters = read_npz(place / "restart_assignments.npz")["clusters"]
        add(f"b: best of {len(elbo)} starts by ELBO", without, clusters[int(elbo.idxmax())])
        add(f"c: worst of {len(elbo)} starts by ELBO", without, clusters[int(elbo.idxmin())])
    if asked is not None:
        final = pd.read_csv(Path(asked["folder"]) / "assignments.csv")["cluster"].to_numpy()
        add("d: with answers, one start", asked, final)
    path = Path("figures/pinwheel.png")
    draw_panels("pinwheel: clusters found (colours after the true classes)", panels, folder / path)
    caption = f"Pinwheel: {'; '.join(panel.title for panel in panels)}."
    return [Image(path, caption, pd.DataFrame(shown))]


def face_all(rows: Sequence[Row], folder: Path) -> list[Image]:
    """Fig. 3a."""
    return _face(rows, "Face, pairs over all images", "face-all", folder)


def face_100(rows: Sequence[Row], folder: Path) -> list[Image]:
    """Fig. 3b."""
    shown = [row for row in rows if row.key != "deep_mcvc"]
    return _face(shown, "Face, pairs over 100 images", "face-100", folder)


def face_deep_mcvc(rows: Sequence[Row], folder: Path) -> list[Image]:
    """Fig. 5."""
    return _face(rows, "Face, pairs over 100 images, deep MCVC", "face-100-deep-mcvc", folder)


def _face(rows: Sequence[Row], title: str, name: str, folder: Path) -> list[Image]:
    """A line with a band of one standard deviation for each model; k-means, which has no answers, dashed."""
    curves: dict[tuple[str, str], dict[int, Summary]] = {}
    for row in rows:
        for column in _COLUMNS if len(row.at) == 1 and row.key not in _PIECES else ():
            number = row.number(NMI, column)
            if number is not None:
                curves.setdefault((row.key, column), {})[int(row.at[0])] = number
    if not curves:
        return []
    figure = new_figure(9.6, 7.6, title)
    axes = figure.subplots()
    labels = {row.key: row.spec["row"].partition(", {}")[0] for row in rows}
    ranks = {key: rank for rank, key in enumerate(dict.fromkeys(key for key, _ in curves))}
    styles = dict(zip(_COLUMNS, ("-", "--", ":", "-."), strict=True))
    for (key, column), curve in curves.items():
        colour, marker = look(ranks[key])
        x = sorted(curve)
        mean, sd = np.array([[curve[number].mean, curve[number].sd or 0] for number in x]).T
        width = 2.4 if key in _MODELS and column == "ours" else 1.3
        axes.plot(x, mean, marker=marker, ms=5, lw=width, ls=styles[column], color=colour,
                  label=f"{labels[key]}{_COLUMNS[column]}")  # fmt: skip
        axes.fill_between(x, mean - sd, mean + sd, color=colour, alpha=0.13, linewidth=0)
    shown = [number.runs for curve in curves.values() for number in curve.values()]
    baseline = _row(rows, "kmeans").number(NMI)
    if baseline is not None:
        axes.axhline(baseline.mean, ls="--", lw=1, color=MUTED, label="k-means, no answers")
        shown.append(baseline.runs)
    axes.set_ylim(0, 1.02)
    axes.set_xticks(sorted({number for curve in curves.values() for number in curve}))
    axes.tick_params("x", rotation=45)  # 200 and 400 are close to each other
    tidy(axes, "", "answers of each annotator", "NMI, all images")
    figure.legend(fontsize=8, frameon=False, loc="outside lower center", ncols=2)
    counts = [number.n for curve in curves.values() for number in curve.values()]
    caption = (
        f"{title}: NMI of all 624 images against the number of answers of each of five annotators; mean ± one standard "
        f"deviation over {min(counts)} to {max(counts)} runs."
    )
    return drawn(figure, folder, name, caption, shown)


def face_weights(rows: Sequence[Row], folder: Path) -> list[Image]:
    """Fig. 3c: estimated weights of the annotators beside the true ones, which are in the names of the quantities."""
    models = [row for row in rows if row.key in _MODELS and row.first_run() is not None]
    if not models:
        return []
    quantities = list(models[0].cells)
    true = [float(quantity.partition("true ")[2].rstrip(")")) for quantity in quantities]
    figure = new_figure(6.4, 4.4, "Face: weights of the annotators")
    axes = figure.subplots()
    annotators = np.arange(1, len(true) + 1)
    axes.plot(annotators, true, color=COLOURS[2], marker="o", lw=2, label="true")
    shown = []
    for rank, row in enumerate(models):
        numbers = [number for quantity in quantities if (number := row.number(quantity)) is not None]
        axes.errorbar(
            annotators[: len(numbers)] + 0.08 * (rank + 1), [one.mean for one in numbers],
            [one.sd or 0 for one in numbers], capsize=3, lw=1.5, color=(ACCENT, MAIN)[rank],
            marker=look(8 * (rank + 1))[1], label=row.label,
        )  # fmt: skip
        shown += [numbers[0].runs]
    axes.set_xticks(annotators)
    axes.set_ylim(bottom=0)
    tidy(axes, "", "annotator", "weight: logit α + logit β, nats")
    axes.legend(fontsize=9, frameon=False)
    caption = (
        "Face, 2,000 answers of each annotator over all images: logit of the sensitivity plus logit of the "
        "specificity, true and estimated, mean and standard deviation over the runs."
    )
    return drawn(figure, folder, "face-weights", caption, shown)


def tasks(rows: Sequence[Row], folder: Path) -> list[Image]:
    """Accuracy on MNIST against the number of tasks, and the paper's two numbers; if at least two points have runs."""
    ends = {0: _row(rows, "bayes_none"), 91: _row(rows, "bayes_crowd")}
    points = ends | {int(row.at[0]): row for row in rows if row.key == "tasks"}
    found = {n: number for n in sorted(points) if (number := points[n].number("accuracy")) is not None}
    if len(found) < 2:
        return []
    paper = {n: row.paper["accuracy"] for n, row in ends.items()}
    figure = new_figure(7.2, 4.4, "MNIST, BayesSCDC: accuracy against the number of tasks")
    axes = figure.subplots()
    axes.errorbar(list(found), [one.mean for one in found.values()], [one.sd or 0 for one in found.values()], fmt="o-",
                  ms=5, lw=1.6, capsize=3, color=MAIN, label="here, our default")  # fmt: skip
    axes.errorbar(list(paper), [value for value, _ in paper.values()], [sd or 0 for _, sd in paper.values()], fmt="D",
                  ms=5, lw=1.2, capsize=3, color=ACCENT, mfc="none", label="the paper")  # fmt: skip
    axes.set_xticks(sorted(points))
    tidy(axes, "", "tasks of 36 images (0: no answers, with views)", "accuracy, test images")
    axes.legend(fontsize=9, frameon=False, loc="lower right")
    missing = ", ".join(str(n) for n in sorted(points) if n not in found)
    caption = (
        "MNIST: accuracy of BayesSCDC on the test images against the number of tasks, over up to "
        f"{max(one.n for one in found.values())} runs; the paper's two numbers with their standard deviations."
        + (f" Not there: {missing} tasks." if missing else "")
    )
    return drawn(figure, folder, "mnist-tasks", caption, [one.runs for one in found.values()])


def training(rows: Sequence[Row], folder: Path) -> list[Image]:
    """Fig. 4a, for the paper's protocol and for our default."""
    images = []
    for column, name in (("protocol", "the paper's protocol"), ("ours", "our default")):
        run = _row(rows, "bayes").first_run(column)
        snapshots: Snapshots | None = None if run is None else read_snapshots(Path(run["folder"]))
        if run is None or snapshots is None:
            continue
        title = f"MNIST, BayesSCDC with answers, {name}, seed {run['seed']}: generated while training"
        epochs = ", ".join("the start" if epoch == 0 else f"epoch {epoch}" for epoch in snapshots.epochs.tolist())
        caption = f"{title}. Rows: {epochs}; columns: {snapshots.weights.shape[1]} clusters by their last proportion."
        figure = training_samples(snapshots, MNIST_SHAPE, title)
        kind = "default" if column == "ours" else "paper"
        images += drawn(figure, folder, f"mnist-training-{kind}", caption, [run.to_frame().T])
    return images


def likeliest(rows: Sequence[Row], folder: Path) -> list[Image]:
    """Fig. 4b: test images of highest probability in each cluster of the first run, with and without answers."""
    images = []
    for key, answers in (("scdc_none", "without"), ("scdc", "with")):
        run = _row(rows, key).first_run()
        found = None if run is None else Likeliest.read(Path(run["folder"]))
        if run is not None and found is not None:
            title = f"CIFAR-10, {answers} answers, seed {run['seed']}: test images of highest probability"
            figure = cluster_images(found.images, found.clusters, found.share, CIFAR10_SHAPE, title)
            caption = f"{title}, a row for each cluster with at least 0.5 % of the images, largest first."
            images += drawn(figure, folder, f"cifar10-{answers}-answers", caption, [run.to_frame().T])
    return images
