"""Scores against brute force over matchings, against their definitions and against torchmetrics."""

import math
from collections import Counter
from itertools import permutations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from sklearn.metrics import balanced_accuracy_score, f1_score
from torchmetrics.functional.classification import binary_calibration_error
from torchmetrics.functional.clustering import (
    adjusted_mutual_info_score,
    adjusted_rand_score,
    completeness_score,
    homogeneity_score,
    normalized_mutual_info_score,
)

from semicrowd.errors import UserError
from semicrowd.metrics import (
    accuracy,
    calibration_error,
    cluster_counts,
    clustering_scores,
    interval_coverage,
    worker_rank,
    worker_recovery,
)
from semicrowd.metrics.clustering import balanced_rand_index, match_labels, right_items

#: Classes and clusters of some items.
CLUSTERINGS = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=2, max_size=60).map(
    lambda rows: tuple(np.array(rows).T)
)


def _best_match(labels: np.ndarray, clusters: np.ndarray) -> float:
    """Accuracy by trying every one-to-one match of cluster names and class names."""
    names = range(1 + max(labels.max(), clusters.max()))
    return max(float(np.mean(np.array(match)[clusters] == labels)) for match in permutations(names))


@pytest.mark.parametrize(("num_classes", "num_clusters"), [(4, 4), (3, 6), (6, 3), (1, 4), (4, 1)])
def test_accuracy_is_the_best_of_all_matchings(num_classes: int, num_clusters: int) -> None:
    rng = np.random.default_rng(num_classes)
    for _ in range(5):
        labels, clusters = rng.integers(num_classes, size=40), rng.integers(num_clusters, size=40)
        assert accuracy(labels, clusters) == pytest.approx(_best_match(labels, clusters), abs=1e-12)


@given(CLUSTERINGS)
def test_no_name_and_no_order_of_items_matters(pair: tuple[np.ndarray, np.ndarray]) -> None:
    labels, clusters = pair
    rng = np.random.default_rng(0)
    order = rng.permutation(len(labels))
    renamed = rng.permutation(20)[clusters]
    scores = clustering_scores(labels, clusters)
    assert clustering_scores(labels[order], renamed[order]) == pytest.approx(scores, abs=1e-9)
    assert clustering_scores(clusters, labels)["acc"] == scores["acc"]
    largest = np.bincount(np.unique(labels, return_inverse=True)[1]).max()
    assert scores["acc"] >= largest / len(labels) / len(np.unique(clusters))


@pytest.mark.filterwarnings("ignore:Sparse invariant checks")
@given(CLUSTERINGS)
def test_scores_are_those_of_torchmetrics(pair: tuple[np.ndarray, np.ndarray]) -> None:
    # Twelve more items: of one cluster, or of as many as items, scikit-learn and torchmetrics hold different views.
    labels, clusters = np.r_[[0, 1] * 6, pair[0]], np.r_[[0, 0, 1, 1] * 3, pair[1]]
    scores, both = clustering_scores(labels, clusters), (torch.from_numpy(clusters), torch.from_numpy(labels))
    expected = {
        "nmi": normalized_mutual_info_score(*both, "arithmetic"),
        "ami": adjusted_mutual_info_score(*both, "arithmetic"),
        "ami_max": adjusted_mutual_info_score(*both, "max"),
        "ari": adjusted_rand_score(*both),
        "homogeneity": homogeneity_score(*both),
        "completeness": completeness_score(*both),
    }
    for name, value in expected.items():
        assert scores[name] == pytest.approx(float(value), abs=1e-4), name


@given(CLUSTERINGS)
def test_purity_is_the_accuracy_of_naming_each_cluster_by_its_most_frequent_class(
    pair: tuple[np.ndarray, np.ndarray],
) -> None:
    labels, clusters = pair
    named = [Counter(labels[clusters == cluster]).most_common(1)[0][0] for cluster in clusters]
    assert clustering_scores(labels, clusters)["purity"] == pytest.approx(np.mean(labels == named))


@given(CLUSTERINGS)
def test_the_f_measure_and_the_balanced_rand_index_count_pairs(pair: tuple[np.ndarray, np.ndarray]) -> None:
    upper = np.triu_indices(len(pair[0]), k=1)
    same_class, same_cluster = ((one[:, None] == one)[upper] for one in pair)
    f1 = f1_score(same_class, same_cluster, zero_division=0)
    assert clustering_scores(*pair)["f1"] == pytest.approx(f1, abs=1e-12)
    expected = balanced_accuracy_score(same_class, same_cluster) if len(np.unique(same_class)) == 2 else (
        np.mean(same_class == same_cluster))  # fmt: skip
    assert balanced_rand_index(*pair) == pytest.approx(expected, abs=1e-12)


def test_cluster_counts() -> None:
    # 1000 items: exactly 0.5 % is in use, one item less is not.
    clusters = np.repeat([0, 1, 2, 3], [991 - 5, 5, 4, 5])
    counts = cluster_counts(clusters, num_clusters=50)
    assert counts["used"] == 3
    assert cluster_counts(np.repeat(np.arange(8), 10), 50)["effective"] == pytest.approx(8)
    assert counts["occupied"] == 4
    assert cluster_counts(np.zeros(10, int), 50) == {"occupied": 1, "used": 1, "effective": 1.0}
    # An empty cluster is not in use, however few the items.
    assert cluster_counts(np.array([0, 1]), 3)["used"] == 2


@pytest.mark.parametrize("seed", range(8))
def test_matched_labels_share_as_many_items_as_any_numbering(seed: int) -> None:
    """Against every one-to-one match, by enumeration."""
    rng = np.random.default_rng(seed)
    now, before = rng.integers(4, size=30), rng.integers(-1, rng.integers(1, 5), size=30)
    found = match_labels(now, before)
    best = max((np.array(names)[now] == before).sum() for names in permutations(range(5), 4))
    assert (found == before).sum() == best
    assert len(np.unique(found)) == len(np.unique(now)) == len(set(zip(now.tolist(), found.tolist(), strict=True)))


def test_clusters_without_a_match_come_after_all_earlier_ones() -> None:
    before = np.array([0, 0, 1, 1, 2, 2, -1, -1, -1])
    found = match_labels(np.array([1, 1, 0, 0, 0, 0, 2, 2, 2]), before)
    assert found[:2].tolist() == [0, 0]
    assert len(set(found[2:6].tolist())) == 1
    assert found[6:].tolist() == [3, 3, 3]
    assert match_labels(np.array([0, 1, 1]), np.full(3, -1)).tolist() == [1, 0, 0], "by size"
    with pytest.raises(UserError, match="old"):
        match_labels(np.zeros(3, int), np.zeros(2, int))


def test_mean_absolute_error_over_those_whose_truth_is_known() -> None:
    estimated, true = np.array([0.9, 0.5, 0.7]), np.array([1.0, math.nan, 0.4])
    assert worker_recovery(estimated, true) == pytest.approx(0.2)
    assert math.isnan(worker_recovery(estimated, np.full(3, math.nan)))


def test_rank_is_spearmans_over_those_who_err() -> None:
    rng = np.random.default_rng(0)
    estimated, true = rng.permutation(40) / 40, rng.permutation(40) / 40
    ranks = [[sum(other < value for other in values) for value in values] for values in (estimated, true)]
    squares = sum((one - other) ** 2 for one, other in zip(*ranks, strict=True))
    expected = 1 - 6 * squares / (40 * (40**2 - 1))
    assert worker_rank(estimated, true) == pytest.approx(expected)
    # Who is never wrong, and whose truth is not known, has no part in it.
    more = np.r_[estimated, 0.1, 0.2, 0.3], np.r_[true, 1.0, 1.0, math.nan]
    assert worker_rank(*more) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("estimated", "true"),
    [
        ([0.5, 0.6, 0.7, 0.8], [0.9, 0.8, 1.0, math.nan]),  # two who err
        ([0.5, 0.6, 0.7], [0.9, 0.9, 0.9]),
        ([0.5, 0.5, 0.5], [0.7, 0.8, 0.9]),
        ([0.5, 0.6, 0.7], [math.nan, math.nan, math.nan]),
    ],
)
def test_no_rank_where_it_is_not_defined(estimated: list[float], true: list[float]) -> None:
    assert worker_rank(np.array(estimated), np.array(true)) is None
    missing = worker_rank(np.array([math.nan, 0.9, 0.8, 0.7]), np.array([0.8, 0.9, 0.7, 0.6]))
    assert math.isnan(missing), "it is not hidden"


def test_items_are_right_under_the_best_match_whatever_the_clusters_are_called() -> None:
    labels = np.array(["b", "b", "b", "a", "a", "c"])
    clusters = np.array([7, 7, 2, 2, 2, 9])
    assert right_items(labels, clusters).tolist() == [True, True, False, True, True, True]
    # A cluster too many: its items are wrong.
    assert right_items(labels, np.array([7, 7, 1, 2, 2, 9])).tolist() == [True, True, False, True, True, True]
    # A cluster too few: so are those of the kind that is left over.
    assert right_items(labels, np.array([0, 0, 0, 1, 1, 1])).tolist() == [True, True, True, True, True, False]


def test_the_calibration_error_is_that_of_torchmetrics() -> None:
    rng = np.random.default_rng(0)
    labels, probability = rng.integers(0, 4, 500), rng.uniform(0.01, 0.999, 500)
    clusters = np.where(rng.random(500) < probability**2, labels, rng.integers(0, 4, 500))
    right = torch.from_numpy((clusters == labels).astype(int))
    expected = binary_calibration_error(torch.from_numpy(probability), right, n_bins=15, norm="l1")
    assert calibration_error(labels, clusters, probability) == pytest.approx(float(expected), abs=1e-9)
    assert np.isnan(calibration_error(labels, labels, np.full(500, np.nan)))


def test_ninety_per_cent_of_the_central_intervals_of_a_beta_hold_its_draws() -> None:
    true = stats.beta.rvs(8, 3, size=20_000, random_state=0)
    low, high = (np.full(20_000, stats.beta.ppf(tail, 8, 3)) for tail in (0.05, 0.95))
    assert interval_coverage(low, high, true) == pytest.approx(0.9, abs=0.01)
    true[:19_000] = np.nan  # those whose truth is not known do not count
    assert interval_coverage(low, high, true) == pytest.approx(0.9, abs=0.04)
    assert np.isnan(interval_coverage(low, high, np.full(20_000, np.nan)))
