"""Minibatches of the relational model, interchangeable and each unbiased (SCDC paper, section 3.2).

A batch carries Horvitz–Thompson weights: the inverse of how often a pair or an item is drawn on average, so that
Σ weight · f over a batch has the expectation Σ f over all pairs, or over all annotated items.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from torch import Tensor

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.errors import UserError


@dataclass(frozen=True)
class RelationalBatch:
    """Answers over n distinct items, with local indices.

    Attributes
    ----------
    items : [n] item ids
    item_weight : [n] weights of the items' local terms
    i, j : [P] positions in ``items``
    worker, label : [P]
    pair_weight : weight of every pair's term
    component, num_components : connected components of the graph, [n] and their number
    """

    items: Tensor
    item_weight: Tensor
    i: Tensor
    j: Tensor
    worker: Tensor
    label: Tensor
    pair_weight: float
    component: Tensor
    num_components: int

    @property
    def num_nodes(self) -> int:
        """n, the number of distinct items."""
        return len(self.items)

    def to(self, device: torch.device | str) -> "RelationalBatch":
        """The same on another device."""
        moved: dict[str, Any] = {name: v.to(device) for name, v in vars(self).items() if isinstance(v, Tensor)}
        return replace(self, **moved)


def _assemble(
    annotations: PairAnnotations, pairs: np.ndarray, nodes: np.ndarray, item_weight: np.ndarray, pair_weight: float
) -> RelationalBatch:
    """The batch of the given pair rows over the sorted item ids ``nodes``."""
    i, j = np.searchsorted(nodes, annotations.i[pairs]), np.searchsorted(nodes, annotations.j[pairs])
    adjacency = coo_array((np.ones(len(i), np.int8), (i, j)), shape=(len(nodes), len(nodes)))
    num_components, component = connected_components(adjacency, directed=False)
    return RelationalBatch(
        items=torch.from_numpy(nodes),
        item_weight=torch.from_numpy(item_weight.astype(np.float32)),
        i=torch.from_numpy(i),
        j=torch.from_numpy(j),
        worker=torch.from_numpy(annotations.worker[pairs]),
        label=torch.from_numpy(annotations.label[pairs]),
        pair_weight=pair_weight,
        component=torch.from_numpy(component.astype(np.int64)),
        num_components=int(num_components),
    )


def whole_graph(annotations: PairAnnotations) -> RelationalBatch:
    """Every answer, with weights 1."""
    nodes = annotations.annotated
    return _assemble(annotations, np.arange(annotations.num_pairs), nodes, np.ones(len(nodes)), 1.0)


class RelationalSampler(ABC):
    """Draws unbiased minibatches of answers and the items they connect."""

    def __init__(self, annotations: PairAnnotations) -> None:
        self.annotations = annotations

    @abstractmethod
    def sample(self, rng: np.random.Generator) -> RelationalBatch:
        """One minibatch."""


class PairSampler(RelationalSampler):
    """``size`` answers, uniformly without replacement: the paper's sampling."""

    def __init__(self, annotations: PairAnnotations, size: int) -> None:
        super().__init__(annotations)
        self.size = min(max(size, 1), annotations.num_pairs)
        ends = np.concatenate([annotations.i, annotations.j])
        self.degree = np.bincount(ends, minlength=annotations.num_items)

    def sample(self, rng: np.random.Generator) -> RelationalBatch:
        """``size`` answers; an item weighs as often as it is drawn, over how often it would be."""
        a = self.annotations
        pairs = rng.choice(a.num_pairs, self.size, replace=False)
        nodes, count = np.unique(np.concatenate([a.i[pairs], a.j[pairs]]), return_counts=True)
        scale = a.num_pairs / self.size
        return _assemble(a, pairs, nodes, scale * count / self.degree[nodes], scale)


class TaskSampler(RelationalSampler):
    """``size`` whole crowd tasks, each with all its pairs: within a task the answers are transitive."""

    def __init__(self, annotations: PairAnnotations, size: int) -> None:
        super().__init__(annotations)
        if annotations.task is None:
            raise UserError("sampler=tasks: these annotations have no task column; use sampler=nodes or sampler=pairs")
        self.size = min(size, annotations.num_tasks)
        order = np.argsort(annotations.task, kind="stable")
        starts = np.flatnonzero(np.diff(annotations.task[order], prepend=-1))
        self.rows = np.split(order, starts[1:])
        self.nodes = [np.unique(np.concatenate([annotations.i[r], annotations.j[r]])) for r in self.rows]
        self.tasks_per_item = np.bincount(np.concatenate(self.nodes), minlength=annotations.num_items)

    def sample(self, rng: np.random.Generator) -> RelationalBatch:
        """``size`` tasks, uniformly without replacement."""
        chosen = rng.choice(len(self.rows), self.size, replace=False)
        nodes, count = np.unique(np.concatenate([self.nodes[t] for t in chosen]), return_counts=True)
        scale = len(self.rows) / self.size
        pairs = np.concatenate([self.rows[t] for t in chosen])
        return _assemble(self.annotations, pairs, nodes, scale * count / self.tasks_per_item[nodes], scale)


class NodeSampler(RelationalSampler):
    """``size`` annotated items, uniformly without replacement, with all answers among them."""

    def __init__(self, annotations: PairAnnotations, size: int) -> None:
        super().__init__(annotations)
        self.size = min(max(size, 2), len(annotations.annotated))

    def sample(self, rng: np.random.Generator) -> RelationalBatch:
        """A pair is drawn when both of its items are, with probability s (s − 1) / (n (n − 1))."""
        a, s, n = self.annotations, self.size, len(self.annotations.annotated)
        nodes = np.sort(rng.choice(a.annotated, s, replace=False))
        drawn = np.zeros(a.num_items, bool)
        drawn[nodes] = True
        pairs = np.flatnonzero(drawn[a.i] & drawn[a.j])
        return _assemble(a, pairs, nodes, np.full(s, n / s), n * (n - 1) / (s * (s - 1)))


#: Size of a minibatch of each kind where none is given; of ``pairs`` it is in proportion to the items.
SIZES = {"tasks": 3, "nodes": 108}


def build_sampler(kind: str, annotations: PairAnnotations, size: int | None, in_proportion: int) -> RelationalSampler:
    """The sampler ``pairs``, ``tasks`` or ``nodes``; ``auto`` is tasks where there are any, else nodes.

    Parameters
    ----------
    size : answers, tasks or annotated items in a minibatch, None for the usual size
    in_proportion : the usual number of answers
    """
    if kind == "auto":
        kind = "nodes" if annotations.task is None else "tasks"
    samplers: dict[str, type[PairSampler | TaskSampler | NodeSampler]] = {
        "pairs": PairSampler, "tasks": TaskSampler, "nodes": NodeSampler,
    }  # fmt: skip
    return samplers[kind](annotations, size or SIZES.get(kind, in_proportion))
