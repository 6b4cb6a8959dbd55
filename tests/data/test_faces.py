"""The face table, UCI's archive written anew from it, and images written by hand."""

import io
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from semicrowd.data.faces import FACE_SHAPE, load_face, read_archive, read_pgm
from semicrowd.data.fetch import PUBLIC

(FACE_TABLE,) = PUBLIC["face"].files


def _pgm(image: np.ndarray) -> bytes:
    return b"P5\n%d %d\n255\n" % image.shape[::-1] + image.tobytes()


def _archive(path: Path, files: dict[str, bytes], nested: bool) -> None:
    """A zip archive of a tree of files, loose or as ``faces.tar.gz``."""
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("faces.data.html", "<html>")
        if not nested:
            for name, content in files.items():
                archive.writestr(name, content)
            return
        packed = io.BytesIO()
        with tarfile.open(fileobj=packed, mode="w:gz") as tar:
            for name, content in files.items():
                member = tarfile.TarInfo(name)
                member.size = len(content)
                tar.addfile(member, io.BytesIO(content))
        archive.writestr("faces.tar.gz", packed.getvalue())


def test_images_are_read_and_damaged_ones_are_not() -> None:
    image = np.arange(960, dtype=np.uint8).reshape(FACE_SHAPE)
    text = b"P2\n# a comment\n32 30\n255\n" + b" ".join(b"%d" % value for value in image.ravel())
    for content in (_pgm(image), text):
        np.testing.assert_array_equal(read_pgm(content), image)
    for content in (
        b"", b"not an image", _pgm(image)[:-1], _pgm(image.reshape(32, 30)), b"P5\n32 30\n65535\n" + bytes(1920),
        b"P6\n32 30\n255\n" + bytes(2880), b"P5\n32 x\n255\n" + bytes(960),
    ):  # fmt: skip
        assert read_pgm(content) is None


@pytest.mark.parametrize("nested", [False, True])
def test_archive_is_sorted_and_damaged_images_are_left_out(tmp_path: Path, nested: bool) -> None:
    good = {
        "b_up_sad_open_4": 1, "b_straight_sad_open_4": 2, "a_up_sad_sunglasses_4": 3, "a_up_happy_open_4": 4,
    }
    files = {f"faces/{name[0]}/{name}.pgm": _pgm(np.full(FACE_SHAPE, grey, np.uint8)) for name, grey in good.items()}
    files |= {
        "faces/a/a_left_sad_open_4.bad": _pgm(np.zeros(FACE_SHAPE, np.uint8)),
        "faces/a/a_right_sad_open_4.pgm": b"P5\n32 30\n255\ntoo short",
        "faces/a/a_left_sad_open.pgm": _pgm(np.zeros((120, 128), np.uint8)),
        "faces/a/a_left_sad_open_2.bad": b"",
        "faces/README_4.pgm": b"",
    }
    path = tmp_path / "archive.zip"
    _archive(path, files, nested)
    with zipfile.ZipFile(path) as archive:
        faces = read_archive(archive)
    assert faces["images"][:, 0, 0].tolist() == [4, 3, 2, 1]
    assert faces["person"].tolist() == [0, 0, 1, 1]
    assert faces["pose"].tolist() == ["up", "up", "straight", "up"]
    assert faces["expression"].tolist() == ["happy", "sad", "sad", "sad"]
    assert faces["eyes"].tolist() == ["open", "sunglasses", "open", "open"]


@pytest.mark.needs_data
def test_real_table(public_data: Callable[[str], Path]) -> None:
    data = load_face(root=public_data("face"), pca=None)
    # ERRATA's counts: straight, left, right, up.
    assert np.bincount(data.labels).tolist() == [156, 155, 157, 156]
    assert data.features.shape == (624, 960)
    assert data.image_shape == FACE_SHAPE
    assert data.num_classes == 4
    assert 0 <= data.features.min() < data.features.max() <= 1
    # A grey level is a whole number of 255ths.
    grey = data.features * 255
    np.testing.assert_allclose(grey, grey.round(), atol=1e-4)
    assert set(data.hashes) == {FACE_TABLE}


@pytest.mark.needs_data
@pytest.mark.parametrize("standardize", ["none", "before", "after", "both"])
def test_components(public_data: Callable[[str], Path], standardize: str) -> None:
    root = public_data("face")
    pixels = load_face(root=root, pca=None).features.astype(np.float64)
    data = load_face(root=root, pca=20, standardize=standardize)
    centred = pixels - pixels.mean(0)
    if standardize in ("before", "both"):
        centred /= centred.std(0)
    values, vectors = np.linalg.eigh(centred.T @ centred / len(centred))
    values, vectors = values[::-1][:20], vectors[:, ::-1][:, :20]
    vectors *= np.sign(vectors[np.abs(vectors).argmax(0), range(20)])
    expected = centred @ vectors
    if standardize in ("after", "both"):
        expected /= np.sqrt(values)
    np.testing.assert_allclose(data.features, expected, atol=2e-4 * expected.std())
    assert data.features.tobytes() == load_face(root=root, pca=20, standardize=standardize).features.tobytes()
