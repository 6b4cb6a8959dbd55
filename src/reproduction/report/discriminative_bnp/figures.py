"""Figures of the discriminative BNP paper: two chains, the prior variance of the hyperplanes, F1 against CPU time."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from reproduction.report.engine import Image, drawn
from reproduction.report.runs import data_of
from reproduction.report.tables import Row, Summary
from semicrowd.data.frames import read_npz
from semicrowd.figures.plane import Panel, draw_panels
from semicrowd.figures.style import MUTED, look, new_figure, tidy
from semicrowd.metrics.clustering import pairwise_f1


def prepare(runs: pd.DataFrame, results: Path) -> pd.DataFrame:  # noqa: ARG001 - from the runs' own folders
    """Add what only the partitions of chains say: how many chains end with two clusters; F1 and time at their end."""
    found = {}
    for index, run in runs.iterrows():
        path = Path(run["folder"] or "/nowhere") / "partitions.npz"
        if run["data.which"] == "chains" and path.is_file():
            samples = read_npz(path)
            last = samples["sweep"] == samples["sweep"].max()
            found[index] = {"chains/two": int((samples["partitions"][last].max(1) + 1 == 2).sum())}
        elif run["data"] == "sequence" and path.is_file() and (path.parent / "chains.csv").is_file():
            end = curve(run).iloc[-1]
            found[index] = {"chains/last_f1": end["f1"], "chains/seconds": end["seconds"]}
    return runs.join(pd.DataFrame.from_dict(found, orient="index")) if found else runs


def curve(run: pd.Series) -> pd.DataFrame:
    """Mean over chains of ``seconds`` and ``f1``, by sweep, for the partitions that a run has saved."""
    samples, (_, labels) = read_npz(Path(run["folder"]) / "partitions.npz"), data_of(run)
    scores = [pairwise_f1(labels, partition) for partition in samples["partitions"]]
    frame = pd.DataFrame({"chain": samples["chain"], "sweep": samples["sweep"], "f1": scores})
    chains = pd.read_csv(Path(run["folder"]) / "chains.csv")
    return frame.merge(chains, on=["chain", "sweep"]).groupby("sweep")[["seconds", "f1"]].mean()


def two_chains(rows: Sequence[Row], folder: Path) -> list[Image]:
    """Fig. 2: the points and the clusters of each method's first run."""
    shown = {row.label: run for row in rows if (run := row.first_run()) is not None}
    if not shown:
        return []
    features, labels = data_of(next(iter(shown.values())))
    panels = [Panel("the two chains", features, labels)]
    for method, run in shown.items():
        clusters = pd.read_csv(Path(run["folder"]) / "assignments.csv")["cluster"].to_numpy()
        panels.append(Panel(f"{method}: {len(np.unique(clusters))} clusters", features, clusters))
    path = Path("figures/bnp-chains.png")
    draw_panels("Two chains of Gaussians: clusters found", panels, folder / path)
    caption = f"Two chains: {'; '.join(panel.title for panel in panels)}."
    return [Image(path, caption, pd.DataFrame(list(shown.values())))]


def widths(rows: Sequence[Row], folder: Path) -> list[Image]:
    """Fig. 3: NMI and K against w, a line for each method; DPM dashed."""
    quantities = {"NMI": "NMI", "clusters": "K"}
    methods = {"ddpm_s": "DDPM-S", "ddpm_l": "DDPM-L"}
    curves: dict[tuple[str, str], dict[float, Summary]] = {}
    for row in rows:
        for quantity in quantities if row.key in methods else ():
            if (number := row.number(quantity)) is not None:
                curves.setdefault((row.key, quantity), {})[float(row.at[0])] = number
    if not curves:
        return []
    figure = new_figure(8.6, 3.8, "optdigits, 1,000 images: prior variance of the hyperplanes")
    reference = next(row for row in rows if row.key == "dpm")
    for axes, (quantity, name) in zip(figure.subplots(1, 2), quantities.items(), strict=True):
        for rank, (key, method) in enumerate(methods.items()):
            points = dict(sorted(curves.get((key, quantity), {}).items()))
            colour, marker = look(rank)
            axes.errorbar(list(points), [one.mean for one in points.values()], [one.sd or 0 for one in points.values()],
                          color=colour, marker=marker, capsize=3, lw=1.5, label=method)  # fmt: skip
        if (number := reference.number(quantity)) is not None:
            axes.axhline(number.mean, ls="--", lw=1, color=MUTED, label="DPM")
        axes.set_xscale("log")
        tidy(axes, "", "w", name)
    figure.axes[0].legend(fontsize=9, frameon=False)
    caption = (
        "optdigits, 1,000 images: NMI and K against w, mean and one standard deviation over the kept partitions; "
        "dashed: DPM."
    )
    shown = [number.runs for points in curves.values() for number in points.values()]
    return drawn(figure, folder, "bnp-prior-of-hyperplanes", caption, shown)


def times(rows: Sequence[Row], folder: Path) -> list[Image]:
    """Fig. 4: a line for each method, means over chains."""
    shown = {row.label: run for row in rows if (run := row.first_run()) is not None}
    if not shown:
        return []
    figure = new_figure(6.4, 4.2, "UJIIndoorLoc, user 1: F1 against time")
    axes = figure.subplots()
    for rank, (method, run) in enumerate(shown.items()):
        points = curve(run)
        colour, marker = look(rank)
        axes.plot(points["seconds"], points["f1"], color=colour, marker=marker, ms=4, lw=1.5, label=method)
    axes.set_ylim(bottom=0)
    tidy(axes, "", "CPU time of a chain, seconds", "F1 of pairs, mean over chains")
    axes.legend(fontsize=9, frameon=False)
    caption = "UJIIndoorLoc, user 1: F1 against the CPU time of a chain, means over chains."
    return drawn(figure, folder, "bnp-time", caption, [pd.DataFrame(list(shown.values()))])
