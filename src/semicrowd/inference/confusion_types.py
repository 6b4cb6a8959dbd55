"""A prior of confusions, fitted to the crowd: one type of annotators hardly ever confuses clusters, the other does.

The rows C_m(l, ·) of an annotator's confusions have a Dirichlet prior with parameter r on the diagonal, and parameters
off the diagonal whose sum is w; r and w depend on the annotator's type. EM over the annotators' types estimates r and w
of both types, and their shares of the crowd (type-II maximum likelihood). So a minority of annotators who merge
clusters or guess gets its own prior, and hardly affects that of the careful majority.
"""

from typing import NamedTuple, Self

import numpy as np
import torch
from jaxtyping import Float
from scipy.special import logsumexp, softmax
from torch import Tensor

from semicrowd.expfam.shared_prior import Cells, common_dirichlet, log_likelihood

#: (r, w) of each type that are expected before there are data.
USUAL = ((27.0, 1.0), (3.0, 1.0))
#: Pseudo-count of annotators of each type.
_PSEUDO_COUNT = 1.0
#: Number of EM iterations.
_TURNS = 5
#: Counts up to this one are treated as 0.
_NONE = 1e-6


class Types(NamedTuple):
    """The types of annotators.

    Attributes
    ----------
    rows : [T, 2], (r, w) of each type
    shares : [T], share of the crowd that each type has
    """

    rows: Float[np.ndarray, "T 2"]
    shares: Float[np.ndarray, "T"]

    @classmethod
    def usual(cls) -> Self:
        """The types expected before there are data, with equal shares."""
        return cls(np.array(USUAL), np.full(len(USUAL), 1 / len(USUAL)))

    def fitted(self, counts: Float[Tensor, "M K K1"]) -> Self:
        """The types after EM from these types, given expected counts of (true, perceived) cluster."""
        cells, (M, K, _) = _cells(counts), counts.shape
        types = self
        for _ in range(_TURNS):
            whose = softmax(types._log_joint(cells, M), axis=1)
            rows = [
                common_dirichlet(cells, np.repeat(share, K), usual, start=row)
                for share, usual, row in zip(whose.T, USUAL, types.rows, strict=True)
            ]
            shares = whose.sum(0) + _PSEUDO_COUNT
            types = types._replace(rows=np.stack(rows), shares=shares / shares.sum())
        return types

    def mean(self, counts: Float[Tensor, "M K K1"]) -> Float[Tensor, "M K K1"]:
        """Posterior mean of each annotator's C."""
        whose = torch.from_numpy(softmax(self._log_joint(_cells(counts), len(counts)), axis=1)).to(counts)
        expected = torch.zeros_like(counts)
        for share, prior in zip(whose.T, self.prior(counts.shape[1]), strict=True):
            row = prior.to(counts) + counts
            expected += share[:, None, None] * row / row.sum(-1, keepdim=True)
        return expected

    def evidence(self, counts: Float[Tensor, "M K K1"]) -> Float[Tensor, "M"]:
        """ln p(placements) of each annotator, with C and the type integrated out."""
        return torch.from_numpy(logsumexp(self._log_joint(_cells(counts), len(counts)), axis=1)).to(counts)

    def prior(self, K: int) -> Float[Tensor, "T K K1"]:
        """Dirichlet parameters of the rows of each type; those off the diagonal are equal."""
        right, wrong = torch.from_numpy(self.rows).T[..., None]
        beside = (wrong / K)[..., None].expand(-1, K, K + 1)
        return beside.diagonal_scatter(right.expand(-1, K), dim1=-2, dim2=-1)

    def _log_joint(self, cells: list[Cells], M: int) -> Float[np.ndarray, "M T"]:
        """ln p(placements, type) of each annotator."""
        K = cells[1].size
        rows = [log_likelihood(cells, M * K, row).reshape(M, K).sum(1) for row in self.rows]
        return np.stack(rows, 1) + np.log(self.shares)


def _cells(counts: Float[Tensor, "M K K1"]) -> list[Cells]:
    """The counts on the diagonal, and those off it; each row of every annotator is one row of the table."""
    M, K, _ = counts.shape
    table = counts.double().cpu().numpy().reshape(M * K, K + 1)
    own = np.arange(K + 1) == np.tile(np.arange(K), M)[:, None]
    groups = []
    for where, size in ((own, 1), (~own, K)):
        row, column = np.nonzero(where & (table > _NONE))
        groups.append(Cells(row, table[row, column], size))
    return groups
