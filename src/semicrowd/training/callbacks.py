"""A callback that keeps samples of the clusters while a model trains (SCDC paper, Fig. 4a)."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytorch_lightning as pl
import torch
from jaxtyping import Float, Int
from pytorch_lightning.callbacks import Checkpoint
from torch import Tensor

from semicrowd.data.frames import read_npz
from semicrowd.files import write_arrays
from semicrowd.random import torch_stream
from semicrowd.training.module import ClusteringModule

FILE = "snapshots.npz"


@dataclass(frozen=True)
class Snapshots:
    """Clusters after each of E epochs, in the restart that had the highest ELBO after this epoch.

    Attributes
    ----------
    epochs : ascending; 0 is the state before the first step
    weights : expected mixing proportions
    samples : mean E[o | x] for one x drawn from every cluster, with the same random stream after every epoch
    """

    epochs: Int[np.ndarray, "E"]
    weights: Float[np.ndarray, "E K"]
    samples: Float[np.ndarray, "E K D"]


def read_snapshots(directory: Path) -> Snapshots | None:
    """The snapshots in a folder; None if it has none."""
    path = directory / FILE
    return Snapshots(**read_npz(path)) if path.is_file() else None


class SnapshotRecorder(Checkpoint):
    """Writes the clusters after some epochs, and after the last, to ``snapshots.npz`` in the trainer's folder.

    Samples have their own random stream, so they do not change the fit. Stored samples are part of the checkpoint, so a
    resumed run writes the same file as an uninterrupted one. Lightning calls a ``Checkpoint`` after all other callbacks
    of an epoch, so this one must be listed before that which writes the checkpoint.

    Parameters
    ----------
    epochs : after which clusters are stored; 0: after the initialisation
    """

    def __init__(self, epochs: Sequence[int]) -> None:
        self.epochs = set(epochs)
        self.kept: dict[int, dict[str, Tensor]] = {}

    def state_dict(self) -> dict[str, Any]:
        """What the checkpoint keeps of this callback."""
        return {"kept": self.kept}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Restore what :meth:`state_dict` returned."""
        self.kept = dict(state_dict["kept"])

    def on_train_start(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Hook of Lightning: store the clusters before the first step, except in a resumed run."""
        if trainer.current_epoch == 0:
            self._keep(0, trainer, pl_module)

    def on_train_epoch_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Hook of Lightning: an epoch is complete."""
        self._keep(trainer.current_epoch + 1, trainer, pl_module)

    @torch.no_grad()
    def _keep(self, epoch: int, trainer: pl.Trainer, module: pl.LightningModule) -> None:
        if epoch not in {*self.epochs, trainer.max_epochs} or not trainer.is_global_zero:
            return
        assert isinstance(module, ClusteringModule)
        best, model = _best_restart(module), module.model
        samples = model.sample(1, torch_stream(module.data.seed, "evaluation/snapshots"))[best, :, 0]
        self.kept[epoch] = {"weights": model.cluster_weights()[best].float(), "samples": samples.float().clone()}
        epochs = sorted(self.kept)
        columns = (np.stack([self.kept[epoch][name].numpy() for epoch in epochs]) for name in ("weights", "samples"))
        write_arrays(Path(trainer.default_root_dir) / FILE, vars(Snapshots(np.array(epochs), *columns)))


def _best_restart(module: ClusteringModule) -> int:
    if module.model.num_restarts == 1:
        return 0  # saves a pass over all items
    elbo = module.model.elbo(module.data)["total"]
    return int(torch.where(elbo.isfinite(), elbo, -torch.inf).argmax())
