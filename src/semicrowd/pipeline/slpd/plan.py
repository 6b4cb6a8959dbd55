"""Data, side information and trials of the tables, and commands of ``src/train.py`` that repeat their runs."""

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from semicrowd.crowd.links import blocks_of
from semicrowd.data import load_dataset
from semicrowd.data.load import load_annotations
from semicrowd.errors import UserError
from semicrowd.methods.slpd import SLPD, SLPDParameters, Table
from semicrowd.pipeline.experiments import DATA, PARAMS, RESULTS, arguments, format_ranges, load_plan
from semicrowd.pipeline.inputs import data_modules
from semicrowd.settings.sources import BenchmarkSettings

#: Where the stages write.
FOLDER = RESULTS / "slpd"
#: Modules whose code, with all that they import, the stages' numbers depend on.
CODE = ("semicrowd.pipeline.slpd.tables", "semicrowd.pipeline.slpd.curve", *data_modules("benchmark"))
#: Shares of the training labels that are known: the degrees of supervision.
SHARES = (0.0, 0.25, 0.5)


@dataclass(frozen=True)
class TableSet:
    """A data set of the paper.

    Attributes
    ----------
    options : options of ``data=benchmark``
    num_clusters : number of classes of the items that are clustered
    standardize : whether all methods standardise the features
    together : whether the test items are clustered together with the training items
    restarts, least_variance : parameters of SLPD
    choose : whether SLPD also runs without a given number of clusters; it takes a minute, so on small data sets only
    """

    options: Mapping[str, Any]
    num_clusters: int
    standardize: bool = True
    together: bool = False
    restarts: int = 10
    least_variance: float = SLPDParameters.least_variance
    choose: bool = False

    @property
    def folds(self) -> int:
        """Number of parts of the items, each of which is the test split once."""
        return int(self.options.get("folds", BenchmarkSettings.folds))

    def model(self, num_clusters: int) -> SLPD:
        """SLPD with the parameters of the tables."""
        return SLPD(
            num_clusters, standardize=self.standardize, n_restarts=self.restarts, least_variance=self.least_variance
        )

    def command(self, method: str, share: float, trials: int) -> str:
        """The command that repeats the runs of one table cell; if ``together``, that of the data set's stage."""
        if self.together:
            return f"python -m semicrowd.pipeline.slpd.tables {self.options['which']}"
        own = {f"data.{name}": value for name, value in self.options.items()}
        own |= {"model": method, "model.K": self.num_clusters}
        of_slpd = {"model.n_restarts": self.restarts, "model.least_variance": self.least_variance}
        own |= {"model.standardize": self.standardize} | (of_slpd if method == "slpd" else {})
        own |= {"annotations": "labels", "annotations.fraction": share} if share else {"annotations": "none"}
        swept = [f"data.fold={','.join(map(str, range(self.folds)))}", "data.data_seed=${seed}"]
        seeds = f"seed={format_ranges(range(trials))}"
        return shlex.join(["python", "src/train.py", "-m", "data=benchmark", *arguments(own), *swept, seeds])


SETS = {
    "letter": TableSet({"which": "letter", "classes": ["I", "J"], "subset": 150}, 2),
    "wine": TableSet({"which": "wine"}, 3, choose=True),
    "iris": TableSet({"which": "iris"}, 3, choose=True),
    "pen": TableSet({"which": "pen", "classes": ["3", "6", "8"], "subset": 174}, 3),
    # Of the six classes, three have known labels and three are the test split; the second fold swaps them.
    "leukaemia": TableSet(
        {"which": "leukaemia", "columns": 500, "item_scale": True, "per_class": 15, "folds": 2, "fold_classes": True},
        6, standardize=False, together=True, restarts=4, least_variance=1.0,
    ),
    "lung": TableSet(
        {"which": "lung", "columns": 500, "item_scale": True}, 5, standardize=False, restarts=4, least_variance=1.0,
    ),
}  # fmt: skip


@dataclass(frozen=True)
class Split:
    """One fold of one trial: the table that is fitted, and the test items with their labels."""

    trial: int
    fold: int
    table: Table
    test: Float[np.ndarray, "N G"]
    test_labels: Int[np.ndarray, "N"]

    def alone(self) -> "Split":
        """The same fold, in which only the test items are fitted."""
        return replace(self, table=Table(self.test, np.arange(len(self.test)), self.table.seed))


def splits(name: str, share: float, trials: range, root: Path = DATA) -> list[Split]:
    """Every fold of some trials, with the data of the run with ``seed`` = ``data.data_seed`` = trial."""
    return [_split(SETS[name], share, trial, fold, root) for trial in trials for fold in range(SETS[name].folds)]


def _split(of: TableSet, share: float, trial: int, fold: int, root: Path) -> Split:
    data = load_dataset("benchmark", root, **of.options, fold=fold, data_seed=trial)
    assert data.test_features is not None
    assert data.test_labels is not None
    blocks = np.arange(data.num_items)
    if share:
        answers = load_annotations("labels", data, trial, root, fraction=share)
        assert answers is not None
        blocks = blocks_of(answers)
    train, test = data.features.astype(np.float64), data.test_features.astype(np.float64)
    if of.together:
        blocks = np.concatenate([blocks, blocks.max() + 1 + np.arange(len(test))])
        train = np.concatenate([train, test])
    return Split(trial, fold, Table(train, blocks, trial), test, data.test_labels)


def size_of(name: str, root: Path = DATA) -> dict[str, int]:
    """How many samples, features and classes a data set has, training and test split together."""
    data = load_dataset("benchmark", root, **SETS[name].options)
    assert data.labels is not None
    return {"samples": data.num_items, "features": data.num_features, "classes": len(np.unique(data.labels))}


def num_trials_of(name: str, params: Path = PARAMS) -> int:
    """Trials of a data set, or of the curve, that the profile asks for."""
    plan = load_plan(params)
    if name not in plan.slpd:
        raise UserError(f"{params}: profile {plan.profile} has no trials of {name}; expected slpd.{name}")
    return int(plan.slpd[name])
