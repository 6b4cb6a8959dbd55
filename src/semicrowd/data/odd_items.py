"""Checks of the items before a fit: each problem is one line with advice."""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from semicrowd.data.columns import as_list
from semicrowd.data.dataset import Dataset
from semicrowd.errors import listed

#: Duplicate rows are not searched in tables with more cells, because it would take more than some seconds.
_MOST_CELLS = 100_000_000
#: Maximal number of names in a line.
_NAMED = 5
#: Weights are unusual if the effective number of items is a smaller share of their number.
_FEW_EFFECTIVE = 0.2
#: Fewer items are too few for clustering.
_FEWEST = 10
#: Names of columns that may contain the true class.
CLASS_NAMES = frozenset({
    "label", "labels", "class", "classes", "target", "category", "kind", "species", "cluster", "group", "truth",
    "ground_truth", "diagnosis",
})  # fmt: skip


def odd_items(data: Dataset) -> list[str]:
    """Lines about duplicate items, constant columns, columns that may contain the class, and unequal weights."""
    return [*_few(data), *_copies(data), *_weights(data)]


def _few(data: Dataset) -> Iterator[str]:
    if data.num_items < _FEWEST:
        yield f"{data.num_items} items: too few to find kinds in; expected {_FEWEST} at least"


def _copies(data: Dataset) -> Iterator[str]:
    if data.features.size > _MOST_CELLS:
        return
    copies = pd.DataFrame(data.features).duplicated().to_numpy()
    if copies.any():
        first = [f"row {row}" if data.names is None else data.names[row] for row in np.flatnonzero(copies)]
        yield (f"{copies.sum()} of {data.num_items} items are copies of an earlier one ({listed(first)}): "
               "they count several times; leave them out unless they are items of their own")


def _weights(data: Dataset) -> Iterator[str]:
    if data.weights is None:
        return
    shares = data.weights / data.weights.sum()
    effective = 1 / np.square(shares).sum()  # Kish 1965
    if effective < _FEW_EFFECTIVE * data.num_items:
        yield (f"the weights are so unequal that {data.num_items:,} items say as much as {effective:,.0f} of equal "
               f"weight; the largest is {shares.max():.0%} of the sum: is it a weight?")
    if nothing := int((data.weights == 0).sum()):
        yield f"{nothing:,} items have weight 0: they get a cluster, and have no influence on the clusters"


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return f"column{'s' * (len(names) > 1)} {', '.join(names[:_NAMED])}{more}"


def _ignore(names: list[str]) -> str:
    return f"'data.ignore={as_list(names)}'" if len(names) <= _NAMED else "data.ignore with their names"
