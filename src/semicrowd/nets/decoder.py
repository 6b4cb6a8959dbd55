"""Observation models p(o | x; γ) (SCDC paper, section 2.1)."""

import math
from abc import ABC, abstractmethod

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.functional import logsigmoid, softplus

from semicrowd.nets.recognition import INITIAL_VARIANCE, positive


class Decoder(nn.Module, ABC):
    """Base of the observation models: a network from x to the parameters of p(o | x).

    Parameters
    ----------
    net : from x [R, B, d] to :attr:`heads_per_feature` outputs [R, B, D]
    initial_variance : where the unconstrained variance is 0
    """

    heads_per_feature = 1

    def __init__(self, net: nn.Module, initial_variance: float = INITIAL_VARIANCE) -> None:
        super().__init__()
        self.net, self.initial_variance = net, initial_variance

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


class LogisticDecoder(Decoder):
    """Discretised logistic of 256 equal steps from 0 to 1 (Kingma et al. 2016; Salimans et al. 2017), for colours.

    The lowest and the highest value have all that lies beyond them.
    """

    heads_per_feature = 2

    def mean(self, x: Float[Tensor, "R B d"]) -> Float[Tensor, "R B D"]:
        """The logistic's location."""
        return self.net(x)[0]

    def log_likelihood(self, x: Float[Tensor, "R B d"], observed: Float[Tensor, "B D"]) -> Float[Tensor, "R B"]:
        """ln of the probability of every feature's step, in nats."""
        location, raw = self.net(x)
        # A logistic of scale s has the variance (π s)² / 3.
        precision = (3 * positive(raw, self.initial_variance)).rsqrt() * math.pi
        centred, half = (observed - location) * precision, 0.5 / 255 * precision
        above, below = centred + half, centred - half
        # σ(a) − σ(b) = σ(a) σ(−b) (1 − exp(b − a)), without a difference of numbers that are nearly the same
        inside = logsigmoid(above) + logsigmoid(-below) + torch.log(-torch.expm1(-2 * half))
        edges = torch.where(observed < 0.5 / 255, logsigmoid(above), logsigmoid(-below))
        return torch.where((observed < 0.5 / 255) | (observed > 1 - 0.5 / 255), edges, inside).sum(-1)


#: By the name of the likelihood.
DECODERS: dict[str, type[Decoder]] = {
    "gaussian": GaussianDecoder, "bernoulli": BernoulliDecoder, "logistic": LogisticDecoder,
}  # fmt: skip
