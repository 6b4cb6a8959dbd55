"""The models at the papers' sizes, on noise: what a step computes and moves, its time and its memory."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytorch_lightning as pl
import torch
from pytorch_lightning.callbacks import Callback
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves
from torch.utils.flop_counter import FlopCounterMode

from measuring import StepTimer, apart, images_per_step, memory, module_of, parameters, print_table, train
from semicrowd.crowd import simulate
from semicrowd.errors import UserError
from semicrowd.models.bayes import BayesSCDC
from semicrowd.random import stream
from semicrowd.training.module import ClusteringModule

#: A learning rate so small that the step that is counted sees as many likely clusters as the first: all of them.
_COMMON = {"sampler": "pairs", "final_refits": 0, "learning_rate": 1e-9}
_MNIST = {**_COMMON, "batch_size": 128, "n_clusters": 50, "latent_dim": 8, "hidden": (500, 500),
          "likelihood": "bernoulli"}  # fmt: skip
_CIFAR = {**_COMMON, "batch_size": 100, "sample_size": 200, "n_clusters": 10, "latent_dim": 64,
          "likelihood": "logistic", "architecture": "resnet", "blocks": 2}  # fmt: skip
_NAMES = {"bayes": "BayesSCDC", "scdc": "SCDC"}
#: Shares of a step's images that are counted for CIFAR-10, where the whole takes minutes.
_SHARES = (0.04, 0.08)


@dataclass(frozen=True)
class Setting:
    """A model of images at the size of a paper, and its answers.

    Attributes
    ----------
    model : ``bayes`` or ``scdc``
    num_items : N, of the data set that it is for; fewer are made up here
    given : parameters
    num_annotators, num_tasks, num_annotated : of tasks of 36 images
    """

    what: str
    model: str
    image_shape: tuple[int, ...]
    num_items: int
    given: Mapping[str, Any]
    num_annotators: int = 48
    num_tasks: int = 91
    num_annotated: int = 2759

    def module(self, share: float = 1.0, restarts: int = 1, **given: Any) -> ClusteringModule:
        """The model before training, on noise and simulated answers; ``share`` of the images and answers of a step."""
        rng, made = stream(0, "data"), self.num_annotated + 1000
        images = rng.random((made, int(np.prod(self.image_shape))), dtype=np.float32)
        answers = simulate.tasks(
            rng.integers(10, size=made), stream(0, "annotations"), num_annotators=self.num_annotators,
            num_tasks=self.num_tasks, task_size=36, num_annotated=self.num_annotated, sensitivity=0.98,
            specificity=0.99,
        )  # fmt: skip
        batch = self.given["batch_size"]
        pairs = self.given.get("sample_size", round(answers.num_pairs * batch / self.num_items))  # App. B
        shared = {"batch_size": max(1, round(share * batch)), "sample_size": max(1, round(share * pairs))}
        params = parameters(self.model, {**self.given, **shared, **given}, None)
        return module_of(self.model, params, images, answers, self.image_shape, restarts)


def settings() -> list[Setting]:
    """MNIST as App. B has it, with perceptrons and convolutions; CIFAR-10 at the laptop's and at full size."""
    found = [
        Setting(f"MNIST, {name}, {kind}", model, (28, 28), 60_000, {**_MNIST, "architecture": kind})
        for model, name in _NAMES.items() for kind in ("mlp", "conv")
    ]  # fmt: skip
    for what, channels, classifier in (("narrow", (8, 16, 32), 16), ("full size", (64, 128, 256), 128)):
        for model, name in _NAMES.items():
            given = {**_CIFAR, "channels": channels} | ({"classifier_channels": classifier} if model == "scdc" else {})
            found.append(Setting(f"CIFAR-10, {name}, {what}", model, (3, 32, 32), 50_000, given, 32, 240, 4000))
    return found


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
            tensors = (one for one in tree_leaves((args, kwargs, out)) if isinstance(one, Tensor))
            # Of a tensor that repeats itself (expand) what is in memory.
            self.moved += sum(min(one.nbytes, one.untyped_storage().nbytes()) for one in tensors)
        return out


class _Counted(Callback):
    """Both counters, during each training step and no longer."""

    def __init__(self) -> None:
        self.costs: list[StepCost] = []

    def on_train_batch_start(
        self, trainer: pl.Trainer, pl_module: pl.LightningModule, batch: Any, batch_idx: int  # noqa: ARG002
    ) -> None:
        self._flop, self._traffic = FlopCounterMode(display=False), _Traffic()
        self._flop.__enter__()
        self._traffic.__enter__()

    def on_train_batch_end(
        self, trainer: pl.Trainer, pl_module: pl.LightningModule, outputs: Any, batch: Any, batch_idx: int  # noqa: ARG002
    ) -> None:
        traffic = self._traffic
        traffic.__exit__(None, None, None)
        self._flop.__exit__(None, None, None)
        flop = float(self._flop.get_total_flops())
        self.costs.append(StepCost(len(batch.items), flop, traffic.moved, traffic.operations))


def counted(module: ClusteringModule) -> StepCost:
    """The second step of a module: in the first, optimizers make their state."""
    counter = _Counted()
    train(module, [counter], steps=2)
    return counter.costs[1]


def step_cost(setting: Setting) -> StepCost:
    """A step of a setting as it is; with residual networks, of two shares of its images, extended to all.

    What networks compute grows with the images, what is moved by a constant (parameters, gradients, the optimizer's
    state) and with the images: two sizes tell both.
    """
    if setting.given["architecture"] != "resnet":
        return counted(setting.module())
    low, high = (counted(setting.module(share)) for share in _SHARES)
    images = images_per_step(setting.module())

    def extended(value: Callable[[StepCost], float]) -> float:
        slope = (value(high) - value(low)) / (high.images - low.images)
        return value(high) + slope * (images - high.images)

    return StepCost(images, extended(lambda cost: cost.flop), extended(lambda cost: cost.moved), high.operations)


def gradient_bytes(module: ClusteringModule) -> tuple[int, int]:
    """What several processes exchange in a step: gradients of the networks, and of q(Θ)'s natural parameters."""
    natural = set(module.model.globals.parameters()) if isinstance(module.model, BayesSCDC) else set()
    sizes = {one: one.numel() * one.element_size() for one in module.model.parameters() if one.requires_grad}
    inside = sum(size for one, size in sizes.items() if one in natural)
    return sum(sizes.values()) - inside, inside


def scaling(quick: bool = False) -> None:
    """The counts of one process, in float32; ``quick`` the first two settings alone."""
    rows = []
    for setting in settings()[:2] if quick else settings():
        cost, (networks, natural) = step_cost(setting), gradient_bytes(setting.module())
        rows.append((setting.what, f"{cost.images:.0f}", f"{cost.flop / 1e9:.3g}", f"{cost.moved / 1e9:.3g}",
                     f"{cost.operations:.0f}", f"{networks / 1e6:.3g}", f"{natural / 1e6:.3g}"))  # fmt: skip
    print_table(("setting", "images", "GFLOP", "GB moved", "operations", "MB of the networks' gradient", "MB of η's"),
                rows)  # fmt: skip


def full_size(quick: bool = False) -> None:
    """Three steps of SCDC at the full size of Fig. 4b on one core, each precision in a process of its own.

    The networks are of full size, the images of a step are not: untrained, every cluster is likely for every image, and
    the exact sum over ten of them keeps the maps of ten images for each, more memory than a small machine has. A
    twentieth of a step's images is run so, and a quarter with the likeliest cluster alone (``drop_mass=.99``).
    """
    rows = []
    for share, clusters, drop_mass in ((0.01, 1, 0.99),) if quick else ((0.05, 10, 0.0), (0.25, 1, 0.99)):
        for precision in ("float32", "bfloat16"):
            images, seconds, peak = apart(_full_size, precision, share, drop_mass)
            rows.append((f"{images:.0f}", str(clusters), precision, f"{seconds:.1f}", f"{peak / 2**30:.1f}"))
    header = (f"{settings()[-1].what}: images a step", "clusters of each", "precision", "s a step", "GiB at the peak")
    print_table(header, rows)


def _full_size(precision: str, share: float, drop_mass: float) -> tuple[float, float, float]:
    module, timer = settings()[-1].module(share, precision=precision, drop_mass=drop_mass), StepTimer()
    train(module, [timer], steps=3)
    return images_per_step(module), timer.seconds, memory()


def gpu(quick: bool = False) -> None:
    """A step of every setting in both precisions on one GPU; then of the first with several restarts in one process.

    Raises
    ------
    UserError
        If there is no GPU.
    """
    if not torch.cuda.is_available():
        raise UserError("there is no GPU here")
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}\n", flush=True)
    chosen, (skip, steps) = (settings()[:2], (1, 1)) if quick else (settings(), (5, 30))
    several = [(chosen[0], "float32", restarts) for restarts in (10, 40)]
    rows = []
    for setting, precision, restarts in [
        *((one, precision, 1) for one in chosen for precision in ("float32", "bfloat16")), *several
    ]:  # fmt: skip
        module = setting.module(restarts=restarts, precision=precision)
        timer, images = StepTimer(skip), images_per_step(module)
        torch.cuda.reset_peak_memory_stats()
        try:
            train(module, [timer], steps=skip + steps, accelerator="gpu")
        except torch.OutOfMemoryError:
            rows.append((setting.what, precision, str(restarts), f"{images:.0f}", "out of memory", "", ""))
            continue
        rows.append((setting.what, precision, str(restarts), f"{images:.0f}", f"{1e3 * timer.seconds:.3g}",
                     f"{1e3 * timer.host:.3g}", f"{torch.cuda.max_memory_allocated() / 2**30:.1f}"))  # fmt: skip
    print_table(("setting", "precision", "restarts", "images", "ms a step", "ms of the processor", "GiB at the peak"),
                rows)  # fmt: skip
