"""Features on one scale: what columns are in, and in which order, is nothing that a model sees."""

import numpy as np
import pytest

from semicrowd.data.preparation import MAX_COMPONENTS, fit_preparation, prepared


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


def test_new_items_are_prepared_as_the_others(table: np.ndarray) -> None:
    pipeline = fit_preparation(table)
    np.testing.assert_array_equal(prepared(pipeline, table[:3]), prepared(pipeline, table)[:3])


def test_wide_tables_keep_the_first_components(table: np.ndarray) -> None:
    wide = np.random.default_rng(1).normal(size=(150, 2 * MAX_COMPONENTS))
    assert of(wide).shape == (150, MAX_COMPONENTS)
    assert of(np.concatenate([table] * 20, 1)).shape == (40, 39)


def test_items_that_are_all_alike_stay_as_they_are() -> None:
    same = np.ones((10, 3))
    assert fit_preparation(same) is None
    np.testing.assert_array_equal(of(same), same)
