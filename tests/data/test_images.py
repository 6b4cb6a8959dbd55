"""Images as counts of visual words: two kinds of texture are told apart, and files that are none are refused."""

import os
import re
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from scipy.ndimage import gaussian_filter
from sklearn.cluster import KMeans
from sklearn.metrics import normalized_mutual_info_score

from semicrowd.data import Dataset, load_dataset
from semicrowd.data.image_files import find_images
from semicrowd.data.images import load_images
from semicrowd.data.visual_words import WORDS, count_words, find_words, read_words, sift, write_words
from semicrowd.errors import UserError
from semicrowd.settings.data import ImagesSettings


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Six images of squares and six of smooth noise, of different sizes, and one that is empty."""
    rng = np.random.default_rng(0)
    for kind in ("noise", "squares"):
        (tmp_path / "images" / kind).mkdir(parents=True)
        for number in range(6):
            image = np.full((120, 160), 40.0)
            for y, x in rng.integers(5, 110, (25, 2)):
                image[y : y + 12, x : x + 12] = rng.integers(120, 250)
            if kind == "noise":
                image = gaussian_filter(rng.normal(128, 400, image.shape), 2).clip(0, 255)
            scale = 1 + number % 3
            Image.fromarray(np.kron(image, np.ones((scale, scale))).astype(np.uint8)).save(
                tmp_path / "images" / kind / f"{number}.png"
            )
    Image.fromarray(np.zeros((50, 50), np.uint8)).save(tmp_path / "images/squares/empty.png")
    (tmp_path / "images" / "notes.txt").write_text("no image")
    return tmp_path / "images"


def _load(folder: Path | None, **options: int) -> Dataset:
    return load_dataset("images", Path("unused"), path=folder, **options)


def test_kinds_of_texture_have_words_of_their_own(folder: Path) -> None:
    data = _load(folder, words=12)
    assert data.labels is not None
    assert (data.features.shape, data.num_classes) == ((13, 12), 2)
    assert data.labels.tolist() == [0] * 6 + [1] * 7
    assert data.class_names is not None
    assert len(data.class_names) == 2
    assert np.array_equal(data.features, np.round(data.features))
    assert not data.features[12].any()  # the empty one
    share = data.features[:12] / data.features[:12].sum(1, keepdims=True)
    found = KMeans(2, n_init=5, random_state=0).fit_predict(share)
    assert normalized_mutual_info_score(data.labels[:12], found) > 0.9
    assert np.array_equal(_load(folder, words=12).features, data.features)


def test_images_in_one_folder_have_no_classes(folder: Path) -> None:
    data = _load(folder / "noise", words=5)
    assert (data.num_items, data.labels, data.num_classes) == (6, None, None)


def test_counts_of_words() -> None:
    rng = np.random.default_rng(0)
    centres = 100 * np.eye(3, 128)
    which = [np.array([0, 0, 1]), np.array([2, 2, 2, 2]), np.array([], int)]
    descriptors = [(centres[w] + rng.normal(size=(len(w), 128))).astype(np.float32) for w in which]
    counts = count_words(descriptors, find_words(descriptors, 3, 0))
    assert sorted(counts[0].tolist()) == [0, 1, 2]
    assert sorted(counts[1].tolist()) == [0, 0, 4]
    assert counts[1].argmax() == counts[0].argmin()
    assert not counts[2].any()


def test_a_descriptor_counts_for_the_word_that_is_nearest() -> None:
    rng = np.random.default_rng(1)
    words, one = (rng.normal(size=(number, 128)).astype(np.float32) for number in (7, 40))
    nearest = [min(range(7), key=lambda w: float(np.square(words[w] - row).sum())) for row in one]
    assert count_words([one], words)[0].tolist() == [nearest.count(w) for w in range(7)]


def test_new_pictures_are_described_by_the_words_of_the_run(folder: Path, tmp_path: Path) -> None:
    data = _load(folder, words=12)
    assert data.visual_words is not None
    write_words(data.visual_words, tmp_path)
    some = ImagesSettings(path=str(folder / "noise"), features="words")
    again = load_images(Path("unused"), some, read_words(tmp_path))
    assert np.array_equal(again.features, data.features[:6]), "sorted by path: noise comes before squares"
    for wrong in (np.zeros((3, 5), np.float32), np.zeros((3, 128)), np.full((3, 128), np.nan, np.float32)):
        write_words(wrong, tmp_path)
        with pytest.raises(UserError, match=r"visual_words\.npz: not the visual words of a run"):
            read_words(tmp_path)
    (tmp_path / WORDS).unlink()
    with pytest.raises(UserError, match=r"visual_words\.npz: not found; .* run it again"):
        read_words(tmp_path)


def test_what_cannot_be_read_is_named(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"data=images: data\.path is missing; expected a folder of images"):
        _load(None)
    (tmp_path / "nowhere").mkdir()
    with pytest.raises(UserError, match=r"nowhere: no images \(\.jpg"):
        _load(tmp_path / "nowhere")
    with pytest.raises(UserError, match=r"nowheer: cannot be read: No such file or directory; the nearest is nowhere$"):
        _load(tmp_path / "nowheer")
    with pytest.raises(UserError, match=r"data\.words=100000: expected \d+ at most, the descriptors of these images"):
        _load(folder, words=100_000)
    (folder / "noise" / "broken.jpg").write_bytes(b"\xff\xd8 no image")
    with pytest.raises(UserError, match=r"broken\.jpg: not an image that can be read"):
        _load(folder, words=5)
    (folder / "noise" / "broken.jpg").write_bytes(b"")
    with pytest.raises(UserError, match=r"broken\.jpg: not an image that can be read"):
        _load(folder, words=5)


def test_pictures_behind_links_are_read_and_links_to_nothing_are_named(folder: Path, tmp_path: Path) -> None:
    """A link that leads nowhere is a picture that is missing: without it the rows after it would be others."""
    linked = tmp_path / "linked"
    linked.mkdir()
    for kind in ("noise", "squares"):
        (linked / kind).symlink_to(folder / kind)
    (folder / "squares" / "again").symlink_to(folder / "squares")  # a circle
    assert len(find_images(linked).paths) == 13
    (folder / "noise" / "1b.png").symlink_to(tmp_path / "gone.png")
    with pytest.raises(UserError, match=r"noise/1b\.png: cannot be read: No such file"):
        find_images(linked)


def test_counts_of_known_words_are_those_of_all_pictures_at_once(folder: Path) -> None:
    data = _load(folder, words=12)
    again = load_images(Path("unused"), ImagesSettings(path=folder, features="words"), words=data.visual_words)
    np.testing.assert_array_equal(again.features, data.features)


def test_a_look_says_the_same_without_finding_words(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ways = [ImagesSettings(path=folder, features="words", words=words) for words in (None, 12)]
    whole = [load_images(Path("unused"), way) for way in ways]
    described = list[Image.Image]()

    def counted(image: Image.Image) -> np.ndarray:
        described.append(image)
        return sift(image)

    monkeypatch.setattr("semicrowd.data.images.find_words", None)
    monkeypatch.setattr("semicrowd.data.images.sift", counted)
    for way, data in zip(ways, whole, strict=True):
        described.clear()
        look = load_images(Path("unused"), way, look=True)
        assert look.features.shape == data.features.shape
        assert not look.features.any()
        assert (look.chosen, look.notes, look.files, look.hashes) == (data.chosen, data.notes, data.files, data.hashes)
        assert 0 < len(described) < (13 if way.words else 14)
    with pytest.raises(UserError, match=r"data\.words=100000: expected \d+ at most, the descriptors of these images"):
        load_images(Path("unused"), ImagesSettings(path=folder, words=100_000), look=True)
    (folder / "squares" / "broken.jpg").write_bytes(b"\xff\xd8 no image")
    with pytest.raises(UserError, match=r"broken\.jpg: not an image that can be read"):
        load_images(Path("unused"), ImagesSettings(path=folder, words=12), look=True)


def test_a_log_file_says_how_far_it_is(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _load(folder, words=12)
    assert not capsys.readouterr().err, "nothing is said of what takes less than some seconds"
    now = iter(range(0, 10_000, 2))
    monkeypatch.setattr("semicrowd.data.progress.time.monotonic", lambda: float(next(now)))
    _load(folder, words=12)
    said = capsys.readouterr().err
    assert re.search(r"^\[\d+ s\] .*: visual words: \d of 13 pictures$", said, re.M)
    assert re.search(r": finding 12 visual words in \d+ places of the pictures\n$", said)


def test_a_folder_whose_name_is_no_utf8_has_a_name_that_can_be_printed(folder: Path) -> None:
    (folder / "noise").rename(os.fsdecode(os.fsencode(folder) + b"/K\xe4fer"))
    names = _load(folder, words=5).class_names
    assert names is not None
    assert names[0].encode() == "K\ufffdfer".encode()


def test_pictures_of_twelve_bits_are_named(tmp_path: Path) -> None:
    values = np.random.default_rng(0).integers(0, 4096, (30, 30)).astype(np.uint16)
    Image.fromarray(values).save(tmp_path / "dark.png")
    data = _load(tmp_path)
    assert any("12 or fewer are used: nearly black" in note for note in data.notes)
