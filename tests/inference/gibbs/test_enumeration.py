"""Samplers of five items against all partitions: priors, densities, hyperplanes, and answers of unknown quality."""

import numpy as np
import pytest
from scipy.special import betaln

from semicrowd.inference.gibbs.answers import Answers
from semicrowd.inference.gibbs.chain import Chain, Model

from .small import ITEMS, MODELS, PAIRS, Partition, chain, distance, exact, families, frequencies, partitions

PRIOR = (3.0, 1.0)


@pytest.mark.parametrize(("kind", "family", "loss", "sweeps", "most"), [
    *((*MODELS[number], 4_000, 0.06) for number in (1, 3, 6, 7, 9, 13)),
    *(pytest.param(*model, 100_000, 0.02, marks=pytest.mark.slow) for model in MODELS),
])  # fmt: skip
def test_partitions_are_visited_as_often_as_they_are_likely(
    kind: str, family: str, loss: str, sweeps: int, most: float
) -> None:
    assert distance(frequencies(chain(kind, family, loss), sweeps), exact(kind, family, loss)) < most


@pytest.mark.parametrize("loss", ["svm", "logistic"])
def test_a_new_clusters_hyperplane_is_no_draw_of_the_prior(loss: str) -> None:
    """As the paper has it (``new=paper``): the sampler then visits other partitions than the model's."""
    found = frequencies(chain("restaurant", "gaussian", loss, new="paper"), 3_000)
    assert distance(found, exact("restaurant", "gaussian", loss)) > 0.2


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


@pytest.mark.parametrize(("sweeps", "most"), [(4_000, 0.06), pytest.param(100_000, 0.02, marks=pytest.mark.slow)])
def test_partitions_are_visited_as_often_as_answers_and_points_make_them_likely(sweeps: int, most: float) -> None:
    expected = with_answers()
    assert distance(expected, exact("restaurant", "isotropic", "")) > 0.2  # the answers say something
    found = frequencies(Chain(Model(families("isotropic"), ITEMS, answers=Answers(PAIRS, PRIOR), splits=3)), sweeps)
    assert distance(found, expected) < most


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


@pytest.mark.parametrize("z", [(0, 1, 1, 0, 2), (0, 0, 0, 0, 0), (0, 1, 2, 3, 4)])
def test_the_evidence_of_the_answers_is_that_of_every_annotators_betas(z: Partition) -> None:
    assert Answers(PAIRS, PRIOR).log_evidence(np.array(z)) == pytest.approx(log_answers(z))
