"""Stage ``autoencoder``: codes of a data set at four stages of a stacked autoencoder's training, and its decoder.

Writes ``<data set>/codes-25.npz`` to ``codes-100.npz``, which ``data=encoded`` loads, ``decoder.pt``, and
``training.csv`` with the errors of the reconstruction.

The network is D-500-500-2000-10 and back (Xie et al. 2016, whose features Li et al. 2022 cluster), trained layer by
layer as denoising autoencoders, then as a whole (Vincent et al. 2010, with the settings of Xie et al. 2016 and Jiang et
al. 2017, which Li et al. 2022 use). No labels are used: progress is measured by the reconstruction error on held-out
items.
"""

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from jaxtyping import Float
from joblib import Parallel, delayed
from torch import Tensor, nn

from reproduction.commandline import without_traceback
from semicrowd.data.encoded import ENCODED, FOLDER, TRAINED, keep_codes, to_encode, to_train
from semicrowd.data.fetch import data_root
from semicrowd.errors import UserError
from semicrowd.files import write_atomic, write_csv
from semicrowd.nets import descend
from semicrowd.nets.mlp import MLP, RestartLayer, set_precision
from semicrowd.random import torch_stream

DECODER = "decoder.pt"
#: Seed of the networks and of their training; it is constant, so that all runs have the same features.
_SEED = 0
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


def make(which: str, root: Path, pretraining: int, steps: int) -> str:
    """Train, and write the stage's files; returns how to get the data if they are missing, else an empty text."""
    torch.set_num_threads(1)
    folder = root / FOLDER / which
    try:
        data = to_encode(which, root)
    except UserError as error:
        return f"{which}: {error}"
    shift, scale = to_train(data)
    items, test = (
        None if x is None else torch.from_numpy((x - shift) / scale) for x in (data.features, data.test_features)
    )
    assert items is not None
    net = Autoencoder(data.num_features, torch_stream(_SEED, "autoencoder/networks"))
    set_precision(net, "auto")
    rows = []
    for trained, snapshot in zip(TRAINED, train(net, items, pretraining, steps, len(TRAINED), _SEED), strict=True):
        # Codes have the float32 in which they are compared: bfloat16 would give many items the same.
        set_precision(net, "float32")
        codes, of_test = (None if x is None else _codes(net, x) for x in (items, test))
        set_precision(net, "auto")
        assert codes is not None
        keep_codes(root, which, trained, data, codes, of_test)
        rows.append((snapshot.steps, snapshot.error, snapshot.held_out_error))
        print(f"{which}: {snapshot.steps} of {steps} steps, error {snapshot.error:.5f}, "
              f"error of held-out items {snapshot.held_out_error:.5f}", flush=True)
    decoder = {"shift": torch.from_numpy(shift), "scale": torch.from_numpy(scale), **net.decoder.state_dict()}
    write_atomic(folder / DECODER, lambda path: torch.save(decoder, path))
    write_csv(folder / "training.csv", ["steps", "error", "held_out_error"], rows)
    return ""


def decoded(codes: np.ndarray, which: str, root: Path) -> np.ndarray:
    """Items [n, D] decoded from codes [n, 10] of ``data=encoded``."""
    folder = root / FOLDER / which
    parts = torch.load(folder / DECODER, weights_only=True)
    shift, scale = parts.pop("shift"), parts.pop("scale")
    net = Autoencoder(len(shift), torch_stream(0, "unused"))
    net.decoder.load_state_dict(parts)
    with np.load(folder / "codes-100.npz", allow_pickle=False) as content:
        raw = torch.from_numpy(np.asarray(codes * content["scale"] + content["mean"], np.float32))
    with torch.no_grad():
        found: np.ndarray = (net.decode(raw) * scale + shift).numpy()
    return found


def _codes(net: Autoencoder, items: torch.Tensor) -> np.ndarray:
    with torch.no_grad():
        return torch.cat([net.encode(part) for part in items.split(4096)]).numpy().reshape(len(items), CODE)


@without_traceback
def main(arguments: list[str] | None = None) -> int:
    """``python -m reproduction.stages.autoencoder --mnist 600 4800``; missing data are no failure of the others."""
    parser = argparse.ArgumentParser(description="train an autoencoder on each data set and keep its codes")
    for name in ENCODED:
        parser.add_argument(f"--{name}", type=int, nargs=2, metavar=("PRETRAINING", "STEPS"))
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args(arguments)
    wanted = {name: steps for name in ENCODED if (steps := getattr(options, name))}
    missing = Parallel(options.jobs)(delayed(make)(name, data_root(), *steps) for name, steps in wanted.items())
    for message in filter(None, missing):
        print(f"not available here: {message}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
