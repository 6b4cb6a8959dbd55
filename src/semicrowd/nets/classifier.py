"""The amortised posteriors of SCDC, q(z | o) and q(x | z, o) (SCDC paper, section 2.3)."""

from collections.abc import Sequence

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from semicrowd.nets.mlp import MLP, RestartLinear
from semicrowd.nets.recognition import INITIAL_VARIANCE, positive


class Classifier(nn.Module):
    """q(z | o): an MLP to log probabilities of K clusters."""

    def __init__(
        self, num_features: int, hidden: Sequence[int], num_clusters: int, generators: Sequence[torch.Generator]
    ) -> None:
        super().__init__()
        self.net = MLP(num_features, hidden, (num_clusters,), generators, linear_skip=False, head_gain=0.1)

    def forward(self, features: Float[Tensor, "*#R B D"]) -> Float[Tensor, "R B K"]:
        """ln q(z | o)."""
        return self.net(features)[0].log_softmax(-1)


class ClusterEncoder(nn.Module):
    """q(x | z, o): a diagonal Gaussian from the item and the cluster.

    The first layer of [o, onehot(z)] is o W_o + W_z[z]: the large product with o is shared by all clusters, so that
    only the later, narrower layers are evaluated for each of them.
    """

    def __init__(
        self,
        num_features: int,
        hidden: Sequence[int],
        latent_dim: int,
        num_clusters: int,
        generators: Sequence[torch.Generator],
        linear_skip: bool = True,
        initial_variance: float = INITIAL_VARIANCE,
    ) -> None:
        super().__init__()
        self.initial_variance = initial_variance
        first, *rest = hidden
        self.first = RestartLinear(num_features, first, generators)
        self.cluster = nn.Parameter(torch.zeros(len(generators), num_clusters, first))
        self.rest = MLP(first, rest, (latent_dim, latent_dim), generators, linear_skip=False, head_gain=0.1)
        self.skip = RestartLinear(num_features, latent_dim, generators, gain=1.0) if linear_skip else None

    def forward(
        self, features: Float[Tensor, "*#R B D"], clusters: Int[Tensor, "R B L"] | None = None
    ) -> tuple[Float[Tensor, "R B L d"], Float[Tensor, "R B L d"]]:
        """Mean and variance for each item at the given clusters; without clusters at none (L = 1, W_z left out)."""
        hidden = self.first(features)[:, :, None]
        if clusters is not None:
            restart = torch.arange(len(self.cluster), device=hidden.device)[:, None, None]
            hidden = hidden + self.cluster[restart, clusters]
        shape = hidden.shape[:3]
        mean, raw = (head.unflatten(1, shape[1:]) for head in self.rest(hidden.relu().flatten(1, 2)))
        if self.skip is not None:
            mean = mean + self.skip(features)[:, :, None]
        return mean, positive(raw, self.initial_variance)
