"""Fig. 3 of the SCDC paper: Face with pairs over all images (a) and over 100 (b), and the annotators' weights (c).

Fig. 5 takes its curves from here.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from semicrowd.figures.style import COLOURS, MUTED, look, new_figure, tidy
from semicrowd.report.cells import Cell, Summary, summarise
from semicrowd.report.collect import Collected, Run
from semicrowd.report.exhibits import Exhibit, Image, Result, drawn
from semicrowd.report.experiments import (
    Row,
    cells_of_rows,
    mean_of,
    metric,
    paired,
    protocol_of,
    remarks_on,
)

#: SCDC without one piece of its start → its name in the report; in the table alone.
PIECES = {
    "scdc_answers": "SCDC, start from the answers alone",
    "scdc_features": "SCDC, start from the features alone",
    "scdc_cold": "SCDC, cold start",
    "scdc_free": "SCDC, q(z | o) trained after the start",
}
#: The setting that a sweep on Face varies: the number of answers of each annotator.
NUMBER = "pairs_per_annotator"
#: Model → its name in the report, in the order of the legend.
MODEL_LABELS = {
    "scdc": "SCDC",
    "bayes": "BayesSCDC",
    "cotrain": "co-training, no generative model",
    "scdc_paper": "SCDC, protocol paper",
    "bayes_paper": "BayesSCDC, protocol paper",
    "bayes_between": "BayesSCDC, between: the released code's step, answers by items, best bound of five cold starts",
    "scdc_held": "SCDC, seeds first seen on 25 November 2026",
    "bayes_held": "BayesSCDC, seeds first seen on 25 November 2026",
    **PIECES,
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
#: Models with the paper's protocol: the first of :data:`OPTIONAL`.
PAPER_PROTOCOL = ("scdc_paper", "bayes_paper")
#: Models that a profile may omit; each then has a single row, which says how `make record` runs it.
OPTIONAL = (*PAPER_PROTOCOL, "bayes_between", "scdc_held", "bayes_held", *PIECES)
#: Experiment → name, for methods without answers.
ALONE = {"face_kmeans": "k-means", "face_gmm": "Gaussian mixture"}
#: Scores of all items; each is clustered from its features and, if it has any, its answers.
MEASURES = {"nmi": metric("final/nmi")}
#: Why a method may be worse than k-means without answers; these are possible causes that have not been tested.
_WHY = {
    "scdc_paper": "if half of the pairs show the same pose, 'all in one cluster' is a fixed point of a cold start",
    "bayes_paper": "if half of the pairs show the same pose, 'all in one cluster' is a fixed point of a cold start",
    "scdc_cold": "twenty epochs from a cold start are too few, or end in 'all in one cluster'",
    "scdc_features": "the features vary more between people than between poses, and clusters found in them are people",
    "bayes_between": "in most fits some of the four poses are one cluster, as in the fixed point of a cold start",
    "crowd_only": "it sees the answers alone: an image with few answers, some of them wrong, or with none is placed at "
                  "random or in the largest cluster",
    "crowd_logistic": "its classes come from the answers alone, and a few answers for each image do not determine them",
    "cspa": "it sees the answers alone: an annotator's answers join some images, and the cut of the rest is arbitrary",
    "semicrowd": "its metric is learnt only from the pairs on which the answers agree",
    "mpckmeans": "it takes majority votes as true, and wrong votes distort the metric and the centres of all images",
    "constrained_kmeans": "it takes majority votes as true, and wrong votes move the centres of all images",
    "itml": "it takes majority votes as true, and wrong votes distort the metric",
}  # fmt: skip
Curves = dict[str, dict[int, Summary]]


def numbers(collected: Collected, answers: str) -> list[int]:
    """Numbers of answers that the profile runs, in increasing order."""
    names = [f"{answers}_{model}" for model in MODEL_LABELS]
    return sorted({run.point[NUMBER] for name in names for run in collected.runs.get(name, [])})


def cells(
    collected: Collected, exhibit: Exhibit, answers: str, models: Sequence[str],
    differences: Sequence[tuple[str, str]] = (),
) -> list[Cell]:
    """Rows of each model and number of answers, of the methods without answers, and of differences of two models."""
    alike = [Row(name, f"{label}, no answers", with_answers=False) for name, label in ALONE.items()]
    found = cells_of_rows(collected, exhibit, alike, MEASURES)
    rows = _rows(collected, exhibit, answers, models)
    alone = found[0].ours
    found += [_explained(cell, model, alone) for model in models for at in rows[model].values() for cell in at]
    absent = [Row(f"{answers}_{one}", MODEL_LABELS[one]) for one in OPTIONAL if one in models and not rows[one]]
    # Without recorded runs, whose numbers of answers are not those of this profile.
    found += cells_of_rows(replace(collected, recorded={}), exhibit, absent, MEASURES)
    for first, second in differences:
        for number in numbers(collected, answers):
            found += paired(
                collected.at({NUMBER: number}),
                f"{MODEL_LABELS[first]} minus {MODEL_LABELS[second]}, {number} answers each",
                f"{answers}_{first}", f"{answers}_{second}", MEASURES,
            )  # fmt: skip
    return found


def _rows(
    collected: Collected, exhibit: Exhibit, answers: str, models: Sequence[str]
) -> dict[str, dict[int, tuple[Cell, ...]]]:
    """Model → number of answers → cells, of the profile's runs and of recorded ones."""
    rows: dict[str, dict[int, tuple[Cell, ...]]] = {model: {} for model in models}
    for number in numbers(collected, answers):
        at = collected.at({NUMBER: number})
        for model in models:
            name = f"{answers}_{model}"
            if model in OPTIONAL and not (at.runs.get(name) or at.recorded.get(name)):
                continue
            row = Row(name, f"{MODEL_LABELS[model]}, {number} answers each")
            rows[model][number] = tuple(cells_of_rows(at, exhibit, [row], MEASURES))
    return rows


def _explained(cell: Cell, model: str, alone: Summary | None) -> Cell:
    if cell.ours is None or alone is None or cell.ours.mean >= alone.mean:
        return cell
    below = f"below k-means ({alone.mean:.3f}); a possible cause: {_WHY.get(model, 'none known')}"
    return replace(cell, remark="; ".join(filter(None, [cell.remark, below])))


def curves(collected: Collected, exhibit: Exhibit, answers: str, models: Sequence[str]) -> Curves:
    """Model → number of answers → NMI, where there are finished runs."""
    rows = _rows(collected, exhibit, answers, models)
    found = {
        model: {n: ours for n, at in row.items() if (ours := next((cell.ours for cell in at if cell.ours), None))}
        for model, row in rows.items()
    }
    return {model: curve for model, curve in found.items() if curve}


def image(
    collected: Collected, exhibit: Exhibit, answers: str, models: Sequence[str], title: str, path: Path, folder: Path
) -> tuple[Image, ...]:
    """The curves, drawn into ``folder``; no image without finished runs."""
    found = curves(collected, exhibit, answers, models)
    if not found:
        return ()
    baseline = mean_of(collected.finished_or_recorded("face_kmeans"), MEASURES["nmi"])
    missing = [MODEL_LABELS[model] for model in models if model not in found and model not in OPTIONAL]
    runs = [summary.num_runs for curve in found.values() for summary in curve.values()]
    of_runs = f"{max(runs)}" if min(runs) == max(runs) else f"{min(runs)} to {max(runs)}"
    caption = (
        f"{title}: NMI of all 624 images against the number of answers of each of five annotators. Lines are means and "
        f"bands are mean ± one standard deviation, over {of_runs} runs."
        + (f" Not there: {', '.join(missing)}." if missing else "")
    )
    return (drawn(draw(title, found, baseline), folder, path, caption),)


def draw(title: str, found: Curves, baseline: Summary | None) -> Figure:
    """A line with a band for each model; k-means as a dashed line."""
    figure = new_figure(9.6, 7.6, title)
    axes = figure.subplots()
    ranks = {model: rank for rank, model in enumerate(MODEL_LABELS)}
    for model, curve in found.items():
        colour, marker = look(ranks[model])
        x, mean = list(curve), [summary.mean for summary in curve.values()]
        low, high = ([s.mean + sign * (s.sd or 0) for s in curve.values()] for sign in (-1, 1))
        width = 2.4 if model in ("scdc", "bayes") else 1.3
        axes.plot(x, mean, marker=marker, ms=5, lw=width, color=colour, label=MODEL_LABELS[model])
        axes.fill_between(x, low, high, color=colour, alpha=0.13, linewidth=0)
    if baseline is not None:
        axes.axhline(baseline.mean, ls="--", lw=1, color=MUTED, label="k-means, no answers")
    axes.set_ylim(0, 1.02)
    axes.set_xticks(sorted({number for curve in found.values() for number in curve}))
    axes.tick_params("x", rotation=45)  # 200 and 400 are close to each other
    tidy(axes, "", "answers of each annotator", "NMI, all images")
    figure.legend(fontsize=8, frameon=False, loc="outside lower center", ncols=2)
    return figure


ALL = "face_all"
SOME = "face_100"
TITLES = {ALL: "Face, pairs over all images", SOME: "Face, pairs over 100 images"}
#: Models of the paper, whose weights Fig. 3c shows.
OURS = ("scdc", "bayes")
#: Pairs of models, first minus second: compared with their start, the best baseline, the paper's protocol, each other.
_DIFFERENCES = (
    ("scdc", "cotrain"), ("bayes", "cotrain"), ("scdc", "mcvc"), ("scdc", "scdc_paper"), ("bayes", "bayes_paper"),
    ("bayes_between", "bayes_paper"), ("bayes", "bayes_between"), ("bayes", "scdc"),
    *(("scdc", piece) for piece in PIECES),
)  # fmt: skip
WEIGHTS_IMAGE = Path("figures/face-weights.png")
_TEXT = (
    "NMI of the clusters with the four poses, over all 624 images. Each image is clustered from its features and, if "
    "it has any, its answers (assignments.csv of a run). The five annotators have sensitivity = specificity = .95, .9, "
    ".85, .8 and .75. For each seed and number of answers, all methods get the same answers and the same 20 principal "
    "components. No run sees a label, but the start of SCDC and BayesSCDC was designed while looking at the NMI of "
    "seeds 0 to 9, among them those shown. Seeds 25 to 29 were looked at once, on 25 November 2026, and showed that "
    "the start of that day failed with 400 answers of each annotator about all images. After this was fixed, seeds 30 "
    "to 34 were looked at once. Most of the NMI in the curves is due to the start: classifiers and answers improve the "
    "clusters in turns, and held-out answers select the result. The rows of co-training are this start without the "
    "generative models; SCDC, BayesSCDC and co-training are told that K is four. The paper prints no numbers for its "
    "curves. If a row is below k-means, its remark names a possible cause."
)


def figure_3ab(answers: str, exhibit: Exhibit, collected: Collected, folder: Path) -> Result:
    """Fig. 3a or 3b: a table of all means and standard deviations, and the figure."""
    path, models = Path(f"figures/{answers.replace('_', '-')}.png"), shown(answers)
    return Result(
        cells=tuple(cells(collected, exhibit, answers, models, _DIFFERENCES)),
        text=_TEXT,
        images=image(
            collected, exhibit, answers, [one for one in models if one not in PIECES], TITLES[answers], path, folder
        ),
        commands=collected.commands_of(*(f"{answers}_{model}" for model in models), *ALONE),
    )


def shown(answers: str) -> list[str]:
    """Models of Fig. 3a or 3b. Deep MCVC is only run in the setting of Fig. 3b, for Fig. 5."""
    return [model for model in MODEL_LABELS if not (model == "deep_mcvc" and answers == ALL)]


def figure_3c(exhibit: Exhibit, collected: Collected, folder: Path) -> Result:
    """Fig. 3c: estimated and true weights of the annotators, for pairs over all images and the most answers."""
    most = numbers(collected, ALL)[-1:]
    at = collected.at({NUMBER: most[0]}) if most else collected
    found = {model: _weights_of(at.finished(f"{ALL}_{model}")) for model in (*OURS, *PAPER_PROTOCOL)}
    rows = [cell for model, of_model in found.items() for cell in _weight_cells(at, exhibit, model, *of_model)]
    shown = {model: found[model][0] for model in OURS if found[model][0]}
    images: tuple[Image, ...] = ()
    if shown:
        true = found[next(iter(shown))][1]
        caption = (
            f"Face, {most[0]} answers of each annotator over all images: logit of the sensitivity plus logit of the "
            "specificity, true and estimated, mean and standard deviation over the runs."
        )
        images = (drawn(_draw_weights(shown, true), folder, WEIGHTS_IMAGE, caption),)
    return Result(
        cells=tuple(rows),
        text=(
            "The weight of an annotator's answers in eq. 2 is log α/(1 − α) + log β/(1 − β). The estimates are those "
            "of workers.csv; the name of each row gives the true weight. The paper prints no numbers."
        ),
        images=images,
        commands=collected.commands_of(*(f"{ALL}_{model}" for model in (*OURS, *PAPER_PROTOCOL))),
    )


def _weights_of(runs: list[Run]) -> tuple[dict[int, np.ndarray], np.ndarray]:
    """Estimated weights of the annotators by seed, and the true ones; none without runs."""
    tables = {run.seed: pd.read_csv(Path(run.directory) / "workers.csv") for run in runs}
    estimates = {seed: table["weight"].to_numpy() for seed, table in tables.items()}
    if not tables:
        return estimates, np.zeros(0)
    table = next(iter(tables.values()))
    quality = np.stack([table["true_sensitivity"], table["true_specificity"]])
    return estimates, np.log(quality / (1 - quality)).sum(0)


def _summaries(estimates: dict[int, np.ndarray]) -> list[Summary]:
    values = np.stack(list(estimates.values()), axis=1)
    return [found for row in values if (found := summarise(list(row), list(estimates))) is not None]


def _weight_cells(
    at: Collected, exhibit: Exhibit, model: str, estimates: dict[int, np.ndarray], true: np.ndarray
) -> list[Cell]:
    name = f"{ALL}_{model}"
    # Recorded runs do not contain the estimates of single annotators.
    remark = "; ".join(remarks_on(at, name)) if name in at.runs else "not in this profile: make reproduce PROFILE=paper"
    if not estimates:
        return [Cell(MODEL_LABELS[model], "weight", remark=remark)]
    protocol = protocol_of(at.finished(f"{ALL}_{model}"), exhibit, with_answers=True)
    return [
        Cell(f"{MODEL_LABELS[model]}, annotator {number + 1}, true {weight:.3f}", "weight", ours=summary, remark=remark,
             deviations=protocol)
        for number, (weight, summary) in enumerate(zip(true, _summaries(estimates), strict=True))
    ]  # fmt: skip


def _draw_weights(shown: dict[str, dict[int, np.ndarray]], true: np.ndarray) -> Figure:
    figure = new_figure(6.4, 4.4, "Face: weights of the annotators")
    axes = figure.subplots()
    annotators = np.arange(1, len(true) + 1)
    axes.plot(annotators, true, color=COLOURS[2], marker="o", lw=2, label="true")
    for rank, (model, estimates) in enumerate(shown.items()):
        found = _summaries(estimates)
        axes.errorbar(
            annotators + 0.08 * (rank + 1), [s.mean for s in found], [s.sd or 0 for s in found], capsize=3, lw=1.5,
            color=COLOURS[3] if rank == 0 else COLOURS[0], marker=look(8 * (rank + 1))[1], label=MODEL_LABELS[model],
        )  # fmt: skip
    axes.set_xticks(annotators)
    axes.set_ylim(bottom=0)
    tidy(axes, "", "annotator", "weight: logit α + logit β, nats")
    axes.legend(fontsize=9, frameon=False)
    return figure
