"""Training on MNIST with the crowd's answers: time of a step, growth of an epoch, time until a test accuracy."""

import time
from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property, partial
from typing import Any

import numpy as np
import pytorch_lightning as pl
import torch
from pytorch_lightning.callbacks import Callback
from sklearn.utils import Bunch
from torch import Tensor
from torch.utils.benchmark import Timer

from measuring import (
    Effort,
    StepTimer,
    at_most,
    batches,
    growth_row,
    images_per_step,
    module_of,
    parameters,
    print_table,
    step_seconds,
    train,
)
from semicrowd.crowd import simulate
from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.data import Dataset, answers
from semicrowd.data.mnist import load_mnist
from semicrowd.methods import method
from semicrowd.methods.protocols import MNIST_ITEMS, Facts
from semicrowd.metrics.clustering import accuracy
from semicrowd.models.bayes import BayesSCDC
from semicrowd.random import stream
from semicrowd.starts.start import start
from semicrowd.training.module import ClusteringModule

#: The paper's batches: 128 images, and those of so many pairs drawn one by one (App. B).
PAPER_BATCHES = {"sampler": "pairs"}
#: What the end of a fit does is no part of a step; the start is as short as it can be.
_SHORT = {
    "batch_size": 128, "augmentation": "none", "final_refits": 0, "init_epochs": 1,
    "teach_epochs": 1,
}  # fmt: skip
_PRODUCT = {
    "forward": "torch.addmm(bias, x, weight)",
    "gradient of the weight": "x.mT @ g",
    "gradient of the input": "g @ weight.mT",
}


class Bench:
    """MNIST with the crowd's answers and its models.

    Parameters
    ----------
    quick : random images and few steps instead: shows that everything runs; the figures mean nothing
    """

    def __init__(self, quick: bool = False) -> None:
        self.quick = quick
        self._starts: dict[tuple[str, int, bool], dict[str, Tensor]] = {}

    def effort(self, steps: int = 40, repeats: int = 3) -> Effort:
        """How long to measure."""
        return Effort(1, 2, 1) if self.quick else Effort(steps=steps, repeats=repeats)

    @cached_property
    def inputs(self) -> tuple[Dataset, PairAnnotations]:
        """Images and answers; a UserError where they cannot be had."""
        if self.quick:
            return _random_images()
        data = load_mnist()
        return data, answers.crowd(data)

    def params(self, name: str, crowd: bool, given: Mapping[str, Any]) -> Bunch:
        """The parameters of ``src/train.py data=mnist model=<name>`` but for those given."""
        data, known = self.inputs
        facts = Facts.of(data.features, known if crowd else None, data.image_shape)
        return parameters(name, given, replace(facts, num_items=MNIST_ITEMS))  # however few random images there are

    def module(
        self,
        name: str,
        given: Mapping[str, Any] | None = None,
        crowd: bool = True,
        num_items: int | None = None,
        restarts: int = 1,
    ) -> ClusteringModule:
        """A model after a short start; of all images, or of the first ``num_items``.

        All restarts start alike, as do all models of one kind, K and answers, whatever the number of images.
        """
        data, known = self.inputs
        params = self.params(name, crowd, {**_SHORT, **(given or {})})
        made = partial(module_of, name, params, answers=known if crowd else None, image_shape=data.image_shape)
        kind = (name, params.n_clusters, crowd)
        if kind not in self._starts:
            first = made(features=data.features)
            start(first.model, first.data, lambda _: None)
            self._starts[kind] = first.model.state_dict()
        module, begun = made(features=data.features[:num_items], restarts=restarts), self._starts[kind]
        expected = module.model.state_dict()
        module.model.load_state_dict({name: begun[name].expand_as(value) for name, value in expected.items()})
        return module


def _random_images() -> tuple[Dataset, PairAnnotations]:
    """1024 images of noise, and simulated answers about 200 of them."""
    rng = stream(0, "data")
    images, labels = rng.random((1024, 28 * 28), dtype=np.float32), rng.integers(10, size=1024)
    known = simulate.tasks(
        labels, stream(0, "annotations"), num_annotators=8, num_tasks=16, task_size=36, num_annotated=200,
        sensitivity=0.98, specificity=0.99,
    )  # fmt: skip
    return Dataset("mnist", images, labels, images, labels, (28, 28)), known


def steps(bench: Bench) -> None:
    """A step with the paper's batches in float32 and bfloat16; BayesSCDC's beside its matrix products alone."""
    cases = (("bayes", 50), ("scdc", 50), ("scdc", 10), ("scdc", 100))
    precisions = ("float32", "bfloat16")
    modules = [bench.module(name, PAPER_BATCHES | {"n_clusters": K, "precision": precision})
               for name, K in cases for precision in precisions]  # fmt: skip
    seconds = np.reshape(step_seconds(modules, bench.effort()), (len(cases), len(precisions)))
    bayes, middle, few, many = seconds
    bars = (at_most(bayes[1] / bayes[0], 0.5), at_most(middle[0] / bayes[0], 3), "", at_most(many[0] / few[0], 2))
    rows = [
        (name, str(K), f"{images_per_step(modules[2 * number]):.0f}", f"{1e3 * single:.1f}", f"{1e3 * half:.1f}",
         f"{single / bayes[0]:.2f}", bars[number])
        for number, ((name, K), (single, half)) in enumerate(zip(cases, seconds, strict=True))
    ]  # fmt: skip
    print_table(("MNIST, the paper's batches", "K", "images", "ms a step, float32", "bfloat16", "float32 × BayesSCDC",
                 "bar: bfloat16 / float32; SCDC / BayesSCDC; K = 100 / 10"), rows)  # fmt: skip
    print()
    model, images = modules[0].model, round(images_per_step(modules[0]))
    assert isinstance(model, BayesSCDC)
    flop, alone = products(model, images, 0.01 if bench.quick else 0.2)
    ratio = bayes[0] / alone
    print_table(
        (f"BayesSCDC, {images} images, float32", "GFLOP", "GFLOP/s", "ms", "a step takes", "bar"),
        [("matrix products alone", f"{flop / 1e9:.2f}", f"{flop / alone / 1e9:.0f}", f"{1e3 * alone:.1f}",
          f"{ratio:.2f} ×", at_most(ratio, 1.35))],
    )  # fmt: skip


def products(model: BayesSCDC, batch: int, effort: float) -> tuple[float, float]:
    """Operations and seconds of the products of the networks' layers, each shape timed by itself for ``effort`` s.

    A layer of the pixels takes no gradient of its input.
    """
    flop, seconds = 0.0, 0.0
    for net in (model.recognition, model.decoder):
        for weight in (parameter.detach() for parameter in net.parameters() if parameter.dim() == 3):
            inputs, outputs = weight.shape[1:]
            operands = {"x": torch.randn(batch, inputs), "g": torch.randn(batch, outputs), "weight": weight[0],
                        "bias": torch.zeros(outputs)}  # fmt: skip
            for kind, statement in _PRODUCT.items():
                if kind == "gradient of the input" and net is model.recognition and inputs == model.num_features:
                    continue
                timer = Timer(statement, timer=time.process_time, globals=operands | {"torch": torch})
                seconds += timer.blocked_autorange(min_run_time=effort).median
                flop += 2 * batch * inputs * outputs
    return flop, seconds


def curves(bench: Bench) -> None:
    """One size at a time grows from BayesSCDC with K = 50, one restart and the crowd's answers, 3 tasks a step.

    Images grow without answers, whole epochs: each step costs the same, the number of steps grows. Elsewhere it is
    seconds a step times steps an epoch.
    """
    sizes = [len(bench.inputs[0].features) // part for part in (8, 4, 2, 1)]
    seconds = []
    for size in sizes:
        module, timer = bench.module("bayes", crowd=False, num_items=size), StepTimer()
        train(module, [timer], steps=None)
        seconds.append(timer.seconds * len(batches(module)))
    rows = [growth_row("N, images, no answers", sizes, seconds)]
    clusters, restarts = [10, 25, 50, 100], [1, 2, 4, 8]
    for what, sizes, modules in (
        ("K, clusters", clusters, [bench.module("bayes", {"n_clusters": K}) for K in clusters]),
        ("R, restarts", restarts, [bench.module("bayes", restarts=R) for R in restarts]),
    ):
        found = step_seconds(modules, bench.effort(steps=20, repeats=2))
        epoch = [step * len(batches(module)) for step, module in zip(found, modules, strict=True)]
        rows.append(growth_row(what, sizes, epoch))
    print_table(("MNIST, BayesSCDC", "sizes", "s an epoch", "slope of the logs", "bar"), rows)


class Watch(Callback):
    """Test accuracy after the start and after every epoch; training ends when it is high enough.

    The clock starts with the object and stands still during evaluations. Labels measure and choose nothing.
    """

    def __init__(self, data: Dataset, enough: float) -> None:
        self.data, self.enough = data, enough
        self.seconds, self.accuracy, self.rows = 0.0, 0.0, list[tuple[str, str, str]]()
        self._since = time.perf_counter()

    def on_train_start(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Hook of Lightning: the model has been initialised."""
        self._measure(trainer, pl_module, "start")

    def on_train_epoch_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Hook of Lightning: an epoch's steps are done."""
        self._measure(trainer, pl_module, f"epoch {trainer.current_epoch + 1}")

    def _measure(self, trainer: pl.Trainer, module: pl.LightningModule, when: str) -> None:
        self.seconds += time.perf_counter() - self._since
        assert isinstance(module, ClusteringModule)
        assert self.data.test_features is not None
        assert self.data.test_labels is not None
        probabilities = module.model.posterior(torch.from_numpy(self.data.test_features)).probabilities[0]
        self.accuracy = accuracy(self.data.test_labels, probabilities.argmax(-1).numpy())
        self.rows.append((when, f"{self.seconds:.1f}", f"{self.accuracy:.3f}"))
        trainer.should_stop = self.accuracy >= self.enough
        self._since = time.perf_counter()


def time_to(bench: Bench) -> None:
    """Wall time of a default fit with the crowd's answers, until so many test images are right."""
    short: dict[str, Any] = {"epochs": 1, "init": "cold"} if bench.quick else {}
    data, known = bench.inputs
    for name, enough, bar in (("bayes", 0.84, 120.0), ("scdc", 0.95, 180.0)):
        watch = Watch(data, enough)
        trainer = partial(pl.Trainer, accelerator="cpu", devices=1, logger=False, enable_checkpointing=False,
                          enable_progress_bar=False, callbacks=[watch])  # fmt: skip
        method(name)(image_shape=data.image_shape, trainer=trainer, **short).fit(data.features, pairs=known)
        print_table((f"MNIST, {name}, crowd", "s", "test ACC"), watch.rows)
        reached = watch.accuracy >= enough
        verdict = at_most(watch.seconds, bar) if reached else f"MISSED: not within {len(watch.rows) - 1} epochs"
        print()
        print_table((f"s until test ACC ≥ {enough}", "bar"), [(f"{watch.seconds:.1f}" if reached else "–", verdict)])
        print()
