"""Answers in the Gibbs sampler: five items, all partitions of them, annotators' qualities integrated out."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import betaln

from semicrowd.inference.gibbs.answers import Answers
from semicrowd.inference.gibbs.chain import Chain, Model

from .small import ITEMS, PAIRS, Partition, distance, exact, families, frequencies, partitions

PRIOR = (3.0, 1.0)


def log_answers(z: Partition) -> float:
    """ln p(answers | partition), Beta by Beta."""
    found = 0.0
    for annotator in (0, 1):
        for same in (True, False):
            right = wrong = 0
            for i, j, worker, label in zip(PAIRS.i, PAIRS.j, PAIRS.worker, PAIRS.label, strict=True):
                if worker == annotator and (z[i] == z[j]) == same:
                    right, wrong = right + (label == same), wrong + (label != same)
            found += betaln(PRIOR[0] + right, PRIOR[1] + wrong) - betaln(*PRIOR)
    return float(found)


def with_answers() -> dict[Partition, float]:
    without = exact("restaurant", "isotropic", "")
    joint = {z: without[z] * np.exp(log_answers(z)) for z in partitions()}
    return {z: p / sum(joint.values()) for z, p in joint.items()}


def chain(sweeps: int) -> dict[Partition, float]:
    model = Model(families("isotropic"), ITEMS, answers=Answers(PAIRS, PRIOR), splits=3)
    return frequencies(Chain(model), sweeps)


def test_partitions_are_visited_as_often_as_answers_and_points_make_them_likely() -> None:
    expected = with_answers()
    assert distance(expected, exact("restaurant", "isotropic", "")) > 0.2  # the answers say something
    assert distance(chain(4_000), expected) < 0.06


@pytest.mark.slow
def test_the_more_sweeps_the_closer() -> None:
    assert distance(chain(100_000), with_answers()) < 0.02


def test_weights_are_log_odds_of_the_two_coins() -> None:
    quality = np.array([[0.9, 0.6], [0.8, 0.7]])
    assert Answers(PAIRS, PRIOR).weights(quality) == pytest.approx(
        np.log([0.9 / 0.2, 0.1 / 0.8, 0.9 / 0.2, 0.6 / 0.3, 0.4 / 0.7, 0.6 / 0.3])
    )


def test_annotators_rates_follow_from_hits_and_misses() -> None:
    shapes = Answers(PAIRS, PRIOR).shapes(np.array([0, 0, 1, 0, 1]))
    # a: 0–3 same, said so; 0–1 same, said different; 1–4 different, said same.
    assert shapes[:, 0] == pytest.approx(np.array([[4.0, 2.0], [3.0, 2.0]]))
    # b: 2–3 and 3–4 different, said same; 0–2 different, said so.
    assert shapes[:, 1] == pytest.approx(np.array([[3.0, 1.0], [4.0, 3.0]]))


def test_the_evidence_of_an_item_is_the_sum_of_its_answers() -> None:
    answers, quality = Answers(PAIRS, PRIOR), np.array([[0.9, 0.6], [0.8, 0.7]])
    z = np.array([0, 0, 1, 0, 1])
    found, weight = answers.evidence(z, quality, 2), answers.weights(quality)
    assert found[0] == pytest.approx([weight[0] + weight[1], weight[4]])
    assert found[3] == pytest.approx([weight[0], weight[3] + weight[5]])


def test_nobodys_answers_change_nothing() -> None:
    none = replace(PAIRS, i=PAIRS.i[:0], j=PAIRS.j[:0], worker=PAIRS.worker[:0], label=PAIRS.label[:0])
    one = Chain(Model(families("isotropic"), ITEMS, answers=Answers(none, PRIOR)))
    other = Chain(Model(families("isotropic"), ITEMS))
    for each in (one, other):
        rng = np.random.default_rng(0)
        each.sweep(rng)
    assert np.array_equal(one.z, other.z)


@pytest.mark.parametrize("z", [(0, 1, 1, 0, 2), (0, 0, 0, 0, 0), (0, 1, 2, 3, 4)])
def test_the_evidence_of_the_answers_is_that_of_every_annotators_betas(z: Partition) -> None:
    assert Answers(PAIRS, PRIOR).log_evidence(np.array(z)) == pytest.approx(log_answers(z))
