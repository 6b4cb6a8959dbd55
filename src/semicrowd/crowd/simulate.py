"""Simulated answers about pairs or as groupings. Callers pass the generator."""

from typing import Any

import numpy as np
from jaxtyping import Float, Int

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.crowd.index import pairs_within
from semicrowd.errors import UserError
from semicrowd.settings.fields import shown
from semicrowd.settings.sources import LabelSettings, QuotaSettings, TasksSettings, TwoCoinSettings


def grouping(labels: np.ndarray, sensitivity: float, specificity: float, rng: np.random.Generator) -> np.ndarray:
    """Group of each item of a task, [n].

    If s is the sensitivity, an item is put into a group of its own with probability 1 − √s. Two classes are merged with
    probability m = (1 − specificity) / s.
    """
    classes, code = np.unique(labels, return_inverse=True)
    group = _restaurant(len(classes), (1 - specificity) / sensitivity, rng)[code]
    alone = rng.random(len(labels)) >= np.sqrt(sensitivity)
    group[alone] = len(classes) + np.flatnonzero(alone)
    return group


def taken_for(
    labels: Int[np.ndarray, "n"], seen_as: Float[np.ndarray, "K K"], rng: np.random.Generator
) -> Int[np.ndarray, "n"]:
    """The class that an annotator assigns to each item of a task.

    Parameters
    ----------
    seen_as : [K, K] probability that an item of class k is assigned to class l
    """
    up_to = seen_as[labels].cumsum(1)
    drawn: np.ndarray = (rng.random((len(labels), 1)) * up_to[:, -1:] >= up_to).sum(1)
    return drawn


def _restaurant(count: int, meet: float, rng: np.random.Generator) -> np.ndarray:
    """A partition of ``count`` objects by a Chinese restaurant process with P(two objects in one block) = ``meet``.

    An object joins the block of each earlier object with weight 1, or a new block with weight (1 − m) / m. Each block
    is labelled by the number of its first object.
    """
    table = np.zeros(count, np.int64)
    for c in range(1, count):
        table[c] = table[rng.integers(c)] if rng.random() < c * meet / (1 + (c - 1) * meet) else c
    return table


def annotated_items(num_items: int, num_annotated: int | None, rng: np.random.Generator) -> np.ndarray:
    """Draw the items with answers uniformly; sorted. ``num_annotated`` None: all items."""
    if num_annotated is None or num_annotated >= num_items:
        return np.arange(num_items)
    return np.sort(rng.choice(num_items, num_annotated, replace=False))


def pair_of_number(number: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The pair a < b with number b (b − 1) / 2 + a."""
    b = ((1 + np.sqrt(1 + 8 * number.astype(np.float64))) / 2).astype(np.int64)
    # Rounding of the root can make b wrong by one.
    b -= b * (b - 1) // 2 > number
    b += b * (b + 1) // 2 <= number
    return number - b * (b - 1) // 2, b


def share_out(items: np.ndarray, sizes: list[int], rng: np.random.Generator) -> list[np.ndarray]:
    """Distribute items to tasks of given sizes, so that the numbers of tasks of two items differ by at most one."""
    order = rng.permutation(items)
    shared = []
    for task_size in sizes:
        task, order = order[:task_size], order[task_size:]
        if len(task) < task_size:
            # Start a new round through all items; items that are already in this task come last in it.
            again = rng.permutation(items)
            late = np.isin(again, task)
            again = np.concatenate([again[~late], again[late]])
            missing = task_size - len(task)
            task, order = np.concatenate([task, again[:missing]]), again[missing:]
        shared.append(task)
    return shared


def check_enough(what: str, available: int, wanted: int, num_items: int) -> None:
    """Raise an error if more pairs are requested than exist."""
    if wanted > available:
        raise UserError(f"annotations: {wanted} distinct {what} wanted, {num_items} annotated items have {available}")


def two_coin(labels: np.ndarray, rng: np.random.Generator, **options: Any) -> PairAnnotations:
    """Each annotator answers random pairs of the annotated items (SCDC paper, section 5.1).

    Parameters
    ----------
    labels : [N] true classes
    options : see :class:`semicrowd.settings.sources.TwoCoinSettings`; pairs and annotated items are drawn uniformly
    """
    s = TwoCoinSettings(**options)
    alpha, beta = np.array(s.rates, np.float64)
    items = annotated_items(len(labels), s.num_annotated, rng)
    available = len(items) * (len(items) - 1) // 2
    check_enough("pairs", available, s.pairs_per_annotator, len(items))
    pair = [rng.choice(available, s.pairs_per_annotator, replace=False) for _ in range(s.num_annotators)]
    first, second = pair_of_number(np.concatenate(pair))
    worker = np.repeat(np.arange(s.num_annotators), s.pairs_per_annotator)
    return _answers("two_coin", labels, items[first], items[second], worker, alpha, beta, rng)


def quota(labels: np.ndarray, rng: np.random.Generator, **options: Any) -> PairAnnotations:
    """Half of each annotator's pairs are of the same class, half of different classes (SCDC paper, section 5.2).

    Parameters
    ----------
    labels : [N] true classes
    options : see :class:`semicrowd.settings.sources.QuotaSettings`; annotated items, and the pairs of each half, are
        drawn uniformly. If the number of pairs is odd, one more pair is of different classes
    """
    s = QuotaSettings(**options)
    alpha, beta = np.array(s.rates, np.float64)
    items = annotated_items(len(labels), s.num_annotated, rng)
    classes, code, size = np.unique(labels[items], return_inverse=True, return_counts=True)
    # Items sorted by class, so that a pair can be drawn as one or two classes and positions within them.
    members = np.split(items[np.argsort(code, kind="stable")], np.cumsum(size)[:-1])
    one, other = np.triu_indices(len(classes), k=1)
    same_size, different_size = size * (size - 1) // 2, size[one] * size[other]
    num_same = s.pairs_per_annotator // 2
    num_different = s.pairs_per_annotator - num_same
    check_enough("pairs of one class", int(same_size.sum()), num_same, len(items))
    check_enough("pairs of two classes", int(different_size.sum()), num_different, len(items))

    pairs = []
    for _ in range(s.num_annotators):
        block, offset = _draw(same_size, num_same, rng)
        first, second = pair_of_number(offset)
        pairs += [(members[c][a], members[c][b]) for c, a, b in zip(block, first, second, strict=True)]
        block, offset = _draw(different_size, num_different, rng)
        width = size[other[block]]
        rows = zip(one[block], other[block], offset // width, offset % width, strict=True)
        pairs += [(members[c][a], members[d][b]) for c, d, a, b in rows]
    i, j = np.array(pairs, np.int64).T
    worker = np.repeat(np.arange(s.num_annotators), s.pairs_per_annotator)
    return _answers("quota", labels, i, j, worker, alpha, beta, rng)


def tasks(
    labels: np.ndarray, rng: np.random.Generator, seen_as: np.ndarray | None = None, **options: Any
) -> PairAnnotations:
    """Annotators group the items of tasks, and each pair of a task is an answer, as in the real answers about MNIST.

    Answers of a grouping are transitive. Let s be the annotator's sensitivity and c the specificity. Each item is put
    into a group of its own with probability 1 − √s, so that two items of one class stay together with probability s.
    The classes in the task are merged by a Chinese restaurant process in which two classes are merged with probability
    m = (1 − c) / s (concentration (1 − m) / m), so that two items of different classes are put together with
    probability s m = 1 − c.

    Parameters
    ----------
    labels : [N] true classes
    seen_as : [K, K] P(an annotator assigns an item of class k to class l) in a task; None: no confusion
    options : see :class:`semicrowd.settings.sources.TasksSettings`. Annotated items are drawn uniformly and distributed
        evenly to the tasks. Each annotator has at least one task; the remaining tasks go to random annotators. The
        rates are expectations over pairs; with ``seen_as`` they are computed from the answers
    """
    s = TasksSettings(**options)
    alpha, beta = np.array(s.rates, np.float64)
    items = annotated_items(len(labels), s.num_annotated, rng)
    low, high = s.sizes
    if not 2 <= low <= high <= len(items):
        size = shown(s.task_size)
        raise UserError(f"annotations.task_size={size}: expected 2 to {len(items)}, the number of annotated items")
    further = rng.integers(s.num_annotators, size=s.num_tasks - s.num_annotators)
    annotator = rng.permutation(np.concatenate([np.arange(s.num_annotators), further]))
    sizes = [low] * s.num_tasks if low == high else rng.integers(low, high + 1, s.num_tasks).tolist()
    shared, groups = share_out(items, sizes, rng), []
    for members, m in zip(shared, annotator.tolist(), strict=True):
        seen = labels[members] if seen_as is None else taken_for(labels[members], seen_as, rng)
        groups.append(grouping(seen, alpha[m], beta[m], rng))
    i, j, task = pairs_within(shared)
    one, two, _ = pairs_within(groups)
    answers = PairAnnotations.from_arrays(
        i, j, annotator[task], one == two, task=task, num_items=len(labels),
        true_sensitivity=alpha, true_specificity=beta, simulated=True, source="tasks (simulated)",
    )
    return answers if seen_as is None else answers.with_true_rates(labels)


def labels_of_some(labels: np.ndarray, rng: np.random.Generator, **options: Any) -> PairAnnotations:
    """The labels of some items as must-links, which form one block for each class (SLPD paper, section 4).

    Parameters
    ----------
    labels : [N] true classes
    options : see :class:`semicrowd.settings.sources.LabelSettings`; the items are drawn uniformly. With the same state
        of the generator, a larger fraction includes the items of a smaller one. A block is a chain of links
    """
    known = rng.permutation(len(labels))[: round(LabelSettings(**options).fraction * len(labels))]
    known = known[np.argsort(labels[known], kind="stable")]
    linked = np.flatnonzero(labels[known[1:]] == labels[known[:-1]])
    if not len(linked):
        raise UserError(f"annotations=labels: no class has two of the {len(known)} known labels; expected more")
    ones = np.ones(len(linked), np.int64)
    return PairAnnotations.from_arrays(
        known[linked], known[linked + 1], ones - 1, ones, num_items=len(labels), worker_names=["labels"],
        simulated=True, source="labels (simulated)",
    )


def _answers(
    kind: str,
    labels: np.ndarray,
    i: np.ndarray,
    j: np.ndarray,
    worker: np.ndarray,
    alpha: np.ndarray,
    beta: np.ndarray,
    rng: np.random.Generator,
) -> PairAnnotations:
    """Independent noisy answers (SCDC paper, eq. 1)."""
    same = labels[i] == labels[j]
    answer = rng.random(len(i)) < np.where(same, alpha[worker], 1 - beta[worker])
    return PairAnnotations.from_arrays(
        i, j, worker, answer, num_items=len(labels), true_sensitivity=alpha, true_specificity=beta,
        simulated=True, source=f"{kind} (simulated)",
    )


def _draw(block_size: np.ndarray, count: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    end = np.cumsum(block_size)
    chosen = rng.choice(int(end[-1]) if len(end) else 0, count, replace=False)
    block = np.searchsorted(end, chosen, side="right")
    return block, chosen - (end - block_size)[block]
