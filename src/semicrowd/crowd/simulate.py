"""Simulated answers and spoilt ones. Each function draws from the generator it is given and from nothing else."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.errors import UserError


def two_coin(
    labels: np.ndarray,
    rng: np.random.Generator,
    *,
    num_annotators: int = 20,
    pairs_per_annotator: int = 49,
    num_annotated: int | None = 100,
    sensitivity: float | Sequence[float] = 0.9,
    specificity: float | Sequence[float] = 0.9,
) -> PairAnnotations:
    """Every annotator answers random pairs of the annotated items (SCDC paper, section 5.1).

    Parameters
    ----------
    labels : [N] true classes
    num_annotators : M
    pairs_per_annotator : distinct pairs that each of them answers, drawn uniformly
    num_annotated : items, drawn uniformly, that the pairs are made of; all where it is None or above N
    sensitivity, specificity : one number for all annotators or [M]; P(answer 1 | same) and P(answer 0 | different)
    """
    _check_counts(num_annotators=num_annotators, pairs_per_annotator=pairs_per_annotator)
    alpha = _rates("sensitivity", sensitivity, num_annotators)
    beta = _rates("specificity", specificity, num_annotators)
    items = _annotated_items(len(labels), num_annotated, rng)
    available = len(items) * (len(items) - 1) // 2
    _check_enough("pairs", available, pairs_per_annotator, len(items))
    pair = np.concatenate([rng.choice(available, pairs_per_annotator, replace=False) for _ in range(num_annotators)])
    first, second = _pair_of_number(pair)
    worker = np.repeat(np.arange(num_annotators), pairs_per_annotator)
    return _answers("two_coin", labels, items[first], items[second], worker, alpha, beta, rng)


def quota(
    labels: np.ndarray,
    rng: np.random.Generator,
    *,
    sensitivity: float | Sequence[float] = (0.95, 0.9, 0.85, 0.8, 0.75),
    specificity: float | Sequence[float] = (0.95, 0.9, 0.85, 0.8, 0.75),
    pairs_per_annotator: int = 200,
    num_annotated: int | None = None,
) -> PairAnnotations:
    """Half of each annotator's pairs are truly the same, half truly different, before the noise (SCDC paper, 5.2).

    Parameters
    ----------
    labels : [N] true classes
    sensitivity, specificity : [M] each, as long as each other; a single number serves all annotators of the other
    pairs_per_annotator : distinct pairs that each annotator answers; of an odd number the extra one is different
    num_annotated : items, drawn uniformly, that the pairs are made of; all where it is None or above N
    """
    _check_counts(pairs_per_annotator=pairs_per_annotator)
    num_annotators = max(np.size(sensitivity), np.size(specificity))
    alpha = _rates("sensitivity", sensitivity, num_annotators)
    beta = _rates("specificity", specificity, num_annotators)
    items = _annotated_items(len(labels), num_annotated, rng)
    classes, code, size = np.unique(labels[items], return_inverse=True, return_counts=True)
    # Items by class, so that a pair is a class (or two) and positions within it.
    members = np.split(items[np.argsort(code, kind="stable")], np.cumsum(size)[:-1])
    one, other = np.triu_indices(len(classes), k=1)
    same_size, different_size = size * (size - 1) // 2, size[one] * size[other]
    num_same = pairs_per_annotator // 2
    num_different = pairs_per_annotator - num_same
    _check_enough("pairs of one class", int(same_size.sum()), num_same, len(items))
    _check_enough("pairs of two classes", int(different_size.sum()), num_different, len(items))

    pairs = []
    for _ in range(num_annotators):
        block, offset = _draw(same_size, num_same, rng)
        first, second = _pair_of_number(offset)
        pairs += [(members[c][a], members[c][b]) for c, a, b in zip(block, first, second, strict=True)]
        block, offset = _draw(different_size, num_different, rng)
        width = size[other[block]]
        rows = zip(one[block], other[block], offset // width, offset % width, strict=True)
        pairs += [(members[c][a], members[d][b]) for c, d, a, b in rows]
    i, j = np.array(pairs, np.int64).T
    worker = np.repeat(np.arange(num_annotators), pairs_per_annotator)
    return _answers("quota", labels, i, j, worker, alpha, beta, rng)


def tasks(
    labels: np.ndarray,
    rng: np.random.Generator,
    *,
    num_annotators: int = 48,
    num_tasks: int = 91,
    task_size: int = 36,
    num_annotated: int | None = 2759,
    sensitivity: float | Sequence[float] = 0.98,
    specificity: float | Sequence[float] = 0.99,
    flipped: float = 0.0,
) -> PairAnnotations:
    """Annotators group the items of grids; every pair of a grid is an answer (the scheme of the MNIST crowd).

    A grouping is transitive. With s the annotator's sensitivity and c the specificity, each item is left alone with
    probability 1 − √s, so that two of one class stay together with probability s. The classes in the grid are merged
    by a Chinese restaurant process in which two classes meet with probability m = (1 − c) / s (concentration
    (1 − m) / m), so that two items of different classes are put together with probability s m = 1 − c.

    Parameters
    ----------
    labels : [N] true classes
    num_annotators : M; each does one task at least, the other tasks go to random annotators
    num_tasks : T
    task_size : items of a task, all distinct
    num_annotated : items, drawn uniformly, that the tasks share out evenly; all where it is None or above N
    sensitivity, specificity : one number for all annotators or [M]; expected rates over pairs, sensitivity > 0 and
        sensitivity + specificity >= 1
    flipped : see :func:`flip_annotators`; sensitivity and specificity are those before
    """
    _check_counts(num_annotators=num_annotators, num_tasks=num_tasks, task_size=task_size)
    alpha = _rates("sensitivity", sensitivity, num_annotators)
    beta = _rates("specificity", specificity, num_annotators)
    if np.any(alpha <= 0) or np.any(alpha + beta < 1):
        raise UserError("annotations=tasks: expected sensitivity > 0 and sensitivity + specificity >= 1")
    if num_tasks < num_annotators:
        raise UserError(f"annotations.num_tasks={num_tasks}: expected one or more for each of {num_annotators}")
    items = _annotated_items(len(labels), num_annotated, rng)
    if not 2 <= task_size <= len(items):
        raise UserError(f"annotations.task_size={task_size}: expected 2 to {len(items)}, the number of annotated items")
    further = rng.integers(num_annotators, size=num_tasks - num_annotators)
    annotator = rng.permutation(np.concatenate([np.arange(num_annotators), further]))
    first, second = np.triu_indices(task_size, k=1)
    i, j, answer = [], [], []
    for members, m in zip(_share_out(items, num_tasks, task_size, rng), annotator, strict=True):
        group = _grouping(labels[members], alpha[m], beta[m], rng)
        i.append(members[first])
        j.append(members[second])
        answer.append(group[first] == group[second])
    pairs_per_task = len(first)
    answers = PairAnnotations.from_arrays(
        np.concatenate(i), np.concatenate(j), np.repeat(annotator, pairs_per_task), np.concatenate(answer),
        task=np.repeat(np.arange(num_tasks), pairs_per_task), num_items=len(labels),
        true_sensitivity=alpha, true_specificity=beta, simulated=True, source="tasks (simulated)",
    )
    return flip_annotators(answers, flipped, rng)


def flip_annotators(answers: PairAnnotations, fraction: float, rng: np.random.Generator) -> PairAnnotations:
    """Turn every answer of some annotators into its opposite, and with the answers their true quality.

    The answers of such an annotator to a task are no grouping any more. Where there is one, the answers count as
    simulated, whoever gave the others, and their source says how many there are.

    Parameters
    ----------
    fraction : of the annotators, rounded to a whole number of them (halves to the even one), drawn uniformly; for
        generators in one state, the annotators of a smaller fraction are among those of a larger

    Raises
    ------
    UserError
        For a fraction that is not from 0 to 1.
    """
    if isinstance(fraction, bool) or not isinstance(fraction, int | float) or not 0 <= fraction <= 1:
        raise UserError(f"annotations.flipped={fraction}: expected a fraction of the annotators, from 0 to 1")
    count = round(fraction * answers.num_annotators)
    if count == 0:
        return answers
    chosen = np.zeros(answers.num_annotators, bool)
    chosen[rng.permutation(answers.num_annotators)[:count]] = True
    quality = (answers.true_sensitivity, answers.true_specificity)
    sensitivity, specificity = (None if rates is None else np.where(chosen, 1 - rates, rates) for rates in quality)
    return replace(
        answers,
        label=np.where(chosen[answers.worker], 1 - answers.label, answers.label),
        true_sensitivity=sensitivity,
        true_specificity=specificity,
        simulated=True,
        source=f"{answers.source}, {count} of {answers.num_annotators} annotators flipped",
    )


def _grouping(labels: np.ndarray, sensitivity: float, specificity: float, rng: np.random.Generator) -> np.ndarray:
    """Group of each item of a task, [task_size]."""
    classes, code = np.unique(labels, return_inverse=True)
    meet = (1 - specificity) / sensitivity
    table = np.zeros(len(classes), np.int64)
    for c in range(1, len(classes)):
        # Restaurant process: join the table of an earlier class with weight 1 each, a new one with (1 − m) / m.
        if rng.random() < c * meet / (1 + (c - 1) * meet):
            table[c] = table[rng.integers(c)]
        else:
            table[c] = c
    group = table[code]
    alone = rng.random(len(labels)) >= np.sqrt(sensitivity)
    group[alone] = len(classes) + np.flatnonzero(alone)
    return group


def _share_out(items: np.ndarray, num_tasks: int, task_size: int, rng: np.random.Generator) -> list[np.ndarray]:
    """Tasks of distinct items, each item in as many tasks as any other, give or take one."""
    order = rng.permutation(items)
    shared = []
    for _ in range(num_tasks):
        task, order = order[:task_size], order[task_size:]
        if len(task) < task_size:
            # A new round; the items that this task has from the last one come at its end.
            again = rng.permutation(items)
            late = np.isin(again, task)
            again = np.concatenate([again[~late], again[late]])
            missing = task_size - len(task)
            task, order = np.concatenate([task, again[:missing]]), again[missing:]
        shared.append(task)
    return shared


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


def _pair_of_number(number: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The pair a < b with number b (b − 1) / 2 + a."""
    b = ((1 + np.sqrt(1 + 8 * number.astype(np.float64))) / 2).astype(np.int64)
    # The root may be off by one where it is rounded.
    b -= b * (b - 1) // 2 > number
    b += b * (b + 1) // 2 <= number
    return number - b * (b - 1) // 2, b


def _draw(block_size: np.ndarray, count: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """``count`` distinct elements of a row of blocks, uniformly: the block of each and its offset there."""
    end = np.cumsum(block_size)
    chosen = rng.choice(int(end[-1]) if len(end) else 0, count, replace=False)
    block = np.searchsorted(end, chosen, side="right")
    return block, chosen - (end - block_size)[block]


def _annotated_items(num_items: int, num_annotated: int | None, rng: np.random.Generator) -> np.ndarray:
    if num_annotated is not None:
        _check_counts(lowest=2, num_annotated=num_annotated)
    if num_annotated is None or num_annotated >= num_items:
        return np.arange(num_items)
    return np.sort(rng.choice(num_items, num_annotated, replace=False))


def _rates(name: str, rates: ArrayLike, num_annotators: int) -> np.ndarray:
    try:
        array = np.asarray(rates, np.float64)
    except (TypeError, ValueError) as error:
        raise UserError(f"annotations.{name}={rates!s}: expected probabilities between 0 and 1") from error
    if array.shape not in ((), (1,), (num_annotators,)):
        raise UserError(f"annotations.{name}: {array.size} numbers; expected one, or one for each of {num_annotators}")
    if not np.all((array >= 0) & (array <= 1)):
        raise UserError(f"annotations.{name}={array.tolist()}: expected probabilities between 0 and 1")
    return np.broadcast_to(array, (num_annotators,)).copy()


def _check_counts(*, lowest: int = 1, **counts: int) -> None:
    for name, value in counts.items():
        if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < lowest:
            raise UserError(f"annotations.{name}={value}: expected a whole number >= {lowest}")


def _check_enough(what: str, available: int, wanted: int, num_items: int) -> None:
    if wanted > available:
        raise UserError(f"annotations: {wanted} distinct {what} wanted, {num_items} annotated items have {available}")
