"""Simulated annotators whose errors are no independent coin flips, as those of the two-coin model are.

What an annotator sees decides what they answer. An item has a hardness h and a kind that it is like; each annotator
takes it for that kind with chance h, once and for all, so that most people make the same mistake about a hard item.
Pairs of kinds that look alike are taken for one now and then by everybody. Some annotators sort by other labels than
those that are asked for; some do not look at all; some copy. All of them guess more often the longer they work.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.crowd.groupings import grouping
from semicrowd.crowd.questions import annotated_items, check_enough, pair_of_number, share_out
from semicrowd.errors import UserError
from semicrowd.settings.realistic import EffectSettings, RealisticSettings, RealisticTasksSettings


@dataclass(frozen=True)
class Annotators:
    """Who sees what.

    Attributes
    ----------
    seen : [M, n] kind of each annotated item as each annotator sees it, 0 … K − 1, of other labels 0 … L − 1
    kinds : [M] numbers of kinds that the annotator knows, K or L
    twin : [K] the kind that a kind is confused with, itself where there is none
    looks : [M] whether the annotator sorts by the labels that are asked for
    constant : [M] 1 or 0 of an annotator who always says "same" or "different", −1 of others
    copied : [M] whose answers the annotator gives, mostly their own
    """

    seen: np.ndarray
    kinds: np.ndarray
    twin: np.ndarray
    looks: np.ndarray
    constant: np.ndarray
    copied: np.ndarray

    @classmethod
    def draw(
        cls, s: EffectSettings, labels: np.ndarray, other: np.ndarray | None, rng: np.random.Generator
    ) -> "Annotators":
        """Draw habits, hardness and what everybody sees of items with these labels [n], other labels [n] or None."""
        kinds, code = np.unique(labels, return_inverse=True)
        if len(kinds) < 2:
            raise UserError("annotations: expected annotated items of two kinds at least")
        order = rng.permutation(s.num_annotators)
        axis, lazy, copies = s.counts
        habits = np.split(order, np.cumsum([axis, lazy, copies]))
        looks, constant = np.ones(s.num_annotators, bool), np.full(s.num_annotators, -1)
        looks[habits[0]] = False
        constant[habits[1]] = (rng.permutation(lazy) + rng.integers(2)) % 2
        copied = np.arange(s.num_annotators)
        if copies:
            copied[habits[2]] = rng.choice(np.setdiff1d(order, habits[2]), copies)
        like, hardness = like_and_hardness(code, len(kinds), s.hardness, rng)
        seen = np.where(rng.random((s.num_annotators, len(code))) < hardness, like, code)
        second = rng.integers(s.other_kinds, size=len(code)) if other is None else other
        second = np.unique(second, return_inverse=True)[1]
        seen[~looks] = second
        return cls(
            seen, np.where(looks, len(kinds), second.max() + 1), confused_kinds(len(kinds), s.confused, rng), looks,
            constant, copied,
        )  # fmt: skip


def like_and_hardness(
    code: np.ndarray, num_kinds: int, mean: float, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Of each item [n] another kind, uniformly, and its hardness: Beta(mean, 1 − mean), mostly near 0 or near 1."""
    like = (code + rng.integers(1, num_kinds, len(code))) % num_kinds
    return like, rng.beta(mean, 1 - mean, len(code)) if 0 < mean < 1 else np.full(len(code), mean)


def confused_kinds(num_kinds: int, share: float, rng: np.random.Generator) -> np.ndarray:
    """[K] the kind that each kind is confused with, itself where there is none.

    Pairs are disjoint and drawn; they take ``share`` of the kinds, one pair at least where the share is not 0.
    """
    twin = np.arange(num_kinds)
    if share > 0:
        number = max(round(share * num_kinds / 2), 1)
        pairs = rng.permutation(num_kinds)[: 2 * min(number, num_kinds // 2)].reshape(-1, 2)
        twin[pairs[:, 0]], twin[pairs[:, 1]] = pairs[:, 1], pairs[:, 0]
    return twin


def realistic(
    labels: np.ndarray, rng: np.random.Generator, other: np.ndarray | None = None, **options: Any
) -> PairAnnotations:
    """Every annotator answers random pairs of the annotated items.

    Parameters
    ----------
    labels : [N] true classes
    other : [N] other labels that some annotators sort by; None: drawn, every kind as likely
    options : see :class:`semicrowd.settings.realistic.RealisticSettings`. An annotator's n answers come one after the
        other; the k-th, from 0, is a fair coin's with chance drift · k / (n − 1). Who copies is asked the same pairs in
        the same order. The true rates are those of the annotators' answers, as counted
    """
    s = RealisticSettings(**options)
    items = annotated_items(len(labels), s.num_annotated, rng)
    people = Annotators.draw(s, labels[items], None if other is None else other[items], rng)
    available, count = len(items) * (len(items) - 1) // 2, s.pairs_per_annotator
    check_enough("pairs", available, count, len(items))
    pair = np.stack([rng.choice(available, count, replace=False) for _ in range(s.num_annotators)])
    first, second = (ends.reshape(pair.shape) for ends in pair_of_number(pair.ravel()))
    one, two = (np.take_along_axis(people.seen, ends, 1) for ends in (first, second))
    chance = np.where(one == two, s.sensitivity, 1 - s.specificity)
    # Only who sorts by the labels that are asked for confuses their kinds.
    twin = people.twin[np.where(people.looks[:, None], one, 0)]
    chance = np.where(people.looks[:, None] & (twin == two) & (one != two), s.confusion, chance)
    guessed = rng.random(pair.shape) < s.drift * _position(count)
    chance = np.where(guessed, 0.5, chance)
    chance = np.where(people.constant[:, None] >= 0, people.constant[:, None], chance)
    answer = (rng.random(pair.shape) < chance)[people.copied]
    i, j = (items[ends[people.copied]].ravel() for ends in (first, second))
    return PairAnnotations.from_arrays(
        i, j, np.repeat(np.arange(s.num_annotators), count), answer.ravel(), num_items=len(labels), simulated=True,
        source="realistic (simulated)",
    ).judged_by(labels)  # fmt: skip


def realistic_tasks(
    labels: np.ndarray, rng: np.random.Generator, other: np.ndarray | None = None, **options: Any
) -> PairAnnotations:
    """Annotators group the items of tasks; every pair of a task is an answer.

    Parameters
    ----------
    labels, other : as in :func:`realistic`
    options : see :class:`semicrowd.settings.realistic.RealisticTasksSettings`. Two confused kinds are taken for one, or
        not, in a whole task. Of an annotator's n placements the k-th, from 0, goes to a kind drawn uniformly with
        chance drift · k / (n − 1). Who always says "same" makes one group of all, who always says "different" leaves
        all alone. Who copies has the tasks of the other, as many as they had themselves at most
    """
    s = RealisticTasksSettings(**options)
    items = annotated_items(len(labels), s.num_annotated, rng)
    low, high = s.sizes
    if high > len(items):
        raise UserError(f"annotations.task_size={high}: expected {len(items)} at most, the number of annotated items")
    people = Annotators.draw(s, labels[items], None if other is None else other[items], rng)
    further = rng.integers(s.num_annotators, size=s.num_tasks - s.num_annotators)
    annotator = rng.permutation(np.concatenate([np.arange(s.num_annotators), further]))
    sizes = rng.integers(low, high + 1, s.num_tasks).tolist()
    members = share_out(np.arange(len(items)), sizes, rng)
    groups: list[np.ndarray] = [np.empty(0, np.int64)] * s.num_tasks
    for m in range(s.num_annotators):
        mine = np.flatnonzero(annotator == m)
        position = np.split(_position(sum(sizes[t] for t in mine)), np.cumsum([sizes[t] for t in mine])[:-1])
        for t, place in zip(mine, position, strict=True):
            groups[t] = _grouped(people, s, m, members[t], place, rng)
    asked = [np.flatnonzero(annotator == people.copied[m]) for m in range(s.num_annotators)]
    rows = [(m, t) for m in range(s.num_annotators) for t in asked[m][: np.sum(annotator == m)]]
    i, j, answer = [], [], []
    for _, t in rows:
        first, second = np.triu_indices(len(members[t]), k=1)
        i.append(items[members[t][first]])
        j.append(items[members[t][second]])
        answer.append(groups[t][first] == groups[t][second])
    count = [len(part) for part in answer]
    return PairAnnotations.from_arrays(
        np.concatenate(i), np.concatenate(j), np.repeat([m for m, _ in rows], count), np.concatenate(answer),
        task=np.repeat(np.arange(len(rows)), count), num_items=len(labels), simulated=True,
        source="realistic_tasks (simulated)",
    ).judged_by(labels)  # fmt: skip


def _grouped(
    people: Annotators, s: RealisticTasksSettings, m: int, members: np.ndarray, position: np.ndarray,
    rng: np.random.Generator,
) -> np.ndarray:
    """Group of each item of a task, as annotator m makes them."""
    if people.constant[m] >= 0:
        return np.zeros(len(members), np.int64) if people.constant[m] else np.arange(len(members))
    seen = people.seen[m, members]
    slips = rng.random(len(seen)) < s.drift * position
    seen = np.where(slips, rng.integers(people.kinds[m], size=len(seen)), seen)
    if people.looks[m]:
        kinds = np.arange(len(people.twin))
        # A coin for each pair of kinds, which both of them take from the lower one.
        merged = (rng.random(len(kinds)) < s.confusion)[np.minimum(kinds, people.twin)]
        seen = np.where(merged, np.minimum(kinds, people.twin), kinds)[seen]
    return grouping(seen, s.sensitivity, s.specificity, rng)


def _position(count: int) -> np.ndarray:
    """From 0 to 1, of a single answer 0."""
    return np.linspace(0, 1, count) if count > 1 else np.zeros(count)
