"""The annotators' rates that are reported, and their intervals, given the clusters of the items.

Answers of one person are not independent. The answers of a task come from one grouping: one misplaced item makes all
its answers wrong together. If each misplaced item makes d answers wrong, the number of wrong answers has d times the
variance that it would have for independent answers; if d differs between items, E[d²]/E[d] times. This is the design
effect of cluster sampling. Answers to questions about pairs are dependent, too, if a person, or the estimated clusters,
are wrong about an item; how much is estimated from the answers that share items. Counts of answers are divided by the
larger of the two effects, so that the Beta posterior of the effective counts is as wide as it should be
(docs/DEVIATIONS.md, answers that come in tasks).
"""

import numpy as np
from jaxtyping import Float
from scipy.special import betaln, expit, logit
from torch import Tensor

from semicrowd.crowd.index import AnswerIndex
from semicrowd.crowd.two_coin import FLAT_PRIOR, hits_and_misses
from semicrowd.crowd.workers import WorkerPosterior
from semicrowd.expfam.shared_prior import common_beta

#: Jeffreys' prior of a rate: both shapes of its Beta. It takes nothing from the other annotators: an annotator who is
#: worse than they are need not resemble them, and a misplaced item is not noticed if the others' answers explain it.
JEFFREYS = 0.5
#: Iterations of EM for the share of the annotators who are unlike the others.
_EM_ITERATIONS = 20
#: Lower bound of denominators, which are 0 for annotators without answers about such pairs.
_TINY = 1e-12


def reported_quality(
    posterior: WorkerPosterior, probabilities: Float[Tensor, "R n K"], index: AnswerIndex, *, robust: bool = False
) -> WorkerPosterior:
    """The posterior of the annotators' rates that is reported, given all answers and q(z).

    Parameters
    ----------
    posterior : of the model
    probabilities : q(z) of the items with answers
    index : of all answers
    robust : report :func:`robust_rate` of the counts that also determine the intervals, not the means of ``posterior``
    """
    shapes, rates = [], []
    for z in probabilities.double().numpy():
        same = np.einsum("pk,pk->p", z[index.i], z[index.j])
        effect = np.maximum(design_effect(same, index)[:, None], shared_item_effect(same, index)[..., None])
        counts = hits_and_misses(same, index.worker, index.label, index.num_annotators) / effect
        shapes.append(counts + JEFFREYS)
        if robust:
            rates.append([robust_rate(one) for one in counts])
    sensitivity, specificity = np.array(shapes).swapaxes(0, 1)
    point = np.array(rates).swapaxes(0, 1) if robust else np.stack(posterior.mean())
    return WorkerPosterior(sensitivity, specificity, point)


def design_effect(same: Float[np.ndarray, "P"], index: AnswerIndex) -> Float[np.ndarray, "M"]:
    """E[d²]/E[d] over the items of each annotator's tasks, at least 1; 1 for answers that do not come in tasks.

    d of an item in a task is the number of other items of its cluster in the task, which is how many answers about
    pairs of one cluster are wrong if the item is misplaced. If it is put into another group, as many answers about
    pairs of two clusters are wrong as that group has items; d is taken for their number, too.
    """
    people = index.num_annotators
    if index.task is None:
        return np.ones(people)
    placement = index.placement.ravel()
    worker = np.empty(placement.max() + 1, np.int64)
    worker[placement] = np.tile(index.worker, 2)
    d = np.bincount(placement, np.tile(same, 2))
    once, twice = (np.bincount(worker, one, people) for one in (d, d**2))
    return np.divide(twice, once, out=np.ones(people), where=once > 0).clip(min=1)


def shared_item_effect(same: Float[np.ndarray, "P"], index: AnswerIndex) -> Float[np.ndarray, "2 M"]:
    """Design effect of each annotator's answers about pairs that share an item, at least 1; of both rates.

    The variance of a sum over pairs is estimated by products of the residuals of any two answers that share an item
    (Fafchamps & Gubert 2007; Aronow, Samii & Assenova 2015), or both. It is 1 + ρ c times that of independent answers,
    where c is the number of other answers that an answer shares an item with, and ρ their correlation. Residuals of
    one annotator sum to 0, so the products of n independent answers have the mean −Σ e² / (n (n − 1)); products are
    compared with this mean, not with 0. One annotator's answers determine ρ poorly; therefore the mean of the products
    of all annotators who have answers that share an item is added to the annotator's own.
    """
    worker, people, num_items = index.worker, index.num_annotators, len(index.items)
    ends = np.sort(np.stack([index.i, index.j]), 0)
    seen, place = np.unique(worker * num_items + ends, return_inverse=True)
    one, other = place.reshape(2, -1)
    asked, question = np.unique(one * len(seen) + other, return_inverse=True)
    who, who_was_asked = seen // num_items, seen[asked // len(seen)] // num_items

    def squares(each: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Sums of squares, and of the products of two answers p, q that share an item; (p, q) and (q, p) count."""
        own = np.bincount(worker, each**2, people)
        by_item = np.bincount(who, np.bincount(place.ravel(), np.tile(each, 2)) ** 2, people)
        by_pair = np.bincount(who_was_asked, np.bincount(question, each) ** 2, people)  # they share both items
        return own, by_item - by_pair - own

    effects, label = [], index.label
    for relation, right in ((same, label), (1 - same, 1 - label)):
        number = np.bincount(worker, relation, people).clip(min=_TINY)
        rate = np.bincount(worker, relation * right, people) / number
        (weight, shared), (variance, products) = squares(relation), squares(relation * (right - rate[worker]))
        chance = (shared / (number**2 - weight).clip(min=_TINY)).clip(max=1)  # that two answers share an item
        others = shared / weight.clip(min=_TINY)
        excess, most = products + chance * variance, (1 - chance) * variance * others
        several = most > _TINY
        number_of_them = max(several.sum(), 1)
        pooled, most_of_them = excess[several].sum() / number_of_them, most[several].sum() / number_of_them
        effects.append((1 + others * (excess + pooled) / (most + most_of_them).clip(min=_TINY)).clip(min=1))
    return np.array(effects)


def robust_rate(counts: Float[np.ndarray, "M 2"]) -> Float[np.ndarray, "M"]:
    """Posterior mean of a rate if some annotators are unlike the others.

    The prior is a mixture of the one that is fitted to all and of Jeffreys', so that the estimate for somebody
    who clearly differs from the others is not drawn to them (a robust mixture prior; Schmidli et al. 2014). The share
    of Jeffreys' is fitted to all annotators by EM, with a pseudo-annotator of each kind.

    Parameters
    ----------
    counts : effective numbers of right and wrong answers
    """
    fitted = common_beta(counts, FLAT_PRIOR)
    priors = np.stack([fitted, np.full(2, JEFFREYS)])
    (of_crowd, alone), shapes = _log_evidence(counts, priors), counts + priors[:, None]
    share = 0.5
    for _ in range(_EM_ITERATIONS):
        unlike = expit(alone - of_crowd + logit(share))
        share = (unlike.sum() + 1) / (len(counts) + 2)
    means = shapes[..., 0] / shapes.sum(-1)
    rate: np.ndarray = (1 - unlike) * means[0] + unlike * means[1]
    return rate


def _log_evidence(counts: np.ndarray, priors: np.ndarray) -> np.ndarray:
    """ln p(counts | prior) of each prior and annotator, up to a constant of the annotator, [2, M]."""
    shapes = counts + priors[:, None]
    evidence: np.ndarray = betaln(*np.moveaxis(shapes, -1, 0)) - betaln(*priors.T)[:, None]
    return evidence
