"""What a generative model is fitted to: items on its device, and the answers about them."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np
import torch
from jaxtyping import Float
from joblib import Memory
from torch import Tensor

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.crowd.batch import RelationalBatch
from semicrowd.crowd.two_coin import Rates
from semicrowd.models.views import Views
from semicrowd.random import torch_stream
from semicrowd.result import Verdict

#: Restarts × items evaluated at once: bounds the memory of an evaluation.
CHUNK = 8192


def pieces(features: Tensor, restarts: int, device: torch.device | str) -> Iterator[Tensor]:
    """Features in pieces small enough for all restarts at once, on the device."""
    for piece in features.split(max(CHUNK // restarts, 1)):
        yield piece.to(device)


class Part(NamedTuple):
    """Items that are evaluated together, annotated ones with all answers about them.

    Attributes
    ----------
    views : a view of each item, or None
    answers : over all B items, or None
    weight : factor of each item's local term in a sum over all items
    """

    features: Float[Tensor, "B D"]
    views: Float[Tensor, "B D"] | None
    answers: RelationalBatch | None
    weight: Float[Tensor, "B"]

    @property
    def weight_with_views(self) -> Float[Tensor, "b"]:
        """The factors of items, then of their views."""
        return self.weight if self.views is None else self.weight.repeat(2)


@runtime_checkable
class OtherClusters(Protocol):
    """Another method that clusters the items of a fit."""

    def __call__(
        self, restart: int, tell: Callable[[str], None], *, with_answers: bool
    ) -> tuple[Float[np.ndarray, "N K"], Rates | None, Verdict | None]:
        """Cluster probabilities of all items; the annotators' rates and how clusters were selected, with answers.

        Parameters
        ----------
        restart : each has clusters of its own
        tell : is called with a line about the current step
        with_answers : False: by the features alone
        """
        ...


@dataclass(frozen=True)
class TrainingData:
    """N items, the answers about them, and the seed of a fit's random streams.

    Attributes
    ----------
    features : float32
    annotations : answers about the items, or None
    views : transformations of an image that do not change its class, or None
    seed : of the random streams
    batch_size : number of items without answers in a step
    memory : keeps results of a start that several fits share (:mod:`semicrowd.starts.shared`)
    clustered : clusters of all items by co-training, for the starts that need them; see :class:`OtherClusters`
    """

    features: Float[Tensor, "N D"]
    annotations: PairAnnotations | None = None
    views: Views | None = None
    seed: int = 0
    batch_size: int = 128
    memory: Memory = field(default_factory=lambda: Memory(None))
    clustered: OtherClusters | None = None

    @property
    def num_items(self) -> int:
        """N."""
        return len(self.features)

    @property
    def device(self) -> torch.device:
        """Where the features are."""
        return self.features.device

    @cached_property
    def answers(self) -> RelationalBatch | None:
        """All answers, on the device."""
        return None if self.annotations is None else self.annotations.index.whole.to(self.device)

    def to(self, device: torch.device | str) -> "TrainingData":
        """The same with its features on a device."""
        return replace(self, features=self.features.to(device))

    def parts(self, restarts: int) -> Iterator[Part]:
        """The annotated items with their answers, then the others in pieces."""
        others, noise = np.arange(self.num_items), torch_stream(self.seed, "evaluation/views", device=self.device)
        if self.answers is not None:
            others = np.setdiff1d(others, self.answers.items.cpu().numpy())
            items = self.answers.items
            yield self._part(self.features[items], self.answers, noise)
        rows = torch.from_numpy(others).to(self.device)
        for piece in pieces(self.features[rows], restarts, self.device):
            yield self._part(piece, None, noise)

    def _part(self, features: Tensor, answers: RelationalBatch | None, noise: torch.Generator) -> Part:
        views = None if self.views is None else self.views.of(features, noise)
        return Part(features, views, answers, features.new_ones(len(features)))
