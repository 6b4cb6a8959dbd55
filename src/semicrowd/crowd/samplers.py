"""Minibatches of the relational model, interchangeable and each unbiased (SCDC paper, section 3.2).

A batch carries Horvitz–Thompson weights: the inverse of how often a pair or an item is drawn on average, so that
Σ weight · f over a batch has the expectation Σ f over all pairs, or over all annotated items.
"""

from abc import ABC, abstractmethod

import numpy as np

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.crowd.batch import RelationalBatch
from semicrowd.errors import UserError


class RelationalSampler(ABC):
    """Draws unbiased minibatches of answers and the items they connect.

    Attributes
    ----------
    size : number of answers, tasks or items in a minibatch; at most their total number
    """

    size: int

    def __init__(self, annotations: PairAnnotations) -> None:
        self.index = annotations.index

    @abstractmethod
    def sample(self, rng: np.random.Generator) -> RelationalBatch:
        """One minibatch."""


class PairSampler(RelationalSampler):
    """Minibatches of ``size`` answers, drawn uniformly without replacement, as in the paper."""

    def __init__(self, annotations: PairAnnotations, size: int) -> None:
        super().__init__(annotations)
        self.size = min(max(size, 1), annotations.num_pairs)
        self.degree = np.bincount(np.concatenate([self.index.i, self.index.j]))

    def sample(self, rng: np.random.Generator) -> RelationalBatch:
        """Draw ``size`` answers; the weight of an item is its number of drawn answers over the expected number."""
        rows = rng.choice(len(self.index.i), self.size, replace=False)
        nodes, count = np.unique(np.concatenate([self.index.i[rows], self.index.j[rows]]), return_counts=True)
        scale = len(self.index.i) / self.size
        return self.index.batch(rows, nodes, scale * count / self.degree[nodes], scale)


class TaskSampler(RelationalSampler):
    """Minibatches of ``size`` complete tasks, each with all its pairs; answers of a task are transitive."""

    def __init__(self, annotations: PairAnnotations, size: int) -> None:
        super().__init__(annotations)
        if annotations.task is None:
            raise UserError("sampler=tasks: these annotations have no task column; use sampler=nodes or sampler=pairs")
        order = np.argsort(annotations.task, kind="stable")
        starts = np.flatnonzero(np.diff(annotations.task[order], prepend=-1))
        self.rows = np.split(order, starts[1:])
        self.size = min(size, len(self.rows))
        self.nodes = [np.unique(np.concatenate([self.index.i[rows], self.index.j[rows]])) for rows in self.rows]
        self.tasks_per_item = np.bincount(np.concatenate(self.nodes))

    def sample(self, rng: np.random.Generator) -> RelationalBatch:
        """Draw ``size`` tasks uniformly without replacement."""
        chosen = rng.choice(len(self.rows), self.size, replace=False)
        nodes, count = np.unique(np.concatenate([self.nodes[t] for t in chosen]), return_counts=True)
        scale = len(self.rows) / self.size
        rows = np.concatenate([self.rows[t] for t in chosen])
        weight = scale * count / self.tasks_per_item[nodes]
        return self.index.batch(rows, nodes, weight, scale)


class NodeSampler(RelationalSampler):
    """Minibatches of ``size`` annotated items, drawn uniformly without replacement, with all answers between them."""

    def __init__(self, annotations: PairAnnotations, size: int) -> None:
        super().__init__(annotations)
        self.size = min(max(size, 2), len(self.index.items))

    def sample(self, rng: np.random.Generator) -> RelationalBatch:
        """Draw items; a pair is included if both of its items are, with probability s (s − 1) / (n (n − 1))."""
        s, n = self.size, len(self.index.items)
        nodes = np.sort(rng.choice(n, s, replace=False))
        drawn = np.zeros(n, bool)
        drawn[nodes] = True
        rows = np.flatnonzero(drawn[self.index.i] & drawn[self.index.j])
        return self.index.batch(rows, nodes, np.full(s, n / s), n * (n - 1) / (s * (s - 1)))


#: Default size of a minibatch for each sampler; for ``pairs`` it is proportional to the number of items.
SIZES = {"tasks": 3, "nodes": 108}
#: Tasks in a minibatch by default, at most.
_MOST_TASKS = 60


def build_sampler(kind: str, annotations: PairAnnotations, size: int | None, in_proportion: int) -> RelationalSampler:
    """Make the sampler ``pairs``, ``tasks`` or ``nodes``; ``auto`` is tasks if there are any, else nodes.

    Parameters
    ----------
    size : number of answers, tasks or annotated items in a minibatch; None: the default. Tasks of one pair, as known
        links are, are added to the default number of others in proportion, so that they do not crowd these out
    in_proportion : default number of answers for ``pairs``
    """
    if kind == "auto":
        kind = "nodes" if annotations.task is None else "tasks"
    samplers: dict[str, type[PairSampler | TaskSampler | NodeSampler]] = {
        "pairs": PairSampler, "tasks": TaskSampler, "nodes": NodeSampler,
    }  # fmt: skip
    if size is None and kind == "tasks" and annotations.task is not None:
        pairs = np.bincount(annotations.question)
        several = int((pairs > 1).sum())
        size = round(SIZES[kind] * len(pairs) / several) if several else SIZES[kind]
        size = min(size, _MOST_TASKS)
    return samplers[kind](annotations, size or SIZES.get(kind, in_proportion))
