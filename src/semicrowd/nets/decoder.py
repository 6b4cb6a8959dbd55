"""Observation models p(o | x; γ) (SCDC paper, section 2.1)."""

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.functional import softplus

from semicrowd.nets.mlp import MLP
from semicrowd.nets.recognition import INITIAL_VARIANCE, positive


class Decoder(nn.Module, ABC):
    """Base of the observation models: an MLP from x to the parameters of p(o | x)."""

    heads_per_feature = 1

    def __init__(
        self,
        latent_dim: int,
        hidden: Sequence[int],
        num_features: int,
        generators: Sequence[torch.Generator],
        linear_skip: bool = True,
        initial_variance: float = INITIAL_VARIANCE,
    ) -> None:
        super().__init__()
        self.initial_variance = initial_variance
        heads = (num_features,) * self.heads_per_feature
        self.net = MLP(latent_dim, hidden, heads, generators, linear_skip, head_gain=0.1)

    @abstractmethod
    def mean(self, x: Float[Tensor, "R B d"]) -> Float[Tensor, "R B D"]:
        """E[o | x]."""

    @abstractmethod
    def log_likelihood(self, x: Float[Tensor, "R B d"], observed: Float[Tensor, "B D"]) -> Float[Tensor, "R B"]:
        """log p(o | x) in nats."""


class GaussianDecoder(Decoder):
    """N(o | μ(x), diag σ²(x)) for real features."""

    heads_per_feature = 2

    def mean(self, x: Float[Tensor, "R B d"]) -> Float[Tensor, "R B D"]:
        """μ(x)."""
        return self.net(x)[0]

    def log_likelihood(self, x: Float[Tensor, "R B d"], observed: Float[Tensor, "B D"]) -> Float[Tensor, "R B"]:
        """log N(o | μ(x), diag σ²(x)) in nats."""
        mean, raw = self.net(x)
        variance = positive(raw, self.initial_variance)
        squared = (observed - mean).square() / variance
        return -0.5 * (squared + variance.log() + math.log(2 * math.pi)).sum(-1)


class BernoulliDecoder(Decoder):
    """Independent Bernoulli pixels; grey values in [0, 1] enter as expectations."""

    def mean(self, x: Float[Tensor, "R B d"]) -> Float[Tensor, "R B D"]:
        """Probability of a white pixel."""
        return self.net(x)[0].sigmoid()

    def log_likelihood(self, x: Float[Tensor, "R B d"], observed: Float[Tensor, "B D"]) -> Float[Tensor, "R B"]:
        """Σ o ln p + (1 − o) ln(1 − p) in nats, from the logits."""
        logits = self.net(x)[0]
        return (observed * logits - softplus(logits)).sum(-1)  # torch's cross-entropy takes three times as long


def build_decoder(
    likelihood: str,
    latent_dim: int,
    hidden: Sequence[int],
    num_features: int,
    generators: Sequence[torch.Generator],
    linear_skip: bool = True,
    initial_variance: float = INITIAL_VARIANCE,
) -> Decoder:
    """The observation model ``gaussian`` or ``bernoulli``."""
    kinds: dict[str, type[Decoder]] = {"gaussian": GaussianDecoder, "bernoulli": BernoulliDecoder}
    return kinds[likelihood](latent_dim, hidden, num_features, generators, linear_skip, initial_variance)
