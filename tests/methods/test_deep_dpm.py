"""Deep Dirichlet process mixture as an estimator."""

from typing import Any

import numpy as np
import pytest
import torch
from torch.distributions import MultivariateNormal

from semicrowd import DeepDPM
from semicrowd.data.generated import load_shapes
from semicrowd.errors import UserError
from semicrowd.inference.gibbs.chain import Chain, Model
from semicrowd.inference.gibbs.isotropic import base_of, isotropic
from semicrowd.methods.deep_dpm import estimator
from semicrowd.methods.deep_dpm.em import DeepMixture, energy, pushed
from semicrowd.metrics import clustering_scores
from semicrowd.nets.mlp import NICE
from semicrowd.random import stream, torch_stream

RNG = np.random.default_rng(0)
LABELS = np.repeat(np.arange(3), 30)
POINTS = np.array([4.0, 1.0, 0.3]) * (8 * np.eye(3)[LABELS] + RNG.normal(size=(90, 3))) + 5
SHORT: dict[str, Any] = {"n_warm": 2, "n_epochs": 5, "n_steps": 3, "n_start": 6}


@pytest.fixture(autouse=True)
def narrow(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """A quick flow, but where it has something to learn."""
    if not request.node.get_closest_marker("slow"):
        monkeypatch.setattr(estimator, "WIDTH", 16)


@pytest.mark.slow
@pytest.mark.parametrize("which", ["moons", "gaussians"])
def test_the_clusters_of_fig_1_are_found_and_counted(which: str) -> None:
    data = load_shapes(which=which)
    found = DeepDPM().fit(data.features)
    assert clustering_scores(data.labels, found.labels_)["acc"] >= 0.95
    assert found.n_clusters_ == data.labels.max() + 1


def test_the_warm_epochs_are_the_sweeps_of_a_mixture_of_the_items() -> None:
    options: dict[str, Any] = {"scatter": 1.0, "variance_strength": 5.0, "splits": 0, "n_sweeps": 2, "n_steps": 1}
    found = DeepDPM(n_warm=3, n_epochs=1, **options).fit(POINTS)
    standard = (POINTS - POINTS.mean(0)) / POINTS.std(0)
    chain = Chain(Model(isotropic(standard, *base_of(standard, 1.0, 0.01, 5.0)), len(standard)))
    expected = []
    for sweep in range(8):
        chain.sweep(stream(0, "gibbs", 0, sweep))
        expected.append((chain.alpha, chain.log_likelihood))
    course = np.array([(row["alpha"], row["log_likelihood"]) for row in found.history_])
    np.testing.assert_allclose(course, np.array(expected[1::2]))


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


def test_answers_part_what_the_points_do_not(monkeypatch: pytest.MonkeyPatch) -> None:
    """One cloud of points, two kinds; one annotator knows them, one says the opposite, one guesses."""
    rng = np.random.default_rng(1)
    kinds, points = np.arange(60) % 2, rng.normal(size=(60, 2))
    i, j = np.triu_indices(60, 1)
    who, same = rng.integers(3, size=len(i)), kinds[i] == kinds[j]
    said = np.select([who == 0, who == 1], [same, ~same], rng.random(len(i)) < 0.5)
    pairs = np.column_stack([i, j, who, said])
    monkeypatch.setattr(estimator, "QUALITY_PRIOR", (2.0, 1.0))
    found = DeepDPM(n_warm=10, n_epochs=1, n_steps=0, n_start=2).fit(points, pairs)
    assert clustering_scores(kinds, found.labels_)["acc"] > 0.95
    assert found.workers_["sensitivity"].to_numpy() == pytest.approx([1, 0, 0.5], abs=0.1)
    assert found.workers_["specificity"].to_numpy() == pytest.approx([1, 0, 0.5], abs=0.1)
    assert not np.array_equal(found.result_.features.cluster, found.labels_)


def test_gaussians_that_are_likelier_as_one_are_one_cluster() -> None:
    """Three clouds of so many points that the cells of k-means stay Gaussians; the flow is still."""
    labels = np.repeat(np.arange(3), 400)
    points = 8 * np.eye(3)[labels] + RNG.normal(size=(1200, 3))
    options = {"n_warm": 1, "n_epochs": 1, "n_sweeps": 1, "n_steps": 0, "n_start": 12, "splits": 0}
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
    assert compared.column == "log_joint"
    assert len(np.unique(compared.score)) == 4
    assert compared.score[compared.best] == compared.score.max()
    assert np.array_equal(compared.clusters[0], one.result_.features.cluster)
    assert np.array_equal(compared.clusters[compared.best], several.result_.features.cluster)
    assert np.array_equal(several.predict(POINTS), several.result_.features.cluster)


def test_a_concentration_that_is_given_is_not_sampled() -> None:
    assert {row["alpha"] for row in DeepDPM(**SHORT, alpha=0.37).fit(POINTS).history_} == {0.37}


def test_one_column_is_refused() -> None:
    with pytest.raises(UserError, match=r"X: 1 feature\(s\); expected at least two"):
        DeepDPM().fit(POINTS[:, :1])


DRAWN = np.random.default_rng(0)
TWO_CLOUDS = np.concatenate([DRAWN.normal(size=(60, 2)) * [2.0, 0.3] - 3, DRAWN.normal(size=(60, 2)) * [0.3, 2.0] + 3])


def mixture() -> DeepMixture:
    flow = NICE(2, 4, 32, [torch_stream(0, "test")])
    found = DeepMixture(TWO_CLOUDS, flow, lambda z: isotropic(z, np.zeros(2), 0.01, 5.0, 5.0), 1e-2)
    found.chain.begin(np.arange(120) // 60)
    return found


def test_a_step_follows_the_gradient_of_eq_16() -> None:
    flow, y = NICE(2, 2, 8, [torch_stream(0, "test")]), torch.from_numpy(TWO_CLOUDS).float()
    cluster, mean, precision = torch.arange(120) % 2, torch.randn(2, 2), torch.tensor([0.5, 3.0])
    energy(flow(y)[0], mean, precision, cluster).mul(120).backward()
    found = [one.grad.clone() for one in flow.parameters() if one.grad is not None]
    flow.zero_grad()
    covariance = torch.eye(2) / precision[cluster, None, None]
    (-MultivariateNormal(mean[cluster], covariance).log_prob(flow(y)[0]).sum()).backward()
    for one, other in zip(found, (p.grad for p in flow.parameters()), strict=True):
        assert one.numpy() == pytest.approx(other.numpy(), rel=1e-3, abs=1e-3)


def test_the_flow_makes_the_items_likelier_given_their_clusters() -> None:
    model = mixture()
    model.expectation([stream(0, "test", sweep) for sweep in range(5)])
    before = model.clusters().log_evidence()
    assert before == pytest.approx(model.chain.log_likelihood)
    model.maximisation(100, 64, torch_stream(0, "test"), stream(1, "test"))
    assert model.clusters().log_evidence() > before + 50
    assert pushed(model.flow, model.y) == pytest.approx(model.clusters().x)
    back = pushed(model.flow, torch.from_numpy(pushed(model.flow, model.y)).float(), inverse=True)
    assert back == pytest.approx(TWO_CLOUDS, abs=1e-4)
