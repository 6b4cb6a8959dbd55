"""The start from a mixture: joins by the evidence of a partition; the VAE's posterior, by densities."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from joblib import Memory
from scipy.special import gammaln
from sklearn.metrics import adjusted_rand_score
from tests.inference.test_natural_gradient import log_evidence
from tests.small_fits import SmallFit, small_fit
from torch.distributions import MultivariateNormal, Normal

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.data import Dataset
from semicrowd.expfam import dirichlet, gaussian
from semicrowd.inference.graph import answer_graph
from semicrowd.models.bayes import BayesSCDC
from semicrowd.models.scdc import SCDC
from semicrowd.starts import answer_classifier, teaching, vae
from semicrowd.starts.answers import AnswerStart, answer_start
from semicrowd.starts.partition import answer_gains, joined
from semicrowd.starts.vae import PRIOR_SD, train_vae

Build = Callable[..., SmallFit[Any]]


@pytest.mark.parametrize("with_answers", [True, False])
@pytest.mark.parametrize("most", [2, 6])
def test_components_are_joined_while_the_evidence_of_the_partition_rises(
    build: Build, with_answers: bool, most: int
) -> None:
    """The same joins as by comparing all partitions: features item by item, answers by eq. 1 at E ln α and E ln β."""
    fit = build("bayes", n_clusters=6)
    model, rng = fit.model, np.random.default_rng(0)
    number, centres = fit.data.num_items, 3 * rng.normal(size=(3, 2))
    partition = np.arange(number) % 6
    x = centres[partition // 2] + rng.normal(size=(number, 2))
    alpha, beta = (log[0].detach().numpy() for log in model.annotator_statistics())
    a = fit.annotations

    def evidence(clusters: np.ndarray) -> float:
        sizes = np.bincount(clusters, minlength=6)
        total = gammaln(sizes + 0.05 / 6).sum() + sum(log_evidence(x[clusters == k]) for k in np.unique(clusters))
        if with_answers:
            for i, j, worker, label in zip(a.i, a.j, a.worker, a.label, strict=True):
                total += alpha[worker, 1 - label] if clusters[i] == clusters[j] else beta[worker, label]
        return total

    expected = partition
    while len(left := np.unique(expected)) > 1:
        unions = [np.where(expected == two, one, expected) for one in left for two in left[left > one]]
        best = max(unions, key=evidence)
        if len(left) <= most and evidence(best) <= evidence(expected):
            break
        expected = best
    prior = model.mixture_prior()
    z = torch.nn.functional.one_hot(torch.from_numpy(partition)).double()
    t_x = gaussian.statistics(torch.from_numpy(x), torch.zeros(number, 2, 2, dtype=torch.float64))
    statistics = torch.cat([t_x, t_x.new_ones(number, 2)], -1)
    whole = a.index.whole
    graph, _ = answer_graph(whole, *(log.detach() for log in model.annotator_statistics()))
    gains = answer_gains(graph, z[whole.items]) if with_answers else None
    found = joined(z, statistics, prior.pi[0, 0], prior.components[0, 0], most, gains)
    assert found.shape == (number, most)
    assert adjusted_rand_score(expected, found.argmax(1)) == 1


def test_the_posterior_of_the_vae_is_the_product_of_its_two_gaussians(build: Build) -> None:
    fit = build("bayes", restarts=2)
    model, items = fit.model, fit.features[:6]
    mean, covariance = gaussian.to_standard(model.vae_posterior(items, PRIOR_SD))
    potential_mean, variance = model.recognition(items)
    points = torch.randn(50, 2, 6, 2, generator=torch.Generator().manual_seed(0))
    product = Normal(potential_mean, variance.sqrt()).log_prob(points).sum(-1) + Normal(0, 3).log_prob(points).sum(-1)
    ratio = product - MultivariateNormal(mean, covariance).log_prob(points)
    assert ratio.std(0).max() < 1e-3  # the same function up to its normaliser


@pytest.mark.parametrize("name", ["bayes", "scdc"])
def test_a_start_finds_the_arms_that_the_answers_join(build: Build, pinwheel: Dataset, name: str) -> None:
    given = {"init_epochs": 60}
    fit, alone = build(name, **given), build(name, **given, with_answers=False)
    for one in (fit, alone):
        one.begin()
    score, score_without = (adjusted_rand_score(pinwheel.labels, one.clusters()) for one in (fit, alone))
    assert score > score_without + 0.1
    assert score > 0.6
    assert any(line.startswith("start 60/60") for line in fit.said)


def test_networks_of_a_restart_start_the_same_in_any_company(build: Build) -> None:
    single, double = (build("bayes", restarts=restarts).model.vae_parameters() for restarts in (1, 2))
    for one, two in zip(single, double, strict=True):
        torch.testing.assert_close(two[:1], one, rtol=0, atol=0)


@pytest.mark.parametrize("name", ["scdc", "bayes"])
def test_fits_share_their_vae_whatever_their_answers(
    name: str, pinwheel: Dataset, answers: PairAnnotations, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The networks of the second model are those of the first, to the byte, and other parameters train anew."""
    trained, real = list[object](), vae._train

    def counted(*given: Any) -> None:
        trained.append(given)
        real(*given)

    monkeypatch.setattr(vae, "_train", counted)

    def values(answers: PairAnnotations | None, memory: Memory, **how: Any) -> list[torch.Tensor]:
        fit = small_fit(name, pinwheel.features, answers, **how)
        object.__setattr__(fit.data, "memory", memory)
        train_vae(fit.model, fit.data, fit.said.append)
        return [parameter.detach().clone() for parameter in fit.model.vae_parameters()]

    kept = Memory(tmp_path, verbose=0)
    first, again = values(None, kept), values(answers, kept)
    assert len(trained) == 1
    assert all(torch.equal(one, other) for one, other in zip(first, again, strict=True))
    others: list[dict[str, Any]] = [
        {"seed": 1}, {"batch_size": 20}, {"init_epochs": 1}, {"hidden": (9,)}, {"latent_dim": 3},
        {"init_learning_rate": 0.02},
    ]  # fmt: skip
    for number, how in enumerate(others, 2):
        values(None, kept, **how)
        assert len(trained) == number
    values(None, Memory(None))
    assert len(trained) == number + 1, "without a place nothing is kept"


#: Networks learn 50 epochs with BayesSCDC and 20 with SCDC where nothing else is given.
START: dict[str, Any] = {"init": "answers", "init_epochs": 20}


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Half of the classifiers' steps."""
    monkeypatch.setattr(answer_classifier, "STEPS", 150)


def from_answers(fit: SmallFit[Any]) -> AnswerStart:
    """What the answers say alone; the same that the start begins with."""
    model, data = fit.model, fit.data
    params = model.params
    given = params.n_clusters, params.hidden, model.num_restarts
    return answer_start(data, fit.annotations, *given, fit.said.append)


def test_annotated_items_keep_what_their_answers_say(build: Build, answers: PairAnnotations) -> None:
    fit = build("scdc", n_clusters=5, **START)
    start = from_answers(fit)
    assert start.probabilities.shape == (1, 120, 5)
    torch.testing.assert_close(start.probabilities.sum(-1), torch.ones(1, 120))
    clusters = start.probabilities[0].argmax(-1).numpy()
    same = clusters[answers.i] == clusters[answers.j]
    assert (same == answers.label).mean() > 0.8  # the annotators are right nine times of ten


def test_scdc_learns_the_clusters_and_believes_the_annotators(build: Build) -> None:
    fit = build("scdc", n_clusters=5, teach_epochs=80, init_learning_rate=0.01, **START)
    fit.begin()
    model, start = fit.model, from_answers(fit)
    assert isinstance(model, SCDC)
    assert adjusted_rand_score(start.probabilities[0].argmax(-1), fit.clusters()) > 0.9
    shape = start.annotators.sensitivity[0] + 1
    np.testing.assert_allclose(model.logits_quality[0, 0].detach().sigmoid(), shape[:, 0] / shape.sum(-1), rtol=1e-5)


def test_bayes_learns_the_clusters_and_believes_the_annotators(
    build: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (answer_classifier, teaching):
        monkeypatch.setattr(module, "NOISE", 0.05)
    fit = build("bayes", n_clusters=5, teach_epochs=80, init_learning_rate=0.01, teach_weight=30.0, **START)
    fit.begin()
    model, found = fit.model, from_answers(fit)
    assert isinstance(model, BayesSCDC)
    clusters = found.probabilities[0].argmax(-1)
    assert adjusted_rand_score(clusters, fit.clusters()) > 0.9
    counts = dirichlet.to_standard(model.globals.eta["pi"].detach())[0] - 0.05 / 5
    np.testing.assert_allclose(counts, np.bincount(clusters, minlength=5), atol=1e-6)
    torch.testing.assert_close(model.globals.eta["specificity"].detach(), found.annotators.specificity)
