"""Terms of SCDC's bound, which clusters of an item it evaluates, and KL divergences to the mixture's components."""

from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn.functional import one_hot, pad

#: T is a multiple of it: on a CPU bfloat16 products compile a kernel for every new size, slower than the product is.
STRIDE = 32


class ItemTerms(NamedTuple):
    """Terms of L_local for B items, in nats; ln q(z | o); its mass in clusters that are not evaluated."""

    reconstruction: Float[Tensor, "R B"]
    kl_z: Float[Tensor, "R B"]
    kl_x: Float[Tensor, "R B"]
    log_z: Float[Tensor, "R B K"]
    dropped: Float[Tensor, "R B"]


class EvaluatedPairs(NamedTuple):
    """The T pairs (item, cluster) that get a q(x | z, o) of their own; all other clusters of an item share one.

    Attributes
    ----------
    item : position of the pair's item in the batch; the first B pairs are the B items with their likeliest cluster
    cluster : number of the pair's cluster
    share : q(z = k | o) of the clusters k whose x is this pair's, 0 elsewhere: a pair's own cluster, and
        with an item's likeliest cluster all those that are not evaluated. The pairs of an item add up to its q(z | o)
    dropped : mass of q(z | o) on the clusters that are not evaluated, without gradient
    """

    item: Int[Tensor, "T"]
    cluster: Int[Tensor, "R T"]
    share: Float[Tensor, "R T K"]
    dropped: Float[Tensor, "R B"]

    def sum(self, values: Tensor) -> Tensor:
        """Sums over the pairs of each item, [R, T, ...] → [R, B, ...]."""
        R, B = self.dropped.shape
        return values.new_zeros(R, B, *values.shape[2:]).index_add(1, self.item, values)


def evaluated_pairs(log_q: Tensor, drop_mass: float) -> EvaluatedPairs:
    """The fewest clusters of each item that hold all but ``drop_mass`` of its q(z | o).

    Clusters of no mass at all (in float32) are left out even at ``drop_mass`` = 0: nothing depends on them. Pairs are
    of the items and of the ranks of clusters that any restart needs; what a restart does not need has no share in it.
    """
    q = log_q.exp()
    ordered, clusters = q.detach().sort(-1, descending=True)
    # From the smallest up: a mass of 1e-9 that is left out does not vanish beside 1.
    keep = ordered.flip(-1).cumsum(-1).flip(-1) > drop_mass
    keep[..., 0] = True  # a NaN's too, so that it shows in the bound
    rank, item = keep.any(0).T.nonzero(as_tuple=True)
    T = len(item)
    rank, item = (pad(index, (0, -T % STRIDE)) for index in (rank, item))
    cluster = clusters[:, item, rank]
    evaluated = torch.zeros_like(keep).scatter(-1, clusters, keep)
    shares = one_hot(cluster, log_q.shape[-1]).bool() & keep[:, item, rank, None]
    shares[:, T:] = False
    B = log_q.shape[1]
    shares[:, :B] |= ~evaluated
    return EvaluatedPairs(item, cluster, q.index_select(1, item) * shares, (q.detach() * ~evaluated).sum(-1))


def kl_to_components(mean: Tensor, variance: Tensor, location: Tensor, scale: Tensor) -> Tensor:
    """KL(N(m, diag v)‖N(μ_k, L_k L_kᵀ)) in nats for all k; [R, T, d] twice, [R, K, d] and [R, K, d, d] → [R, T, K]."""
    d = mean.shape[-1]
    whitening = torch.linalg.solve_triangular(scale, torch.eye(d, dtype=scale.dtype, device=scale.device), upper=False)
    offset = torch.einsum("rkij,rkj->rki", whitening, location)
    whitened = torch.einsum("rkij,rtj->rtki", whitening, mean) - offset[:, None]
    trace = variance @ whitening.square().sum(-2).mT
    log_ratio = 2 * scale.diagonal(dim1=-2, dim2=-1).log().sum(-1)[:, None] - variance.log().sum(-1, keepdim=True)
    return 0.5 * (trace + whitened.square().sum(-1) - d + log_ratio)
