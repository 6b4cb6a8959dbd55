"""What a model says of items."""

from dataclasses import dataclass

from torch import Tensor


@dataclass(frozen=True)
class Posterior:
    """q(z) and the latent means of N items under R restarts.

    Attributes
    ----------
    probabilities : [R, N, K]
    latent_mean : [R, N, d]
    """

    probabilities: Tensor
    latent_mean: Tensor
