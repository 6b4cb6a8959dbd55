"""Simulated answers about pairs or as groupings. Callers pass the generator."""

from collections.abc import Sequence
from numbers import Integral, Real

import numpy as np
from jaxtyping import Float, Int
from sklearn.utils._param_validation import Interval, validate_params

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.crowd.index import pairs_within
from semicrowd.errors import UserError

#: A probability for all annotators, or one for each of them.
Rates = float | Sequence[float]
_RATES = [Interval(Real, 0, 1, closed="both"), "array-like"]
_COUNT = [Interval(Integral, 1, None, closed="left")]
_ANNOTATED = [Interval(Integral, 2, None, closed="left"), None]
#: Rates of the five annotators of the SCDC paper's faces.
FACE_RATES = (0.95, 0.9, 0.85, 0.8, 0.75)


def each_rate(name: str, rates: Rates, num_annotators: int) -> Float[np.ndarray, "M"]:
    """A probability for each annotator, of one for all or of a list."""
    numbers = np.atleast_1d(np.asarray(rates, np.float64))
    if len(numbers) not in (1, num_annotators):
        raise UserError(f"annotations.{name}: {len(numbers)} numbers; expected one, or one for each of "
                        f"{num_annotators}")  # fmt: skip
    if not ((numbers >= 0) & (numbers <= 1)).all():
        raise UserError(f"annotations.{name}={rates}: expected probabilities between 0 and 1")
    return np.broadcast_to(numbers, num_annotators).copy()


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


@validate_params(
    {"num_annotators": _COUNT, "pairs_per_annotator": _COUNT, "num_annotated": _ANNOTATED, "sensitivity": _RATES,
     "specificity": _RATES},
    prefer_skip_nested_validation=False,
)  # fmt: skip
def two_coin(
    labels: np.ndarray, rng: np.random.Generator, *, num_annotators: int = 20, pairs_per_annotator: int = 49,
    num_annotated: int | None = 100, sensitivity: Rates = 0.9, specificity: Rates = 0.9,
) -> PairAnnotations:  # fmt: skip
    """Each annotator answers random pairs of the annotated items (SCDC paper, section 5.1).

    Parameters
    ----------
    labels : [N] true classes
    num_annotators : M
    pairs_per_annotator : number of distinct pairs that each annotator answers, drawn uniformly
    num_annotated : number of items from which the pairs are made, drawn uniformly; None: all
    sensitivity, specificity : P(answer same | same) and P(answer different | different), for all annotators or of each
    """
    alpha = each_rate("sensitivity", sensitivity, num_annotators)
    beta = each_rate("specificity", specificity, num_annotators)
    items = annotated_items(len(labels), num_annotated, rng)
    available = len(items) * (len(items) - 1) // 2
    check_enough("pairs", available, pairs_per_annotator, len(items))
    pair = [rng.choice(available, pairs_per_annotator, replace=False) for _ in range(num_annotators)]
    first, second = pair_of_number(np.concatenate(pair))
    worker = np.repeat(np.arange(num_annotators), pairs_per_annotator)
    return _answers("two_coin", labels, items[first], items[second], worker, alpha, beta, rng)


@validate_params(
    {"sensitivity": _RATES, "specificity": _RATES, "pairs_per_annotator": _COUNT, "num_annotated": _ANNOTATED},
    prefer_skip_nested_validation=False,
)
def quota(
    labels: np.ndarray, rng: np.random.Generator, *, sensitivity: Rates = FACE_RATES, specificity: Rates = FACE_RATES,
    pairs_per_annotator: int = 200, num_annotated: int | None = None,
) -> PairAnnotations:  # fmt: skip
    """Half of each annotator's pairs are of the same class, half of different classes (SCDC paper, section 5.2).

    Parameters
    ----------
    labels : [N] true classes
    sensitivity, specificity : of each of the M annotators; the longer list decides M
    pairs_per_annotator : number of distinct pairs that each annotator answers, those of each half drawn uniformly; one
        more pair of different classes if it is odd
    num_annotated : number of items from which the pairs are made, drawn uniformly; None: all
    """
    num_annotators = max(np.size(sensitivity), np.size(specificity))
    alpha = each_rate("sensitivity", sensitivity, num_annotators)
    beta = each_rate("specificity", specificity, num_annotators)
    items = annotated_items(len(labels), num_annotated, rng)
    classes, code, size = np.unique(labels[items], return_inverse=True, return_counts=True)
    # Items sorted by class, so that a pair can be drawn as one or two classes and positions within them.
    members = np.split(items[np.argsort(code, kind="stable")], np.cumsum(size)[:-1])
    one, other = np.triu_indices(len(classes), k=1)
    same_size, different_size = size * (size - 1) // 2, size[one] * size[other]
    num_same = pairs_per_annotator // 2
    num_different = pairs_per_annotator - num_same
    check_enough("pairs of one class", int(same_size.sum()), num_same, len(items))
    check_enough("pairs of two classes", int(different_size.sum()), num_different, len(items))

    pairs = []
    for _ in range(num_annotators):
        block, offset = _draw(same_size, num_same, rng)
        first, second = pair_of_number(offset)
        pairs += [(members[c][a], members[c][b]) for c, a, b in zip(block, first, second, strict=True)]
        block, offset = _draw(different_size, num_different, rng)
        width = size[other[block]]
        rows = zip(one[block], other[block], offset // width, offset % width, strict=True)
        pairs += [(members[c][a], members[d][b]) for c, d, a, b in rows]
    i, j = np.array(pairs, np.int64).T
    worker = np.repeat(np.arange(num_annotators), pairs_per_annotator)
    return _answers("quota", labels, i, j, worker, alpha, beta, rng)


@validate_params(
    {"num_annotators": _COUNT, "num_tasks": _COUNT, "task_size": [*_COUNT, "array-like"], "num_annotated": _ANNOTATED,
     "sensitivity": _RATES, "specificity": _RATES},
    prefer_skip_nested_validation=False,
)  # fmt: skip
def tasks(
    labels: np.ndarray, rng: np.random.Generator, seen_as: np.ndarray | None = None, *, num_annotators: int = 48,
    num_tasks: int = 91, task_size: int | Sequence[int] = 36, num_annotated: int | None = 2759,
    sensitivity: Rates = 0.98, specificity: Rates = 0.99,
) -> PairAnnotations:  # fmt: skip
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
    num_annotators : M
    num_tasks : number of tasks; each annotator has at least one, the others go to random annotators
    task_size : number of items in a task, or its minimum and maximum
    num_annotated : number of items, drawn uniformly, that are distributed evenly to the tasks; None: all
    sensitivity, specificity : for all annotators or of each: expectations over pairs; with ``seen_as`` the true rates
        are computed from the answers
    """
    alpha = each_rate("sensitivity", sensitivity, num_annotators)
    beta = each_rate("specificity", specificity, num_annotators)
    sizes_given = [int(size) for size in np.atleast_1d(task_size)] * (2 if np.ndim(task_size) == 0 else 1)
    if num_tasks < num_annotators:
        raise UserError(f"annotations.num_tasks={num_tasks}: expected one or more for each of {num_annotators}")
    if ((alpha <= 0) | (alpha + beta < 1)).any():
        raise UserError("annotations.sensitivity: expected sensitivity > 0 and sensitivity + specificity >= 1")
    items = annotated_items(len(labels), num_annotated, rng)
    if len(sizes_given) != 2 or not 2 <= sizes_given[0] <= sizes_given[1] <= len(items):
        raise UserError(f"annotations.task_size={task_size}: expected 2 to {len(items)}, the number of annotated "
                        "items, or [minimum, maximum] of them")  # fmt: skip
    low, high = sizes_given
    further = rng.integers(num_annotators, size=num_tasks - num_annotators)
    annotator = rng.permutation(np.concatenate([np.arange(num_annotators), further]))
    sizes = [low] * num_tasks if low == high else rng.integers(low, high + 1, num_tasks).tolist()
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


@validate_params({"fraction": [Interval(Real, 0, 1, closed="both")]}, prefer_skip_nested_validation=False)
def labels_of_some(labels: np.ndarray, rng: np.random.Generator, *, fraction: float = 0.25) -> PairAnnotations:
    """The labels of some items as must-links, which form one block for each class (SLPD paper, section 4).

    Parameters
    ----------
    labels : [N] true classes
    fraction : share of the items whose labels are known, drawn uniformly. With the same state of the generator, a
        larger fraction includes the items of a smaller one. A block is a chain of links
    """
    known = rng.permutation(len(labels))[: round(fraction * len(labels))]
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
