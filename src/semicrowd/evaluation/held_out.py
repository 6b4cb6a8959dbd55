"""A score of clusters that needs no labels: how well do they predict held-out answers?

It uses only the clusters, so it can be compared between methods. The method is fitted to nine tenths of the answers,
and its clusters give the probability that two items are in the same cluster. A held-out answer then follows the
two-coin model (SCDC paper, eq. 1). Its probability is compared with that in the model without clusters, where each
annotator answers "same" at a constant rate that does not depend on the items.
"""

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.crowd.two_coin import FLAT_PRIOR, answer_chances, answers_without_clusters, fit_rates, hits_and_misses
from semicrowd.expfam.shared_prior import common_beta
from semicrowd.random import stream
from semicrowd.result import MIN_ANSWERS

#: Share of the tasks, or of the distinct pairs for answers without tasks, whose answers are held out.
SHARE = 0.1
#: Folds of cross-validation of the held-out answers.
FOLDS = 5
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
    rates = fit_rates(hits_and_misses(training.same(clusters), *known))
    if_one, if_two = answer_chances(*rates.means, asked.worker, asked.label)
    counts = answers_without_clusters(*known)
    shape = counts + common_beta(counts, FLAT_PRIOR)
    says_same = (shape[:, 0] / shape.sum(1))[asked.worker]
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


def folds_of_answers(answers: PairAnnotations) -> Int[np.ndarray, "P"]:
    """The fold of each answer; answers of one task, or without tasks about one pair, are in one fold.

    Where one person has sorted all items, and other tasks are but links of single pairs, answers about one pair are.
    They follow from that person's others, so that nothing then guards against a single person who sorts at random.
    """
    pairs = np.bincount(answers.question)
    one = answers.task is not None and (pairs > 1).sum() == 1
    unit = replace(answers, task=None).question if one else answers.question
    # Always the same folds: random ones would add variance to paired differences.
    return (stream(0, "cotraining/folds").permutation(int(unit.max()) + 1) % FOLDS)[unit]


def mean_difference(
    first: Float[np.ndarray, "P"], second: Float[np.ndarray, "P"], answers: PairAnnotations
) -> tuple[float, float]:
    """Mean difference of two scores of the answers, and its standard error, clustered by item.

    Answers that share an item are dependent (dyadic-robust variance, Fafchamps & Gubert 2007). Σ over items of
    (sum of their answers)² contains the product of two answers once for each item that they share, thus twice if they
    are about one pair; one of the two is subtracted. The variance is at least the one clustered by pair.
    """
    difference = first - second
    centred = difference - difference.mean()
    index, number = answers.index, len(answers.annotated)
    of_items = np.bincount(index.i, centred, number) + np.bincount(index.j, centred, number)
    within = (np.bincount(answers.pair, centred) ** 2).sum()
    variance = max((of_items**2).sum() - within, within)
    return float(difference.mean()), float(np.sqrt(variance)) / len(difference)
