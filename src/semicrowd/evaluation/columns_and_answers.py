"""Columns of a table and answers: columns that predict answers, determine the clusters, or give the class away."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pandas as pd
from jaxtyping import Float, Int
from scipy.stats import mannwhitneyu
from sklearn.metrics import adjusted_mutual_info_score, balanced_accuracy_score

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.data.columns import quoted
from semicrowd.data.dataset import Dataset
from semicrowd.data.odd_items import CLASS_NAMES
from semicrowd.data.preparation import ColumnScaler, first_columns
from semicrowd.errors import listed
from semicrowd.starts.weighting import column_weights

#: Adjusted mutual information (share of the smaller entropy) from which on a column determines the clusters.
_DETERMINES = 0.5
#: Quantiles into which numbers are divided.
_QUANTILES = 20
#: Level of significance from which on the answers depend on a column.
_LEVEL = 0.05
#: Balanced accuracy from which on "they have the same value" answers the question as people do.
_GIVES_AWAY = 0.85
#: Numbers with more different values are measurements.
_MOST_VALUES = 50
#: Answers of each kind below which this is chance.
_LEAST_ANSWERS = 10
#: Weights from which on, and up to which, a column is named; it is 1 if the answers say nothing about it.
_MUCH, _LITTLE = 1.5, 0.5


class _Values(NamedTuple):
    """A column: its name, and the number of the category of each item, or its rank from 0 to 1; NaN in gaps."""

    name: str
    values: Float[np.ndarray, "N"]
    category: bool


def _columns(data: Dataset) -> Iterator[_Values]:
    """The columns of a table; none of data without named columns."""
    if data.columns is None or not data.columns.named:
        return
    parts = pd.Series([None if gap else name for name, _, gap in data.columns.parts])
    for name, features in parts.groupby(parts, sort=False):
        values = data.features[:, features.index]
        category = values.shape[1] > 1
        numbers = values.argmax(1).astype(float) if category else pd.Series(values[:, 0]).rank(pct=True).to_numpy()
        yield _Values(str(name), numbers, category)


def telling_columns(data: Dataset, answers: PairAnnotations) -> Iterator[str]:
    """Lines that name the columns by which the answers are predicted, and those that hardly matter for them.

    Weights of columns are those of :func:`semicrowd.starts.weighting.column_weights`. Of columns that say the same, one
    may have the weight of all.
    """
    same = answers.label == 1
    if data.columns is None or not data.columns.named or min(same.sum(), (~same).sum()) < _LEAST_ANSWERS:
        return
    features = data.features.astype(np.float64)
    x = np.nan_to_num(ColumnScaler().fit_transform(features))[answers.annotated]
    of = [None if gap else name for name, _, gap in data.columns.parts]
    weights = pd.Series(column_weights(x, answers, first_columns(features))).groupby(of, sort=False).mean()
    much, little = weights[weights >= _MUCH].sort_values(ascending=False), weights[weights <= _LITTLE].sort_values()
    for which, said in (much, "predict the answers best"), (little, "hardly matter for the answers, given the others"):
        if len(which):
            names = listed([f"{name} ({weight:.1f})" for name, weight in which.items()])
            yield f"columns that {said}: {names}; in brackets how much a column counts, 1 is usual"


def dominant_columns(data: Dataset, clusters: Int[np.ndarray, "N"], answers: PairAnnotations) -> list[str]:
    """Names of the columns that determine the clusters, but not the answers; empty for data without named columns.

    The answers depend on a column if items that were called the same are more alike in it than others: in a category
    if they have the same value more often, in numbers if their ranks are closer (one-sided Mann–Whitney test).
    """
    same, named = answers.label == 1, list[str]()
    if len(np.unique(clusters)) == 1 or same.all() or not same.any():
        return []
    for name, values, category in _columns(data):
        known = np.nan_to_num(values)
        bins = known if category else np.ceil(_QUANTILES * known)
        if adjusted_mutual_info_score(bins, clusters, average_method="min") < _DETERMINES:
            continue
        apart = np.abs(known[answers.i] - known[answers.j])
        apart = apart > 0 if category else apart
        if mannwhitneyu(apart[same], apart[~same], alternative="less").pvalue > _LEVEL:
            named.append(name)
    return named


def revealing_columns(data: Dataset, answers: PairAnnotations) -> Iterator[str]:
    """A line for each column in which items have the same value where people answer "same", and else not.

    Columns with the name of a class are left out: :func:`semicrowd.data.odd_items.odd_items` names them.
    """
    same = answers.label == 1
    if min(same.sum(), (~same).sum()) < _LEAST_ANSWERS:
        return
    for name, values, category in _columns(data):
        if name.lower() in CLASS_NAMES or not (category or 2 < len(np.unique(values)) <= _MOST_VALUES):
            continue
        alike = values[answers.i] == values[answers.j]
        if balanced_accuracy_score(same, alike) >= _GIVES_AWAY:
            yield (f"column {name}: items have the same value in {alike[same].mean():.0%} of the answers 'same' and in "
                   f"{alike[~same].mean():.0%} of the answers 'different'; if it is the true class, it is no feature: "
                   f"'data.label={quoted(name)}' uses it for the scores alone")
