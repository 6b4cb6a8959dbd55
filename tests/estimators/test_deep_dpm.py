"""Deep Dirichlet process mixture as an estimator."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from semicrowd.fitting.monitor import Monitor

from semicrowd import DPM, DeepDPM
from semicrowd.data.generated import load_shapes
from semicrowd.errors import UserError
from semicrowd.estimators.inputs import checked_answers
from semicrowd.fitting import iterate as driver
from semicrowd.methods.deep_dpm import _Fit
from semicrowd.metrics import clustering_scores

RNG = np.random.default_rng(0)
LABELS = np.repeat(np.arange(3), 30)
POINTS = np.array([4.0, 1.0, 0.3]) * (8 * np.eye(3)[LABELS] + RNG.normal(size=(90, 3))) + 5
SHORT: dict[str, Any] = {"n_warm": 2, "n_epochs": 5, "n_steps": 3, "width": 16, "batch_size": 32, "n_start": 6}


@pytest.mark.slow
@pytest.mark.parametrize("which", ["moons", "gaussians"])
def test_the_clusters_of_fig_1_are_found_and_counted(which: str) -> None:
    data = load_shapes(which=which)
    assert data.labels is not None
    found = DeepDPM().fit(data.features)
    assert clustering_scores(data.labels, found.labels_)["acc"] >= 0.95
    assert found.n_clusters_ == data.labels.max() + 1


def test_the_warm_epochs_are_the_sweeps_of_dpm() -> None:
    same: dict[str, Any] = {"n_start": 6, "start": "kmeans", "scatter": 1.0, "variance_strength": 5.0, "splits": 0}
    standard = (POINTS - POINTS.mean(0)) / POINTS.std(0)
    monitor = Monitor()
    DeepDPM(n_warm=3, n_epochs=1, n_sweeps=2, n_steps=1, width=4, **same).fit(POINTS, monitor=monitor)
    plain = DPM(family="isotropic", n_chains=1, n_sweeps=8, n_kept=1, **same).fit(standard)
    found = plain.chains_.iloc[[1, 3, 5, 7]]
    assert [row["alpha"] for row in monitor.rows] == pytest.approx(found["alpha"].tolist())
    assert [row["log_likelihood"] for row in monitor.rows] == pytest.approx(found["log_likelihood"].tolist())


def test_the_flow_there_and_back_after_any_epoch_that_was_kept() -> None:
    found = DeepDPM(**SHORT, keep_every=3, learning_rate=0.01).fit(POINTS)
    assert found.epochs_ == [3, 6, 7]
    standard = (POINTS - POINTS.mean(0)) / POINTS.std(0)
    z = found.transform(POINTS)
    assert np.abs(z - standard).max() > 1e-3
    assert np.abs(found.transform(POINTS, 3) - standard).max() < np.abs(z - standard).max()
    for epoch in (3, None):
        back = found.inverse_transform(found.transform(POINTS, epoch), epoch)
        assert back == pytest.approx(POINTS, abs=1e-4)
    assert found.result_.latent_mean == pytest.approx(z, abs=1e-6)
    assert np.array_equal(found.predict(POINTS), found.labels_)
    with pytest.raises(UserError, match="epoch=4: the flow of this epoch was not kept; kept epochs: 3, 6, 7"):
        found.transform(POINTS, 4)


def right_pairs(annotators: int) -> np.ndarray:
    """60 right answers of so many annotators, columns i, j, worker, label."""
    pairs = np.column_stack([RNG.integers(0, 45, 60), RNG.integers(45, 90, 60), RNG.integers(0, annotators, 60)])
    return np.column_stack([pairs, LABELS[pairs[:, 0]] == LABELS[pairs[:, 1]]])


def stopped_and_resumed(
    options: dict[str, Any], pairs: np.ndarray, epoch: int, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> DeepDPM:
    """A fit that is interrupted when its epoch of this number, counted from 1, begins, and then goes on."""
    step, begun = _Fit.step, list[int]()

    def stopping(self: _Fit, iteration: int) -> Mapping[str, float]:
        begun.append(iteration)
        if len(begun) == epoch:
            raise KeyboardInterrupt
        return step(self, iteration)

    monkeypatch.setattr(driver, "EVERY", -1.0)
    monkeypatch.setattr(_Fit, "step", stopping)
    with pytest.raises(KeyboardInterrupt):
        DeepDPM(**options).fit(POINTS, pairs, monitor=Monitor(folder))
    monkeypatch.setattr(_Fit, "step", step)
    return DeepDPM(**options).fit(POINTS, pairs, monitor=Monitor(folder, resume=True))


def test_answers_part_what_the_points_do_not() -> None:
    """One cloud of points, two kinds; one annotator knows them, one says the opposite, one guesses."""
    rng = np.random.default_rng(1)
    kinds, points = np.arange(60) % 2, rng.normal(size=(60, 2))
    i, j = np.triu_indices(60, 1)
    who, same = rng.integers(3, size=len(i)), kinds[i] == kinds[j]
    said = np.select([who == 0, who == 1], [same, ~same], rng.random(len(i)) < 0.5)
    pairs = np.column_stack([i, j, who, said])
    found = DeepDPM(n_warm=10, n_epochs=1, n_steps=0, n_start=2, quality_prior=(2.0, 1.0)).fit(points, pairs)
    assert clustering_scores(kinds, found.labels_)["acc"] > 0.95
    assert found.workers_ is not None
    assert found.workers_["sensitivity"].to_numpy() == pytest.approx([1, 0, 0.5], abs=0.1)
    assert found.workers_["specificity"].to_numpy() == pytest.approx([1, 0, 0.5], abs=0.1)
    assert not np.array_equal(found.result_.features.cluster, found.labels_)


def test_cells_that_answers_say_are_one_kind_begin_as_one_cluster() -> None:
    """Of three clouds two are one kind."""
    i, j = (RNG.integers(90, size=200) for _ in range(2))
    i, j = i[i != j], j[i != j]
    same = (LABELS[i] == 2) == (LABELS[j] == 2)
    pairs = checked_answers(np.column_stack([i, j, same]), 90)
    model = DeepDPM(**SHORT | {"n_start": 3})
    model.seed_ = 0
    first = _Fit(model, POINTS, pairs).mixture.chain.z
    assert len(np.unique(first)) == 2
    assert clustering_scores(LABELS == 2, first)["acc"] == 1
    assert len(np.unique(_Fit(model, POINTS, None).mixture.chain.z)) == 3


def test_gaussians_that_are_likelier_as_one_are_one_cluster() -> None:
    """Three clouds of so many points that the cells of k-means stay Gaussians; the flow is still."""
    labels = np.repeat(np.arange(3), 400)
    points = 8 * np.eye(3)[labels] + RNG.normal(size=(1200, 3))
    options = {"n_warm": 1, "n_epochs": 1, "n_sweeps": 1, "n_steps": 0, "n_start": 12, "splits": 0, "width": 4}
    apart, found = DeepDPM(**options, unions=False).fit(points), DeepDPM(**options).fit(points)
    assert apart.cluster_.tolist() == list(range(len(apart.means_)))
    assert len(found.means_) == len(apart.means_) > 3
    assert found.n_clusters_ == 3
    assert clustering_scores(labels, found.labels_)["acc"] == 1
    share = apart.predict_proba(points)
    assert np.array_equal(found.gaussian(points), share.argmax(1))
    for cluster in range(3):
        expected = share[:, found.cluster_ == cluster].sum(1)
        assert found.predict_proba(points)[:, cluster] == pytest.approx(expected, abs=1e-12)


def test_of_several_fits_the_one_with_the_highest_joint_probability_is_kept() -> None:
    pairs = right_pairs(1)
    one, several = DeepDPM(**SHORT).fit(POINTS, pairs), DeepDPM(**SHORT, n_init=4).fit(POINTS, pairs)
    compared = several.result_.restarts
    assert one.result_.restarts is None
    assert compared is not None
    assert compared.column == "log_joint"
    assert len(np.unique(compared.score)) == 4
    assert compared.score[compared.best] == compared.score.max()
    assert np.array_equal(compared.clusters[0], one.result_.features.cluster)
    assert np.array_equal(compared.clusters[compared.best], several.result_.features.cluster)
    assert np.array_equal(several.predict(POINTS), several.result_.features.cluster)


@pytest.mark.parametrize(("n_init", "epoch"), [(1, 5), (3, 8), (3, 11), (3, 21)])
def test_stopped_fits_go_on_to_the_same_bytes(
    n_init: int, epoch: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Seven epochs a fit: stopped in the first epoch of the second, in its middle, and in the last of the third."""
    options, pairs = {**SHORT, "n_init": n_init, "keep_every": 2}, right_pairs(3)
    whole = DeepDPM(**options).fit(POINTS, pairs)
    again = stopped_and_resumed(options, pairs, epoch, tmp_path, monkeypatch)
    assert whole.result_.final.memberships.tobytes() == again.result_.final.memberships.tobytes()
    assert whole.epochs_ == again.epochs_ == [2, 4, 6, 7]
    if n_init > 1:
        assert whole.result_.restarts is not None
        assert again.result_.restarts is not None
        assert whole.result_.restarts.score.tolist() == again.result_.restarts.score.tolist()
    assert whole.workers_ is not None
    assert whole.workers_.equals(again.workers_)
    assert whole.transform(POINTS).tobytes() == again.transform(POINTS).tobytes()


def test_one_column_is_refused() -> None:
    with pytest.raises(UserError, match=r"X: 1 feature\(s\); expected at least two"):
        DeepDPM().fit(POINTS[:, :1])
