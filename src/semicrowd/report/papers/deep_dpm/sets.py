"""The paper's data sets, what stands in the place of those that cannot be passed on, and the experiments on each."""

from dataclasses import dataclass
from typing import Any

from semicrowd.report.experiments import Measure, metric
from semicrowd.report.papers.deep_dpm.paper_values import QUANTITIES
from semicrowd.report.runs import Collected

#: How our scores are read off a run: of every item's most probable cluster.
MEASURES: dict[str, Measure] = {
    **{quantity: metric(f"train/{quantity}") for quantity in QUANTITIES}, "clusters": metric("clusters/occupied")
}
#: Ending of an experiment's name → method.
METHODS = {"_gmeans": "G-means", "_dpm": "DPM", "": "DDPM"}


@dataclass(frozen=True)
class Row:
    """A data set.

    Attributes
    ----------
    name : the paper's, or what stands for one of its sets
    experiment : of deep DPM; those of the other methods have an ending
    which : its name in a sweep over data sets, and in the scores of the spaces
    swept : whether the experiment is such a sweep
    """

    name: str
    experiment: str
    which: str
    swept: bool = False

    def of(self, collected: Collected) -> Collected:
        """The runs on this data set."""
        point: dict[str, Any] = {"data.which": self.which}
        return collected.at(point) if self.swept else collected


ROWS = (
    Row("MNIST", "deep_mnist", "mnist"),
    Row("HHAR", "deep_har", "har"),
    Row("WISDM in HHAR's place", "deep_standins", "activities", swept=True),
    Row("STL-10", "deep_stl10", "stl10"),
    Row("REU-10K", "deep_reuters10k", "reuters10k"),
    Row("R8 in REU-10K's place", "deep_standins", "texts", swept=True),
)
