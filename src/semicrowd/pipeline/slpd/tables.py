"""Tables 2 and 3 of the SLPD paper: the balanced Rand index of every method, degree of supervision, trial and fold.

Without a given number of clusters, SLPD has the one with the highest likelihood of held-out items.

Rows are written after every :data:`BATCH` trials, so that they are kept if the stage is stopped.
"""

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import TransformerMixin, clone
from sklearn.cluster import KMeans
from sklearn.preprocessing import FunctionTransformer, MinMaxScaler, StandardScaler

from semicrowd.errors import UserError, without_traceback
from semicrowd.files import write_csv, write_json
from semicrowd.fitting.progress import threads_of_a_fit
from semicrowd.methods.ckm import CKMParameters, block_means
from semicrowd.methods.slpd import SLPD, Table
from semicrowd.metrics.clustering import balanced_rand_index
from semicrowd.pipeline.experiments import DATA
from semicrowd.pipeline.inputs import INPUTS, digest, fingerprints, forget_others
from semicrowd.pipeline.slpd.plan import CODE, FOLDER, SETS, SHARES, Split, TableSet, num_trials_of, size_of, splits
from semicrowd.random import stream, torch_stream

#: Number of trials whose rows are written into one file.
BATCH = 10
SIZE = "size.json"
#: Columns that identify a row; the others are the balanced Rand index and the requested number of clusters.
KEYS = ("method", "share", "trial", "fold")
COLUMNS = (*KEYS, "bri", "clusters")
#: SLPD without a given number of clusters.
CHOSEN = "slpd, K by held-out likelihood"
#: Numbers of clusters to choose from.
CLUSTERS = range(2, 7)
#: Restarts of every fit; fewer than in the tables, since each table is fitted once for each number of clusters.
RESTARTS = 3
#: One in this many training items is held out.
_PARTS = 3
#: Suffix of a method's name in rows in which only the test items were clustered.
ALONE = "tested classes alone"
#: Scalings of the features; the paper does not state which one it uses.
SCALERS: dict[str, type[TransformerMixin]] = {
    "standardised": StandardScaler, "range": MinMaxScaler, "as they are": FunctionTransformer,
}  # fmt: skip


def rows_of(name: str, share: float, trials: range, root: Path = DATA) -> list[list[Any]]:
    """Rows of :data:`COLUMNS` for some trials of a data set; without labels CKM is UKM, and SLPD ULPD."""
    parts, of = splits(name, share, trials, root), SETS[name]
    rows = _rows(parts, of, share, of.num_clusters)
    if of.choose:
        tables = [split.table for split in parts]
        rows += [
            [CHOSEN, share, split.trial, split.fold, _index(split, model.predict(split.test)), model.n_clusters]
            for split, model in zip(parts, fit_chosen(tables, of.model(of.num_clusters)), strict=True)
        ]
    if of.together and not share:  # with labels it would be the same: they are of other classes
        alone = _rows([split.alone() for split in parts], of, share, of.num_clusters // of.folds)
        rows += [[f"{row[0]}, {ALONE}", *row[1:]] for row in alone if row[0] in ("ckm", "slpd")]
    return rows


def _rows(parts: Sequence[Split], of: TableSet, share: float, num_clusters: int) -> list[list[Any]]:
    """Rows of every method that is given the number of clusters."""
    fitted = of.model(num_clusters).fit_each([split.table for split in parts])
    rows: list[list[Any]] = []
    for split, model in zip(parts, fitted, strict=True):
        main = "standardised" if of.standardize else "as they are"
        clusters = dict(_kmeans(split, num_clusters, main))
        clusters["ckm"] = clusters.pop(f"ckm, {main}")
        kinds = {"slpd": range(of.restarts), "slpd, one start": range(1)}
        clusters |= {name: model.chosen_among(some).predict(split.test) for name, some in kinds.items()}
        rows += [
            [method, share, split.trial, split.fold, _index(split, labels), num_clusters]
            for method, labels in clusters.items()
        ]
    return rows


def _index(split: Split, labels: np.ndarray) -> float:
    return balanced_rand_index(split.test_labels, labels)


def _kmeans(split: Split, num_clusters: int, main: str) -> Iterator[tuple[str, Any]]:
    """Clusters of the test items for every scaling, and for a single initialisation instead of several."""
    table = split.table
    for name, starts in [*((name, CKMParameters.n_init) for name in SCALERS), (main, 1)]:
        scaler = SCALERS[name]().fit(table.features)
        means, size = block_means(scaler.transform(table.features), table.blocks)
        model = KMeans(num_clusters, n_init=starts, random_state=table.seed).fit(means, sample_weight=size)
        yield f"ckm, {name}" if starts > 1 else "ckm, one start", model.predict(scaler.transform(split.test))


def choose(tables: Sequence[Table], model: SLPD) -> list[int]:
    """A number of clusters for each table, chosen by its items and blocks alone; ``model`` has SLPD's other settings.

    As in the paper (section 4, Fig. 2), it is the number with the highest mean ln p of held-out items (section 6.2).
    The items on which the clusters are scored later must not be in the tables.
    """
    inner, values = [_held_out(table) for table in tables], []
    for count in CLUSTERS:
        fitted = clone(model).set_params(n_clusters=count, n_restarts=RESTARTS).fit_each([one for one, _ in inner])
        values.append([
            one.log_likelihood(held_out, torch_stream(table.seed, "slpd/choice"))[0].mean()
            for one, (table, held_out) in zip(fitted, inner, strict=True)
        ])  # fmt: skip
    return [CLUSTERS[best] for best in np.argmax(values, axis=0)]


def fit_chosen(tables: Sequence[Table], model: SLPD) -> list[SLPD]:
    """For each table a fit to all its items, with the number of clusters that was chosen for it."""
    counts = choose(tables, model)
    found: dict[int, SLPD] = {}
    for count in set(counts):
        which = [number for number, chosen in enumerate(counts) if chosen == count]
        fitted = clone(model).set_params(n_clusters=count, n_restarts=RESTARTS)
        found |= zip(which, fitted.fit_each([tables[number] for number in which]), strict=True)
    return [found[number] for number in range(len(tables))]


def _held_out(table: Table) -> tuple[Table, np.ndarray]:
    """A table without the held-out items, and the held-out items; blocks keep their other items."""
    order = stream(table.seed, "slpd/choice").permutation(len(table.features))
    number = len(order) // _PARTS
    held_out, train = order[:number], order[number:]
    blocks = np.unique(table.blocks[train], return_inverse=True)[1]
    return Table(table.features[train], blocks, table.seed), table.features[held_out]


def run(name: str, num_trials: int, folder: Path = FOLDER / "tables", root: Path = DATA) -> None:
    """Write the rows that this code has not written yet, or a note on how to get the data if they are missing."""
    place = folder / name
    forget_others(place, place / INPUTS, digest(fingerprints(CODE)))
    (place / "unavailable.json").unlink(missing_ok=True)
    try:
        write_json(place / SIZE, size_of(name, root))
        for low in range(0, num_trials, BATCH):
            for share in SHARES:
                path = place / f"{share:g}-{low}-{min(low + BATCH, num_trials) - 1}.csv"
                if not path.is_file():
                    rows = rows_of(name, share, range(low, min(low + BATCH, num_trials)), root)
                    write_csv(path, COLUMNS, rows)
                    print(f"{path}: {len(rows)} rows", flush=True)
    except UserError as error:
        write_json(place / "unavailable.json", {"message": str(error)})
        print(f"{name} is not available here: {error}")


def read_rows(name: str, folder: Path = FOLDER / "tables") -> pd.DataFrame:
    """The rows of a data set that have been written."""
    tables = [pd.read_csv(path) for path in sorted((folder / name).glob("*.csv"))]
    rows = pd.concat(tables) if tables else pd.DataFrame(columns=COLUMNS)
    return rows.drop_duplicates(list(KEYS))


@without_traceback
def main(arguments: list[str] | None = None) -> int:
    """``python -m semicrowd.pipeline.slpd.tables <data>``."""
    parser = argparse.ArgumentParser(description="Tables 2 and 3 of the SLPD paper: all trials of a data set")
    parser.add_argument("data", choices=SETS)
    options = parser.parse_args(arguments)
    with threads_of_a_fit():
        run(options.data, num_trials_of(options.data))
    return 0


if __name__ == "__main__":
    sys.exit(main())
