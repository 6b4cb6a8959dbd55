"""The start from answers: q(z) of all items by classifiers that are trained on the answers."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.crowd.cells import kmeans_cells, reversed_annotators
from semicrowd.expfam import dirichlet
from semicrowd.inference.graph import answer_graph
from semicrowd.inference.message_passing import infer_z
from semicrowd.models.training_data import TrainingData
from semicrowd.random import stream
from semicrowd.starts.answer_classifier import (
    Annotators,
    AnswerClassifiers,
    average_of_learners,
    train_on_answers,
)
from semicrowd.starts.shared import ProgressCallback

#: Classifiers for each restart, of which the one with the highest bound is used.
NETWORKS = 10


class AnswerStart(NamedTuple):
    """Initial posteriors from the answers, before the generative model is trained.

    Attributes
    ----------
    annotators : q(α) and q(β) of each restart
    probabilities : q(z) of every item
    """

    annotators: Annotators
    probabilities: Float[Tensor, "R N K"]


def answer_start(
    data: TrainingData,
    annotations: PairAnnotations,
    num_clusters: int,
    hidden: Sequence[int],
    restarts: int,
    progress: ProgressCallback,
) -> AnswerStart:
    """q(z) of the annotated items by a classifier and message passing; of the others by networks that learn these.

    New networks are trained for the others since the classifier is fitted to every single answer, and overfits where a
    hundred items have a hundred answers each. The new networks see each annotated item's q(z) once, and are averaged.
    """
    items = annotations.index.whole.items
    features = data.features.cpu()
    reverse = np.tile(_reversed(data, annotations, num_clusters), (restarts, 1))
    trained = train_on_answers(features, annotations, num_clusters, hidden, NETWORKS, data.seed, reverse, progress)
    annotators, known = trained.annotators, joint_probabilities(trained, features, annotations)
    if len(items) == data.num_items:
        return AnswerStart(annotators, known)
    probabilities = average_of_learners(features, items, known, hidden, NETWORKS, data.seed)
    probabilities[:, items] = known
    return AnswerStart(annotators, probabilities)


@torch.no_grad()
def joint_probabilities(
    classifiers: AnswerClassifiers, features: Float[Tensor, "N D"], annotations: PairAnnotations
) -> Float[Tensor, "R n K"]:
    """q(z) of the annotated items: message passing (eq. 14) with ln q(z | o) as unary potential."""
    answers = annotations.index.whole
    sensitivity, specificity = (dirichlet.expected_statistics(eta).float() for eta in classifiers.annotators)
    graph, _ = answer_graph(answers, sensitivity, specificity)
    return infer_z(classifiers.net(features[answers.items]), graph).exp()


def _reversed(data: TrainingData, annotations: PairAnnotations, num_clusters: int) -> np.ndarray:
    """Whether each annotator's answers contradict the k-means clusters of the features, [M]."""
    seed = int(stream(data.seed, "answers/reversed").integers(2**31))
    cells = kmeans_cells(data.features.cpu().numpy(), num_clusters, seed)
    return reversed_annotators(cells, annotations)
