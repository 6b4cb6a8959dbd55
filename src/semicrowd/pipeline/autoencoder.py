"""Stage ``autoencoder``: codes of a data set at four stages of an autoencoder's training, and its decoder.

Writes into ``encoded/<data set>`` of the data folder: ``codes-25.npz`` to ``codes-100.npz``, which ``data=encoded``
loads, ``decoder.pt``, and ``training.csv`` with the errors of the reconstruction.
"""

import argparse
import sys
from pathlib import Path

import numpy as np
import torch

from semicrowd.data.encoded import ENCODED, FOLDER, TRAINED, keep_codes, to_encode, to_train
from semicrowd.data.fetch import data_root
from semicrowd.data.formats import WANTED
from semicrowd.errors import UserError, without_traceback
from semicrowd.files import write_atomic, write_csv
from semicrowd.fitting.autoencoder import CODE, Autoencoder, train
from semicrowd.fitting.progress import threads_of_a_fit
from semicrowd.nets.mlp import set_precision
from semicrowd.pipeline.experiments import load_plan
from semicrowd.pipeline.inputs import digest, fingerprints, is_current
from semicrowd.random import torch_stream

DECODER = "decoder.pt"
#: Written last.
ERRORS = "training.csv"
#: Seed of the networks and of their training; it is constant, so that all runs have the same features.
_SEED = 0


def make(which: str, root: Path, pretraining: int, steps: int) -> Path:
    """Train, and write the stage's files; returns their folder, which stays empty if the data are missing."""
    folder = root / FOLDER / which
    folder.mkdir(parents=True, exist_ok=True)
    try:
        data = to_encode(which, root)
    except UserError as error:
        print(f"{which}: not available here: {error}")
        return folder
    shift, scale = to_train(data)
    items, test = (
        None if x is None else torch.from_numpy((x - shift) / scale) for x in (data.features, data.test_features)
    )
    assert items is not None
    net = Autoencoder(data.num_features, torch_stream(_SEED, "autoencoder/networks"))
    set_precision(net, "auto")
    rows = []
    with threads_of_a_fit():
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
    write_csv(folder / ERRORS, ["steps", "error", "held_out_error"], rows)
    return folder


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
    """``python -m semicrowd.pipeline.autoencoder <data set>``."""
    parser = argparse.ArgumentParser(description="train an autoencoder on a data set and keep its codes")
    parser.add_argument("data", choices=ENCODED)
    options = parser.parse_args(arguments)
    plan = load_plan()
    if options.data not in plan.autoencoder:
        raise UserError(f"profile {plan.profile} has no steps for {options.data}; expected autoencoder.{options.data}")
    lengths = dict(plan.autoencoder[options.data])
    root = data_root()
    # Only a user's own data can change, and so are part of the digest; fetched data are checked by their sha256.
    own = [root / options.data] if options.data in WANTED and (root / options.data).is_dir() else []
    made_of = digest(fingerprints(["semicrowd.pipeline.autoencoder"]), lengths, *own)
    if is_current(root / FOLDER / options.data / ERRORS, made_of):
        print(f"{options.data}: nothing has changed")
        return 0
    make(options.data, root, **lengths)
    return 0


if __name__ == "__main__":
    sys.exit(main())
