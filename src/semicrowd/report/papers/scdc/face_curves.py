"""NMI on Face against the number of answers: cells and curves of Fig. 3a, 3b and 5 of the SCDC paper."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from matplotlib.figure import Figure

from semicrowd.figures.style import MUTED, look, new_figure, save, tidy
from semicrowd.report.cells import Cell, Summary
from semicrowd.report.exhibits import Exhibit, Image
from semicrowd.report.experiments import cells_of_experiment, metric, paired
from semicrowd.report.runs import Collected

#: What a sweep on Face varies: answers of each annotator.
NUMBER = "pairs_per_annotator"
#: Model → its name in the report, in the order of the legend.
MODELS = {
    "scdc": "SCDC",
    "bayes": "BayesSCDC",
    "cotrain": "co-training, not told four",
    "scdc_paper": "SCDC, protocol paper",
    "bayes_paper": "BayesSCDC, protocol paper",
    "mcvc": "MCVC",
    "deep_mcvc": "deep MCVC",
    "semicrowd": "SemiCrowd",
    "itml": "ITML",
    "mpckmeans": "MPCK-means",
    "constrained_kmeans": "constrained k-means",
    "cspa": "CSPA",
    "crowd_only": "answers alone",
    "crowd_logistic": "answers, then logistic regression",
}
#: Those of them that a profile may leave out: then each has one row, which says how to have it.
PAPER_PROTOCOL = ("scdc_paper", "bayes_paper")
#: Experiment → name, of what has no answers.
ALONE = {"face_kmeans": "k-means", "face_gmm": "Gaussian mixture"}
#: Every item with all that is known of it: its features, and its answers where it has some.
MEASURES = {"nmi": metric("final/nmi")}
#: Why a method may be worse than k-means, which has no answers: possible causes, not findings.
_WHY = {
    "scdc_paper": "with as many pairs of one pose as of two, 'all in one cluster' is a fixed point of a cold start",
    "bayes_paper": "with as many pairs of one pose as of two, 'all in one cluster' is a fixed point of a cold start",
    "crowd_only": "it sees the answers alone: an image with a handful of them, some wrong, or with none, is placed "
                  "at random or where the most are",
    "crowd_logistic": "its classes are those of the answers alone, which a few for each image do not show",
    "cspa": "it sees the answers alone: an annotator's answers join some images, and the cut of the rest is arbitrary",
    "semicrowd": "its metric is learnt from the pairs on which the answers agree",
    "mpckmeans": "it takes every vote for true, and wrong ones bend the metric and the centres of all images",
    "constrained_kmeans": "it takes every vote for true, and wrong ones move the centres of all images",
    "itml": "it takes every vote for true, and wrong ones bend the metric",
}  # fmt: skip
Curves = dict[str, dict[int, Summary]]


def numbers(collected: Collected, answers: str) -> list[int]:
    """Numbers of answers that the profile asks for, rising."""
    names = [f"{answers}_{model}" for model in MODELS]
    return sorted({run.point[NUMBER] for name in names for run in collected.runs.get(name, [])})


def cells(
    collected: Collected, exhibit: Exhibit, answers: str, models: Sequence[str],
    differences: Sequence[tuple[str, str]] = (),
) -> list[Cell]:
    """A row for each model and number of answers, for what has no answers, and for differences of two models."""
    found = [
        cell
        for name, label in ALONE.items()
        for cell in cells_of_experiment(
            collected, name, exhibit, "", MEASURES, with_answers=False, label=f"{label}, no answers"
        )
    ]
    rows = _rows(collected, exhibit, answers, models)
    alone = found[0].ours
    found += [_explained(cell, model, alone) for model in models for at in rows[model].values() for cell in at]
    for model in PAPER_PROTOCOL:
        if model in models and not rows[model]:
            found += cells_of_experiment(collected, f"{answers}_{model}", exhibit, "", MEASURES, with_answers=True,
                                         label=MODELS[model])  # fmt: skip
    for first, second in differences:
        for number in numbers(collected, answers):
            found += paired(
                collected.at({NUMBER: number}), f"{MODELS[first]} less {MODELS[second]}, {number} answers each",
                f"{answers}_{first}", f"{answers}_{second}", MEASURES,
            )  # fmt: skip
    return found


def _rows(
    collected: Collected, exhibit: Exhibit, answers: str, models: Sequence[str]
) -> dict[str, dict[int, tuple[Cell, ...]]]:
    """Model → number of answers → cells, of the profile and recorded."""
    rows: dict[str, dict[int, tuple[Cell, ...]]] = {model: {} for model in models}
    for number in numbers(collected, answers):
        at = collected.at({NUMBER: number})
        for model in models:
            name = f"{answers}_{model}"
            if model in PAPER_PROTOCOL and not (name in collected.runs or name in collected.recorded):
                continue
            rows[model][number] = cells_of_experiment(
                at, name, exhibit, "", MEASURES, with_answers=True,
                label=f"{MODELS[model]}, {number} answers each",
            )  # fmt: skip
    return rows


def _explained(cell: Cell, model: str, alone: Summary | None) -> Cell:
    if cell.ours is None or alone is None or cell.ours.mean >= alone.mean:
        return cell
    below = f"below k-means ({alone.mean:.3f}); a possible cause: {_WHY.get(model, 'none known')}"
    return replace(cell, remark="; ".join(filter(None, [cell.remark, below])))


def curves(collected: Collected, exhibit: Exhibit, answers: str, models: Sequence[str]) -> Curves:
    """Model → number of answers → NMI, as far as there are finished runs."""
    rows = _rows(collected, exhibit, answers, models)
    found = {
        model: {n: ours for n, at in row.items() if (ours := next((cell.ours for cell in at if cell.ours), None))}
        for model, row in rows.items()
    }
    return {model: curve for model, curve in found.items() if curve}


def image(
    collected: Collected, exhibit: Exhibit, answers: str, models: Sequence[str], title: str, path: Path, folder: Path
) -> tuple[Image, ...]:
    """The curves, drawn into ``folder``; none before there is a run."""
    found = curves(collected, exhibit, answers, models)
    if not found:
        return ()
    baseline = cells_of_experiment(
        collected, "face_kmeans", exhibit, "", MEASURES, with_answers=False
    )[0].ours
    save(draw(title, found, baseline), folder / path)
    missing = [MODELS[model] for model in models if model not in found and model not in PAPER_PROTOCOL]
    runs = [summary.num_runs for curve in found.values() for summary in curve.values()]
    of_runs = f"{max(runs)}" if min(runs) == max(runs) else f"{min(runs)} to {max(runs)}"
    caption = (
        f"{title}: NMI of all 624 images against the answers of each of five annotators; lines are means, bands one "
        f"standard deviation to each side over {of_runs} runs."
        + (f" Not there: {', '.join(missing)}." if missing else "")
    )
    return (Image(path, caption),)


def draw(title: str, found: Curves, baseline: Summary | None) -> Figure:
    """A line with a band for each model; k-means as a dashed line."""
    figure = new_figure(8.4, 5.2, title)
    axes = figure.subplots()
    ranks = {model: rank for rank, model in enumerate(MODELS)}
    for model, curve in found.items():
        colour, marker = look(ranks[model])
        x, mean = list(curve), [summary.mean for summary in curve.values()]
        low, high = ([s.mean + sign * (s.sd or 0) for s in curve.values()] for sign in (-1, 1))
        width = 2.4 if model in ("scdc", "bayes") else 1.3
        axes.plot(x, mean, marker=marker, ms=5, lw=width, color=colour, label=MODELS[model])
        axes.fill_between(x, low, high, color=colour, alpha=0.13, linewidth=0)
    if baseline is not None:
        axes.axhline(baseline.mean, ls="--", lw=1, color=MUTED, label="k-means, no answers")
    axes.set_ylim(0, 1.02)
    axes.set_xticks(sorted({number for curve in found.values() for number in curve}))
    tidy(axes, "", "answers of each annotator", "NMI, all images")
    axes.legend(fontsize=8, frameon=False, loc="center left", bbox_to_anchor=(1, 0.5))
    return figure
