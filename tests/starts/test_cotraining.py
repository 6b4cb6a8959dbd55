"""One candidate: what turns of classifiers and answers make of first clusters, and the scores of held-out answers."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from semicrowd.crowd import simulate
from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.crowd.cells import kmeans_cells
from semicrowd.starts.calibration import Calibration, StackedClassifier
from semicrowd.starts.cotraining import FOLDS, cotrain, folds_of_answers, held_out_scores, scores_without_clusters
from semicrowd.starts.initial_clusters import MERGED_BY_ANSWERS, NUMBER_FROM_ANSWERS
from semicrowd.starts.item_classifiers import ItemClassifier, LabelPropagation, LogisticClassifier
from semicrowd.starts.portfolio import Portfolio
from semicrowd.starts.prepared_features import WEIGHTED

FEATURES, LABELS = make_blobs(200, 3, centers=4, cluster_std=1.0, random_state=3)


def answers_about(kind: str = "two_coin", quality: float = 0.85) -> PairAnnotations:
    rng = np.random.default_rng(0)
    rates: dict[str, Any] = {"sensitivity": quality, "specificity": quality, "num_annotated": 40}
    if kind == "tasks":
        return simulate.tasks(LABELS, rng, num_annotators=5, num_tasks=30, task_size=6, **rates)
    return simulate.two_coin(LABELS, rng, num_annotators=5, pairs_per_annotator=80, **rates)


ANSWERS = answers_about()
ITEMS = ANSWERS.annotated
OF_KINDS = ("two_coin", "tasks")


def _flipped(answers: PairAnnotations, row: int) -> PairAnnotations:
    label = answers.label.copy()
    label[row] = 1 - label[row]
    return replace(answers, label=label)


@pytest.mark.parametrize("kind", OF_KINDS)
def test_no_answer_of_a_task_or_about_a_pair_is_in_two_folds(kind: str) -> None:
    answers = answers_about(kind)
    fold = folds_of_answers(answers)
    assert set(fold) == set(range(FOLDS))
    unit = answers.task
    if unit is None:
        ends = np.sort(np.stack([answers.i, answers.j], 1), 1)
        unit = np.unique(ends, axis=0, return_inverse=True)[1].ravel()
        assert len(np.unique(unit)) < answers.num_pairs, "several people were asked about some pairs"
    for one in np.unique(unit):
        assert len(np.unique(fold[unit == one])) == 1
    size = np.bincount(fold)
    assert size.max() < 2 * size.min()


def test_the_two_orders_of_a_pair_are_one_pair() -> None:
    i, j = np.array([0, 1, 2, 3, 4, 5, 0]), np.array([1, 0, 3, 2, 5, 4, 5])
    fold = folds_of_answers(PairAnnotations.from_arrays(i, j, np.arange(7), i % 2, num_items=6))
    assert (fold[0], fold[2], fold[4]) == (fold[1], fold[3], fold[5])


@pytest.mark.parametrize("independent", [True, False])
@pytest.mark.parametrize("kind", OF_KINDS)
def test_a_held_out_answer_has_no_part_in_its_own_probability(kind: str, independent: bool) -> None:
    """Flipped, it has the rest of the probability, if all else is held: what is predicted has not changed."""
    answers = answers_about(kind)
    rng = np.random.default_rng(3)
    size = len(answers.annotated)
    known, features = rng.dirichlet(np.ones(4), size), rng.dirichlet(np.ones(4), size)
    calibration = Calibration(0.5, 0.1, known.mean(0))
    scores = held_out_scores(answers, known, features, calibration, independent=independent)
    without = scores_without_clusters(answers)
    others = np.zeros(len(scores))
    for row in (0, 7, 100, answers.num_pairs - 1):
        turned = _flipped(answers, row)
        again = held_out_scores(turned, known, features, calibration, independent=independent)
        assert np.exp(scores[row]) + np.exp(again[row]) == pytest.approx(1)
        assert np.exp(without[row]) + np.exp(scores_without_clusters(turned)[row]) == pytest.approx(1)
        fold = folds_of_answers(answers)
        same_fold = fold == fold[row]
        same_fold[row] = False
        np.testing.assert_allclose(again[same_fold], scores[same_fold])
        others = np.maximum(others, np.abs(again - scores) * (fold != fold[row]))
    assert others.max() > 1e-3, "the other folds have heard it"


def test_without_clusters_an_answer_is_as_likely_as_its_annotator_says_it() -> None:
    rng = np.random.default_rng(0)
    chance, worker = rng.uniform(0.1, 0.9, 4), np.repeat(np.arange(4), 300)
    i, j = rng.integers(80, size=(2, 1200))
    j = np.where(i == j, (i + 1) % 80, j)
    label = (rng.random(1200) < chance[worker]).astype(np.int64)
    answers = PairAnnotations.from_arrays(i, j, worker, label, num_items=80)
    expected = np.where(label == 1, chance[worker], 1 - chance[worker])
    np.testing.assert_allclose(np.exp(scores_without_clusters(answers)), expected, atol=0.08)


def test_groupings_of_somebody_who_guesses_take_fewer_items_from_their_clusters_if_they_count_as_dependent() -> None:
    """Each of four people has sorted 25 items; the last one puts half of them anywhere."""
    right = np.zeros((2, 6))
    for seed in range(6):
        rng = np.random.default_rng(seed)
        features = FEATURES + rng.normal(0, 1.5, FEATURES.shape)
        answers = _sorted_items(rng, wrong=(0.05, 0.05, 0.1, 0.5))
        truth = LABELS[answers.annotated]
        clusters = np.where(rng.random(len(truth)) < 0.1, rng.integers(4, size=len(truth)), truth)
        for way in (True, False):
            folds, classifier = np.random.default_rng(0), StackedClassifier([LogisticClassifier(features)])
            found = cotrain(answers, clusters, classifier, folds, independent=way)
            right[int(way), seed] = adjusted_rand_score(truth, found.clusters)
    dependent, independent = right
    assert (dependent >= independent).all()
    assert dependent.mean() > independent.mean() + 0.02


def _sorted_items(rng: np.random.Generator, wrong: tuple[float, ...]) -> PairAnnotations:
    """Each person's groups of 25 items; a share ``wrong`` of them is in a random group."""
    i, j, worker, label = [], [], [], []
    for person, share in enumerate(wrong):
        items = rng.choice(len(LABELS), 25, replace=False)
        group = np.where(rng.random(25) < share, rng.integers(4, size=25), LABELS[items])
        one, two = np.triu_indices(25, 1)
        i += items[one].tolist()
        j += items[two].tolist()
        worker += [person] * len(one)
        label += (group[one] == group[two]).astype(int).tolist()
    return PairAnnotations.from_arrays(i, j, worker, label, task=worker, num_items=len(LABELS))


def test_a_candidate_mends_wrong_first_clusters_and_joins_pieces() -> None:
    rng = np.random.default_rng(2)
    clusters = LABELS[ITEMS] * 2 + rng.integers(2, size=len(ITEMS))  # every cluster in two pieces
    clusters[rng.random(len(ITEMS)) < 0.1] = 0
    found = cotrain(ANSWERS, clusters, StackedClassifier([LogisticClassifier(FEATURES)]), np.random.default_rng(0))
    assert adjusted_rand_score(LABELS[ITEMS], found.clusters) > 0.9
    assert adjusted_rand_score(LABELS[ITEMS], found.clusters) > adjusted_rand_score(LABELS[ITEMS], clusters) + 0.2
    assert len(np.unique(found.clusters)) == 4
    alone, final = found.probabilities(ITEMS)
    np.testing.assert_allclose(alone.sum(1), 1)
    assert adjusted_rand_score(LABELS, alone.argmax(1)) > 0.85
    np.testing.assert_array_equal(final[ITEMS], found.known)
    rest = np.setdiff1d(np.arange(200), ITEMS)
    np.testing.assert_array_equal(final[rest], alone[rest])


def test_more_clusters_than_are_asked_for_are_joined() -> None:
    clusters = np.arange(len(ITEMS)) % 12
    classifier = StackedClassifier([LabelPropagation(FEATURES)])
    found = cotrain(ANSWERS, clusters, classifier, np.random.default_rng(0), max_clusters=3)
    assert found.known.shape[1] <= 3


def test_clusters_that_do_not_move_are_joined_with_the_answers_item_by_item() -> None:
    """Without turns classifiers learn the first clusters alone, whatever the answers say."""
    told: list[np.ndarray] = []

    class Told(LabelPropagation):
        def out_of_sample(self, items: np.ndarray, known: np.ndarray, fold: np.ndarray) -> np.ndarray:
            told.append(known)
            return super().out_of_sample(items, known, fold)

    clusters = LABELS[ITEMS] // 2
    found = cotrain(ANSWERS, clusters, StackedClassifier([Told(FEATURES)]), np.random.default_rng(0), 0)
    assert len(told) == 1
    np.testing.assert_allclose(told[0], np.eye(2)[clusters], atol=1e-6)
    assert found.known.shape[1] == 2


def test_a_cluster_of_one_item_is_left_out() -> None:
    clusters = LABELS[ITEMS].copy()
    clusters[0] = 4
    found = cotrain(ANSWERS, clusters, StackedClassifier([LabelPropagation(FEATURES)]), np.random.default_rng(0), 0)
    assert found.known.shape[1] == 4
    assert found.clusters[0] == LABELS[ITEMS[0]]


class Forgetful(ItemClassifier):
    """Knows nothing of an item that it is not told of."""

    def __call__(self, items: np.ndarray, known: np.ndarray) -> np.ndarray:
        found = np.full((200, known.shape[1]), 1 / known.shape[1])
        found[items] = known
        return found


def test_what_learns_by_heart_is_not_believed() -> None:
    """In sample it is never wrong; out of sample it says nothing, and the selection uses only the latter."""
    rng = np.random.default_rng(0)
    few = simulate.two_coin(LABELS, rng, num_annotators=5, pairs_per_annotator=30, num_annotated=80)
    clusters = LABELS[few.annotated]
    by_heart, by_features = (
        cotrain(few, clusters, one, np.random.default_rng(0)) for one in (Forgetful(), LabelPropagation(FEATURES))
    )
    assert by_features.scores.mean() > by_heart.scores.mean() + 0.05


def test_right_clusters_predict_held_out_answers_and_wrong_ones_do_not() -> None:
    rng = np.random.default_rng(0)
    right, wrong = (
        cotrain(ANSWERS, clusters, StackedClassifier([LogisticClassifier(FEATURES)]), np.random.default_rng(0), 0)
        for clusters in (LABELS[ITEMS], rng.permutation(LABELS[ITEMS]))
    )
    chance = scores_without_clusters(ANSWERS).mean()
    # The entropy of answers that are right .85 of the time is what could be reached.
    best = 0.85 * np.log(0.85) + 0.15 * np.log(0.15)
    assert right.scores.mean() == pytest.approx(best, abs=0.06)
    assert right.scores.mean() > max(chance, wrong.scores.mean()) + 0.05


def test_tasks_may_have_any_numbers() -> None:
    answers = simulate.tasks(
        np.arange(60) % 3, np.random.default_rng(0), num_annotators=3, num_tasks=12, task_size=6, num_annotated=40,
        sensitivity=0.9, specificity=0.9,
    )  # fmt: skip
    assert answers.task is not None
    large = replace(answers, task=10**9 * (1 + answers.task))
    np.testing.assert_array_equal(folds_of_answers(large), folds_of_answers(answers))


def test_folds_where_one_person_has_sorted_all_items() -> None:
    """One task could not be divided; known links, a task of one pair each, change nothing; of two tasks each is one."""
    first, second = np.triu_indices(12, 1)
    pairs, links = len(first), 6

    def folds(*tasks: np.ndarray) -> np.ndarray:
        task = np.concatenate(tasks)
        i, j = np.resize(first, len(task)), np.resize(second, len(task))
        answers = PairAnnotations.from_arrays(i, j, 0 * i, 0 * i + 1, task=task, num_items=12)
        return folds_of_answers(answers)

    sorting = np.zeros(pairs, int)
    assert np.ptp(np.bincount(folds(sorting), minlength=FOLDS)) <= 1
    assert set(folds(sorting, 1 + np.arange(links))[:pairs]) == set(range(FOLDS))
    both = folds(sorting, sorting + 1)
    assert len(set(both[:pairs])) == len(set(both[pairs:])) == 1


@pytest.mark.parametrize(("quality", "merged"), [(0.85, True), (0.5, False)])
def test_answers_merge_cells_of_one_class_and_guesses_merge_none(
    quality: float, merged: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    cells = kmeans_cells(FEATURES, 8, seed=0)
    assert adjusted_rand_score(LABELS, cells) < 0.8
    answers = simulate.two_coin(
        LABELS, np.random.default_rng(0), num_annotators=5, pairs_per_annotator=80, num_annotated=200,
        sensitivity=quality, specificity=quality,
    )  # fmt: skip
    made = Portfolio(FEATURES, answers, 0, lambda _: None)
    monkeypatch.setattr(made, "of_features", lambda *_: cells)
    candidates = made.without_answers(1)
    assert (MERGED_BY_ANSWERS in candidates) == merged
    if merged:
        assert adjusted_rand_score(LABELS, candidates[MERGED_BY_ANSWERS](made)) > 0.95


#: The answer of which a refit must know nothing.
ROW = 17


def _of_both_answers(
    monkeypatch: pytest.MonkeyPatch, answers: PairAnnotations, scores: Callable[[Portfolio], np.ndarray]
) -> tuple[float, float]:
    """Scores of an answer and of its opposite; candidates are fitted again without its fold alone, to save time."""
    refit, noisy = Portfolio._scores_of_refit, np.c_[FEATURES, np.random.default_rng(0).normal(size=(200, 4))]
    monkeypatch.setattr(
        Portfolio, "_scores_of_refit",
        lambda made, name, way, training, other, independent: (
            other if training[ROW] else refit(made, name, way, training, other, independent)
        ),
    )
    turned = replace(answers, label=np.where(np.arange(answers.num_pairs) == ROW, 1 - answers.label, answers.label))
    one, other = (scores(Portfolio(noisy, each, 0, lambda _: None))[ROW] for each in (answers, turned))
    assert one != scores_without_clusters(answers)[ROW], "the candidate was made without the fold"
    return float(one), float(other)


@pytest.mark.usefixtures("few_folds")
@pytest.mark.parametrize("preparation", ["standardised", WEIGHTED])
@pytest.mark.parametrize("kind", OF_KINDS)
def test_no_part_of_a_candidate_that_is_made_anew_has_seen_the_answer(
    kind: str, preparation: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Flipped, an answer has the rest of the probability: weights, clusters, classifiers, annotators are the same."""
    name = f"few cells of {preparation} features"
    both = _of_both_answers(monkeypatch, answers_about(kind), lambda made: made._refitted_scores(name, None))
    assert np.exp(both).sum() == pytest.approx(1, abs=1e-9)


@pytest.mark.usefixtures("few_folds")
@pytest.mark.parametrize(
    "name", [f"standardised {NUMBER_FROM_ANSWERS}", f"{WEIGHTED} {NUMBER_FROM_ANSWERS}", MERGED_BY_ANSWERS]
)
def test_clusters_of_features_made_anew_have_not_seen_the_answer(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    cells = kmeans_cells(FEATURES, 12, seed=0)  # more than classes, so that the answers merge some
    monkeypatch.setattr(Portfolio, "of_features", lambda *_: cells)
    both = _of_both_answers(
        monkeypatch, ANSWERS, lambda made: made._refitted_scores(name, made.without_answers(4)[name])
    )
    assert np.exp(both).sum() == pytest.approx(1, abs=1e-9)
