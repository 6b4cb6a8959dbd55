"""A training step of BayesSCDC against its matrix products alone, and where the rest of it goes."""

import cProfile
import time
from collections.abc import Callable
from typing import NamedTuple

import torch
from pytorch_lightning import LightningModule
from pytorch_lightning.core.optimizer import LightningOptimizer
from torch.utils.benchmark import Timer

from bench import PAPER_BATCHES, Bench
from semicrowd.inference.bound import local_terms, relational_term
from semicrowd.models.bayes import BayesSCDC
from semicrowd.models.global_posterior import GlobalPosterior
from semicrowd.nets.decoder import BernoulliDecoder, Recognition
from semicrowd.training.data import TrainingBatches
from steps import StepTimer, images_per_step, step_seconds, train
from table import at_most, print_table

_FORWARD, _BACKWARD = "networks, forward", "backward of everything"
#: Functions of a step, none of which calls another of them.
_PARTS: dict[str, tuple[Callable[..., object], ...]] = {
    _FORWARD: (Recognition.potentials, BernoulliDecoder.log_likelihood),
    _BACKWARD: (LightningModule.manual_backward,),
    "message passing, its graph included": (BayesSCDC._infer,),
    "expected statistics, KL and relational terms": (
        GlobalPosterior.expected, GlobalPosterior.kl_terms, local_terms, relational_term,
    ),
    "optimizers": (LightningOptimizer.step,),
    "drawing the batch": (TrainingBatches.__iter__,),
}  # fmt: skip
_PRODUCT = {
    "forward": "torch.addmm(bias, x, weight)",
    "gradient of the weight": "x.mT @ g",
    "gradient of the input": "g @ weight.mT",
}


class Products(NamedTuple):
    """A step's matrix products: floating-point operations, and seconds at the speed measured for each shape."""

    flop: float
    forward: float
    backward: float


def products(model: BayesSCDC, batch: int, effort: float) -> Products:
    """The products of the networks' layers in float32 with ``batch`` images, each timed by itself for ``effort`` s.

    A layer of the pixels takes no gradient of its input.
    """
    flop, forward, backward = 0.0, 0.0, 0.0
    for net in (model.recognition, model.decoder):
        for weight in (parameter.detach() for parameter in net.parameters() if parameter.dim() == 3):
            inputs, outputs = weight.shape[1:]
            operands = {"x": torch.randn(batch, inputs), "g": torch.randn(batch, outputs), "weight": weight[0],
                        "bias": torch.zeros(outputs)}  # fmt: skip
            for kind, statement in _PRODUCT.items():
                if kind == "gradient of the input" and net is model.recognition and inputs == model.num_features:
                    continue
                timer = Timer(statement, timer=time.process_time, globals=operands | {"torch": torch})
                seconds = timer.blocked_autorange(min_run_time=effort).median
                flop += 2 * batch * inputs * outputs
                forward += seconds if kind == "forward" else 0
                backward += 0 if kind == "forward" else seconds
    return Products(flop, forward, backward)


def floor(bench: Bench) -> None:
    """The floor: what the products would take by themselves. The parts: shares of the step under cProfile.

    The profiler makes Python dearer than it is, so that the products' parts come out a little small.
    """
    effort = bench.effort()
    model = bench.model("bayes", PAPER_BATCHES | {"precision": "float32"})
    images = round(images_per_step(model))
    assert isinstance(model.model, BayesSCDC)
    alone = products(model.model, images, 0.01 if bench.quick else 0.2)
    step, least = step_seconds([model], effort)[0], alone.forward + alone.backward
    print_table(
        (f"MNIST, BayesSCDC, {images} images, float32", "GFLOP", "GFLOP/s", "ms", "ratio", "bar"),
        [
            ("matrix products alone", f"{alone.flop / 1e9:.2f}", f"{alone.flop / least / 1e9:.0f}",
             f"{1e3 * least:.1f}", "1", ""),
            ("step", "", "", f"{1e3 * step:.1f}", f"{step / least:.2f}", at_most(step / least, 1.35)),
        ],
    )  # fmt: skip
    print()
    profile = cProfile.Profile(time.process_time)
    timer = StepTimer(effort.skip, profile)
    train(model, [timer], steps=effort.skip + effort.steps)
    spent = {entry.code: entry.totaltime for entry in profile.getstats()}
    rows, rest = [], step
    for part, functions in _PARTS.items():
        share = sum(spent[function.__code__] for function in functions) / (timer.seconds * effort.steps)
        rest -= share * step
        product = {_FORWARD: alone.forward, _BACKWARD: alone.backward}.get(part, 0.0)
        rows.append((part, f"{1e3 * share * step:.2f}", f"{1e3 * product:.2f}"))
    rows.append(("everything else", f"{1e3 * rest:.2f}", "0.00"))
    print_table(("part of the step", "ms", "of these, matrix products alone"), rows)
