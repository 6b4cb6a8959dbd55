"""Tables 1 and 2, images and sequences: cells of methods that find their K.

One run of a sampler has the paper's ten as chains, and their last partitions.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from semicrowd.report.cells import Cell
from semicrowd.report.exhibits import Exhibit, Result
from semicrowd.report.experiments import Measure, cells_of_experiment, metric, paired
from semicrowd.report.papers.discriminative_bnp.paper import METHODS, NMI, OF_SEQUENCES
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


#: Data → the beginning of its experiments' names.
DATA = {"NUS-WIDE animals": "bnp_nus", "Fifteen Scenes": "bnp_scenes", "MNIST": "bnp_mnist"}
#: Ours alone, on what can be had.
_OURS = {"bgmm": "variational Dirichlet process mixture of Gaussians (scikit-learn)"}
#: Fig. 3 varies w on these; the table has the paper's.
_DIGITS = "optdigits, 1,000 images"
_AT = {"model.w": 1.0}
EXPERIMENTS = (
    *(f"{prefix}_{model}" for prefix in DATA.values() for model in METHODS),
    *(f"bnp_optdigits_{model}" for model in METHODS),
    *(f"bnp_{data}_{model}" for data in ("mnist", "optdigits") for model in _OURS),
)
#: What ``make record`` alone runs: experiment → its name in the table, and the paper's row beside it.
RECORDED_ROWS = {
    "bnp_mnist_ddpm_l_literal": ("MNIST, DDPM-L to the letter of the paper", "MNIST, DDPM-L"),
}
#: The same on five draws of the 1,000 images: method → its experiment, which ``make record`` alone runs.
DRAWS = {name: f"bnp_draws_{model}" for model, name in (
    ("kmeans", "k-means told 17"), ("dpm", "DPM"), ("ddpm_s", "DDPM-S"), ("ddpm_l", "DDPM-L")
)}  # fmt: skip
_IMAGES_TEXT = (
    "K (all clusters that have an item), NMI and pairwise F1 of the training items. {nmi} The paper's K-means and GMM "
    "are averages over 10 to 25 clusters; so are ours, over the numbers in the remark. AP is told to come near to 17 "
    "clusters and DP-means to expect them, as the paper says of DP-means; of AP it says nothing, and has 18 clusters "
    "on all three sets. DDPM-L has a second row, to the letter of the paper: a new cluster's hyperplane is drawn from "
    "the prior, all hyperplanes go through the origin and see the grey values as they are, and no clusters are split "
    "or merged. Two things are ours there: it begins with 20 random clusters (the paper does not say with what), "
    "and hyperplanes see grey values from 0 to 1 where the paper's see counts. No profile runs it: recorded/runs has "
    "its numbers, and the arguments that give them. A sampler's numbers are over the last partitions of all of its "
    "chains, as in the paper; R-hat and effective sample size tell whether the chains agree. "
    "The paper's MNIST has 1,000 images of 784 pixels; it does not say which, nor how pixels become counts. A seed "
    "of their own draws them here, and a pixel's count is its grey value on a scale from 0 to {levels}, rounded: the "
    "whole number at which DPM has most nearly as many clusters as the paper's. Other images give other scores: "
    "the last rows have five draws of them (recorded), and differences on the same images. Chains that are NOT MIXED "
    "say where each of them stayed, not what the posterior is: with 784 counts an image it has many modes. The 64 "
    "counts of optdigits' images stand beside, in the place of the sets that cannot be had. The methods on MNIST in "
    "the order of their mean NMI: {order}."
)


def table_1(exhibit: Exhibit, collected: Collected, folder: Path) -> Result:  # noqa: ARG001 - no figure
    """The table's cells, a row for each set of images and method."""
    rows = [
        cell
        for data, prefix in DATA.items()
        for model, method in METHODS.items()
        for cell in cells(
            collected, f"{prefix}_{model}", exhibit, f"{data}, {method}",
            quantities=[q for q in ONE if q != "clusters" or model not in ("kmeans", "gmm")],
        )
    ]  # fmt: skip
    for model, name in _OURS.items():
        rows += cells(collected, f"bnp_mnist_{model}", exhibit, "", f"MNIST, {name}")
    for model, name in {**METHODS, **_OURS}.items():
        at = collected.at(_AT) if model in ("ddpm_l", "ddpm_s") else collected
        rows += cells(at, f"bnp_optdigits_{model}", exhibit, "", f"{_DIGITS}, {name}")
    ranked = sorted(
        (cell.ours.mean, cell.cell.partition(", ")[2])
        for cell in rows
        if cell.ours is not None and cell.quantity == "nmi" and cell.cell.startswith("MNIST")
    )
    order = " > ".join(f"{name} ({mean:.3f})" for mean, name in reversed(ranked)) or "nothing has run yet"
    # Below the order, which is that of the methods as they are used here.
    for experiment, (label, paper) in RECORDED_ROWS.items():
        rows += cells(collected, experiment, exhibit, paper, label)
    rows += _draws(collected, exhibit)
    text = _IMAGES_TEXT.format(levels=_levels(collected), order=order, nmi=NMI)
    return Result(cells=tuple(rows), text=text, commands=collected.commands_of(*EXPERIMENTS))


def _draws(collected: Collected, exhibit: Exhibit) -> list[Cell]:
    """Each method over the draws of the images, and DDPM-L less the others on the same images."""
    rows = []
    for name, experiment in DRAWS.items():
        rows += cells(collected, experiment, exhibit, "", f"MNIST, five draws of the images, {name}")
    for name in list(DRAWS)[:-1]:
        label = f"MNIST, the same draws, DDPM-L less {name}"
        rows += paired(collected, label, DRAWS["DDPM-L"], DRAWS[name], {"nmi": _nmi})
    return rows


def _nmi(run: Run) -> float | None:
    return run.metrics.get(SAMPLED["nmi"], run.metrics.get(ONE["nmi"]))


def _levels(collected: Collected) -> str:
    runs = collected.finished("bnp_mnist_dpm")
    return f"{runs[0].config['model']['count_scale']:g}" if runs else "a few"


#: What a point of the sweep is called.
WHICH = "data.which"
#: Data set → its name here.
SEQUENCES = {
    "wifi_1": "UJIIndoorLoc, user 1", "wifi_14": "UJIIndoorLoc, user 14", "wifi_11": "UJIIndoorLoc, user 11",
    "home_a": "ADL home A", "home_b": "ADL home B",
}  # fmt: skip
_MODELS = OF_SEQUENCES | {"hmm": "HMM, told K"}
SEQUENCE_EXPERIMENTS = tuple(f"bnp_sequence_{model}" for model in _MODELS)
RESTRICTED = (
    "data not available here: the Mobile Data Challenge's scans are given to researchers on request (Idiap, "
    "idiap.ch/en/scientific-research/data/mdc); a csv of a user's scans in the order of time, a row for each, with a "
    "column for each access point and the columns label and sequence, runs as data=table data.path=FILE "
    "model.family=multinomial"
)
_SEQUENCES_TEXT = (
    "The paper's three users are of the Mobile Data Challenge, which is restricted. In their place stand real, public "
    "sequences: WiFi scans of three users of UJIIndoorLoc in the order of time, 1 where an access point was heard "
    "(classes: floors of buildings, each of which a user walks through once), and the sensors of two homes by five "
    "minutes (in how many of them each was on; classes: activities, which come again and again). Their numbers are not "
    "to be compared with the paper's, only their order. HMM is told the number of classes. "
    f"{NMI}"
)


def table_2(exhibit: Exhibit, collected: Collected, folder: Path) -> Result:  # noqa: ARG001 - no figure
    """The paper's cells, which stay empty, and ours."""
    rows = [Cell(value.cell, value.quantity, value, remark=RESTRICTED) for value in exhibit.values]
    for which, data in SEQUENCES.items():
        at = collected.at({WHICH: which})
        for model, method in _MODELS.items():
            rows += cells(at, f"bnp_sequence_{model}", exhibit, "", f"{data}, {method}")
    return Result(cells=tuple(rows), text=_SEQUENCES_TEXT, commands=collected.commands_of(*SEQUENCE_EXPERIMENTS))
