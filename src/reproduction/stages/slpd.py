"""Stage ``slpd``: Tables 1 to 3 and Fig. 2 of the SLPD paper.

Writes ``sizes.csv``; for each data set ``<name>.csv``, the balanced Rand index of every method, degree of supervision,
trial and fold; and ``curve.csv``, the likelihood of held-out wines by number of clusters.
"""

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Int
from joblib import Parallel, delayed
from sklearn.base import TransformerMixin, clone
from sklearn.cluster import KMeans
from sklearn.preprocessing import FunctionTransformer, MinMaxScaler, StandardScaler

from reproduction.commandline import without_traceback
from semicrowd.crowd.links import blocks_of
from semicrowd.data import answers
from semicrowd.data.benchmark import load_benchmark
from semicrowd.errors import UserError
from semicrowd.files import write_csv
from semicrowd.methods.ckm import CKM, block_means
from semicrowd.methods.slpd.estimator import SLPD
from semicrowd.metrics.clustering import balanced_rand_index
from semicrowd.random import stream, torch_stream

#: Columns of a data set's file; the last is the requested number of clusters.
COLUMNS = ("method", "share", "trial", "fold", "bri", "clusters")
#: Columns of ``sizes.csv`` and of ``curve.csv``.
SIZES = ("data", "samples", "features", "classes")
CURVE = ("labels", "clusters", "run", "log_likelihood", "error")
#: Shares of the training labels that are known: the degrees of supervision.
SHARES = (0.0, 0.25, 0.5)
#: Number of trials of one process.
BATCH = 10
#: SLPD without a given number of clusters.
CHOSEN = "slpd, K by held-out likelihood"
#: Numbers of clusters to choose from, and the restarts of these fits, of which there are many.
CLUSTERS, RESTARTS = range(2, 7), 3
#: One in this many training items is held out for the choice.
_PARTS = 3
#: Suffix of a method's name in rows in which only the test items were clustered.
ALONE = "tested classes alone"
#: Scalings of the features; the paper does not state which one it uses.
SCALERS: dict[str, type[TransformerMixin]] = {
    "standardised": StandardScaler, "range": MinMaxScaler, "as they are": FunctionTransformer,
}  # fmt: skip
#: Of the curve: numbers of clusters; degree of supervision → classes whose training items are labelled; held-out items.
CURVE_CLUSTERS = range(2, 9)
LABELLED: dict[str, tuple[int, ...]] = {"none": (), "one class": (0,), "all": (0, 1, 2)}
_HELD_OUT = 28


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
    folds : number of parts of the items, each of which is the test split once
    """

    options: Mapping[str, Any]
    num_clusters: int
    standardize: bool = True
    together: bool = False
    restarts: int = 10
    least_variance: float = 0.03
    choose: bool = False
    folds: int = 3

    def model(self, num_clusters: int) -> SLPD:
        """SLPD with the parameters of the tables."""
        return SLPD(
            num_clusters, standardize=self.standardize, n_restarts=self.restarts, least_variance=self.least_variance
        )


#: The longest first.
SETS = {
    "lung": TableSet(
        {"which": "lung", "columns": 500, "item_scale": True}, 5, standardize=False, restarts=4, least_variance=1.0,
    ),
    # Of the six classes, three have known labels and three are the test split; the second fold swaps them.
    "leukaemia": TableSet(
        {"which": "leukaemia", "columns": 500, "item_scale": True, "per_class": 15, "fold_classes": True},
        6, standardize=False, together=True, restarts=4, least_variance=1.0, folds=2,
    ),
    "iris": TableSet({"which": "iris"}, 3, choose=True),
    "wine": TableSet({"which": "wine"}, 3, choose=True),
    "pen": TableSet({"which": "pen", "classes": ["3", "6", "8"], "subset": 174}, 3),
    "letter": TableSet({"which": "letter", "classes": ["I", "J"], "subset": 150}, 2),
}  # fmt: skip


@dataclass(frozen=True)
class Table:
    """The items that are fitted, NaN where missing; their blocks; the seed of the fit."""

    features: Float[np.ndarray, "D G"]
    blocks: Int[np.ndarray, "D"]
    seed: int

    def fitted(self, model: SLPD, **parameters: int) -> SLPD:
        """A fit with the settings of ``model``, but for these."""
        return clone(model).set_params(random_state=self.seed, **parameters).fit_blocks(self.features, self.blocks)


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

    def index(self, labels: np.ndarray) -> float:
        """The balanced Rand index of the test items' clusters."""
        return balanced_rand_index(self.test_labels, labels)


def splits(name: str, share: float, trials: range) -> list[Split]:
    """Every fold of some trials, with the data of the run with ``seed`` = ``data.data_seed`` = trial."""
    of, found = SETS[name], []
    for trial in trials:
        for fold in range(of.folds):
            data = load_benchmark(**of.options, folds=of.folds, fold=fold, data_seed=trial)
            assert data.test_features is not None
            assert data.test_labels is not None
            blocks = np.arange(data.num_items)
            if share:
                blocks = blocks_of(answers.labels(data, fraction=share, seed=trial))
            train, test = data.features.astype(np.float64), data.test_features.astype(np.float64)
            if of.together:
                blocks = np.concatenate([blocks, blocks.max() + 1 + np.arange(len(test))])
                train = np.concatenate([train, test])
            found.append(Split(trial, fold, Table(train, blocks, trial), test, data.test_labels))
    return found


def rows_of(name: str, share: float, trials: range) -> list[list[Any]]:
    """Rows of :data:`COLUMNS` for some trials of a data set; without labels CKM is UKM, and SLPD ULPD."""
    torch.set_num_threads(1)
    parts, of = splits(name, share, trials), SETS[name]
    rows = _rows(parts, of, share, of.num_clusters)
    if of.choose:
        for split in parts:
            count = choose(split.table, of.model(of.num_clusters))
            model = split.table.fitted(of.model(count), n_restarts=RESTARTS)
            rows.append([CHOSEN, share, split.trial, split.fold, split.index(model.predict(split.test)), count])
    if of.together and not share:  # with labels it would be the same: they are of other classes
        alone = _rows([split.alone() for split in parts], of, share, of.num_clusters // of.folds)
        rows += [[f"{row[0]}, {ALONE}", *row[1:]] for row in alone if row[0] in ("ckm", "slpd")]
    return rows


def _rows(parts: Sequence[Split], of: TableSet, share: float, num_clusters: int) -> list[list[Any]]:
    """Rows of every method that is given the number of clusters."""
    rows: list[list[Any]] = []
    for split in parts:
        main = "standardised" if of.standardize else "as they are"
        clusters = dict(_kmeans(split, num_clusters, main))
        clusters["ckm"] = clusters.pop(f"ckm, {main}")
        for method, restarts in (("slpd", of.restarts), ("slpd, one start", 1)):
            clusters[method] = split.table.fitted(of.model(num_clusters), n_restarts=restarts).predict(split.test)
        rows += [
            [method, share, split.trial, split.fold, split.index(labels), num_clusters]
            for method, labels in clusters.items()
        ]
    return rows


def _kmeans(split: Split, num_clusters: int, main: str) -> Iterator[tuple[str, Any]]:
    """Clusters of the test items for every scaling, and for a single initialisation instead of several."""
    table = split.table
    for name, starts in [*((name, CKM().n_init) for name in SCALERS), (main, 1)]:
        scaler = SCALERS[name]().fit(table.features)
        means, size = block_means(scaler.transform(table.features), table.blocks)
        model = KMeans(num_clusters, n_init=starts, random_state=table.seed).fit(means, sample_weight=size)
        yield f"ckm, {name}" if starts > 1 else "ckm, one start", model.predict(scaler.transform(split.test))


def choose(table: Table, model: SLPD) -> int:
    """A number of clusters, chosen by a table's items and blocks alone; ``model`` has SLPD's other settings.

    As in the paper (section 4, Fig. 2), it is the number with the highest mean ln p of held-out items (section 6.2).
    The items on which the clusters are scored later must not be in the table.
    """
    inner, held_out = _held_out(table)
    fits = [inner.fitted(model, n_clusters=count, n_restarts=RESTARTS) for count in CLUSTERS]
    values = [fit.log_likelihood(held_out, torch_stream(table.seed, "slpd/choice"))[0].mean() for fit in fits]
    return CLUSTERS[int(np.argmax(values))]


def _held_out(table: Table) -> tuple[Table, np.ndarray]:
    """A table without the held-out items, and the held-out items; blocks keep their other items."""
    order = stream(table.seed, "slpd/choice").permutation(len(table.features))
    number = len(order) // _PARTS
    held_out, train = order[:number], order[number:]
    blocks = np.unique(table.blocks[train], return_inverse=True)[1]
    return Table(table.features[train], blocks, table.seed), table.features[held_out]


def curve_rows(labelled: str, num_clusters: int, runs: range) -> list[list[Any]]:
    """Rows of :data:`CURVE`: mean ln p of the held-out items in nats (features in published units), and its error."""
    torch.set_num_threads(1)
    data = load_benchmark(which="wine")
    assert data.labels is not None
    features, rows = data.features.astype(np.float64), list[list[Any]]()
    for run in runs:
        order = stream(run, "slpd/curve").permutation(data.num_items)
        held_out, train = order[:_HELD_OUT], order[_HELD_OUT:]
        blocks = np.arange(len(train))
        for label in LABELLED[labelled]:
            members = np.flatnonzero(data.labels[train] == label)
            blocks[members] = members[0]
        numbers = np.unique(blocks, return_inverse=True)[1]
        model = Table(features[train], numbers, run).fitted(SLPD(num_clusters, n_restarts=RESTARTS))
        value, error = model.log_likelihood(features[held_out])
        # All items share the same random draws, so their errors may be equal: the mean error is an upper bound.
        rows.append([labelled, num_clusters, run, float(value.mean()), float(error.mean())])
    return rows


def write(trials: Mapping[str, int], curve: int, folder: Path, jobs: int) -> list[str]:
    """Write the files of the stage; returns a message for each data set that is not available.

    Parameters
    ----------
    trials : data set → number of trials; curve : number of runs of the curve, 0 for none
    jobs : number of processes
    """
    missing, sizes = list[str](), []
    for name in trials:
        try:
            data = load_benchmark(**SETS[name].options)
            sizes.append([name, data.num_items, data.num_features, len(np.unique(data.labels))])
        except UserError as error:
            missing.append(f"{name}: {error}")
    there = [row[0] for row in sizes]
    tasks = [
        (name, share, range(low, min(low + BATCH, trials[name])))
        for name in SETS if name in there for low in range(0, trials[name], BATCH) for share in SHARES
    ]  # fmt: skip
    points = [(labelled, count, range(curve)) for labelled in LABELLED for count in CURVE_CLUSTERS if curve]
    found = Parallel(jobs)([*(delayed(rows_of)(*one) for one in tasks), *(delayed(curve_rows)(*one) for one in points)])
    write_csv(folder / "sizes.csv", SIZES, sizes)
    for name in there:
        own = [rows for (of, *_), rows in zip(tasks, found, strict=False) if of == name]
        write_csv(folder / f"{name}.csv", COLUMNS, [row for rows in own for row in rows])
    if curve:
        write_csv(folder / "curve.csv", CURVE, [row for rows in found[len(tasks) :] for row in rows])
    return missing


@without_traceback
def main(arguments: list[str] | None = None) -> int:
    """``python -m reproduction.stages.slpd results/slpd --iris 5 --curve 5``; exit code 1 where data are missing."""
    parser = argparse.ArgumentParser(description="tables and Fig. 2 of the SLPD paper")
    parser.add_argument("folder", type=Path)
    for name in SETS:
        parser.add_argument(f"--{name}", type=int, default=0, metavar="TRIALS")
    parser.add_argument("--curve", type=int, default=0, metavar="RUNS")
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args(arguments)
    trials = {name: count for name in SETS if (count := getattr(options, name))}
    missing = write(trials, options.curve, options.folder, options.jobs)
    for message in missing:
        print(f"error: {message}", file=sys.stderr)
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
