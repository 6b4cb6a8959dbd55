"""Networks whose every parameter carries a leading restart axis."""

from semicrowd.nets.classifier import Classifier, ClusterEncoder
from semicrowd.nets.decoder import BernoulliDecoder, Decoder, GaussianDecoder, build_decoder
from semicrowd.nets.mlp import MLP
from semicrowd.nets.recognition import Recognition

__all__ = [
    "MLP",
    "BernoulliDecoder",
    "Classifier",
    "ClusterEncoder",
    "Decoder",
    "GaussianDecoder",
    "Recognition",
    "build_decoder",
]
