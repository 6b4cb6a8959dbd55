"""Consecutive numbers of the annotated items, and structures that are computed once from the answers.

Axes: n annotated items, P answers, M annotators.
"""

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

if TYPE_CHECKING:
    from semicrowd.crowd.batch import AnswerGraph, RelationalBatch


class AnswerIndex:
    """Consecutive numbers of the annotated items, and graphs of the answers; each is computed at its first use.

    Parameters
    ----------
    i, j : [P] int64, item ids
    worker, label : [P] int64
    num_annotators : M
    task : [P] int64, or None

    Attributes
    ----------
    items : [n] int64, sorted ids of the annotated items
    i, j : [P] int64, positions in ``items``
    worker, label, task : as given
    """

    def __init__(
        self,
        i: np.ndarray,
        j: np.ndarray,
        worker: np.ndarray,
        label: np.ndarray,
        num_annotators: int,
        task: np.ndarray | None = None,
    ) -> None:
        self.items, position = np.unique(np.concatenate([i, j]), return_inverse=True)
        self.i, self.j = position[: len(i)], position[len(i) :]
        self.worker, self.label, self.num_annotators, self.task = worker, label, num_annotators, task

    @cached_property
    def component(self) -> np.ndarray:
        """Connected component of each annotated item in the graph of the answers, [n] int64."""
        return components(self.i, self.j, len(self.items))

    @cached_property
    def whole(self) -> "RelationalBatch":
        """All answers, with weights 1."""
        rows, nodes = np.arange(len(self.i)), np.arange(len(self.items))
        return self.batch(rows, nodes, np.ones(len(nodes)), 1.0)

    @cached_property
    def placement(self) -> np.ndarray:
        """Number of the placement of both items of each answer, [2, P]; only for answers with tasks.

        A placement is a combination of task, annotator and item.
        """
        ends = len(self.items) * self.grouping + np.stack([self.i, self.j])
        return np.unique(ends, return_inverse=True)[1].reshape(2, -1)

    @cached_property
    def grouping(self) -> np.ndarray:
        """Number of each answer's grouping, a combination of task and annotator, [P]; only for answers with tasks."""
        assert self.task is not None
        return np.unique(self.num_annotators * self.task + self.worker, return_inverse=True)[1]

    def effective(self) -> np.ndarray:
        """Number of independent answers that each answer counts as; 1 for answers without tasks.

        One misplaced item makes d answers of its grouping wrong together, about as many as there are other items in
        its group. The answers of a grouping count as E[d] / E[d²], over its items: the inverse of the design effect of
        models/pair_quality.py, where d is the number of other items in the same cluster instead.
        """
        if self.task is None:
            return np.ones(len(self.label))
        placement, grouping = self.placement, self.grouping
        d = np.bincount(placement.ravel(), np.tile(self.label, 2))
        of = np.zeros(len(d), np.int64)
        of[placement] = grouping
        once, twice = np.bincount(of, d), np.bincount(of, d**2)
        return np.divide(once, twice, out=np.ones(len(once)), where=once > 0)[grouping]

    @cached_property
    def graph(self) -> "AnswerGraph":
        """Numbers of answers between items, for each annotator and answer."""
        from semicrowd.crowd.batch import AnswerGraph

        return AnswerGraph(self.items, self.i, self.j, self.worker, self.label, self.num_annotators)

    def batch(
        self, rows: np.ndarray, nodes: np.ndarray, item_weight: np.ndarray, pair_weight: float
    ) -> "RelationalBatch":
        """Make a batch of some answers and some annotated items.

        Parameters
        ----------
        rows : rows of the answers; their items must be among ``nodes``
        nodes : [b] sorted positions in ``items``
        item_weight : [b] weights of these items
        pair_weight : weight of each answer
        """
        # Imported here, like above, because importing torch takes seconds and is not needed to read or write answers.
        import torch

        from semicrowd.crowd.batch import RelationalBatch

        position = np.empty(len(self.items), np.int64)
        position[nodes] = np.arange(len(nodes))
        i, j = position[self.i[rows]], position[self.j[rows]]
        component = components(i, j, len(nodes))
        return RelationalBatch(
            items=torch.from_numpy(self.items[nodes]),
            item_weight=torch.from_numpy(item_weight.astype(np.float32)),
            i=torch.from_numpy(i),
            j=torch.from_numpy(j),
            worker=torch.from_numpy(self.worker[rows]),
            label=torch.from_numpy(self.label[rows]),
            pair_weight=pair_weight,
            component=torch.from_numpy(component),
            num_components=int(component.max()) + 1,
        )


def pairs_within(lists: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """All pairs of two elements of one list: the first of each, the second, and the number of its list."""
    ends = [np.triu_indices(len(one), k=1) for one in lists]
    first, second = (np.concatenate([one[end[k]] for one, end in zip(lists, ends, strict=True)]) for k in (0, 1))
    return first, second, np.repeat(np.arange(len(lists)), [len(end[0]) for end in ends])


def components(i: np.ndarray, j: np.ndarray, num_nodes: int) -> np.ndarray:
    """Connected component of each node in the graph with edges i–j, [num_nodes] int64."""
    adjacency = coo_array((np.ones(len(i), np.int8), (i, j)), shape=(num_nodes, num_nodes))
    return connected_components(adjacency, directed=False)[1].astype(np.int64)
