"""Cells of methods that find their K: one run of a sampler has the paper's ten as chains, and their last partitions."""

from collections.abc import Sequence
from dataclasses import replace

from semicrowd.report.cells import Cell
from semicrowd.report.exhibits import Exhibit
from semicrowd.report.experiments import Measure, cells_of_experiment, metric
from semicrowd.report.runs import Collected, Run

#: Quantity → entry of metrics.json, of methods with one partition and of samplers.
ONE = {"clusters": "clusters/occupied", "nmi": "train/nmi", "f1": "train/f1"}
SAMPLED = {"clusters": "samples/clusters", "nmi": "samples/nmi", "f1": "samples/f1"}


def cells(
    collected: Collected, experiment: str, exhibit: Exhibit, paper: str, label: str = "",
    quantities: Sequence[str] = tuple(ONE),
) -> list[Cell]:
    """K, NMI and F1 of an experiment, beside the paper's row ``paper`` where it has one.

    A sampler's mean and standard deviation are over the partitions that its chains have kept; what the chains say
    against that is the cell's remark. What ``make record`` has kept of the experiment follows, and stands alone where
    the profile does not run it.
    """
    kept = collected.recorded.get(experiment, [])
    profile, recorded = replace(collected, recorded={}), replace(collected, runs={})
    found = []
    if experiment in collected.runs or not kept:
        found += _cells(profile, profile.finished(experiment), experiment, exhibit, paper, label, quantities)
    if kept:
        found += _cells(recorded, kept, experiment, exhibit, paper, label, quantities)
    return found


def _cells(
    collected: Collected, runs: Sequence[Run], experiment: str, exhibit: Exhibit, paper: str, label: str,
    quantities: Sequence[str],
) -> list[Cell]:
    """Of runs that are all of the profile or all recorded: what a cell says of its chains is of its own run."""
    sampled = bool(runs) and "samples/nmi" in runs[0].metrics
    names = SAMPLED if sampled else ONE
    measures: dict[str, Measure] = {quantity: metric(names[quantity]) for quantity in quantities}
    found = cells_of_experiment(
        collected, experiment, exhibit, paper, measures, with_answers=False, label=label
    )  # fmt: skip
    return [_of_chains(cell, runs) if sampled else _of_points(cell, runs) for cell in found]


def _of_points(cell: Cell, runs: Sequence[Run]) -> Cell:
    """Over the numbers of clusters that a method was told, as the paper does."""
    told = sorted({run.point["model.K"] for run in runs if "model.K" in run.point})
    if cell.ours is None or not told:
        return cell
    ours = replace(cell.ours, seeds=tuple(sorted(set(cell.ours.seeds))), drawn=cell.ours.num_runs)
    remark = f"K = {', '.join(map(str, told))}"
    return replace(cell, ours=ours, remark="; ".join(filter(None, [cell.remark, remark])))


def _of_chains(cell: Cell, runs: Sequence[Run]) -> Cell:
    if cell.ours is None or len(runs) != 1:
        return cell
    metrics, model = runs[0].metrics, runs[0].config["model"]
    kept = model["n_chains"] * min(model["n_kept"], model["n_sweeps"])
    ours = replace(cell.ours, sd=metrics[f"{SAMPLED[cell.quantity]}_sd"], drawn=kept)
    remark = f"{model['n_chains']} chains, their last {model['n_kept']} partitions; {mixing(metrics)}"
    return replace(cell, ours=ours, remark="; ".join(filter(None, [cell.remark, remark])))


def mixing(metrics: dict[str, float]) -> str:
    """What R-hat and the effective sample sizes say of the chains."""
    def shown(name: str, digits: int) -> str:
        return f"{metrics[name]:.{digits}f}" if name in metrics else "∞"

    said = ", ".join(
        f"{label} {shown(f'chains/rhat_{name}', 2)} (ESS {shown(f'chains/ess_{name}', 0)})"
        for name, label in (("clusters", "R-hat of K"), ("log_likelihood", "of ln p(x | z)"))
    )
    return f"{'mixed' if metrics['chains/mixed'] else 'NOT MIXED'}: {said}"
