"""Fig. 2 of the SCDC paper: the pinwheel without answers, best and worst start, and with answers."""

from pathlib import Path

import numpy as np

from semicrowd.data.frames import read_npz
from semicrowd.figures.plane import Panel, draw_panels
from semicrowd.metrics import clustering_scores
from semicrowd.report.collect import Collected, Run
from semicrowd.report.exhibits import Exhibit, Image, Result
from semicrowd.report.experiments import Measure, Row, cells_of_rows, data_of, metric, worst_start
from semicrowd.run.files.results import final_clusters

WITHOUT = "pinwheel_none"
WITH = "pinwheel_two_coin"
#: The same answers without a generative model.
CLASSIFIERS = "pinwheel_cotrain"
#: Experiments that only ``make record`` runs: part of the name → description.
RECORDED = {
    "whole": "protocol paper",
    "released": "protocol paper with the released code's step size",
    "between": "between: a cold start, Adam, step size .1, the svi gradient; with answers, minibatches of items",
}
#: The paper's rows. Recorded rows are compared with the good start without answers, and with the start with answers.
_GOOD, _BAD, _ASKED = (
    "b: good initialisation, no answers", "c: bad initialisation, no answers", "d: with answers"
)  # fmt: skip
RECORDED_ROWS = tuple(
    Row(f"pinwheel_{name}_{answers}", f"{label}; {what}", paper, answers == "two_coin")
    for name, what in RECORDED.items()
    for answers, label, paper in (("none", "without answers", _GOOD), ("two_coin", "with answers", _ASKED))
)
#: Label, first and second experiment of each paired difference, first minus second.
DIFFERENCES = (
    ("without answers: protocol semicrowd minus protocol paper", WITHOUT, "pinwheel_whole_none"),
    ("without answers: \"between\" minus protocol paper", "pinwheel_between_none", "pinwheel_whole_none"),
    ("without answers: protocol semicrowd minus \"between\"", WITHOUT, "pinwheel_between_none"),
    ("with answers: protocol semicrowd minus protocol paper", WITH, "pinwheel_whole_two_coin"),
    ("with answers: \"between\" minus protocol paper", "pinwheel_between_two_coin", "pinwheel_whole_two_coin"),
    ("with answers: protocol semicrowd minus \"between\"", WITH, "pinwheel_between_two_coin"),
    ("with answers: BayesSCDC minus co-training", WITH, CLASSIFIERS),
)
IMAGE = Path("figures/pinwheel.png")
MEASURES: dict[str, Measure] = {
    "accuracy": metric("train/acc"), "nmi": metric("train/nmi"), "clusters": metric("clusters/used"),
}  # fmt: skip


def figure_2(exhibit: Exhibit, collected: Collected, folder: Path) -> Result:
    """The numbers over all seeds, and the panels from the first seed of each experiment."""
    best = MEASURES | {"accuracy, oracle": metric("restart/oracle_acc")}
    worst = {"accuracy": worst_start("oracle_acc"), "nmi": worst_start("oracle_nmi")}
    as_in_the_paper = {name for name in (WITHOUT, WITH)
                       if any(run.config.get("protocol") == "paper" for run in collected.finished(name))}
    less = [one for one in DIFFERENCES if "semicrowd" not in one[0] or as_in_the_paper.isdisjoint(one)]
    classifiers = Row(CLASSIFIERS, "with answers, co-training (no generative model)")
    rows = (Row(WITH, paper=_ASKED), classifiers, *RECORDED_ROWS)
    cells = [
        *cells_of_rows(collected, exhibit, [Row(WITHOUT, paper=_GOOD, with_answers=False)], best),
        *cells_of_rows(collected, exhibit, [Row(WITHOUT, paper=_BAD, with_answers=False)], worst),
        *cells_of_rows(collected, exhibit, rows, MEASURES, less=less, compared=("accuracy", "nmi")),
    ]
    panels = _panels(collected)
    if panels:
        draw_panels("pinwheel: clusters found (colours after the true classes)", panels, folder / IMAGE)
    return Result(
        cells=tuple(cells),
        text=(
            "Scores of all 500 items, each clustered from its features alone. Without answers a run fits several "
            "starts at once: row b is the start with the highest ELBO on the training data, row c the one with the "
            "lowest. The oracle is the start with the highest accuracy; no method may select it, as this needs labels. "
            "With answers there is one start, and 980 answers of 20 annotators (sensitivity and specificity .9) about "
            "100 of the items; in panel d the clusters of these 100 items also use their answers. No run sees a label. "
            "Only the number of restarts is set for the pinwheel, but it is one of the data sets on which the rule of "
            "protocol semicrowd was made, while looking at their labels. No unused seeds are "
            "left: those that were set aside were looked at once, by an earlier default."
        ),
        images=(Image(IMAGE, f"Pinwheel: {'; '.join(panel.title for panel in panels)}."),) if panels else (),
        commands=collected.commands_of(WITHOUT, WITH, CLASSIFIERS),
    )


def _panels(collected: Collected) -> list[Panel]:
    """Panels a–d, where there are finished runs; the titles have the scores of the clusters that are drawn."""
    without, with_answers = collected.finished(WITHOUT)[:1], collected.finished(WITH)[:1]
    if not without and not with_answers:
        return []
    data = data_of((without + with_answers)[0])
    panels = [Panel("a: true classes", *data)]
    for run in without:
        elbo, starts = np.array(run.restarts["elbo"], float), len(run.restarts["elbo"])
        order = [start for start in np.argsort(elbo) if np.isfinite(elbo[start])]  # a start that diverged has no ELBO
        clusters = read_npz(Path(run.directory) / "restart_assignments.npz")["clusters"]
        panels += [
            _scored(f"b: best of {starts} starts by ELBO", run, data, clusters[order[-1]]),
            _scored(f"c: worst of {starts} starts by ELBO", run, data, clusters[order[0]]),
        ]
    panels += [
        _scored("d: with answers, one start", run, data, final_clusters(Path(run.directory))) for run in with_answers
    ]
    return panels


def _scored(title: str, run: Run, data: tuple[np.ndarray, np.ndarray], clusters: np.ndarray) -> Panel:
    features, labels = data
    scores, used = clustering_scores(labels, clusters), len(np.unique(clusters))
    scored = f"{used} clusters, accuracy {scores['acc']:.3f}, NMI {scores['nmi']:.3f}"
    return Panel(f"{title} (seed {run.seed}): {scored}", features, clusters)
