"""Two hundred items of four classes, answers about some of them, and a candidate of given probabilities."""

from typing import Any

import numpy as np
from sklearn.datasets import make_blobs

from semicrowd.crowd import simulate
from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.methods.cotraining.answers import Answers
from semicrowd.methods.cotraining.candidates import Candidate
from semicrowd.methods.cotraining.classifiers import ItemClassifier, Predictor
from semicrowd.methods.cotraining.pool import Pool

FEATURES, LABELS = make_blobs(200, 3, centers=4, cluster_std=1.0, random_state=3)
KINDS = ("pairs", "tasks")


def answers_about(kind: str = "pairs", quality: float = 0.85, labels: np.ndarray = LABELS) -> PairAnnotations:
    """Answers of five people about 40 of the items, about pairs or as groupings."""
    rng = np.random.default_rng(0)
    rates: dict[str, Any] = {"sensitivity": quality, "specificity": quality, "num_annotated": 40}
    if kind == "tasks":
        return simulate.tasks(labels, rng, num_annotators=5, num_tasks=30, task_size=6, **rates)
    return simulate.two_coin(labels, rng, num_annotators=5, pairs_per_annotator=80, **rates)


class Nothing(ItemClassifier):
    """Says nothing of any item."""

    def learn(self, items: np.ndarray, known: np.ndarray) -> Predictor:  # noqa: ARG002
        return lambda rows: np.full((len(rows), known.shape[1]), 1 / known.shape[1])


def candidate(known: np.ndarray, features: np.ndarray, answers: PairAnnotations) -> Candidate:
    """With probabilities of the annotated items and their evidence."""
    evidence = Answers.of(answers).bound(known, features)
    return Candidate(known, features, evidence, Pool([Nothing(len(FEATURES))]), independent=False)
