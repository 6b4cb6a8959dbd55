"""The graph of answered pairs over the items of a batch, with the weights w_ij of eq. 14."""

from dataclasses import dataclass, field

import numpy as np
import torch
from jaxtyping import Float, Int
from scipy import sparse
from torch import Tensor

from semicrowd.crowd.batch import RelationalBatch
from semicrowd.crowd.two_coin import PairEvidence, pair_evidence

#: Up to this number of nodes, weights are stored as a dense matrix: its product is faster than gather and scatter.
DENSE_NODES = 512


@dataclass
class PairGraph:
    """Answers over n nodes.

    Parameters
    ----------
    num_nodes : n
    i, j : [P] node indices in 0 … n − 1
    weight : [R, P], w_ij of each answer; several answers on one pair add up
    component : [n] connected component of every node
    num_components : C
    """

    num_nodes: int
    i: Int[Tensor, "P"]
    j: Int[Tensor, "P"]
    weight: Float[Tensor, "R P"]
    component: Int[Tensor, "n"]
    num_components: int
    _matrix: Float[Tensor, "R n n"] | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        if self.num_nodes <= DENSE_NODES:
            n = self.num_nodes
            flat = self.weight.new_zeros(self.weight.shape[0], n * n)
            half = flat.index_add(1, self.i * n + self.j, self.weight).unflatten(1, (n, n))
            self._matrix = half + half.mT

    def messages(self, probabilities: Float[Tensor, "R n K"]) -> Float[Tensor, "R n K"]:
        """Σ_m Σ_j w_ij^(m) q(z_j): the third term of eq. 14. A pair sends a message to each of its two items."""
        if self._matrix is not None:
            return self._matrix @ probabilities
        result = torch.zeros_like(probabilities)
        weight = self.weight[..., None]
        result = result.index_add(1, self.i, weight * probabilities[:, self.j])
        return result.index_add(1, self.j, weight * probabilities[:, self.i])

    def agreement(self, probabilities: Float[Tensor, "R n K"]) -> Float[Tensor, "R P"]:
        """Σ_k q(z_i = k) q(z_j = k), the probability that the two items of each answer are in the same cluster."""
        if self._matrix is not None:
            gram = probabilities @ probabilities.mT
            return gram.flatten(1)[:, self.i * self.num_nodes + self.j]
        return (probabilities[:, self.i] * probabilities[:, self.j]).sum(-1)

    def per_node(self, values: Tensor) -> Tensor:
        """[R, C] → [R, n]."""
        return values[:, self.component]

    def per_component(self, values: Tensor) -> Tensor:
        """Sum over the nodes of each component, [R, n] → [R, C]."""
        result = values.new_zeros(values.shape[0], self.num_components)
        return result.index_add(1, self.component, values)


class FixedPairGraph(PairGraph):
    """A graph of one restart without gradients; its sparse matrix is fastest if there are many answers."""

    def __post_init__(self) -> None:
        i, j, weight = self.i.numpy(), self.j.numpy(), self.weight[0].numpy()
        shape = (self.num_nodes, self.num_nodes)
        self._sparse = sparse.csr_array((np.tile(weight, 2), (np.r_[i, j], np.r_[j, i])), shape)

    def messages(self, probabilities: Float[Tensor, "R n K"]) -> Float[Tensor, "R n K"]:
        """See :class:`PairGraph`."""
        return torch.from_numpy(self._sparse @ probabilities[0].numpy())[None]


def graph_of(answers: RelationalBatch, evidence: PairEvidence) -> PairGraph:
    """The graph of answers with this evidence."""
    where = answers.i, answers.j, evidence.weight, answers.component, answers.num_components
    return PairGraph(answers.num_nodes, *where)


def answer_graph(
    answers: RelationalBatch, sensitivity: Float[Tensor, "R M 2"], specificity: Float[Tensor, "R M 2"]
) -> tuple[PairGraph, PairEvidence]:
    """The graph and the evidence of answers, from E[ln α, ln(1 − α)] and E[ln β, ln(1 − β)]."""
    evidence = pair_evidence(sensitivity, specificity, answers.worker, answers.label)
    return graph_of(answers, evidence), evidence
