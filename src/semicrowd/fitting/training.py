"""The driver of gradient training by Lightning, with the monitor's curves, checkpoints and progress."""

import logging
import os
import signal
import warnings
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytorch_lightning as pl
import torch
from lightning_fabric.plugins.environments.slurm import SLURMEnvironment
from lightning_fabric.plugins.environments.torchelastic import TorchElasticEnvironment
from lightning_fabric.utilities.exceptions import MisconfigurationException
from pytorch_lightning.callbacks import Callback, Checkpoint
from pytorch_lightning.strategies import DDPStrategy

from semicrowd.errors import UserError
from semicrowd.fitting.callbacks import FinalRefits, SnapshotRecorder
from semicrowd.fitting.iterate import read_tensors
from semicrowd.fitting.module import ClusteringModule
from semicrowd.fitting.monitor import Monitor
from semicrowd.fitting.progress import Progress
from semicrowd.settings.training import TrainerSettings

logging.getLogger("pytorch_lightning").setLevel(logging.ERROR)  # no devices, tips, "Trainer.fit stopped"
logging.getLogger("lightning_fabric").setLevel(logging.ERROR)
#: Warnings of Lightning and torch that a user can do nothing about.
_WARNINGS = (
    r".*isinstance\(treespec, LeafSpec\).*",
    ".*GPU available but not used.*",
    ".*does not have many workers.*",
    "Grad strides do not match bucket view strides.*",  # with one restart
)
#: Environment variables with a machine's rank and the first machine's address, needed if no scheduler gives these.
NODE = ("NODE_RANK", "MASTER_ADDR", "MASTER_PORT")
#: Timeout of the other processes while the first one works for all of them, as in the start.
LONGEST = timedelta(days=2)
#: Metrics shown beside the progress bar.
BAR_METRICS = ("elbo/epoch", "proportions/used")


def train(module: ClusteringModule, monitor: Monitor, settings: TrainerSettings) -> None:
    """Run the start and all epochs, or the epochs after the checkpoint; moves the model to the trainer's device.

    Raises
    ------
    KeyboardInterrupt
        After Ctrl-C or SIGTERM; the last finished epoch is in the checkpoint.
    UserError
        For a checkpoint that is damaged or of another model, and if the machine lacks what the settings need.
    """
    monitor.begin()
    checkpoint, epochs = monitor.resume_point, module.recipe.training.epochs
    if checkpoint is not None:
        check_checkpoint(checkpoint, module)
        module.begin = False
    snapshots = [SnapshotRecorder(monitor, epochs)] if monitor.snapshots else []
    with monitor.bar(epochs) as bar:
        module.progress = bar.progress
        # At the end of an epoch, Lightning calls a Checkpoint after all other callbacks.
        trainer = _trainer(settings, epochs, [FinalRefits(), *snapshots, _Recorder(monitor, bar)], monitor.folder)
        handler = signal.getsignal(signal.SIGINT)
        try:
            with warnings.catch_warnings():
                for message in _WARNINGS:
                    warnings.filterwarnings("ignore", message=message)
                trainer.fit(
                    module, weights_only=True, ckpt_path=None if checkpoint is None else str(checkpoint)
                )
        except SystemExit:  # raised by Lightning after Ctrl-C or SIGTERM
            raise KeyboardInterrupt from None
        finally:
            if signal.getsignal(signal.SIGINT) != handler:  # Lightning may leave Ctrl-C ignored
                signal.signal(signal.SIGINT, handler)
    monitor.end()
    module.eval().to(trainer.strategy.root_device)


class _Recorder(Checkpoint):
    """Updates the progress bar; after each epoch, adds a row to the curves and writes the checkpoint."""

    def __init__(self, monitor: Monitor, bar: Progress) -> None:
        self.monitor, self.bar = monitor, bar

    def state_dict(self) -> dict[str, Any]:
        """What the checkpoint keeps of this callback."""
        return self.monitor.state()

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Restore what :meth:`state_dict` returned."""
        self.monitor.load_state(state_dict)

    def on_train_epoch_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Hook of Lightning: an epoch is complete."""
        assert isinstance(pl_module, ClusteringModule)
        if not trainer.is_global_zero:
            if self.monitor.checkpoint is not None:  # every process takes part in gathering the state; the first writes
                trainer.save_checkpoint(self.monitor.checkpoint)
            return
        metrics = dict(sorted(pl_module.metrics.items()))
        self.bar.reach(trainer.current_epoch + 1, "  ".join(f"{n} {metrics[n]:.5g}" for n in BAR_METRICS))
        self.monitor.record(trainer.current_epoch + 1, metrics)
        self.monitor.save(trainer.save_checkpoint)

    def on_train_batch_end(
        self,
        trainer: pl.Trainer,
        pl_module: pl.LightningModule,  # noqa: ARG002
        outputs: object,  # noqa: ARG002
        batch: object,  # noqa: ARG002
        batch_idx: int,
    ) -> None:
        """Hook of Lightning: a step is done."""
        self.bar.reach(trainer.current_epoch + (batch_idx + 1) / max(float(trainer.num_training_batches), 1))


def check_checkpoint(path: Path, module: ClusteringModule) -> None:
    """Refuse a file that is no checkpoint or lacks a part, or one of a model with other tensors."""
    content = read_tensors(path)
    parts: dict[str, Any] = {"state_dict": {}, "loops": {}, "callbacks": {}, "optimizer_states": []} | content
    whole = {"epoch", "global_step", "verdicts"} <= content.keys() and "fit_loop" in parts["loops"]
    whole = whole and _Recorder.__qualname__ in parts["callbacks"]
    if not whole or len(parts["optimizer_states"]) != len(module.configure_optimizers()):
        raise UserError(f"{path}: not a whole checkpoint of a run; delete it and start again without resume=true")
    expected = {name: value.shape for name, value in module.state_dict().items()}
    found = {name: value.shape for name, value in parts["state_dict"].items()}
    if expected != found:
        raise UserError(f"{path}: a checkpoint of another model; delete it and start again without resume=true")


def check_trainer(settings: TrainerSettings) -> None:
    """Refuse settings that this machine cannot fulfil, before anything is written or started."""
    kind = accelerator(settings)
    there = torch.cuda.device_count() if kind == "cuda" else os.cpu_count() or 1
    if settings.devices > there:
        what = "GPUs" if kind == "cuda" else "processor cores"
        raise UserError(f"trainer.devices={settings.devices}: this machine has {there} {what}")
    if settings.world_size > 1 and settings.strategy != "ddp":
        name = "devices" if settings.devices > 1 else "num_nodes"
        raise UserError(f"trainer.{name}={getattr(settings, name)}: several processes need trainer=ddp")
    if settings.num_nodes > 1:
        _check_nodes(settings.num_nodes)
    try:
        _trainer(settings, 0, [], None)
    except (MisconfigurationException, ValueError, TypeError) as error:
        raise UserError(f"trainer: {str(error).splitlines()[0]}") from error


def _check_nodes(number: int) -> None:
    """Refuse a run on several machines if this machine's rank is not set; it would wait for the others."""
    if SLURMEnvironment.detect() or TorchElasticEnvironment.detect():
        return  # they set the rank, and Lightning compares their number of machines with ours
    missing = [name for name in NODE if not os.environ.get(name)]
    if missing:
        raise UserError(
            f"trainer.num_nodes={number}: expected {', '.join(missing)} in the environment of each machine's command"
        )
    node = os.environ["NODE_RANK"]
    if not (node.isdecimal() and int(node) < number):
        raise UserError(f"NODE_RANK={node}: expected a whole number from 0 to {number - 1} (trainer.num_nodes - 1)")
    port = os.environ["MASTER_PORT"]
    if not (port.isdecimal() and 0 < int(port) < 2**16):
        raise UserError(f"MASTER_PORT={port}: expected a whole number from 1 to {2**16 - 1}")


def accelerator(settings: TrainerSettings) -> str:
    """``cuda`` or ``cpu``: the device that the settings select on this machine.

    Other accelerators lack float64, which q(Θ) needs.
    """
    if settings.accelerator == "cpu" or (settings.accelerator == "auto" and not torch.cuda.is_available()):
        return "cpu"
    if not torch.cuda.is_available():
        raise UserError(f"trainer.accelerator={settings.accelerator}: expected cpu; there is no GPU with float64 here")
    return "cuda"


def _trainer(settings: TrainerSettings, epochs: int, callbacks: list[Callback], folder: Path | None) -> pl.Trainer:
    return pl.Trainer(
        accelerator=accelerator(settings),
        devices=settings.devices,
        num_nodes=settings.num_nodes,
        strategy=DDPStrategy(timeout=LONGEST) if settings.strategy == "ddp" else "auto",
        precision="32-true",  # Lightning changes no precision: networks use nets.precision, and q(Θ) is float64
        max_epochs=epochs,
        callbacks=callbacks,
        default_root_dir=folder,
        logger=False,
        enable_checkpointing=bool(callbacks),
        enable_progress_bar=False,
        enable_model_summary=False,
        num_sanity_val_steps=0,
        use_distributed_sampler=False,
    )
