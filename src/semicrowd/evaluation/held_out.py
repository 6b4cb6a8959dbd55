"""A score of clusters that needs no labels: how well do they predict held-out answers?

It uses only the clusters, so it can be compared between methods. The method is fitted to nine tenths of the answers,
and its clusters give the probability that two items are in the same cluster. A held-out answer then follows the
two-coin model (SCDC paper, eq. 1). Its probability is compared with that in the model without clusters, where each
annotator answers "same" at a constant rate that does not depend on the items.
"""

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.random import stream
from semicrowd.starts.answer_model import fit_prevalence, fit_rates
from semicrowd.starts.cotraining import FOLDS, folds_of_answers
from semicrowd.starts.selection import MIN_ANSWERS, Verdict, mean_difference

#: Share of the tasks, or of the distinct pairs for answers without tasks, whose answers are held out.
SHARE = 0.1
#: Grid of weights of the prediction by clusters, in its mixture with the prediction without clusters.
_SHARES = np.linspace(0, 1, 21)


class Gain(NamedTuple):
    """Log-likelihood of a held-out answer given the clusters, minus that without clusters.

    Attributes
    ----------
    nats : mean over the answers
    error : standard error of the mean, clustered by item
    """

    nats: float
    error: float

    @classmethod
    def of(cls, verdict: Verdict | None, answers: PairAnnotations | None) -> "Gain | None":
        """The gain of a verdict on the answers; None without one, and where no answer could be held out.

        If all answers are about one pair, they are in one fold, and its scores come from no other answer.
        """
        if verdict is None or answers is None or len(np.unique(folds_of_answers(answers))) < 2:
            return None
        return cls(verdict.gain, verdict.gain_error)

    @property
    def real(self) -> bool:
        """Whether the gain exceeds its standard error."""
        return self.nats > self.error

    def scores(self, name: str) -> dict[str, float]:
        """The two values under the names that metrics.json gives them."""
        return {f"answers/{name}": self.nats, f"answers/{name}_error": self.error}


def split(answers: PairAnnotations) -> tuple[PairAnnotations, PairAnnotations] | None:
    """Split answers into training answers and a held-out tenth, by whole tasks, or by pairs.

    The split is deterministic, so that methods can be compared. Each annotator has some training answers. Returns None
    if fewer than :data:`MIN_ANSWERS` answers would be held out.
    """
    asked = _held_out(answers)
    if asked.sum() < MIN_ANSWERS:
        return None
    return answers.some(~asked), answers.some(asked)


def gain(clusters: np.ndarray, training: PairAnnotations, asked: PairAnnotations) -> Gain:
    """The gain of the prediction of held-out answers by the clusters, over a prediction without clusters.

    The annotators' rates are estimated from the training answers, with which the clusters agree better than with new
    ones. To correct this, the prediction by clusters is mixed with the prediction without clusters; the weight is
    chosen by cross-validation over five folds of the held-out answers. Clusters that are unrelated to the answers have
    a gain of about 0.

    Parameters
    ----------
    clusters : clusters [N], or their probabilities [N, K]
    training, asked : training answers and held-out answers, from :func:`split`
    """
    known = training.worker, training.label, training.num_annotators
    same = asked.same(clusters)
    if_one, if_two = fit_rates(training.same(clusters), *known).of_answers(asked.worker, asked.label)
    says_same = fit_prevalence(*known)[asked.worker]
    without = np.where(asked.label == 1, says_same, 1 - says_same)
    mixed = without + _SHARES[:, None] * (same * if_one + (1 - same) * if_two - without)
    differences = np.log(mixed) - np.log(without)
    # With too few tasks for folds by task, folds are by pair.
    fold = folds_of_answers(asked if asked.num_tasks >= FOLDS else replace(asked, task=None))
    scores = np.empty(asked.num_pairs)
    for one in range(FOLDS):
        new = fold == one
        scores[new] = differences[differences[:, ~new].sum(1).argmax(), new]
    return Gain(*mean_difference(scores, np.zeros_like(scores), asked))


def _held_out(answers: PairAnnotations) -> Bool[np.ndarray, "P"]:
    unit = answers.question
    order = np.argsort(unit, kind="stable")
    members = np.split(order, np.flatnonzero(np.diff(unit[order])) + 1)
    left, asked = np.bincount(answers.worker, minlength=answers.num_annotators), np.zeros(answers.num_pairs, bool)
    wanted = max(1, round(SHARE * len(members)))
    for one in stream(0, "evaluation/held_out").permutation(len(members)):
        who, number = np.unique(answers.worker[members[one]], return_counts=True)
        if (left[who] > number).all():
            left[who] -= number
            asked[members[one]] = True
            wanted -= 1
        if not wanted:
            break
    return asked
