"""What a training step computes and moves, counted while it runs, whatever the machine."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

import numpy as np
import pytorch_lightning as pl
import torch
from pytorch_lightning.callbacks import Callback
from sklearn.utils import Bunch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves
from torch.utils.flop_counter import FlopCounterMode

from semicrowd.crowd import simulate
from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.models.bayes import BayesSCDC
from semicrowd.models.state import model_class
from semicrowd.models.training_data import TrainingData
from semicrowd.random import stream
from semicrowd.training.module import ClusteringModule
from steps import images_per_step, parameters, train


@dataclass(frozen=True)
class Setting:
    """A model of images at the size of a paper, and its answers.

    Attributes
    ----------
    what : for people
    model : ``bayes`` or ``scdc``
    image_shape : (height, width) or (colours, height, width)
    num_items : N, of the data set that it is for; 1/10 of them are made up here
    given : parameter → value
    num_annotators, num_tasks, num_annotated : of tasks of 36 images
    restarts : R, of the model
    """

    what: str
    model: str
    image_shape: tuple[int, ...]
    num_items: int
    given: Mapping[str, Any]
    num_annotators: int = 48
    num_tasks: int = 91
    num_annotated: int = 2759
    restarts: int = 1

    def module(self, share: float = 1.0) -> ClusteringModule:
        """The model before training, on noise and simulated answers; ``share`` of the images and answers of a step."""
        rng, made = stream(0, "data"), self.num_annotated + 1000
        images = rng.random((made, int(np.prod(self.image_shape))), dtype=np.float32)
        answers = self._answers(rng.integers(10, size=made))
        params = self._params(share, answers.num_pairs)
        model = model_class(self.model)(
            params, images.shape[1], answers.num_annotators, image_shape=self.image_shape, restarts=self.restarts
        )
        data = TrainingData(torch.from_numpy(images), answers, None, 0, params.batch_size)
        return ClusteringModule(model, data, begin=False)

    def _answers(self, labels: np.ndarray) -> PairAnnotations:
        return simulate.tasks(
            labels, stream(0, "annotations"), num_annotators=self.num_annotators, num_tasks=self.num_tasks,
            task_size=36, num_annotated=self.num_annotated, sensitivity=0.98, specificity=0.99,
        )  # fmt: skip

    def _params(self, share: float, num_pairs: int) -> Bunch:
        sizes = {"batch_size": self.given["batch_size"], "sample_size": self._pairs(num_pairs)}
        given = {**self.given, **{name: max(1, round(share * size)) for name, size in sizes.items()}}
        return parameters(self.model, given)

    def _pairs(self, num_pairs: int) -> int:
        """Answers of a step: given, or in proportion to the images (App. B)."""
        size = self.given.get("sample_size")
        return size or round(num_pairs * self.given["batch_size"] / self.num_items)


@dataclass(frozen=True)
class StepCost:
    """Of one step of one process.

    Attributes
    ----------
    images : that the networks see
    flop : floating-point operations of products and convolutions, forwards and backwards
    moved : bytes that all operations read and write, if nothing stayed in a cache
    operations : calls of the tensor library that compute something
    """

    images: float
    flop: float
    moved: float
    operations: float


@dataclass(frozen=True)
class Gradient:
    """Bytes that several processes exchange in a step: of the networks, and of q(Θ)'s natural parameters."""

    networks: int
    natural: int

    @classmethod
    def of(cls, module: ClusteringModule) -> Self:
        """Of the parameters that a step has a gradient of."""
        natural = set(module.model.globals.parameters()) if isinstance(module.model, BayesSCDC) else set()
        sizes = {one: one.numel() * one.element_size() for one in module.model.parameters() if one.requires_grad}
        inside = sum(size for one, size in sizes.items() if one in natural)
        return cls(sum(sizes.values()) - inside, inside)


class _Traffic(TorchDispatchMode):
    """Counts operations, and the bytes of what they take and give; a view computes nothing."""

    def __init__(self) -> None:
        super().__init__()
        self.moved, self.operations = 0, 0

    def __torch_dispatch__(
        self, func: Any, types: object, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        out = func(*args, **(kwargs or {}))
        seen = [one.alias_info for one in func._schema.returns]
        if not any(alias is not None and not alias.is_write for alias in seen):
            self.operations += 1
            self.moved += sum(map(_size, tree_leaves((args, kwargs, out))))
        return out


def _size(value: object) -> int:
    # Of a tensor that repeats itself (expand) what is in memory.
    return min(value.nbytes, value.untyped_storage().nbytes()) if isinstance(value, Tensor) else 0


class _Counted(Callback):
    """Both counters, during each training step and no longer."""

    def __init__(self) -> None:
        self.costs: list[StepCost] = []

    def on_train_batch_start(
        self, trainer: pl.Trainer, pl_module: pl.LightningModule, batch: Any, batch_idx: int  # noqa: ARG002
    ) -> None:
        self._images = len(batch.items)
        self._flop, self._traffic = FlopCounterMode(display=False), _Traffic()
        self._flop.__enter__()
        self._traffic.__enter__()

    def on_train_batch_end(
        self, trainer: pl.Trainer, pl_module: pl.LightningModule, outputs: Any, batch: Any, batch_idx: int  # noqa: ARG002
    ) -> None:
        none: tuple[type[BaseException] | None, BaseException | None, TracebackType | None] = (None, None, None)
        self._traffic.__exit__(*none)
        self._flop.__exit__(*none)
        traffic = self._traffic
        flop = float(self._flop.get_total_flops())
        self.costs.append(StepCost(float(self._images), flop, float(traffic.moved), float(traffic.operations)))


def counted(module: ClusteringModule, accelerator: str = "cpu") -> StepCost:
    """The second step of a module: in the first, optimizers make their state."""
    counter = _Counted()
    train(module, [counter], steps=2, accelerator=accelerator)
    return counter.costs[1]


def step_cost(setting: Setting, shares: tuple[float, float] | None = None) -> StepCost:
    """A step of a setting as it is; or of two shares of its images, extended to all.

    What networks compute grows with the images, what is moved by a constant (parameters, gradients, the optimizer's
    state) and with the images: two sizes tell both.
    """
    if shares is None:
        return counted(setting.module())
    low, high = (counted(setting.module(share)) for share in shares)
    images = images_per_step(setting.module())

    def extended(value: Callable[[StepCost], float]) -> float:
        slope = (value(high) - value(low)) / (high.images - low.images)
        return value(high) + slope * (images - high.images)

    flop, moved = extended(lambda cost: cost.flop), extended(lambda cost: cost.moved)
    return StepCost(images, flop, moved, high.operations)
