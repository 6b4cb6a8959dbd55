"""A stacked autoencoder, and its training: layer by layer as denoising autoencoders, then as a whole.

The network is D-500-500-2000-10 and back (Xie et al. 2016, whose features Li et al. 2022 cluster). Training: Vincent et
al. 2010, with the settings of Xie et al. 2016 and Jiang et al. 2017, which Li et al. 2022 use. No labels are used:
progress is measured by the reconstruction error on held-out items.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor, nn

from semicrowd.nets import descend
from semicrowd.nets.mlp import MLP, RestartLayer
from semicrowd.random import torch_stream

#: Widths of the encoder's hidden layers.
HIDDEN = (500, 500, 2000)
#: Dimension of the code.
CODE = 10
#: Items of a minibatch.
BATCH = 128
#: Share of the inputs that are set to 0 while a layer is pretrained (dropout rate).
DROPPED = 0.2
#: Initial learning rate of Adam; in each phase it falls to 0 along a cosine.
LEARNING_RATE = 1e-3
#: Share of the items that are held out to measure the error.
HELD_OUT = 0.1
#: Maximal number of held-out items.
MOST_HELD_OUT = 2000


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


@dataclass(frozen=True)
class Snapshot:
    """The state of a training.

    Attributes
    ----------
    steps : number of training steps of the whole network so far
    error, held_out_error : mean squared error per value, over the last 100 steps and of the held-out items
    """

    steps: int
    error: float
    held_out_error: float


def train(
    net: Autoencoder, features: Float[Tensor, "N D"], pretraining: int, steps: int, stops: int, seed: int
) -> Iterator[Snapshot]:
    """Train ``net`` on ``features``; yields a snapshot after each of ``stops`` equal parts of the steps.

    Parameters
    ----------
    pretraining : number of steps of each layer by itself
    steps : number of steps of the whole network, without noise
    """
    generator = torch_stream(seed, "autoencoder/steps")
    order = torch.randperm(len(features), generator=generator)
    held_out = features[order[: min(MOST_HELD_OUT, max(1, int(HELD_OUT * len(features))))]]
    items = features[order[len(held_out) :]] if len(features) > 1 else features
    if pretraining:
        _pretrain(net, items, pretraining, generator)
    yield from _finetune(net, items, held_out, steps, stops, generator)


def _pretrain(net: Autoencoder, items: Tensor, steps: int, generator: torch.Generator) -> None:
    """Train each encoder layer and its decoder layer to reconstruct the layer's input after dropout."""
    layers = net.layers()
    for number, (inward, outward) in enumerate(layers):
        parameters = [*inward.parameters(), *outward.parameters()]
        for optimizer, batch in _steps(parameters, items, steps, generator):
            hidden = inward(_dropped(batch, generator))[0].float()  # layers by themselves may give bfloat16
            hidden = hidden if number == len(layers) - 1 else hidden.relu()
            back = outward(_dropped(hidden, generator))[0].float()
            back = back if number == 0 else back.relu()
            descend(optimizer, (back - batch).square().mean())
        if number < len(layers) - 1:
            with torch.no_grad():
                items = torch.cat([inward(part)[0].float().relu() for part in items.split(4096)])


def _finetune(
    net: Autoencoder, items: Tensor, held_out: Tensor, steps: int, stops: int, generator: torch.Generator
) -> Iterator[Snapshot]:
    errors: list[Tensor] = []
    marks = {round(steps * stop / stops) for stop in range(1, stops + 1)}
    for done, (optimizer, batch) in enumerate(_steps(list(net.parameters()), items, steps, generator), 1):
        error = (net.decode(net.encode(batch)) - batch).square().mean()
        descend(optimizer, error)
        errors.append(error.detach())
        if done in marks:
            with torch.no_grad():
                unseen = (net.decode(net.encode(held_out)) - held_out).square().mean()
            yield Snapshot(done, float(torch.stack(errors[-100:]).mean()), float(unseen))


def _steps(
    parameters: Sequence[Tensor], items: Tensor, steps: int, generator: torch.Generator
) -> Iterator[tuple[torch.optim.Optimizer, Tensor]]:
    """Yield an optimizer and a minibatch for each of ``steps`` steps."""
    optimizer = torch.optim.Adam(parameters, lr=LEARNING_RATE, fused=True)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    for _ in range(steps):
        yield optimizer, items[torch.randint(len(items), (BATCH,), generator=generator)]
        schedule.step()


def _dropped(values: Tensor, generator: torch.Generator) -> Tensor:
    kept = torch.rand(values.shape, generator=generator) >= DROPPED
    return values * kept / (1 - DROPPED)
