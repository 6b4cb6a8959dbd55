"""Stage ``autoencoder``: what it keeps is what runs load, and what the decoder takes back."""

from pathlib import Path

import numpy as np
import pytest

from semicrowd.data import load_dataset
from semicrowd.data.encoded import place, to_encode, to_train
from semicrowd.errors import UserError
from semicrowd.fitting.autoencoder import CODE
from semicrowd.pipeline.autoencoder import decoded, make
from semicrowd.settings.sources import TRAINED


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A data root with 60 made windows in the place of UCI's."""
    folder = tmp_path / "har"
    folder.mkdir()
    rng = np.random.default_rng(0)
    (folder / "activity_labels.txt").write_text("1 UP\n2 DOWN\n")
    for part, count in (("train", 40), ("test", 20)):
        numbers = rng.integers(1, 3, count)
        np.savetxt(folder / f"X_{part}.txt", rng.normal(size=(count, 6)) * 5 + numbers[:, None])
        np.savetxt(folder / f"y_{part}.txt", numbers, fmt="%d")
    return tmp_path


def test_codes_at_four_stages_are_standardised_and_the_decoder_takes_them_back(root: Path) -> None:
    make("har", root, 2, 40)
    data = [load_dataset("encoded", root, which="har", trained=trained) for trained in TRAINED]
    labels = load_dataset("benchmark", root, which="har").labels
    assert labels is not None
    for one in data:
        assert one.features.shape == (60, CODE)
        np.testing.assert_allclose(one.features.mean(0), 0, atol=1e-5)
        np.testing.assert_allclose(one.features.std(0), 1, atol=1e-4)
        assert one.name == "har"
        assert one.labels is not None
        assert np.array_equal(one.labels, labels)
    assert not np.allclose(data[0].features, data[-1].features)
    training = np.genfromtxt(root / "encoded" / "har" / "training.csv", delimiter=",", names=True)
    assert training["steps"].tolist() == [10, 20, 30, 40]
    # What comes back is as near as was noted of the items that were not trained on, in the units that networks saw.
    raw = load_dataset("benchmark", root, which="har").features
    back = decoded(data[-1].features, "har", root)
    _, scale = to_train(to_encode("har", root))
    assert np.square((back - raw) / scale).mean() < training["held_out_error"][-1]
    assert np.square(back - raw).mean() < 0.9 * raw.var(0).mean()


def test_a_subset_is_drawn_of_the_codes(root: Path) -> None:
    make("har", root, 1, 4)
    whole = load_dataset("encoded", root, which="har")
    some = load_dataset("encoded", root, which="har", subset=20, data_seed=3)
    assert some.labels is not None
    assert whole.labels is not None
    rows = [int(np.flatnonzero((whole.features == row).all(1))[0]) for row in some.features]
    assert rows == sorted(set(rows))
    assert np.array_equal(whole.labels[rows], some.labels)


def test_without_codes_or_with_those_of_others_the_error_says_what_makes_them(root: Path) -> None:
    with pytest.raises(UserError, match=r"codes-100\.npz"):
        load_dataset("encoded", root, which="har")
    make("har", root, 1, 4)
    (root / "har" / "y_test.txt").write_text("1\n" * 20)
    with pytest.raises(UserError, match="har"):
        load_dataset("encoded", root, which="har")
    place(root, "har", 100).write_bytes(b"nothing")
    with pytest.raises(UserError, match=r"codes-100\.npz"):
        load_dataset("encoded", root, which="har")
    with pytest.raises(UserError, match=r"^data\.trained=60:"):
        load_dataset("encoded", root, which="har", trained=60)
