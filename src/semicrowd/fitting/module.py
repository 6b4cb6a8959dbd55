"""What SCDC and BayesSCDC share: data as tensors, batches, evaluation in chunks, what is logged of an epoch."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytorch_lightning as pl
import torch
from torch import Tensor, nn

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.crowd.samplers import build_sampler
from semicrowd.metrics import USED_SHARE
from semicrowd.starts.answers import AnswerStart
from semicrowd.fitting.batches import Batch, TrainingBatches
from semicrowd.crowd.workers import WorkerPosterior
from semicrowd.models.posterior import Posterior
from semicrowd.models.views import build_views
from semicrowd.nets import Decoder
from semicrowd.random import torch_stream

#: Restarts × items evaluated at once: bounds the memory of an evaluation.
CHUNK = 8192


class ClusteringModule(pl.LightningModule, ABC):
    """A generative clustering model of features and pair answers, with R restarts on a leading tensor axis.

    Parameters
    ----------
    settings : the composed ``model`` configuration
    features : [N, D] float32
    annotations : answers on the features' items, or None
    seed : seed of the streams ``init``, ``order``, ``noise`` and ``evaluation``
    restarts : R
    batch_size : unannotated items a step
    image_shape : (height, width) where a row of ``features`` is an image
    """

    decoder: Decoder

    def __init__(
        self,
        settings: Any,
        features: Tensor,
        annotations: PairAnnotations | None,
        seed: int,
        restarts: int,
        batch_size: int,
        image_shape: tuple[int, ...] | None = None,
    ) -> None:
        super().__init__()
        self.automatic_optimization = False
        self.settings = settings
        self.features = features
        self.annotations = annotations
        self.seed = seed
        self.num_restarts = restarts
        self.num_clusters: int = settings.K
        self.batch_size = batch_size
        self.views = build_views(settings.views, image_shape)
        self._epoch_bound = torch.zeros(restarts)
        self._epoch_steps = 0

    @property
    def num_items(self) -> int:
        """N."""
        return len(self.features)

    @property
    def init_generators(self) -> list[torch.Generator]:
        """One generator for each restart's initial values."""
        return [torch_stream(self.seed, "init", r) for r in range(self.num_restarts)]

    def training_batches(self) -> TrainingBatches:
        """The batches of an epoch; pass it to ``trainer.fit`` as the data loader."""
        relational = self.settings.relational
        sampler = None
        steps = 1
        if self.annotations is not None:
            # The paper's |S| = N_a |B| / N feeds answers and items proportionally (App. B, pinwheel).
            pairs = relational.pairs or round(self.annotations.num_pairs * self.batch_size / self.num_items)
            sampler = build_sampler(
                relational.sampler, self.annotations, pairs, relational.tasks, relational.nodes
            )
            steps = max(self.num_items // self.batch_size, 1)
        return TrainingBatches(
            self.num_items,
            self.batch_size,
            sampler,
            steps_without_items=steps,
            seed=self.seed,
            epoch=lambda: self.current_epoch,
            rank=self.global_rank,
            world_size=self._trainer.world_size if self._trainer is not None else 1,
        )

    def on_train_epoch_start(self) -> None:
        """Step sizes fall along a cosine to ``schedule.final`` of their first value; a function of the epoch alone."""
        final = self.settings.schedule.final
        progress = self.current_epoch / max((self.trainer.max_epochs or 1) - 1, 1)
        factor = final + (1 - final) * 0.5 * (1 + math.cos(math.pi * min(progress, 1)))
        for optimizer in self.trainer.optimizers:
            for group in optimizer.param_groups:
                group["lr"] = group["base_lr"] * factor

    def on_fit_start(self) -> None:
        """Features live on the device of the model: they are indexed, not loaded."""
        self.features = self.features.to(self.device)
        for optimizer in self.trainer.optimizers:
            for group in optimizer.param_groups:
                group.setdefault("base_lr", group["lr"])

    def batch_to_device(self, batch: Batch) -> Batch:
        """Indices and weights on the model's device."""
        relational = None if batch.relational is None else batch.relational.to(self.device)
        return Batch(batch.items.to(self.device), batch.weight.to(self.device), relational, batch.step)

    def transfer_batch_to_device(self, batch: Batch, device: torch.device, dataloader_idx: int) -> Batch:  # noqa: ARG002
        """Hook of Lightning: see :meth:`batch_to_device`."""
        return self.batch_to_device(batch)

    def noise(self, step: int) -> torch.Generator:
        """Generator of a training step's reparameterisation noise."""
        return torch_stream(self.seed, "noise", self.current_epoch, step, self.global_rank, device=self.device)

    def record_bound(self, bound: Tensor) -> None:
        """Add a step's estimate of the ELBO, [R], to the epoch's mean."""
        self._epoch_bound = self._epoch_bound.to(bound.device) + bound.detach()
        self._epoch_steps += 1

    def on_train_epoch_end(self) -> None:
        """A new partition every ``views.anew`` epochs; the mean ELBO and its best restart's clusters to the log."""
        from semicrowd.starts.warm import start_anew  # it works on this class

        done, every = self.current_epoch + 1, self.settings.views.anew
        if self.views is not None and every and done % every == 0 and done < (self.trainer.max_epochs or 0):
            start_anew(self)
        bound = self._epoch_bound / max(self._epoch_steps, 1)
        best = int(bound.argmax())
        weights = self.cluster_weights()[best]
        self.log("elbo/epoch", bound[best].float(), sync_dist=True)
        self.log("clusters/effective", torch.special.entr(weights).sum().exp().float())
        self.log("clusters/used", (weights >= USED_SHARE).sum().float())
        workers = self.workers()
        if workers is not None:
            for name, mean in zip(("sensitivity", "specificity"), workers.mean(), strict=True):
                self.log(f"workers/{name}_mean", float(mean[best].mean()))
        self._epoch_bound, self._epoch_steps = torch.zeros_like(bound), 0

    def chunks(self, features: Tensor) -> Iterator[Tensor]:
        """Features in pieces small enough for all restarts at once."""
        for piece in features.split(max(CHUNK // self.num_restarts, 1)):
            yield piece.to(self.device)

    def warm_up(self, progress: Callable[[str], None] = lambda _: None) -> None:
        """What happens once before training: the warm start of ``model.start=warm``, nothing for ``cold``."""
        from semicrowd.starts.warm import warm_start  # it works on this class

        if self.settings.start == "warm":
            warm_start(self, progress)

    @abstractmethod
    def parameters_of_vae(self) -> list[nn.Parameter]:
        """Parameters that the warm start's VAE trains."""

    @abstractmethod
    def vae_posterior(self, features: Tensor) -> Tensor:
        """q(x) without clusters, under the prior N(0, ``warm.latent_sd``² I): natural parameters [R, B, d + d²]."""

    @abstractmethod
    def start_from_partition(self, t_x: Tensor, clusters: Tensor, progress: Callable[[str], None]) -> None:
        """Set the mixture from E t(x) [R, N, d + d²] and hard assignments [R, N]."""

    @abstractmethod
    def start_from_answers(self, t_x: Tensor, start: AnswerStart, progress: Callable[[str], None]) -> None:
        """Set the mixture from E t(x) [R, N, d + d²] and the clusters of ``start``, and the annotators from it."""

    @abstractmethod
    def reverse_annotators(self, restart: int, reverse: np.ndarray) -> None:
        """Believe the opposite of the annotators marked in ``reverse``, [M] bool."""

    @abstractmethod
    def worker_log_probabilities(self) -> tuple[Tensor, Tensor]:
        """E[ln α, ln(1 − α)] and E[ln β, ln(1 − β)] of the annotators, [R, M, 2] each."""

    @abstractmethod
    def posterior(self, features: Tensor) -> Posterior:
        """Posterior of items [N, D] from their features alone; deterministic."""

    @abstractmethod
    def annotated_posterior(self, features: Tensor, annotations: PairAnnotations) -> Posterior:
        """Posterior of ``annotations.annotated`` (rows of ``features``) with their answers; deterministic."""

    @abstractmethod
    def elbo(self) -> dict[str, Tensor]:
        """ELBO of the whole training set in nats, every term by name, [R] each; "total" is their signed sum."""

    @abstractmethod
    def workers(self) -> WorkerPosterior | None:
        """Posterior of the annotators' quality, None without annotations."""

    @abstractmethod
    def cluster_weights(self) -> Tensor:
        """Expected mixing proportions, [R, K]."""

    @abstractmethod
    def sample(self, num_per_cluster: int, generator: torch.Generator) -> Tensor:
        """Means E[o | x] of x drawn from every cluster, [R, K, S, D]."""
