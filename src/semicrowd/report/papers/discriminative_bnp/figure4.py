"""Fig. 4: F1 against the processor's time, hidden Markov models on one user."""

from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from semicrowd.data import load_dataset
from semicrowd.figures.style import look, new_figure, save, tidy
from semicrowd.metrics.clustering import pairwise_f1
from semicrowd.pipeline.experiments import DATA
from semicrowd.pipeline.run_files import read_partitions, read_table
from semicrowd.report.cells import Cell, summarise
from semicrowd.report.exhibits import Exhibit, Image, Result
from semicrowd.report.experiments import protocol_of, remarks_on
from semicrowd.report.papers.discriminative_bnp import table2
from semicrowd.report.runs import Collected, Run

EXPERIMENTS = {"bnp_sequence_ihmm": "iHMM", "bnp_sequence_dih_s": "DIH-S", "bnp_sequence_dih_l": "DIH-L"}
USER = "wifi_1"
IMAGE = Path("figures/bnp-time.png")
TEXT = (
    "The runs of Table 2 on UJIIndoorLoc's user 1, in the place of the paper's user A: mean F1 of the chains' "
    "partitions against the mean time that the processor has spent on a chain. The paper prints no numbers."
)


def build(exhibit: Exhibit, collected: Collected, folder: Path) -> Result:
    """Seconds a sweep of each method, F1 at its end, and the curves."""
    at = collected.at({table2.WHICH: USER})
    rows: list[Cell] = []
    curves: dict[str, pd.DataFrame] = {}
    for experiment, method in EXPERIMENTS.items():
        runs, remark = at.finished(experiment)[:1], "; ".join(remarks_on(at, experiment))
        if not runs:
            rows.append(Cell(f"{method}, F1 at the end", "f1", remark=remark))
        for run in runs:
            curve = curves[method] = curve_of(run)
            protocol = protocol_of([run], exhibit, with_answers=False)
            last, seconds = curve.iloc[-1], curve["seconds"].iloc[-1]
            label = f"{method}, after {seconds:.1f} s and {int(last.name)} sweeps of a chain"
            rows.append(Cell(label, "f1", ours=summarise([last["f1"]], [run.seed]), remark=remark, deviations=protocol))
    images: tuple[Image, ...] = ()
    if curves:
        save(draw(curves), folder / IMAGE)
        images = (Image(IMAGE, "UJIIndoorLoc, user 1: F1 against the processor's time on a chain, means over chains."),)
    return Result(cells=tuple(rows), text=TEXT, images=images, commands=collected.commands_of(*EXPERIMENTS))


def curve_of(run: Run) -> pd.DataFrame:
    """Mean over chains of ``seconds`` and ``f1``, by sweep, of the partitions that a run has kept."""
    directory = Path(run.directory)
    samples, chains = read_partitions(directory), read_table(directory / "chains.csv")
    options = {key: value for key, value in run.config["data"].items() if key != "name"}
    labels = load_dataset("sequence", DATA, run.seed, **options).labels
    assert labels is not None
    scores = [pairwise_f1(labels, partition) for partition in samples.partitions]
    frame = pd.DataFrame({"chain": samples.chain, "sweep": samples.sweep, "f1": scores})
    return frame.merge(chains, on=["chain", "sweep"]).groupby("sweep")[["seconds", "f1"]].mean()


def draw(curves: dict[str, pd.DataFrame]) -> Figure:
    """A line for each method."""
    figure = new_figure(6.4, 4.2, "UJIIndoorLoc, user 1: F1 against time")
    axes = figure.subplots()
    for rank, (method, curve) in enumerate(curves.items()):
        colour, marker = look(rank)
        axes.plot(curve["seconds"], curve["f1"], color=colour, marker=marker, ms=4, lw=1.5, label=method)
    axes.set_ylim(0, np.ceil(10 * max(curve["f1"].max() for curve in curves.values())) / 10)
    tidy(axes, "", "seconds of the processor on a chain", "F1 of pairs, mean over chains")
    axes.legend(fontsize=9, frameon=False)
    return figure
