"""The embedded track: features by a network that others trained, never in a table with raw pixels."""

from collections.abc import Iterator

from semicrowd.report.cells import format_value, summarise
from semicrowd.report.experiments import metric, remarks_on
from semicrowd.report.runs import Collected
from semicrowd.report.studies.study import Study, StudyTable

#: Row → the experiment.
ROWS = {
    "co-training, with answers": "cifar_embedded_cotrain_tasks",
    "co-training, without": "cifar_embedded_cotrain_none",
    "answers and logistic regression, told ten": "cifar_embedded_crowd_logistic",
    "constrained k-means, told ten": "cifar_embedded_constrained_kmeans",
    "k-means, told ten, without": "cifar_embedded_kmeans",
    "Gaussian mixture, told ten, without": "cifar_embedded_gmm",
}
#: Column → metric of a run, and the kind of number it is.
_MEASURES = {
    "NMI, all images": ("final/nmi", "nmi"),
    "accuracy": ("final/acc", "accuracy"),
    "NMI, test images": ("test/nmi", "nmi"),
    "clusters": ("clusters/used", "clusters"),
}
_TEXT = (
    "CIFAR-10's images as 1280 features by EfficientNet-Lite0, a network that was trained with a million labelled "
    "photographs: it knows most of these kinds of things. The images, the answers and their errors are those of the "
    "rows on raw pixels (SCDC paper, Fig. 4b), the numbers are not to be compared with those. Co-training is not told "
    "how many kinds there are."
)


def study(collected: Collected) -> Study:
    """What the runs of the profile say."""
    rows = tuple(_row(collected, label, experiment) for label, experiment in ROWS.items())
    missing = tuple(not collected.finished(experiment) for experiment in ROWS.values())
    return Study(
        "embedded", "The embedded track: CIFAR-10 by a network trained on photographs",
        "not measured yet" if all(missing) else "partly done" if any(missing) else "done", _TEXT,
        table=StudyTable(("method", *_MEASURES, "n", "remark"), rows, missing), command="make reproduce",
    )  # fmt: skip


def _row(collected: Collected, label: str, experiment: str) -> tuple[str, ...]:
    runs = collected.finished(experiment)
    return (label, *_numbers(collected, experiment), str(len(runs)), "; ".join(remarks_on(collected, experiment)))


def _numbers(collected: Collected, experiment: str) -> Iterator[str]:
    for name, kind in _MEASURES.values():
        read, runs = metric(name), collected.finished(experiment)
        found = [(value, run.seed) for run in runs if (value := read(run)) is not None]
        ours = summarise([value for value, _ in found], [seed for _, seed in found])
        yield "–" if ours is None else format_value(ours.mean, ours.sd, kind)
