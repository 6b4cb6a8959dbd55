"""SLPD fed with the majority of noisy annotators, beside BayesSCDC on the same answers: a table of ours."""

from itertools import product
from pathlib import Path

from semicrowd.report.exhibits import Exhibit, Result
from semicrowd.report.experiments import Measure, cells_of_experiment, metric, paired
from semicrowd.report.runs import Collected

DATA = ("iris", "wine", "pen")
METHODS = {
    "slpd": "SLPD", "slpd_alone": "SLPD, no answers", "ckm": "CKM", "constrained_kmeans": "constrained k-means",
    "bayes": "BayesSCDC",
}  # fmt: skip
MEASURES: dict[str, Measure] = {
    "BRI": metric("final/bri"), "nmi": metric("final/nmi"), "accuracy": metric("final/acc"),
}  # fmt: skip
TEXT = (
    "Five annotators with sensitivity and specificity .95 to .75 answer 200 pairs each (annotations=quota), the same "
    "for every method of a seed. All items are scored, answers included. SLPD and CKM take the groups that the "
    "majority joins on balance as blocks, and believe them; BayesSCDC weighs every annotator. All are told the number "
    "of classes but BayesSCDC."
)


def build(exhibit: Exhibit, collected: Collected, folder: Path) -> Result:  # noqa: ARG001 - no figure
    """A row for each data set, method and score."""
    cells = [
        cell
        for data, (method, label) in product(DATA, METHODS.items())
        for cell in cells_of_experiment(
            collected, f"crowd_{data}_{method}", exhibit, "", MEASURES, with_answers=method != "slpd_alone",
            label=f"{data}, {label}",
        )
    ]  # fmt: skip
    for data, (first, second) in product(DATA, (("bayes", "slpd"), ("slpd", "slpd_alone"))):
        cells += paired(collected, f"{data}, {METHODS[first]} less {METHODS[second]}", f"crowd_{data}_{first}",
                        f"crowd_{data}_{second}", MEASURES)  # fmt: skip
    experiments = (f"crowd_{data}_{method}" for data, method in product(DATA, METHODS))
    return Result(tuple(cells), TEXT, commands=collected.commands_of(*experiments))
