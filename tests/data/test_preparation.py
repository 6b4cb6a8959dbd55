"""Features on one scale: what columns are in, and in which order, is nothing that a model sees."""

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import adjusted_rand_score, pairwise_distances
from sklearn.preprocessing import StandardScaler

from semicrowd import UKM
from semicrowd.data.preparation import MAX_COMPONENTS, ColumnScaler, fit_preparation, one_hot_columns, prepared


@pytest.fixture
def table() -> np.ndarray:
    """Forty items of five columns that go together in different ways."""
    rng = np.random.default_rng(0)
    return rng.normal(size=(40, 5)) @ rng.normal(size=(5, 5))


def of(features: np.ndarray) -> np.ndarray:
    return prepared(fit_preparation(features), features)


def test_the_components_are_those_of_the_correlation_matrix(table: np.ndarray) -> None:
    found = of(table)
    assert found.dtype == np.float32
    values = np.sort(np.linalg.eigvalsh(np.corrcoef(table.T)))[::-1]
    # np.corrcoef and the variance of standardised columns differ by the degrees of freedom alone.
    np.testing.assert_allclose(found.var(0), values, rtol=1e-4)
    np.testing.assert_allclose(np.cov(found.T) - np.diag(np.cov(found.T).diagonal()), 0, atol=1e-5)


@pytest.mark.parametrize(
    "changed",
    [
        lambda x: 1000 * x,
        lambda x: 0.001 * x,
        lambda x: x + 1000,
        lambda x: x * [1e-3, 1, 1e3, -1, 7] + [5, -1e4, 0, 1, 2],
        lambda x: x[:, [3, 0, 4, 2, 1]],
        lambda x: np.concatenate([x, np.full((len(x), 1), 12.0)], 1),
    ],
    ids=["times 1000", "times .001", "plus 1000", "units of their own", "another order", "a constant column"],
)
def test_units_order_and_constant_columns_change_nothing(table: np.ndarray, changed: object) -> None:
    assert callable(changed)
    np.testing.assert_allclose(of(changed(table)), of(table), atol=1e-4)


def test_wide_tables_keep_the_first_components(table: np.ndarray) -> None:
    wide = np.random.default_rng(1).normal(size=(150, 2 * MAX_COMPONENTS))
    assert of(wide).shape == (150, MAX_COMPONENTS)
    assert of(np.concatenate([table] * 20, 1)).shape == (40, 39)


def test_items_that_are_all_alike_stay_as_they_are() -> None:
    same = np.ones((10, 3))
    assert fit_preparation(same) is None
    np.testing.assert_array_equal(of(same), same)


def one_hot(*columns: list[str] | np.ndarray) -> np.ndarray:
    """One-hot columns by pandas, of each of some categories."""
    return np.hstack([pd.get_dummies(pd.Series(column)).to_numpy(np.float32) for column in columns])


def test_a_category_has_the_weight_of_one_number_however_many_values_it_has(table: np.ndarray) -> None:
    rng = np.random.default_rng(0)
    for values in (2, 3, 14):
        column = rng.integers(values, size=40)
        found = of(np.hstack([table, one_hot(column)]))
        # Every column of numbers has variance 1, and so has the category.
        assert found.var(0).sum() == pytest.approx(table.shape[1] + 1, rel=1e-4)
        # Over all pairs, an item with itself included, the mean squared distance is twice the variance.
        apart = pairwise_distances(ColumnScaler().fit_transform(one_hot(column))) ** 2
        assert apart.mean() == pytest.approx(2)


def test_one_hot_columns_are_found_whatever_is_beside_them() -> None:
    rng = np.random.default_rng(0)
    five, three = np.repeat(list("abcde"), 8), rng.permutation(np.repeat(list("xyyz"), 10))
    # A flag that is 1 for no item with "a" or "b": with their columns it would look like the start of a category.
    flag = (five == "c")[:, None].astype(np.float32)
    table = np.hstack([rng.normal(size=(40, 1)), flag, one_hot(five, three), rng.integers(2, size=(40, 2))])
    assert list(one_hot_columns(table)) == [slice(2, 7), slice(7, 10)]
    assert list(one_hot_columns(np.hstack([flag, 1 - flag]))) == [slice(0, 2)]
    assert not list(one_hot_columns(np.ones((40, 3))))
    assert not list(one_hot_columns(np.full((40, 2), 0.5)))


def test_k_means_does_not_return_an_irrelevant_category() -> None:
    rng = np.random.default_rng(0)
    kinds, places = rng.integers(3, size=300), rng.integers(14, size=300)
    numbers = 2 * np.eye(3)[kinds] + rng.normal(size=(300, 3))
    table = np.hstack([numbers, one_hot(places)])
    labels = UKM(n_clusters=3, random_state=0).fit_predict(table)
    assert adjusted_rand_score(places, labels) < 0.05
    assert adjusted_rand_score(kinds, labels) > adjusted_rand_score(
        kinds, UKM(n_clusters=3, random_state=0).fit_predict(StandardScaler().fit_transform(table))
    )
