"""The start from answers: what the two models make of it."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from sklearn.metrics import adjusted_rand_score
from tests.small_fits import SmallFit

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.expfam import dirichlet
from semicrowd.models.bayes import BayesSCDC
from semicrowd.models.scdc import SCDC
from semicrowd.starts import answer_classifier, teaching
from semicrowd.starts.answers import AnswerStart, answer_start

Build = Callable[..., SmallFit[Any]]
#: Networks learn 50 epochs with BayesSCDC and 20 with SCDC where nothing else is given.
START: dict[str, Any] = {"init": "answers", "init_epochs": 20}


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Half of the classifiers' steps."""
    monkeypatch.setattr(answer_classifier, "STEPS", 150)


def from_answers(fit: SmallFit[Any]) -> AnswerStart:
    """What the answers say alone; the same that the start begins with."""
    model, data = fit.model, fit.data
    params = model.params
    given = params.n_clusters, params.hidden, model.num_restarts
    return answer_start(data, fit.annotations, *given, fit.said.append)


def test_annotated_items_keep_what_their_answers_say(build: Build, answers: PairAnnotations) -> None:
    fit = build("scdc", n_clusters=5, **START)
    start = from_answers(fit)
    assert start.probabilities.shape == (1, 120, 5)
    torch.testing.assert_close(start.probabilities.sum(-1), torch.ones(1, 120))
    clusters = start.probabilities[0].argmax(-1).numpy()
    same = clusters[answers.i] == clusters[answers.j]
    assert (same == answers.label).mean() > 0.8  # the annotators are right nine times of ten


def test_scdc_learns_the_clusters_and_believes_the_annotators(build: Build) -> None:
    fit = build("scdc", n_clusters=5, teach_epochs=80, init_learning_rate=0.01, **START)
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
    fit = build("bayes", n_clusters=5, teach_epochs=80, init_learning_rate=0.01, teach_weight=30.0, **START)
    fit.begin()
    model, found = fit.model, from_answers(fit)
    assert isinstance(model, BayesSCDC)
    clusters = found.probabilities[0].argmax(-1)
    assert adjusted_rand_score(clusters, fit.clusters()) > 0.9
    counts = dirichlet.to_standard(model.globals.eta["pi"].detach())[0] - 0.05 / 5
    np.testing.assert_allclose(counts, np.bincount(clusters, minlength=5), atol=1e-6)
    torch.testing.assert_close(model.globals.eta["specificity"].detach(), found.annotators.specificity)
