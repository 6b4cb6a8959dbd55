"""Networks whose every parameter carries a leading restart axis."""

from semicrowd.nets.build import NetBuilder
from semicrowd.nets.classifier import Classifier, ClusterEncoder
from semicrowd.nets.conv import ConvNet
from semicrowd.nets.decoder import BernoulliDecoder, Decoder, GaussianDecoder, LogisticDecoder, Recognition
from semicrowd.nets.mlp import MLP

__all__ = [
    "MLP",
    "BernoulliDecoder",
    "Classifier",
    "ClusterEncoder",
    "ConvNet",
    "Decoder",
    "GaussianDecoder",
    "LogisticDecoder",
    "NetBuilder",
    "Recognition",
]
