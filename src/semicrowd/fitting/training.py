"""Training under Lightning: a checkpoint each epoch, the curves, a progress bar, and a clean end on Ctrl-C."""

import logging
import signal
import time
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytorch_lightning as pl
import torch
from lightning_fabric.utilities.exceptions import MisconfigurationException
from omegaconf import DictConfig
from pytorch_lightning.callbacks import Callback, Checkpoint

from semicrowd.errors import UserError
from semicrowd.models import ClusteringModule
from semicrowd.files import write_atomic, write_csv
from semicrowd.fitting.progress_bar import ProgressBar

logging.getLogger("pytorch_lightning").setLevel(logging.ERROR)  # device lines, tips, "Trainer.fit stopped"
logging.getLogger("lightning_fabric").setLevel(logging.ERROR)
warnings.filterwarnings("ignore", message=r".*isinstance\(treespec, LeafSpec\).*", category=FutureWarning)
warnings.filterwarnings("ignore", message=".*GPU available but not used.*")
warnings.filterwarnings("ignore", message=".*does not have many workers.*")


class EpochRecorder(Checkpoint):
    """After each epoch: curves.csv, the tracker, and ``checkpoints/last.ckpt``, each replaced as a whole.

    Lightning calls a ``Checkpoint`` last, when the epoch's metrics are complete. The curves travel in the checkpoint,
    so a resumed run's curves.csv is that of an uninterrupted one.
    """

    def __init__(self, checkpoint: Path, curves: Path, log_epoch: Callable[[int, dict[str, float]], Any]) -> None:
        self.checkpoint, self.curves, self.log_epoch = checkpoint, curves, log_epoch
        self.rows: list[dict[str, float]] = []
        self.seconds_before = 0.0
        self._start = time.perf_counter()

    @property
    def seconds(self) -> float:
        """Time spent on this run so far, in seconds, earlier sessions up to their last checkpoint included."""
        return self.seconds_before + time.perf_counter() - self._start

    def state_dict(self) -> dict[str, Any]:
        """What the checkpoint keeps of this callback."""
        return {"rows": self.rows, "seconds": self.seconds}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Go on where the checkpoint was written."""
        self.rows, self.seconds_before = list(state_dict["rows"]), state_dict["seconds"]
        self._start = time.perf_counter()

    def on_train_epoch_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:  # noqa: ARG002
        """Hook of Lightning: an epoch is complete."""
        metrics = {name: float(value) for name, value in sorted(trainer.callback_metrics.items())}
        epoch = trainer.current_epoch + 1
        self.rows.append({"epoch": epoch, **metrics})
        if not trainer.is_global_zero:
            trainer.save_checkpoint(self.checkpoint)  # takes part in gathering the state, writes nothing
            return
        write_curves(self.curves, self.rows)
        self.log_epoch(epoch, metrics)
        write_atomic(self.checkpoint, trainer.save_checkpoint)


def write_curves(path: Path, rows: list[dict[str, float]]) -> None:
    """Write curves.csv: the epoch, then one column for each metric."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    write_csv(path, names, [[row.get(name) for name in names] for row in rows])


def read_checkpoint(path: Path, model: ClusteringModule | None = None) -> dict[str, Any]:
    """Content of a checkpoint, as tensors and plain values only; nothing else is unpickled.

    Raises
    ------
    UserError
        For a file that is not a whole checkpoint, or not one of ``model``.
    """
    try:
        content = torch.load(path, map_location="cpu", weights_only=True)
    except FileNotFoundError as error:
        raise UserError(f"{path}: no checkpoint here") from error
    except Exception as error:  # torch raises whatever the damaged bytes lead to
        raise UserError(f"{path}: corrupt checkpoint; delete it and start again without resume=true") from error
    if not isinstance(content, dict) or not {"state_dict", "loops", "callbacks"} <= content.keys():
        raise UserError(f"{path}: not a checkpoint of a run; delete it and start again without resume=true")
    if model is not None:
        expected = {name: value.shape for name, value in model.state_dict().items()}
        found = {name: value.shape for name, value in content["state_dict"].items()}
        if expected != found:
            raise UserError(f"{path}: a checkpoint of another model; delete it and start again without resume=true")
    return content


def fit(
    model: ClusteringModule,
    cfg: DictConfig,
    recorder: EpochRecorder,
    resume_from: Path | None,
    callbacks: Sequence[Callback] = (),
) -> None:
    """Warm start and training, or training from a checkpoint on; ``callbacks`` come before the recorder.

    Raises
    ------
    KeyboardInterrupt
        After Ctrl-C or SIGTERM; the last finished epoch is in the checkpoint.
    """
    with ProgressBar(cfg.epochs, enabled=cfg.trainer.progress) as bar:
        trainer = _trainer(cfg, [bar, *callbacks, recorder], recorder.curves.parent)
        if resume_from is None:
            model.warm_up(bar.say)
        handler = signal.getsignal(signal.SIGINT)
        try:
            trainer.fit(
                model, model.training_batches(), ckpt_path=None if resume_from is None else str(resume_from),
                weights_only=True,
            )
        except SystemExit:  # what Lightning makes of Ctrl-C and of SIGTERM
            raise KeyboardInterrupt from None
        finally:
            signal.signal(signal.SIGINT, handler)  # Lightning leaves Ctrl-C ignored
    model.eval()


def check_trainer(cfg: DictConfig) -> None:
    """Refuse settings of the trainer that cannot be met on this machine.

    Raises
    ------
    UserError
        With Lightning's reason.
    """
    try:
        _trainer(cfg, [], Path())
    except (MisconfigurationException, ValueError, TypeError) as error:
        raise UserError(f"trainer: {str(error).splitlines()[0]}") from error


def _trainer(cfg: DictConfig, callbacks: list[Callback], folder: Path) -> pl.Trainer:
    return pl.Trainer(
        accelerator=cfg.trainer.accelerator,
        devices=cfg.trainer.devices,
        precision="32-true",  # model.nets.precision is for the networks; all else needs float32
        max_epochs=cfg.epochs,
        callbacks=callbacks,
        default_root_dir=folder,
        logger=False,
        enable_checkpointing=bool(callbacks),
        enable_progress_bar=False,
        enable_model_summary=False,
        num_sanity_val_steps=0,
        use_distributed_sampler=False,
    )
