"""Simulated groupings of the items of a task, with errors."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from semicrowd.errors import UserError
from semicrowd.settings.sources import TasksSettings


@dataclass(frozen=True)
class Families:
    """Families of similar classes.

    Attributes
    ----------
    of_kind : [K] family of each of the sorted classes: consecutive classes, in parts of nearly equal size
    kinds : [K] sorted classes
    alike : probability that two classes of a family are merged in a task
    share : share of the pairs of items of different classes whose classes are in the same family
    """

    of_kind: np.ndarray
    kinds: np.ndarray
    alike: float
    share: float

    @classmethod
    def of(cls, labels: np.ndarray, number: int, alike: float) -> "Families":
        """Make ``number`` families of the classes in ``labels``."""
        kinds, size = np.unique(labels, return_counts=True)
        of_kind = np.arange(len(kinds)) * number // len(kinds)
        pairs = np.triu(np.outer(size, size), k=1)
        share = pairs[of_kind[:, None] == of_kind].sum() / max(pairs.sum(), 1)
        return cls(of_kind, kinds, alike, float(share))

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
        family = families.of_kind[np.searchsorted(families.kinds, classes)]
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
    guesses : [M] whether the annotator groups at random
    merged : annotator → the two classes that the annotator does not distinguish
    """

    guesses: np.ndarray
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
        order, kinds = rng.permutation(count), np.unique(labels)
        guesses[order[:guessing]] = True
        if merging and len(kinds) < 2:
            raise UserError("annotations.merging: expected items of at least two classes")
        chosen = order[guessing : guessing + merging].tolist()
        return cls(guesses, {m: tuple(rng.choice(kinds, 2, replace=False).tolist()) for m in chosen})

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
