"""Callbacks between epochs: refits of the annotators, and samples of the clusters."""

from typing import Any

import numpy as np
import pytorch_lightning as pl
import torch
from pytorch_lightning.callbacks import Callback, Checkpoint
from torch import Tensor

from semicrowd.fitting.module import ClusteringModule
from semicrowd.fitting.monitor import Monitor
from semicrowd.fitting.ranks import is_first, share
from semicrowd.fitting.snapshots import Snapshots, write_snapshots
from semicrowd.random import torch_stream


class FinalRefits(Callback):
    """After the last epoch ``final_refits`` refits of the annotators. One process changes the model for all."""

    def on_train_epoch_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Hook of Lightning: an epoch is done."""
        assert isinstance(pl_module, ClusteringModule)
        if trainer.current_epoch + 1 != trainer.max_epochs or pl_module.data.annotations is None:
            return
        if is_first():
            for _ in range(pl_module.settings.final_refits):
                pl_module.model.refit_annotators(pl_module.data)
        share(pl_module.model)


class SnapshotRecorder(Checkpoint):
    """Stores the clusters after each of the monitor's epochs, and after the last, in ``snapshots.npz``.

    Samples have their own random stream, so they do not change the fit. Stored samples are part of the checkpoint, so a
    resumed run writes the same file as an uninterrupted one. Lightning calls a ``Checkpoint`` after all other callbacks
    of an epoch. This one must be before that which writes the checkpoint.
    """

    def __init__(self, monitor: Monitor, last: int) -> None:
        self.monitor, self.epochs = monitor, {*monitor.snapshots, last}
        self.kept: dict[int, dict[str, Tensor]] = {}

    def state_dict(self) -> dict[str, Any]:
        """What the checkpoint keeps of this callback."""
        return {"kept": self.kept}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Restore what :meth:`state_dict` returned."""
        self.kept = dict(state_dict["kept"])
        if self.kept:  # there may be no epoch left in which it is set
            self.monitor.kept = self._content()

    def on_train_start(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Hook of Lightning: store the clusters before the first step, except in a resumed run."""
        if trainer.current_epoch == 0:
            self._keep(0, trainer, pl_module)

    def on_train_epoch_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Hook of Lightning: an epoch is complete."""
        self._keep(trainer.current_epoch + 1, trainer, pl_module)

    @torch.no_grad()
    def _keep(self, epoch: int, trainer: pl.Trainer, module: pl.LightningModule) -> None:
        if epoch not in self.epochs or not trainer.is_global_zero:
            return
        assert isinstance(module, ClusteringModule)
        best, model = _best_restart(module), module.model
        samples = model.sample(1, torch_stream(module.data.seed, "evaluation/snapshots"))[best, :, 0]
        self.kept[epoch] = {"weights": model.cluster_weights()[best].float(), "samples": samples.float().clone()}
        self.monitor.kept = self._content()
        if self.monitor.folder is not None:
            write_snapshots(self.monitor.kept, self.monitor.folder)

    def _content(self) -> Snapshots:
        epochs = sorted(self.kept)
        columns = (np.stack([self.kept[epoch][name].numpy() for epoch in epochs]) for name in ("weights", "samples"))
        return Snapshots(np.array(epochs), *columns)


def _best_restart(module: ClusteringModule) -> int:
    if module.model.num_restarts == 1:
        return 0  # saves a pass over all items
    elbo = module.model.elbo(module.data)["total"]
    return int(torch.where(elbo.isfinite(), elbo, -torch.inf).argmax())
