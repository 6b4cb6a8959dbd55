"""What happens between epochs: merges, annotators refitted; each by one process for all."""

from abc import abstractmethod

import pytorch_lightning as pl
from pytorch_lightning.callbacks import Callback

from semicrowd.fitting.merges import merge_moves
from semicrowd.fitting.module import ClusteringModule
from semicrowd.fitting.ranks import is_first, share
from semicrowd.fitting.splits import split_moves
from semicrowd.models.bayes import BayesSCDC


class Move(Callback):
    """A change of the model after some of the epochs."""

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
        """Change it."""


class Merges(Move):
    """Rounds of merges and splits, of BayesSCDC."""

    def is_due(self, module: ClusteringModule, done: int, epochs: int) -> bool:  # noqa: ARG002
        """Every ``merge_every`` epochs."""
        every = module.model.settings.merge_every if isinstance(module.model, BayesSCDC) else 0
        return bool(every) and done % every == 0

    def move(self, module: ClusteringModule, done: int, epochs: int) -> None:  # noqa: ARG002
        """One round."""
        assert isinstance(module.model, BayesSCDC)
        merge_moves(module.model, module.data)
        if module.model.settings.splits and split_moves(module.model, module.data).any():
            merge_moves(module.model, module.data)


class AnnotatorRefits(Move):
    """The annotators from all answers."""

    def is_due(self, module: ClusteringModule, done: int, epochs: int) -> bool:
        """After the last epoch."""
        return done == epochs and module.data.annotations is not None

    def move(self, module: ClusteringModule, done: int, epochs: int) -> None:  # noqa: ARG002
        """``final_refits`` times: the annotators, then their priors."""
        for _ in range(module.settings.final_refits):
            module.model.refit_annotators(module.data)


def moves() -> list[Callback]:
    """All of them, in their order after an epoch."""
    return [Merges(), AnnotatorRefits()]
