"""Figs. 2 to 4: two chains of Gaussians, the prior variance of the hyperplanes, F1 against CPU time."""

from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from semicrowd.data.frames import read_npz
from semicrowd.figures.plane import Panel, draw_panels
from semicrowd.figures.style import MUTED, look, new_figure, tidy
from semicrowd.metrics.clustering import pairwise_f1
from semicrowd.report.cells import Cell, Summary, summarise
from semicrowd.report.collect import Collected, Run
from semicrowd.report.exhibits import Exhibit, Image, Result, drawn
from semicrowd.report.experiments import data_of, protocol_of, remarks_on
from semicrowd.report.papers.discriminative_bnp import tables
from semicrowd.report.papers.discriminative_bnp.paper import NMI
from semicrowd.report.papers.discriminative_bnp.tables import cells
from semicrowd.run.files.results import final_clusters

CHAINS = {"bnp_chains_dpm": "DPM", "bnp_chains_ddpm_l": "DDPM-L", "bnp_chains_ddpm_s": "DDPM-S"}
CHAINS_IMAGE = Path("figures/bnp-chains.png")
_CHAINS_TEXT = (
    "300 points in two parallel chains of five round Gaussians each. The prior covariance of a cluster is {scatter} of "
    "the variance of all points along each axis, for all three methods. The paper does not give its points and prior. "
    "It says that DPM would find the chains with the right covariance; our DPM does so if the prior covariance is that "
    "of all points. The panels show the point estimates of the first run."
)


def figure_2(exhibit: Exhibit, collected: Collected, folder: Path) -> Result:
    """K, NMI and how many Markov chains end with two clusters; images of the points and the clusters found."""
    rows: list[Cell] = []
    panels: list[Panel] = []
    scatter = "a share"
    for experiment, method in CHAINS.items():
        rows += cells(collected, experiment, exhibit, method, quantities=("clusters", "nmi"))
        for run in collected.finished(experiment)[:1]:
            found = number_of_clusters(run)
            share = f"{method}, Markov chains that end with K = 2, of {len(found)}"
            rows.append(
                Cell(share, "clusters", ours=summarise([float((found == 2).sum())], [run.seed]),
                     deviations=protocol_of([run], exhibit, with_answers=False))
            )  # fmt: skip
            points, labels = data_of(run)
            panels = panels or [Panel("the two chains", points, labels)]
            clusters = final_clusters(Path(run.directory))
            panels.append(Panel(f"{method}: {len(np.unique(clusters))} clusters", points, clusters))
            scatter = f"{run.config['model']['scatter']:g}"
    if panels:
        draw_panels("Two chains of Gaussians: clusters found", panels, folder / CHAINS_IMAGE)
    return Result(
        cells=tuple(rows), text=_CHAINS_TEXT.format(scatter=scatter),
        images=(Image(CHAINS_IMAGE, f"Two chains: {'; '.join(panel.title for panel in panels)}."),) if panels else (),
        commands=collected.commands_of(*CHAINS),
    )  # fmt: skip


def number_of_clusters(run: Run) -> np.ndarray:
    """K of each chain after its last sweep."""
    samples = read_npz(Path(run.directory) / "partitions.npz")
    last = samples["sweep"] == samples["sweep"].max()
    found: np.ndarray = samples["partitions"][last].max(1) + 1
    return found


WIDTH = "model.w"
REFERENCE = "bnp_optdigits_dpm"
WIDTH_EXPERIMENTS = {"bnp_optdigits_ddpm_s": "DDPM-S", "bnp_optdigits_ddpm_l": "DDPM-L"}
QUANTITIES = {"nmi": "NMI", "clusters": "K"}
WIDTH_IMAGE = Path("figures/bnp-prior-of-hyperplanes.png")
_DIGITS = "optdigits, 1,000 images"
_WIDTH_TEXT = (
    "NUS-WIDE's animals are not available here (Table 1 says how to get them). They are replaced by 1,000 images of "
    "optdigits, whose 64 features are counts already. DPM is the limit of both methods as w goes to 0. "
    f"{NMI}"
)
Curve = dict[float, Summary]


def figure_3(exhibit: Exhibit, collected: Collected, folder: Path) -> Result:
    """The paper's two numbers, for which we have none, and our K and NMI against w."""
    why = next((run.message for run in collected.unfinished("bnp_nus_ddpm_s")), "put its counts into a table")
    rows = [Cell(value.cell, value.quantity, value, remark=f"data not available here: {why}")
            for value in exhibit.values]  # fmt: skip
    rows += cells(collected, REFERENCE, exhibit, "", f"{_DIGITS}, DPM", tuple(QUANTITIES))
    reference = {cell.quantity: cell.ours for cell in rows[len(exhibit.values) :] if cell.ours is not None}
    curves: dict[str, dict[str, Curve]] = {}
    for experiment, method in WIDTH_EXPERIMENTS.items():
        for w in sorted({run.point[WIDTH] for run in collected.runs.get(experiment, [])}):
            label = f"{_DIGITS}, {method}, w = {w:g}"
            found = cells(collected.at({WIDTH: w}), experiment, exhibit, "", label, tuple(QUANTITIES))
            rows += found
            for cell in found:
                if cell.ours is not None:
                    curves.setdefault(method, {}).setdefault(cell.quantity, {})[w] = cell.ours
    spread = "mean and one standard deviation over the kept partitions; dashed: DPM."
    caption = f"{_DIGITS}: NMI and K against w, {spread}"
    return Result(
        tuple(rows), _WIDTH_TEXT,
        (drawn(draw_widths(curves, reference), folder, WIDTH_IMAGE, caption),) if curves else (),
        collected.commands_of(REFERENCE, *WIDTH_EXPERIMENTS),
    )  # fmt: skip


def draw_widths(curves: dict[str, dict[str, Curve]], reference: dict[str, Summary]) -> Figure:
    """NMI and K, one beside the other, a line for each method."""
    figure = new_figure(8.6, 3.8, f"{_DIGITS}: prior variance of the hyperplanes")
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


TIMED = {"bnp_sequence_ihmm": "iHMM", "bnp_sequence_dih_s": "DIH-S", "bnp_sequence_dih_l": "DIH-L"}
USER = "wifi_1"
TIME_IMAGE = Path("figures/bnp-time.png")
_TIME_TEXT = (
    "The runs of Table 2 on UJIIndoorLoc's user 1, who replaces the paper's user A: mean F1 of the chains' partitions "
    "against the mean CPU time of a chain. The paper prints no numbers."
)


def figure_4(exhibit: Exhibit, collected: Collected, folder: Path) -> Result:
    """CPU time, number of sweeps and final F1 of each method, and the curves."""
    at = collected.at({tables.WHICH: USER})
    rows: list[Cell] = []
    curves: dict[str, pd.DataFrame] = {}
    for experiment, method in TIMED.items():
        runs, remark = at.finished(experiment)[:1], "; ".join(remarks_on(at, experiment))
        if not runs:
            rows.append(Cell(f"{method}, F1 at the end", "f1", remark=remark))
        for run in runs:
            curve = curves[method] = curve_of(run)
            protocol = protocol_of([run], exhibit, with_answers=False)
            last, seconds = curve.iloc[-1], curve["seconds"].iloc[-1]
            label = f"{method}, after {seconds:.1f} s and {int(last.name)} sweeps of a chain"
            rows.append(Cell(label, "f1", ours=summarise([last["f1"]], [run.seed]), remark=remark, deviations=protocol))
    caption = "UJIIndoorLoc, user 1: F1 against the CPU time of a chain, means over chains."
    images = (drawn(draw_times(curves), folder, TIME_IMAGE, caption),) if curves else ()
    return Result(cells=tuple(rows), text=_TIME_TEXT, images=images, commands=collected.commands_of(*TIMED))


def curve_of(run: Run) -> pd.DataFrame:
    """Mean over chains of ``seconds`` and ``f1``, by sweep, for the partitions that a run has saved."""
    directory = Path(run.directory)
    samples, chains = read_npz(directory / "partitions.npz"), pd.read_csv(directory / "chains.csv")
    _, labels = data_of(run)
    scores = [pairwise_f1(labels, partition) for partition in samples["partitions"]]
    frame = pd.DataFrame({"chain": samples["chain"], "sweep": samples["sweep"], "f1": scores})
    return frame.merge(chains, on=["chain", "sweep"]).groupby("sweep")[["seconds", "f1"]].mean()


def draw_times(curves: dict[str, pd.DataFrame]) -> Figure:
    """A line for each method."""
    figure = new_figure(6.4, 4.2, "UJIIndoorLoc, user 1: F1 against time")
    axes = figure.subplots()
    for rank, (method, curve) in enumerate(curves.items()):
        colour, marker = look(rank)
        axes.plot(curve["seconds"], curve["f1"], color=colour, marker=marker, ms=4, lw=1.5, label=method)
    axes.set_ylim(0, np.ceil(10 * max(curve["f1"].max() for curve in curves.values())) / 10)
    tidy(axes, "", "CPU time of a chain, seconds", "F1 of pairs, mean over chains")
    axes.legend(fontsize=9, frameon=False)
    return figure
