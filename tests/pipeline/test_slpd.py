"""Many fits at a time are the runs that they stand for, and a stage that was stopped goes on."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from semicrowd.data import Dataset, load_dataset
from semicrowd.data.load import load_annotations
from semicrowd.estimators.base import CrowdClusterer
from semicrowd.methods import slpd
from semicrowd.methods.ckm import CKM
from semicrowd.methods.slpd import SLPD, Table
from semicrowd.metrics.clustering import balanced_rand_index
from semicrowd.pipeline.slpd import tables
from semicrowd.pipeline.slpd.plan import SETS, TableSet, splits

ROOT = Path("unused")


def fold_of(**options: Any) -> tuple[Dataset, np.ndarray, np.ndarray]:
    """The data, test items and their labels."""
    data = load_dataset("benchmark", ROOT, **options)
    assert data.test_features is not None
    assert data.test_labels is not None
    return data, data.test_features, data.test_labels


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    model = TableSet.model
    monkeypatch.setattr(TableSet, "model", lambda self, count: model(self, count).set_params(n_iter=40))


@pytest.mark.parametrize("share", [0.0, 0.5])
def test_a_cell_is_what_runs_of_its_command_find(share: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slpd, "_VALUES", 30_000)  # two batches
    rows = {(row[0], row[3]): row[4] for row in tables.rows_of("wine", share, range(3, 4), ROOT)}
    for fold in range(3):
        data, test, labels = fold_of(which="wine", fold=fold, data_seed=3)
        answers = load_annotations("labels", data, 3, ROOT, fraction=share) if share else None
        models: dict[str, CrowdClusterer] = {
            "ckm": CKM(3, random_state=3), "slpd": SLPD(3, n_iter=40, random_state=3),
        }  # fmt: skip
        for name, model in models.items():
            found = model.fit(data.features, answers).predict(test)
            assert rows[name, fold] == pytest.approx(balanced_rand_index(labels, found), abs=1e-9), name
    assert "data.fold=0,1,2 'data.data_seed=${seed}' seed=0-9" in SETS["wine"].command("slpd", share, 10)


def test_a_chosen_number_of_clusters_is_that_of_a_fit_with_as_many() -> None:
    rows = [row for row in tables.rows_of("iris", 0.25, range(2), ROOT) if row[0] == tables.CHOSEN]
    assert [(row[2], row[3]) for row in rows] == [(trial, fold) for trial in range(2) for fold in range(3)]
    for _, _, trial, fold, bri, clusters in rows:
        data, test, labels = fold_of(which="iris", fold=fold, data_seed=trial)
        answers = load_annotations("labels", data, trial, ROOT, fraction=0.25)
        model = SLPD(clusters, n_restarts=tables.RESTARTS, n_iter=40, random_state=trial).fit(data.features, answers)
        assert bri == pytest.approx(balanced_rand_index(labels, model.predict(test)), abs=1e-9)
    assert {name for name, of in SETS.items() if of.choose} == {"iris", "wine"}


@pytest.mark.parametrize("kinds", [2, 4])
def test_as_many_clusters_as_there_are(kinds: int) -> None:
    rng = np.random.default_rng(kinds)
    centres = 6.0 * rng.permutation(np.eye(4, 8) + np.eye(4, 8, 4))[:kinds]
    train = centres[np.arange(120) % kinds] + rng.normal(size=(120, 8))
    assert tables.choose([Table(train, np.arange(120), 0)], SLPD(least_variance=1e-3, n_iter=40)) == [kinds]


def test_all_folds_of_a_trial_share_out_its_items_and_labels() -> None:
    found = splits("iris", 0.25, range(2), ROOT)
    assert [(one.trial, one.fold) for one in found] == [(t, f) for t in range(2) for f in range(3)]
    assert sum(len(one.test_labels) for one in found[:3]) == 150
    for one in found:
        sizes = [int((one.table.blocks == block).sum()) for block in set(one.table.blocks.tolist())]
        assert sum(size for size in sizes if size > 1) == 25


def test_a_stage_keeps_what_the_same_code_has_done(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code = {"a": "1"}
    monkeypatch.setattr(tables, "fingerprints", lambda _: code)
    done: list[tuple[float, range]] = []

    def rows_of(_: str, share: float, trials: range, __: Path) -> list[list[object]]:
        done.append((share, trials))
        return [["ckm", share, trial, 0, 0.5, 3] for trial in trials]

    monkeypatch.setattr(tables, "rows_of", rows_of)
    place = tmp_path / "out"
    tables.run("wine", 12, place, ROOT)
    assert done == [(share, trials) for trials in (range(10), range(10, 12)) for share in (0.0, 0.25, 0.5)]
    (place / "wine" / "0.25-0-9.csv").unlink()
    done.clear()
    tables.run("wine", 12, place, ROOT)
    assert done == [(0.25, range(10))]
    assert len(tables.read_rows("wine", place)) == 36
    code["a"] = "2"
    done.clear()
    tables.run("wine", 10, place, ROOT)
    assert len(done) == 3
    assert len(tables.read_rows("wine", place)) == 30


def test_tested_classes_are_clustered_alone_too_where_they_are_clustered_together(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The other reading of what the paper did with leukaemia: other items and clusters, and no labels."""
    options: dict[str, Any] = {"which": "iris", "folds": 3, "fold_classes": False}
    monkeypatch.setitem(SETS, "toy", TableSet(options, 6, together=True, restarts=2))
    rows = {tuple(row[:4]): row[4:] for row in tables.rows_of("toy", 0.0, range(1), ROOT)}
    for fold in range(3):
        _, test, labels = fold_of(**options, fold=fold, data_seed=0)
        models: dict[str, CrowdClusterer] = {
            "ckm": CKM(2, random_state=0), "slpd": SLPD(2, n_restarts=2, n_iter=40, random_state=0),
        }  # fmt: skip
        for name, model in models.items():
            index = balanced_rand_index(labels, model.fit(test).predict(test))
            assert rows[f"{name}, {tables.ALONE}", 0.0, 0, fold] == [pytest.approx(index, abs=1e-9), 2], name
            assert rows[name, 0.0, 0, fold][1] == 6
    assert not [row for row in tables.rows_of("toy", 0.25, range(1), ROOT) if tables.ALONE in row[0]]
