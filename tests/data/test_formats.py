"""Published tables on files written by hand: those that are fetched, and those that the user brings."""

import gzip
import hashlib
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from semicrowd.data.benchmark import load_benchmark
from semicrowd.data.fetch import PUBLIC
from semicrowd.data.formats import read_activities, read_expressions, read_keel, read_own, read_texts, read_wifi
from semicrowd.errors import UserError

ARFF = """@relation toy\n
@attribute "UNIQUE_ID" numeric\n@attribute "user" {33, 5}\n@attribute "A" numeric\n@attribute "B" numeric
@attribute class { Walking , Sitting }\n
@data\n1,33,.5,10,Walking\n2,5,1.5,?,Sitting\n\n3,5,2.5,30,Sitting\n4,5,2.5,40,Walking;
"""


@pytest.mark.parametrize(
    ("read", "text", "features", "names"),
    [
        (read_keel, "1, .5, Iris-b\n-2,30, Iris-a\n\n", [[1, 0.5], [-2, 30]], ["Iris-b", "Iris-a"]),
        (read_keel, "47,100,8\n0,89,2\n", [[47, 100], [0, 89]], ["8", "2"]),
        (read_expressions, 'GENES\tAD\tAD\tNL\n"gene 1"\t1.5\t2\t3\ngene 2\t4\t5\t-6\n',
         [[1.5, 4], [2, 5], [3, -6]], ["AD", "AD", "NL"]),  # genes in rows
        # Without number and user; the median for what is unknown.
        (read_activities, ARFF, [[0.5, 10], [1.5, 30], [2.5, 30], [2.5, 40]],
         ["Walking", "Sitting", "Sitting", "Walking"]),
    ],
)  # fmt: skip
def test_texts_of_others(tmp_path: Path, read: Any, text: str, features: list[Any], names: list[str]) -> None:
    (tmp_path / "toy.txt").write_text(text)
    found = read(tmp_path / "toy.txt")
    assert (found[0].tolist(), found[1].tolist()) == (features, names)


def test_wifi_of_one_user_in_the_order_of_time(tmp_path: Path) -> None:
    path = tmp_path / "toy.zip"
    lines = [
        "WAP001,WAP002,WAP003,FLOOR,BUILDINGID,USERID,TIMESTAMP",
        "-50,100,100,1,0,7,30", "100,-40,100,0,0,8,10", "-60,100,-104,2,1,7,20",
    ]  # fmt: skip
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("UJIndoorLoc/trainingData.csv", "\n".join(lines))
    features, names = read_wifi(path, 7)
    assert features.tolist() == [[-60, -104], [-50, -105]]
    assert names.tolist() == ["building 1 floor 2", "building 0 floor 1"]


def test_texts(tmp_path: Path) -> None:
    one, two = tmp_path / "one.txt", tmp_path / "two.txt"
    one.write_text("earn\tprofit rose\nacq\tshares bought\n")
    two.write_text("earn\tprofit fell\n\n")
    features, names = read_texts([one, two])
    assert names.tolist() == ["earn", "acq", "earn"]
    # Words in alphabetical order: bought fell profit rose shares. tf-idf by its definition, with smooth idf.
    rare, common = np.log(4 / 2) + 1, np.log(4 / 3) + 1
    expected = np.array([[0, 0, common, rare, 0], [rare, 0, 0, 0, rare], [0, rare, common, 0, 0]])
    np.testing.assert_allclose(features, expected / np.linalg.norm(expected, axis=1, keepdims=True), rtol=1e-6)


def test_har_has_training_windows_first_and_names_of_activities(tmp_path: Path) -> None:
    folder = tmp_path / "har" / "UCI HAR Dataset"
    for part in ("train", "test"):
        (folder / part).mkdir(parents=True)
    (folder / "activity_labels.txt").write_text("1 WALKING\n2 SITTING\n")
    (folder / "train" / "X_train.txt").write_text("  1.0e-001 -2.0e+000\n  3 4\n")
    (folder / "train" / "y_train.txt").write_text("2\n1\n")
    (folder / "test" / "X_test.txt").write_text("5 6\n")
    (folder / "test" / "y_test.txt").write_text("2\n")
    data = load_benchmark(which="har", root=tmp_path)
    np.testing.assert_allclose(data.features, np.array([[0.1, -2], [3, 4], [5, 6]]), rtol=1e-6)
    assert data.labels.tolist() == [0, 1, 0]  # SITTING before WALKING
    (folder / "test" / "y_test.txt").unlink()
    with pytest.raises(UserError, match=r"har: y_test\.txt"):
        load_benchmark(which="har", root=tmp_path)


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
    with pytest.raises(UserError, match="stl10"):
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
    with pytest.raises(UserError, match="reuters10k"):
        read_own("reuters10k", tmp_path)


@pytest.fixture
def letters(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data root with six made letters, which pass for the published ones."""
    content = b"1,10,C\n2,20,A\n3,0,B\n4,50,A\n5,9,C\n6,60,A\n"
    files = {"letter.dat": hashlib.sha256(content).hexdigest()}
    monkeypatch.setitem(PUBLIC, "letter", replace(PUBLIC["letter"], files=files))
    monkeypatch.delenv("SEMICROWD_MIRROR", raising=False)
    monkeypatch.setenv("SEMICROWD_OFFLINE", "1")
    (tmp_path / "uci").mkdir()
    (tmp_path / "uci/letter.dat").write_bytes(content)
    return tmp_path


def test_classes_columns_and_items_are_chosen(letters: Path) -> None:
    def load(**options: Any) -> Any:
        return load_benchmark(which="letter", root=letters, **options)

    whole = load()
    assert (whole.name, whole.num_classes, whole.labels.tolist()) == ("letter", 3, [2, 0, 1, 0, 2, 0])
    assert whole.features[:, 0].tolist() == [1, 2, 3, 4, 5, 6]
    some = load(classes=["C", "A"])
    assert (some.num_classes, some.labels.tolist()) == (2, [1, 0, 0, 1, 0])
    assert load(columns=1).features[:, 0].tolist() == [10, 20, 0, 50, 9, 60]
    few, more = (set(load(subset=n, data_seed=3).features[:, 0].tolist()) for n in (2, 4))
    assert (len(few), len(more)) == (2, 4)
    assert few < more
    assert len({tuple(load(subset=3, data_seed=seed).features[:, 0]) for seed in range(20)}) > 1


def test_folds_share_out_the_items_or_the_classes() -> None:
    def load(**options: Any) -> Any:
        return load_benchmark(which="wine", data_seed=4, **options)

    whole = load().features
    parts = [load(fold=fold) for fold in range(3)]
    assert sorted(len(part.test_features) for part in parts) == [59, 59, 60]
    for part in parts:
        together = np.concatenate([part.features, part.test_features])
        assert np.array_equal(np.unique(together, axis=0), np.unique(whole, axis=0))
    tests = np.concatenate([part.test_features for part in parts])
    assert np.array_equal(np.unique(tests, axis=0), np.unique(whole, axis=0))
    alike = load(item_scale=True).features
    assert np.allclose(alike * whole.std(1, keepdims=True) + whole.mean(1, keepdims=True), whole, atol=1e-3)
    apart = load(fold=0, fold_classes=True, per_class=10)
    assert (apart.num_classes, len(apart.labels), len(apart.test_labels)) == (2, 20, 10)
    assert not set(apart.labels) & set(apart.test_labels)
    other = load_benchmark(which="wine", fold=0)
    assert not np.array_equal(parts[0].features, other.features)


@pytest.mark.needs_data
@pytest.mark.parametrize(
    ("which", "shape", "classes"),
    [
        ("optdigits", (5620, 64), {"0": 554, "9": 562}),
        ("pen", (10992, 16), {"3": 1055, "6": 1056, "8": 1055}),
        ("letter", (20000, 16), {"I": 755, "J": 747}),
        ("leukaemia", (248, 2526), {"BCR-ABL": 15}),
        ("lung", (203, 1543), {"AD": 139, "SQ": 21, "COID": 20, "SCLC": 6}),
        ("activities", (5418, 43), {"Walking": 2081, "Standing": 246}),
        ("texts", (7674, 2000), {"earn": 3923, "acq": 2292, "crude": 374, "trade": 326}),
        ("wifi_1", (2737, 141), {}),
        ("wifi_11", (4516, 357), {}),
        ("wifi_14", (1596, 184), {}),
    ],
)
def test_real_tables(
    public_data: Callable[[str], Path], which: str, shape: tuple[int, int], classes: dict[str, int]
) -> None:
    root = public_data(which.partition("_")[0])
    data = load_benchmark(root=root, which=which)
    assert data.features.shape == shape
    kinds = {"leukaemia": 6, "lung": 5, "activities": 6, "texts": 8, "wifi_1": 4, "wifi_11": 8, "wifi_14": 4}
    assert data.num_classes == kinds.get(which, 26 if which == "letter" else 10)
    for name, size in classes.items():
        assert load_benchmark(root=root, which=which, classes=[name]).num_items == size
    assert set(data.hashes) == set(PUBLIC[which.partition("_")[0]].files)
