"""Reasons not to trust a result, on simulated crowds; a healthy result has none."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from semicrowd.crowd import simulate
from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.crowd.two_coin import fit_rates, hits_and_misses
from semicrowd.crowd.workers import WorkerPosterior
from semicrowd.data.columns import Columns
from semicrowd.evaluation.held_out import Gain
from semicrowd.evaluation.trust import reliability_warnings
from semicrowd.result import MIN_EVIDENCE, Assignment, Result, Verdict

LABELS = np.repeat(np.arange(4), 50)
SURE, NOISE = Gain(0.2, 0.01), Gain(0.004, 0.005)
#: What identifies a line, in its first words.
ONE_CLUSTER, TOO_FEW, NO_INFORMATION = "one cluster has", "the answers are too few", "the answers carry no information"
CONTRADICTION, PEOPLE = "features and answers contradict", "people who answer"
NOT_CERTAIN = ("the number of clusters is not certain", "these clusters are not certain")


def crowd(rate: float, seed: int = 0) -> PairAnnotations:
    """1200 answers of six people about 100 of the items."""
    return of_people([rate] * 6, [rate] * 6, seed)


def of_people(sensitivity: list[float], specificity: list[float], seed: int = 0) -> PairAnnotations:
    """200 answers of each person about 100 of the items."""
    return simulate.two_coin(
        LABELS, np.random.default_rng(seed), num_annotators=len(sensitivity), pairs_per_annotator=200,
        num_annotated=100, sensitivity=sensitivity, specificity=specificity,
    )  # fmt: skip


def found(answers: PairAnnotations, final: np.ndarray = LABELS, features: np.ndarray | None = None) -> Result:
    """Clusters, and annotators' rates estimated from them."""
    same = (final[answers.i] == final[answers.j]).astype(float)
    rates = fit_rates(hits_and_misses(same, answers.worker, answers.label, answers.num_annotators))
    workers = WorkerPosterior(rates.sensitivity[None], rates.specificity[None])
    alone = final if features is None else features
    return Result(4, Assignment.hard(final), Assignment.hard(alone), workers)


def verdict(evidence: float, *rows: tuple[str, int, float, float], second: float = 0.0, number: int = 200) -> Verdict:
    """Of "kept", which is among the candidates, with four clusters and, at the probability ``second``, five."""
    table = pd.DataFrame(rows, columns=["candidate", "clusters", "behind", "agreement"])
    posterior = pd.DataFrame({"clusters": [1, 4, 5], "probability": [0.0, 1 - second, second], "evidence": 0.0})
    return Verdict("kept", table.assign(evidence=evidence - table["behind"]), posterior, evidence, number, 100)


@pytest.mark.parametrize("seed", range(5))
def test_a_healthy_result_gives_none_and_a_crowd_that_tosses_coins_weighs_nothing(seed: int) -> None:
    answers, coins = crowd(0.85, seed), crowd(0.5, seed)
    for gain in (None, SURE):
        assert reliability_warnings(found(answers), answers, gain) == []
        assert reliability_warnings(replace(found(answers), workers=None), answers, gain) == []
    assert reliability_warnings(found(answers), None) == []
    (line,) = reliability_warnings(found(coins), coins)
    assert line.startswith(NO_INFORMATION)
    # A gain that is known decides, and the weights do not.
    (line,) = reliability_warnings(found(coins), coins, SURE)
    assert line.startswith(PEOPLE)
    (line,) = reliability_warnings(found(answers), answers, NOISE)
    assert line.startswith(NO_INFORMATION)


@pytest.mark.parametrize(
    ("sensitivity", "specificity", "how"),
    [(0.05, 0.05, "inverted"), (0.5, 0.5, "as if guessing"), (1.0, 0.0, "nearly always 'same'"),
     (0.01, 0.99, "nearly always 'different'"), (0.75, 0.75, None), (0.95, 0.5, None)],
)  # fmt: skip
@pytest.mark.parametrize("seed", range(3))
def test_who_guesses_or_answers_inverted_or_always_the_same_is_named_and_nobody_else(
    sensitivity: float, specificity: float, how: str | None, seed: int
) -> None:
    answers = of_people([0.9] * 5 + [sensitivity], [0.9] * 5 + [specificity], seed)
    answers = replace(answers, worker_names=("Ana", "Ben", "Cleo", "Dai", "Eva", "Finn"))
    lines = reliability_warnings(found(answers), answers, SURE)
    assert [line.split(":")[0] for line in lines] == ([] if how is None else [f"people who answer {how}"])
    assert ["Finn" in line for line in lines] == [True] * len(lines)
    assert not any(name in line for line in lines for name in answers.worker_names[:5])
    # Where the clusters may be wrong, nobody is reproached.
    other = np.random.default_rng(0).permutation(LABELS)
    (line,) = reliability_warnings(found(answers, features=other), answers, SURE)
    assert line.startswith(CONTRADICTION)


@pytest.mark.parametrize(
    ("rate", "number", "others", "named"), [(0.0, 9, 5, 0), (0.0, 10, 5, 1), (0.4, 100, 5, 1), (0.4, 100, 300, 0)]
)
def test_nobody_is_named_by_nine_answers_or_by_chance(rate: float, number: int, others: int, named: int) -> None:
    answers = of_people([0.9] * others + [rate], [0.9] * others + [rate])
    some = answers.some((answers.worker < others) | (np.cumsum(answers.worker == others) <= number))
    assert len(reliability_warnings(found(some), some, SURE)) == named


@pytest.mark.parametrize(("rate", "number"), [(0.5, 1), (0.85, 0)])
def test_without_posteriors_the_annotators_differences_are_the_noise(rate: float, number: int) -> None:
    answers = crowd(rate)
    workers = found(answers).workers
    right, wrong = workers.mean()
    nothing = np.full((1, 6, 2), np.nan)
    result = replace(found(answers), workers=WorkerPosterior(nothing, nothing, np.stack([right, wrong])))
    assert len(reliability_warnings(result, answers)) == number


@pytest.mark.parametrize(("others", "warned"), [(9, True), (11, False)])
def test_one_cluster_with_almost_all_items(others: int, warned: bool) -> None:
    clusters = np.zeros(200, int)
    clusters[:others] = 1
    result = replace(found(crowd(0.85)), final=Assignment.hard(clusters), features=Assignment.hard(clusters))
    assert [line.startswith(ONE_CLUSTER) for line in reliability_warnings(result, None)] == [True] * warned


def test_a_cluster_of_missing_values_is_named() -> None:
    answers = crowd(0.9)
    empty, some, other = LABELS == 2, LABELS == 2, LABELS == 2
    some[:5], other[-60:] = True, True
    gaps = {"warranty": empty, "rating": some, "price": other}
    lines = reliability_warnings(found(answers), answers, SURE, gaps)
    assert [("cluster 2" in line, "warranty" in line or "rating" in line) for line in lines] == [(True, True)] * 2
    X = pd.DataFrame({"x": [1.0, np.nan, 2, 3], "kind": ["a", None, "b", "a"], "whole": [1, 2, 3, 4]})
    columns, _ = Columns.of(X, "X")
    for one in (columns, columns.with_gaps_filled()):
        features, _ = one.features(X, "X")
        gaps = one.gaps(one.fill(features) if one.filled else features)
        assert {name: np.flatnonzero(empty).tolist() for name, empty in gaps.items()} == {"x": [1], "kind": [1]}


def test_answers_about_other_rows_than_those_of_the_features_contradict_them() -> None:
    """What the features tell is another grouping of the items than that of the answers."""
    answers = crowd(0.85)
    other = np.random.default_rng(0).permutation(LABELS)
    (line,) = reliability_warnings(found(answers, features=other), answers, SURE)
    assert line.startswith(CONTRADICTION)
    # Some of them wrong is what answers are for.
    some = np.where(np.arange(200) % 2, LABELS, other)
    assert reliability_warnings(found(answers, features=some), answers, SURE) == []
    # Answers that say nothing contradict nobody.
    (line,) = reliability_warnings(found(answers, features=other), answers, NOISE)
    assert line.startswith(NO_INFORMATION)


KEPT = ("kept", 4, 0.0, 1.0)


@pytest.mark.parametrize(
    ("other", "second", "warned"),
    [
        (("same", 4, 1.0, 0.95), 0.0, False),
        (("far", 6, 30.0, 0.30), 0.05, False),
        (("other", 4, 1.0, 0.30), 0.0, True),
        (("better, of a number that features rule out", 6, -0.5, 0.30), 0.0, True),
        (("same", 4, 1.0, 0.95), 0.2, True),
    ],
)
def test_another_number_or_other_clusters_that_are_nearly_as_probable(
    other: tuple[str, int, float, float], second: float, warned: bool
) -> None:
    answers = crowd(0.85)
    said = reliability_warnings(replace(found(answers), verdict=verdict(90.0, KEPT, other, second=second)), answers)
    assert [line.startswith(NOT_CERTAIN[0] if second else NOT_CERTAIN[1]) for line in said] == [True] * warned
    assert all(("4" in line and "5" in line) if second else repr(other[0]) in line for line in said)
    # Which of them chance prefers is not worth a line.
    little = replace(found(answers), verdict=verdict(100 * MIN_EVIDENCE, KEPT, other, second=second))
    (line,) = reliability_warnings(little, answers, SURE)
    assert line.startswith(NO_INFORMATION)


def test_answers_that_say_little_are_no_evidence() -> None:
    """All the same word; a handful, however right they are."""
    for label, expected in ((0, "same"), (1, "different")):
        twelve = PairAnnotations.from_arrays(range(12), range(60, 72), [0] * 12, [label] * 12, num_items=200)
        (line,) = reliability_warnings(replace(found(twelve), verdict=verdict(90.0, KEPT)), twelve)
        assert line.startswith(NO_INFORMATION)
        assert f"you expect '{expected}'" in line
    for number in (9, 10):
        some = crowd(0.99).some(np.arange(number))
        result = replace(found(some), verdict=verdict(90.0, KEPT, number=number))
        assert [line.startswith(TOO_FEW) for line in reliability_warnings(result, some)] == [True] * (number < 10)
