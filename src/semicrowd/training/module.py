"""SCDC and BayesSCDC in Lightning: manual optimisation with gradient steps and natural-gradient steps (Algorithm 1).

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
from semicrowd.metrics import USED_SHARE
from semicrowd.models.generative import GenerativeModel
from semicrowd.models.training_data import TrainingData
from semicrowd.random import torch_stream
from semicrowd.result import Verdict
from semicrowd.starts.start import start
from semicrowd.training.data import Batch
from semicrowd.training.distributed import average, is_first, several, share

#: Where grey values are probabilities of a white pixel, the authors' code divides the 255 levels by 256.
GREY_LEVELS = 255 / 256
#: Attributes of a verdict that are tables.
_FRAMES = ("table", "posterior")


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
    # A restart that takes no step has no norm: of NaN the factor would be NaN, and so would 0 times it.
    factor = (most / (norm.nan_to_num(0, 0, 0) + 1e-6)).clamp(max=1)
    for gradient in gradients:
        gradient.mul_(factor.to(gradient.dtype).view(-1, *[1] * (gradient.dim() - 1)))


@torch.no_grad()
def finite_restarts(model: nn.Module) -> Bool[Tensor, "R"]:
    """Whether all parameters of a restart are finite numbers."""
    return torch.stack([parameter.isfinite().flatten(1).all(1) for parameter in model.parameters()]).all(0)


class ClusteringModule(pl.LightningModule):
    """A model and its training data; the parameters of the fit are ``model.params``.

    Parameters
    ----------
    model : to be fitted
    data : the items and answers, on the CPU
    begin : True: initialise the model before the first epoch (:mod:`semicrowd.starts.start`); False: do not, because
        the fit continues from a checkpoint

    Attributes
    ----------
    history : a row for each epoch: "epoch", from 1, and the metrics
    verdicts : of each restart whose start has chosen among candidates
    progress : is called with a line about the step of the start
    """

    def __init__(self, model: GenerativeModel, data: TrainingData, begin: bool = True) -> None:
        super().__init__()
        self.automatic_optimization = False
        self.model, self.data, self.begin = model, data, begin
        # Before several processes agree on whose gradients they exchange.
        model.hold_classifier(model.params.get("hold", False))
        self.history: list[dict[str, float]] = []
        self.verdicts: list[Verdict] = []
        self.progress: Callable[[str], None] = lambda _: None
        self._bound = torch.zeros(model.num_restarts)
        self._diagnostics: dict[str, Tensor] = {}
        self._largest = torch.zeros(model.num_restarts)
        self._steps = 0

    def configure_optimizers(self) -> list[torch.optim.Optimizer]:
        """The optimizers of the model: of the networks, and the natural gradient of BayesSCDC."""
        return self.model.optimizers(self.data.num_items)

    def on_save_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        """Save curves and verdicts as plain values, because a resumed fit does not repeat what they are of."""
        checkpoint["history"] = self.history
        checkpoint["verdicts"] = [
            {name: value.to_dict("list") if name in _FRAMES else value for name, value in vars(one).items()}
            for one in self.verdicts
        ]

    def on_load_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        """Restore curves and verdicts."""
        self.history = list(checkpoint["history"])
        self.verdicts = [
            Verdict(**{name: pd.DataFrame(value) if name in _FRAMES else value for name, value in one.items()})
            for one in checkpoint["verdicts"]
        ]

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
                start(self.model, self.data, self.progress, self.verdicts.append)
            share(self.model)

    def on_train_epoch_start(self) -> None:
        """Set step sizes by a cosine schedule from the initial value to ``final_rate`` times it.

        They depend on the epoch and on ``max_epochs`` only, so that a resumed fit repeats them.
        """
        final = self.model.params.final_rate
        progress = self.current_epoch / max((self.trainer.max_epochs or 1) - 1, 1)
        factor = final + (1 - final) * 0.5 * (1 + math.cos(math.pi * min(progress, 1)))
        for optimizer in self.trainer.optimizers:
            for group in optimizer.param_groups:
                group["lr"] = group["base_lr"] * factor

    def training_step(self, batch: Batch, batch_idx: int) -> None:  # noqa: ARG002
        """One step of Algorithm 1 on a minibatch; several processes use the mean of their gradients.

        The natural-gradient step is not clipped: its result is a weighted mean of the current and the target q(Θ), or
        with momentum of the last targets, so that the step size already limits its length.
        """
        optimizers: Any = self.optimizers()
        nets, *natural = optimizers if isinstance(optimizers, list) else [optimizers]
        for optimizer in (nets, *natural):
            optimizer.zero_grad()
        noise = torch_stream(
            self.data.seed, "training/noise", self.current_epoch, batch.step, self.global_rank, device=self.device
        )
        # Local inference by messages (eqs. 12 and 14), then the bound with reparameterised draws (eqs. 19 to 25).
        features, views = self.data.features[batch.items], self.data.views
        if self.model.params.binary_draws:
            features = torch.bernoulli(features * GREY_LEVELS, generator=noise)
        try:
            step = self.model.bound(features, batch.weight, noise, self.data.num_items, batch.relational, views)
        except torch.linalg.LinAlgError as error:  # type: ignore[attr-defined]  # a covariance is not positive definite
            raise self._diverged() from error
        # Gradients of φ and γ; of η_Θ the first term of eq. 17, since ∇A passes the gradient of E t(Θ) through.
        # Not the loss's backward(), which would not average gradients over processes in manual optimization.
        self.manual_backward(-((step.elbo + step.amortisation) / self.data.num_items).sum())
        # The second term of eq. 17. The leaves are no parameters, whose gradients alone DDP averages.
        corrections = {eta: leaf.grad for eta, leaf in step.leaves.items() if leaf.grad is not None}
        average(corrections.values())
        norm = self._leave_out_diverged(nets, natural, corrections)
        if self.model.params.clip is not None:
            clip_by_restart(_gradients(nets), norm, self.model.params.clip)
        nets.step()
        for optimizer in natural:
            optimizer.step(corrections=corrections)
        self._take(step.elbo, {**step.diagnostics, "gradient/norm": norm})

    def _leave_out_diverged(
        self, nets: Any, natural: Sequence[Any], corrections: dict[nn.Parameter, Tensor]
    ) -> Float[Tensor, "R"]:
        """Set the gradients of restarts that have one which is not finite to 0; returns the norms of the networks'.

        The momentum of earlier steps still changes the networks of such a restart.
        """
        of_networks = _gradients(nets)
        of_globals = [gradient for optimizer in natural for gradient in (*_gradients(optimizer), *corrections.values())]
        norm = norm_by_restart(of_networks)
        finite = norm.isfinite()
        if of_globals:
            finite = finite & norm_by_restart(of_globals).isfinite()
        if not finite.any():
            raise self._diverged()
        if not finite.all():
            for gradient in (*of_networks, *of_globals):
                gradient[~finite] = 0
        return norm

    def _diverged(self) -> UserError:
        return UserError(
            f"training diverged in epoch {self.current_epoch + 1}: every restart has values that are not finite; the "
            "checkpoint of the previous epoch, if there is one, is kept; try a lower learning_rate, or clip=1"
        )

    def _take(self, elbo: Tensor, diagnostics: dict[str, Tensor]) -> None:
        norm = diagnostics["gradient/norm"]
        self._largest = torch.maximum(self._largest.to(norm), norm)
        self._bound = self._bound.to(elbo.device) + elbo.detach()
        for name, value in diagnostics.items():
            self._diagnostics[name] = self._diagnostics.get(name, torch.zeros_like(value)) + value.detach()
        self._steps += 1

    def on_train_epoch_end(self) -> None:
        """Refit the annotators after the last epoch, and add a row to ``history``, of the restart with the best ELBO.

        The metrics are the mean ELBO, mean diagnostics, the largest gradient norm, the effective and the used number of
        clusters, and the annotators' mean sensitivity and specificity.
        """
        last = self.current_epoch + 1 == self.trainer.max_epochs or self.trainer.should_stop  # by a callback
        if last and self.data.annotations is not None:
            if is_first():  # one process changes the model for all
                for _ in range(self.model.params.final_refits):
                    self.model.refit_annotators(self.data)
            share(self.model)
        steps = max(self._steps, 1)
        bound = self._bound / steps
        means = {name: total / steps for name, total in self._diagnostics.items()}
        average([bound, *means.values()])
        finite = bound.isfinite() & finite_restarts(self.model)
        if not finite.any():
            raise self._diverged()
        best = int(torch.where(finite, bound, -torch.inf).argmax())
        weights = self.model.cluster_weights()[best]
        metrics = {name: float(mean[best]) for name, mean in means.items()} | {
            "elbo/epoch": float(bound[best].float()),
            "gradient/norm_max": float(self._largest[best]),
            "proportions/effective": float(torch.special.entr(weights).sum().exp().float()),
            "proportions/used": float((weights >= USED_SHARE).sum()),
        }
        if (workers := self.model.workers()) is not None:
            for name, mean in zip(("sensitivity", "specificity"), workers.mean(), strict=True):
                metrics[f"workers/{name}_mean"] = float(np.float32(mean[best].mean()))
        self.history.append({"epoch": self.current_epoch + 1, **dict(sorted(metrics.items()))})
        # The same in all processes. Lightning takes "step" as the place of the others on a logger's axis.
        self.log_dict({**metrics, "step": float(self.current_epoch + 1)}, sync_dist=several())
        self._bound, self._steps, self._diagnostics = torch.zeros_like(bound), 0, {}
        self._largest = torch.zeros_like(self._largest)


def _gradients(optimizer: torch.optim.Optimizer) -> list[Tensor]:
    """The gradients of an optimizer's parameters, without those that are None."""
    every = (parameter.grad for group in optimizer.param_groups for parameter in group["params"])
    return [gradient for gradient in every if gradient is not None]
