"""Seconds from scratch until a default fit with the crowd's answers names so many of MNIST's test images right."""

import time

import pytorch_lightning as pl
import torch
from pytorch_lightning.callbacks import Callback

from bench import Bench
from semicrowd.data import Dataset
from semicrowd.estimators.base import threads_of_a_fit
from semicrowd.metrics.clustering import accuracy
from semicrowd.starts.start import start
from semicrowd.training.module import ClusteringModule
from steps import train
from table import at_most, print_table

#: Model, accuracy on the test images and the seconds that it may take.
_BARS = (("bayes", 0.84, 120.0), ("scdc", 0.95, 180.0))


class Watch(Callback):
    """Test accuracy after the start and after every epoch; training ends when it is high enough.

    The clock starts with the object and stands still during evaluations. Labels measure and choose nothing: there is
    one start.
    """

    def __init__(self, data: Dataset, enough: float) -> None:
        self.data, self.enough = data, enough
        self.seconds, self.accuracy, self.rows = 0.0, 0.0, list[tuple[str, str, str]]()
        self._since = time.perf_counter()

    def look(self, module: ClusteringModule, when: str) -> None:
        """Note the time, then the accuracy."""
        self.seconds += time.perf_counter() - self._since
        assert self.data.test_features is not None
        assert self.data.test_labels is not None
        probabilities = module.model.posterior(torch.from_numpy(self.data.test_features)).probabilities[0]
        self.accuracy = accuracy(self.data.test_labels, probabilities.argmax(-1).numpy())
        self.rows.append((when, f"{self.seconds:.1f}", f"{self.accuracy:.3f}"))
        self._since = time.perf_counter()

    def on_train_epoch_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Hook of Lightning: an epoch's steps are done."""
        assert isinstance(pl_module, ClusteringModule)
        self.look(pl_module, f"epoch {trainer.current_epoch + 1}")
        trainer.should_stop = self.accuracy >= self.enough


def time_to(bench: Bench) -> None:
    """Wall time with the settings and threads of ``src/train.py``, seed 0."""
    for method, enough, bar in _BARS:
        _time_to(bench, method, enough, bar)


def _time_to(bench: Bench, method: str, enough: float, bar: float) -> None:
    short = {"epochs": 1, "init_epochs": 1} if bench.quick else {}
    chosen = bench.params(method, True, short)
    data, _ = bench.inputs
    with threads_of_a_fit():
        watch = Watch(data, enough)
        module = bench.untrained(method, chosen, crowd=True)
        start(module.model, module.data, lambda _: None)
        watch.look(module, "start")
        if watch.accuracy < enough:
            train(module, [watch], epochs=chosen.epochs)
    print_table((f"MNIST, {method}, crowd", "s", "test ACC"), watch.rows)
    reached = watch.accuracy >= enough
    verdict = at_most(watch.seconds, bar) if reached else f"MISSED: not within {chosen.epochs} epochs"
    print()
    print_table((f"s until test ACC ≥ {enough}", "bar"), [(f"{watch.seconds:.1f}" if reached else "–", verdict)])
    print()
