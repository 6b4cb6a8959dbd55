"""The two-coin model of an answer, against quadrature over the Beta distributions and against eq. 14 as printed."""

import itertools
import math

import numpy as np
import pytest
import torch
from scipy import stats
from scipy.optimize import minimize
from scipy.special import betaln, digamma
from tests.made import SENSITIVITY, SPECIFICITY

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.crowd.two_coin import (
    answer_chances,
    answer_weights,
    answers_without_clusters,
    fit_rates,
    hits_and_misses,
    log_evidence,
    pair_evidence,
    posterior_of_answers,
    quality_posterior,
)
from semicrowd.crowd.workers import WorkerPosterior, worker_frame
from semicrowd.expfam import dirichlet

ANSWERS = list(itertools.product(range(3), (0, 1)))  # (annotator, label)


def evidence() -> tuple[np.ndarray, np.ndarray]:
    """weight and offset, [R, P] each, under the Beta distributions above."""
    shapes = (torch.from_numpy(shape) for shape in (SENSITIVITY, SPECIFICITY))
    alpha, beta = (dirichlet.expected_statistics(dirichlet.to_natural(shape)) for shape in shapes)
    worker, label = torch.tensor(ANSWERS).T
    found = pair_evidence(alpha, beta, worker, label)
    return found.weight.numpy(), found.offset.numpy()


@pytest.mark.parametrize("same", [True, False])
def test_evidence_is_the_expected_log_likelihood_by_quadrature(same: bool) -> None:
    """E ln p(L | z_i, z_j; α, β) of eq. 1: Bern(L | α) for one cluster, Bern(L | 1 − β) for two."""
    weight, offset = evidence()
    for r in range(2):
        for p, (worker, label) in enumerate(ANSWERS):
            rate = stats.beta(*(SENSITIVITY if same else SPECIFICITY)[r, worker])
            right = label == 1 if same else label == 0
            expected = rate.expect(lambda q, right=right: np.log(q if right else 1 - q))
            assert weight[r, p] * same + offset[r, p] == pytest.approx(expected, rel=1e-6)


def test_weights_are_those_of_equation_14() -> None:
    """w = E[ln (1 − α)/β + L (ln α/(1 − α) + ln β/(1 − β))], with E ln q = ψ(a) − ψ(a + b)."""
    weight, _ = evidence()
    for r in range(2):
        for p, (worker, label) in enumerate(ANSWERS):
            (a1, a2), (b1, b2) = SENSITIVITY[r, worker], SPECIFICITY[r, worker]
            log_ratio = digamma(a2) - digamma(a1 + a2) - digamma(b1) + digamma(b1 + b2)
            odds = digamma(a1) - digamma(a2) + digamma(b1) - digamma(b2)
            assert weight[r, p] == pytest.approx(log_ratio + label * odds)


def test_quality_posterior_counts_hits_and_misses() -> None:
    # Of annotator 0 two answers "same" and one "different" are about one cluster, of annotator 1 half an answer "same".
    same = torch.tensor([[[1.0, 2.0], [0.0, 0.5]]])
    counts = torch.tensor([[4.0, 3.0], [5.0, 6.0]])
    sensitivity, specificity = quality_posterior(torch.tensor([10.0, 1.0]), torch.tensor([2.0, 3.0]), same, counts)
    assert sensitivity.tolist() == [[[12.0, 2.0], [10.5, 1.0]]]
    assert specificity.tolist() == [[[5.0, 4.0], [7.0, 8.5]]]


def test_known_rates_say_what_certain_beliefs_say() -> None:
    alpha, specificity = np.array([0.9, 0.55, 0.2]), np.array([0.8, 0.97, 0.5])
    worker, label = np.array(ANSWERS).T
    first, second = (torch.from_numpy(np.log(np.stack([rate, 1 - rate], -1)))[None] for rate in (alpha, specificity))
    believed = pair_evidence(first, second, torch.from_numpy(worker), torch.from_numpy(label))
    one, two = answer_chances(alpha, specificity, worker, label)
    np.testing.assert_allclose(np.log(two), believed.offset[0])
    np.testing.assert_allclose(np.log(one), believed.offset[0] + believed.weight[0])
    np.testing.assert_allclose(answer_weights(alpha, specificity, worker, label), believed.weight[0])


def test_hits_and_misses_are_added_up_by_annotator() -> None:
    """By a loop: 40 answers of four annotators, so that each gives each answer several times; the fifth gives none."""
    rng = np.random.default_rng(0)
    worker, label, same = rng.integers(4, size=40), rng.integers(2, size=40), rng.random((3, 40))
    expected = np.zeros((2, 3, 5, 2))
    for r in range(3):
        for p in range(40):
            expected[0, r, worker[p], 1 - label[p]] += same[r, p]
            expected[1, r, worker[p], label[p]] += 1 - same[r, p]
    for r in range(3):
        np.testing.assert_allclose(hits_and_misses(same[r], worker, label, 5), expected[:, r], rtol=1e-12)
    twice = hits_and_misses(np.repeat(same[0], 2), np.repeat(worker, 2), np.repeat(label, 2), 5)
    np.testing.assert_allclose(hits_and_misses(same[0], worker, label, 5, np.full(len(label), 2.0)), twice)
    prior = torch.tensor([10.0, 1.0], dtype=torch.float64), torch.tensor([2.0, 3.0], dtype=torch.float64)
    known = torch.from_numpy(worker), torch.from_numpy(label)
    for precision in (torch.float64, torch.float32):
        posterior = posterior_of_answers(*prior, torch.from_numpy(same).to(precision), *known, 5)
        for found, usual, side in zip(posterior, prior, expected, strict=True):
            assert found.dtype == torch.float64
            tolerance = 1e-12 if precision == torch.float64 else 1e-6
            np.testing.assert_allclose(found.numpy(), usual.numpy() + side, rtol=tolerance)


def test_the_evidence_of_a_rates_answers_is_their_chance_over_its_prior() -> None:
    """Five right and two wrong answers, and none, by quadrature over Beta(10, 1)."""
    rate = (np.arange(200_000) + 0.5) / 200_000
    chance = (rate**5 * (1 - rate) ** 2 * stats.beta.pdf(rate, 10, 1)).mean()
    found = log_evidence(np.array([[15.0, 3.0], [10.0, 1.0]]), (10.0, 1.0))
    np.testing.assert_allclose(found, [np.log(chance), 0], atol=1e-6)


def _crowd(annotators: int, each: int) -> tuple[np.ndarray, ...]:
    """Sensitivities from Beta(8, 2), specificities from Beta(12, 3), and answers, half of them about one class."""
    rng = np.random.default_rng(0)
    alpha, specificity = rng.beta(8, 2, annotators), rng.beta(12, 3, annotators)
    worker = np.repeat(np.arange(annotators), each)
    same = rng.random(len(worker)) < 0.5
    says = np.where(same, alpha[worker], 1 - specificity[worker])
    label = (rng.random(len(worker)) < says).astype(np.int64)
    return alpha, specificity, hits_and_misses(same.astype(float), worker, label, annotators)


def test_a_crowd_tells_what_its_annotators_are_like() -> None:
    """300 people with 30 answers each: closer to the truth than the shares of right answers of each."""
    alpha, specificity, counts = _crowd(300, 30)
    estimate = fit_rates(counts)
    for truth, mean, (right, wrong) in zip((alpha, specificity), estimate.means, counts.mT, strict=True):
        own = (right + 1) / (right + wrong + 2)
        assert np.sqrt(((mean - truth) ** 2).mean()) < 0.85 * np.sqrt(((own - truth) ** 2).mean())
    # What is fitted is the prior that the crowd was drawn from, the same for everybody.
    prior = estimate.sensitivity - counts[0]
    np.testing.assert_allclose(prior, np.broadcast_to(prior[0], (300, 2)), atol=1e-9)
    assert prior[0, 0] / prior[0].sum() == pytest.approx(0.8, abs=0.03)
    assert prior[0].sum() == pytest.approx(10, rel=0.5)


def test_means_are_shrunk_to_the_mode_of_the_likelihood_that_scipy_finds() -> None:
    counts = _crowd(40, 25)[2]
    right, wrong = counts[0].T

    def loss(log_shape: np.ndarray) -> float:
        """Beta-binomial, under the wide hyperprior of the crowd's shapes: ln a and ln b from N(0, 2²)."""
        a, b = np.exp(log_shape)
        likelihood = (betaln(a + right, b + wrong) - betaln(a, b)).sum()
        return float(-likelihood - stats.norm(0, 2).logpdf(log_shape).sum())

    a, b = np.exp(minimize(loss, [1.0, 0.0], method="Nelder-Mead", options={"xatol": 1e-8, "fatol": 1e-10}).x)
    np.testing.assert_allclose(fit_rates(counts).means[0], (a + right) / (a + b + right + wrong), rtol=1e-3)


def test_without_clusters_there_is_how_often_each_says_same() -> None:
    worker, label = np.array([0, 0, 2, 2, 2]), np.array([1, 0, 1, 1, 0])
    assert answers_without_clusters(worker, label, 3).tolist() == [[1, 1], [0, 0], [2, 1]]
    weights = np.array([0.5, 1.0, 0.25, 0.25, 2.0])
    assert answers_without_clusters(worker, label, 3, weights).tolist() == [[0.5, 1], [0, 0], [0.5, 2]]


POSTERIOR = WorkerPosterior(SENSITIVITY, SPECIFICITY)


@pytest.mark.parametrize("level", [0.5, 0.9])
def test_means_and_central_intervals_are_those_of_the_beta_distributions(level: float) -> None:
    found = zip((SENSITIVITY, SPECIFICITY), POSTERIOR.mean(), POSTERIOR.interval(level), strict=True)
    for shapes, mean, interval in found:
        for r, m in np.ndindex(2, 3):
            beta = stats.beta(*shapes[r, m])
            assert mean[r, m] == pytest.approx(beta.mean())
            assert interval[r, m] == pytest.approx(beta.interval(level))


def test_an_interval_is_stretched_to_hold_what_is_reported() -> None:
    """Of a Beta(a, b) with b < 1 the mean can lie outside the central interval, and a point estimate anywhere."""
    point = np.array([np.full((2, 3), 0.999), np.full((2, 3), 0.001)])
    reported = WorkerPosterior(SENSITIVITY, SPECIFICITY, point)
    np.testing.assert_array_equal(reported.mean(), point)
    above, below = reported.interval()
    own = POSTERIOR.interval()
    np.testing.assert_array_equal(above[..., 1], np.maximum(own[0][..., 1], 0.999))
    np.testing.assert_array_equal(above[..., 0], own[0][..., 0])
    np.testing.assert_array_equal(below[..., 0], np.minimum(own[1][..., 0], 0.001))
    np.testing.assert_array_equal(below[..., 1], own[1][..., 1])


@pytest.mark.parametrize("best", [0, 1])
def test_the_frame_by_loops(best: int) -> None:
    rng = np.random.default_rng(0)
    i = rng.integers(12, size=60)
    j = (i + rng.integers(1, 12, size=60)) % 12
    worker, label, kinds = np.arange(60) % 5 % 3, rng.integers(2, size=60), np.arange(12) % 3
    answers = PairAnnotations.from_arrays(i, j, worker, label, num_items=12, worker_names=("a", "b", "c"))
    frame = worker_frame(POSTERIOR, best, answers, kinds).set_index("annotator")
    assert frame.index.tolist() == ["a", "b", "c"]
    for m, name in enumerate("abc"):
        row = frame.loc[name]
        alpha, beta = stats.beta(*SENSITIVITY[best, m]), stats.beta(*SPECIFICITY[best, m])
        own = [(kinds[i[p]] == kinds[j[p]], label[p]) for p in range(60) if worker[p] == m]
        assert row["pairs"] == len(own)
        for side, rate, same in (("sensitivity", alpha, True), ("specificity", beta, False)):
            low, high = rate.interval(0.9)
            assert row[[f"{side}_low", side, f"{side}_high"]].tolist() == pytest.approx([low, rate.mean(), high])
            right = [answer == same for is_same, answer in own if is_same == same]
            assert row[f"observed_{side}"] == pytest.approx(sum(right) / len(right))
        a, b = alpha.mean(), beta.mean()
        # An answer "same" says ln α/(1 − β) for one kind, "different" ln β/(1 − α) for two.
        assert row["weight"] == pytest.approx(math.log(a / (1 - b)) + math.log(b / (1 - a)))


def test_who_is_taken_to_be_never_wrong_weighs_much_but_not_infinitely() -> None:
    answers = PairAnnotations.from_arrays([0], [1], [0], [1], num_items=2)
    sure = WorkerPosterior(np.ones((1, 1, 2)), np.ones((1, 1, 2)), np.ones((2, 1, 1)))
    assert worker_frame(sure, 0, answers, np.zeros(2, int))["weight"][0] == pytest.approx(2 * math.log(1e12), rel=1e-3)
