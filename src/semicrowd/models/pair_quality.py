"""What an annotator's answers about pairs are worth, judged by who the items are, and how sure one may be of it.

The answers of a task are no independent witnesses: one misplaced item makes all its answers wrong together. Of slips
that come one by one, each of which makes d answers wrong, the number of wrong answers has the variance d times that of
as many independent ones, d²/d in the mean where d differs. So the answers count over that number: a Beta posterior of
what is left is as wide as that of placements (docs/DEVIATIONS.md, answers that come in tasks).
"""

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from semicrowd.crowd.batch import RelationalBatch
from semicrowd.crowd.two_coin import FLAT_PRIOR, hits_and_misses
from semicrowd.crowd.workers import WorkerPosterior
from semicrowd.expfam.shared_prior import common_beta

#: Jeffreys' prior of a rate: both shapes of its Beta.
JEFFREYS = 0.5


def judged(
    believed: WorkerPosterior, slips: bool, probabilities: Float[Tensor, "R n K"], answers: RelationalBatch,
    history: Float[np.ndarray, "M 2 2"] | None = None,
) -> WorkerPosterior:
    """What is reported of the annotators, given all answers and who the items are.

    Parameters
    ----------
    believed : by the model; its means are reported where ``slips`` are no part of it, and all of it where it counts
        answers that do not come in tasks
    slips : whether the annotators slip: their rates are then those of pairs, slips included
    probabilities : q(z) of the answers' items, with their answers
    history : right and wrong answers to earlier questions, or None; ``believed`` has them already
    """
    if answers.placements is None and believed.point is None:
        return believed
    shapes, rates, num_annotators = [], [], believed.sensitivity.shape[1]
    earlier = np.zeros((2, num_annotators, 2)) if history is None else history.swapaxes(0, 1)
    for z in probabilities.double():
        same = (z[answers.i] * z[answers.j]).sum(-1)
        unit = witness(same, answers, num_annotators).numpy()[:, None]
        found = hits_and_misses(same.numpy(), answers.worker.numpy(), answers.label.numpy(), num_annotators)
        both = [*zip(found, earlier, strict=True)]
        shapes.append([witnessed(counts, unit) + before for counts, before in both])
        rates.append([usual_rate(counts / unit + before) for counts, before in both])
    sensitivity, specificity = np.array(shapes).swapaxes(0, 1)
    point = np.array(rates).swapaxes(0, 1) if slips else np.stack(believed.mean())
    return WorkerPosterior(sensitivity, specificity, point)


def witness(same: Float[Tensor, "P"], answers: RelationalBatch, num_annotators: int) -> Float[Tensor, "M"]:
    """Answers of every annotator that fail together: d²/d in the mean over his placements, 1 of answers on their own.

    d of a placement is the number of items of its own kind that it is compared with. A slip makes as many answers
    about pairs of one kind wrong, and, to a group of another, as many about pairs of two as there are items in that.
    """
    placements = answers.placements
    if placements is None:
        return same.new_ones(num_annotators)
    mates = same.new_zeros(len(placements.item)).index_add(0, placements.i, same).index_add(0, placements.j, same)
    moments = torch.stack([mates, mates.square()], -1)
    once, twice = same.new_zeros(num_annotators, 2).index_add(0, placements.worker, moments).unbind(-1)
    return torch.where(once > 0, twice / once, 1.0).clamp(min=1)


def witnessed(counts: Float[np.ndarray, "M 2"], unit: Float[np.ndarray, "M 1"]) -> Float[np.ndarray, "M 2"]:
    """Beta shapes of a rate from right and wrong answers over their units, under Jeffreys' prior.

    Nothing is taken from the crowd: who is worse than the others is not known to be like them, and a misplacement that
    everybody else's items explain is not seen at all.
    """
    return counts / unit + JEFFREYS


def usual_rate(counts: Float[np.ndarray, "M 2"]) -> Float[np.ndarray, "M"]:
    """Posterior mean of a rate from right and wrong witnesses, under the prior that a crowd shares.

    Witnesses are answers over their units: taken for independent, the answers of some tasks would make annotators who
    are all alike look different, and the prior as wide.
    """
    shape = counts + common_beta(counts, FLAT_PRIOR)
    return shape[:, 0] / shape.sum(-1)
