"""Two processes that train one model do what one process does on both their batches, and stay the same."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import pytorch_lightning as pl
import torch
from pytorch_lightning.callbacks import Callback
from pytorch_lightning.strategies import DDPStrategy
from sklearn.utils import Bunch
from tests.small_fits import parameters
from torch import Tensor, distributed

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.crowd.simulate import tasks
from semicrowd.models.state import model_class
from semicrowd.models.training_data import TrainingData
from semicrowd.models.views import Views
from semicrowd.random import torch_stream
from semicrowd.training.data import Batch, CrowdDataModule, TrainingBatches
from semicrowd.training.module import ClusteringModule

#: Of Lightning, in every fit.
pytestmark = pytest.mark.filterwarnings(
    "ignore:.*LeafSpec.*:FutureWarning", "ignore:.*does not have many workers.*", "ignore:Grad strides.*"
)

SIDE = 4
N, K, TASK = 60, 3, 6


class Steps:
    """An epoch of one batch: this process's own."""

    def __init__(self, batches: list[Batch]) -> None:
        self.batches = batches

    def __len__(self) -> int:
        return 1

    def __iter__(self) -> Iterator[Batch]:
        rank = distributed.get_rank() if distributed.is_initialized() else 0
        yield self.batches[rank]


class Keep(Callback):
    """Writes the model of every process when training ends."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def on_train_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        torch.save(pl_module.state_dict(), self.folder / f"{trainer.global_rank}.pt")


class KeepGradients(Callback):
    """Writes what every process steps by; on a step's end the gradients are still there."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def on_train_batch_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule, *_: Any) -> None:
        torch.save(gradients(pl_module), self.folder / f"gradients{trainer.global_rank}.pt")


def gradients(module: pl.LightningModule) -> dict[str, Tensor]:
    """By the parameters' names."""
    found = {name: parameter.grad for name, parameter in module.named_parameters() if parameter.requires_grad}
    assert not [name for name, gradient in found.items() if gradient is None]
    return {name: gradient.clone() for name, gradient in found.items() if gradient is not None}


def items_and_answers() -> tuple[Tensor, PairAnnotations]:
    """Images of 4 × 4 pixels in three kinds, and four tasks of six of them that share no image."""
    rng = np.random.default_rng(0)
    kind = np.arange(N) % K
    features = torch.from_numpy(np.clip(rng.normal(kind[:, None] / K, 0.1, (N, SIDE**2)), 0, 1))
    answers = tasks(kind[: 4 * TASK], rng, num_annotators=2, num_tasks=4, task_size=TASK, num_annotated=4 * TASK)
    assert len(answers.annotated) == 4 * TASK
    return features, replace(answers, num_items=N)


def module(name: str, params: Bunch, dtype: torch.dtype, views: bool = False) -> ClusteringModule:
    features, answers = items_and_answers()
    moved = Views((SIDE, SIDE)) if views else None
    data = TrainingData(features.to(dtype), answers, moved, seed=0, batch_size=6)
    model = model_class(name)(params, SIDE**2, answers.num_annotators, image_shape=(SIDE, SIDE))
    if dtype == torch.float64:
        model.double()  # the networks too
    return ClusteringModule(model, data)


def batches_of_tasks(data: TrainingData) -> list[Batch]:
    """The answers of tasks 0 and 1, and those of 2 and 3, each beside six items without any."""
    answers, found = data.annotations, []
    index = answers.index
    for half in range(2):
        rows = np.flatnonzero(answers.task // 2 == half)
        nodes = np.unique(np.concatenate([index.i[rows], index.j[rows]]))
        relational = index.batch(rows, nodes, np.full(len(nodes), 2.0), 2.0)
        others = torch.arange(24 + 6 * half, 30 + 6 * half)
        weight = torch.cat([relational.item_weight, torch.full((6,), 6.0)])
        found.append(Batch(torch.cat([relational.items, others]), weight, relational, 0))
    return found


def run(
    fitted: ClusteringModule, batches: Any, folder: Path, ranks: int, epochs: int, callbacks: list[Callback]
) -> list[dict[str, Tensor]]:
    """The state of every process after training."""
    folder.mkdir()
    strategy: Any = DDPStrategy(start_method="fork") if ranks > 1 else "auto"
    trainer = pl.Trainer(
        accelerator="cpu", devices=ranks, strategy=strategy, max_epochs=epochs, logger=False,
        enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False,
        use_distributed_sampler=False, callbacks=[*callbacks, Keep(folder)],
    )  # fmt: skip
    trainer.fit(fitted, batches)
    return [torch.load(folder / f"{rank}.pt", weights_only=True) for rank in range(ranks)]


def params_of(name: str, **given: Any) -> Bunch:
    usual: dict[str, Any] = {"n_clusters": K, "hidden": (8,), "init": "cold", "epochs": 1, "final_refits": 0}
    return parameters(name, **(usual | given))


def by_hand(fitted: ClusteringModule, batches: list[Batch]) -> dict[str, Tensor]:
    """The mean over the batches of the gradients that each gives alone, with the noise of its process."""
    data, found = fitted.data, []
    for rank, batch in enumerate(batches):
        noise = torch_stream(data.seed, "training/noise", 0, batch.step, rank)
        step = fitted.model.bound(data.features[batch.items], batch.weight, noise, N, batch.relational)
        fitted.zero_grad()
        (-(step.elbo + step.amortisation).sum() / N).backward()
        found.append(gradients(fitted))
    return {name: (found[0][name] + found[1][name]) / 2 for name in found[0]}


@pytest.mark.parametrize("pieces", [False, True])
@pytest.mark.parametrize("nets", ["mlp", "conv", "resnet", "mlp in bfloat16", "resnet in bfloat16"])
@pytest.mark.parametrize(
    ("name", "more"),
    [("bayes", {}), ("bayes", {"natural_gradient": "full", "amortisation": 2.0}), ("scdc", {"classifier_channels": 2})],
)
def test_gradients_are_the_mean_over_the_ranks(
    name: str, more: dict[str, Any], nets: str, pieces: bool, tmp_path: Path
) -> None:
    """Of networks and of natural parameters, whatever Lightning and torch's reducer do in between."""
    kind, _, precision = nets.partition(" in ")
    dtype, bound = (torch.float32, 1e-5) if precision else (torch.float64, 1e-10)
    recipe = params_of(name, architecture=kind, channels=(2, 3), precision=precision or "float32", **more)
    alone = module(name, recipe, dtype)
    batches = batches_of_tasks(alone.data)
    expected = by_hand(alone, batches)
    several = module(name, recipe, dtype)
    if pieces:
        several.model.in_pieces.budget, bound = 5000, max(bound, 0.02 if precision else 0)
    run(several, Steps(batches), tmp_path / "two", 2, 1, [KeepGradients(tmp_path / "two")])
    assert any(".eta." in key for key in expected) == (name == "bayes")
    for rank in range(2):
        found = torch.load(tmp_path / "two" / f"gradients{rank}.pt", weights_only=True)
        assert found.keys() == expected.keys()
        for key, value in expected.items():
            assert found[key].dtype == value.dtype == (torch.float64 if ".eta." in key else dtype)
            torch.testing.assert_close(found[key], value, rtol=0, atol=bound * value.abs().max().item())


#: What changes which parameters a step uses.
USES: dict[str, dict[str, Any]] = {
    "as it is": {}, "no skip": {"linear_skip": False}, "bernoulli": {"likelihood": "bernoulli"},
    "logistic": {"likelihood": "logistic"}, "pairs": {"sampler": "pairs"},
    "nodes": {"sampler": "nodes", "sample_size": 2},
}  # fmt: skip


@pytest.mark.parametrize("views", [False, True])
@pytest.mark.parametrize(
    ("name", "use"), [(name, use) for name in ("scdc", "bayes") for use in USES]
)
def test_every_parameter_has_a_gradient_in_every_step(name: str, use: str, views: bool) -> None:
    """Processes wait for the gradients of each other's parameters: one that a step leaves out would stop them all."""
    fitted = module(name, params_of(name, **USES[use]), torch.float32, views)
    params = fitted.model.params
    batches = TrainingBatches(fitted.data, params.sampler, params.sample_size, lambda: 0)
    for step, batch in zip(range(5), batches, strict=False):
        noise = torch_stream(0, "noise", step)
        fitted.zero_grad()
        found = fitted.model.bound(
            fitted.data.features[batch.items], batch.weight, noise, N, batch.relational, fitted.data.views
        )
        (-found.elbo.sum() / N).backward()
        gradients(fitted)


@pytest.mark.parametrize("natural_gradient", ["svi", "full"])
def test_ranks_stay_the_same_through_refits(tmp_path: Path, natural_gradient: str) -> None:
    params = params_of(
        "bayes", n_clusters=6, natural_gradient=natural_gradient, final_refits=1, init="communities", init_epochs=2,
        augmentation="affine", epochs=10,
    )  # fmt: skip
    fitted = module("bayes", params, torch.float32, views=True)
    batches = CrowdDataModule(fitted.data, params)
    first, second = run(fitted, batches, tmp_path / "ranks", 2, 10, [])
    # Three steps an epoch of each process: 24 annotated items, 36 others in batches of 6 over two processes.
    for key, value in first.items():
        torch.testing.assert_close(value, second[key], rtol=0, atol=0)
    counts = first["model.globals.eta.pi"] + 1
    assert counts.shape == (1, 6)
    assert counts.isfinite().all()
