"""Features in more than one way: what units, dominating columns, constant ones and few rows do to each."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.metrics import pairwise_distances
from sklearn.pipeline import Pipeline

from semicrowd.starts.preparing import preparations, prepared

BLOBS = make_blobs(120, 5, centers=4, random_state=0)[0]


def _preparations(features: np.ndarray) -> dict[str, Pipeline]:
    return {name: way.pipeline for name, way in preparations(features)}


def test_standardised_features_are_those_of_the_correlation_matrix() -> None:
    found = prepared(_preparations(BLOBS * [10, 1, 1, 1, 1])["standardised"], BLOBS * [10, 1, 1, 1, 1])
    values = np.sort(np.linalg.eigvalsh(np.corrcoef(BLOBS.T)))[::-1]
    np.testing.assert_allclose(found.var(0, ddof=1), values / values.mean(), rtol=1e-6)


def test_in_raw_features_a_dominating_column_dominates_and_in_standardised_ones_it_is_one_of_many() -> None:
    """Embeddings: 20 columns in one unit that tell the kinds, one more that is a hundred times as wide."""
    rng = np.random.default_rng(0)
    labels = rng.integers(3, size=150)
    kinds = 2 * np.eye(20)[labels] + 0.3 * rng.normal(size=(150, 20))
    table = np.concatenate([kinds, 100 * rng.normal(size=(150, 1))], 1)
    ways = _preparations(table)
    assert {"standardised", "raw"} <= set(ways)
    raw = prepared(ways["raw"], table)
    assert raw.var(0)[0] / raw.var(0).sum() > 0.99
    standardised = prepared(ways["standardised"], table)
    assert standardised.var(0)[0] / standardised.var(0).sum() < 0.2
    same = labels[:, None] == labels
    ratios = [apart[~same].mean() / apart[same].mean() for apart in map(pairwise_distances, (standardised, raw))]
    assert ratios[0] > 1.1 > 1.02 > ratios[1]


def test_of_texts_the_direction_counts_whatever_their_length() -> None:
    rng = np.random.default_rng(2)
    topics, length = rng.dirichlet(np.ones(12), 200), rng.lognormal(0, 1.5, (200, 1))
    ways = _preparations(topics * length)
    assert "unit" in ways
    cosine = 1 - pairwise_distances(topics, metric="cosine")
    found = pairwise_distances(prepared(ways["unit"], topics * length)) ** 2
    above = np.triu_indices(200, 1)
    assert np.corrcoef(found[above], -cosine[above])[0, 1] > 0.999


def test_a_preparation_that_changes_no_distance_is_left_out() -> None:
    alike = np.random.default_rng(0).normal(size=(100, 4))
    alike = (alike - alike.mean(0)) / alike.std(0)
    assert "raw" not in _preparations(alike)
    assert next(iter(_preparations(alike))) == "standardised"
    assert "raw" in _preparations(alike * [1, 1, 1, 20])
    sphere = alike / np.linalg.norm(alike, axis=1, keepdims=True)
    assert list(_preparations(sphere)) == ["standardised"]


@pytest.mark.parametrize("shape", [(150, 300), (3, 50), (40, 1)])
def test_mean_variance_is_one_however_many_columns_there_are(shape: tuple[int, int]) -> None:
    table = 50 * np.random.default_rng(0).normal(size=shape)
    for pipeline in _preparations(table).values():
        found = prepared(pipeline, table)
        assert found.shape[1] <= min(100, shape[1], shape[0] - 1)
        assert found.var(0, ddof=1).mean() == pytest.approx(1)
        assert found.dtype == np.float64
        np.testing.assert_allclose(prepared(pipeline, table[:2]), found[:2], atol=1e-9)


def test_rows_that_are_multiples_of_one_another_have_no_direction() -> None:
    """Inches and centimetres: of length 1 all rows are one but for rounding, which is no preparation."""
    for seed in range(5):
        inches = np.random.default_rng(seed).uniform(1, 5, size=(200, 1))
        assert set(_preparations(inches * [[1, 2.54]])) <= {"standardised", "raw"}


def test_columns_that_hardly_ever_differ_and_two_items_are_features() -> None:
    rare = np.zeros((3000, 3))
    for column in range(3):
        rare[np.random.default_rng(column).permutation(3000)[:40], column] = 1
    for features in (rare, np.array([[0.0, 1.0], [2.0, 0.0]]), np.c_[np.arange(9.0), 1e-200 * np.arange(9)]):
        ways = _preparations(features)
        assert "standardised" in ways
        assert np.isfinite(prepared(ways["standardised"], features)).all()
    assert _preparations(np.full((9, 2), 1e-200) * np.arange(9)[:, None]) == {}


def test_columns_far_from_zero_are_seen_by_their_differences() -> None:
    for seed in range(5):
        features = 1e9 + np.random.default_rng(seed).normal(size=(300, 2)) * [1, 10]
        assert all(np.isfinite(prepared(way, features)).all() for way in _preparations(features).values())
