"""Minibatches of a fit, which depend on data, seed, epoch and process alone, as resuming requires."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
import pytorch_lightning as pl
import torch
from jaxtyping import Float, Int
from sklearn.utils import Bunch
from torch import Tensor

from semicrowd.crowd.batch import RelationalBatch
from semicrowd.crowd.samplers import RelationalSampler, build_sampler
from semicrowd.models.training_data import TrainingData
from semicrowd.random import stream


@dataclass(frozen=True)
class Batch:
    """One step's data: annotated items with their answers first, then unannotated items.

    Attributes
    ----------
    items : item ids
    weight : factor of each item's local term in the estimate of the whole data set's sum
    relational : answers over the first ``relational.num_nodes`` items, or None
    step : index of the step within the epoch
    """

    items: Int[Tensor, "B"]
    weight: Float[Tensor, "B"]
    relational: RelationalBatch | None
    step: int

    def to(self, device: torch.device | str) -> "Batch":
        """The same on another device."""
        relational = None if self.relational is None else self.relational.to(device)
        return Batch(self.items.to(device), self.weight.to(device), relational, self.step)


class TrainingBatches:
    """The batches of an epoch: each has unannotated items, without replacement, and a sample of the answers.

    Unannotated items have the weight N_u / |B|, and estimate the sum over all N_u of them. The items of the sampled
    answers, with the sampler's weights, estimate the sum over the annotated items (docs/DEVIATIONS.md, row 7). The
    total estimate is unbiased. An epoch has as many batches as pass once over the unannotated items, or over the
    annotated ones if these are more; the others are passed over again. Each of several processes has its own part of
    the unannotated items, and samples its own answers.

    Parameters
    ----------
    data : the items and answers
    sampler, sample_size : how the answers are sampled; see :class:`semicrowd.BayesSCDC`
    epoch : function that returns the current epoch when an iteration over the batches starts
    rank, world_size : index of this process, and number of processes
    weights : ``unbiased``; or ``released``, as in the authors' code: a batch's other items are drawn from all, and the
        annotated ones, however few there are in all, have half of the data term, and the answers half of their weight;
        the counts of α and β are divided by N / |B|, which should multiply them, so that they are |B|² / N of what
        they should be
    """

    def __init__(
        self,
        data: TrainingData,
        sampler: str,
        sample_size: int | None,
        epoch: Callable[[], int],
        rank: int = 0,
        world_size: int = 1,
        weights: str = "unbiased",
    ) -> None:
        annotated = np.zeros(data.num_items, bool)
        self.sampler: RelationalSampler | None = None
        if data.annotations is not None:
            annotated[data.annotations.annotated] = True
            # Default of sampler=pairs: P |B| / N of the P answers, the same share of answers as of items (App. B).
            in_proportion = round(data.annotations.num_pairs * data.batch_size / data.num_items)
            self.sampler = build_sampler(sampler, data.annotations, sample_size, in_proportion)
        self.weights = weights
        self.others = np.flatnonzero(~annotated) if weights == "unbiased" else np.arange(data.num_items)
        self.batch_size, self.num_items = data.batch_size, data.num_items
        self.steps = max(int(annotated.sum()), len(self.others)) // (data.batch_size * world_size)
        self.seed, self.epoch, self.rank, self.world_size = data.seed, epoch, rank, world_size

    def __len__(self) -> int:
        return max(self.steps, 1)

    def __iter__(self) -> Iterator[Batch]:
        epoch = self.epoch()
        order = stream(self.seed, "training/order", epoch).permutation(self.others)[self.rank :: self.world_size]
        size = min(self.batch_size, len(order))
        order = np.resize(order, len(self) * size)  # passes over them again where there are few
        rng = stream(self.seed, "training/answers", epoch, 1 + self.rank)
        for step in range(len(self)):
            items = torch.from_numpy(order[step * size : (step + 1) * size])
            weight = torch.full((len(items),), len(self.others) / max(len(items), 1))
            relational = None
            if self.sampler is not None:
                relational = self.sampler.sample(rng)
                if self.weights == "released":
                    each = torch.full_like(relational.item_weight, 0.5 * self.num_items / len(relational.items))
                    counts = 2 * self.batch_size**2 / self.num_items  # half is in the weight of the pairs
                    relational = replace(
                        relational, item_weight=each, pair_weight=0.5 * relational.pair_weight, count_weight=counts
                    )
                    weight = 0.5 * weight
                items = torch.cat([relational.items, items])
                weight = torch.cat([relational.item_weight, weight])
            yield Batch(items, weight, relational, step)


class CrowdDataModule(pl.LightningDataModule):
    """The batches of a fit; each of several processes has its own.

    Parameters
    ----------
    data : the items and answers, on the CPU
    params : of the fit; how the answers of a step are sampled
    """

    def __init__(self, data: TrainingData, params: Bunch) -> None:
        super().__init__()
        self.data, self.params = data, params

    def train_dataloader(self) -> TrainingBatches:
        """The batches of this process."""
        trainer = self.trainer
        assert trainer is not None
        return TrainingBatches(
            self.data, self.params.sampler, self.params.sample_size, lambda: trainer.current_epoch,
            trainer.global_rank, trainer.world_size, self.params.get("batch_weights", "unbiased"),
        )  # fmt: skip
