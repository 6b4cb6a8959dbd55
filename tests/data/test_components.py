"""Principal components that are kept: taken for the same pixels only. Their values: test_faces.py."""

from pathlib import Path

import numpy as np
import pytest

from semicrowd.data.components import (
    SCALINGS,
    axes_place,
    keep,
    place,
    principal_axes,
    principal_components,
)
from semicrowd.errors import UserError


@pytest.fixture
def pixels() -> np.ndarray:
    return np.random.default_rng(0).random((30, 12))


@pytest.mark.parametrize("standardize", SCALINGS)
def test_kept_components_are_the_same_to_the_byte(pixels: np.ndarray, tmp_path: Path, standardize: str) -> None:
    keep(place(tmp_path, 3, standardize), pixels, {"scores": principal_components(pixels, 3, standardize)})
    kept = principal_components(pixels, 3, standardize, tmp_path)
    assert kept.tobytes() == principal_components(pixels, 3, standardize).tobytes()
    assert principal_components(pixels, 4, standardize, tmp_path).shape == (30, 4)


def test_those_of_the_file_are_taken_for_its_pixels_and_for_no_others(pixels: np.ndarray, tmp_path: Path) -> None:
    keep(place(tmp_path, 3, "none"), pixels, {"scores": np.ones((30, 3))})
    np.testing.assert_array_equal(principal_components(pixels, 3, "none", tmp_path), 1)
    other = pixels + 0.1 * pixels**2
    np.testing.assert_array_equal(
        principal_components(other, 3, "none", tmp_path), principal_components(other, 3, "none")
    )


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
