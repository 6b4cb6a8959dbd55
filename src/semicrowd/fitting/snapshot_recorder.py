"""Keeps what the clusters generate while a model trains."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytorch_lightning as pl
import torch
from omegaconf import DictConfig
from pytorch_lightning.callbacks import Checkpoint
from torch import Tensor

from semicrowd.data import Dataset
from semicrowd.errors import UserError
from semicrowd.models import ClusteringModule
from semicrowd.random import torch_stream
from semicrowd.fitting.snapshots import Snapshots, write_snapshots


def wanted_epochs(cfg: DictConfig, data: Dataset) -> tuple[int, ...]:
    """Epochs of ``snapshots=[…]``, and the last one; none where that is empty.

    Raises
    ------
    UserError
        For what is no list of epochs of this run, and for data that are no images.
    """
    wanted, last = cfg.get("snapshots", []), cfg.epochs
    if not isinstance(wanted, Sequence) or isinstance(wanted, str) or not all(
        isinstance(epoch, int) and not isinstance(epoch, bool) and 0 <= epoch <= last for epoch in wanted
    ):
        raise UserError(f"snapshots={wanted}: expected a list of epochs from 0 (the start) to {last}")
    if wanted and data.image_shape is None:
        raise UserError(f"snapshots={wanted}: expected [], since data={data.name} has no images to draw")
    return tuple(sorted({*wanted, last})) if wanted else ()


class SnapshotRecorder(Checkpoint):
    """Keeps the clusters after each of some epochs in ``snapshots.npz``.

    The draws are of a stream of their own: all else of a run is the same with and without. What has been kept travels
    in the checkpoint, so that a resumed run's file is that of an uninterrupted one. Lightning calls a ``Checkpoint``
    when the model's own work at the end of an epoch is done; this one has to come before the one that saves.
    """

    def __init__(self, epochs: Sequence[int], directory: Path, seed: int) -> None:
        self.epochs, self.directory, self.seed = tuple(epochs), directory, seed
        self.kept: dict[int, dict[str, Tensor]] = {}

    def state_dict(self) -> dict[str, Any]:
        """What the checkpoint keeps of this callback."""
        return {"kept": self.kept}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Go on where the checkpoint was written."""
        self.kept = dict(state_dict["kept"])

    def on_train_start(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Hook of Lightning: nothing has been trained yet, or that of a resumed run."""
        if trainer.current_epoch == 0:
            self._keep(0, trainer, pl_module)

    def on_train_epoch_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Hook of Lightning: an epoch is complete."""
        self._keep(trainer.current_epoch + 1, trainer, pl_module)

    @torch.no_grad()
    def _keep(self, epoch: int, trainer: pl.Trainer, model: pl.LightningModule) -> None:
        if epoch not in self.epochs:
            return
        assert isinstance(model, ClusteringModule)
        best = _best_restart(model)
        samples = model.sample(1, torch_stream(self.seed, "evaluation", 2))[best, :, 0]
        self.kept[epoch] = {"weights": model.cluster_weights()[best].float(), "samples": samples.float().clone()}
        if trainer.is_global_zero:
            write_snapshots(self.content(), self.directory)

    def content(self) -> Snapshots:
        """All that has been kept."""
        epochs = sorted(self.kept)
        columns = (np.stack([self.kept[epoch][name].numpy() for epoch in epochs]) for name in ("weights", "samples"))
        return Snapshots(np.array(epochs), *columns)


def _best_restart(model: ClusteringModule) -> int:
    """The restart of highest ELBO on the training data."""
    if model.num_restarts == 1:
        return 0  # without a pass over all items
    elbo = model.elbo()["total"]
    return int(torch.where(elbo.isfinite(), elbo, -torch.inf).argmax())
