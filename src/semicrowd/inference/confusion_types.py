"""Two types of annotators, those who hardly ever confuse kinds and those who do: a prior that the crowd decides.

The rows of an annotator's confusions C_m(l, ·) are Dirichlet, r on the diagonal and w on all beside it together, with r
and w of his type. Both types and their shares are the likeliest ones given the crowd's counts (type-II maximum
likelihood, EM over whose type is which): a minority who merge kinds or guess is not taken for the careful crowd, nor
made of it.
"""

from typing import NamedTuple, Self

import numpy as np
import torch
from jaxtyping import Float
from scipy.special import logsumexp, softmax
from torch import Tensor

from semicrowd.expfam.shared_prior import Cells, common_dirichlet, log_likelihood

#: Pseudo-placements of a row as they are expected beforehand, on the diagonal and beside it, of each type.
USUAL = ((27.0, 1.0), (3.0, 1.0))
#: Annotators who speak for each type beforehand.
_EACH = 1.0
#: Turns of EM.
_TURNS = 5
#: A count that is none.
_NONE = 1e-6


class Types(NamedTuple):
    """What types of annotators there are, and of which each is.

    Attributes
    ----------
    rows : [T, 2], pseudo-placements of a row: on the diagonal, and on all that is beside it together
    shares : [T], of the crowd
    """

    rows: Float[np.ndarray, "T 2"]
    shares: Float[np.ndarray, "T"]

    @classmethod
    def usual(cls) -> Self:
        """As they are expected beforehand, the types equally common."""
        return cls(np.array(USUAL), np.full(len(USUAL), 1 / len(USUAL)))

    def fitted(self, counts: Float[Tensor, "M K K1"]) -> Self:
        """Nearer to the likeliest ones given expected placements, from these on."""
        cells, (M, K, _) = _cells(counts), counts.shape
        types = self
        for _ in range(_TURNS):
            whose = softmax(types._log_joint(cells, M), axis=1)
            rows = [
                common_dirichlet(cells, np.repeat(share, K), usual, start=row)
                for share, usual, row in zip(whose.T, USUAL, types.rows, strict=True)
            ]
            shares = whose.sum(0) + _EACH
            types = types._replace(rows=np.stack(rows), shares=shares / shares.sum())
        return types

    def mean(self, counts: Float[Tensor, "M K K1"]) -> Float[Tensor, "M K K1"]:
        """Posterior means of C."""
        whose = torch.from_numpy(softmax(self._log_joint(_cells(counts), len(counts)), axis=1)).to(counts)
        expected = torch.zeros_like(counts)
        for share, prior in zip(whose.T, self.prior(counts.shape[1]), strict=True):
            row = prior.to(counts) + counts
            expected += share[:, None, None] * row / row.sum(-1, keepdim=True)
        return expected

    def evidence(self, counts: Float[Tensor, "M K K1"]) -> Float[Tensor, "M"]:
        """ln of the chance of each annotator's placements, C and the type summed out."""
        return torch.from_numpy(logsumexp(self._log_joint(_cells(counts), len(counts)), axis=1)).to(counts)

    def prior(self, K: int) -> Float[Tensor, "T K K1"]:
        """Pseudo-placements of the rows of each type; all that are beside the diagonal are alike."""
        right, wrong = torch.from_numpy(self.rows).T[..., None]
        beside = (wrong / K)[..., None].expand(-1, K, K + 1)
        return beside.diagonal_scatter(right.expand(-1, K), dim1=-2, dim2=-1)

    def _log_joint(self, cells: list[Cells], M: int) -> Float[np.ndarray, "M T"]:
        """ln p(placements, type) of each annotator."""
        K = cells[1].size
        rows = [log_likelihood(cells, M * K, row).reshape(M, K).sum(1) for row in self.rows]
        return np.stack(rows, 1) + np.log(self.shares)


def _cells(counts: Float[Tensor, "M K K1"]) -> list[Cells]:
    """On the diagonal and beside it, a row of the table for each row of every annotator."""
    M, K, _ = counts.shape
    table = counts.double().cpu().numpy().reshape(M * K, K + 1)
    own = np.arange(K + 1) == np.tile(np.arange(K), M)[:, None]
    groups = []
    for where, size in ((own, 1), (~own, K)):
        row, column = np.nonzero(where & (table > _NONE))
        groups.append(Cells(row, table[row, column], size))
    return groups
