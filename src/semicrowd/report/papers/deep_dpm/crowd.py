"""Deep DPM with the crowd's answers as links of its Gibbs step, beside BayesSCDC: a table of ours."""

from pathlib import Path

from semicrowd.report.exhibits import Exhibit, Result
from semicrowd.report.experiments import Measure, cells_of_experiment, metric, paired
from semicrowd.report.runs import Collected

#: Row → its experiment, and whether that has answers.
ROWS = {
    "deep DPM": ("deep_crowd", True),
    "deep DPM, no answers": ("deep_mnist", False),
    "DPM": ("deep_crowd_dpm", True),
    "DPM, no answers": ("deep_mnist_dpm", False),
    "BayesSCDC": ("mnist_bayes_crowd", True),
    "BayesSCDC, no answers": ("mnist_bayes_none", False),
}
MEASURES: dict[str, Measure] = {
    "accuracy": metric("test/acc"), "nmi": metric("test/nmi"), "clusters": metric("clusters/occupied"),
}  # fmt: skip
OF_ANNOTATORS: dict[str, Measure] = {
    "error of sensitivity": metric("workers/sensitivity_mae"),
    "error of specificity": metric("workers/specificity_mae"),
}
TEXT = (
    "MNIST, scores of the test images, with the 57,330 real answers of 48 annotators. Deep DPM and DPM (the same with "
    "a flow that stays as it is) see the codes of Table 2; an answer is a must- or cannot-link of the two-coin model, "
    "whose annotators are drawn in every sweep. BayesSCDC sees the pixels. Errors are mean absolute ones, over the "
    "annotators."
)


def build(exhibit: Exhibit, collected: Collected, folder: Path) -> Result:  # noqa: ARG001 - no figure
    """A row for each method with answers and without."""
    cells = [
        cell
        for label, (experiment, answers) in ROWS.items()
        for cell in cells_of_experiment(
            collected, experiment, exhibit, "", MEASURES | (OF_ANNOTATORS if answers else {}), with_answers=answers,
            label=label,
        )
    ]  # fmt: skip
    for method, names in (("deep DPM", ("deep_crowd", "deep_mnist")), ("DPM", ("deep_crowd_dpm", "deep_mnist_dpm"))):
        cells += paired(collected, f"{method}, with less without answers", *names, MEASURES)
    cells += paired(collected, "BayesSCDC less deep DPM, with", "mnist_bayes_crowd", "deep_crowd", MEASURES)
    experiments = (experiment for experiment, _ in ROWS.values())
    return Result(tuple(cells), TEXT, commands=collected.commands_of(*experiments))
