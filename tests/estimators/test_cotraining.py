"""Co-training as an estimator: what answers add, that they never cost, seeds."""

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine, make_blobs, make_moons
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

from semicrowd import SCDC, CoTraining, UnreliableResultWarning
from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.crowd.simulate import two_coin
from semicrowd.data.generated import load_pinwheel
from semicrowd.starts import portfolio

TABLE, KINDS = make_blobs(120, 3, centers=3, cluster_std=1.2, random_state=2)
NEW, NEW_KINDS = make_blobs(60, 3, centers=3, cluster_std=1.2, random_state=2)


def _crowd(labels: np.ndarray, quality: float, each: int, seed: int = 0, annotated: int | None = 60) -> PairAnnotations:
    return two_coin(
        labels, np.random.default_rng(seed), num_annotators=5, pairs_per_annotator=each, num_annotated=annotated,
        sensitivity=quality, specificity=quality,
    )  # fmt: skip


@pytest.fixture(scope="module")
def fitted() -> dict[str, CoTraining]:
    """With answers and without."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("semicrowd.starts.answer_classifier.STEPS", 30)
        patch.setattr("semicrowd.starts.portfolio._FINALISTS", 1)
        both = CoTraining().fit(TABLE, _crowd(KINDS, 0.9, 40, annotated=30))
    return {"both": both, "alone": CoTraining().fit(TABLE)}


@pytest.mark.parametrize("name", ["both", "alone"])
def test_a_fit_predicts_new_items(name: str, fitted: dict[str, CoTraining]) -> None:
    model = fitted[name]
    assert adjusted_rand_score(KINDS, model.labels_) > 0.9
    p = model.predict_proba(NEW)
    np.testing.assert_allclose(p.sum(1), 1)
    assert (p >= 0).all()
    assert adjusted_rand_score(NEW_KINDS, model.predict(NEW)) > 0.85
    assert (model.predict(TABLE) == model.result_.features.cluster).mean() > 0.95
    assert sum(model.shares_.values()) == pytest.approx(1)


def test_what_is_known_of_the_fit(fitted: dict[str, CoTraining]) -> None:
    both, alone = fitted["both"], fitted["alone"]
    assert both.candidates_ is not None
    assert both.winner_ in set(both.candidates_["candidate"])
    assert both.held_out_gain_ > 3 * both.held_out_gain_error_ > 0
    assert both.workers_ is not None
    assert len(both.workers_) == 5
    assert alone.candidates_ is None
    assert alone.workers_ is None
    assert np.isnan(alone.held_out_gain_)


@pytest.mark.usefixtures("quick_cotraining")
def test_a_start_of_scdc_is_used_again_and_is_not_changed_by_its_users(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    answers = _crowd(KINDS, 0.9, 40, annotated=30)
    settings: dict[str, Any] = {"max_clusters": 5, "random_state": 3}
    alone = CoTraining(**settings).fit(TABLE, answers)
    quick: dict[str, Any] = {"init_epochs": 1, "teach_epochs": 1, "epochs": 1}
    SCDC(n_clusters=5, random_state=3, memory=str(tmp_path), **quick).fit(TABLE, answers)
    monkeypatch.setattr(portfolio.Portfolio, "winner", None)
    for _ in range(2):
        after = CoTraining(**settings, memory=str(tmp_path)).fit(TABLE, answers)
        assert after.result_.final.memberships.tobytes() == alone.result_.final.memberships.tobytes()
        assert after.predict_proba(NEW).tobytes() == alone.predict_proba(NEW).tobytes()
        after.result_.final.memberships[:] = after.result_.features.memberships[:] = 0
        for _, items in after.preparations_.values():
            items[:] = 0


@pytest.mark.usefixtures("quick_cotraining")
def test_answers_that_say_nothing_leave_what_the_features_say(fitted: dict[str, CoTraining]) -> None:
    model = CoTraining().fit(TABLE, _crowd(KINDS, 0.5, 40, annotated=30))
    assert model.held_out_gain_ <= model.held_out_gain_error_
    assert np.array_equal(model.labels_, fitted["alone"].labels_)
    assert model.workers_ is not None
    assert np.array_equal(model.predict(NEW), fitted["alone"].predict(NEW))


@pytest.mark.usefixtures("quick_cotraining")
def test_answers_about_one_pair_have_no_held_out_gain() -> None:
    one = PairAnnotations.from_arrays([0] * 12, [9] * 12, list(range(12)), [0] * 12, num_items=len(TABLE))
    with pytest.warns(UnreliableResultWarning, match="could not be tested"):
        model = CoTraining().fit(TABLE, one)
    assert np.isnan([model.held_out_gain_, model.held_out_gain_error_]).all()


def _pinwheel() -> tuple[np.ndarray, np.ndarray]:
    found = load_pinwheel(points_per_class=60)
    assert found.labels is not None
    return found.features.astype(float), found.labels


def _some(table: tuple[np.ndarray, np.ndarray], number: int) -> tuple[np.ndarray, np.ndarray]:
    rows = np.random.default_rng(0).permutation(len(table[0]))[:number]
    return table[0][rows], table[1][rows]


TABLES = {
    "blobs": lambda: make_blobs(300, 4, centers=4, random_state=1)[:2],
    "overlapping blobs": lambda: make_blobs(300, 3, centers=4, cluster_std=2.5, random_state=2)[:2],
    "iris": lambda: load_iris(return_X_y=True),
    "wine": lambda: load_wine(return_X_y=True),
    "pinwheel": _pinwheel,
    "digits": lambda: _some(load_digits(return_X_y=True), 400),
    "breast cancer": lambda: _some(load_breast_cancer(return_X_y=True), 250),
    "moons": lambda: make_moons(300, noise=0.1, random_state=0),
}


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("name", TABLES)
def test_a_crowd_at_chance_costs_nothing(name: str, seed: int) -> None:
    features, labels = TABLES[name]()
    alone = normalized_mutual_info_score(labels, CoTraining().fit(features).labels_)
    guessed = CoTraining().fit(features, _crowd(labels, 0.5, 60, seed))
    assert normalized_mutual_info_score(labels, guessed.labels_) >= alone - 0.01


@pytest.mark.slow
def test_clean_clusters_are_found() -> None:
    features, labels = make_blobs(500, 10, centers=5, random_state=0)
    model = CoTraining().fit(features, _crowd(labels, 0.9, 120, annotated=None))
    assert normalized_mutual_info_score(labels, model.labels_) >= 0.995


@pytest.mark.usefixtures("quick_cotraining")
def test_fit_warns_of_a_result_that_is_not_to_be_trusted() -> None:
    draws = np.random.default_rng(0)
    table = pd.DataFrame(draws.normal(size=(40, 2)), columns=["a", "b"])
    i = draws.integers(0, 40, 30)
    j, said = (i + 1 + draws.integers(0, 38, 30)) % 40, draws.integers(0, 2, 30)
    answers = np.column_stack([i, j, np.zeros(30, int), said])
    with pytest.warns(UnreliableResultWarning) as caught:
        CoTraining(random_state=0).fit(table, answers)
    assert ["carry no information" in str(one.message) for one in caught] == [True]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        CoTraining(random_state=0).fit(TABLE, _crowd(KINDS, 0.9, 40, annotated=30))


@pytest.mark.slow
def test_the_result_does_not_depend_on_the_number_of_processes() -> None:
    """The answers are so few and often wrong that candidates are fitted again."""
    answers, fits = _crowd(KINDS, 0.8, 20), list[CoTraining]()
    for jobs in (1, 2):
        fits.append(CoTraining(random_state=0, n_jobs=jobs).fit(TABLE, answers))
    first, second = (one.candidates_ for one in fits)
    assert first is not None
    assert first["unseen"].notna().sum() > 1
    assert first.equals(second)
    assert (fits[0].memberships_ == fits[1].memberships_).all()
