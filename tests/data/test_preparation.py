"""Features on one scale: what columns are in, and in which order, is nothing that a model sees."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import pairwise_distances

from semicrowd.data.components import SCALINGS, axes_place, keep, place, principal_axes, principal_components
from semicrowd.data.preparation import MAX_COMPONENTS, ColumnScaler, fit_preparation, one_hot_columns, prepared
from semicrowd.errors import UserError


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
        lambda x: x * [1e-3, 1, 1e3, -1, 7] + [5, -1e4, 0, 1, 2],
        lambda x: x[:, [3, 0, 4, 2, 1]],
        lambda x: np.concatenate([x, np.full((len(x), 1), 12.0)], 1),
    ],
    ids=["units of their own", "another order", "a constant column"],
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


@pytest.fixture
def pixels() -> np.ndarray:
    return np.random.default_rng(0).random((30, 12))


@pytest.mark.parametrize("standardize", SCALINGS)
def test_kept_components_are_taken_for_their_pixels_and_for_no_others(
    pixels: np.ndarray, tmp_path: Path, standardize: str
) -> None:
    keep(place(tmp_path, 3, standardize), pixels, {"scores": np.ones((30, 3))})
    np.testing.assert_array_equal(principal_components(pixels, 3, standardize, tmp_path), 1)
    other = pixels + 0.1 * pixels**2
    found = principal_components(other, 3, standardize, tmp_path)
    np.testing.assert_array_equal(found, principal_components(other, 3, standardize))
    assert principal_components(pixels, 4, standardize, tmp_path).shape == (30, 4)


def test_half_a_file_and_another_kind_of_file_are_named(pixels: np.ndarray, tmp_path: Path) -> None:
    path = place(tmp_path, 3, "none")
    keep(path, pixels, {"scores": principal_components(pixels, 3, "none")})
    whole = path.read_bytes()
    flipped = whole[:90] + bytes(255 - byte for byte in whole[90:140]) + whole[140:]
    np.save(tmp_path / "other.npy", pixels)
    for content in (whole[: len(whole) // 2], flipped, (tmp_path / "other.npy").read_bytes()):
        path.write_bytes(content)
        with pytest.raises(UserError, match=r"pca-3_standardize-none\.npz: damaged"):
            principal_components(pixels, 3, "none", tmp_path)


@pytest.mark.parametrize("num_images", [8, 300])
def test_axes_are_those_of_the_singular_value_decomposition(num_images: int) -> None:
    images, others = np.random.default_rng(1).integers(256, size=(2, num_images, 12), dtype=np.uint8)
    images[:, 3:] //= 3
    axes = principal_axes(images, 4)
    mean = images.mean(0) / 255
    _, _, expected = np.linalg.svd(images / 255 - mean, full_matrices=False)
    expected = expected[:4] * np.sign(expected[range(4), np.abs(expected[:4]).argmax(1)])[:, None]
    np.testing.assert_allclose(axes.loadings, expected, atol=2e-4)
    np.testing.assert_allclose(axes.project(others), (others / 255 - mean) @ expected.T, atol=1e-3)


def test_kept_axes_are_taken_for_their_images_and_for_no_others(tmp_path: Path) -> None:
    images = np.random.default_rng(2).integers(256, size=(40, 12), dtype=np.uint8)
    axes = principal_axes(images, 3)._replace(mean=np.full(12, 7, np.float32))
    keep(axes_place(tmp_path, 3), images, axes._asdict())
    np.testing.assert_array_equal(principal_axes(images, 3, tmp_path).mean, 7)
    for kept, computed in zip(principal_axes(images[::2], 3, tmp_path), principal_axes(images[::2], 3), strict=True):
        np.testing.assert_array_equal(kept, computed)
