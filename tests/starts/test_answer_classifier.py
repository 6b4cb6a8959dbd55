"""Classifiers trained on answers alone: their gradient by MCVC's bound, kinds that are found, items without answers."""

from typing import NamedTuple

import numpy as np
import pytest
import torch
from sklearn.metrics import normalized_mutual_info_score
from torch import Tensor

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.crowd.simulate import quota
from semicrowd.expfam import dirichlet
from semicrowd.inference.mcvc import Prior, bound, initial_experts, update
from semicrowd.nets.mlp import MLP, squared_weights
from semicrowd.random import stream, torch_stream
from semicrowd.starts import answer_classifier
from semicrowd.starts.answer_classifier import (
    AnswerClassifiers,
    AnswerNetworks,
    average_of_learners,
    train_on_answers,
)

QUALITY = [0.95, 0.9, 0.85, 0.8, 0.75]
NETWORKS = 8
TRUSTED = np.zeros((1, 5), bool)


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Half of the steps; one of the networks learns spectral clusters first."""
    monkeypatch.setattr(answer_classifier, "STEPS", 150)
    monkeypatch.setattr(answer_classifier, "SPECTRAL", 1)


class Case(NamedTuple):
    features: torch.Tensor
    labels: np.ndarray
    answers: PairAnnotations


def _case(pairs_per_annotator: int, num_annotated: int | None = None) -> Case:
    """Four kinds in two directions of six; the widest direction, which k-means follows, has nothing to do with them."""
    rng = stream(0, "test")
    labels = rng.integers(4, size=160)
    features = 0.15 * rng.standard_normal((160, 6))
    features[:, 0] += labels % 2
    features[:, 1] += labels // 2
    features[:, 2] += 4 * rng.integers(4, size=160)
    answers = quota(
        labels, rng, sensitivity=QUALITY, specificity=QUALITY, pairs_per_annotator=pairs_per_annotator,
        num_annotated=num_annotated,
    )  # fmt: skip
    return Case(torch.from_numpy(features.astype(np.float32)), labels, answers)


def _clusters(found: AnswerClassifiers, features: torch.Tensor) -> np.ndarray:
    with torch.no_grad():
        return found.net(features)[0].argmax(-1).numpy()


@pytest.mark.parametrize("spectral", [0, 4])
def test_networks_find_kinds_that_the_features_do_not_show(spectral: int, monkeypatch: pytest.MonkeyPatch) -> None:
    case = _case(120)
    monkeypatch.setattr(answer_classifier, "SPECTRAL", spectral)
    found = train_on_answers(case.features, case.answers, 4, [20, 20], NETWORKS, 0, TRUSTED)
    assert normalized_mutual_info_score(case.labels, _clusters(found, case.features)) > 0.85


def test_an_annotator_marked_as_reversed_is_believed_the_opposite() -> None:
    case = _case(120)
    a = case.answers
    label = np.where(a.worker < 2, 1 - a.label, a.label)  # the two best
    turned = PairAnnotations.from_arrays(a.i, a.j, a.worker, label, num_items=160)
    found = train_on_answers(
        case.features, turned, 4, [20, 20], NETWORKS, 0, np.array([[True, True, False, False, False]])
    )
    assert normalized_mutual_info_score(case.labels, _clusters(found, case.features)) > 0.85
    shape = dirichlet.to_standard(found.annotators.sensitivity)[0]
    assert ((shape[:, 0] > shape[:, 1]) == torch.tensor([False, False, True, True, True])).all()


def test_other_items_follow_networks_that_learn_each_item_once() -> None:
    case = _case(200, num_annotated=40)
    items = torch.from_numpy(case.answers.annotated)
    known = torch.nn.functional.one_hot(torch.from_numpy(case.labels[case.answers.annotated]), 4).float()[None]
    q = average_of_learners(case.features, items, known.repeat(2, 1, 1), [20, 20], NETWORKS, 0)
    torch.testing.assert_close(q.sum(-1), torch.ones(2, 160))
    for restart in q:
        assert (restart.argmax(-1).numpy() == case.labels).mean() > 0.9
    assert not torch.equal(q[0], q[1])


PRIOR = Prior(torch.tensor([9.0, 0.0], dtype=torch.float64), torch.tensor([0.0, 0.0], dtype=torch.float64))


@pytest.mark.parametrize("counted", [None, torch.tensor([True, False])])
def test_gradient_by_the_weights(counted: Tensor | None) -> None:
    rng = stream(0, "test")
    i = rng.integers(6, size=20)
    worker = np.arange(20) % 3
    pairs = PairAnnotations.from_arrays(i, rng.integers(i + 1, 7), worker, rng.integers(2, size=20), num_items=7)
    graph = pairs.index.graph
    features = torch.randn(len(graph.items), 2, generator=torch_stream(0, "x"), dtype=torch.float64)
    net = MLP(2, (3,), (3,), [torch_stream(0, "net", r) for r in range(4)], linear_skip=False).double()

    def probabilities() -> Tensor:
        return net(features)[0].softmax(-1).unflatten(0, (2, 2))

    view = torch.randn(2, 3, 2, generator=torch_stream(0, "view"), dtype=torch.float64).softmax(-1)
    experts = update(initial_experts(view, PRIOR), graph.agreement(probabilities().detach())[0], graph.counts, PRIOR)
    fit = AnswerNetworks(net, experts, PRIOR, graph)
    agreement = fit.step(probabilities(), 0.0, held=True, counted=counted)  # a step of no length
    torch.testing.assert_close(agreement, graph.agreement(probabilities().detach())[0])

    @torch.no_grad()
    def objective() -> float:
        squared = squared_weights(net).unflatten(0, (2, 2)).sum(-1)
        found = bound(fit.experts, graph.agreement(probabilities())[0], graph.counts, PRIOR, squared)
        # A restart that does not count is held near 0 by its prior alone.
        return float((found if counted is None else torch.where(counted, found, -0.5 * squared)).sum())

    step = 1e-5
    for parameter in net.parameters():
        assert parameter.grad is not None
        flat, gradient = parameter.data.view(-1), parameter.grad.view(-1)
        for k in range(len(flat)):
            flat[k] += step
            up = objective()
            flat[k] -= 2 * step
            down = objective()
            flat[k] += step
            assert -gradient[k].item() == pytest.approx((up - down) / (2 * step), abs=1e-6)
