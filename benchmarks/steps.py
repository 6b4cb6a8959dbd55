"""The time of a training step, as Lightning runs it."""

import cProfile
import logging
import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
import pytorch_lightning as pl
from pytorch_lightning.callbacks import Callback
from sklearn.utils import Bunch

from semicrowd.methods import method
from semicrowd.methods.generative import NOT_OF_THE_FIT
from semicrowd.methods.protocols import Facts, with_defaults
from semicrowd.training.data import CrowdDataModule, TrainingBatches
from semicrowd.training.module import ClusteringModule

logging.getLogger("pytorch_lightning").setLevel(logging.ERROR)  # device lines and tips
warnings.filterwarnings("ignore", message=r".*isinstance\(treespec, LeafSpec\).*", category=FutureWarning)
warnings.filterwarnings("ignore", message=".*does not have many workers.*")


@dataclass(frozen=True)
class Effort:
    """How long to measure: ``repeats`` turns of ``steps`` steps each, after ``skip`` that do not count."""

    skip: int = 10
    steps: int = 40
    repeats: int = 3


class StepTimer(Callback):
    """Seconds that this process computes for a training step, drawing its batch included: ``seconds``.

    With one thread that is the time of a core that does nothing else, whatever else the machine does.

    Parameters
    ----------
    skip : first steps that do not count
    profile : runs while the others do
    """

    def __init__(self, skip: int = 0, profile: cProfile.Profile | None = None) -> None:
        self.skip, self.profile = skip, profile
        self.seconds = self._start = 0.0
        self._begun = 0

    def on_train_batch_start(
        self, trainer: pl.Trainer, pl_module: pl.LightningModule, batch: object, batch_idx: int  # noqa: ARG002
    ) -> None:
        """Hook of Lightning: a batch has been drawn."""
        if batch_idx == self.skip:
            self._start = time.process_time()
            if self.profile is not None:
                self.profile.enable()
        self._begun = batch_idx + 1

    def on_train_epoch_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:  # noqa: ARG002
        """Hook of Lightning: the last step is done; what the model does at the end of an epoch is still to come."""
        if self.profile is not None:
            self.profile.disable()
        self.seconds = (time.process_time() - self._start) / (self._begun - self.skip)


def parameters(name: str, given: Mapping[str, Any], facts: Facts | None = None) -> Bunch:
    """The value of every parameter of a fit of ``bayes`` or ``scdc``; of ``restarts`` as well."""
    values = method(name)(**given).get_params()
    chosen = {one: value for one, value in values.items() if one not in NOT_OF_THE_FIT}
    return Bunch(**with_defaults(name, chosen, facts), restarts=values["restarts"])


def batches_of(module: ClusteringModule) -> TrainingBatches:
    """Those of the first epoch."""
    params = module.model.params
    return TrainingBatches(module.data, params.sampler, params.sample_size, lambda: 0)


def train(
    module: ClusteringModule,
    callbacks: Sequence[Callback],
    epochs: int = 1,
    steps: int | None = None,
    accelerator: str = "cpu",
) -> None:
    """Train as a run does, but for its files; ``steps`` in place of whole epochs."""
    trainer = pl.Trainer(
        accelerator=accelerator,
        devices=1,
        max_epochs=epochs,
        limit_train_batches=steps,
        callbacks=list(callbacks),
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
    )
    params = module.model.params
    trainer.fit(module, CrowdDataModule(module.data, params.sampler, params.sample_size))


def step_seconds(models: Sequence[ClusteringModule], effort: Effort) -> list[float]:
    """Seconds a training step of each model, the least of all turns, each with the same batches.

    The models take turns, so that a while in which the machine is slow is slow for all of them.
    """
    seconds = np.empty((effort.repeats, len(models)))
    for turn in range(effort.repeats):
        for number, model in enumerate(models):
            timer = StepTimer(effort.skip)
            train(model, [timer], steps=effort.skip + effort.steps)
            seconds[turn, number] = timer.seconds
    return seconds.min(0).tolist()


def images_per_step(model: ClusteringModule) -> float:
    """Mean number of images in the first steps of an epoch."""
    return float(np.mean([len(batch.items) for batch in islice(batches_of(model), 20)]))
