"""Which networks the settings ask for: of an MLP's layers, or of convolutions where the items are images."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import nn

from semicrowd.errors import UserError
from semicrowd.nets.classifier import Classifier, ClusterEncoder
from semicrowd.nets.conv import Body, ConvBody, ConvNet
from semicrowd.nets.decoder import DECODERS, Decoder, Recognition
from semicrowd.nets.mlp import MLP
from semicrowd.nets.resnet import NineLayerBody, ResidualBody, ResidualDecoder
from semicrowd.settings.model import GenerativeSettings, NetSettings

#: Of the last layers' weights before training.
HEAD_GAIN = 0.1


@dataclass(frozen=True)
class NetBuilder:
    """Builds the networks of a model.

    Attributes
    ----------
    settings, nets : of the model and of its networks
    num_features : D
    image_shape : (height, width) or (colours, height, width) where an item is an image
    generators : one for each restart's initial values
    """

    settings: GenerativeSettings
    nets: NetSettings
    num_features: int
    image_shape: tuple[int, ...] | None
    generators: Sequence[torch.Generator]

    def __post_init__(self) -> None:
        if self.nets.kind == "mlp":
            return
        if self.image_shape is None or math.prod(self.image_shape) != self.num_features:
            raise UserError(
                f"nets={self.nets.kind}: expected images, got {self.num_features} features without a shape; "
                "try nets=mlp"
            )

    @property
    def hidden(self) -> tuple[int, ...]:
        """Widths of the layers between an item, or the body that sees it, and the heads."""
        return self.settings.hidden if self.nets.kind == "mlp" else (self.nets.width,)

    def recognition(self) -> Recognition:
        """r(o; φ) of BayesSCDC."""
        heads, skip = (self.settings.latent_dim,) * 2, self.settings.linear_skip
        net: nn.Module
        if (body := self._latent_body()) is None:
            net = MLP(self.num_features, self.hidden, heads, self.generators, skip, HEAD_GAIN)
        else:
            net = ConvNet(body, self.hidden, heads, self.generators, skip, HEAD_GAIN)
        return Recognition(net, self.settings.initial_variance)

    def classifier(self) -> Classifier:
        """q(z | o) of SCDC."""
        if self.nets.kind == "resnet":
            assert self.image_shape is not None
            body: Body | None = NineLayerBody(self.image_shape, self.nets.classifier, self.generators)
            hidden: tuple[int, ...] = ()
        else:
            body, hidden = self._latent_body(), self.hidden
        return Classifier(self.num_features, hidden, self.settings.K, self.generators, HEAD_GAIN, body)

    def cluster_encoder(self) -> ClusterEncoder:
        """q(x | z, o) of SCDC."""
        settings = self.settings
        return ClusterEncoder(
            self.num_features, self.hidden, settings.latent_dim, settings.K, self.generators, settings.linear_skip,
            settings.initial_variance, self._latent_body(),
        )  # fmt: skip

    def decoder(self) -> Decoder:
        """p(o | x; γ)."""
        settings, kind = self.settings, DECODERS[self.settings.likelihood]
        d, heads, skip = settings.latent_dim, kind.heads_per_feature, settings.linear_skip
        net: nn.Module
        if self.nets.kind == "resnet":
            assert self.image_shape is not None
            net = ResidualDecoder(
                self.image_shape, self.nets.channels, self.nets.blocks, d, heads, self.generators, skip, HEAD_GAIN
            )
        else:
            widths = (self.num_features,) * heads
            net = MLP(d, settings.hidden[::-1], widths, self.generators, skip, HEAD_GAIN)
        return kind(net, settings.initial_variance)

    def _latent_body(self) -> Body | None:
        if self.nets.kind == "mlp":
            return None
        assert self.image_shape is not None
        kind = ConvBody if self.nets.kind == "conv" else ResidualBody
        return kind(self.image_shape, self.nets.channels, self.nets.blocks, self.generators)
