"""Tables 1 and 2, images and sequences: cells of methods, most of which estimate K.

One run of a sampler has ten chains, in place of the paper's ten runs, and saves their last partitions.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from semicrowd.report.cells import Cell
from semicrowd.report.collect import Collected, Run
from semicrowd.report.exhibits import Exhibit, Result
from semicrowd.report.experiments import RECORDED, Measure, Row, cells_of_rows, paired
from semicrowd.report.papers.discriminative_bnp.paper import METHODS, NMI, OF_SEQUENCES

#: Quantity → entry of metrics.json: ONE for methods with a single partition, SAMPLED for samplers.
ONE = {"clusters": "clusters/occupied", "nmi": "train/nmi", "f1": "train/f1"}
SAMPLED = {"clusters": "samples/clusters", "nmi": "samples/nmi", "f1": "samples/f1"}


def cells(
    collected: Collected, experiment: str, exhibit: Exhibit, paper: str, label: str = "",
    quantities: Sequence[str] = tuple(ONE),
) -> list[Cell]:
    """K, NMI and F1 of an experiment, compared with the paper's row ``paper`` if there is one.

    A sampler's mean and standard deviation are over the kept partitions of its chains; the remark of the cell says
    whether the chains have mixed. Recorded runs follow; they are the only ones if the profile does not run the
    experiment.
    """
    measures = {quantity: _measure(quantity) for quantity in quantities}
    described = []
    for cell in cells_of_rows(collected, exhibit, [Row(experiment, label, paper, with_answers=False)], measures):
        kept = cell.cell.endswith(RECORDED)
        runs = collected.finished_recorded(experiment) if kept else collected.finished(experiment)
        sampled = bool(runs) and SAMPLED["nmi"] in runs[0].metrics
        described.append(_of_chains(cell, runs) if sampled else _of_points(cell, runs))
    return described


def _measure(quantity: str) -> Measure:
    return lambda run: run.metrics.get(SAMPLED[quantity], run.metrics.get(ONE[quantity]))


def _of_points(cell: Cell, runs: Sequence[Run]) -> Cell:
    """Add the numbers of clusters that a method was told; means are over them, as in the paper."""
    given = sorted({run.point["model.K"] for run in runs if "model.K" in run.point})
    if cell.ours is None or not given:
        return cell
    ours = replace(cell.ours, seeds=tuple(sorted(set(cell.ours.seeds))), drawn=cell.ours.num_runs)
    remark = f"K = {', '.join(map(str, given))}"
    # Its runs are one for each K, as the paper has them.
    notes = tuple(note for note in cell.deviations if not note.endswith("runs (paper: 1)"))
    if given != list(range(10, 26)):
        notes = ("some K (paper: 10 to 25)", *notes)
    return replace(cell, ours=ours, remark="; ".join(filter(None, [cell.remark, remark])), deviations=notes)


def _of_chains(cell: Cell, runs: Sequence[Run]) -> Cell:
    if cell.ours is None or len(runs) != 1:
        return cell
    metrics, model = runs[0].metrics, runs[0].config["model"]
    kept = model["n_chains"] * min(model["n_kept"], model["n_sweeps"])
    ours = replace(cell.ours, sd=metrics[f"{SAMPLED[cell.quantity]}_sd"], drawn=kept)
    remark = f"{model['n_chains']} chains, their last {model['n_kept']} partitions; {mixing(metrics)}"
    return replace(cell, ours=ours, remark="; ".join(filter(None, [cell.remark, remark])))


def mixing(metrics: dict[str, float]) -> str:
    """R-hat and effective sample sizes of the chains, and whether they indicate mixing."""
    def shown(name: str, digits: int) -> str:
        return f"{metrics[name]:.{digits}f}" if name in metrics else "∞"

    said = ", ".join(
        f"{label} {shown(f'chains/rhat_{name}', 2)} (ESS {shown(f'chains/ess_{name}', 0)})"
        for name, label in (("clusters", "R-hat of K"), ("log_likelihood", "of ln p(x | z)"))
    )
    return f"{'mixed' if metrics['chains/mixed'] else 'NOT MIXED'}: {said}"


#: Data → the beginning of its experiments' names.
DATA = {"NUS-WIDE animals": "bnp_nus", "Fifteen Scenes": "bnp_scenes", "MNIST": "bnp_mnist"}
#: Methods that the paper does not have, run on the available data.
_OURS = {"bgmm": "variational Dirichlet process mixture of Gaussians (scikit-learn)"}
#: Fig. 3 varies w on these images; the table has the paper's value.
_DIGITS = "optdigits, 1,000 images"
_AT = {"model.w": 1.0}
EXPERIMENTS = (
    *(f"{prefix}_{model}" for prefix in DATA.values() for model in METHODS),
    *(f"bnp_optdigits_{model}" for model in METHODS),
    *(f"bnp_{data}_{model}" for data in ("mnist", "optdigits") for model in _OURS),
)
#: Experiments that only ``make record`` runs: experiment → its name in the table, and the paper's row.
RECORDED_ROWS = {
    "bnp_mnist_ddpm_l_literal": ("MNIST, DDPM-L, hyperplanes as the paper states them", "MNIST, DDPM-L"),
}
#: Methods on five draws of the 1,000 images: method → experiment, which only ``make record`` runs.
DRAWS = {name: f"bnp_draws_{model}" for model, name in (
    ("kmeans", "k-means told 17"), ("dpm", "DPM"), ("ddpm_s", "DDPM-S"), ("ddpm_l", "DDPM-L")
)}  # fmt: skip
_IMAGES_TEXT = (
    "K (the number of clusters that have an item), NMI and pairwise F1 of the training items. {nmi} The paper's "
    "numbers of K-means and GMM are averages over 10 to 25 clusters; ours are averages over the numbers of clusters in "
    "the remark. Affinity propagation (AP) is set to approximate 17 clusters, and DP-means to expect 17. The paper "
    "says this of DP-means; for AP it says nothing, but prints 18 clusters on all three sets. A second row of DDPM-L "
    "has the hyperplanes that the paper states: that of a new cluster is drawn from the prior, all go through the "
    "origin and use the grey values without scaling, and clusters are not split or merged. In this row are our "
    "choices: the first partition has 20 random clusters and a chain 60 sweeps (the paper gives neither), hyperplanes "
    "use grey values from 0 to 1, whereas the paper's use counts, and they are drawn from the corrected posterior "
    "(docs/DEVIATIONS.md). No profile runs this row; recorded/runs has its numbers "
    "and the arguments that repeat them. A sampler's numbers are over the last partitions of all of its chains, as in "
    "the paper; R-hat and effective sample size show whether the chains agree. The paper's MNIST has 1,000 images of "
    "784 pixels, but the paper does not say which images, nor how pixels become counts. Here the images are drawn with "
    "a seed of their own, and a pixel's count is its grey value on a scale from 0 to {levels}, rounded. This scale is "
    "the whole number for which the number of clusters of DPM is closest to the paper's. Other images give other "
    "scores: the last rows have five draws of the images (recorded), and differences between methods on the same "
    "images. If chains are marked NOT MIXED, their numbers describe where each chain stayed, not the posterior: with "
    "784 counts for each image, the posterior has many modes. The images of optdigits with 64 counts each replace the "
    "data sets that are not available. The methods on MNIST in the order of their mean NMI: {order}."
)


def table_1(exhibit: Exhibit, collected: Collected, folder: Path) -> Result:  # noqa: ARG001 - no figure
    """The table's cells: a row for each set of images and each method."""
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
    # Added after the ranking, which only has the methods with our settings.
    for experiment, (label, paper) in RECORDED_ROWS.items():
        rows += cells(collected, experiment, exhibit, paper, label)
    rows += _draws(collected, exhibit)
    text = _IMAGES_TEXT.format(levels=_levels(collected), order=order, nmi=NMI)
    return Result(cells=tuple(rows), text=text, commands=collected.commands_of(*EXPERIMENTS))


def _draws(collected: Collected, exhibit: Exhibit) -> list[Cell]:
    """Each method over the draws of the images, and DDPM-L minus the others on the same images."""
    rows = []
    for name, experiment in DRAWS.items():
        rows += cells(collected, experiment, exhibit, "", f"MNIST, five draws of the images, {name}")
    for name in list(DRAWS)[:-1]:
        label = f"MNIST, the same draws, DDPM-L minus {name}"
        rows += paired(collected, label, DRAWS["DDPM-L"], DRAWS[name], {"nmi": _measure("nmi")})
    return rows


def _levels(collected: Collected) -> str:
    runs = collected.finished("bnp_mnist_dpm")
    return f"{runs[0].config['model']['count_scale']:g}" if runs else "a few"


#: The setting that the sweep over sequences varies.
WHICH = "data.which"
#: Data set → its name here.
SEQUENCES = {
    "wifi_1": "UJIIndoorLoc, user 1", "wifi_14": "UJIIndoorLoc, user 14", "wifi_11": "UJIIndoorLoc, user 11",
    "home_a": "ADL home A", "home_b": "ADL home B",
}  # fmt: skip
_MODELS = OF_SEQUENCES | {"hmm": "HMM, told K"}
SEQUENCE_EXPERIMENTS = tuple(f"bnp_sequence_{model}" for model in _MODELS)
RESTRICTED = (
    "data not available here: researchers can request the scans of the Mobile Data Challenge (Idiap, "
    "idiap.ch/en/scientific-research/data/mdc). Write a csv with a row for each scan of a user in the order of time, a "
    "column for each access point, and the columns label and sequence; then run data=table data.path=FILE "
    "model.family=multinomial"
)
_SEQUENCES_TEXT = (
    "The paper's three users are from the Mobile Data Challenge, whose data are restricted. They are replaced by real, "
    "public sequences. UJIIndoorLoc has WiFi scans of three users in the order of time, with 1 for each access point "
    "that was heard; its classes are floors of buildings, and a user walks through each floor once. The two ADL homes "
    "have, for each period of five minutes, the number of minutes in which each sensor was on; their classes are "
    "activities, which recur. The numbers cannot be compared with the paper's, but the order of the methods can. HMM "
    "is told the number of classes. "
    f"{NMI}"
)


def table_2(exhibit: Exhibit, collected: Collected, folder: Path) -> Result:  # noqa: ARG001 - no figure
    """The paper's cells, for which we have no numbers, and our own rows."""
    rows = [Cell(value.cell, value.quantity, value, remark=RESTRICTED) for value in exhibit.values]
    for which, data in SEQUENCES.items():
        at = collected.at({WHICH: which})
        for model, method in _MODELS.items():
            rows += cells(at, f"bnp_sequence_{model}", exhibit, "", f"{data}, {method}")
    return Result(cells=tuple(rows), text=_SEQUENCES_TEXT, commands=collected.commands_of(*SEQUENCE_EXPERIMENTS))
