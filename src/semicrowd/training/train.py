"""One fit by a Lightning trainer: initialisation, epochs, the way back after Ctrl-C."""

import logging
import signal
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytorch_lightning as pl
import torch

from semicrowd.errors import UserError
from semicrowd.training.data import CrowdDataModule
from semicrowd.training.module import ClusteringModule

logging.getLogger("pytorch_lightning").setLevel(logging.ERROR)  # no devices, tips, "Trainer.fit stopped"
logging.getLogger("lightning_fabric").setLevel(logging.ERROR)
#: Warnings of Lightning and torch that a user can do nothing about.
_WARNINGS = (
    r".*isinstance\(treespec, LeafSpec\).*",
    ".*GPU available but not used.*",
    ".*does not have many workers.*",
    "Checkpoint directory .* exists and is not empty.*",  # of a fit that goes on
    "Grad strides do not match bucket view strides.*",  # with one restart
)
#: Keywords of the trainer that the fit sets, besides ``max_epochs``. Lightning changes no precision: networks use the
#: model's own, and q(Θ) is float64.
_KEYWORDS = {
    "precision": "32-true", "enable_model_summary": False, "num_sanity_val_steps": 0, "use_distributed_sampler": False,
}  # fmt: skip


def train(
    module: ClusteringModule,
    make_trainer: Callable[..., pl.Trainer] | None = None,
    ckpt_path: Path | str | None = None,
    *,
    verbose: bool = False,
) -> None:
    """Initialise the model and train all epochs, or those after a checkpoint; moves the model to the trainer's device.

    Parameters
    ----------
    make_trainer : takes keywords of ``pytorch_lightning.Trainer``; None: the GPU if there is one, no files
    ckpt_path : of the fit that goes on

    Raises
    ------
    KeyboardInterrupt
        After Ctrl-C or SIGTERM; a checkpoint has what the trainer's ModelCheckpoint keeps.
    UserError
        For a checkpoint that is damaged or of another model, and where the machine lacks what the trainer needs.
    """
    if ckpt_path is not None:
        check_checkpoint(ckpt_path, module)
    params, handler = module.model.params, signal.getsignal(signal.SIGINT)
    keywords = {"max_epochs": params.epochs, **_KEYWORDS}
    for name in sorted(keywords.keys() & getattr(make_trainer, "keywords", {}).keys()):
        raise UserError(f"trainer.{name}: the fit sets it itself, by epochs and precision of the model; leave it out")
    make = make_trainer or partial(
        pl.Trainer, accelerator="gpu" if torch.cuda.is_available() else "cpu", devices=1, logger=False,
        enable_checkpointing=False, enable_progress_bar=verbose,
    )  # fmt: skip
    try:
        with warnings.catch_warnings():
            for message in _WARNINGS:
                warnings.filterwarnings("ignore", message=message)
            trainer = make(**keywords)
            if trainer.strategy.root_device.type == "mps":
                raise UserError("accelerator=mps: has no float64, in which the mixture is kept; expected cpu or gpu")
            batches = CrowdDataModule(module.data, params)
            trainer.fit(module, batches, ckpt_path=ckpt_path and str(ckpt_path), weights_only=True)
    except SystemExit:  # raised by Lightning after Ctrl-C or SIGTERM
        raise KeyboardInterrupt from None
    finally:
        if signal.getsignal(signal.SIGINT) != handler:  # Lightning may leave Ctrl-C ignored
            signal.signal(signal.SIGINT, handler)
    module.eval().to(trainer.strategy.root_device)


def check_checkpoint(path: Path | str, module: ClusteringModule) -> None:
    """Refuse a file that is no checkpoint, or one of a model with other tensors."""
    try:
        content = torch.load(path, map_location="cpu", weights_only=True)
        found = {name: value.shape for name, value in content["state_dict"].items()}
        if not {"epoch", "loops", "optimizer_states", "history", "verdicts"} <= content.keys():
            raise KeyError("parts are missing")
    except FileNotFoundError as error:
        raise UserError(f"ckpt_path={path}: no such file") from error
    except Exception as error:  # damaged bytes can lead to any error in torch
        raise UserError(f"ckpt_path={path}: damaged, or not a checkpoint of a run") from error
    if found != {name: value.shape for name, value in module.state_dict().items()}:
        raise UserError(f"ckpt_path={path}: a checkpoint of another model; expected the run's own settings")
