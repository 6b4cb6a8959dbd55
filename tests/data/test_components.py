"""Principal components that are kept: taken for the same pixels only. Their values: test_faces.py."""

from pathlib import Path

import numpy as np
import pytest

from semicrowd.data.components import SCALINGS, kept_components, place, principal_components
from semicrowd.errors import UserError


@pytest.fixture
def pixels() -> np.ndarray:
    return np.random.default_rng(0).random((30, 12))


@pytest.mark.parametrize("standardize", SCALINGS)
def test_kept_components_are_the_same_to_the_byte(pixels: np.ndarray, tmp_path: Path, standardize: str) -> None:
    np.savez(place(tmp_path, 3, standardize), **kept_components(pixels, 3, standardize))  # type: ignore[arg-type]
    kept = principal_components(pixels, 3, standardize, tmp_path)
    assert kept.tobytes() == principal_components(pixels, 3, standardize).tobytes()
    assert principal_components(pixels, 4, standardize, tmp_path).shape == (30, 4)


def test_those_of_the_file_are_taken_for_its_pixels_and_for_no_others(pixels: np.ndarray, tmp_path: Path) -> None:
    content = kept_components(pixels, 3, "none")
    np.savez(place(tmp_path, 3, "none"), **content | {"scores": np.ones((30, 3))})  # type: ignore[arg-type]
    np.testing.assert_array_equal(principal_components(pixels, 3, "none", tmp_path), 1)
    other = pixels + 0.1 * pixels**2
    np.testing.assert_array_equal(
        principal_components(other, 3, "none", tmp_path), principal_components(other, 3, "none")
    )


def test_a_damaged_file_is_named(pixels: np.ndarray, tmp_path: Path) -> None:
    place(tmp_path, 3, "none").write_bytes(b"no zip file")
    with pytest.raises(UserError, match=r"pca-3_standardize-none\.npz: damaged, or not the components"):
        principal_components(pixels, 3, "none", tmp_path)


def test_half_a_file_and_another_kind_of_file_are_named(pixels: np.ndarray, tmp_path: Path) -> None:
    path = place(tmp_path, 3, "none")
    np.savez(path, **kept_components(pixels, 3, "none"))  # type: ignore[arg-type]
    whole = path.read_bytes()
    flipped = whole[:90] + bytes(255 - byte for byte in whole[90:140]) + whole[140:]
    np.save(tmp_path / "other.npy", pixels)
    for content in (whole[: len(whole) // 2], flipped, (tmp_path / "other.npy").read_bytes()):
        path.write_bytes(content)
        with pytest.raises(UserError, match=r"pca-3_standardize-none\.npz: damaged"):
            principal_components(pixels, 3, "none", tmp_path)
