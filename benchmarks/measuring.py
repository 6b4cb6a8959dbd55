"""What the benchmarks have in common: tables, slopes, processes of their own, training steps and their time."""

import os
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pytorch_lightning as pl
import torch
from pytorch_lightning.callbacks import Callback
from sklearn.utils import Bunch
from threadpoolctl import threadpool_limits

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.errors import UnreliableResultWarning
from semicrowd.methods import method
from semicrowd.methods.generative import NOT_OF_THE_FIT
from semicrowd.methods.protocols import Facts, with_defaults
from semicrowd.models.state import model_class
from semicrowd.models.training_data import TrainingData
from semicrowd.models.views import build_views
from semicrowd.training import train as training
from semicrowd.training.data import TrainingBatches
from semicrowd.training.module import ClusteringModule

T = TypeVar("T")
#: Slope of log time against log size that is linear but for noise.
LINEAR = 1.05


def print_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a Markdown table with columns of even width."""
    widths = [max(len(row[column]) for row in [header, *rows]) for column in range(len(header))]
    for row in (header, ["-" * width for width in widths], *rows):
        print(f"| {' | '.join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))} |", flush=True)


def at_most(value: float, bar: float) -> str:
    """The bar that ``value`` must not exceed, and whether it does."""
    return f"≤ {bar:g}: {'met' if value <= bar else 'MISSED'}"


def at_least(value: float, bar: float) -> str:
    """The bar that ``value`` must reach, and whether it does."""
    return f"≥ {bar:g}: {'met' if value >= bar else 'MISSED'}"


def growth_row(what: str, sizes: Sequence[int], values: Sequence[float], form: str = ".2f") -> tuple[str, ...]:
    """A row: sizes, values, slope of the logarithms by least squares (1 is linear), and its bar."""
    slope = float(np.polyfit(np.log(sizes), np.log(values), 1)[0])
    cells = ", ".join(map(str, sizes)), ", ".join(f"{value:{form}}" for value in values)
    return (what, *cells, f"{slope:.2f}", at_most(slope, LINEAR))


def apart(function: Callable[..., T], *arguments: Any, as_a_user: bool = False) -> T:
    """The function's result from a new process, whose memory, threads and caches are nobody else's.

    Parameters
    ----------
    function : of a module of this folder
    as_a_user : without OMP_NUM_THREADS, which users do not set; otherwise with one thread
    """
    before = dict(os.environ)
    if as_a_user:
        os.environ.pop("OMP_NUM_THREADS", None)
    try:
        with ProcessPoolExecutor(1, get_context("spawn"), _begin, (1 - as_a_user,)) as pool:
            return pool.submit(function, *arguments).result()
    finally:
        os.environ.update(before)


def _begin(threads: int) -> None:
    """In a new process: ``threads``, 0 for the user's."""
    warnings.filterwarnings("ignore", category=UnreliableResultWarning)
    if threads:
        torch.set_num_threads(threads)
        threadpool_limits(threads)


def memory(what: str = "VmHWM") -> float:
    """Bytes of memory of this process: VmHWM at the peak, VmRSS now (Linux)."""
    (line,) = (line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith(f"{what}:"))
    return 1024 * float(line.split()[1])


@dataclass(frozen=True)
class Effort:
    """How long to measure: ``repeats`` turns of ``steps`` steps each, after ``skip`` that do not count."""

    skip: int = 10
    steps: int = 40
    repeats: int = 3


class StepTimer(Callback):
    """Seconds of a training step, drawing its batch included.

    On the processor the time that this process computes: with one thread that of a core that does nothing else. On a
    GPU the time on the clock, ``seconds`` until the GPU has finished, ``host`` until it has its orders.

    Parameters
    ----------
    skip : first steps that do not count
    """

    def __init__(self, skip: int = 0) -> None:
        self.skip = skip
        self.seconds = self.host = self._start = 0.0
        self._begun = 0
        self._clock: Callable[[], float] = time.process_time

    def on_train_batch_start(
        self, trainer: pl.Trainer, pl_module: pl.LightningModule, batch: object, batch_idx: int  # noqa: ARG002
    ) -> None:
        """Hook of Lightning: a batch has been drawn."""
        if batch_idx == self.skip:
            if pl_module.device.type == "cuda":
                self._clock = time.perf_counter
                torch.cuda.synchronize()
            self._start = self._clock()
        self._begun = batch_idx + 1

    def on_train_epoch_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:  # noqa: ARG002
        """Hook of Lightning: the last step is done; what the model does at the end of an epoch is still to come."""
        steps = self._begun - self.skip
        self.host = (self._clock() - self._start) / steps
        if pl_module.device.type == "cuda":
            torch.cuda.synchronize()
        self.seconds = (self._clock() - self._start) / steps


def parameters(name: str, given: Mapping[str, Any], facts: Facts | None) -> Bunch:
    """All parameters of a fit of ``bayes`` or ``scdc``: those given, the others by the protocol, if there are facts."""
    values = method(name)(**given).get_params()
    return with_defaults(name, {one: value for one, value in values.items() if one not in NOT_OF_THE_FIT}, facts)


def module_of(
    name: str,
    params: Bunch,
    features: np.ndarray,
    answers: PairAnnotations | None,
    image_shape: tuple[int, ...] | None = None,
    restarts: int = 1,
) -> ClusteringModule:
    """A model that has not begun, and its data, as Lightning takes them."""
    annotators = 0 if answers is None else answers.num_annotators
    model = model_class(name)(params, features.shape[1], annotators, restarts=restarts, image_shape=image_shape)
    views = build_views(params.augmentation, image_shape)
    return ClusteringModule(
        model, TrainingData(torch.from_numpy(features), answers, views, 0, params.batch_size), begin=False
    )


def train(module: ClusteringModule, callbacks: Sequence[Callback], steps: int | None, accelerator: str = "cpu") -> None:
    """An epoch, or its first ``steps``, as a fit trains but for its files."""

    def trainer(**options: Any) -> pl.Trainer:
        return pl.Trainer(
            **options | {"max_epochs": 1}, accelerator=accelerator, devices=1, limit_train_batches=steps,
            callbacks=list(callbacks), logger=False, enable_checkpointing=False, enable_progress_bar=False,
        )  # fmt: skip

    training.train(module.train(), trainer)


def step_seconds(modules: Sequence[ClusteringModule], effort: Effort) -> list[float]:
    """Seconds a training step of each model, the least of all turns, each with the same batches.

    The models take turns, so that a while in which the machine is slow is slow for all of them.
    """
    seconds = np.empty((effort.repeats, len(modules)))
    for turn in range(effort.repeats):
        for number, module in enumerate(modules):
            timer = StepTimer(effort.skip)
            train(module, [timer], steps=effort.skip + effort.steps)
            seconds[turn, number] = timer.seconds
    return seconds.min(0).tolist()


def batches(module: ClusteringModule) -> TrainingBatches:
    """Those of the first epoch."""
    return TrainingBatches(module.data, module.model.params.sampler, module.model.params.sample_size, lambda: 0)


def images_per_step(module: ClusteringModule) -> float:
    """Mean number of items in the first steps of an epoch."""
    return float(np.mean([len(batch.items) for batch in islice(batches(module), 20)]))
