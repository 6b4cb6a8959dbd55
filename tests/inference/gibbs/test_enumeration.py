"""Samplers of five items against all partitions of them: priors, densities and hyperplanes together."""

import pytest

from .small import MODELS, chain, distance, exact, frequencies


@pytest.mark.parametrize(("kind", "family", "loss"), [MODELS[number] for number in (1, 3, 6, 7, 9, 13)])
def test_partitions_are_visited_as_often_as_they_are_likely(kind: str, family: str, loss: str) -> None:
    assert distance(frequencies(chain(kind, family, loss), 4_000), exact(kind, family, loss)) < 0.06


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "family", "loss"), MODELS)
def test_the_more_sweeps_the_closer(kind: str, family: str, loss: str) -> None:
    assert distance(frequencies(chain(kind, family, loss), 100_000), exact(kind, family, loss)) < 0.02


@pytest.mark.parametrize("loss", ["svm", "logistic"])
def test_a_new_clusters_hyperplane_is_no_draw_of_the_prior(loss: str) -> None:
    """As the paper has it (``new=paper``): the sampler then visits other partitions than the model's."""
    found = frequencies(chain("restaurant", "gaussian", loss, new="paper"), 3_000)
    assert distance(found, exact("restaurant", "gaussian", loss)) > 0.2
