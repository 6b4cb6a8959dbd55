"""The warm start ``model.warm.partition=classifier``: what classifiers trained on the answers make of all items."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import inf
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch
from sklearn.cluster import KMeans
from threadpoolctl import threadpool_limits
from torch import Tensor

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.crowd.orientation import reversed_annotators
from semicrowd.crowd.samplers import whole_graph
from semicrowd.errors import UserError
from semicrowd.expfam import beta
from semicrowd.inference.graph import answer_graph
from semicrowd.inference.message_passing import infer_z
from semicrowd.starts.answer_classifier import (
    Annotators,
    AnswerClassifiers,
    average_of_learners,
    train_on_answers,
)
from semicrowd.random import stream

if TYPE_CHECKING:
    from semicrowd.fitting.module import ClusteringModule


class AnswerStart(NamedTuple):
    """What the answers say before the generative model is looked at.

    Attributes
    ----------
    annotators : q(α) and q(β) of each restart
    probabilities : [R, N, K], q(z) of every item
    """

    annotators: Annotators
    probabilities: Tensor


#: Lowest value of each setting of ``model.warm.classifier``: a whole number, or any number.
_WHOLE = {"candidates": 1, "spectral": 0, "steps": 1, "epochs": 0}
_NUMBERS = {"noise": 0.0, "weight": 0.0, "learning_rate": 1e-12}


def check_answer_start(settings: Any) -> None:
    """Refuse values of ``model.warm.partition`` and ``model.warm.classifier`` that make no sense.

    Raises
    ------
    UserError
        Naming the setting, its value and what was expected.
    """
    if settings.partition not in ("cells", "classifier"):
        raise UserError(f"model.warm.partition={settings.partition}: expected cells or classifier")
    if not isinstance(settings.classifier, Mapping):
        raise UserError(f"model.warm.classifier={settings.classifier}: expected its settings, such as candidates: 10")
    for name, value in settings.classifier.items():
        kind, lowest = ("whole number", _WHOLE[name]) if name in _WHOLE else ("number", _NUMBERS[name])
        fits = isinstance(value, int) if name in _WHOLE else isinstance(value, int | float)
        if isinstance(value, bool) or not fits or not lowest <= value < inf:
            raise UserError(f"model.warm.classifier.{name}={value}: expected a {kind} from {lowest:g} on")


def answer_start(model: ClusteringModule, progress: Callable[[str], None]) -> AnswerStart:
    """Clusters of the annotated items by a classifier and messages, of the others by networks that learn those.

    The classifier has been pulled by every answer: where a hundred items have a hundred answers each, it fits them at
    any price. The networks for the others learn each annotated item's q(z) once, and their average decides.
    """
    annotations, settings = model.annotations, model.settings
    assert annotations is not None
    features, hidden, choices = model.features, list(settings.hidden), settings.warm.classifier
    reverse = np.tile(_reversed(model, annotations), (model.num_restarts, 1))
    found = train_on_answers(features, annotations, settings.K, hidden, choices, model.seed, reverse, progress)
    items = torch.from_numpy(annotations.annotated)
    known = joint_probabilities(found, features, annotations)
    probabilities = known
    if len(items) < model.num_items:
        probabilities = average_of_learners(features, items, known, hidden, choices, model.seed)
        probabilities[:, items] = known
    return AnswerStart(found.annotators, probabilities)


@torch.no_grad()
def joint_probabilities(found: AnswerClassifiers, features: Tensor, annotations: PairAnnotations) -> Tensor:
    """q(z) of the annotated items, [R, n, K]: message passing (eq. 14) with ln q(z | o) as unary potential."""
    batch = whole_graph(annotations)
    sensitivity, specificity = (beta.expected_statistics(eta).float() for eta in found.annotators)
    graph, _ = answer_graph(batch, sensitivity, specificity)
    return infer_z(found.net(features[batch.items]), graph).exp()


def _reversed(model: ClusteringModule, annotations: PairAnnotations) -> np.ndarray:
    """Annotators who say the opposite of what k-means clusters of the features say, [M]."""
    with threadpool_limits(1):
        random_state = int(stream(model.seed, "init", 0, 0, 0, 0, 1).integers(2**31))
        kmeans = KMeans(model.num_clusters, n_init=1, random_state=random_state)
        cells = kmeans.fit_predict(model.features.numpy()).astype(np.int64)
    return reversed_annotators(cells, annotations)
