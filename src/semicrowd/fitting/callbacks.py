"""Changes of the model between epochs: merges and splits of clusters, refits of the annotators."""

import pytorch_lightning as pl
from pytorch_lightning.callbacks import Callback

from semicrowd.fitting.bayes_moves import MovableBayes
from semicrowd.fitting.module import ClusteringModule
from semicrowd.fitting.moves import merge_moves, split_moves
from semicrowd.fitting.ranks import is_first, share
from semicrowd.fitting.scdc_moves import MovableSCDC
from semicrowd.models.bayes import BayesSCDC
from semicrowd.models.scdc import SCDC


class Moves(Callback):
    """Merges and splits every ``merge_every`` epochs; after the last epoch ``final_refits`` refits of the annotators.

    One process changes the model for all.
    """

    def on_train_epoch_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Hook of Lightning: an epoch is done."""
        assert isinstance(pl_module, ClusteringModule)
        done, settings = trainer.current_epoch + 1, pl_module.settings
        merges = settings.merge_every > 0 and done % settings.merge_every == 0
        refits = done == trainer.max_epochs and pl_module.data.annotations is not None
        if not merges and not refits:
            return
        if is_first():
            if merges:
                _merge_and_split(pl_module)
            for _ in range(settings.final_refits if refits else 0):
                pl_module.model.refit_annotators(pl_module.data)
        share(pl_module.model)


def _merge_and_split(module: ClusteringModule) -> None:
    """Merges, then splits if the settings have them, then merges again if a split was accepted."""
    model, data = module.model, module.data
    assert isinstance(model, BayesSCDC | SCDC)
    movable = MovableBayes(model, data) if isinstance(model, BayesSCDC) else MovableSCDC(model, data)
    merge_moves(movable)
    if module.settings.splits and split_moves(movable).any():
        merge_moves(movable)
