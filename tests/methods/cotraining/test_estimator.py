"""Co-training as an estimator: what answers add, that they never cost, few of them, samples, seeds, shared results."""

import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from joblib import Memory
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine, make_blobs, make_moons
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score
from sklearn.neighbors import NearestNeighbors

from semicrowd import SCDC, CoTraining, UnreliableResultWarning
from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.crowd.simulate import tasks, two_coin
from semicrowd.data.generated import load_pinwheel
from semicrowd.inference.features_alone import clusters_of_features
from semicrowd.methods.cotraining import estimator
from semicrowd.methods.cotraining.estimator import Clustered, co_train, default_max_clusters
from semicrowd.methods.cotraining.preparations import preparations
from semicrowd.random import stream

TABLE, KINDS = make_blobs(120, 3, centers=3, cluster_std=1.2, random_state=2)
NEW, NEW_KINDS = make_blobs(60, 3, centers=3, cluster_std=1.2, random_state=2)


def _crowd(
    labels: np.ndarray, quality: float, each: int = 40, seed: int = 0, annotated: int | None = 30, kind: str = "pairs"
) -> PairAnnotations:
    rng, rates = np.random.default_rng(seed), {"sensitivity": quality, "specificity": quality}
    if kind == "tasks":
        return tasks(labels, rng, num_annotators=5, num_tasks=30, task_size=6, num_annotated=annotated, **rates)
    return two_coin(labels, rng, num_annotators=5, pairs_per_annotator=each, num_annotated=annotated, **rates)


ANSWERS = _crowd(KINDS, 0.9)


@pytest.fixture(scope="module")
def fitted() -> dict[str, CoTraining]:
    """With answers and without; 8 is the usual maximum for the 30 annotated items."""
    return {"both": CoTraining().fit(TABLE, ANSWERS), "alone": CoTraining(max_clusters=8).fit(TABLE)}


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
    assert set(model.shares_) == set(model.preparations_)


def test_what_is_known_of_the_fit(fitted: dict[str, CoTraining]) -> None:
    both, alone = fitted["both"], fitted["alone"]
    assert both.candidates_ is not None
    assert both.winner_ in set(both.candidates_["candidate"])
    assert both.candidates_["evidence"].is_monotonic_decreasing
    verdict = both.result_.verdict
    assert verdict is not None
    assert verdict.informative
    best = both.posterior_.set_index("clusters")
    assert best["probability"].idxmax() == both.n_clusters_ == 3
    assert best["evidence"][3] - best["evidence"][1] == pytest.approx(verdict.evidence)
    assert both.workers_ is not None
    assert len(both.workers_) == 5
    assert (alone.candidates_, alone.workers_, alone.result_.verdict) == (None, None, None)
    assert alone.posterior_["clusters"].tolist() == list(range(2, 9))
    assert alone.posterior_["probability"].sum() == pytest.approx(1)
    assert alone.posterior_["probability"].idxmax() == 1


def test_a_seed_gives_one_result_whatever_the_number_of_processes(fitted: dict[str, CoTraining]) -> None:
    again, two = (CoTraining(n_jobs=jobs).fit(TABLE, ANSWERS) for jobs in (1, 2))
    for one in (again, two):
        pd.testing.assert_frame_equal(one.candidates_, fitted["both"].candidates_)
        pd.testing.assert_frame_equal(one.posterior_, fitted["both"].posterior_)
        np.testing.assert_array_equal(one.memberships_, fitted["both"].memberships_)
    other = CoTraining(random_state=1).fit(TABLE, ANSWERS)
    assert not np.array_equal(other.memberships_, again.memberships_)
    assert adjusted_rand_score(other.labels_, again.labels_) > 0.95


def test_a_start_of_scdc_is_used_again_and_is_not_changed_by_its_users(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    settings: dict[str, Any] = {"max_clusters": 5, "random_state": 3}
    alone = CoTraining(**settings).fit(TABLE, ANSWERS)
    quick: dict[str, Any] = {"init_epochs": 1, "teach_epochs": 1, "epochs": 1}
    SCDC(n_clusters=5, random_state=3, memory=str(tmp_path), **quick).fit(TABLE, ANSWERS)
    monkeypatch.setattr(estimator, "_of_both", lambda *_: pytest.fail("co-trained again"))
    for _ in range(2):
        after = CoTraining(**settings, memory=str(tmp_path)).fit(TABLE, ANSWERS)
        assert after.result_.final.memberships.tobytes() == alone.result_.final.memberships.tobytes()
        assert after.predict_proba(NEW).tobytes() == alone.predict_proba(NEW).tobytes()
        after.result_.final.memberships[:] = after.result_.features.memberships[:] = 0
        for _, items in after.preparations_.values():
            items[:] = 0


def test_any_other_input_has_a_result_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made, known = list[Clustered](), co_train(TABLE, ANSWERS, 3, None, (), 0, Memory(None), 1, lambda _: None)

    def count(*_: Any) -> Clustered:
        made.append(known)
        return known._replace(description=str(len(made)))

    monkeypatch.setattr(estimator, "_of_both", count)
    usual = {"features": TABLE, "answers": ANSWERS, "max_clusters": 3, "image_shape": None, "indicators": (), "seed": 0,
             "memory": Memory(tmp_path, verbose=0), "jobs": None, "tell": lambda _: None}  # fmt: skip
    other = np.where(np.arange(ANSWERS.num_pairs) == 7, 1 - ANSWERS.label, ANSWERS.label)
    changed: list[dict[str, Any]] = [
        {"features": TABLE + 1e-9}, {"answers": replace(ANSWERS, label=other)}, {"seed": 1}, {"max_clusters": 4},
        {"image_shape": (1, 3)}, {"indicators": (2,)},
    ]  # fmt: skip
    found = [co_train(**usual | change).description for change in [{}, *changed]]
    assert found == [str(number) for number in range(1, 8)]
    # The index of the answers is made when it is first needed: it is no other input.
    assert ANSWERS.index.whole.items.numel() == len(ANSWERS.annotated)
    same = {"features": TABLE.copy(), "answers": replace(ANSWERS, label=ANSWERS.label.copy()), "jobs": 2}
    assert co_train(**usual | same).description == "1"


@pytest.mark.parametrize("kind", ["pairs", "tasks"])
@pytest.mark.parametrize("seed", [0, 2])
def test_a_crowd_at_chance_leaves_exactly_what_the_features_alone_give(
    kind: str, seed: int, fitted: dict[str, CoTraining]
) -> None:
    model = CoTraining().fit(TABLE, _crowd(KINDS, 0.5, seed=seed, kind=kind))
    alone = fitted["alone"]
    assert model.result_.verdict is not None
    assert not model.result_.verdict.informative
    assert np.array_equal(model.labels_, alone.labels_)
    assert model.predict_proba(NEW).tobytes() == alone.predict_proba(NEW).tobytes()
    assert model.posterior_.equals(alone.posterior_)
    assert model.winner_ == alone.winner_
    assert model.workers_ is not None


@pytest.mark.parametrize("kind", ["pairs", "tasks"])
def test_a_crowd_that_answers_inverted_is_understood(kind: str) -> None:
    answers = _crowd(KINDS, 0.9, kind=kind)
    model = CoTraining().fit(TABLE, replace(answers, label=1 - answers.label))
    assert adjusted_rand_score(KINDS, model.labels_) > 0.9
    assert model.result_.verdict is not None
    assert model.result_.verdict.informative
    assert model.workers_ is not None
    assert (model.workers_[["sensitivity", "specificity"]].to_numpy() < 0.5).all()


def test_kinds_that_the_features_alone_do_not_show_are_found() -> None:
    """The widest direction, in two far groups, has nothing to do with what people are asked."""
    rng = np.random.default_rng(0)
    labels = rng.integers(3, size=240)
    table = np.concatenate([3 * np.eye(3)[labels], 20 * rng.integers(2, size=(240, 1))], 1)
    table += 0.5 * rng.normal(size=(240, 4))
    model = CoTraining().fit(table, _crowd(labels, 0.9, 120, annotated=60))
    assert adjusted_rand_score(labels, model.result_.features.cluster) > 0.9
    assert adjusted_rand_score(labels, CoTraining().fit(table).labels_) < 0.7


@pytest.mark.parametrize("varying", [True, False])
def test_a_sample_of_the_items_speaks_of_all(varying: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """As with a million: candidates are made of the annotated items and some others."""
    monkeypatch.setattr(estimator, "_MAX_SAMPLE", 50)
    model = CoTraining().fit(TABLE if varying else np.ones_like(TABLE), ANSWERS)
    assert 50 <= len(model.memberships_) < 80
    memberships = model.result_.final.memberships
    assert memberships is not None
    assert len(memberships) == 120
    np.testing.assert_allclose(memberships.sum(1), 1)
    if varying:
        assert adjusted_rand_score(KINDS, model.result_.features.cluster) > 0.9
    else:
        assert model.preparations_ == {}
        assert np.ptp(model.predict_proba(np.ones_like(NEW)), 0).max() < 1e-12


@pytest.mark.parametrize(
    ("num_items", "num_columns", "pairs", "one_task"),
    [
        (20, 1, [(0, 1, 1), (2, 3, 0)], False),
        (20, 3, [(0, 1, 1)], True),
        (16, 2, [(i, j, int(i % 2 == j % 2)) for i in range(6) for j in range(i)], False),
        (40, 2, [(i, j, 1) for i in range(8) for j in range(i)], False),
        (40, 2, [(i, j, 0) for i in range(8) for j in range(i)], True),
        (40, 2, [(0, 9, 0)] * 12, False),
        (2, 2, [(0, 1, 0)], False),
    ],
    ids=["two answers", "one answer", "all right about six items", "all the same", "all different", "one pair",
         "two items"],
)  # fmt: skip
def test_few_or_one_sided_answers_are_no_error_and_tell_nothing_unless_they_agree(
    num_items: int, num_columns: int, pairs: list[tuple[int, int, int]], one_task: bool
) -> None:
    features = np.random.default_rng(0).normal(size=(num_items, num_columns))
    i, j, label = np.array(pairs).T
    task = np.zeros_like(i) if one_task else None
    answers = PairAnnotations.from_arrays(i, j, np.zeros_like(i), label, task=task, num_items=num_items)
    model = CoTraining().fit(features, answers)
    np.testing.assert_allclose(model.predict_proba(features).sum(1), 1, rtol=1e-6)
    assert model.result_.verdict is not None
    assert np.isfinite(model.result_.verdict.evidence)
    assert model.result_.verdict.informative is (len(pairs) == 15)
    if len(pairs) != 15:
        alone = CoTraining(max_clusters=model.params_["max_clusters"]).fit(features)
        assert np.array_equal(model.labels_, alone.labels_)


def test_fit_warns_of_a_result_that_is_not_to_be_trusted() -> None:
    draws = np.random.default_rng(0)
    table = pd.DataFrame(draws.normal(size=(40, 2)), columns=["a", "b"])
    i = draws.integers(0, 40, 30)
    j, said = (i + 1 + draws.integers(0, 38, 30)) % 40, draws.integers(0, 2, 30)
    with pytest.warns(UnreliableResultWarning) as caught:
        CoTraining().fit(table, np.column_stack([i, j, np.zeros(30, int), said]))
    assert ["carry no information" in str(one.message) for one in caught] == [True]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        CoTraining().fit(TABLE, ANSWERS)


@pytest.mark.parametrize(("items", "most"), [(2, 4), (30, 8), (100, 15), (10_000, 50)])
def test_the_maximal_number_of_clusters_grows_with_the_root_of_the_items(items: int, most: int) -> None:
    assert default_max_clusters(items) == most


# Without answers.


def test_round_clusters_in_any_units() -> None:
    features, labels = make_blobs(200, 3, centers=4, cluster_std=0.6, random_state=1)
    model = CoTraining().fit(features * [1e-3, 1, 1e5])
    assert adjusted_rand_score(labels, model.labels_) == 1.0
    assert model.memberships_.shape == (200, 4)
    assert list(model.preparations_) == ["standardised"]


def test_clusters_are_those_of_the_features_and_an_item_is_less_sure_where_its_neighbours_are_others() -> None:
    features, _ = make_moons(300, noise=0.12, random_state=0)
    model = CoTraining().fit(features)
    x = dict(preparations(features))["standardised"].items
    expected, _ = clusters_of_features(x, 26, stream(0, "unsupervised"))
    assert adjusted_rand_score(expected, model.labels_) == 1.0
    sure = model.memberships_.max(1)
    assert (sure >= 0.5).all()
    near = NearestNeighbors(n_neighbors=8).fit(x).kneighbors(x, return_distance=False)[:, 1:]
    agree = (model.labels_[near] == model.labels_[:, None]).mean(1)
    inside, border = sure[agree == 1], sure[agree < 0.75]
    assert len(border) > 5
    assert inside.mean() > border.mean() + 0.1


@pytest.mark.parametrize("features", [
    np.full((8, 2), 3.0), *(np.random.default_rng(0).normal(size=(number, 2)) for number in (2, 3, 5)),
], ids=["no column varies", "two items", "three", "five"])  # fmt: skip
def test_features_that_do_not_vary_are_one_cluster_and_a_few_items_no_error(features: np.ndarray) -> None:
    model = CoTraining().fit(features)
    np.testing.assert_allclose(model.predict_proba(features).sum(1), 1)
    assert (model.preparations_ == {}) == (len(features) == 8)


# On many tables.


def _pinwheel() -> tuple[np.ndarray, np.ndarray]:
    found = load_pinwheel(points_per_class=60)
    assert found.labels is not None
    return found.features.astype(float), found.labels


def _some(table: tuple[np.ndarray, np.ndarray], number: int) -> tuple[np.ndarray, np.ndarray]:
    rows = np.random.default_rng(0).permutation(len(table[0]))[:number]
    return table[0][rows], table[1][rows]


TABLES: dict[str, Callable[[], tuple[np.ndarray, np.ndarray]]] = {
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
    guessed = CoTraining().fit(features, _crowd(labels, 0.5, 60, seed, 60))
    assert normalized_mutual_info_score(labels, guessed.labels_) >= alone - 0.01


@pytest.mark.slow
def test_clean_clusters_are_found() -> None:
    features, labels = make_blobs(500, 10, centers=5, random_state=0)
    model = CoTraining().fit(features, _crowd(labels, 0.9, 120, annotated=None))
    assert normalized_mutual_info_score(labels, model.labels_) >= 0.995
