"""The search for neighbours against all distances."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.spatial.distance import cdist
from sklearn.datasets import make_blobs

from semicrowd.starts import neighbours
from semicrowd.starts.neighbours import Nearest

FEATURES, _ = make_blobs(1500, 6, centers=5, cluster_std=3.0, random_state=0)


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is measured for tens of thousands of items, for hundreds."""
    monkeypatch.setattr(neighbours, "MAX_COMPARED", 600)
    monkeypatch.setattr(neighbours, "_ITEMS_PER_CELL", 15)


def _true(features: np.ndarray, number: int) -> np.ndarray:
    apart = cdist(features, features)
    np.fill_diagonal(apart, np.inf)
    return np.argsort(apart, 1)[:, :number]


def _recall(found: np.ndarray, wanted: np.ndarray) -> float:
    return float(np.mean([len(set(a) & set(b)) / len(b) for a, b in zip(found, wanted, strict=True)]))


def test_few_items_are_compared_with_all_others() -> None:
    assert_array_equal(Nearest(FEATURES).others(7), _true(FEATURES, 7))


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize(("items", "least"), [(601, 0.99), (1500, 0.97)])
def test_of_more_items_most_neighbours_are_found_and_nearly_all_of_a_few_more(items: int, least: float) -> None:
    some = FEATURES[:items]
    found = Nearest(some).others(7)
    assert _recall(found, _true(some, 7)) > least
    assert (found != np.arange(items)[:, None]).all()
    assert all(len(set(row)) == 7 for row in found)
    assert_array_equal(found, Nearest(some).others(7))


@pytest.mark.usefixtures("few")
def test_of_points_that_are_no_items() -> None:
    points = FEATURES[::3] + 0.5
    wanted = np.argsort(cdist(points, FEATURES), 1)[:, :7]
    assert _recall(Nearest(FEATURES).of(points, 7), wanted) > 0.97


@pytest.mark.usefixtures("few")
def test_items_that_are_all_alike_have_neighbours_other_than_themselves() -> None:
    features = np.concatenate([np.zeros((1000, 2)), np.ones((3, 2))])
    found = Nearest(features).others(2)
    assert (found != np.arange(1003)[:, None]).all()
    assert (found[:1000] < 1000).all()
    assert (found[1000:] >= 1000).all()
