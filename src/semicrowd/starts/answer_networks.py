"""Networks that learn clusters from answers alone, and their annotators: the steps of MCVC.

Adam on the networks' weights, which have the prior N(0, 1), and exact updates of all other posteriors
(:mod:`semicrowd.inference.mcvc`). With one view (G = 1) these classifiers may initialise a generative model.
"""

from math import cos, pi
from typing import Any

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from semicrowd.crowd.answer_graph import AnswerGraph
from semicrowd.inference.mcvc import Experts, Prior, answer_weight, bound, update
from semicrowd.nets.mlp import squared_weights

#: Updates of the annotators in a step: of q(α), q(β) and the stick-breaking weights, and of the annotators' views.
_SWEEPS = 2


class AnswerNetworks:
    """R · G networks and the annotators of their answers.

    Attributes
    ----------
    net : networks from features to logits or probabilities of K clusters, R · G at once
    experts : posteriors of the annotators
    optimizer : Adam
    """

    def __init__(self, net: nn.Module, experts: Experts, prior: Prior, graph: AnswerGraph, **adam: Any) -> None:
        self.net, self.experts, self.prior, self.graph = net, experts, prior, graph
        self.optimizer = torch.optim.Adam(net.parameters(), **adam)

    def step(
        self,
        eta: Float[Tensor, "R G n K"],
        rate: float,
        *,
        held: bool,
        counted: Bool[Tensor, "R"] | None = None,
        penalty: Tensor | float = 0.0,
    ) -> Float[Tensor, "R G M 2"]:
        """One step; returns the agreement of answers and clusters before it.

        Parameters
        ----------
        eta : the networks' cluster probabilities of the annotated items
        rate : step size of Adam
        held : the annotators are not updated
        counted : restarts that learn from the answers in this step; None: all
        penalty : added to the loss
        """
        agreement, neighbours = self.graph.agreement(eta.detach())
        if not held:
            self.update_annotators(agreement)
        # Its gradient in the weights is that of the answers' part of the bound; restarts are independent.
        gain = self.graph.pull(neighbours, answer_weight(self.experts)) * eta
        gain = gain if counted is None else gain[counted]
        self.optimizer.zero_grad()
        (penalty - gain.sum() + 0.5 * squared_weights(self.net).sum()).backward()
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        self.optimizer.step()
        return agreement

    def update_annotators(self, agreement: Float[Tensor, "R G M 2"]) -> None:
        """Update the annotators."""
        for _ in range(_SWEEPS if agreement.shape[1] > 1 else 1):
            self.experts = update(self.experts, agreement, self.graph.counts, self.prior)

    @torch.no_grad()
    def bound(self, agreement: Float[Tensor, "R G M 2"]) -> Float[Tensor, "R"]:
        """The variational bound in nats."""
        restarts, views = agreement.shape[:2]
        squared = squared_weights(self.net).double().unflatten(0, (restarts, views)).sum(-1)
        return bound(self.experts, agreement, self.graph.counts, self.prior, squared)


def cosine(rate: float, step: int, steps: int) -> float:
    """Step size that falls from ``rate`` to 0 along a cosine."""
    return rate * 0.5 * (1 + cos(pi * step / steps))
