"""Candidates for the start and their judge, on answers whose truth is known."""

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest
import torch
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score
from tests.small_fits import SmallFit

from semicrowd.crowd import simulate
from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.crowd.two_coin import pair_evidence
from semicrowd.models.training_data import TrainingData
from semicrowd.settings.model import SCDCSettings
from semicrowd.settings.training import StartSettings
from semicrowd.starts import answer_classifier
from semicrowd.starts.cotraining import Candidate, cotrain, item_evidence, judge_annotators, log_predictive
from semicrowd.starts.portfolio import judged, portfolio_start
from semicrowd.starts.spreading import LogisticSpread, NeighbourSpread, Spread

FEATURES, LABELS = make_blobs(200, 3, centers=4, cluster_std=1.0, random_state=3)
ANSWERS = simulate.two_coin(
    LABELS, np.random.default_rng(0), num_annotators=5, pairs_per_annotator=80, num_annotated=40, sensitivity=0.85,
    specificity=0.85,
)  # fmt: skip
ITEMS = ANSWERS.annotated


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """A quarter of the networks' steps."""
    monkeypatch.setattr(answer_classifier, "STEPS", 75)


def test_predictive_probability_by_enumeration_of_the_clusters() -> None:
    rng = np.random.default_rng(1)
    features = rng.dirichlet(np.ones(3), len(ITEMS))
    annotators = judge_annotators(rng.dirichlet(np.ones(3), len(ITEMS)), ANSWERS)
    same = (features[ANSWERS.index.i] * features[ANSWERS.index.j]).sum(1)
    rates = ((eta[0, :, 0] + 1) / (eta[0] + 1).sum(-1) for eta in annotators)
    sensitivity, specificity = (rate.numpy()[ANSWERS.worker] for rate in rates)
    found = log_predictive(same, sensitivity, specificity, ANSWERS.label)
    for p in (0, 17, 311):
        shapes = [eta[0, ANSWERS.worker[p]] + 1 for eta in annotators]
        alpha, beta = (float(shape[0] / shape.sum()) for shape in shapes)
        total = 0.0
        for a in range(3):
            for b in range(3):
                one = alpha if a == b else 1 - beta
                says = one if ANSWERS.label[p] == 1 else 1 - one
                total += features[ANSWERS.index.i[p], a] * features[ANSWERS.index.j[p], b] * says
        assert found[p] == pytest.approx(np.log(total))


def test_evidence_is_a_bound_that_is_sharp_where_clusters_are_certain() -> None:
    """Against the sum over all 3^4 assignments of four items."""
    rng = np.random.default_rng(4)
    i, j = np.array([0, 0, 1, 2, 1]), np.array([1, 2, 2, 3, 3])
    answers = PairAnnotations(i, j, np.zeros(5, np.int64), np.array([1, 0, 0, 1, 0]), None, 4, ("one",))
    logs = (torch.tensor([[shares]], dtype=torch.float64).log() for shares in ([0.9, 0.1], [0.8, 0.2]))
    sensitivity, specificity = logs
    said = pair_evidence(sensitivity, specificity, torch.zeros(5, dtype=torch.long), torch.from_numpy(answers.label))

    def joint(z: tuple[int, ...]) -> float:
        same = np.array(z)[i] == np.array(z)[j]
        return float((np.where(same, np.where(answers.label, 0.9, 0.1), np.where(answers.label, 0.2, 0.8))).prod())

    features = rng.dirichlet(np.ones(3), 4)
    total = sum(joint(z) * features[range(4), z].prod() for z in product(range(3), repeat=4))
    for _ in range(5):
        bound = item_evidence(np.log(rng.dirichlet(np.ones(3), 4)), features, answers, said).sum()
        assert bound < np.log(total)
    certain = np.log(np.maximum(np.eye(3)[[0, 0, 2, 2]], 1e-300))
    exact = np.log(joint((0, 0, 2, 2))) + np.log(features[range(4), [0, 0, 2, 2]]).sum()
    assert item_evidence(certain, features, answers, said).sum() == pytest.approx(exact)


def test_annotators_are_judged_by_counts_where_clusters_are_certain() -> None:
    sensitivity, _ = judge_annotators(np.eye(4)[LABELS[ITEMS]], ANSWERS)
    same = LABELS[ANSWERS.i] == LABELS[ANSWERS.j]
    for worker in range(5):
        hits = ((ANSWERS.worker == worker) & same & (ANSWERS.label == 1)).sum()
        misses = ((ANSWERS.worker == worker) & same & (ANSWERS.label == 0)).sum()
        assert (sensitivity[0, worker] + 1).tolist() == pytest.approx([10 + hits, 1 + misses])


def test_a_candidate_mends_wrong_first_clusters_and_joins_pieces() -> None:
    rng = np.random.default_rng(2)
    clusters = LABELS[ITEMS] * 2 + rng.integers(2, size=len(ITEMS))  # every cluster in two pieces
    clusters[rng.random(len(ITEMS)) < 0.1] = 0
    found = cotrain(ANSWERS, clusters, LogisticSpread(FEATURES), np.random.default_rng(0))
    assert found.known.shape[1] == 4
    assert adjusted_rand_score(LABELS[ITEMS], found.clusters) > 0.9
    everywhere = found.probabilities(ITEMS)
    np.testing.assert_allclose(everywhere.sum(1), 1)
    assert adjusted_rand_score(LABELS, everywhere.argmax(1)) > 0.85
    np.testing.assert_array_equal(everywhere[ITEMS], found.known)


class Forgetful(Spread):
    """Knows nothing of an item that it is not told of."""

    def __call__(self, items: np.ndarray, known: np.ndarray) -> np.ndarray:
        found = np.full((200, known.shape[1]), 1 / known.shape[1])
        found[items] = known
        return found


def test_what_learns_by_heart_is_not_believed() -> None:
    """In sample it is never wrong; out of sample it says nothing, and the judge hears that alone."""
    by_heart = cotrain(ANSWERS, LABELS[ITEMS], Forgetful(), np.random.default_rng(0))
    by_features = cotrain(ANSWERS, LABELS[ITEMS], NeighbourSpread(FEATURES), np.random.default_rng(0))
    assert by_features.scores.mean() > by_heart.scores.mean() + 0.1


def _candidate(num_clusters: int, scores: np.ndarray, evidence: np.ndarray | None = None) -> Candidate:
    known = np.full((len(ITEMS), num_clusters), 1 / num_clusters)
    evidence = np.zeros(len(ITEMS)) if evidence is None else evidence
    return Candidate(known, judge_annotators(known, ANSWERS), scores, evidence, Forgetful())


def test_of_candidates_that_no_standard_error_tells_apart_the_one_with_fewest_clusters_wins() -> None:
    rng = np.random.default_rng(0)
    scores = -rng.random(ANSWERS.num_pairs)
    noise = 0.05 * rng.normal(size=len(scores))
    close, far = _candidate(3, scores - 1e-4 + noise - noise.mean()), _candidate(2, scores - 0.5)
    assert judged({"best": _candidate(5, scores), "close": close, "far": far}, ANSWERS) == "close"
    assert judged({"best": _candidate(5, scores), "far": far}, ANSWERS) == "best"


def test_what_all_answers_together_refute_does_not_win_by_its_score() -> None:
    scores, noise = np.full(ANSWERS.num_pairs, -0.5), np.random.default_rng(0).normal(size=len(ITEMS))
    sound = _candidate(4, scores)
    assert judged({"sound": sound, "refuted": _candidate(3, scores + 0.1, noise - 1.0)}, ANSWERS) == "sound"
    assert judged({"sound": sound, "by chance": _candidate(3, scores + 0.1, noise - 0.1)}, ANSWERS) == "by chance"


Build = Callable[..., SmallFit[Any]]


def test_the_winner_starts_the_model(build: Build, pinwheel: Any) -> None:
    fit = build("scdc", K=8, start={"kind": "portfolio", "epochs": 2, "teach_epochs": 80, "learning_rate": 0.01})
    model, data = fit.model, fit.data
    found = portfolio_start(data, fit.annotations, model.settings, fit.recipe.start, 1, fit.said.append)
    assert found.probabilities.shape == (1, 120, 8)
    torch.testing.assert_close(found.probabilities.sum(-1), torch.ones(1, 120))
    assert adjusted_rand_score(pinwheel.labels, found.probabilities[0].argmax(-1).numpy()) > 0.8
    assert any("won with" in line for line in fit.said)
    fit.begin()
    clusters = model.posterior(data.features).probabilities[0].argmax(-1).numpy()
    assert adjusted_rand_score(found.probabilities[0].argmax(-1).numpy(), clusters) > 0.8


def test_the_same_seed_finds_the_same(build: Build, answers: PairAnnotations) -> None:
    fit = build("scdc", K=6, start={"kind": "portfolio", "epochs": 1})
    made = [
        portfolio_start(fit.data, answers, fit.model.settings, fit.recipe.start, 1, lambda _: None) for _ in range(2)
    ]
    assert torch.equal(made[0].probabilities, made[1].probabilities)


@pytest.mark.parametrize(
    ("num_items", "num_columns", "pairs"),
    [
        (20, 1, [(0, 1, 1), (2, 3, 0)]),
        (20, 3, [(0, 1, 1)]),
        (16, 2, [(i, j, int(i % 2 == j % 2)) for i in range(6) for j in range(i)]),
        (40, 2, [(i, j, 1) for i in range(8) for j in range(i)]),
        (40, 2, [(i, j, 0) for i in range(8) for j in range(i)]),
    ],
    ids=["two answers", "one answer", "hardly more items than clusters", "all the same", "all different"],
)
def test_few_or_one_sided_answers_are_enough_to_begin_with(
    num_items: int, num_columns: int, pairs: list[tuple[int, int, int]]
) -> None:
    features = np.random.default_rng(0).normal(size=(num_items, num_columns)).astype(np.float32)
    i, j, label = np.array(pairs).T
    answers = PairAnnotations.from_arrays(i, j, np.zeros_like(i), label, num_items=num_items)
    data = TrainingData(torch.from_numpy(features), answers)
    start = StartSettings(kind="portfolio", networks=2)
    found = portfolio_start(data, answers, SCDCSettings(hidden=(4,)), start, 1, lambda _: None)
    assert found.probabilities.shape == (1, num_items, 15)
    assert found.probabilities.isfinite().all()
    assert all(eta.isfinite().all() for eta in found.annotators)
