"""Table 1: images, eight methods, and two more for scale."""

from pathlib import Path

from semicrowd.report.exhibits import Exhibit, Result
from semicrowd.report.papers.discriminative_bnp.paper_values import METHODS
from semicrowd.report.papers.discriminative_bnp.protocols import NMI
from semicrowd.report.papers.discriminative_bnp.sampled import ONE, cells
from semicrowd.report.runs import Collected

#: Data → the beginning of its experiments' names.
DATA = {"NUS-WIDE animals": "bnp_nus", "Fifteen Scenes": "bnp_scenes", "MNIST": "bnp_mnist"}
#: Ours alone, on what can be had.
_OURS = {"bgmm": "variational Dirichlet process mixture of Gaussians (scikit-learn)"}
#: Fig. 3 varies w on these; the table has the paper's.
_DIGITS, _AT = "optdigits, 1,000 images", {"model.w": 1.0}
EXPERIMENTS = (
    *(f"{prefix}_{model}" for prefix in DATA.values() for model in METHODS),
    *(f"bnp_optdigits_{model}" for model in METHODS),
    *(f"bnp_{data}_{model}" for data in ("mnist", "optdigits") for model in _OURS),
)
#: What ``make record`` alone runs: experiment → its name in the table, and the paper's row beside it.
RECORDED_ROWS = {
    "bnp_mnist_ddpm_l_literal": ("MNIST, DDPM-L to the letter of the paper", "MNIST, DDPM-L"),
}
TEXT = (
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
    "whole number at which DPM has most nearly as many clusters as the paper's. Other images give other scores: with "
    "three draws of them DPM's NMI differed by .04. Chains that are NOT MIXED say where each of them stayed, not what "
    "the posterior is: with 784 counts an image it has many modes. The 64 counts of optdigits' images stand beside, in "
    "the place of the sets that cannot be had. The methods on MNIST in the order of their mean NMI: "
    "{order}."
)


def build(exhibit: Exhibit, collected: Collected, folder: Path) -> Result:  # noqa: ARG001 - no figure
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
    text = TEXT.format(levels=_levels(collected), order=order, nmi=NMI)
    return Result(cells=tuple(rows), text=text, commands=collected.commands_of(*EXPERIMENTS))


def _levels(collected: Collected) -> str:
    runs = collected.finished("bnp_mnist_dpm")
    return f"{runs[0].config['model']['count_scale']:g}" if runs else "a few"
