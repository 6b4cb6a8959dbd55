"""The start from answers: what the two models make of it."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest
import torch
from sklearn.metrics import adjusted_rand_score
from tests.small_fits import SmallFit

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.data import Dataset
from semicrowd.errors import UserError
from semicrowd.expfam import dirichlet
from semicrowd.models.bayes import BayesSCDC
from semicrowd.models.scdc import SCDC
from semicrowd.settings.model import BayesSettings
from semicrowd.settings.rule import Facts, recipe
from semicrowd.settings.training import StartSettings
from semicrowd.starts import answer_classifier, teaching
from semicrowd.starts.answers import AnswerStart, answer_start

Build = Callable[..., SmallFit[Any]]
#: Networks learn 50 epochs with BayesSCDC and 20 with SCDC where nothing else is given.
START = {"kind": "answers", "epochs": 20}


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Half of the classifiers' steps."""
    monkeypatch.setattr(answer_classifier, "STEPS", 150)


def from_answers(fit: SmallFit[Any]) -> AnswerStart:
    """What the answers say alone; the same that the start begins with."""
    model, data = fit.model, fit.data
    start = fit.recipe.start
    return answer_start(data, fit.annotations, model.settings, start, model.num_restarts, fit.said.append)


def with_start(**settings: Any) -> Mapping[str, Any]:
    return START | settings


def test_annotated_items_keep_what_their_answers_say(build: Build, answers: PairAnnotations) -> None:
    fit = build("scdc", K=5, start=START)
    start = from_answers(fit)
    assert start.probabilities.shape == (1, 120, 5)
    torch.testing.assert_close(start.probabilities.sum(-1), torch.ones(1, 120))
    clusters = start.probabilities[0].argmax(-1).numpy()
    same = clusters[answers.i] == clusters[answers.j]
    assert (same == answers.label).mean() > 0.8  # the annotators are right nine times of ten


def test_scdc_learns_the_clusters_and_believes_the_annotators(build: Build) -> None:
    fit = build("scdc", K=5, start=with_start(teach_epochs=80, learning_rate=0.01))
    fit.begin()
    model, start = fit.model, from_answers(fit)
    assert isinstance(model, SCDC)
    assert adjusted_rand_score(start.probabilities[0].argmax(-1), fit.clusters()) > 0.9
    shape = start.annotators.sensitivity[0] + 1
    np.testing.assert_allclose(model.logits_quality[0, 0].detach().sigmoid(), shape[:, 0] / shape.sum(-1), rtol=1e-5)


def test_bayes_learns_the_clusters_and_believes_the_annotators(
    build: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (answer_classifier, teaching):
        monkeypatch.setattr(module, "NOISE", 0.05)
    fit = build("bayes", K=5, start=with_start(teach_epochs=80, learning_rate=0.01, teach_weight=30.0))
    fit.begin()
    model, found = fit.model, from_answers(fit)
    assert isinstance(model, BayesSCDC)
    clusters = found.probabilities[0].argmax(-1)
    assert adjusted_rand_score(clusters, fit.clusters()) > 0.9
    counts = dirichlet.to_standard(model.globals.eta["pi"].detach())[0] - 0.05 / 5
    np.testing.assert_allclose(counts, np.bincount(clusters, minlength=5), atol=1e-6)
    torch.testing.assert_close(model.globals.eta["specificity"].detach(), found.annotators.specificity)


@pytest.mark.parametrize("name", ["scdc", "bayes"])
def test_the_start_is_that_of_the_pinwheel_s_arms(
    build: Build, pinwheel: Dataset, answers: PairAnnotations, name: str
) -> None:
    fit = build(name, K=5, start=with_start(teach_epochs=50 if name == "bayes" else 20))
    fit.begin()
    clusters = fit.model.annotated_posterior(fit.features, answers).probabilities[0].argmax(-1).numpy()
    assert pinwheel.labels is not None
    assert adjusted_rand_score(pinwheel.labels[answers.annotated], clusters) > 0.6
    assert any(line.startswith("start: classifiers of the answers") for line in fit.said)


def test_settings_that_make_no_sense_are_named() -> None:
    bad: list[tuple[str, Any]] = [
        ("kind", "other"), ("networks", 0), ("networks", 2.5), ("teach_epochs", "many"), ("teach_weight", -0.1),
        ("teach_weight", float("inf")), ("learning_rate", 0), ("candidates", 0),
    ]  # fmt: skip
    for name, value in bad:
        with pytest.raises(UserError, match=rf"^start\.{name}="):
            StartSettings(**{name: value})


@pytest.mark.parametrize("name", ["scdc", "bayes"])
def test_the_paper_s_protocol_on_faces_starts_cold(name: str) -> None:
    facts = Facts(624, 20, num_answers=1000, num_annotated=100, data="face", num_classes=4)
    assert recipe(name, {}, facts).start.kind == "portfolio"
    paper = recipe(name, {}, facts, "paper")
    assert (paper.start.kind, paper.training.epochs, paper.training.batch_size) == ("cold", 20, 10)
    assert (paper.model.K, paper.model.latent_dim, paper.model.hidden) == (4, 8, (40, 40))
    if name == "bayes":
        assert isinstance(paper.model, BayesSettings)
        assert (paper.model.step_size, paper.model.amortisation) == (0.0001, 0.0)
        assert paper.model.optimizer == "adam"
