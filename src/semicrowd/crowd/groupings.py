"""How a simulated annotator groups the items of a task, and what goes wrong in it."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from semicrowd.errors import UserError
from semicrowd.settings.sources import TasksSettings


@dataclass(frozen=True)
class Families:
    """Kinds that look alike.

    Attributes
    ----------
    of_kind : [K] family of each of the sorted kinds: neighbours, in as equal parts as can be
    kinds : [K] sorted kinds
    alike : chance that an annotator of a task takes two kinds of a family for one, before any two are
    share : of the pairs of items of different kinds, those of one family
    """

    of_kind: np.ndarray
    kinds: np.ndarray
    alike: float
    share: float

    @classmethod
    def of(cls, labels: np.ndarray, number: int, alike: float) -> "Families":
        """Families of the kinds among ``labels``."""
        kinds, size = np.unique(labels, return_counts=True)
        of_kind = np.arange(len(kinds)) * number // len(kinds)
        pairs = np.triu(np.outer(size, size), k=1)
        share = pairs[of_kind[:, None] == of_kind].sum() / max(pairs.sum(), 1)
        return cls(of_kind, kinds, alike, float(share))

    def meeting(self, wanted: float) -> float:
        """Chance that any two groups of kinds are taken for one, such that two random kinds are with chance ``wanted``.

        Raises
        ------
        UserError
            Where families alone make it larger.
        """
        alone = self.share * self.alike
        if alone > wanted + 1e-12:
            most = f"{wanted / self.share:.3g} at most"
            raise UserError(f"annotations.alike={self.alike:g}: expected {most}, for the specificity asked for")
        return max(wanted - alone, 0.0) / (1 - alone) if alone < 1 else 0.0


def grouping(
    labels: np.ndarray,
    sensitivity: float,
    specificity: float,
    rng: np.random.Generator,
    families: Families | None = None,
) -> np.ndarray:
    """Group of each item of a task, [n].

    With s the sensitivity, an item stands alone with chance 1 − √s; two kinds are put together with chance
    m = (1 − specificity) / s: first kinds of a family, then any.
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
    """The grouping [n] after slips: each item with chance ``share`` goes to a group without its kind, or stands alone.

    Which of these groups, or none, is drawn uniformly; all slips are made from the grouping before them.
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
    """The class that each item of a task is taken for; rows of ``seen_as`` are of the classes 0 … K − 1."""
    up_to = seen_as[labels].cumsum(1)
    drawn: np.ndarray = (rng.random((len(labels), 1)) * up_to[:, -1:] >= up_to).sum(1)
    return drawn


@dataclass(frozen=True)
class Habits:
    """Annotators who see less than there is: who guesses, and which two kinds who merges takes for one.

    Attributes
    ----------
    guesses : [M] whether the annotator groups without looking
    merged : annotator → the two kinds
    """

    guesses: np.ndarray
    merged: dict[int, tuple[int, int]]

    @classmethod
    def draw(cls, settings: TasksSettings, labels: np.ndarray, rng: np.random.Generator) -> "Habits":
        """Draw annotators (none of them has both habits) and, for each who merges, two of the kinds among ``labels``.

        Nothing is drawn where there is neither habit.
        """
        count = settings.num_annotators
        guessing, merging = round(settings.guessing * count), round(settings.merging * count)
        guesses = np.zeros(count, bool)
        if not guessing and not merging:
            return cls(guesses, {})
        order, kinds = rng.permutation(count), np.unique(labels)
        guesses[order[:guessing]] = True
        if merging and len(kinds) < 2:
            raise UserError("annotations.merging: expected items of two kinds at least")
        chosen = order[guessing : guessing + merging].tolist()
        return cls(guesses, {m: tuple(rng.choice(kinds, 2, replace=False).tolist()) for m in chosen})

    def seen(self, annotator: int, labels: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Kinds of a task's items [n] as the annotator sees them: who guesses, in random order."""
        if annotator in self.merged:
            kept, other = self.merged[annotator]
            labels = np.where(labels == other, kept, labels)
        return rng.permutation(labels) if self.guesses[annotator] else labels


def _restaurant(count: int, meet: float, rng: np.random.Generator) -> np.ndarray:
    """Table of each of ``count`` guests, the number of the first guest at it; any two meet with chance ``meet``.

    A Chinese restaurant process: join the table of an earlier guest with weight 1 each, a new one with (1 − m) / m.
    """
    table = np.zeros(count, np.int64)
    for c in range(1, count):
        table[c] = table[rng.integers(c)] if rng.random() < c * meet / (1 + (c - 1) * meet) else c
    return table
