"""Deep Dirichlet process mixture: Monte Carlo EM of a flow and of a mixture behind it (Li et al. 2022, Algorithm 1)."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from semicrowd.inference.gibbs.chain import Chain, Model
from semicrowd.inference.gibbs.isotropic import Isotropic
from semicrowd.inference.gibbs.sweep import draw_all, seat
from semicrowd.methods.deep_dpm.unions import log_joint, united
from semicrowd.nets import descend
from semicrowd.nets.mlp import NICE

#: Items that go through the flow at once: their hidden units stay in the processor's cache.
_BLOCK = 1024


class DeepMixture:
    """A flow f, and a chain of partitions of the items z = f(y).

    Parameters
    ----------
    y : [N, D] items
    flow : of one restart
    family_of : makes a family of clusters of items [N, D], as :func:`isotropic` does
    learning_rate : of Adam
    prior : of the partitions, as :class:`semicrowd.inference.gibbs.chain.Model` takes it

    Attributes
    ----------
    log_likelihood : of a step's items given their clusters, in nats an item, mean over the last steps; NaN before
    """

    def __init__(
        self, y: Float[np.ndarray, "N D"], flow: NICE, family_of: Callable[[np.ndarray], Any], learning_rate: float,
        **prior: Any,
    ) -> None:  # fmt: skip
        self.flow, self.family_of = flow, family_of
        self.y = torch.from_numpy(y.astype(np.float32))
        self.optimizer = torch.optim.Adam(flow.parameters(), learning_rate, fused=True)
        self.chain = Chain(Model(family_of(y), len(y), **prior))
        self.log_likelihood = float("nan")
        self._made: Any = None

    def expectation(self, rngs: list[np.random.Generator], splits: int = 0) -> None:
        """E-step: a sweep of the sampler for each generator, after so many splits and merges that are proposed.

        The items are where the flow brings them now.
        """
        self.chain.model = replace(self.chain.model, family=self._family(), splits=splits)
        for rng in rngs:
            self.chain.sweep(rng)

    def unions(self, family: Isotropic) -> Int[np.ndarray, "C"]:
        """Cluster that each slot is part of, where those that are likelier as one are one."""
        chain, answers = self.chain, self.chain.model.answers
        links = None if answers is None else answers.links(chain.z, chain.quality, chain.slots)
        return united(family, chain.alpha, links)

    def log_joint(self, family: Isotropic, into: Int[np.ndarray, "C"]) -> float:
        """ln p of items, clusters and answers, in nats; comparable between fits, since the flow keeps volumes."""
        chain, answers = self.chain, self.chain.model.answers
        of_answers = 0.0 if answers is None else answers.log_evidence(into[chain.z])
        return log_joint(family, chain.alpha, into) + of_answers

    def clusters(self) -> Isotropic:
        """Statistics of the chain's partition in the space that the flow makes now; slots may be empty."""
        family: Isotropic = self._family()(self.chain.slots)
        seat(family, self.chain.z, np.zeros(self.chain.slots, np.int64))
        return family

    def _family(self) -> Any:
        if self._made is None:
            self._made = self.family_of(pushed(self.flow, self.y))
        return self._made

    def maximisation(self, steps: int, batch_size: int, generator: torch.Generator, rng: np.random.Generator) -> None:
        """M-step: draw μ and λ (Algorithm 1, line 10), then gradient steps up eq. 16 with them and the partition held.

        Eq. 16 is a sum over items: a batch's, times N/B. The flow keeps volumes, so it has no other term.
        """
        family = self.clusters()
        draw_all(family, family.number.astype(np.int64), rng)
        location = torch.from_numpy((family.mean + family.location).astype(np.float32))
        precision = torch.from_numpy(family.precision.astype(np.float32))
        scale, z = torch.from_numpy(family.log_scale), torch.from_numpy(self.chain.z)
        total = 0.0
        for _ in range(steps):
            items = torch.randint(len(self.y), (min(batch_size, len(self.y)),), generator=generator)
            loss = energy(self.flow(self.y[items])[0], location, precision, z[items])
            descend(self.optimizer, loss * len(self.y))
            total += float(scale[z[items]].mean()) - float(loss.detach())
        self.log_likelihood = total / max(steps, 1)
        if steps:
            self._made = None


def energy(
    z: Float[Tensor, "B D"], location: Float[Tensor, "C D"], precision: Float[Tensor, "C"], cluster: Int[Tensor, "B"]
) -> Float[Tensor, ""]:
    """λ/2 |z − μ|² of each item's cluster, mean over the items: −ln p of eq. 1 but for what z has no part in."""
    return (precision[cluster] * (z - location[cluster]).square().sum(-1)).mean() / 2


@torch.no_grad()
def pushed(flow: NICE, y: Float[Tensor, "N D"], inverse: bool = False) -> Float[np.ndarray, "N D"]:
    """f(y), or f⁻¹(y), block by block, in float64."""
    map_ = flow.inverse if inverse else flow
    return torch.cat([map_(block)[0] for block in y.split(_BLOCK)]).double().numpy()
