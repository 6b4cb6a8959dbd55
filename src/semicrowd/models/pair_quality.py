"""The annotators' rates that are reported, and their intervals, given the clusters of the items.

The answers of a task are not independent: one misplaced item makes all its answers wrong together. If each misplaced
item makes d answers wrong, the number of wrong answers has d times the variance that it would have for independent
answers; if d differs between items, E[d²]/E[d] times. This is the design effect of cluster sampling. Counts of answers
are divided by it, so that the Beta posterior of the effective counts is as wide as one of placements would be
(docs/DEVIATIONS.md, answers that come in tasks).
"""

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import Tensor

from semicrowd.crowd.batch import RelationalBatch
from semicrowd.crowd.history import crowd_of
from semicrowd.crowd.two_coin import FLAT_PRIOR, hits_and_misses
from semicrowd.crowd.workers import WorkerPosterior
from semicrowd.expfam.shared_prior import common_beta

#: Jeffreys' prior of a rate: both shapes of its Beta. It takes nothing from the other annotators: an annotator who is
#: worse than they are need not resemble them, and a misplaced item is not noticed if the others' answers explain it.
JEFFREYS = 0.5


def reported_quality(
    posterior: WorkerPosterior, confusions: bool, probabilities: Float[Tensor, "R n K"], answers: RelationalBatch,
    history: Float[np.ndarray, "M 2 2"] | None = None,
) -> WorkerPosterior:
    """The posterior of the annotators' rates that is reported, given all answers and q(z).

    Parameters
    ----------
    posterior : of the model; returned as it is if it has intervals and answers do not come in tasks. Otherwise its
        means are reported, unless the model has ``confusions``
    confusions : whether misplaced items have probabilities of their own in the model; the reported rates are then those
        of answers about pairs, wrong answers because of misplaced items included
    probabilities : q(z) of the items with answers
    history : right and wrong answers to earlier questions, or None; ``posterior`` includes them
    """
    if answers.placements is None and posterior.point is None:
        return posterior
    shapes, rates, num_annotators = [], [], posterior.sensitivity.shape[1]
    earlier = np.zeros((2, num_annotators, 2)) if history is None else history.swapaxes(0, 1)
    crowd = crowd_of(earlier.swapaxes(0, 1))
    for z in probabilities.double():
        same = (z[answers.i] * z[answers.j]).sum(-1)
        effect = design_effect(same, answers, num_annotators).numpy()[:, None]
        found = hits_and_misses(same.numpy(), answers.worker.numpy(), answers.label.numpy(), num_annotators)
        counts = found / effect
        shapes.append(counts + JEFFREYS + earlier)
        rates.append([shrunk_rate(one, crowd) for one in counts + earlier])
    sensitivity, specificity = np.array(shapes).swapaxes(0, 1)
    point = np.array(rates).swapaxes(0, 1) if confusions else np.stack(posterior.mean())
    return WorkerPosterior(sensitivity, specificity, point)


def design_effect(same: Float[Tensor, "P"], answers: RelationalBatch, num_annotators: int) -> Float[Tensor, "M"]:
    """E[d²]/E[d] over the placements of each annotator, at least 1; 1 for answers that do not come in tasks.

    d of a placement is the number of items of its cluster in its task, which is how many answers about pairs of one
    cluster are wrong if the item is misplaced. If it is put into another group, as many answers about pairs of two
    clusters are wrong as that group has items; d is taken for their number, too.
    """
    placements = answers.placements
    if placements is None:
        return same.new_ones(num_annotators)
    wrong = same.new_zeros(len(placements.item)).index_add(0, placements.i, same).index_add(0, placements.j, same)
    moments = torch.stack([wrong, wrong.square()], -1)
    once, twice = same.new_zeros(num_annotators, 2).index_add(0, placements.worker, moments).unbind(-1)
    return torch.where(once > 0, twice / once, 1.0).clamp(min=1)


def shrunk_rate(counts: Float[np.ndarray, "M 2"], crowd: Bool[np.ndarray, "M"]) -> Float[np.ndarray, "M"]:
    """Posterior mean of a rate from effective counts of right and wrong answers; the prior is fitted to ``crowd``.

    With counts that were not divided by the design effect, annotators with equal rates would seem to differ, and the
    fitted prior would be too wide.
    """
    shape = counts + common_beta(counts[crowd], FLAT_PRIOR)
    return shape[:, 0] / shape.sum(-1)
