"""Answers of annotators to the question whether two items belong to the same class."""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np
from jaxtyping import Float, Int
from numpy.typing import ArrayLike

from semicrowd.crowd.index import AnswerIndex
from semicrowd.errors import UserError

#: Number of answers that are processed at once when the items' probabilities are copied.
_AT_ONCE = 100_000


@dataclass(frozen=True)
class PairAnnotations:
    """P answers of M annotators about pairs of N items.

    Use :meth:`from_arrays` or :func:`semicrowd.read_answers` to make an object; they check their input.

    Attributes
    ----------
    i, j : item numbers 0 … N − 1, int64
    worker : annotator 0 … M − 1, int64
    label : 1 same, 0 different, int64
    task : 0 … T − 1, int64, or None; the answers of one task come from one grouping of its items
    num_items : N
    worker_names : M names
    true_sensitivity, true_specificity : ndarray or None
        P(answer 1 | same) and P(answer 0 | different), None where not known; NaN for an annotator who saw no such pair
    simulated : whether the answers come from a simulator
    source : short description of the source, for messages: ``crowd``, ``tasks (simulated)``
    notes : remarks about the answers, such as how many rows were left out, one line each
    """

    i: Int[np.ndarray, "P"]
    j: Int[np.ndarray, "P"]
    worker: Int[np.ndarray, "P"]
    label: Int[np.ndarray, "P"]
    task: Int[np.ndarray, "P"] | None
    num_items: int
    worker_names: tuple[str, ...]
    true_sensitivity: Float[np.ndarray, "M"] | None = None
    true_specificity: Float[np.ndarray, "M"] | None = None
    simulated: bool = False
    source: str = "arrays"
    notes: tuple[str, ...] = ()

    @property
    def num_pairs(self) -> int:
        """P, the number of answers (two answers about the same pair count twice)."""
        return len(self.i)

    @property
    def num_annotators(self) -> int:
        """M, the number of annotators."""
        return len(self.worker_names)

    @cached_property
    def num_tasks(self) -> int:
        """T, the largest task id plus 1 (unused ids count, too); 0 for answers without tasks."""
        return 0 if self.task is None else int(self.task.max()) + 1

    @cached_property
    def index(self) -> AnswerIndex:
        """Consecutive numbers of the annotated items, and graphs of the answers; computed once."""
        return AnswerIndex(self.i, self.j, self.worker, self.label, self.num_annotators, self.task)

    @cached_property
    def pair(self) -> np.ndarray:
        """[P] number of each answer's pair, from 0; the order of the two items does not matter."""
        low, high = np.minimum(self.i, self.j), np.maximum(self.i, self.j)
        return np.unique(low * self.num_items + high, return_inverse=True)[1]

    @cached_property
    def question(self) -> np.ndarray:
        """[P] index of each answer's question, from 0: its task, or its pair if there are no tasks.

        Held-out sets and folds contain whole questions.
        """
        return self.pair if self.task is None else np.unique(self.task, return_inverse=True)[1]

    @property
    def annotated(self) -> np.ndarray:
        """Sorted ids of the items with at least one answer, int64."""
        return self.index.items

    def __getstate__(self) -> dict[str, Any]:
        """Pickle the answers without the index, which is computed again when needed."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def some(self, rows: np.ndarray) -> "PairAnnotations":
        """The answers in ``rows``, without notes. Tasks are renumbered from 0, items and annotators are not."""
        i, j, worker, label = (one[rows] for one in (self.i, self.j, self.worker, self.label))
        task = None if self.task is None else np.unique(self.task[rows], return_inverse=True)[1]
        return replace(self, i=i, j=j, worker=worker, label=label, task=task, notes=())

    @property
    def shape(self) -> tuple[int]:
        """(N,), so that scikit-learn's cross-validation can select answers by items, like the rows of an array."""
        return (self.num_items,)

    def __getitem__(self, items: Any) -> "PairAnnotations":
        """Select the answers whose two items are both among ``items``: item numbers, or a boolean mask [N].

        Items are renumbered in the given order. Annotators and tasks without remaining answers are dropped, and the
        others are renumbered from 0.
        """
        first = items[0] if isinstance(items, tuple) else items
        chosen = np.arange(self.num_items)[first]
        number = np.full(self.num_items, -1)
        number[chosen] = np.arange(len(chosen))
        i, j = number[self.i], number[self.j]
        rows = np.flatnonzero((i >= 0) & (j >= 0))
        if not len(rows):
            raise UserError(f"{self.source}: none of the {self.num_pairs} answers is about two of these items")
        kept = replace(self.some(rows), i=i[rows], j=j[rows], num_items=len(chosen))
        return kept.renumbered(np.unique(kept.worker))

    def renumbered(self, who: np.ndarray) -> "PairAnnotations":
        """A copy whose annotators 0 … M′ − 1 are the present ones ``who`` [M′], among whom are all with answers."""
        number = np.empty(self.num_annotators, np.int64)
        number[who] = np.arange(len(who))
        true = [None if one is None else one[who] for one in (self.true_sensitivity, self.true_specificity)]
        return replace(
            self, worker=number[self.worker], worker_names=tuple(self.worker_names[m] for m in who),
            true_sensitivity=true[0], true_specificity=true[1],
        )  # fmt: skip

    def with_true_rates(self, labels: np.ndarray) -> "PairAnnotations":
        """A copy with true rates set to each annotator's shares of correct answers, given the true classes [N]."""
        sensitivity, specificity = self.empirical_quality(labels)
        return replace(self, true_sensitivity=sensitivity, true_specificity=specificity)

    def same(self, classes: np.ndarray) -> np.ndarray:
        """[P] probability that the items of each answer are of one class, by classes [N] or probabilities [N, K]."""
        if classes.ndim == 1:
            return (classes[self.i] == classes[self.j]).astype(np.float64)
        pieces = np.array_split(np.arange(self.num_pairs), self.num_pairs // _AT_ONCE + 1)
        return np.concatenate(
            [np.einsum("pk,pk->p", classes[self.i[p]], classes[self.j[p]], dtype=np.float64) for p in pieces]
        ).clip(0, 1)

    def empirical_quality(self, classes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Shares of correct answers of each annotator about pairs of the same and of different classes.

        Parameters
        ----------
        classes : [N] classes or clusters of the items, or [N, K] their probabilities, for expected counts

        Returns
        -------
        sensitivity, specificity : [M] each; NaN if the expected number of the annotator's answers about pairs of the
            same class (for the specificity: of different classes) is below .5
        """
        same = self.same(classes)
        rates = []
        for relation, answer in ((same, 1), (1 - same, 0)):
            seen = np.bincount(self.worker, relation, self.num_annotators)
            right = np.bincount(self.worker, relation * (self.label == answer), self.num_annotators)
            rates.append(np.divide(right, seen, out=np.full(len(seen), np.nan), where=seen >= 0.5))
        return rates[0], rates[1]

    @classmethod
    def from_arrays(
        cls, i: ArrayLike, j: ArrayLike, worker: ArrayLike, label: ArrayLike, *, num_items: int,
        task: ArrayLike | None = None, worker_names: Sequence[str] | None = None,
        true_sensitivity: ArrayLike | None = None, true_specificity: ArrayLike | None = None,
        simulated: bool = False, source: str = "arrays",
    ) -> "PairAnnotations":  # fmt: skip
        """Make an object from arrays, after checking them.

        Parameters
        ----------
        i, j, worker, label, task : [P] integers; see the class
        worker_names : names of the annotators; by default their numbers
        """
        columns = {"i": i, "j": j, "worker": worker, "label": label} | ({} if task is None else {"task": task})
        arrays = {}
        for name, column in columns.items():
            array = np.asarray(column)
            if array.ndim != 1 or not (array.dtype.kind in "iub" or array.size == 0):
                found = f"{array.dtype} {array.shape}"
                raise UserError(f"{source}, column {name}: expected a list of whole numbers, got {found}")
            arrays[name] = array.astype(np.int64)
        if len({len(array) for array in arrays.values()}) > 1:
            lengths = ", ".join(f"{name} {len(array)}" for name, array in arrays.items())
            raise UserError(f"{source}: columns of different lengths: {lengths}")
        if not len(arrays["i"]):
            raise UserError(f"{source}: no answers; expected at least one row i,j,worker,label")
        num_annotators = int(arrays["worker"].max()) + 1 if worker_names is None else len(worker_names)
        item = f"an item id from 0 to {num_items - 1}"
        wrong = [
            ("i", (arrays["i"] < 0) | (arrays["i"] >= num_items), item),
            ("j", (arrays["j"] < 0) | (arrays["j"] >= num_items), item),
            ("j", arrays["i"] == arrays["j"], "another item than i (an item cannot be compared with itself)"),
            ("worker", (arrays["worker"] < 0) | (arrays["worker"] >= num_annotators),
             f"an annotator from 0 to {num_annotators - 1}"),
            ("label", (arrays["label"] != 0) & (arrays["label"] != 1), "1 (same) or 0 (different)"),
            *([("task", arrays["task"] < 0, "a number >= 0")] if "task" in arrays else []),
        ]  # fmt: skip
        for name, bad, expected in wrong:
            if bad.any():
                row = int(bad.argmax())
                raise UserError(f"{source}, row {row}, column {name}: {arrays[name][row]}; expected {expected}")
        used = np.unique(arrays["worker"])
        if len(used) < num_annotators:  # before an array of all numbers is made: they may be those of a platform
            first = int(np.argmin(np.append(used, -1) == np.arange(len(used) + 1)))
            silent = first if worker_names is None else worker_names[first]
            raise UserError(f"{source}: annotator {silent} has no answers; expected at least one of each")
        names = tuple(map(str, range(num_annotators) if worker_names is None else worker_names))
        truth = [None if one is None else np.asarray(one, np.float64) for one in (true_sensitivity, true_specificity)]
        for name, rates in zip(("sensitivity", "specificity"), truth, strict=True):
            # NaN is allowed, because both comparisons with NaN are false.
            if rates is not None and (rates.shape != (num_annotators,) or np.any((rates < 0) | (rates > 1))):
                raise UserError(f"{source}: true {name}: expected {num_annotators} probabilities between 0 and 1")
        return cls(
            arrays["i"], arrays["j"], arrays["worker"], arrays["label"], arrays.get("task"), num_items, names,
            truth[0], truth[1], simulated, source,
        )
