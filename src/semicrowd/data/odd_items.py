"""Checks of the items before a fit: each problem is one line with advice."""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from semicrowd.data.columns import as_list, quoted
from semicrowd.data.dataset import Dataset
from semicrowd.errors import listed, spelled_alike

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
    return [*_few(data), *_columns(data), *_copies(data), *_weights(data)]


def _few(data: Dataset) -> Iterator[str]:
    if data.num_items < _FEWEST:
        yield f"{data.num_items} items: too few to find kinds in; expected {_FEWEST} at least"


def _columns(data: Dataset) -> Iterator[str]:
    if data.image_shape is not None or data.columns is None or not data.columns.named:
        return
    parts = data.columns.parts
    known = data.features[~np.isnan(data.features).any(axis=1)] if data.missing else data.features
    if len(known) and len(parts) == known.shape[1]:
        same = (known == known[0]).all(axis=0)
        varying = {name for (name, *_), constant in zip(parts, same, strict=True) if not constant}
        constant = list(dict.fromkeys(name for name, *_ in parts if name not in varying))
        if constant:
            yield f"{_listed(constant)}: the same in every row, says nothing; nothing to do, or {_ignore(constant)}"
    for one in data.columns.columns:
        if one.name.lower() in CLASS_NAMES:
            yield (f"column {one.name} is a feature: if it is the class of an item, it gives away what is to be found: "
                   f"data.label={one.name} keeps it for the scores alone")
    for one in data.columns.columns:
        for alike in spelled_alike(one.values):
            yield (f"column {one.name}: {' and '.join(alike)} are {len(alike)} categories, since they are written "
                   "differently; if they mean the same, write one word in the table")
    counted = set[str]()
    for name, column in zip(data.columns.names, data.features.T, strict=False):
        if len(column) > _FEWEST and np.array_equal(column, np.arange(len(column)) + column[0]):
            yield f"column {name} counts the rows: an id is data.id={name}; one that says nothing {_ignore([name])}"
            counted.add(name)
    if like_ids := [name for name in data.columns.like_ids if name not in counted]:
        names = f"data.id={quoted(like_ids[0])} names the items by them, " if data.ids is None else ""
        yield (f"{_listed(like_ids)}: a different whole number in every row, and a feature; if these are ids, not "
               f"amounts, {names}{_ignore(like_ids)} leaves them out")


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
