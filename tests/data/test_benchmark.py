"""Public tables: what is chosen of a table, and the facts of the real files."""

import hashlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_iris

from semicrowd.data.benchmark import load_benchmark
from semicrowd.data.fetch import PUBLIC


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


def test_tables_of_scikit_learn() -> None:
    data = load_benchmark(which="iris")
    assert np.array_equal(data.features, load_iris().data.astype(np.float32))
    digits = load_benchmark(which="digits", classes=[3, 8])
    assert (digits.num_items, digits.num_features, digits.num_classes) == (183 + 174, 64, 2)


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
    assert data.labels is not None
    assert data.features.shape == shape
    kinds = {"leukaemia": 6, "lung": 5, "activities": 6, "texts": 8, "wifi_1": 4, "wifi_11": 8, "wifi_14": 4}
    assert data.num_classes == kinds.get(which, 26 if which == "letter" else 10)
    for name, size in classes.items():
        assert load_benchmark(root=root, which=which, classes=[name]).num_items == size
    assert set(data.hashes) == set(PUBLIC[which.partition("_")[0]].files)


