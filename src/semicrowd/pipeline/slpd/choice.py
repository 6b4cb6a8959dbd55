"""Number of clusters for SLPD if none is given: the one with the highest likelihood of held-out items."""

from collections.abc import Sequence

import numpy as np
from sklearn.base import clone

from semicrowd.methods.slpd import SLPD, Table
from semicrowd.random import stream, torch_stream

#: Numbers of clusters to choose from.
CLUSTERS = range(2, 7)
#: Restarts of every fit; fewer than in the tables, since each table is fitted once for each number of clusters.
RESTARTS = 3
#: One in this many training items is held out.
_PARTS = 3


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
