"""Networks whose every parameter carries a leading restart axis."""

from semicrowd.nets.classifier import Classifier, ClusterEncoder
from semicrowd.nets.conv import ConvNet
from semicrowd.nets.decoder import BernoulliDecoder, Decoder, GaussianDecoder, build_decoder
from semicrowd.nets.mlp import MLP
from semicrowd.nets.recognition import Recognition, build_recognition

__all__ = [
    "MLP",
    "BernoulliDecoder",
    "Classifier",
    "ClusterEncoder",
    "ConvNet",
    "Decoder",
    "GaussianDecoder",
    "Recognition",
    "build_decoder",
    "build_recognition",
]
