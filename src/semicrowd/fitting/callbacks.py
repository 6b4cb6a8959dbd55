"""Callbacks between epochs: merges and splits of clusters, refits of the annotators. One process runs them for all."""

from abc import abstractmethod

import pytorch_lightning as pl
from pytorch_lightning.callbacks import Callback

from semicrowd.fitting.bayes_moves import MovableBayes
from semicrowd.fitting.module import ClusteringModule
from semicrowd.fitting.moves import MovableModel, merge_moves, split_moves
from semicrowd.fitting.ranks import is_first, share
from semicrowd.fitting.scdc_moves import MovableSCDC
from semicrowd.models.bayes import BayesSCDC
from semicrowd.models.generative import GenerativeModel
from semicrowd.models.scdc import SCDC
from semicrowd.models.training_data import TrainingData


class Move(Callback):
    """A callback that changes the model after some of the epochs."""

    def on_train_epoch_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Hook of Lightning: an epoch is done."""
        assert isinstance(pl_module, ClusteringModule)
        done, epochs = trainer.current_epoch + 1, trainer.max_epochs or 0
        if not self.is_due(pl_module, done, epochs):
            return
        if is_first():
            self.move(pl_module, done, epochs)
        share(pl_module.model)

    @abstractmethod
    def is_due(self, module: ClusteringModule, done: int, epochs: int) -> bool:
        """Whether the model changes after ``done`` of ``epochs`` epochs."""

    @abstractmethod
    def move(self, module: ClusteringModule, done: int, epochs: int) -> None:
        """Change the model."""


class Merges(Move):
    """Rounds of merges and splits."""

    def is_due(self, module: ClusteringModule, done: int, epochs: int) -> bool:  # noqa: ARG002
        """Every ``merge_every`` epochs."""
        every = module.settings.merge_every
        return bool(every) and done % every == 0

    def move(self, module: ClusteringModule, done: int, epochs: int) -> None:  # noqa: ARG002
        """Merges, then splits if the settings have them, then merges again if a split was accepted."""
        movable = movable_of(module.model, module.data)
        merge_moves(movable)
        if module.settings.splits and split_moves(movable).any():
            merge_moves(movable)


class AnnotatorRefits(Move):
    """Refits of the annotators to all answers."""

    def is_due(self, module: ClusteringModule, done: int, epochs: int) -> bool:
        """After the last epoch, if there are answers."""
        return done == epochs and module.data.annotations is not None

    def move(self, module: ClusteringModule, done: int, epochs: int) -> None:  # noqa: ARG002
        """Refit the annotators, then their priors, ``final_refits`` times."""
        for _ in range(module.settings.final_refits):
            module.model.refit_annotators(module.data)


def movable_of(model: GenerativeModel, data: TrainingData) -> MovableModel:
    """The :class:`MovableModel` of this model."""
    if isinstance(model, BayesSCDC):
        return MovableBayes(model, data)
    assert isinstance(model, SCDC)
    return MovableSCDC(model, data)


def moves() -> list[Callback]:
    """All moves, in the order in which they run after an epoch."""
    return [Merges(), AnnotatorRefits()]
