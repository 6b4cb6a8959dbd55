"""The amortised posteriors of SCDC, q(z | o) and q(x | z, o) (SCDC paper, section 2.3).

Both see an item through the layers of an MLP, or through a body of convolutions and the layers above it.
"""

from collections.abc import Sequence

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from semicrowd.nets.conv import Body, ConvNet
from semicrowd.nets.decoder import positive
from semicrowd.nets.mlp import MLP, RestartLinear


class Classifier(nn.Module):
    """q(z | o): a network to log probabilities of K clusters."""

    def __init__(
        self,
        num_features: int,
        hidden: Sequence[int],
        num_clusters: int,
        generators: Sequence[torch.Generator],
        head_gain: float = 0.1,
        body: Body | None = None,
    ) -> None:
        super().__init__()
        heads = (num_clusters,)
        self.net: MLP | ConvNet
        if body is None:
            self.net = MLP(num_features, hidden, heads, generators, linear_skip=False, head_gain=head_gain)
        else:
            self.net = ConvNet(body, hidden, heads, generators, linear_skip=False, head_gain=head_gain)

    def forward(self, features: Float[Tensor, "*#R B D"]) -> Float[Tensor, "R B K"]:
        """ln q(z | o)."""
        return self.net(features)[0].log_softmax(-1)


class ClusterEncoder(nn.Module):
    """q(x | z, o): a diagonal Gaussian from the item and the cluster.

    The first layer of [o, onehot(z)] is o W_o + W_z[z]: the large product with o is shared by all clusters of an item,
    so that only the later, narrower layers are evaluated for each of them. With a body of convolutions o stands for
    what that makes of the item. With ``log_sd`` the second output is ln σ.
    """

    def __init__(
        self,
        num_features: int,
        hidden: Sequence[int],
        latent_dim: int,
        num_clusters: int,
        generators: Sequence[torch.Generator],
        linear_skip: bool = True,
        body: Body | None = None,
        log_sd: bool = False,
    ) -> None:
        super().__init__()
        self.body, self.log_sd = body, log_sd
        first, *rest = hidden
        self.first = RestartLinear(num_features if body is None else body.num_features, first, generators)
        self.cluster = nn.Parameter(torch.zeros(len(generators), num_clusters, first))
        self.rest = MLP(first, rest, (latent_dim, latent_dim), generators, linear_skip=False, head_gain=0.1)
        self.skip = RestartLinear(num_features, latent_dim, generators, gain=1.0) if linear_skip else None

    def forward(
        self,
        features: Float[Tensor, "*#R B D"],
        items: Int[Tensor, "T"] | None = None,
        clusters: Int[Tensor, "R T"] | None = None,
    ) -> tuple[Float[Tensor, "R T d"], Float[Tensor, "R T d"]]:
        """Mean and variance of the pairs (item, cluster); without pairs of each item by itself, W_z left out."""
        return self.of_pairs(self.of_items(features), items, clusters)

    def of_items(self, features: Float[Tensor, "*#R B D"]) -> tuple[Tensor, ...]:
        """What the clusters of an item share, [R, B, ...] each: o W_o, and of a skip what it adds to the mean."""
        hidden = self.first(features if self.body is None else self.body(features)).to(self.cluster.dtype)
        return (hidden,) if self.skip is None else (hidden, self.skip(features).to(self.cluster.dtype))

    def of_pairs(
        self, of_items: tuple[Tensor, ...], items: Int[Tensor, "T"] | None, clusters: Int[Tensor, "R T"] | None
    ) -> tuple[Float[Tensor, "R T d"], Float[Tensor, "R T d"]]:
        """Mean and variance from what :meth:`of_items` has found."""
        hidden, *skip = of_items
        if items is not None and clusters is not None:
            cluster = self.cluster.gather(1, clusters[..., None].expand(-1, -1, self.cluster.shape[-1]))
            hidden = hidden.index_select(1, items) + cluster
            skip = [added.index_select(1, items) for added in skip]
        mean, raw = self.rest(hidden.relu())
        return sum(skip, mean), (2 * raw).exp() if self.log_sd else positive(raw)
