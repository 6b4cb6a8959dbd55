"""SCDC and BayesSCDC in Lightning: manual optimization with gradient steps and natural-gradient steps.

Restarts are independent fits, on a leading axis, so that norms, clipping and checks of gradients are by restart.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd
import pytorch_lightning as pl
import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from semicrowd.errors import UserError
from semicrowd.fitting.batches import Batch, TrainingBatches
from semicrowd.fitting.ranks import average, is_first, share
from semicrowd.metrics import USED_SHARE
from semicrowd.models.generative import GenerativeModel
from semicrowd.models.training_data import TrainingData
from semicrowd.random import torch_stream
from semicrowd.settings.model import GenerativeSettings
from semicrowd.settings.parameters import Recipe
from semicrowd.starts.selection import Verdict
from semicrowd.starts.start import start


@torch.no_grad()
def norm_by_restart(gradients: Sequence[Tensor]) -> Float[Tensor, "R"]:
    """Euclidean norm of each restart's gradients, [R, ...] each; not finite if one of them is not."""
    norms = [torch.linalg.vector_norm(one, dim=tuple(range(1, one.dim()))).double() for one in gradients]
    return torch.stack(norms).square().sum(0).sqrt()


@torch.no_grad()
def clip_by_restart(gradients: Sequence[Tensor], norm: Float[Tensor, "R"], most: float) -> None:
    """Scale each restart's gradients down to the norm ``most`` where theirs is larger.

    For each restart this is what ``torch.nn.utils.clip_grad_norm_`` does. A norm over all restarts would make them
    dependent, and a call of that function for each restart takes ten times as long.
    """
    factor = (most / (norm + 1e-6)).clamp(max=1)
    for gradient in gradients:
        gradient.mul_(factor.to(gradient.dtype).view(-1, *[1] * (gradient.dim() - 1)))


@torch.no_grad()
def leave_out(gradients: Sequence[Tensor], restarts: Bool[Tensor, "R"]) -> None:
    """Set the gradients of the marked restarts to 0."""
    for gradient in gradients:
        gradient[restarts] = 0


@torch.no_grad()
def finite_restarts(model: nn.Module) -> Bool[Tensor, "R"]:
    """Whether all parameters of a restart are finite numbers."""
    return torch.stack([parameter.isfinite().flatten(1).all(1) for parameter in model.parameters()]).all(0)


class ClusteringModule(pl.LightningModule):
    """A model, its training data and its recipe. Callbacks change the model between epochs.

    Parameters
    ----------
    model : to be fitted
    data : the items and answers, on the CPU
    recipe : all settings of the fit
    begin : True: initialise the model before the first epoch (:mod:`semicrowd.starts.start`); False: do not, because
        the fit continues from a checkpoint
    """

    def __init__(self, model: GenerativeModel, data: TrainingData, recipe: Recipe, begin: bool = True) -> None:
        super().__init__()
        self.automatic_optimization = False
        self.model, self.data, self.recipe, self.begin = model, data, recipe, begin
        # Before several processes agree on whose gradients they exchange.
        model.hold_classifier(recipe.start.hold)
        self.metrics: dict[str, float] = {}  # of the last epoch
        self.verdicts: list[Verdict] = []  # of each restart whose start has chosen among candidates
        self.progress: Callable[[str], None] = lambda _: None
        self._bound = torch.zeros(model.num_restarts)
        self._diagnostics: dict[str, Tensor] = {}
        self._largest = torch.zeros(model.num_restarts)
        self._steps = 0

    @property
    def settings(self) -> GenerativeSettings:
        """Settings of the model."""
        return self.model.settings

    def train_dataloader(self) -> TrainingBatches:
        """The batches of this process, whose rank is only known during a fit."""
        world_size = self._trainer.world_size if self._trainer is not None else 1
        return TrainingBatches(self.data, self.settings, lambda: self.current_epoch, self.global_rank, world_size)

    def configure_optimizers(self) -> list[torch.optim.Optimizer]:
        """The optimizers of the model."""
        return self.model.optimizers(self.data.num_items)

    def on_save_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        """Save the verdicts as plain values, because a resumed fit does not repeat the start."""
        checkpoint["verdicts"] = [vars(one) | {"table": one.table.to_dict("list")} for one in self.verdicts]

    def on_load_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        """Restore the verdicts."""
        known = checkpoint.get("verdicts", [])
        self.verdicts = [Verdict(**(one | {"table": pd.DataFrame(one["table"])})) for one in known]

    # ---------------------------------------------------------------- hooks of Lightning, in the order of a fit

    def on_fit_start(self) -> None:
        """Move all data to the device and, if ``begin``, initialise the model.

        The first process initialises it and copies the parameters to the other processes.
        """
        self.data = self.data.to(self.device)
        for optimizer in self.trainer.optimizers:
            for group in optimizer.param_groups:
                group.setdefault("base_lr", group["lr"])
        if self.begin:
            if is_first():
                start(self.model, self.data, self.recipe.start, self.progress, self.verdicts.append)
            share(self.model)

    def on_train_epoch_start(self) -> None:
        """Set step sizes by a cosine schedule from the initial value to ``final_rate`` times it.

        They depend on the epoch and on ``max_epochs`` only, so that a resumed fit repeats them.
        """
        final = self.settings.final_rate
        progress = self.current_epoch / max((self.trainer.max_epochs or 1) - 1, 1)
        factor = final + (1 - final) * 0.5 * (1 + math.cos(math.pi * min(progress, 1)))
        for optimizer in self.trainer.optimizers:
            for group in optimizer.param_groups:
                group["lr"] = group["base_lr"] * factor

    def training_step(self, batch: Batch, batch_idx: int) -> None:  # noqa: ARG002
        """One step of Algorithm 1 on a minibatch; several processes use the mean of their gradients.

        The natural-gradient step is not clipped. Its result is a weighted mean of the current and the target q(Θ), so
        the step size already limits its length. If a restart's gradient is not finite, its gradient is set to 0; the
        momentum of earlier steps still changes its networks.
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
        except torch.linalg.LinAlgError as error:  # type: ignore[attr-defined]  # a covariance is not positive definite
            raise self._diverged() from error
        # Not the loss's backward(), which would not average gradients over processes in manual optimization.
        self.manual_backward(-((step.elbo + step.amortisation) / self.data.num_items).sum())
        # Data-parallel training only averages the gradients of parameters, and the leaves are not parameters.
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
            # A restart that takes no step has no norm: of NaN the factor would be NaN, and so would 0 times it.
            clip_by_restart(of_networks, torch.where(finite, norm, 0.0), self.settings.clip)
        self._largest = torch.maximum(self._largest.to(norm), norm)
        self._take(step.elbo, {**step.diagnostics, "gradient/norm": norm})
        nets.step()
        for optimizer in natural:
            optimizer.step(corrections=corrections)

    def _diverged(self) -> UserError:
        return UserError(
            f"training diverged in epoch {self.current_epoch + 1}: every restart has values that are not finite; the "
            "checkpoint of the previous epoch, if there is one, is kept; try a lower model.learning_rate, or "
            "model.clip=1"
        )

    def _take(self, elbo: Tensor, diagnostics: dict[str, Tensor]) -> None:
        self._bound = self._bound.to(elbo.device) + elbo.detach()
        for name, value in diagnostics.items():
            self._diagnostics[name] = self._diagnostics.get(name, torch.zeros_like(value)) + value.detach()
        self._steps += 1

    def on_train_epoch_end(self) -> None:
        """Set ``metrics`` of the restart with the highest mean ELBO: ELBO, mean diagnostics and largest gradient norm.

        Also the effective number and the used number of clusters, and the annotators' mean sensitivity and specificity.
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
    """The gradients of an optimizer's parameters, without those that are None."""
    every = (parameter.grad for group in optimizer.param_groups for parameter in group["params"])
    return [gradient for gradient in every if gradient is not None]
