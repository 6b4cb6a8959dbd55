"""SCDC and BayesSCDC under Lightning: steps on networks and natural gradients by manual optimization."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytorch_lightning as pl
import torch
from torch import Tensor

from semicrowd.errors import UserError
from semicrowd.fitting.batches import Batch, TrainingBatches
from semicrowd.fitting.gradients import clip_by_restart, finite_restarts, leave_out, norm_by_restart
from semicrowd.fitting.ranks import average, is_first, share
from semicrowd.metrics import USED_SHARE
from semicrowd.models.generative import GenerativeModel
from semicrowd.models.training_data import TrainingData
from semicrowd.random import torch_stream
from semicrowd.settings.model import GenerativeSettings
from semicrowd.settings.recipe import Recipe
from semicrowd.starts.selection import Verdict
from semicrowd.starts.start import start


class ClusteringModule(pl.LightningModule):
    """A model, its training data and its recipe; what happens between epochs is in the callbacks.

    Parameters
    ----------
    model : to be fitted
    data : the items and answers, on the CPU
    recipe : all settings of the fit
    begin : whether the fit begins with its start (it goes on from a checkpoint otherwise)
    """

    def __init__(self, model: GenerativeModel, data: TrainingData, recipe: Recipe, begin: bool = True) -> None:
        super().__init__()
        self.automatic_optimization = False
        self.model, self.data, self.recipe, self.begin = model, data, recipe, begin
        self.metrics: dict[str, float] = {}  # of the last epoch
        self.verdicts: list[Verdict] = []  # of each restart whose start has chosen among candidates
        self.progress: Callable[[str], None] = lambda _: None
        self._bound = torch.zeros(model.num_restarts)
        self._diagnostics: dict[str, Tensor] = {}
        self._largest = torch.zeros(model.num_restarts)
        self._steps = 0

    @property
    def settings(self) -> GenerativeSettings:
        """Of the model."""
        return self.model.settings

    def train_dataloader(self) -> TrainingBatches:
        """This process's batches of an epoch; the rank is known during a fit only."""
        world_size = self._trainer.world_size if self._trainer is not None else 1
        return TrainingBatches(self.data, self.settings, lambda: self.current_epoch, self.global_rank, world_size)

    def configure_optimizers(self) -> list[torch.optim.Optimizer]:
        """The model's."""
        return self.model.optimizers(self.data.num_items, hold=self.recipe.start.hold)

    def on_save_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        """The verdicts of the start, as plain values: a resumed fit has no start."""
        checkpoint["verdicts"] = [vars(one) | {"table": one.table.to_dict("list")} for one in self.verdicts]

    def on_load_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        """Restore the verdicts."""
        known = checkpoint.get("verdicts", [])
        self.verdicts = [Verdict(**(one | {"table": pd.DataFrame(one["table"])})) for one in known]

    # ---------------------------------------------------------------- hooks of Lightning, in the order of a fit

    def on_fit_start(self) -> None:
        """Data on the device: they are indexed, not loaded. The start, by the first process for all."""
        self.data = self.data.to(self.device)
        for optimizer in self.trainer.optimizers:
            for group in optimizer.param_groups:
                group.setdefault("base_lr", group["lr"])
        if self.begin:
            if is_first():
                start(self.model, self.data, self.recipe.start, self.progress, self.verdicts.append)
            share(self.model)

    def on_train_epoch_start(self) -> None:
        """Step sizes fall along a cosine to ``final_rate`` of their first value; a function of the epoch alone."""
        final = self.settings.final_rate
        progress = self.current_epoch / max((self.trainer.max_epochs or 1) - 1, 1)
        factor = final + (1 - final) * 0.5 * (1 + math.cos(math.pi * min(progress, 1)))
        for optimizer in self.trainer.optimizers:
            for group in optimizer.param_groups:
                group["lr"] = group["base_lr"] * factor

    def transfer_batch_to_device(self, batch: Batch, device: torch.device, dataloader_idx: int) -> Batch:  # noqa: ARG002
        """Indices and weights on the model's device."""
        return batch.to(device)

    def training_step(self, batch: Batch, batch_idx: int) -> None:  # noqa: ARG002
        """One step of Algorithm 1 on a minibatch; several processes step by the mean of their gradients.

        The natural-gradient step is not clipped: it is a mean of where q(Θ) is and where it should be, so its length is
        bounded by the step size; scaling it down would be another step size. A restart whose gradient is not finite
        takes no step.

        Raises
        ------
        UserError
            Where that is so of every restart.
        """
        optimizers: Any = self.optimizers()
        nets, *natural = optimizers if isinstance(optimizers, list) else [optimizers]
        for optimizer in (nets, *natural):
            optimizer.zero_grad()
        noise = torch_stream(
            self.data.seed, "training/noise", self.current_epoch, batch.step, self.global_rank, device=self.device
        )
        features, views = self.data.features[batch.items], self.data.views
        try:
            step = self.model.bound(features, batch.weight, noise, self.data.num_items, batch.relational, views)
        except torch.linalg.LinAlgError as error:  # type: ignore[attr-defined]  # a covariance that is none any more
            raise self._diverged() from error
        # Not the loss's own backward(): under manual optimization that would leave each process its own gradients.
        self.manual_backward(-((step.elbo + step.amortisation) / self.data.num_items).sum())
        # Data-parallel training averages the gradients of parameters; those of the leaves are no parameters'.
        corrections = {eta: leaf.grad for eta, leaf in step.leaves.items() if leaf.grad is not None}
        average(corrections.values())
        of_networks = _gradients(nets)
        of_globals = [gradient for optimizer in natural for gradient in (*_gradients(optimizer), *corrections.values())]
        norm = norm_by_restart(of_networks)
        finite = norm.isfinite()
        if of_globals:
            finite = finite & norm_by_restart(of_globals).isfinite()
        if not finite.all():
            if not finite.any():
                raise self._diverged()
            leave_out([*of_networks, *of_globals], ~finite)
        if self.settings.clip is not None:
            clip_by_restart(of_networks, norm, self.settings.clip)
        self._largest = torch.maximum(self._largest.to(norm), norm)
        self._take(step.elbo, {**step.diagnostics, "gradient/norm": norm})
        nets.step()
        for optimizer in natural:
            optimizer.step(corrections=corrections)

    def _diverged(self) -> UserError:
        return UserError(
            f"training diverged in epoch {self.current_epoch + 1}: numbers that are not finite in every restart; the "
            "checkpoint of the epoch before it is kept; try a lower model.learning_rate, or model.clip=1"
        )

    def _take(self, elbo: Tensor, diagnostics: dict[str, Tensor]) -> None:
        """Add a step's estimates to the epoch's means."""
        self._bound = self._bound.to(elbo.device) + elbo.detach()
        for name, value in diagnostics.items():
            self._diagnostics[name] = self._diagnostics.get(name, torch.zeros_like(value)) + value.detach()
        self._steps += 1

    def on_train_epoch_end(self) -> None:
        """The mean ELBO, and the best restart's clusters and annotators: ``metrics``.

        Raises
        ------
        UserError
            Where training has diverged in every restart; the checkpoint is that of the last epoch before.
        """
        steps = max(self._steps, 1)
        bound = self._bound / steps
        means = {name: total / steps for name, total in self._diagnostics.items()}
        average([bound, *means.values()])
        finite = bound.isfinite() & finite_restarts(self.model)
        if not finite.any():
            raise self._diverged()
        best = int(torch.where(finite, bound, -torch.inf).argmax())
        weights = self.model.cluster_weights()[best]
        self.metrics = {name: float(mean[best]) for name, mean in means.items()} | {
            "elbo/epoch": float(bound[best].float()),
            "gradient/norm_max": float(self._largest[best]),
            "proportions/effective": float(torch.special.entr(weights).sum().exp().float()),
            "proportions/used": float((weights >= USED_SHARE).sum()),
        }
        workers = self.model.workers()
        if workers is not None:
            for name, mean in zip(("sensitivity", "specificity"), workers.mean(), strict=True):
                self.metrics[f"workers/{name}_mean"] = float(np.float32(mean[best].mean()))
        self._bound, self._steps, self._diagnostics = torch.zeros_like(bound), 0, {}
        self._largest = torch.zeros_like(self._largest)


def _gradients(optimizer: torch.optim.Optimizer) -> list[Tensor]:
    """Of all parameters of an optimizer that have one."""
    every = (parameter.grad for group in optimizer.param_groups for parameter in group["params"])
    return [gradient for gradient in every if gradient is not None]
