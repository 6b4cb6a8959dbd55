"""Folders of pictures: pixels of one size in the end, classes by folders, and files that cannot be read are named."""

import os
import struct
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from semicrowd.data import Dataset, embedding
from semicrowd.data.images import load_images
from semicrowd.errors import UserError
from semicrowd.files import PROVENANCE

RNG = np.random.default_rng(0)


def _load(folder: Path, **options: Any) -> Dataset:
    return load_images(path=folder, **options)


def _noise(*shape: int) -> np.ndarray:
    return RNG.integers(0, 256, shape).astype(np.uint8)


def _save(folder: Path, name: str, pixels: np.ndarray, **options: Any) -> np.ndarray:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(pixels).save(path, **options)
    return pixels


def _planes(pixels: np.ndarray) -> np.ndarray:
    """[height, width, 3] as a row of features."""
    return pixels.transpose(2, 0, 1).ravel() / np.float32(255)


def test_small_pictures_of_one_size_are_their_own_pixels_in_the_order_of_their_paths(tmp_path: Path) -> None:
    pictures = {name: _save(tmp_path, name, _noise(12, 9)) for name in ("b/2.png", "a/img2.png", "a/img10.png")}
    _save(tmp_path, ".hidden/a.png", _noise(12, 9))
    _save(tmp_path, "run/figures/a.png", _noise(12, 9))
    (tmp_path / "run" / PROVENANCE).write_text("{}")
    (tmp_path / "notes.txt").write_text("no picture")
    data = _load(tmp_path)
    assert data.files == ("a/img10.png", "a/img2.png", "b/2.png")
    assert data.image_shape == (12, 9)
    assert np.array_equal(data.features, [pictures[name].ravel() / np.float32(255) for name in data.files])
    assert (data.labels.tolist(), data.class_names, data.num_classes) == ([0, 0, 1], ("a", "b"), 2)
    assert _load(tmp_path / "a").labels is None
    assert data.hashes == _load(tmp_path).hashes
    _save(tmp_path, "b/2.png", _noise(12, 9))
    assert data.hashes != _load(tmp_path).hashes


def test_pictures_are_upright_and_all_in_colour_if_one_is(tmp_path: Path) -> None:
    colour = _save(tmp_path, "a_colour.png", _noise(10, 10, 3))
    grey = _save(tmp_path, "b_grey.png", _noise(10, 10))
    wide = _save(tmp_path, "c_wide.png", _noise(10, 30, 3))
    exif = Image.Exif()
    exif[0x0112] = 6  # the camera was turned: the rows of the file are the columns of the picture, from the right
    turned = _save(tmp_path, "d_turned.png", _noise(10, 10, 3), exif=exif)
    Image.new("CMYK", (10, 10), (0, 255, 255, 0)).save(tmp_path / "e_print.tif")
    data = _load(tmp_path, size=10)
    assert data.image_shape == (3, 10, 10)
    rows = dict(zip(data.files or (), data.features, strict=True))
    assert np.array_equal(rows["a_colour.png"], _planes(colour))
    assert np.array_equal(rows["b_grey.png"], _planes(np.dstack([grey] * 3)))
    assert np.array_equal(rows["c_wide.png"], _planes(wide[:, 10:20]))
    assert np.array_equal(rows["d_turned.png"], _planes(np.rot90(turned, -1)))
    assert np.allclose(rows["e_print.tif"].reshape(3, 100), np.array([[1], [0], [0]]))


def test_mixed_sizes_become_a_small_square(tmp_path: Path) -> None:
    half = np.zeros((200, 200, 3), np.uint8)
    half[:, 100:, 0] = 250
    _save(tmp_path, "large.png", half)
    _save(tmp_path, "small.png", np.full((16, 16, 3), (10, 20, 30), np.uint8))
    data = _load(tmp_path, features="pixels")
    assert data.image_shape == (3, 32, 32)
    large, small = data.features.reshape(2, 3, 32, 32) * 255
    assert np.allclose(large[0, :, :14], 0)
    assert np.allclose(large[0, :, 18:], 250)
    assert np.allclose(small, np.array([10, 20, 30])[:, None, None])
    assert _load(tmp_path, size=[20, 40]).image_shape == (3, 20, 40)


def test_half_the_pictures_decide_pixels_or_the_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedding, "efficientnet_lite0", lambda: lambda some: np.ones((len(some), 1280), np.float32))
    for number in range(3):
        _save(tmp_path / "folder", f"{number}.png", _noise(65, 50))
    data = _load(tmp_path / "folder", root=tmp_path)
    assert (data.num_features, data.image_shape) == (1280, None)
    assert _load(tmp_path / "folder", size=20).image_shape == (20, 20)
    for number in range(3, 7):
        _save(tmp_path / "folder", f"{number}.png", _noise(20, 64))
    assert _load(tmp_path / "folder").image_shape == (32, 32)


def _half(path: Path) -> None:
    Image.fromarray(_noise(64, 64, 3)).save(path)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def _huge(path: Path) -> None:
    """A PNG whose header promises 20,000 × 20,000 pixels."""
    header = b"IHDR" + struct.pack(">IIBBBBB", 20_000, 20_000, 8, 2, 0, 0, 0)
    chunks = (header, b"IDAT" + zlib.compress(b"none"), b"IEND")
    packed = [struct.pack(">I", len(one) - 4) + one + struct.pack(">I", zlib.crc32(one)) for one in chunks]
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + b"".join(packed))


@pytest.mark.parametrize(
    ("name", "make"),
    [
        ("text.png", lambda path: path.write_text("no picture")),
        ("half.jpg", _half),
        ("huge.png", _huge),
        ("link.png", lambda path: path.symlink_to("gone.png")),
        ("fraction.tif", lambda path: Image.fromarray(np.zeros((4, 4), np.float32)).save(path)),
        ("deep.png", lambda path: Image.fromarray(np.full((4, 4), 7_000, np.uint16)).save(path)),
    ],
)  # fmt: skip
def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, name: str, make: Callable[[Path], None]) -> None:
    _save(tmp_path, "a.png", _noise(64, 64, 3))
    make(tmp_path / name)
    with pytest.raises(UserError) as refused:
        _load(tmp_path, features="pixels")
    assert str(refused.value).startswith(f"{tmp_path / name}: ")
    assert "\n" not in str(refused.value)


def test_a_folder_without_pictures_is_named(tmp_path: Path) -> None:
    for name in ("nowhere", "empty"):
        (tmp_path / "empty").mkdir(exist_ok=True)
        with pytest.raises(UserError, match=name):
            _load(tmp_path / name)


def test_a_name_that_is_no_utf8_can_be_printed(tmp_path: Path) -> None:
    folder = Path(os.fsdecode(os.fsencode(tmp_path) + b"/K\xe4fer"))
    _save(folder, "a.png", _noise(8, 8))
    assert _load(tmp_path).files == ("K\ufffdfer/a.png",)
