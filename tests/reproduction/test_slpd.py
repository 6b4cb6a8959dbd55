"""Stage ``slpd``: many fits at a time are the runs that they stand for."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from reproduction.stages import slpd as stage
from reproduction.stages.slpd import SETS, TableSet
from semicrowd.data import Dataset
from semicrowd.data.answers import labels as answers_of
from semicrowd.data.benchmark import load_benchmark
from semicrowd.estimators.base import CrowdClusterer
from semicrowd.methods import slpd
from semicrowd.methods.ckm import CKM
from semicrowd.methods.slpd import SLPD, Table
from semicrowd.metrics.clustering import balanced_rand_index


def fold_of(**options: Any) -> tuple[Dataset, np.ndarray, np.ndarray]:
    """The data, test items and their labels."""
    data = load_benchmark(**options)
    assert data.test_features is not None
    assert data.test_labels is not None
    return data, data.test_features, data.test_labels


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slpd, "_MOST_ITERATIONS", 40)


@pytest.mark.parametrize("share", [0.0, 0.5])
def test_a_cell_is_what_runs_of_its_command_find(share: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slpd, "_VALUES", 30_000)  # two batches
    rows = {(row[0], row[3]): row[4] for row in stage.rows_of("wine", share, range(3, 4))}
    for fold in range(3):
        data, test, labels = fold_of(which="wine", fold=fold, data_seed=3)
        answers = answers_of(data, fraction=share, seed=3) if share else None
        models: dict[str, CrowdClusterer] = {
            "ckm": CKM(3, random_state=3), "slpd": SLPD(3, random_state=3),
        }  # fmt: skip
        for name, model in models.items():
            found = model.fit(data.features, answers).predict(test)
            assert rows[name, fold] == pytest.approx(balanced_rand_index(labels, found), abs=1e-9), name


def test_a_chosen_number_of_clusters_is_that_of_a_fit_with_as_many() -> None:
    rows = [row for row in stage.rows_of("iris", 0.25, range(2)) if row[0] == stage.CHOSEN]
    assert [(row[2], row[3]) for row in rows] == [(trial, fold) for trial in range(2) for fold in range(3)]
    for _, _, trial, fold, bri, clusters in rows:
        data, test, labels = fold_of(which="iris", fold=fold, data_seed=trial)
        answers = answers_of(data, fraction=0.25, seed=trial)
        model = SLPD(clusters, n_restarts=stage.RESTARTS, random_state=trial).fit(data.features, answers)
        assert bri == pytest.approx(balanced_rand_index(labels, model.predict(test)), abs=1e-9)
    assert {name for name, of in SETS.items() if of.choose} == {"iris", "wine"}


@pytest.mark.parametrize("kinds", [2, 4])
def test_as_many_clusters_as_there_are(kinds: int) -> None:
    rng = np.random.default_rng(kinds)
    centres = 6.0 * rng.permutation(np.eye(4, 8) + np.eye(4, 8, 4))[:kinds]
    train = centres[np.arange(120) % kinds] + rng.normal(size=(120, 8))
    assert stage.choose([Table(train, np.arange(120), 0)], SLPD(least_variance=1e-3)) == [kinds]


def test_files_of_the_stage_have_all_trials(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def rows_of(_: str, share: float, trials: range) -> list[list[object]]:
        return [["ckm", share, trial, 0, 0.5, 3] for trial in trials]

    monkeypatch.setattr(stage, "rows_of", rows_of)
    monkeypatch.setattr(stage, "CURVE_CLUSTERS", range(2, 4))
    monkeypatch.setattr(stage, "LABELLED", {"none": ()})
    assert stage.main([str(tmp_path), "--iris", "12", "--wine", "1", "--curve", "1"]) == 0
    rows = pd.read_csv(tmp_path / "iris.csv")
    assert sorted(rows["trial"]) == sorted([*range(12)] * 3)
    assert len(pd.read_csv(tmp_path / "wine.csv")) == 3
    assert pd.read_csv(tmp_path / "sizes.csv").to_numpy().tolist() == [["iris", 150, 4, 3], ["wine", 178, 13, 3]]
    curve = pd.read_csv(tmp_path / "curve.csv")
    assert curve["clusters"].tolist() == [2, 3]
    assert np.isfinite(curve["log_likelihood"]).all()


def test_tested_classes_are_clustered_alone_too_where_they_are_clustered_together(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The other reading of what the paper did with leukaemia: other items and clusters, and no labels."""
    options: dict[str, Any] = {"which": "iris"}
    monkeypatch.setitem(SETS, "toy", TableSet(options, 6, together=True, restarts=2))
    rows = {tuple(row[:4]): row[4:] for row in stage.rows_of("toy", 0.0, range(1))}
    for fold in range(3):
        _, test, labels = fold_of(**options, fold=fold, data_seed=0)
        models: dict[str, CrowdClusterer] = {
            "ckm": CKM(2, random_state=0), "slpd": SLPD(2, n_restarts=2, random_state=0),
        }  # fmt: skip
        for name, model in models.items():
            index = balanced_rand_index(labels, model.fit(test).predict(test))
            assert rows[f"{name}, {stage.ALONE}", 0.0, 0, fold] == [pytest.approx(index, abs=1e-9), 2], name
            assert rows[name, 0.0, 0, fold][1] == 6
    assert not [row for row in stage.rows_of("toy", 0.25, range(1)) if stage.ALONE in row[0]]
