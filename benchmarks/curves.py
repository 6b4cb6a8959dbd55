"""Seconds an epoch of BayesSCDC on MNIST against the numbers of images, answers, clusters and restarts."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from matplotlib.ticker import FixedLocator, LogLocator, NullLocator, StrMethodFormatter

from bench import Bench
from semicrowd.figures.style import ACCENT, MAIN, new_figure, save, tidy
from steps import StepTimer, batches_of, step_seconds, train
from table import at_most, print_table

#: Slope of log time against log size that is linear but for noise.
LINEAR = 1.05


class Curve(NamedTuple):
    """Seconds an epoch at growing sizes."""

    what: str
    sizes: Sequence[int]
    seconds: Sequence[float]

    @property
    def slope(self) -> float:
        """Of log seconds against log size, by least squares: 1 is linear."""
        return float(np.polyfit(np.log(self.sizes), np.log(self.seconds), 1)[0])

    @property
    def steepest(self) -> float:
        """The largest slope between neighbours."""
        return float((np.diff(np.log(self.seconds)) / np.diff(np.log(self.sizes))).max())


def curves(bench: Bench, figure: Path | None = None) -> None:
    """One size at a time grows from BayesSCDC with K = 50, one restart and the crowd's answers, 3 tasks a step."""
    found = [
        _images(bench),
        _steps(bench, "P, answers a step (tasks of 630)", (1, 2, 4, 8), "sample_size", 630),
        _steps(bench, "K, clusters", (10, 25, 50, 100), "n_clusters"),
        _steps(bench, "R, restarts", (1, 2, 4, 8), "restarts"),
    ]
    rows = [
        (curve.what, ", ".join(map(str, curve.sizes)), ", ".join(f"{value:.2f}" for value in curve.seconds),
         f"{curve.slope:.2f}", f"{curve.steepest:.2f}", at_most(curve.slope, LINEAR))
        for curve in found
    ]  # fmt: skip
    print_table(("MNIST, BayesSCDC", "sizes", "s an epoch", "slope of the logs", "steepest", "bar"), rows)
    if figure is not None:
        _draw(found, figure)
        print(f"\n{figure}")


def _images(bench: Bench) -> Curve:
    """Whole epochs of subsets, without answers: each step costs the same, the number of steps grows."""
    sizes, seconds = [bench.num_items // part for part in (8, 4, 2, 1)], []
    for size in sizes:
        model, timer = bench.model("bayes", crowd=False, num_items=size), StepTimer()
        train(model, [timer])
        seconds.append(timer.seconds * len(batches_of(model)))
    return Curve("N, images, no answers", sizes, seconds)


def _steps(bench: Bench, what: str, values: Sequence[int], setting: str, unit: int = 1) -> Curve:
    """Seconds a step times steps an epoch, with the crowd's answers."""
    models = [bench.model("bayes", {setting: value}) for value in values]
    steps = step_seconds(models, bench.effort(steps=20, repeats=2))
    seconds = [step * len(batches_of(model)) for step, model in zip(steps, models, strict=True)]
    return Curve(what, [unit * value for value in values], seconds)


def _draw(found: Sequence[Curve], path: Path) -> None:
    """Each curve on logarithmic axes beside what would be linear from its first point on."""
    figure = new_figure(9, 7, "Cost of an epoch: BayesSCDC on MNIST, one core")
    for axes, curve in zip(figure.subplots(2, 2).flat, found, strict=True):
        sizes, seconds = np.array(curve.sizes), np.array(curve.seconds)
        axes.loglog(sizes, seconds[0] * sizes / sizes[0], color=ACCENT, lw=1.2, ls="--", label="linear")
        axes.loglog(sizes, seconds, color=MAIN, marker="o", lw=1.6, label=f"measured, slope {curve.slope:.2f}")
        tidy(axes, "", curve.what, "seconds an epoch")
        axes.xaxis.set_major_locator(FixedLocator(list(sizes)))
        axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_formatter(StrMethodFormatter("{x:g}"))
            axis.set_minor_locator(NullLocator())
        axes.legend(fontsize=8, frameon=False)
    save(figure, path)
