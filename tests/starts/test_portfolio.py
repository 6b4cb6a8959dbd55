"""Candidates and the selection among them, on answers whose truth is known."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from joblib import Memory
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score
from tests.small_fits import SmallFit
from tests.starts.test_cotraining import FEATURES as TABLE
from tests.starts.test_cotraining import LABELS, answers_about

from semicrowd.crowd import simulate
from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.starts import portfolio, start
from semicrowd.starts.answer_model import IndexedAnswers
from semicrowd.starts.calibration import Calibration, StackedClassifier
from semicrowd.starts.cotraining import Candidate, scores_without_clusters
from semicrowd.starts.initial_clusters import NUMBER_FROM_ANSWERS, default_max_clusters
from semicrowd.starts.item_classifiers import ItemClassifier
from semicrowd.starts.portfolio import Cotrained, Portfolio
from semicrowd.starts.selection import FEATURES_ALONE, confirm, mean_difference, select
from semicrowd.starts.start import cotrained_start

OF_KINDS = {kind: answers_about(kind) for kind in ("two_coin", "tasks")}
ANSWERS = OF_KINDS["two_coin"]


class Nothing(ItemClassifier):
    """Says nothing of any item."""

    def __call__(self, items: np.ndarray, known: np.ndarray) -> np.ndarray:  # noqa: ARG002
        return np.full((len(TABLE), known.shape[1]), 1 / known.shape[1])


def _candidate(num_clusters: int, scores: np.ndarray, answers: PairAnnotations = ANSWERS) -> Candidate:
    known = np.full((len(answers.annotated), num_clusters), 1 / num_clusters)
    calibration, rates = Calibration(1.0, 0.1, known.mean(0)), IndexedAnswers.of(answers).rates(known)
    return Candidate(known, known, calibration, rates.annotators, scores, StackedClassifier([Nothing()]))


@pytest.mark.parametrize("kind", OF_KINDS)
def test_of_candidates_that_no_standard_error_tells_apart_the_one_with_fewest_clusters_wins(kind: str) -> None:
    answers, rng = OF_KINDS[kind], np.random.default_rng(0)
    scores = scores_without_clusters(answers) + 0.3
    noise = 0.05 * rng.normal(size=len(scores))
    close = _candidate(3, scores - 1e-4 + noise - noise.mean(), answers)
    best, far = _candidate(5, scores, answers), _candidate(2, scores - 0.1, answers)
    winner, verdict = select({"best": best, "close": close, "far": far}, answers)
    assert winner == verdict.winner == "close"
    assert select({"best": best, "far": far}, answers)[0] == "best"
    assert verdict.table["candidate"].tolist() == ["best", "close", "far"]
    assert verdict.table["clusters"].tolist() == [5, 3, 2]
    assert verdict.table["behind"].to_numpy() == pytest.approx([0, 1e-4, 0.1])
    error = mean_difference(scores, close.scores, answers)[1]
    assert verdict.table["standard_error"].to_numpy()[1] == pytest.approx(error)
    assert verdict.gain == pytest.approx(0.3 - 1e-4)


def test_of_candidates_with_as_many_clusters_a_co_trained_one_wins_then_the_likelier_one() -> None:
    scores = scores_without_clusters(ANSWERS) + 0.3
    noise = 0.05 * np.random.default_rng(0).normal(size=len(scores))
    one, other = _candidate(3, scores), _candidate(3, scores - 1e-4 + noise - noise.mean())
    assert select({"other": other, "one": one}, ANSWERS)[0] == "one"
    without_answers = replace(one, cotrained=False)
    assert select({"other": other, "one": without_answers}, ANSWERS)[0] == "other", "of these a co-trained one"


@pytest.mark.parametrize("kind", OF_KINDS)
def test_where_answers_say_nothing_of_the_items_the_features_alone_win(kind: str) -> None:
    answers, rng = OF_KINDS[kind], np.random.default_rng(0)
    without = scores_without_clusters(answers)
    noise = 0.1 * rng.normal(size=len(without))
    noise -= noise.mean()
    alone = _candidate(4, without - 0.1, answers)
    found = {"co-trained": _candidate(2, without + 1e-4 + noise, answers), FEATURES_ALONE: alone}
    assert select(found, answers)[0] == FEATURES_ALONE
    found["co-trained"] = _candidate(2, without + 0.1 + noise, answers)
    assert select(found, answers)[0] == "co-trained"
    del found[FEATURES_ALONE]
    found["co-trained"] = _candidate(2, without, answers)
    assert select(found, answers)[0] == "co-trained"


@pytest.mark.parametrize(
    ("of_item", "of_pair", "own"), [(0, 0, 1), (1, 0, 0), (1, 0, 1), (0, 1, 0.5)],
    ids=["answers", "items", "items and answers", "pairs and answers"],
)  # fmt: skip
def test_the_standard_error_of_a_lead_is_the_spread_of_leads_over_other_items(
    of_item: float, of_pair: float, own: float
) -> None:
    """Monte Carlo: differences that go with items, with pairs and with single answers are drawn again and again."""
    rng = np.random.default_rng(0)
    i, j = rng.integers(80, size=(2, 600))
    i, j = i[i != j], j[i != j]
    pairs, of = np.unique(np.sort(np.stack([i, j], 1), 1), axis=0, return_inverse=True)
    answers = PairAnnotations.from_arrays(i, j, np.arange(len(i)), (i + j) % 2, num_items=80)
    leads, errors = [], []
    for _ in range(600):
        item = of_item * rng.normal(size=80)
        difference = item[i] + item[j] + of_pair * rng.normal(size=len(pairs))[of.ravel()]
        difference += own * rng.normal(size=len(i))
        found, error = mean_difference(difference, np.zeros(len(i)), answers)
        assert found == pytest.approx(difference.mean())
        leads.append(found)
        errors.append(error)
    assert np.sqrt(np.mean(np.square(errors))) == pytest.approx(np.std(leads), rel=0.12)


def _found(answers: PairAnnotations, features: np.ndarray = TABLE) -> tuple[Portfolio, Candidate, Any]:
    made = Portfolio(features, answers, 0, lambda _: None)
    return (made, *made.winner())


@pytest.mark.usefixtures("few_folds", "few_steps")
@pytest.mark.parametrize("kind", OF_KINDS)
def test_the_winner_has_the_kinds_that_features_and_answers_show(kind: str) -> None:
    made, winner, verdict = _found(OF_KINDS[kind])
    alone, final = made.probabilities(winner)
    assert alone.shape == final.shape == (200, 4)
    assert adjusted_rand_score(LABELS, alone.argmax(1)) > 0.95
    assert verdict.gain > 4 * verdict.gain_error
    assert (verdict.table["behind"] >= -1e-12).all()  # up to rounding
    shares = made.shares_of_preparations(winner)
    assert set(shares) == set(made.preparations)
    assert sum(shares.values()) == pytest.approx(1, abs=0.1)


@pytest.mark.parametrize(("second", "wins"), [(0.3, True), (0.11, False), (0.0, False)])
def test_where_the_best_is_not_confirmed_one_that_needs_fewer_answers_is_tried(
    second: float, wins: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    without, made = scores_without_clusters(ANSWERS), Portfolio(TABLE, ANSWERS, 0, lambda _: None)
    name, other = (f"{one} {NUMBER_FROM_ANSWERS}" for one in ("raw", "unit"))
    noise = 0.1 * np.random.default_rng(0).normal(size=len(without))
    lead = {"co-trained": 0.4, name: 0.3, other: 0.2, FEATURES_ALONE: 0.1}
    found = {one: _candidate(2, without + ahead + noise) for one, ahead in lead.items()}
    again = {"co-trained": -0.2, name: second, FEATURES_ALONE: 0.1}
    asked = []

    def unseen(one: str, *_: Any, **__: Any) -> np.ndarray:
        asked.append(one)
        own = 3 * np.random.default_rng(1).normal(size=len(without)) if one == name else 0.0
        scores: np.ndarray = without + again[one] + noise + own - np.mean(own)
        return scores

    monkeypatch.setattr(made, "_refitted_scores", unseen)
    needing_fewer: Any = dict.fromkeys((FEATURES_ALONE, other, name), lambda _: None)
    best, verdict = made._confirmed("co-trained", found, select(found, ANSWERS)[1], needing_fewer)
    assert best == verdict.winner == (name if wins else FEATURES_ALONE)
    assert asked == ["co-trained", FEATURES_ALONE, name], "the best of the others, once the best was not confirmed"
    assert verdict.table["unseen"].notna().sum() == 3


def test_a_candidate_scored_by_unseen_answers_has_to_beat_the_features_alone() -> None:
    without = scores_without_clusters(ANSWERS)
    alone, trained = _candidate(4, without + 0.1), _candidate(2, without + 0.3)
    found = {"co-trained": trained, FEATURES_ALONE: alone}
    verdict = select(found, ANSWERS)[1]
    noise = 0.3 * np.random.default_rng(0).normal(size=len(without))
    noise -= noise.mean()
    for unseen, winner, informative in (
        (alone.scores + 0.1 + noise, "co-trained", True),
        (alone.scores + 1e-4 + noise, "co-trained", True),
        (alone.scores - 1e-4 + noise, FEATURES_ALONE, True),
    ):
        scores = {"co-trained": unseen, FEATURES_ALONE: alone.scores}
        best, said = confirm("co-trained", scores, found, verdict, ANSWERS)
        assert said.table.set_index("candidate")["unseen"]["co-trained"] == pytest.approx(unseen.mean())
        assert (best, said.winner, said.informative) == (winner, winner, informative)
        assert said.table["agreement"].tolist()[said.table["candidate"].tolist().index(winner)] == 1.0


@pytest.mark.parametrize(
    ("found_by", "unseen_by", "winner"),
    [(1.0, 1.5, FEATURES_ALONE), (1.0, -1.0, FEATURES_ALONE), (2.5, 0.2, FEATURES_ALONE), (2.5, 1.5, "co-trained"),
     (1.0, 2.5, "co-trained"), (3.5, 0.5, FEATURES_ALONE)],
)  # fmt: skip
def test_luck_with_the_answers_is_no_knowledge(found_by: float, unseen_by: float, winner: str) -> None:
    """Ahead of features that know nothing, by so many standard errors as found and made anew."""
    without = scores_without_clusters(ANSWERS)
    noise = 0.3 * np.random.default_rng(0).normal(size=len(without))
    noise -= noise.mean()
    error = mean_difference(without + noise, without, ANSWERS)[1]
    alone = _candidate(4, without - 0.05)
    found = {"co-trained": _candidate(2, alone.scores + found_by * error + noise), FEATURES_ALONE: alone}
    unseen = {"co-trained": without + unseen_by * error + noise, FEATURES_ALONE: alone.scores}
    best, said = confirm("co-trained", unseen, found, select(found, ANSWERS)[1], ANSWERS)
    assert best == said.winner == winner
    assert said.informative == (winner != FEATURES_ALONE)


@pytest.mark.usefixtures("few_folds", "few_steps")
def test_kinds_that_the_features_alone_do_not_show_are_found() -> None:
    """The widest direction, in two far groups, has nothing to do with what people are asked."""
    rng = np.random.default_rng(0)
    labels = rng.integers(3, size=240)
    table = np.concatenate([3 * np.eye(3)[labels], 20 * rng.integers(2, size=(240, 1))], 1)
    table += 0.5 * rng.normal(size=(240, 4))
    answers = simulate.two_coin(
        labels, rng, num_annotators=5, pairs_per_annotator=120, num_annotated=60, sensitivity=0.9, specificity=0.9
    )
    made, winner, verdict = _found(answers, table)
    assert adjusted_rand_score(labels, made.probabilities(winner)[0].argmax(1)) > 0.9
    assert verdict.winner != FEATURES_ALONE


@pytest.mark.usefixtures("few_folds")
def test_a_candidate_is_fitted_again_as_it_was_fitted(monkeypatch: pytest.MonkeyPatch) -> None:
    """With no answer left out it is the same: quick classifiers first, which merge cells, then all of them."""
    made = Portfolio(TABLE, ANSWERS, 0, lambda _: None)
    kept: dict[str, Candidate] = {}

    def keeping(last: Any, answers: PairAnnotations) -> Any:
        kept.update(last)
        return select(last, answers)

    monkeypatch.setattr(portfolio, "select", keeping)
    monkeypatch.setattr(made, "_cotrained_by_networks", lambda: _candidate(1, scores_without_clusters(ANSWERS)))
    made.winner()
    name = next(iter(kept))
    again = made.given(np.ones(ANSWERS.num_pairs, bool))._fitted(name, None)
    assert again is not None
    np.testing.assert_array_equal(again.known, kept[name].known)


@pytest.mark.usefixtures("few_folds", "few_steps")
def test_candidates_of_a_sample_speak_of_all_items(monkeypatch: pytest.MonkeyPatch) -> None:
    """As with a million: candidates are made of the annotated items and some others."""
    monkeypatch.setattr(portfolio, "_MAX_SAMPLE", 100)
    made, winner, _ = _found(ANSWERS)
    assert 100 <= len(made.rows) < 140
    assert set(ANSWERS.annotated) <= set(made.rows)
    alone, final = made.probabilities(winner)
    assert adjusted_rand_score(LABELS, alone.argmax(1)) > 0.9
    np.testing.assert_array_equal(final[ANSWERS.annotated], winner.known)


@pytest.mark.usefixtures("few_folds", "few_steps")
def test_the_sample_of_features_that_do_not_vary(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(portfolio, "_MAX_SAMPLE", 100)
    made, winner, _ = _found(ANSWERS, np.ones((200, 2)))
    assert made.preparations == {}
    alone, final = made.probabilities(winner)
    assert len(alone) == len(final) == 200
    np.testing.assert_allclose(alone.sum(1), 1)


Build = Callable[..., SmallFit[Any]]


def test_any_other_input_has_a_portfolio_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = list[Portfolio]()

    def cotrain(made_by: Portfolio) -> Any:
        made.append(made_by)
        number: Any = len(made)
        return Cotrained(number, *[number] * 6)

    monkeypatch.setattr(Portfolio, "_cotrain", cotrain)
    usual: dict[str, Any] = {"features": TABLE, "answers": ANSWERS, "seed": 0, "max_clusters": 3, "restart": 0,
             "image_shape": None}  # fmt: skip
    other = np.where(np.arange(ANSWERS.num_pairs) == 7, 1 - ANSWERS.label, ANSWERS.label)
    changed: list[dict[str, Any]] = [
        {"features": TABLE + 1e-9}, {"answers": replace(ANSWERS, label=other)}, {"seed": 1}, {"max_clusters": 4},
        {"restart": 1}, {"image_shape": (1, 2)}, {"max_clusters": None},
    ]  # fmt: skip

    def number(**change: Any) -> int:
        how = {**usual, **change, "memory": Memory(tmp_path, verbose=0)}
        found: Any = Portfolio(**how, progress=lambda _: None).cotrained()
        return int(found.annotators)

    assert [number(**change) for change in [{}, *changed]] == list(range(1, 9))
    # The index of the answers is made when it is first needed: it is no other input.
    assert ANSWERS.index.whole.items.numel() == len(ANSWERS.annotated)
    assert number() == number(features=TABLE.copy(), answers=replace(ANSWERS, label=ANSWERS.label.copy())) == 1
    assert number(max_clusters=default_max_clusters(len(ANSWERS.annotated))) == 8, "the same number, said or not"
    assert len(made) == 8


@pytest.mark.usefixtures("few_folds", "few_steps")
def test_the_winner_starts_the_model(build: Build, pinwheel: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    fit = build("scdc", n_clusters=8, init="cotraining", init_epochs=2, teach_epochs=80, init_learning_rate=0.01)
    kept: list[Any] = []
    found = cotrained_start(fit.data, fit.annotations, fit.model, fit.said.append, kept.append)
    assert len(kept) == 1
    monkeypatch.setattr(start, "cotrained_start", lambda *_: found)  # once is enough
    assert found.probabilities.shape == (1, 120, 8)
    torch.testing.assert_close(found.probabilities.sum(-1), torch.ones(1, 120))
    assert adjusted_rand_score(pinwheel.labels, found.probabilities[0].argmax(-1).numpy()) > 0.8
    assert any("nats per held-out answer" in line for line in fit.said)
    fit.begin()
    clusters = fit.model.posterior(fit.data.features).probabilities[0].argmax(-1).numpy()
    assert adjusted_rand_score(found.probabilities[0].argmax(-1).numpy(), clusters) > 0.8


@pytest.mark.slow
@pytest.mark.usefixtures("few_folds", "few_steps")
def test_a_model_with_fewer_clusters_than_the_answers_could_show_gets_no_more(
    build: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("portfolio.ROUNDS", "portfolio._FINALISTS"):
        monkeypatch.setattr(f"semicrowd.starts.{name}", 1)
    fit = build("scdc", n_clusters=3, restarts=2, init="cotraining", init_epochs=1)
    two = cotrained_start(fit.data, fit.annotations, fit.model, fit.said.append, lambda _: None)
    assert two.probabilities.shape == (2, 120, 3)
    assert [eta.shape for eta in two.annotators] == [(2, 6, 2)] * 2


@pytest.mark.parametrize(
    ("num_items", "num_columns", "pairs", "one_task"),
    [
        (20, 1, [(0, 1, 1), (2, 3, 0)], False),
        (20, 3, [(0, 1, 1)], True),
        (16, 2, [(i, j, int(i % 2 == j % 2)) for i in range(6) for j in range(i)], False),
        (40, 2, [(i, j, 1) for i in range(8) for j in range(i)], False),
        (40, 2, [(i, j, 0) for i in range(8) for j in range(i)], True),
        (2, 2, [(0, 1, 0)], False),
    ],
    ids=["two answers", "one answer", "hardly more items than clusters", "all the same", "all different", "two items"],
)
@pytest.mark.usefixtures("few_folds", "few_steps")
def test_few_or_one_sided_answers_are_enough(
    num_items: int, num_columns: int, pairs: list[tuple[int, int, int]], one_task: bool
) -> None:
    features = np.random.default_rng(0).normal(size=(num_items, num_columns))
    i, j, label = np.array(pairs).T
    task = np.zeros_like(i) if one_task else None
    answers = PairAnnotations.from_arrays(i, j, np.zeros_like(i), label, task=task, num_items=num_items)
    made, winner, verdict = _found(answers, features)
    for found in made.probabilities(winner):
        assert len(found) == num_items
        np.testing.assert_allclose(found.sum(1), 1, rtol=1e-6)
    assert np.isfinite(verdict.gain)
    assert all(eta.isfinite().all() for eta in winner.annotators)


@pytest.mark.slow
@pytest.mark.usefixtures("few_folds")
def test_a_handful_of_answers_tells_nothing() -> None:
    """Tossed coins of one person about clear clusters: by luck some of these would gain."""
    features = make_blobs(40, 2, centers=2, random_state=0)[0]
    for seed in range(4):
        rng = np.random.default_rng(seed)
        i, j = np.stack([rng.permutation(40)[:2] for _ in range(5)], 1)
        answers = PairAnnotations.from_arrays(i, j, np.zeros(5, int), rng.integers(0, 2, 5), num_items=40)
        verdict = _found(answers, features)[-1]
        assert (verdict.winner, verdict.informative) == (FEATURES_ALONE, False)
