"""Annotators, look-alike kinds and answers' probabilities, against simulated crowds, closed forms and enumeration."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import betaln
from scipy.stats import beta as beta_distribution
from scipy.stats import norm

from semicrowd.crowd import simulate
from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.starts.answer_model import IndexedAnswers, Rates, fit_prevalence, fit_rates


def _crowd(annotators: int, each: int) -> tuple[np.ndarray, ...]:
    """Sensitivities from Beta(8, 2) and specificities from Beta(12, 3); half of the answers are about one kind."""
    rng = np.random.default_rng(0)
    alpha, specificity = rng.beta(8, 2, annotators), rng.beta(12, 3, annotators)
    worker = np.repeat(np.arange(annotators), each)
    same = rng.random(len(worker)) < 0.5
    says = np.where(same, alpha[worker], 1 - specificity[worker])
    return alpha, specificity, worker, same.astype(float), (rng.random(len(worker)) < says).astype(np.int64)


def test_a_crowd_tells_what_its_annotators_are_like() -> None:
    """300 people with 30 answers each: closer to the truth than the shares of right answers of each."""
    alpha, specificity, worker, same, label = _crowd(300, 30)
    estimate = fit_rates(same, worker, label, 300)
    sides = (alpha, estimate.means[0], same, label), (specificity, estimate.means[1], 1 - same, 1 - label)
    for truth, mean, side, said in sides:
        right = np.bincount(worker, side * said, minlength=300)
        own = (right + 1) / (np.bincount(worker, side, minlength=300) + 2)
        assert np.sqrt(((mean - truth) ** 2).mean()) < 0.85 * np.sqrt(((own - truth) ** 2).mean())
    # What is fitted is the prior that the crowd was drawn from, the same for everybody.
    prior = estimate.sensitivity - np.stack(
        [np.bincount(worker, same * label, minlength=300), np.bincount(worker, same * (1 - label), minlength=300)], 1
    )
    np.testing.assert_allclose(prior, np.broadcast_to(prior[0], (300, 2)), atol=1e-9)
    assert prior[0, 0] / prior[0].sum() == pytest.approx(0.8, abs=0.03)
    assert prior[0].sum() == pytest.approx(10, rel=0.5)


def test_means_are_shrunk_to_the_mode_of_the_likelihood_that_scipy_finds() -> None:
    _, _, worker, same, label = _crowd(40, 25)
    right = np.bincount(worker, same * label, minlength=40)
    wrong = np.bincount(worker, same * (1 - label), minlength=40)

    def loss(log_shape: np.ndarray) -> float:
        """Beta-binomial, under the wide hyperprior of the crowd's shapes: ln a and ln b from N(0, 2²)."""
        a, b = np.exp(log_shape)
        likelihood = (betaln(a + right, b + wrong) - betaln(a, b)).sum()
        return float(-likelihood - norm(0, 2).logpdf(log_shape).sum())

    a, b = np.exp(minimize(loss, [1.0, 0.0], method="Nelder-Mead", options={"xatol": 1e-8, "fatol": 1e-10}).x)
    estimate = fit_rates(same, worker, label, 40)
    np.testing.assert_allclose(estimate.means[0], (a + right) / (a + b + right + wrong), rtol=1e-3)


def test_answers_count_as_far_as_their_items_are_of_one_kind() -> None:
    """Eqs. 28 and 29 with q(z_i = z_j) between 0 and 1, one annotator whose prior is moved by hardly anything."""
    same, label = np.array([0.9, 0.2, 0.6]), np.array([1, 1, 0])
    estimate = fit_rates(same, np.zeros(3, np.int64), label, 1)
    counts = {"sensitivity": (0.9 + 0.2, 0.6), "specificity": (0.4, 0.1 + 0.8)}
    for side, (right, wrong) in counts.items():
        prior = getattr(estimate, side)[0] - [right, wrong]
        assert (prior > 0).all(), side


def test_the_chance_of_saying_same_whatever_the_items_are() -> None:
    rng = np.random.default_rng(1)
    chance, worker = rng.beta(2, 6, 200), np.repeat(np.arange(200), 20)
    label = (rng.random(4000) < chance[worker]).astype(np.int64)
    estimate, own = fit_prevalence(worker, label, 200), np.bincount(worker, label) / 20
    assert ((estimate - chance) ** 2).mean() < 0.85 * ((own - chance) ** 2).mean()
    # Each mean is on the way from the annotator's own share to that of the crowd.
    share = (estimate - own) / (estimate.mean() - own + 1e-12)
    away = np.abs(own - estimate.mean()) > 0.05
    assert ((share[away] > 0.1) & (share[away] < 0.6)).all()


def _indexed(i: np.ndarray, j: np.ndarray, worker: np.ndarray, label: np.ndarray, items: int) -> IndexedAnswers:
    return IndexedAnswers.of(PairAnnotations.from_arrays(i, j, worker, label, num_items=items))


def _looks(similarity: np.ndarray, number: int) -> tuple[np.ndarray, IndexedAnswers, np.ndarray, np.ndarray]:
    """Answers about 200 items that look the same with the probabilities of ``similarity``, by ten people."""
    rng = np.random.default_rng(3)
    kinds = rng.integers(len(similarity), size=200)
    i, j = rng.integers(200, size=(2, number))
    i, j = i[i != j], j[i != j]
    worker = rng.integers(10, size=len(i))
    alpha, specificity = rng.uniform(0.8, 0.98, 10), rng.uniform(0.8, 0.98, 10)
    look = rng.random(len(i)) < similarity[kinds[i], kinds[j]]
    label = (rng.random(len(i)) < np.where(look, alpha[worker], 1 - specificity[worker])).astype(np.int64)
    return kinds, _indexed(i, j, worker, label, 200), alpha, specificity


def test_two_kinds_that_look_alike_are_found_and_no_others() -> None:
    truth = np.eye(4)
    truth[0, 1] = truth[1, 0] = 0.6
    kinds, indexed, alpha, specificity = _looks(truth, 8000)
    similarity, rates = indexed.similarity(np.eye(4)[kinds])
    np.testing.assert_allclose(similarity, truth, atol=0.1)
    np.testing.assert_array_equal(similarity, similarity.T)
    # People are not blamed for what the kinds are like.
    assert np.abs(rates.means[1] - specificity).max() < 0.06
    assert np.abs(rates.means[0] - alpha).max() < 0.08
    blamed = indexed.rates(np.eye(4)[kinds]).means[1]
    assert (blamed < rates.means[1] - 0.03).all()


def test_where_no_two_kinds_look_alike_hardly_anything_is_found() -> None:
    kinds, indexed, _, _ = _looks(np.eye(4), 4000)
    similarity, _ = indexed.similarity(np.eye(4)[kinds])
    assert (similarity - np.eye(4)).max() < 0.08


def _some(number: int, K: int) -> tuple[IndexedAnswers, Rates, np.ndarray]:
    rng = np.random.default_rng(8)
    i, j = np.array([(i, j) for i in range(4) for j in range(i)]).T
    i, j = i[:number], j[:number]
    indexed = _indexed(i, j, np.arange(len(i)) % 2, rng.integers(2, size=len(i)), 4)
    shapes = (rng.uniform(1, 9, (2, 2)) for _ in range(2))
    return indexed, Rates(*shapes), rng.dirichlet(np.ones(K), len(indexed.component))


def test_probability_of_an_answer_by_enumeration() -> None:
    """Over the kinds of both items, whether they look the same, and the annotator's Beta posterior by its mean."""
    indexed, rates, known = _some(6, 3)
    similarity = np.array([[1, 0.3, 0.1], [0.3, 1, 0.0], [0.1, 0.0, 1]])
    estimate = indexed.log_likelihood(known, similarity, rates)
    for p in range(6):
        shapes = rates.sensitivity[indexed.worker[p]], rates.specificity[indexed.worker[p]]
        alpha, specificity = (beta_distribution(*shape).mean() for shape in shapes)
        total = 0.0
        for a, b, look in product(range(3), range(3), (0, 1)):
            seen = similarity[a, b] if look else 1 - similarity[a, b]
            yes = alpha if look else 1 - specificity
            total += known[indexed.i[p], a] * known[indexed.j[p], b] * seen * (yes if indexed.label[p] else 1 - yes)
        assert estimate[p] == pytest.approx(np.log(total))


@pytest.mark.parametrize("power", [1.0, 0.3])
def test_items_are_joined_with_the_answers_at_a_fixed_point_of_equation_14(power: float) -> None:
    indexed, rates, features = _some(6, 3)
    indexed = replace(indexed, counts=np.linspace(0.2, 1, 6))
    z, message = indexed.item_posterior(features, rates, power, features)
    weight = np.zeros((4, 4))
    np.add.at(weight, (indexed.i, indexed.j), indexed.counts * indexed.weights(rates))
    expected = (weight + weight.T) @ z
    np.testing.assert_allclose(message, expected, atol=1e-6)
    following = features * np.exp(power * expected)
    np.testing.assert_allclose(z, following / following.sum(1, keepdims=True), atol=5e-3)


def test_items_without_answers_keep_what_features_say() -> None:
    indexed, rates, features = _some(6, 3)
    none = replace(indexed, **{name: getattr(indexed, name)[:0] for name in ("i", "j", "worker", "label", "counts")})
    z, message = none.item_posterior(features, rates, 1.0, features)
    np.testing.assert_allclose(z, features, atol=1e-9)
    assert not message.any()
    assert np.isfinite(none.rates(features).means).all()
    similarity, _ = none.similarity(features)
    np.testing.assert_allclose(similarity, np.where(np.eye(3), 1, 0.05))


def test_the_bound_of_placed_items_is_below_the_sum_over_all_clusterings() -> None:
    """Of four items in three clusters: ln Σ_z p(z | features) p(answers | z), at the rates that were found."""
    indexed, _, features = _some(6, 3)
    estimate = indexed.infer_items(features, features, features, 1.0, 3)
    unary = features * np.exp(estimate.message)
    z = unary / unary.sum(1, keepdims=True)
    ratio = np.exp(estimate.weights)
    total = 0.0
    for kinds in product(range(3), repeat=4):
        same = np.array(kinds)[indexed.i] == np.array(kinds)[indexed.j]
        total += features[range(4), kinds].prod() * np.where(same, ratio, 1.0).prod()
    same = (z[indexed.i] * z[indexed.j]).sum(1)
    expected = (same * estimate.weights).sum() + (z * np.log(features / z)).sum()
    assert expected <= np.log(total) + 1e-9
    # The bound has the answers' probability given two kinds beside these.
    rest = estimate.bound - expected
    assert rest < 0
    again = indexed.infer_items(features, features, features, 1.0, 3)
    assert again.bound == estimate.bound


def test_where_features_say_nothing_message_passing_goes_on_from_the_clusters_it_is_given() -> None:
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(3), 20)
    rates = {"sensitivity": 0.95, "specificity": 0.95}
    answers = simulate.two_coin(labels, rng, num_annotators=4, pairs_per_annotator=500, **rates)
    indexed, flat, known = IndexedAnswers.of(answers), np.full((60, 3), 1 / 3), np.eye(3)[labels]
    from_clusters = indexed.infer_items(flat, known, known, 1.0, 5)
    from_features = indexed.infer_items(flat, known, flat, 1.0, 5)
    assert (from_clusters.message.argmax(1) == labels).all()
    assert from_clusters.bound > from_features.bound + 60
