"""Candidates: first clusters of features and answers, and what classifiers and answers make of them in turns."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score
from tests.methods.cotraining.small import FEATURES, KINDS, LABELS, Nothing, answers_about, candidate

from semicrowd.crowd import simulate
from semicrowd.methods.cotraining import candidates
from semicrowd.methods.cotraining.answers import Answers
from semicrowd.methods.cotraining.candidates import NETWORKS, cotrain, folds, initial_clusters
from semicrowd.methods.cotraining.classifiers import ItemClassifier, KernelClassifier, LabelPropagation, Predictor

ANSWERS = answers_about()
ITEMS = ANSWERS.annotated
TRUTH = LABELS[ITEMS]
KERNEL, NEIGHBOURS = KernelClassifier(FEATURES), LabelPropagation(FEATURES)


@pytest.fixture
def one_round(monkeypatch: pytest.MonkeyPatch) -> None:
    """Classifiers learn the first clusters only."""
    monkeypatch.setattr(candidates, "_ROUNDS", 0)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("quality", "least", "most"), [(0.85, 0.85, 1.0), (0.15, 0.85, 1.0), (0.5, 0.0, 0.75)])
def test_answers_join_cells_of_one_class_inverted_ones_too_and_guesses_do_not(
    kind: str, quality: float, least: float, most: float
) -> None:
    answers = answers_about(kind, max(quality, 1 - quality))
    if quality < 0.5:  # for groupings, there are no such rates
        answers = replace(answers, label=1 - answers.label)
    made, of_number = initial_clusters({"raw": FEATURES, "unit": FEATURES}, answers, 8, 0)
    again, _ = initial_clusters({"raw": FEATURES, "unit": FEATURES}, answers, 8, 0)
    assert [names for _, names in made.values()] == [["raw"], ["unit"], ["raw", "unit"], ["raw", "unit"]]
    assert list(made)[-2:] == ["answers alone", NETWORKS]
    for name, (found, _) in made.items():
        assert len(found) == len(answers.annotated)
        assert max(found) < 8
        np.testing.assert_array_equal(found, again[name][0])
    assert least <= adjusted_rand_score(LABELS[answers.annotated], made["cells of raw features"][0]) <= most
    assert sorted(of_number) == list(range(2, 9))
    assert sum(of_number.values()) == pytest.approx(1)


def test_seeds_give_cells_of_their_own_and_few_items_no_clusters_of_the_answers() -> None:
    one, other = (initial_clusters({"raw": FEATURES}, answers_about(quality=0.5), 20, seed)[0] for seed in (0, 1))
    name = "cells of raw features"
    assert not np.array_equal(one[name][0], other[name][0])
    assert "answers alone" not in initial_clusters({"raw": FEATURES}, ANSWERS, len(ITEMS), 0)[0]


def test_folds_are_of_one_size_and_those_of_the_seed() -> None:
    first, again, other = (folds(ANSWERS, seed) for seed in (0, 0, 1))
    assert np.bincount(first).tolist() == [8] * 5
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


@pytest.mark.parametrize(("kind", "independent"), [("pairs", False), ("tasks", False), ("tasks", True)])
def test_a_candidate_mends_wrong_first_clusters_and_joins_pieces(kind: str, independent: bool) -> None:
    rng, answers = np.random.default_rng(2), answers_about(kind)
    items, truth = answers.annotated, LABELS[answers.annotated]
    clusters = truth * 2 + rng.integers(2, size=len(items))  # every cluster in two pieces
    clusters[rng.random(len(items)) < 0.1] = 0
    found = cotrain(answers, clusters, [KERNEL, NEIGHBOURS], 10, 0, independent)
    assert adjusted_rand_score(truth, found.clusters) > 0.9
    assert 4 <= found.known.shape[1] < 8
    np.testing.assert_allclose(found.known.sum(1), 1)
    assert found.evidence == Answers.of(answers).bound(found.known, found.features)
    assert adjusted_rand_score(LABELS, found.pool(items, found.known).argmax(1)) > 0.85


def test_more_clusters_than_are_asked_for_are_joined() -> None:
    found = cotrain(ANSWERS, np.arange(len(ITEMS)) % 12, [NEIGHBOURS], 3, 0)
    assert found.known.shape[1] <= 3


@pytest.mark.usefixtures("one_round")
def test_a_cluster_of_a_single_item_is_left_out() -> None:
    clusters = TRUTH.copy()
    clusters[0] = 4
    found = cotrain(ANSWERS, clusters, [NEIGHBOURS], 10, 0)
    assert found.known.shape[1] == 4
    assert found.clusters[0] == TRUTH[0]


@pytest.mark.usefixtures("one_round")
def test_without_rounds_classifiers_learn_the_first_clusters_whatever_the_answers_say() -> None:
    told: list[np.ndarray] = []

    class Told(LabelPropagation):
        def out_of_sample(self, items: np.ndarray, known: np.ndarray, fold: np.ndarray) -> np.ndarray:
            told.append(known)
            return super().out_of_sample(items, known, fold)

    found = cotrain(ANSWERS, TRUTH // 2, [Told(FEATURES)], 10, 0)
    assert len(told) == 1
    np.testing.assert_allclose(told[0], np.eye(2)[TRUTH // 2], atol=1e-6)
    assert found.known.shape[1] == 2


class Forgetful(ItemClassifier):
    """Knows nothing of an item that it is not told of."""

    def learn(self, items: np.ndarray, known: np.ndarray) -> Predictor:
        found = np.full((self.num_items, known.shape[1]), 1 / known.shape[1])
        found[items] = known
        return lambda rows: found[rows]


@pytest.mark.usefixtures("one_round")
def test_what_learns_by_heart_is_not_believed() -> None:
    """In sample it is never wrong; the evidence is of what classifiers say out of sample."""
    few = simulate.two_coin(
        LABELS, np.random.default_rng(0), num_annotators=5, pairs_per_annotator=60, num_annotated=80
    )
    by_heart, nothing, by_features = (
        cotrain(few, LABELS[few.annotated], [one], 10, 0) for one in (Forgetful(200), Nothing(200), NEIGHBOURS)
    )
    assert by_features.evidence > by_heart.evidence + 40
    assert by_heart.evidence == pytest.approx(nothing.evidence, abs=1)


@pytest.mark.usefixtures("one_round")
def test_right_clusters_have_more_evidence_than_wrong_ones() -> None:
    wrong = np.random.default_rng(0).permutation(TRUTH)
    by_right, by_wrong = (cotrain(ANSWERS, one, [KERNEL], 10, 0).evidence for one in (TRUTH, wrong))
    assert by_right > max(by_wrong, Answers.of(ANSWERS).without_clusters()) + 20


def test_candidates_whose_sure_items_are_in_the_same_clusters_are_the_same() -> None:
    sure = np.eye(4)[TRUTH]
    moved, unsure = sure.copy(), 0.9 * sure + 0.025
    moved[0] = moved[0, [1, 2, 3, 0]]
    one = candidate(sure, sure, ANSWERS)
    assert one.same_clusters(candidate(sure[:, [2, 0, 3, 1]], sure, ANSWERS))
    for other in (moved, unsure, np.eye(2)[TRUTH // 2]):
        assert not one.same_clusters(candidate(other, other, ANSWERS))
        assert not candidate(other, other, ANSWERS).same_clusters(one)
