"""Observation models p(o | x; γ) (SCDC paper, section 2.1), and recognition networks r(o; φ) that form conjugate
potentials (eq. 9).
"""

import math
from abc import ABC, abstractmethod

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.functional import logsigmoid, softplus

#: Smallest variance of a potential: keeps its precision finite in float32.
MIN_VARIANCE = 1e-4
#: Variance of an untrained network's Gaussians.
INITIAL_VARIANCE = 0.1


def positive(raw: Tensor) -> Tensor:
    """A variance from an unconstrained value: softplus, shifted so that 0 gives ``INITIAL_VARIANCE``."""
    return softplus(raw + math.log(math.expm1(INITIAL_VARIANCE))) + MIN_VARIANCE


class Recognition(nn.Module):
    """o → mean and diagonal variance of a Gaussian potential over x.

    Parameters
    ----------
    net : from items [B, D] or [R, B, D] to the mean and the unconstrained variance, [R, B, d] each
    natural : the outputs are the natural parameters themselves: μ/σ², and 1/σ² by a softplus
    """

    def __init__(self, net: nn.Module, natural: bool = False) -> None:
        super().__init__()
        self.net, self.natural = net, natural

    def forward(self, features: Float[Tensor, "*#R B D"]) -> tuple[Float[Tensor, "R B d"], Float[Tensor, "R B d"]]:
        """Mean and variance."""
        mean, raw = self.net(features)
        if self.natural:
            variance = 1 / softplus(raw).clamp(min=MIN_VARIANCE)
            return mean * variance, variance
        return mean, positive(raw)

    def potentials(self, features: Float[Tensor, "*#R B D"]) -> Float[Tensor, "R B S"]:
        """The potentials as natural parameters r = [μ/σ², vec(−½ diag(1/σ²))], flat, S = d + d²."""
        mean, variance = self(features)
        precision = variance.reciprocal()
        return torch.cat([mean * precision, (-0.5 * precision).diag_embed().flatten(-2)], -1)


class Decoder(nn.Module, ABC):
    """Base of the observation models: a network from x to the parameters of p(o | x).

    Parameters
    ----------
    net : from x [R, B, d] to :attr:`heads_per_feature` outputs [R, B, D]
    """

    heads_per_feature = 1

    def __init__(self, net: nn.Module) -> None:
        super().__init__()
        self.net = net

    def mean(self, x: Float[Tensor, "R B d"]) -> Float[Tensor, "R B D"]:
        """E[o | x]: the first output, unless a subclass says otherwise."""
        return self.net(x)[0]

    @abstractmethod
    def log_likelihood(self, x: Float[Tensor, "R B d"], observed: Float[Tensor, "B D"]) -> Float[Tensor, "R B"]:
        """log p(o | x) in nats."""


class GaussianDecoder(Decoder):
    """N(o | μ(x), diag σ²(x)) for real features."""

    heads_per_feature = 2

    def log_likelihood(self, x: Float[Tensor, "R B d"], observed: Float[Tensor, "B D"]) -> Float[Tensor, "R B"]:
        """log N(o | μ(x), diag σ²(x)) in nats."""
        mean, raw = self.net(x)
        variance = positive(raw)
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

    def log_likelihood(self, x: Float[Tensor, "R B d"], observed: Float[Tensor, "B D"]) -> Float[Tensor, "R B"]:
        """ln of the probability of every feature's step, in nats."""
        location, raw = self.net(x)
        # A logistic of scale s has the variance (π s)² / 3.
        precision = (3 * positive(raw)).rsqrt() * math.pi
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
