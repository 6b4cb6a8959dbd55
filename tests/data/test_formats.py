"""Data of the user's, each on files made as the published ones are."""

import gzip
from pathlib import Path

import numpy as np
import pytest

from semicrowd.data import load_dataset
from semicrowd.data.formats import read_own
from semicrowd.errors import UserError


def test_har_has_training_windows_first_and_names_of_activities(tmp_path: Path) -> None:
    folder = tmp_path / "har" / "UCI HAR Dataset"
    for part in ("train", "test"):
        (folder / part).mkdir(parents=True)
    (folder / "activity_labels.txt").write_text("1 WALKING\n2 SITTING\n")
    (folder / "train" / "X_train.txt").write_text("  1.0e-001 -2.0e+000\n  3 4\n")
    (folder / "train" / "y_train.txt").write_text("2\n1\n")
    (folder / "test" / "X_test.txt").write_text("5 6\n")
    (folder / "test" / "y_test.txt").write_text("2\n")
    data = load_dataset("benchmark", tmp_path, which="har")
    np.testing.assert_allclose(data.features, np.array([[0.1, -2], [3, 4], [5, 6]]), rtol=1e-6)
    assert data.labels is not None
    assert data.labels.tolist() == [0, 1, 0]  # SITTING before WALKING
    (folder / "test" / "y_test.txt").unlink()
    with pytest.raises(UserError, match=r"^har: y_test.txt is not there; put into"):
        load_dataset("benchmark", tmp_path, which="har")


def test_stl10_pixels_are_upright_means_and_features_come_first(tmp_path: Path) -> None:
    folder = tmp_path / "stl10"
    folder.mkdir()
    rng = np.random.default_rng(0)
    upright = rng.integers(256, size=(3, 3, 96, 96), dtype=np.uint8)
    columns_first = upright.transpose(0, 1, 3, 2)
    columns_first[:2].tofile(folder / "train_X.bin")
    columns_first[2:].tofile(folder / "test_X.bin")
    np.array([10, 1], np.uint8).tofile(folder / "train_y.bin")
    np.array([3], np.uint8).tofile(folder / "test_y.bin")
    (features, names), used = read_own("stl10", tmp_path)
    assert names.tolist() == ["truck", "airplane", "car"]
    assert len(used) == 4
    red = features.reshape(3, 3, 32, 32)[2, 0]
    assert red[1, 4] == pytest.approx(upright[2, 0, 3:6, 12:15].mean() / 255)
    np.save(folder / "features.npy", np.eye(3, 5))
    assert read_own("stl10", tmp_path)[0][0].tolist() == np.eye(3, 5).tolist()
    np.save(folder / "features.npy", np.eye(4))
    with pytest.raises(UserError, match=r"^stl10: .*not as published: features \[4, 4\] for 3 classes"):
        read_own("stl10", tmp_path)


def test_reuters_has_stories_of_one_root_category_packed_or_not(tmp_path: Path) -> None:
    folder = tmp_path / "reuters10k"
    folder.mkdir()
    (folder / "rcv1-v2.topics.qrels").write_text(
        "CCAT 1 1\nC15 1 1\nGCAT 2 1\nCCAT 3 1\nECAT 3 1\nMCAT 4 1\nM14 4 1\nE11 5 1\n"
    )
    (folder / "lyrl2004_tokens_train.dat").write_text(
        ".I 1\n.W\nprofit rose\nrose again\n\n.I 2\n.W\nvote\n\n.I 3\n.W\nboth\n\n"
    )
    with gzip.open(folder / "lyrl2004_tokens_test_pt0.dat.gz", "wt") as file:
        file.write(".I 4\n.W\nprofit fell\n\n.I 5\n.W\nnone\n\n.I 6\n.W\nunknown\n")
    (features, names), _ = read_own("reuters10k", tmp_path)
    assert sorted(names.tolist()) == ["CCAT", "GCAT", "MCAT"]
    assert features.shape == (3, 5)  # again fell profit rose vote
    corporate = features[names.tolist().index("CCAT")]
    assert corporate[3] > corporate[2] > 0  # rose twice, profit once and in two stories
    (folder / "lyrl2004_tokens_test_pt0.dat.gz").write_bytes(b"no archive")
    with pytest.raises(UserError, match=r"^reuters10k: .*not as published: "):
        read_own("reuters10k", tmp_path)
