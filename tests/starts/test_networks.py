"""Networks that learn answers, as classifiers and as a source of initial clusters."""

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score
from sklearn.neural_network import MLPClassifier

from semicrowd.crowd import simulate
from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.starts.networks import NetworkClassifier, answers_about_few, clusters_by_networks
from semicrowd.starts.portfolio import BY_NETWORKS, Portfolio
from semicrowd.starts.prepared_features import WEIGHTED

RATES = {"sensitivity": 0.9, "specificity": 0.9, "num_annotated": None}


@pytest.fixture(scope="module")
def poses() -> tuple[np.ndarray, np.ndarray]:
    """Items whose class is the smaller of two factors, as the pose in pictures of many people."""
    rng = np.random.default_rng(0)
    pose, person = rng.integers(3, size=300), rng.integers(60, size=300)
    people, poses = 4 * rng.normal(size=(60, 8)), 2 * rng.normal(size=(3, 8))
    return people[person] + poses[pose] + 0.3 * rng.normal(size=(300, 8)), pose


def _moons(rng: np.random.Generator, number: int) -> tuple[np.ndarray, np.ndarray]:
    angle, side = rng.uniform(0, np.pi, number), rng.integers(2, size=number)
    x = np.stack([np.cos(angle) + side, np.sin(angle) * (1 - 2 * side)], 1)
    return x + 0.15 * rng.normal(size=x.shape), side


def test_curved_borders_are_learned_as_well_as_by_another_network() -> None:
    x, side = _moons(np.random.default_rng(1), 400)
    known = np.eye(2)[side[:200]]
    found = NetworkClassifier(x, 0)(np.arange(200), known)
    assert found.shape == (400, 2)
    assert found.sum(1) == pytest.approx(1, abs=1e-5)
    other = MLPClassifier((40, 40), max_iter=2000, random_state=0).fit(x[:200], side[:200])
    assert (found[200:].argmax(1) == side[200:]).mean() >= other.score(x[200:], side[200:]) - 0.02


def test_what_is_known_of_an_item_has_no_part_in_what_is_said_of_it_out_of_sample() -> None:
    x, side = _moons(np.random.default_rng(2), 60)
    items, fold, known = np.arange(5, 55), np.arange(50) % 5, np.eye(2)[side[5:55]]
    turned = np.where((fold == 3)[:, None], 1 - known, known)
    network = NetworkClassifier(x, 0)
    one, other = network.out_of_sample(items, known, fold), network.out_of_sample(items, turned, fold)
    assert one[fold == 3] == pytest.approx(other[fold == 3], abs=1e-6)
    assert np.abs(one - other)[fold != 3].max() > 0.1
    assert (one.argmax(1) == side[5:55]).mean() > 0.9


@pytest.mark.parametrize(("kind", "most"), [("pairs", 30), ("tasks", 30), ("pairs", 1), ("pairs", 1000)])
def test_answers_about_few_items_are_all_those_about_these_items(kind: str, most: int) -> None:
    rng, labels = np.random.default_rng(0), np.arange(300) % 3
    if kind == "tasks":
        answers = simulate.tasks(labels, rng, num_annotators=4, num_tasks=40, task_size=8)
    else:
        answers = simulate.two_coin(labels, rng, num_annotators=4, pairs_per_annotator=400, **RATES)
    some = answers_about_few(answers, np.random.default_rng(1), most)
    size = 8 if kind == "tasks" else 2
    chosen = set(some.annotated.tolist())
    if most >= len(answers.annotated):
        assert some is answers
        return
    assert most <= len(chosen) < most + size
    whole = [row for row in range(answers.num_pairs) if answers.i[row] in chosen and answers.j[row] in chosen]
    assert some.num_pairs == len(whole)
    assert (some.i == answers.i[whole]).all()
    assert (some.label == answers.label[whole]).all()


@pytest.mark.slow
def test_networks_find_the_classes_of_the_answers_where_the_features_show_other_ones(
    poses: tuple[np.ndarray, np.ndarray],
) -> None:
    x, pose = poses
    answers = simulate.two_coin(pose, np.random.default_rng(0), num_annotators=4, pairs_per_annotator=250, **RATES)
    made = Portfolio(x, answers, 0, lambda _: None, 3)
    winner, verdict = made.winner()
    assert verdict.winner == BY_NETWORKS
    # Of the others none has more than half of these clusters: without networks all of this would be lost.
    others = verdict.table[verdict.table.candidate != BY_NETWORKS]
    assert others.agreement.max() < 0.5
    alone, final = made.probabilities(winner)
    assert adjusted_rand_score(pose, final.argmax(1)) > 0.8
    assert adjusted_rand_score(pose, alone.argmax(1)) > 0.75
    shares = made.shares_of_preparations(winner)
    assert shares["standardised"] + shares.get(WEIGHTED, 0) > 0.5
    assert sum(shares.values()) <= 1 + 1e-9


def test_annotators_who_answer_the_opposite_are_no_hindrance() -> None:
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(3), 50)
    x = 3 * np.eye(3)[labels] + 0.5 * rng.normal(size=(150, 3))
    answers = simulate.two_coin(labels, rng, num_annotators=4, pairs_per_annotator=250, **RATES)
    reverse = np.isin(answers.worker, [0, 1, 2])
    turned = PairAnnotations.from_arrays(
        answers.i, answers.j, answers.worker, np.where(reverse, 1 - answers.label, answers.label), num_items=150
    )
    for each in (answers, turned):
        found = clusters_by_networks(x, each, labels, 5, 0)
        assert adjusted_rand_score(labels[each.annotated], found) > 0.9


def test_items_beyond_those_that_networks_learn_from_have_clusters_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("semicrowd.starts.networks._MAX_ITEMS", 60)
    rng = np.random.default_rng(0)
    labels = rng.integers(3, size=400)
    x = 3 * np.eye(3)[labels] + 0.5 * rng.normal(size=(400, 3))
    answers = simulate.two_coin(labels, rng, num_annotators=4, pairs_per_annotator=1500, **RATES)
    found = clusters_by_networks(x, answers, labels, 5, 0)
    assert len(found) == len(answers.annotated) == 400
    assert adjusted_rand_score(labels, found) > 0.9
