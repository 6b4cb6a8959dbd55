"""Warnings about results that are not to be trusted, on simulated crowds; a healthy result gives none."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from semicrowd.crowd import simulate
from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.crowd.workers import WorkerPosterior
from semicrowd.data.columns import Columns
from semicrowd.data.dataset import Dataset
from semicrowd.estimators import ESTIMATORS
from semicrowd.evaluation import trust
from semicrowd.evaluation.columns_and_answers import dominant_columns
from semicrowd.evaluation.held_out import Gain
from semicrowd.evaluation.trust import reliability_warnings
from semicrowd.fitting.result import Assignment, Result
from semicrowd.starts.answer_model import fit_rates
from semicrowd.starts.selection import Verdict

#: It does not matter here in how many parts a candidate is fitted again.
pytestmark = pytest.mark.usefixtures("few_folds")

LABELS = np.repeat(np.arange(4), 50)
SURE, NOISE = Gain(0.2, 0.01), Gain(0.004, 0.005)


def crowd(rate: float, seed: int = 0) -> PairAnnotations:
    """1200 answers of six people about 100 of the items."""
    return simulate.two_coin(
        LABELS, np.random.default_rng(seed), num_annotators=6, pairs_per_annotator=200, num_annotated=100,
        sensitivity=rate, specificity=rate,
    )  # fmt: skip


def found(answers: PairAnnotations, final: np.ndarray = LABELS, features: np.ndarray | None = None) -> Result:
    """Clusters, and annotators' rates estimated from them."""
    same = (final[answers.i] == final[answers.j]).astype(float)
    rates = fit_rates(same, answers.worker, answers.label, answers.num_annotators)
    workers = WorkerPosterior(rates.sensitivity[None], rates.specificity[None])
    alone = final if features is None else features
    return Result(4, Assignment.hard(final), Assignment.hard(alone), workers)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("gain", [None, SURE])
def test_a_healthy_result_gives_none(gain: Gain | None, seed: int) -> None:
    answers = crowd(0.85, seed)
    assert reliability_warnings(found(answers), answers, gain) == []
    assert reliability_warnings(replace(found(answers), workers=None), answers, gain) == []
    assert reliability_warnings(found(answers), None) == []


@pytest.mark.parametrize("seed", range(5))
def test_a_crowd_that_tosses_coins_weighs_nothing(seed: int) -> None:
    answers = crowd(0.5, seed)
    said = reliability_warnings(found(answers), answers)
    assert len(said) == 1
    assert said[0].startswith("the answers carry no information about these clusters: the mean weight of")
    assert "check that i and j" in said[0]
    assert "\n" not in said[0]


def test_a_gain_that_is_known_decides_and_the_weights_do_not() -> None:
    coins, right = crowd(0.5), crowd(0.85)
    assert reliability_warnings(found(coins), coins, SURE) == []
    said = reliability_warnings(found(right), right, NOISE)
    assert len(said) == 1
    assert "changes by +0.0040 nats (standard error 0.0050)" in said[0]


@pytest.mark.parametrize(("rate", "number"), [(0.5, 1), (0.85, 0)])
def test_without_posteriors_the_annotators_differences_are_the_noise(rate: float, number: int) -> None:
    answers = crowd(rate)
    workers = found(answers).workers
    assert workers is not None
    right, wrong = workers.mean()
    nothing = np.full((1, 6, 2), np.nan)
    result = replace(found(answers), workers=WorkerPosterior(nothing, nothing, np.stack([right, wrong])))
    assert len(reliability_warnings(result, answers)) == number


@pytest.mark.parametrize(("others", "warned"), [(9, True), (11, False)])
def test_one_cluster_with_almost_all_items(others: int, warned: bool) -> None:
    clusters = np.zeros(200, int)
    clusters[:others] = 1
    result = replace(found(crowd(0.85)), final=Assignment.hard(clusters), features=Assignment.hard(clusters))
    said = reliability_warnings(result, None)
    assert len(said) == warned
    if warned:
        assert said[0].startswith("one cluster has 95.5 % of the items")


def test_answers_about_other_rows_than_those_of_the_features_contradict_them() -> None:
    """What the features tell is another grouping of the items than that of the answers."""
    answers = crowd(0.85)
    other = np.random.default_rng(0).permutation(LABELS)
    said = reliability_warnings(found(answers, features=other), answers, SURE)
    assert len(said) == 1
    assert said[0].startswith("features and answers contradict each other: for the 100 annotated items, the clusters")
    # Some of them wrong is what answers are for.
    some = np.where(np.arange(200) % 2, LABELS, other)
    assert reliability_warnings(found(answers, features=some), answers, SURE) == []
    # Answers that say nothing contradict nobody.
    assert len(reliability_warnings(found(answers, features=other), answers, NOISE)) == 1


def test_a_column_that_is_the_clusters_is_named_unless_the_answers_depend_on_it() -> None:
    """Towns, and temperatures in two groups: the features say nothing else."""
    rng = np.random.default_rng(0)
    towns, warm = rng.integers(14, size=200), rng.integers(2, size=200)
    frame = pd.DataFrame({
        "kind": LABELS + 0.3 * rng.normal(size=200), "town": [f"town {one}" for one in towns],
        "temperature": 40 * warm + rng.normal(size=200),
    })  # fmt: skip
    columns = Columns.of(frame, "X")[0]
    data = Dataset("table", columns.features(frame, "X")[0], columns=columns)
    answers = crowd(0.85)
    for clusters, name in ((towns, "town"), (warm, "temperature")):
        assert dominant_columns(data, clusters, answers) == [name]
        (line,) = reliability_warnings(found(answers, clusters), answers, NOISE, data)
        assert f"the clusters are mostly values of the column {name}, and the answers do not depend on it" in line
        (line,) = reliability_warnings(found(answers, features=clusters), answers, SURE, data)
        assert "leave it out of the table (or data.ignore)" in line
    assert dominant_columns(data, LABELS, answers) == []
    assert dominant_columns(data, np.zeros(200, int), answers) == []
    assert dominant_columns(data, rng.integers(3, size=200), answers) == []
    assert "check that i and j" in reliability_warnings(found(answers), answers, NOISE, data)[0]


def test_advice_about_pictures_is_not_about_columns() -> None:
    files = tuple(f"p{number}.jpg" for number in range(200))
    data = Dataset("images", np.zeros((200, 3), np.float32), files=files)
    answers = crowd(0.85)
    (line,) = reliability_warnings(found(answers), answers, NOISE, data)
    assert "check that i and j" in line
    assert "columns" not in line


def verdict(gain: Gain, *rows: tuple[str, int, float, float, float, float]) -> Verdict:
    """Of "kept", which is among the candidates."""
    names = ["candidate", "clusters", "score", "behind", "standard_error", "agreement"]
    return Verdict("kept", pd.DataFrame(rows, columns=names).assign(unseen=np.nan), *gain, num_answers=200)


def test_a_candidate_that_was_refused_is_not_recommended() -> None:
    found = verdict(SURE, ("kept", 3, -0.5, 0.1, 0.01, 1.0), ("refused", 2, -0.4, 0.0, 0.0, 0.3))
    near = replace(found, table=found.table.assign(behind=[0.0, 0.0]))
    assert len(list(trust._close(near))) == 1
    refused = replace(near, table=near.table.assign(unseen=[-0.51, -0.55]))
    assert "with 2 clusters instead of 3, explains the answers as well" in next(trust._close(refused))
    behind = replace(refused, table=refused.table.assign(behind=[0.1, 0.0], standard_error=[0.04, 0.0]))
    assert "explains the answers better, but failed a test on answers" in next(trust._close(behind))
    shown = replace(near, table=near.table.assign(unseen=[-0.56, -0.55]))
    assert "explains the answers as well" in next(trust._close(shown))
    chance = replace(shown, table=shown.table.assign(behind=[0.1, 0.0], standard_error=[0.04, 0.0]))
    assert list(trust._close(chance)) == []


KEPT = ("kept", 4, -0.50, 0.0, 0.0, 1.0)


@pytest.mark.parametrize(
    ("other", "warned"),
    [
        (("same", 4, -0.51, 0.01, 0.02, 0.95), False),
        (("empty cluster", 5, -0.51, 0.01, 0.02, 1.0), False),
        (("far", 6, -0.60, 0.10, 0.02, 0.30), False),
        (("more", 6, -0.51, 0.01, 0.02, 0.85), True),
        (("other", 4, -0.51, 0.01, 0.02, 0.30), True),
        (("better", 6, -0.49, 0.00, 0.00, 0.30), True),  # the winner has fewer clusters
    ],
)
def test_another_candidate_within_one_standard_error(
    other: tuple[str, int, float, float, float, float], warned: bool
) -> None:
    answers = crowd(0.85)
    result = replace(found(answers), verdict=verdict(SURE, KEPT, other))
    said = reliability_warnings(result, answers)
    assert len(said) == warned
    if warned:
        assert "; candidates.csv lists all: " in said[0]
        assert "; candidates_ lists all: " in reliability_warnings(result, answers, in_python=True)[0]
        assert f"with {other[1]} clusters" in said[0]
        assert said[0].endswith(f"this result is called 'kept', the other '{other[0]}'")
        assert f"{other[5]:.2f}" in said[0]
    # Which of them chance prefers is not worth a line.
    assert len(reliability_warnings(replace(found(answers), verdict=verdict(NOISE, KEPT, other)), answers, SURE)) == 1


def test_answers_about_one_pair_cannot_be_tested_and_nothing_is_said_to_be_measured() -> None:
    twelve = PairAnnotations.from_arrays([0] * 12, [60] * 12, list(range(12)), [0, 1] * 6, num_items=200)
    result = replace(found(twelve), verdict=verdict(Gain(0.0, 0.0), ("kept", 4, 0.0, 0.0, 0.0, 1.0)))
    (line,) = reliability_warnings(result, twelve)
    assert line.startswith("it could not be tested whether the answers carry information: all 12 are about one pair")
    assert "nats" not in line
    assert "collect answers about other pairs" in line
    assert Gain.of(result.verdict, twelve) is None


@pytest.mark.parametrize(("label", "one", "other"), [(0, "different", "same"), (1, "same", "different")])
def test_answers_that_are_all_the_same_word_are_said_to_be(label: int, one: str, other: str) -> None:
    twelve = PairAnnotations.from_arrays(range(12), range(60, 72), [0] * 12, [label] * 12, num_items=200)
    result = replace(found(twelve), verdict=verdict(Gain(0.0, 0.0), ("kept", 4, 0.0, 0.0, 0.0, 1.0)))
    (line,) = reliability_warnings(result, twelve)
    assert f"all 12 are '{one}', which can be predicted without clusters" in line
    assert f"pairs where you expect '{other}'" in line
    assert "nats" not in line


@pytest.mark.usefixtures("quick_cotraining")
@pytest.mark.parametrize(("rate", "number"), [(0.9, 0), (0.5, 1)])
def test_co_training_of_a_crowd_that_is_right_and_of_one_that_tosses_coins(rate: float, number: int) -> None:
    features, labels = make_blobs(120, 3, centers=3, cluster_std=1.5, random_state=3)
    answers = simulate.two_coin(
        labels, np.random.default_rng(1), num_annotators=4, pairs_per_annotator=100, num_annotated=60,
        sensitivity=rate, specificity=rate,
    )  # fmt: skip
    model = ESTIMATORS["cotrain"](random_state=0).fit(features, answers)
    said = reliability_warnings(model.result_, answers)
    assert len(said) == number, said
    table = model.candidates_.set_index("candidate")
    assert table.loc[model.winner_, "agreement"] == pytest.approx(1)
    if not number:
        assert adjusted_rand_score(labels, model.labels_) > 0.9


@pytest.mark.parametrize("number", [1, 9, 10])
def test_a_handful_of_answers_is_no_evidence_however_right_they_are(number: int) -> None:
    answers = crowd(0.99).some(np.arange(number))
    result = replace(found(answers), verdict=verdict(SURE, ("kept", 4, 0.0, 0.0, 0.01, 1.0)))
    said = reliability_warnings(result, answers)
    assert ["at least 10 are needed" in line for line in said] == [True] * (number < 10)
