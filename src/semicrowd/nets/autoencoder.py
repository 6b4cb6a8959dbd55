"""A stacked autoencoder: D-500-500-2000-10 and back (Xie et al. 2016, whose features Li et al. 2022 cluster)."""

from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor, nn

from semicrowd.nets.mlp import MLP, RestartLayer

#: Widths of the encoder's hidden layers.
HIDDEN = (500, 500, 2000)
#: Dimension of the code.
CODE = 10


class Autoencoder(nn.Module):
    """Encoder and decoder, mirror images of each other: ReLU layers, a linear code and a linear reconstruction.

    Parameters
    ----------
    num_features : D
    generator : of the initial weights
    hidden, code : widths
    """

    def __init__(
        self, num_features: int, generator: torch.Generator, hidden: Sequence[int] = HIDDEN, code: int = CODE
    ) -> None:
        super().__init__()
        self.encoder = MLP(num_features, hidden, [code], [generator], linear_skip=False)
        self.decoder = MLP(code, [*reversed(hidden)], [num_features], [generator], linear_skip=False)

    def encode(self, x: Float[Tensor, "B D"]) -> Float[Tensor, "B d"]:
        """Codes of items."""
        return self.encoder(x)[0][0]

    def decode(self, code: Float[Tensor, "B d"]) -> Float[Tensor, "B D"]:
        """Items that codes stand for."""
        return self.decoder(code)[0][0]

    def layers(self) -> list[tuple[RestartLayer, RestartLayer]]:
        """Each layer of the encoder, from the items on, with the layer of the decoder that takes back what it does."""
        inward = [*self.encoder.hidden, *self.encoder.heads]
        outward = [*self.decoder.hidden, *self.decoder.heads]
        return list(zip(inward, reversed(outward), strict=True))
