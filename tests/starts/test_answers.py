"""The warm start from classifiers: what the two models make of it."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from hydra import compose, initialize_config_dir
from sklearn.metrics import adjusted_rand_score

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.data import Dataset
from semicrowd.errors import UserError
from semicrowd.expfam import dirichlet, gaussian
from semicrowd.models import ClusteringModule
from semicrowd.starts.answers import AnswerStart, answer_start
from semicrowd.models.bayes import BayesSCDC
from semicrowd.models.scdc import SCDC
from semicrowd.starts.warm import train_vae

Build = Callable[..., ClusteringModule]
OVERRIDES = ("model.K=5", "model.warm.partition=classifier", "model.warm.epochs=20", "model.warm.classifier.steps=150")
CONF = str(Path(__file__).parents[2] / "conf")


def _started(model: ClusteringModule) -> AnswerStart:
    """The start that ``warm_up`` makes, and the model after it."""
    train_vae(model, lambda _: None)
    with torch.no_grad():
        t_x = torch.cat([_statistics(model, piece) for piece in model.chunks(model.features)], 1)
    start = answer_start(model, lambda _: None)
    model.start_from_answers(t_x, start, lambda _: None)
    return start


def _statistics(model: ClusteringModule, piece: torch.Tensor) -> torch.Tensor:
    return gaussian.expected_statistics(model.vae_posterior(piece))


def test_annotated_items_keep_what_their_answers_say(build: Build, answers: PairAnnotations) -> None:
    model = build("model=scdc", *OVERRIDES)
    start = answer_start(model, lambda _: None)
    assert start.probabilities.shape == (1, model.num_items, 5)
    torch.testing.assert_close(start.probabilities.sum(-1), torch.ones(1, model.num_items))
    clusters = start.probabilities[0].argmax(-1).numpy()
    same = clusters[answers.i] == clusters[answers.j]
    assert (same == answers.label).mean() > 0.8  # the annotators are right nine times of ten


def test_scdc_learns_the_clusters_and_believes_the_annotators(build: Build) -> None:
    model = build("model=scdc", *OVERRIDES, "model.warm.classifier_epochs=80", "model.warm.learning_rate=0.01")
    assert isinstance(model, SCDC)
    start = _started(model)
    learned = model.posterior(model.features).probabilities[0].argmax(-1)
    assert adjusted_rand_score(start.probabilities[0].argmax(-1), learned) > 0.9
    shape = start.annotators.sensitivity[0] + 1
    np.testing.assert_allclose(model.logits_quality[0, 0].detach().sigmoid(), shape[:, 0] / shape.sum(-1), rtol=1e-5)


def test_bayes_learns_the_clusters_and_believes_the_annotators(build: Build) -> None:
    model = build(
        "model=bayes", *OVERRIDES, "model.warm.learning_rate=0.01", "model.warm.classifier.weight=30",
        "model.warm.classifier.noise=0.05",
    )  # fmt: skip
    assert isinstance(model, BayesSCDC)
    start = _started(model)
    clusters = start.probabilities[0].argmax(-1)
    learned = model.posterior(model.features).probabilities[0].argmax(-1)
    assert adjusted_rand_score(clusters, learned) > 0.9
    counts = dirichlet.to_standard(model.globals.eta["pi"].detach())[0] - 0.05 / 5
    np.testing.assert_allclose(counts, np.bincount(clusters, minlength=5), atol=1e-6)
    torch.testing.assert_close(model.globals.eta["specificity"].detach(), start.annotators.specificity)


@pytest.mark.parametrize("name", ["scdc", "bayes"])
def test_the_start_is_that_of_the_pinwheel_s_arms(
    build: Build, pinwheel: Dataset, answers: PairAnnotations, name: str
) -> None:
    model = build(f"model={name}", *OVERRIDES)
    lines: list[str] = []
    model.warm_up(lines.append)
    clusters = model.annotated_posterior(model.features, answers).probabilities[0].argmax(-1).numpy()
    assert pinwheel.labels is not None
    assert adjusted_rand_score(pinwheel.labels[answers.annotated], clusters) > 0.6
    assert any(line.startswith("warm start: classifiers of the answers") for line in lines)


def test_without_answers_the_partition_is_one_of_cells(build: Build) -> None:
    lines: list[str] = []
    build("model=scdc", *OVERRIDES, with_answers=False).warm_up(lines.append)
    assert "warm start: partitions of the latent means" in lines


def test_settings_that_make_no_sense_are_named(build: Build) -> None:
    with pytest.raises(UserError, match=r"model\.warm\.partition=other: expected cells or classifier"):
        build("model=bayes", "model.warm.partition=other")
    for bad, expected in (
        ("candidates=0", "whole number from 1"), ("candidates=2.5", "whole number"), ("steps=many", "whole number"),
        ("noise=-0.1", "number from 0"), ("noise=.inf", "number"), ("learning_rate=0", "number from 1e-12"),
    ):  # fmt: skip
        with pytest.raises(UserError, match=rf"model\.warm\.classifier\.{bad.split('=')[0]}=.*: expected a {expected}"):
            build("model=scdc", f"model.warm.classifier.{bad}")
    with pytest.raises(UserError, match=r"model\.warm\.classifier=None: expected its settings"):
        build("model=scdc", "model.warm.classifier=null")


@pytest.mark.parametrize("name", ["scdc", "bayes"])
def test_the_paper_s_protocol_on_faces_starts_cold(name: str) -> None:
    common = ["data=face", f"model={name}", "annotations=quota"]
    with initialize_config_dir(CONF, version_base=None):
        assert compose("config", overrides=common).model.warm.partition == "classifier"
        paper = compose("config", overrides=[*common, "protocol=paper"])
    assert (paper.model.start, paper.epochs, paper.batch_size) == ("cold", 20, 10)
    assert (paper.model.K, paper.model.latent_dim, list(paper.model.hidden)) == (4, 8, [40, 40])
    if name == "bayes":
        assert (paper.model.step_size, paper.model.amortisation) == (0.0001, 0.0)
        assert paper.model.optimizer == "adam"
