"""Merges and the posterior over K, against brute force over all pairs, and on classes that are known."""

from dataclasses import replace
from itertools import combinations, pairwise

import numpy as np
import pytest
from scipy.special import logsumexp
from sklearn.metrics import adjusted_rand_score
from tests.methods.cotraining.small import KINDS, LABELS, answers_about, candidate

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.methods.cotraining.answers import Answers
from semicrowd.methods.cotraining.candidates import Candidate
from semicrowd.methods.cotraining.selection import _first_order, merges, select, table_of
from semicrowd.result import MIN_ANSWERS, MIN_EVIDENCE, Verdict

#: What features say that say nothing of the number of clusters.
FLAT = dict.fromkeys(range(2, 9), 1 / 7)


def _union(probabilities: np.ndarray, k: int, other: int) -> np.ndarray:
    """A new column for the two, the last."""
    return np.c_[np.delete(probabilities, [k, other], 1), probabilities[:, k] + probabilities[:, other]]


def _unsure(rng: np.random.Generator, clusters: np.ndarray, K: int, sure: float = 4.0) -> np.ndarray:
    logits = sure * np.eye(K)[clusters] + rng.normal(size=(len(clusters), K))
    return np.exp(logits) / np.exp(logits).sum(1, keepdims=True)


def _candidates(answers: PairAnnotations, K: int, seed: int) -> Candidate:
    """Every class in pieces, which the features tell apart to some degree."""
    rng = np.random.default_rng(seed)
    truth = LABELS[answers.annotated] % K
    pieces = np.where(rng.random(len(truth)) < 0.5, truth, (truth + 4) % K)
    features = _unsure(rng, pieces, K, rng.uniform(1, 5))
    return candidate(_unsure(rng, pieces, K, 6), features, answers)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("K", "seed"), [(3, 0), (3, 1), (3, 2), (5, 0), (7, 0)])
def test_each_merge_is_the_best_of_all_pairs_and_its_evidence_is_that_of_the_union(
    kind: str, K: int, seed: int
) -> None:
    answers = answers_about(kind)
    indexed, given = Answers.of(answers), _candidates(answers, K, seed)
    steps = list(merges(given, indexed))
    assert [known.shape[1] for known, _, _ in steps] == list(range(K, 0, -1))
    assert steps[0] == (given.known, given.features, given.evidence)
    for (known, features, _), (after, after_features, evidence) in pairwise(steps):
        tried = [(_union(known, *pair), _union(features, *pair)) for pair in combinations(range(known.shape[1]), 2)]
        bounds = [indexed.bound(*both) for both in tried]
        assert evidence == pytest.approx(max(bounds), abs=1e-6)
        best = tried[int(np.argmax(bounds))]
        for found, wanted in ((after, best[0]), (after_features, best[1])):
            order, other = np.lexsort(found), np.lexsort(wanted)
            np.testing.assert_allclose(found[:, order], wanted[:, other])
    assert steps[-1][2] == pytest.approx(indexed.without_clusters(), abs=1e-6)


@pytest.mark.parametrize("of_features", [FLAT, {2: 0.5, 3: 0.3, 4: 0.15, 5: 0.05}, {}], ids=["flat", "some", "none"])
def test_the_posterior_is_of_the_best_clusters_of_each_number(of_features: dict[int, float]) -> None:
    """And of the features' probability of this number; what they rule out is as probable as the least."""
    answers = answers_about()
    indexed = Answers.of(answers)
    given = {f"{K} of {seed}": _candidates(answers, K, seed) for K, seed in ((6, 0), (5, 1), (3, 2))}
    selected, posterior = select(given, indexed, of_features)
    best = {K: -np.inf for K in range(1, 7)}
    for one in given.values():
        for known, _, evidence in merges(one, indexed):
            best[known.shape[1]] = max(best[known.shape[1]], evidence)
    assert posterior["clusters"].tolist() == list(best)
    assert posterior["evidence"].tolist() == pytest.approx(list(best.values()))
    assert posterior["probability"].sum() == pytest.approx(1)
    least = min(of_features.values(), default=1)
    logs = np.array([evidence + np.log(of_features.get(K, least)) for K, evidence in best.items()])
    np.testing.assert_allclose(posterior["probability"], np.exp(logs - logsumexp(logs)), rtol=1e-6)
    top = 1 + int(logs.argmax())
    assert selected.known.shape == selected.features.shape == (len(answers.annotated), top)
    assert selected.evidence == best[top]
    assert selected.name in given


def test_where_the_evidence_hardly_differs_the_features_say_how_many_clusters_there_are() -> None:
    """Without a word of the answers on these: 1 cluster has the evidence of 2, to a fraction of a nat."""
    answers = answers_about(quality=0.5)
    given = {"": _candidates(answers, 3, 1)}
    found = [select(given, Answers.of(answers), of)[0].known.shape[1] for of in ({1: 1e-300, 2: 1}, {1: 1, 2: 1e-300})]
    assert found == [2, 1]


@pytest.mark.parametrize("inverted", [False, True])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("told_apart", [True, False])
def test_two_halves_that_answers_call_one_class_become_one_and_two_classes_stay_two(
    told_apart: bool, kind: str, inverted: bool
) -> None:
    answers = answers_about(kind)
    if inverted:
        answers = replace(answers, label=1 - answers.label)
    rng, truth = np.random.default_rng(0), LABELS[answers.annotated]
    halves = np.where((truth == 3) & (rng.random(len(truth)) < 0.5), 4, truth)
    # What the features say of a half: itself, or either of the two.
    says = np.eye(5) if told_apart else np.array([*np.eye(5)[:3], *[[0, 0, 0, 0.5, 0.5]] * 2])
    given = candidate(np.eye(5)[halves], 0.98 * says[halves] + 0.004, answers)
    selected, posterior = select({"halves": given}, Answers.of(answers), FLAT)
    assert adjusted_rand_score(truth, selected.known.argmax(1)) == 1.0
    assert posterior.set_index("clusters")["probability"][4] > 0.95


def test_classes_that_only_the_answers_tell_apart_stay_two_where_these_are_worth_it() -> None:
    """The features say ½ of each item of two classes: ln 2 nats of each."""
    answers, many = answers_about(), answers_about(quality=0.95)
    two = 0.5 * np.repeat(np.eye(2), 2, 1)
    found = {}
    for name, one in (("many", many), ("few", answers.some(np.arange(answers.num_pairs) % 8 == 0))):
        truth = LABELS[one.annotated]
        selected, _ = select({"": candidate(np.eye(4)[truth], two[truth // 2], one)}, Answers.of(one), FLAT)
        found[name] = selected.known.shape[1]
    assert found["many"] == 4
    assert found["few"] < 4


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("of", ["classes", "random clusters"])
def test_answers_at_chance_say_nothing_of_any_clusters(of: str, kind: str) -> None:
    answers = answers_about(kind, 0.5)
    clusters = LABELS if of == "classes" else np.random.default_rng(0).integers(4, size=len(LABELS))
    known = np.eye(4)[clusters[answers.annotated]]
    indexed = Answers.of(answers)
    selected, posterior = select({"": candidate(known, known, answers)}, indexed, FLAT)
    assert selected.evidence - indexed.without_clusters() < MIN_EVIDENCE * len(known)
    assert posterior["probability"][0] > 0.02


def test_the_table_has_the_candidates_by_their_evidence() -> None:
    answers = answers_about()
    truth, indexed = LABELS[answers.annotated], Answers.of(answers)
    known = {"half": 0.9 * np.eye(4)[truth % 2] + 0.025, "all": 0.9 * np.eye(4)[truth] + 0.025}
    given = {name: candidate(one, one, answers) for name, one in known.items()}
    selected, _ = select(given, indexed, FLAT)
    without = indexed.without_clusters()
    table = table_of(given, selected, without)
    assert table["candidate"].tolist() == ["all", "half"]
    assert table["evidence"].tolist() == [given["all"].evidence - without, given["half"].evidence - without]
    assert table["behind"].tolist() == [0.0, given["all"].evidence - given["half"].evidence]
    assert table["agreement"].tolist() == [1.0, pytest.approx(adjusted_rand_score(truth, truth % 2))]


@pytest.mark.parametrize(
    ("evidence", "number", "items", "informative"),
    [(100.0, MIN_ANSWERS, 40, True), (100.0, MIN_ANSWERS - 1, 40, False), (MIN_EVIDENCE * 40, 100, 40, False),
     (MIN_EVIDENCE * 40, 100, 39, True), (-5.0, 100, 40, False)],
)  # fmt: skip
def test_few_answers_or_little_evidence_are_not_informative(
    evidence: float, number: int, items: int, informative: bool
) -> None:
    _, posterior = select({"": _candidates(answers_about(), 3, 0)}, Answers.of(answers_about()), FLAT)
    assert Verdict("", posterior, posterior, evidence, number, items).informative is informative


@pytest.mark.parametrize("seed", range(3))
def test_first_order_gains_order_the_pairs_nearly_as_exact_ones(seed: int) -> None:
    answers = answers_about()
    indexed, given = Answers.of(answers), _candidates(answers, 7, seed)
    estimated = _first_order(given.known, given.features, indexed)
    pairs = list(combinations(range(7), 2))
    exact = [indexed.bound(_union(given.known, *one), _union(given.features, *one)) for one in pairs]
    found = [estimated[one] for one in pairs]
    assert np.corrcoef(found, np.array(exact) - given.evidence)[0, 1] > 0.95
