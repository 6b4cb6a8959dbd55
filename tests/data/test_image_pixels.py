"""Folders of pictures as people have them: of one size in the end, and what was done to them is said."""

import struct
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from semicrowd.data import Dataset, embedded, images, load_dataset
from semicrowd.errors import UserError

RNG = np.random.default_rng(0)


def _load(folder: Path, **options: Any) -> Dataset:
    return load_dataset("images", Path("unused"), path=folder, **options)


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


def test_small_images_of_one_size_are_their_own_pixels_in_the_order_of_their_paths(tmp_path: Path) -> None:
    pictures = {name: _save(tmp_path, name, _noise(12, 9)) for name in ("b/2.png", "a/img2.png", "a/img10.png")}
    data = _load(tmp_path)
    assert data.files == ("a/img10.png", "a/img2.png", "b/2.png")
    assert data.image_shape == (12, 9)
    assert np.array_equal(data.features, [pictures[name].ravel() / np.float32(255) for name in data.files])
    assert data.labels is not None
    assert data.labels.tolist() == [0, 0, 1]
    assert data.notes == ()
    assert {name: value for name, (value, _) in data.chosen.items()} == {"features": "pixels", "size": (12, 9)}


def test_colour_has_three_planes_and_grey_stored_as_colour_is_grey(tmp_path: Path) -> None:
    colour = _save(tmp_path, "colour/a.png", _noise(8, 6, 3))
    data = _load(tmp_path / "colour")
    assert data.image_shape == (3, 8, 6)
    assert np.array_equal(data.features[0], _planes(colour))
    grey = _save(tmp_path, "grey/a.png", np.repeat(_noise(8, 6, 1), 3, axis=2))
    data = _load(tmp_path / "grey")
    assert data.image_shape == (8, 6)
    assert np.array_equal(data.features[0], grey[..., 0].ravel() / np.float32(255))


def test_what_is_not_alike_is_made_so_and_said(tmp_path: Path) -> None:
    colour = _save(tmp_path, "a_colour.png", _noise(10, 10, 3))
    grey = _save(tmp_path, "b_grey.png", _noise(10, 10))
    wide = _save(tmp_path, "c_wide.png", _noise(10, 30, 3))
    deep = _save(tmp_path, "d_deep.png", RNG.integers(0, 65536, (10, 10)).astype(np.uint16))
    see_through = _save(tmp_path, "e_alpha.png", np.dstack([_noise(10, 10, 3), np.zeros((10, 10), np.uint8)]))
    exif = Image.Exif()
    exif[0x0112] = 6  # the camera was turned: the rows of the file are the columns of the picture, from the right
    turned = _save(tmp_path, "f_turned.png", _noise(10, 10, 3), exif=exif)
    exif[0x0112] = 0  # no value of the standard
    _save(tmp_path, "h_as_it_is.png", _noise(10, 10, 3), exif=exif)
    frames = [Image.fromarray(np.full((10, 10), value, np.uint8)) for value in (40, 200)]
    frames[0].save(tmp_path / "g_moves.gif", save_all=True, append_images=frames[1:])
    (tmp_path / "notes.txt").write_text("no image")
    (tmp_path / ".hidden").mkdir()
    (tmp_path / ".hidden" / "a.png").write_bytes(b"")

    data = _load(tmp_path, size=10)
    assert data.image_shape == (3, 10, 10)
    rows = dict(zip(data.files or (), data.features, strict=True))
    assert np.array_equal(rows["a_colour.png"], _planes(colour))
    assert np.array_equal(rows["b_grey.png"], _planes(np.dstack([grey] * 3)))
    assert np.array_equal(rows["c_wide.png"], _planes(wide[:, 10:20]))
    assert np.allclose(rows["d_deep.png"], _planes(np.dstack([deep / 65535 * 255] * 3)), atol=1 / 255)
    assert (see_through[..., 3] == 0).all()
    assert (rows["e_alpha.png"] == 1).all()
    assert np.array_equal(rows["f_turned.png"], _planes(np.rot90(turned, -1)))
    assert np.allclose(rows["g_moves.gif"], 40 / 255)
    assert [note.removeprefix(f"{tmp_path}: ") for note in data.notes] == [
        "2 other files are left out: .hidden/a.png, notes.txt",
        "1 of 8 images: 16 bits a colour, taken as 8 (d_deep.png)",
        "1 of 8 images: transparent parts, taken as white (e_alpha.png)",
        "1 of 8 images: turned upright, as their EXIF data say (f_turned.png)",
        "1 of 8 images: several frames, the first is taken (g_moves.gif)",
        "1 of 8 images: of another shape than 10 × 10, the middle is kept",
        "1 of 8 images: brought to 10 × 10 pixels (data.size)",
        "4 of 8 images: grey, taken as colour",
    ]


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
    assert [note.removeprefix(f"{tmp_path}: ") for note in data.notes] == [
        "2 of 2 images: brought to 32 × 32 pixels (data.size)"
    ]
    assert _load(tmp_path, size=[20, 40]).image_shape == (3, 20, 40)


def test_other_colour_models_are_taken_as_rgb(tmp_path: Path) -> None:
    Image.new("CMYK", (8, 8), (0, 255, 255, 0)).save(tmp_path / "print.tif")
    Image.fromarray(_noise(8, 8, 3)).quantize(16).save(tmp_path / "palette.png")
    data = _load(tmp_path)
    assert [note.split(": ", 1)[1] for note in data.notes] == [
        "1 of 2 images: the colour model CMYK, taken as RGB (print.tif)"
    ]
    assert np.allclose(data.features[1].reshape(3, 64), np.array([[1], [0], [0]]))
    with Image.open(tmp_path / "palette.png") as image:
        assert np.array_equal(data.features[0], _planes(np.asarray(image.convert("RGB"))))


def test_half_the_images_decide_pixels_or_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(images, "installed", lambda: False)
    for number in range(3):
        _save(tmp_path, f"{number}.png", _noise(65, 50))
    chosen = {name: value for name, (value, _) in _load(tmp_path, words=5).chosen.items()}
    assert chosen == {"features": "words", "words": 5}
    assert _load(tmp_path, words=5).image_shape is None
    assert _load(tmp_path, size=20).chosen["features"][0] == "pixels"
    few = _load(tmp_path)  # a word for every ten descriptors
    assert few.chosen["features"][0] == "words"
    assert 2 <= few.num_features == few.chosen["words"][0] < 100
    (note,) = (note for note in few.notes if "visual words" in note)
    assert note.endswith("usually much better: pip install 'semicrowd[embeddings]', and run again")
    for own in ({"features": "words"}, {"words": 5}, {"size": 20}):
        assert not any("embeddings" in note for note in _load(tmp_path, **own).notes)
    for number in range(3, 7):
        _save(tmp_path, f"{number}.png", _noise(20, 64))
    data = _load(tmp_path)
    assert (data.chosen["features"][0], data.image_shape) == ("pixels", (32, 32))


def test_large_images_are_features_of_the_network_if_it_is_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(images, "installed", lambda: True)
    monkeypatch.setattr(embedded, "efficientnet_lite0", lambda: lambda some: np.ones((len(some), 1280), np.float32))
    folder = tmp_path / "folder"
    for number in range(3):
        _save(folder, f"{number}.png", _noise(65, 50))
    data = load_dataset("images", tmp_path, path=folder)
    assert (data.num_features, data.image_shape, data.notes) == (1280, None, ())
    assert data.chosen["features"][0] == "efficientnet_lite0"
    assert data.chosen["features"][1].endswith("above 64 pixels, and the network is installed")
    assert _load(folder, words=5).chosen["features"][0] == "words"
    assert _load(folder, features="words").num_features < 1280
    for number in range(3, 7):
        _save(folder, f"{number}.png", _noise(20, 64))
    assert _load(folder).chosen["features"][0] == "pixels"


def test_settings_of_the_other_kind_are_refused(tmp_path: Path) -> None:
    for options, said in (
        ({"features": "words", "size": 8}, r"data\.size=8: expected null with data\.features=words"),
        ({"features": "pixels", "words": 8}, r"data\.words=8: expected null with data\.features=pixels"),
        ({"size": 8, "words": 8}, r"data\.words=8: expected null with data\.size=8 \(pixels\)"),
        ({"features": "smells"}, r"data\.features=smells: expected pixels or words"),
        ({"size": [8, 0]}, r"data\.size=\[8, 0\]: expected .*\[32, 48\]"),
    ):
        with pytest.raises(UserError, match=said):
            _load(tmp_path, **options)


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
    ("name", "make", "said"),
    [
        ("empty.jpg", Path.touch, "not an image that can be read;"),
        ("text.png", lambda path: path.write_text("no image"), "not an image that can be read;"),
        ("half.jpg", _half, "not an image that can be read (image file is truncated"),
        ("half.png", _half, "not an image that can be read ("),
        ("huge.png", _huge, "more than 89 million pixels"),
        ("fraction.tif", lambda path: Image.fromarray(np.zeros((4, 4), np.float32)).save(path), "fractions; expected"),
        ("deep.tif", lambda path: Image.fromarray(np.full((4, 4), 70_000, np.int32)).save(path), "more than 16 bits"),
    ],
)  # fmt: skip
def test_a_file_that_is_no_picture_inside_is_named(
    tmp_path: Path, name: str, make: Callable[[Path], None], said: str
) -> None:
    _save(tmp_path, "a.png", _noise(64, 64, 3))
    make(tmp_path / name)
    for features in ("pixels", "words"):
        with pytest.raises(UserError) as refused:
            _load(tmp_path, features=features)
        message = str(refused.value)
        assert message.startswith(f"{tmp_path / name}: ")
        assert said in message
        assert "\n" not in message


def test_all_files_that_are_wrong_are_told_at_once(tmp_path: Path) -> None:
    for name in ("a.jpg", "b.jpg", "c.jpg", "d.jpg", "e.jpg"):
        (tmp_path / name).write_bytes(b"no image")
    with pytest.raises(UserError, match=r"a\.jpg: not an image .*; and 4 more: b\.jpg, c\.jpg, d\.jpg, e\.jpg; mend"):
        _load(tmp_path)


def test_files_that_are_wrong_are_left_out_where_that_is_asked_for(tmp_path: Path) -> None:
    for name in ("a.png", "c.png"):
        _save(tmp_path, name, _noise(8, 8, 3))
    (tmp_path / "b.png").write_bytes((tmp_path / "a.png").read_bytes()[:80])
    (tmp_path / "e").mkdir()
    (tmp_path / "e" / "d.jpg").write_bytes(b"no image")
    data = _load(tmp_path, skip_unreadable=True)
    assert data.files == ("a.png", "c.png")
    said = "2 unreadable files are left out, and rows are counted without: b.png, e/d.jpg"
    assert any(said in note for note in data.notes)
    with pytest.raises(UserError, match=r"b\.png: .*; and 1 more: e/d\.jpg; mend or remove, or leave out with"):
        _load(tmp_path)
    for name in ("a.png", "c.png"):
        (tmp_path / name).unlink()
    with pytest.raises(UserError, match=r"not an image"):
        _load(tmp_path, skip_unreadable=True)
