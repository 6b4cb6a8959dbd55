"""Columns of a table that alone determine the clusters, although the answers do not depend on them."""

import numpy as np
import pandas as pd
from jaxtyping import Int
from scipy.stats import mannwhitneyu
from sklearn.metrics import adjusted_mutual_info_score

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.data.dataset import Dataset

#: Adjusted mutual information (share of the smaller entropy) from which on a column determines the clusters.
_DETERMINES = 0.5
#: Quantiles into which numbers are divided.
_QUANTILES = 20
#: Level of significance from which on the answers depend on a column.
_LEVEL = 0.05


def dominant_columns(data: Dataset, clusters: Int[np.ndarray, "N"], answers: PairAnnotations) -> list[str]:
    """Names of the columns that determine the clusters, but not the answers; empty for data without named columns.

    The answers depend on a column if items that were called the same are more alike in it than others: in a category
    if they have the same value more often, in numbers if their ranks are closer (one-sided Mann–Whitney test).
    """
    if data.columns is None or not data.columns.named or len(np.unique(answers.label)) < 2:
        return []
    parts = pd.Series([None if gap else name for name, _, gap in data.columns.parts])
    named = []
    for name, features in parts.groupby(parts, sort=False):
        values = data.features[:, features.index]
        category = values.shape[1] > 1
        numbers = values.argmax(1) if category else pd.Series(values[:, 0]).rank(pct=True).to_numpy()
        bins = numbers if category else np.ceil(_QUANTILES * np.nan_to_num(numbers))
        if adjusted_mutual_info_score(bins, clusters, average_method="min") < _DETERMINES:
            continue
        apart = np.abs(numbers[answers.i] - numbers[answers.j])
        apart = apart > 0 if category else np.nan_to_num(apart)
        same = answers.label == 1
        if mannwhitneyu(apart[same], apart[~same], alternative="less").pvalue > _LEVEL:
            named.append(str(name))
    return named
