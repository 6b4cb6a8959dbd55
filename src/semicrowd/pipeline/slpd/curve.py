"""Held-out log-likelihood of wine by number of clusters: without labels, with those of one class, and with all."""

import argparse
import sys

import numpy as np

from semicrowd.data import load_dataset
from semicrowd.errors import without_traceback
from semicrowd.files import write_csv
from semicrowd.fitting.progress import threads_of_a_fit
from semicrowd.methods.slpd import SLPD, Table
from semicrowd.pipeline.experiments import DATA
from semicrowd.pipeline.inputs import digest, fingerprints, is_current
from semicrowd.pipeline.slpd.plan import CODE, FOLDER, num_trials_of
from semicrowd.random import stream

PATH = FOLDER / "curve" / "wine.csv"
COLUMNS = ("labels", "clusters", "run", "log_likelihood", "error")
CLUSTERS = range(2, 9)
#: Degree of supervision → classes whose training items are labelled.
LABELLED: dict[str, tuple[int, ...]] = {"none": (), "one class": (0,), "all": (0, 1, 2)}
#: Held-out items.
_HELD_OUT = 28
#: Restarts of each fit.
_RESTARTS = 3


def rows_of(labelled: str, num_clusters: int, runs: range) -> list[list[str | float]]:
    """Rows of :data:`COLUMNS`: mean ln p of the held-out items in nats (features in published units), and its error."""
    data = load_dataset("benchmark", DATA, which="wine")
    assert data.labels is not None
    features, tables, asked = data.features.astype(np.float64), [], []
    for run in runs:
        order = stream(run, "slpd/curve").permutation(data.num_items)
        held_out, train = order[:_HELD_OUT], order[_HELD_OUT:]
        blocks = np.arange(len(train))
        for label in LABELLED[labelled]:
            members = np.flatnonzero(data.labels[train] == label)
            blocks[members] = members[0]
        numbers = np.unique(blocks, return_inverse=True)[1]
        tables.append(Table(features[train], numbers, run))
        asked.append(features[held_out])
    rows: list[list[str | float]] = []
    fitted = SLPD(num_clusters, n_restarts=_RESTARTS).fit_each(tables)
    for run, model, items in zip(runs, fitted, asked, strict=True):
        value, error = model.log_likelihood(items)
        # All items share the same random draws, so their errors may be equal: the mean error is an upper bound.
        rows.append([labelled, num_clusters, run, float(value.mean()), float(error.mean())])
    return rows


@without_traceback
def main(arguments: list[str] | None = None) -> int:
    """``python -m semicrowd.pipeline.slpd.curve``."""
    argparse.ArgumentParser(description="Fig. 2 of the SLPD paper").parse_args(arguments)
    runs, path = range(num_trials_of("curve")), PATH
    made_of = digest(fingerprints(CODE), len(runs))
    if is_current(path, made_of):
        print("slpd.curve: nothing has changed")
        return 0
    with threads_of_a_fit():
        rows = [row for labelled in LABELLED for k in CLUSTERS for row in rows_of(labelled, k, runs)]
    write_csv(path, COLUMNS, rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
