"""What the answers of annotators who place items are worth, pair by pair, slips included (docs/DEVIATIONS.md).

Under placements α and β speak of what an annotator perceives; a slip moves many of his answers at once, some of them
together. What they are worth follows from the answers and from who the items are.
"""

import torch
from jaxtyping import Float
from torch import Tensor

from semicrowd.crowd.batch import RelationalBatch
from semicrowd.models.global_posterior import USUAL_QUALITY, common_beta


def pair_quality(
    same: Float[Tensor, "P"], answers: RelationalBatch, num_annotators: int
) -> tuple[Float[Tensor, "M 2"], Float[Tensor, "M 2"]]:
    """Beta shapes of every annotator's sensitivity and specificity, of one restart.

    The mean is that of a Beta posterior from the expected counts of pairs, under a prior fitted to the crowd. Its
    width is that of the counts over d, the items of its own kind that a placement is compared with on average: one
    misplaced item makes about d answers about pairs of one kind wrong, and as many about others.

    Parameters
    ----------
    same : q(z_i = z_j) of every answered pair, float64
    answers : with placements
    """
    assert answers.placements is not None
    yes = answers.label.to(same)

    def of_each(values: Tensor) -> Tensor:
        return values.new_zeros(num_annotators).index_add(0, answers.worker, values)

    placed = torch.bincount(answers.placements.worker, minlength=num_annotators)
    together = (2 * of_each(same) / placed).clamp(min=1)
    shapes = []
    for chance, right in ((same, yes), (1 - same, 1 - yes)):
        counts = torch.stack([of_each(chance * right), of_each(chance * (1 - right))], -1)
        few = counts / together[:, None]
        posterior, narrow = (
            one + torch.from_numpy(common_beta(one.cpu().numpy(), USUAL_QUALITY)).to(one) for one in (counts, few)
        )
        shapes.append(posterior / posterior.sum(-1, keepdim=True) * narrow.sum(-1, keepdim=True))
    return shapes[0], shapes[1]
