"""CIFAR-10: the binary layout on small made-up batches, parts of the data, and the facts of the real files."""

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from semicrowd.data import Dataset, answers, cifar10
from semicrowd.data.cifar10 import CIFAR10_SHAPE, load_cifar10, read_batch
from semicrowd.data.fetch import PUBLIC
from semicrowd.errors import UserError

Write = Callable[..., dict[str, np.ndarray]]
FOLDER = PUBLIC["cifar10"].folder


def test_a_record_is_a_label_and_three_colours(tmp_path: Path) -> None:
    images = np.zeros((2, *CIFAR10_SHAPE), np.uint8)
    images[0, 0], images[1, 2, 1, 0] = 255, 51  # all red; one pixel of the second row a little blue
    path = tmp_path / "batch.bin"
    path.write_bytes(b"".join(bytes([label]) + image.tobytes() for label, image in zip((9, 4), images, strict=True)))
    pixels, labels = read_batch(path)
    assert labels.tolist() == [9, 4]
    assert labels.dtype == np.int64
    np.testing.assert_array_equal(pixels.reshape(images.shape), images)


def test_the_batches_that_are_there_are_used_in_their_order(
    tmp_path: Path, write_cifar10: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    records = write_cifar10(tmp_path, data_batch_1=6, data_batch_4=3, test_batch_first1000=4)
    data = load_cifar10(root=tmp_path, pca=None)
    train = np.concatenate([records["data_batch_1"], records["data_batch_4"]])
    np.testing.assert_allclose(data.features * 255, train[:, 1:], rtol=1e-6)
    assert data.labels.tolist() == train[:, 0].tolist()
    np.testing.assert_allclose(data.test_features * 255, records["test_batch_first1000"][:, 1:], rtol=1e-6)
    assert data.image_shape == (3, 32, 32)
    assert data.num_classes == 10
    assert "9 of the 50000" in capsys.readouterr().err
    assert data.hashes == {
        f"{batch}.bin": hashlib.sha256(content.tobytes()).hexdigest() for batch, content in records.items()
    }


def test_a_subset_has_its_labels_and_the_components_of_all(tmp_path: Path, write_cifar10: Write) -> None:
    write_cifar10(tmp_path, data_batch_1=40, test_batch=6)
    whole, some = (load_cifar10(root=tmp_path, pca=3, subset=subset) for subset in (None, 15))
    assert some.features.shape == (15, 3)
    # The same up to rounding: a product of other shape may be summed in another order.
    rows = [int(np.abs(whole.features - row).max(1).argmin()) for row in some.features]
    np.testing.assert_allclose(whole.features[rows], some.features, rtol=1e-5, atol=1e-5)
    assert rows == sorted(set(rows))
    np.testing.assert_array_equal(some.labels, whole.labels[rows])
    assert rows != list(range(15))


@pytest.fixture
def images(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Dataset:
    """Ten classes, and counts where one in ten takes a class for the next."""
    counts = (45 * np.eye(10, dtype=np.int64) + 5 * np.roll(np.eye(10, dtype=np.int64), 1, 1))[np.arange(40) % 10]
    path = tmp_path / "cifar10h-counts.npy"
    np.save(path, counts)
    monkeypatch.setattr(cifar10, "fetch", lambda name, root: {path.name: path})  # noqa: ARG005 - as fetch has it
    labels = np.arange(200) % 10
    return Dataset("cifar10", np.zeros((200, 3), np.float32), labels, np.zeros((30, 3), np.float32), labels[:30])


def test_confusions_of_people_are_counted_on_the_test_images_that_are_there(images: Dataset) -> None:
    found = cifar10.confusions(Path("unused"), images.test_labels)
    np.testing.assert_allclose(found, 0.9 * np.eye(10) + 0.1 * np.roll(np.eye(10), 1, 1))
    options: dict[str, Any] = {"num_annotators": 2, "num_tasks": 20, "task_size": 20, "num_annotated": 200,
                               "sensitivity": 1.0, "specificity": 1.0, "confused": "cifar10h"}  # fmt: skip
    made = answers.tasks(images, **options)
    assert made.true_sensitivity.mean() == pytest.approx(0.82, abs=0.04)
    for labels in (None, np.zeros(5, np.int64)):
        with pytest.raises(UserError, match="confused=cifar10h"):
            cifar10.confusions(Path("unused"), labels)


@pytest.mark.needs_data
def test_real_files(public_data: Callable[[str], Path]) -> None:
    data = load_cifar10(root=public_data("cifar10"), pca=None)
    assert len(data.features) % 10_000 == 0
    assert data.features.shape[1] == 3072
    assert (data.features.min(), data.features.max()) == (0, 1)
    # Published: the first labels, and the means and standard deviations that everybody normalises colours with.
    assert data.labels[:8].tolist() == [6, 9, 9, 4, 1, 1, 2, 7]
    colours = data.features[:10_000].reshape(-1, *CIFAR10_SHAPE)
    np.testing.assert_allclose(colours.mean((0, 2, 3), dtype=np.float64), [0.4914, 0.4822, 0.4465], atol=0.005)
    np.testing.assert_allclose(colours.std((0, 2, 3), dtype=np.float64), [0.2470, 0.2435, 0.2616], atol=0.005)
    # Numbers of each class in the first batch, as tutorials print them.
    assert np.bincount(data.labels[:10_000]).tolist() == [1005, 974, 1032, 1016, 999, 937, 1030, 1001, 1025, 981]
