"""Which networks the settings ask for: of an MLP's layers, or of convolutions where the items are images."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from sklearn.utils import Bunch
from torch import nn

from semicrowd.errors import UserError
from semicrowd.nets.classifier import Classifier, ClusterEncoder
from semicrowd.nets.conv import Body, ConvBody, ConvNet
from semicrowd.nets.decoder import DECODERS, Decoder, Recognition
from semicrowd.nets.mlp import MLP
from semicrowd.nets.resnet import NineLayerBody, ResidualBody, ResidualDecoder

#: Width of the layer between convolutions and heads.
WIDTH = 128
#: Of the last layers' weights before training.
HEAD_GAIN = 0.1


@dataclass(frozen=True)
class NetBuilder:
    """Builds the networks of a model.

    Attributes
    ----------
    params : of the model
    num_features : D
    image_shape : (height, width) or (colours, height, width) where an item is an image
    generators : one for each restart's initial values
    """

    params: Bunch
    num_features: int
    image_shape: tuple[int, ...] | None
    generators: Sequence[torch.Generator]

    def __post_init__(self) -> None:
        if self.params.architecture == "mlp":
            return
        if self.image_shape is None or math.prod(self.image_shape) != self.num_features:
            raise UserError(
                f"architecture={self.params.architecture}: expected images, got {self.num_features} features without a "
                "shape; try architecture=mlp"
            )

    @property
    def hidden(self) -> tuple[int, ...]:
        """Widths of the layers between an item, or the body that sees it, and the heads."""
        return self.params.hidden if self.params.architecture == "mlp" else (WIDTH,)

    def recognition(self) -> Recognition:
        """r(o; φ) of BayesSCDC."""
        heads, skip = (self.params.latent_dim,) * 2, self.params.linear_skip
        net: nn.Module
        if (body := self._latent_body()) is None:
            net = MLP(self.num_features, self.hidden, heads, self.generators, skip, HEAD_GAIN)
        else:
            net = ConvNet(body, self.hidden, heads, self.generators, skip, HEAD_GAIN)
        return Recognition(net, self.params.potentials == "natural")

    def classifier(self) -> Classifier:
        """q(z | o) of SCDC."""
        if self.params.architecture == "resnet":
            assert self.image_shape is not None
            body: Body | None = NineLayerBody(self.image_shape, self.params.classifier_channels, self.generators)
            hidden: tuple[int, ...] = ()
        else:
            body, hidden = self._latent_body(), self.hidden
        return Classifier(self.num_features, hidden, self.params.n_clusters, self.generators, HEAD_GAIN, body)

    def cluster_encoder(self) -> ClusterEncoder:
        """q(x | z, o) of SCDC."""
        params = self.params
        return ClusterEncoder(
            self.num_features, self.hidden, params.latent_dim, params.n_clusters, self.generators, params.linear_skip,
            self._latent_body(), params.covariance == "diagonal",
        )  # fmt: skip

    def decoder(self) -> Decoder:
        """p(o | x; γ)."""
        params, kind = self.params, DECODERS[self.params.likelihood]
        d, heads, skip = params.latent_dim, kind.heads_per_feature, params.linear_skip
        net: nn.Module
        if self.params.architecture == "resnet":
            assert self.image_shape is not None
            net = ResidualDecoder(
                self.image_shape, self.params.channels, self.params.blocks, d, heads, self.generators, skip, HEAD_GAIN
            )
        else:
            widths = (self.num_features,) * heads
            net = MLP(d, params.hidden[::-1], widths, self.generators, skip, HEAD_GAIN)
        return kind(net)

    def _latent_body(self) -> Body | None:
        if self.params.architecture == "mlp":
            return None
        assert self.image_shape is not None
        kind = ConvBody if self.params.architecture == "conv" else ResidualBody
        return kind(self.image_shape, self.params.channels, self.params.blocks, self.generators)
