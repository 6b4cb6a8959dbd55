"""Simulated answers and spoilt ones. Each function draws from the generator it is given and from nothing else."""

from dataclasses import replace
from typing import Any

import numpy as np

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.crowd.groupings import Families, Habits, grouping, misplaced, taken_for
from semicrowd.crowd.questions import annotated_items, check_enough, pair_of_number, share_out
from semicrowd.errors import UserError
from semicrowd.settings.fields import shown
from semicrowd.settings.sources import LabelSettings, QuotaSettings, Rates, TasksSettings, TwoCoinSettings


def two_coin(labels: np.ndarray, rng: np.random.Generator, **options: Any) -> PairAnnotations:
    """Every annotator answers random pairs of the annotated items (SCDC paper, section 5.1).

    Parameters
    ----------
    labels : [N] true classes
    options : see :class:`semicrowd.settings.sources.TwoCoinSettings`; pairs and annotated items are drawn uniformly
    """
    s = TwoCoinSettings(**options)
    alpha, beta = (_of_each(rates, s.num_annotators) for rates in (s.sensitivity, s.specificity))
    items = annotated_items(len(labels), s.num_annotated, rng)
    available = len(items) * (len(items) - 1) // 2
    check_enough("pairs", available, s.pairs_per_annotator, len(items))
    pair = [rng.choice(available, s.pairs_per_annotator, replace=False) for _ in range(s.num_annotators)]
    first, second = pair_of_number(np.concatenate(pair))
    worker = np.repeat(np.arange(s.num_annotators), s.pairs_per_annotator)
    return _answers("two_coin", labels, items[first], items[second], worker, alpha, beta, rng)


def quota(labels: np.ndarray, rng: np.random.Generator, **options: Any) -> PairAnnotations:
    """Half of each annotator's pairs are truly the same, half truly different, before the noise (SCDC paper, 5.2).

    Parameters
    ----------
    labels : [N] true classes
    options : see :class:`semicrowd.settings.sources.QuotaSettings`; annotated items and pairs of a kind are drawn
        uniformly, and of an odd number of pairs the extra one is different
    """
    s = QuotaSettings(**options)
    alpha, beta = (_of_each(rates, s.num_annotators) for rates in (s.sensitivity, s.specificity))
    items = annotated_items(len(labels), s.num_annotated, rng)
    classes, code, size = np.unique(labels[items], return_inverse=True, return_counts=True)
    # Items by class, so that a pair is a class (or two) and positions within it.
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


def tasks(labels: np.ndarray, rng: np.random.Generator, **options: Any) -> PairAnnotations:
    """Annotators group the items of grids, and take none for one of another class: :func:`confused_tasks`."""
    return confused_tasks(labels, rng, None, **options)


def confused_tasks(
    labels: np.ndarray, rng: np.random.Generator, seen_as: np.ndarray | None, **options: Any
) -> PairAnnotations:
    """Annotators group the items of grids; every pair of a grid is an answer (the scheme of the MNIST crowd).

    A grouping is transitive. With s the annotator's sensitivity and c the specificity, each item is left alone with
    probability 1 − √s, so that two of one class stay together with probability s. The classes in the grid are merged
    by a Chinese restaurant process in which two classes meet with probability m = (1 − c) / s (concentration
    (1 − m) / m), so that two items of different classes are put together with probability s m = 1 − c.

    Parameters
    ----------
    labels : [N] true classes
    seen_as : [K, K] P(an item of class k is taken for one of class l) by who sees it in a task; None: none is
    options : see :class:`semicrowd.settings.sources.TasksSettings`. Annotated items are drawn uniformly, and the tasks
        share them out evenly; each annotator does one task at least, the others go to random ones. The rates are
        expected ones over pairs, before annotators are flipped (:func:`flip_annotators`), with ``families`` too: then
        two kinds of one meet more often than other kinds, and their rate is that of all pairs in the mean.

        Where some annotators merge kinds or guess, items are taken for others, or placements slip
        (:mod:`semicrowd.crowd.groupings`), that comes on top, and the true rates are those of the annotators' answers.
    """
    s = TasksSettings(**options)
    alpha, beta = (_of_each(rates, s.num_annotators) for rates in (s.sensitivity, s.specificity))
    items = annotated_items(len(labels), s.num_annotated, rng)
    low, high = s.sizes
    if not 2 <= low <= high <= len(items):
        size = shown(s.task_size)
        raise UserError(f"annotations.task_size={size}: expected 2 to {len(items)}, the number of annotated items")
    further = rng.integers(s.num_annotators, size=s.num_tasks - s.num_annotators)
    annotator = rng.permutation(np.concatenate([np.arange(s.num_annotators), further]))
    sizes = [low] * s.num_tasks if low == high else rng.integers(low, high + 1, s.num_tasks).tolist()
    habits = Habits.draw(s, labels[items], rng)
    families = None if s.families is None else Families.of(labels[items], s.families, s.alike)
    i, j, answer, task = [], [], [], []
    for t, (members, m) in enumerate(zip(share_out(items, sizes, rng), annotator.tolist(), strict=True)):
        looks = labels[members] if seen_as is None else taken_for(labels[members], seen_as, rng)
        seen = habits.seen(m, looks, rng)
        group = grouping(seen, alpha[m], beta[m], rng, families)
        if s.misplaced:
            group = misplaced(group, seen, s.misplaced, rng)
        first, second = np.triu_indices(len(members), k=1)
        i.append(members[first])
        j.append(members[second])
        answer.append(group[first] == group[second])
        task.append(np.full(len(first), t))
    count = [len(rows) for rows in task]
    answers = PairAnnotations.from_arrays(
        np.concatenate(i), np.concatenate(j), np.repeat(annotator, count), np.concatenate(answer),
        task=np.concatenate(task), num_items=len(labels),
        true_sensitivity=alpha, true_specificity=beta, simulated=True, source="tasks (simulated)",
    )
    if s.misplaced or habits.merged or habits.guesses.any() or seen_as is not None:
        answers = answers.judged_by(labels)
    return flip_annotators(answers, s.flipped, rng)


def labels_of_some(labels: np.ndarray, rng: np.random.Generator, **options: Any) -> PairAnnotations:
    """The labels of some items, which make a block of each class (SLPD paper, section 4).

    Parameters
    ----------
    labels : [N] true classes
    options : see :class:`semicrowd.settings.sources.LabelSettings`; the items are drawn uniformly, and for generators
        in one state those of a smaller fraction are among those of a larger. A block is a chain
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


def flip_annotators(answers: PairAnnotations, fraction: float, rng: np.random.Generator) -> PairAnnotations:
    """Turn every answer of some annotators into its opposite, and with the answers their true quality.

    The answers of such an annotator to a task are no grouping any more. Where there is one, the answers count as
    simulated, whoever gave the others, and their source says how many there are.

    Parameters
    ----------
    fraction : of the annotators, from 0 to 1, rounded to a whole number of them (halves to the even one), drawn
        uniformly; for generators in one state, the annotators of a smaller fraction are among those of a larger
    """
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
    """``count`` distinct elements of a row of blocks, uniformly: the block of each and its offset there."""
    end = np.cumsum(block_size)
    chosen = rng.choice(int(end[-1]) if len(end) else 0, count, replace=False)
    block = np.searchsorted(end, chosen, side="right")
    return block, chosen - (end - block_size)[block]


def _of_each(rates: Rates, num_annotators: int) -> np.ndarray:
    """[M], of one number for all or of one for each."""
    return np.broadcast_to(np.asarray(rates, np.float64), (num_annotators,)).copy()
