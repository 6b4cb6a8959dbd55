"""Simulated answers about pairs or as groupings, and real answers with added errors. Callers pass the generator."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.crowd.index import pairs_within
from semicrowd.errors import UserError
from semicrowd.settings.fields import shown
from semicrowd.settings.sources import LabelSettings, QuotaSettings, TasksSettings, TwoCoinSettings


@dataclass(frozen=True)
class Families:
    """Families of similar classes.

    Attributes
    ----------
    of_class : family of each of the sorted classes: consecutive classes, in parts of nearly equal size
    classes : sorted classes
    alike : probability that two classes of a family are merged in a task
    share : share of the pairs of items of different classes whose classes are in the same family
    """

    of_class: Int[np.ndarray, "K"]
    classes: Int[np.ndarray, "K"]
    alike: float
    share: float

    @classmethod
    def of(cls, labels: np.ndarray, classes: np.ndarray, number: int, alike: float) -> "Families":
        """Make ``number`` families of the given classes; ``labels`` are those of the annotated items."""
        size = np.array([(labels == one).sum() for one in classes])
        of_class = np.arange(len(classes)) * number // len(classes)
        pairs = np.triu(np.outer(size, size), k=1)
        share = pairs[of_class[:, None] == of_class].sum() / max(pairs.sum(), 1)
        return cls(of_class, classes, alike, float(share))

    def meeting(self, wanted: float) -> float:
        """Probability of merging two groups of classes, so that two random classes are merged with ``wanted``.

        Raises
        ------
        UserError
            If the merges within families alone have a higher probability than ``wanted``.
        """
        alone = self.share * self.alike
        if alone > wanted + 1e-12:
            most = f"{wanted / self.share:.3g} at most"
            raise UserError(f"annotations.alike={self.alike:g}: expected {most}, for this specificity")
        return max(wanted - alone, 0.0) / (1 - alone) if alone < 1 else 0.0


def grouping(
    labels: np.ndarray,
    sensitivity: float,
    specificity: float,
    rng: np.random.Generator,
    families: Families | None = None,
) -> np.ndarray:
    """Group of each item of a task, [n].

    If s is the sensitivity, an item is put into a group of its own with probability 1 − √s. Two classes are merged with
    probability m = (1 − specificity) / s: first classes of a family, then any classes.
    """
    classes, code = np.unique(labels, return_inverse=True)
    meet = (1 - specificity) / sensitivity
    table = np.arange(len(classes))
    if families is not None:
        family = families.of_class[np.searchsorted(families.classes, classes)]
        for one in np.unique(family):
            inside = np.flatnonzero(family == one)
            table[inside] = inside[_restaurant(len(inside), families.alike, rng)]
        meet = families.meeting(meet)
    tables, seat = np.unique(table, return_inverse=True)
    group = _restaurant(len(tables), meet, rng)[seat][code]
    alone = rng.random(len(labels)) >= np.sqrt(sensitivity)
    group[alone] = len(classes) + np.flatnonzero(alone)
    return group


def misplaced(group: np.ndarray, labels: np.ndarray, share: float, rng: np.random.Generator) -> np.ndarray:
    """The grouping [n] after moving each item, with probability ``share``, to another group or to one of its own.

    The new group is drawn uniformly from the groups without items of its class and a group of its own. All moves refer
    to the grouping before any of them.
    """
    slipped = group.copy()
    for item in np.flatnonzero(rng.random(len(group)) < share):
        others = np.setdiff1d(group, group[labels == labels[item]])
        place = rng.integers(len(others) + 1)
        slipped[item] = others[place] if place < len(others) else group.max() + 1 + item
    return slipped


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


@dataclass(frozen=True)
class Habits:
    """Annotators who group at random, and annotators who do not distinguish two of the classes.

    Attributes
    ----------
    guesses : whether the annotator groups at random
    merged : annotator → the two classes that the annotator does not distinguish
    """

    guesses: Bool[np.ndarray, "M"]
    merged: dict[int, tuple[int, int]]

    @classmethod
    def draw(cls, settings: TasksSettings, labels: np.ndarray, rng: np.random.Generator) -> "Habits":
        """Draw the annotators with one of these habits, and two of the classes in ``labels`` for each who merges.

        No annotator has both habits. Without either habit the random generator is not used.
        """
        count = settings.num_annotators
        guessing, merging = round(settings.guessing * count), round(settings.merging * count)
        guesses = np.zeros(count, bool)
        if not guessing and not merging:
            return cls(guesses, {})
        order, classes = rng.permutation(count), np.unique(labels)
        guesses[order[:guessing]] = True
        if merging and len(classes) < 2:
            raise UserError("annotations.merging: expected items of at least two classes")
        chosen = order[guessing : guessing + merging].tolist()
        return cls(guesses, {m: tuple(rng.choice(classes, 2, replace=False).tolist()) for m in chosen})

    def seen(self, annotator: int, labels: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Classes that the annotator assigns to the items [n] of a task; in random order if the annotator guesses."""
        if annotator in self.merged:
            kept, other = self.merged[annotator]
            labels = np.where(labels == other, kept, labels)
        return rng.permutation(labels) if self.guesses[annotator] else labels


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
        rates are expectations over pairs, before annotators are flipped (:func:`flip_annotators`). With ``families``
        classes of a family are merged more often than others, and the rates are means over all pairs.

        Further errors are added if annotators merge classes or guess, classes are confused, or items are misplaced
        (:class:`Habits`, :func:`taken_for`, :func:`misplaced`). The true rates are then computed from the answers.
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
    habits = Habits.draw(s, labels[items], rng)
    classes = np.unique(labels[items]) if seen_as is None else np.arange(len(seen_as))
    families = None if s.families is None else Families.of(labels[items], classes, s.families, s.alike)
    shared, groups = share_out(items, sizes, rng), []
    for members, m in zip(shared, annotator.tolist(), strict=True):
        looks = labels[members] if seen_as is None else taken_for(labels[members], seen_as, rng)
        seen = habits.seen(m, looks, rng)
        group = grouping(seen, alpha[m], beta[m], rng, families)
        groups.append(misplaced(group, seen, s.misplaced, rng) if s.misplaced else group)
    i, j, task = pairs_within(shared)
    one, two, _ = pairs_within(groups)
    answers = PairAnnotations.from_arrays(
        i, j, annotator[task], one == two, task=task, num_items=len(labels),
        true_sensitivity=alpha, true_specificity=beta, simulated=True, source="tasks (simulated)",
    )
    if s.misplaced or habits.merged or habits.guesses.any() or seen_as is not None:
        answers = answers.with_true_rates(labels)
    return flip_annotators(answers, s.flipped, rng)


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


def flip_annotators(answers: PairAnnotations, fraction: float, rng: np.random.Generator) -> PairAnnotations:
    """Invert all answers of some annotators, and their true rates accordingly.

    The inverted answers to a task are no longer a grouping. If at least one annotator is inverted, the answers are
    marked as simulated, even if they were real, and their source contains the number of inverted annotators.

    Parameters
    ----------
    fraction : share of the annotators, from 0 to 1, rounded to a whole number of them (ties to even), drawn uniformly.
        With the same state of the generator, a larger fraction includes the annotators of a smaller one
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
    """Draw ``count`` distinct elements of consecutive blocks uniformly: the block of each, and its offset there."""
    end = np.cumsum(block_size)
    chosen = rng.choice(int(end[-1]) if len(end) else 0, count, replace=False)
    block = np.searchsorted(end, chosen, side="right")
    return block, chosen - (end - block_size)[block]
