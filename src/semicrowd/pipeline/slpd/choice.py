"""How many clusters SLPD takes where nobody tells it: as many as predict items best that it was not fitted to."""

from collections.abc import Sequence

import numpy as np

from semicrowd.inference.held_out import log_likelihood
from semicrowd.inference.slpd import Prior
from semicrowd.methods.slpd import SLPDParameters
from semicrowd.pipeline.slpd.fits import Table, decompose
from semicrowd.random import stream, torch_stream

#: Numbers of clusters to choose from.
CLUSTERS = range(2, 7)
#: Starts of every fit; fewer than the tables have, since there are five fits for one.
RESTARTS = 3
#: The training items held out are one in so many.
_PARTS = 3


def choose(tables: Sequence[Table], prior: Prior, *, standardize: bool = True) -> list[int]:
    """A number of clusters for each table, of its training items and their blocks alone.

    The paper's device (section 4, Fig. 2): the mean ln p of held-out items (section 6.2) is highest. The items of
    ``test`` must not be the ones held out, because the clusters are scored on them.
    """
    inner = [_held_out(table) for table in tables]
    values = [
        [
            float(log_likelihood(fits.test, fits.chosen(fits.best(range(RESTARTS))), SLPDParameters.n_draws,
                                 torch_stream(table.seed, "slpd/choice"))[0].mean())
            for table, fits in zip(
                inner, decompose(inner, count, RESTARTS, prior, standardize=standardize), strict=True
            )
        ]
        for count in CLUSTERS
    ]  # fmt: skip
    return [CLUSTERS[best] for best in np.argmax(values, axis=0)]


def fit_chosen(tables: Sequence[Table], prior: Prior, *, standardize: bool = True) -> list[tuple[int, np.ndarray]]:
    """For each table the number that was chosen, and clusters of its ``test`` by a fit to all its training items."""
    counts = choose(tables, prior, standardize=standardize)
    found: dict[int, tuple[int, np.ndarray]] = {}
    for count in set(counts):
        which = [number for number, chosen in enumerate(counts) if chosen == count]
        fitted = decompose([tables[number] for number in which], count, RESTARTS, prior, standardize=standardize)
        for number, fits in zip(which, fitted, strict=True):
            found[number] = count, fits.predict(fits.best(range(RESTARTS)))
    return [found[number] for number in range(len(tables))]


def _held_out(table: Table) -> Table:
    """A table within the training items; a block keeps those of its items that remain."""
    order = stream(table.seed, "slpd/choice").permutation(len(table.train))
    number = len(order) // _PARTS
    held_out, train = order[:number], order[number:]
    blocks = np.unique(table.blocks[train], return_inverse=True)[1]
    return Table(table.train[train], table.train[held_out], blocks, table.seed)
