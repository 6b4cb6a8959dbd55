"""The evidence of clusters and its inference, against enumeration, quadrature and the beta-binomial of scipy."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from scipy.special import comb, logsumexp, roots_jacobi, softmax
from scipy.stats import betabinom

from semicrowd.crowd import simulate
from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.methods.cotraining.answers import Answers

Priors = tuple[np.ndarray, np.ndarray]
RANDOM = np.random.default_rng(8)


def few(number: int) -> Answers:
    """Two annotators' answers about every pair of a few items."""
    i, j = np.triu_indices(number, 1)
    i, j, worker = np.tile(i, 2), np.tile(j, 2), np.repeat([0, 1], len(i))
    label = np.random.default_rng(number).integers(2, size=len(i))
    return Answers.of(PairAnnotations.from_arrays(i, j, worker, label, num_items=number))


def priors(answers: Answers, known: np.ndarray) -> Priors:
    """Shapes of the Beta priors of sensitivity and of specificity, as they are fitted to clusters."""
    rates, (hits_of_one, hits_of_two) = answers.rates(known), answers.hits_and_misses(known)
    found = rates.sensitivity - hits_of_one, rates.specificity - hits_of_two
    for one in found:  # the same for everybody
        np.testing.assert_allclose(one, np.broadcast_to(one[0], one.shape), atol=1e-9)
    return found[0][0], found[1][0]


def log_chance(answers: Answers, clusters: np.ndarray, prior: Priors) -> float:
    """ln p(answers | clusters): E rate^hits (1 − rate)^misses of every annotator's rates, by Gauss's quadrature."""
    same, total = clusters[answers.i] == clusters[answers.j], 0.0
    for m, (of_one, (a, b)) in product(range(2), zip((True, False), prior, strict=True)):
        own = (answers.worker == m) & (same == of_one)
        hits, misses = (answers.counts[own & (answers.label == one)].sum() for one in (of_one, not of_one))
        x, weight = roots_jacobi(60, b - 1, a - 1)
        total += np.log((weight * ((1 + x) / 2) ** hits * ((1 - x) / 2) ** misses).sum() / weight.sum())
    return total


@pytest.mark.parametrize("counted", [1.0, 0.4])
@pytest.mark.parametrize(("number", "K"), [(4, 3), (5, 2)])
def test_the_evidence_is_below_the_sum_over_all_clusterings(number: int, K: int, counted: float) -> None:
    """Of any q, with that q's priors; of the q that inference finds it is near, and above that of the features."""
    answers, features = few(number), RANDOM.dirichlet(np.ones(K), number)
    answers = replace(answers, counts=counted * answers.counts)
    found = answers.infer(features, features, features, 1.0, 8)
    inferred = softmax(np.log(features) + found.message, axis=1)
    for q in (inferred, features, *RANDOM.dirichlet(np.full(K, 0.3), (5, number))):
        prior = priors(answers, q)
        logs = [
            log_chance(answers, np.array(z), prior) + np.log(features[range(number), z]).sum()
            for z in product(range(K), repeat=number)
        ]
        assert answers.bound(q, features) <= logsumexp(logs) + 1e-9
        if q is inferred:
            assert answers.bound(q, features) > logsumexp(logs) - 3
    assert found.bound == pytest.approx(answers.bound(inferred, features), abs=0.01)
    assert found.bound > answers.bound(features, features)


def test_of_hard_clusters_it_is_the_beta_binomial_of_scipy() -> None:
    labels = np.arange(60) % 3
    crowd = simulate.two_coin(labels, np.random.default_rng(0), num_annotators=4, pairs_per_annotator=90)
    answers = Answers.of(crowd)
    known = np.eye(3)[labels[crowd.annotated]]
    expected = 0.0
    for counts, (a, b) in zip(answers.hits_and_misses(known).round(), priors(answers, known), strict=True):
        hits, both = counts[:, 0], counts.sum(1)
        expected += (betabinom.logpmf(hits, both, a, b) - np.log(comb(both, hits))).sum()
    assert answers.log_marginal(known) == pytest.approx(expected, rel=1e-9)
    # Features that know the clusters cost nothing, others − ln p of each item's cluster.
    assert answers.bound(known, known) == pytest.approx(expected)
    flat = np.full_like(known, 1 / 3)
    assert answers.bound(known, flat) == pytest.approx(expected - len(known) * np.log(3))
    assert answers.bound(known, flat, 0.5) == pytest.approx(expected / 2 - len(known) * np.log(3))
    one = np.ones((len(known), 1))
    assert answers.bound(one, one) == pytest.approx(answers.without_clusters())


@pytest.mark.parametrize("kind", ["pairs", "tasks"])
@pytest.mark.parametrize(("quality", "least", "most"), [(0.8, 20, np.inf), (0.2, 20, np.inf), (0.5, -np.inf, 3)])
def test_right_clusters_are_worth_more_than_none_unless_people_guess(
    kind: str, quality: float, least: float, most: float
) -> None:
    """Whether people answer inverted does not matter, and who answers in whose place neither."""
    labels, both = np.arange(90) % 3, {"sensitivity": quality, "specificity": quality}
    for seed in range(5):
        rng = np.random.default_rng(seed)
        if kind == "pairs":
            crowd = simulate.two_coin(labels, rng, num_annotators=5, pairs_per_annotator=80, **both)
        elif quality < 0.5:
            crowd = simulate.tasks(labels, rng, num_annotators=5, num_tasks=40, task_size=6, sensitivity=0.8,
                                   specificity=0.8)  # fmt: skip
            crowd = replace(crowd, label=1 - crowd.label)
        else:
            crowd = simulate.tasks(labels, rng, num_annotators=5, num_tasks=40, task_size=6, **both)
        answers = Answers.of(crowd)
        known = np.eye(3)[labels[crowd.annotated]]
        worth = answers.bound(known, known) - answers.without_clusters()
        assert least < worth < most
        inverted = replace(answers, label=1 - answers.label)
        assert inverted.bound(known, known) == pytest.approx(answers.bound(known, known), abs=1e-4)
        assert inverted.without_clusters() == pytest.approx(answers.without_clusters(), abs=1e-4)


def test_answers_of_a_grouping_count_as_less_than_as_many_of_pairs() -> None:
    labels = np.arange(60) % 3
    crowd = simulate.tasks(labels, np.random.default_rng(0), num_annotators=3, num_tasks=30, task_size=8)
    answers, apart = Answers.of(crowd), Answers.of(replace(crowd, task=None))
    assert (apart.counts == 1).all()
    assert ((answers.counts > 0) & (answers.counts <= 1)).all()
    assert answers.counts.mean() < 0.7
    known = np.eye(3)[labels[crowd.annotated]]
    assert answers.bound(known, known) - answers.without_clusters() > 0
    assert answers.log_marginal(known) > apart.log_marginal(known)


@pytest.mark.parametrize("power", [1.0, 0.3])
def test_inference_ends_at_a_fixed_point_of_equation_14(power: float) -> None:
    """Annotators of the clusters found (eqs. 28 and 29), and each item's message, Σ of w_ij q(z_j), by a loop."""
    answers, features = few(5), RANDOM.dirichlet(np.ones(3), 5)
    answers = replace(answers, counts=np.linspace(0.2, 1, len(answers.label)))
    found = answers.infer(features, features, features, power, 40)
    z = softmax(np.log(features) + power * found.message, axis=1)
    shapes = answers.rates(z)
    alpha, beta = (one[:, 0] / one.sum(1) for one in (shapes.sensitivity, shapes.specificity))
    message = np.zeros((5, 3))
    for p, (i, j, m, said) in enumerate(zip(answers.i, answers.j, answers.worker, answers.label, strict=True)):
        weight = np.log(alpha[m] / (1 - beta[m]) if said else (1 - alpha[m]) / beta[m])
        assert found.weights[p] == pytest.approx(weight, abs=0.01)
        message[i] += answers.counts[p] * weight * z[j]
        message[j] += answers.counts[p] * weight * z[i]
    np.testing.assert_allclose(found.message, message, atol=0.02)


@pytest.mark.parametrize("quality", [0.95, 0.05])
def test_where_features_say_nothing_message_passing_goes_on_from_the_clusters_it_is_given(quality: float) -> None:
    labels, both = np.repeat(np.arange(3), 20), {"sensitivity": quality, "specificity": quality}
    crowd = simulate.two_coin(labels, np.random.default_rng(0), num_annotators=4, pairs_per_annotator=500, **both)
    answers, flat, known = Answers.of(crowd), np.full((60, 3), 1 / 3), np.eye(3)[labels]
    from_clusters = answers.infer(flat, known, known, 1.0, 5)
    from_features = answers.infer(flat, known, flat, 1.0, 5)
    assert (from_clusters.message.argmax(1) == labels).all()
    assert from_clusters.bound > from_features.bound + 60
