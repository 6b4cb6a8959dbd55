"""Simulated annotators with dependent errors, in contrast to the independent errors of the two-coin model.

Each annotator first assigns a perceived class to each item, and answers by it. An item has a hardness h and a class to
which it is similar; each annotator perceives it as that class with probability h, in all of its pairs, so that most
people make the same mistake about a hard item. All annotators sometimes merge certain pairs of similar classes. Some
annotators answer by other labels than those of the question, some always give the same answer, and some copy. All
annotators answer at random more often the longer they work.

Simulated experts are classifiers trained on few labels, of some classes almost none, with random answers added, by the
protocol of *Uncertainty-aware probabilistic constrained clustering from entangled pairwise supervision* (Zhang & Chen
2026, arXiv 2608.12027, Appendices C.3 and C.5, ``multi3`` with the default settings). There an expert's answer is a
number between 0 and 1; here it is thresholded at one half, because people answer yes or no.
"""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Bool, Int

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.crowd.index import pairs_within
from semicrowd.crowd.simulate import annotated_items, check_enough, grouping, pair_of_number, share_out
from semicrowd.errors import UserError
from semicrowd.settings.realistic import EffectSettings, ExpertsSettings, RealisticSettings, RealisticTasksSettings


@dataclass(frozen=True)
class Annotators:
    """Perceived classes and habits of M annotators.

    Attributes
    ----------
    seen : class that each annotator perceives for each annotated item: 0 … K − 1, or 0 … L − 1 of other labels
    num_classes : number of classes that the annotator distinguishes, K or L
    twin : the class with which each class is confused, or the class itself
    looks : whether the annotator answers by the labels of the question
    constant : 1 or 0 for an annotator who always answers "same" or "different", −1 for others
    copied : the annotator whose answers are given: usually the annotator itself, else the one who is copied
    """

    seen: Int[np.ndarray, "M n"]
    num_classes: Int[np.ndarray, "M"]
    twin: Int[np.ndarray, "K"]
    looks: Bool[np.ndarray, "M"]
    constant: Int[np.ndarray, "M"]
    copied: Int[np.ndarray, "M"]

    @classmethod
    def draw(
        cls, s: EffectSettings, labels: np.ndarray, other: np.ndarray | None, rng: np.random.Generator
    ) -> "Annotators":
        """Draw habits, hardness and perceived classes of items, given their labels [n] and other labels [n] or None."""
        classes, code = np.unique(labels, return_inverse=True)
        if len(classes) < 2:
            raise UserError("annotations: expected annotated items of at least two classes")
        order = rng.permutation(s.num_annotators)
        axis, lazy, copies = s.counts
        habits = np.split(order, np.cumsum([axis, lazy, copies]))
        looks, constant = np.ones(s.num_annotators, bool), np.full(s.num_annotators, -1)
        looks[habits[0]] = False
        constant[habits[1]] = (rng.permutation(lazy) + rng.integers(2)) % 2
        copied = np.arange(s.num_annotators)
        if copies:
            copied[habits[2]] = rng.choice(np.setdiff1d(order, habits[2]), copies)
        like, hardness = like_and_hardness(code, len(classes), s.hardness, rng)
        seen = np.where(rng.random((s.num_annotators, len(code))) < hardness, like, code)
        second = rng.integers(s.other_kinds, size=len(code)) if other is None else other
        second = np.unique(second, return_inverse=True)[1]
        seen[~looks] = second
        return cls(
            seen, np.where(looks, len(classes), second.max() + 1), confused_classes(len(classes), s.confused, rng),
            looks, constant, copied,
        )  # fmt: skip


def like_and_hardness(
    code: np.ndarray, num_classes: int, mean: float, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """For each item [n] a similar class, drawn uniformly from the others, and its hardness.

    The hardness has the distribution Beta(mean, 1 − mean), whose values are mostly near 0 or near 1.
    """
    like = (code + rng.integers(1, num_classes, len(code))) % num_classes
    return like, rng.beta(mean, 1 - mean, len(code)) if 0 < mean < 1 else np.full(len(code), mean)


def confused_classes(num_classes: int, share: float, rng: np.random.Generator) -> np.ndarray:
    """[K] the class with which each class is confused, or the class itself.

    Random disjoint pairs of classes contain the given ``share`` of the classes, but at least one pair if it is not 0.
    """
    twin = np.arange(num_classes)
    if share > 0:
        number = max(round(share * num_classes / 2), 1)
        pairs = rng.permutation(num_classes)[: 2 * min(number, num_classes // 2)].reshape(-1, 2)
        twin[pairs[:, 0]], twin[pairs[:, 1]] = pairs[:, 1], pairs[:, 0]
    return twin


def realistic(
    labels: np.ndarray, rng: np.random.Generator, other: np.ndarray | None = None, **options: Any
) -> PairAnnotations:
    """Each annotator answers random pairs of the annotated items.

    Parameters
    ----------
    labels : [N] true classes
    other : [N] other labels by which some annotators answer; None: drawn uniformly
    options : see :class:`semicrowd.settings.realistic.RealisticSettings`. The k-th of an annotator's n answers, from 0,
        is random with probability drift · k / (n − 1). An annotator who copies has the same pairs in the same order as
        the copied one. The true rates are computed from the answers
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
    # Only annotators who answer by the labels of the question confuse their classes.
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
    ).with_true_rates(labels)  # fmt: skip


def realistic_tasks(
    labels: np.ndarray, rng: np.random.Generator, other: np.ndarray | None = None, **options: Any
) -> PairAnnotations:
    """Annotators group the items of tasks; each pair of a task is an answer.

    Parameters
    ----------
    labels, other : as in :func:`realistic`
    options : see :class:`semicrowd.settings.realistic.RealisticTasksSettings`. Two confused classes are either merged
        or not in a whole task. The k-th of the n items that an annotator groups, from 0, is assigned to a random class
        with probability drift · k / (n − 1). An annotator who always answers "same" makes one group of all items, one
        who always answers "different" makes groups of single items. An annotator who copies has the tasks of the copied
        one, but at most as many tasks as without copying
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
    i, j, task = pairs_within([items[members[t]] for _, t in rows])
    one, two, _ = pairs_within([groups[t] for _, t in rows])
    return PairAnnotations.from_arrays(
        i, j, np.array([m for m, _ in rows])[task], one == two, task=task, num_items=len(labels), simulated=True,
        source="realistic_tasks (simulated)",
    ).with_true_rates(labels)  # fmt: skip


def _grouped(
    people: Annotators, s: RealisticTasksSettings, m: int, members: np.ndarray, position: np.ndarray,
    rng: np.random.Generator,
) -> np.ndarray:
    """Group of each item of a task that annotator m groups."""
    if people.constant[m] >= 0:
        return np.zeros(len(members), np.int64) if people.constant[m] else np.arange(len(members))
    seen = people.seen[m, members]
    slips = rng.random(len(seen)) < s.drift * position
    seen = np.where(slips, rng.integers(people.num_classes[m], size=len(seen)), seen)
    if people.looks[m]:
        classes = np.arange(len(people.twin))
        # One random decision for each pair of classes: that of the class with the lower number.
        merged = (rng.random(len(classes)) < s.confusion)[np.minimum(classes, people.twin)]
        seen = np.where(merged, np.minimum(classes, people.twin), classes)[seen]
    return grouping(seen, s.sensitivity, s.specificity, rng)


def _position(count: int) -> np.ndarray:
    """Positions of answers in an annotator's work, from 0 to 1; 0 for a single answer."""
    return np.linspace(0, 1, count) if count > 1 else np.zeros(count)


#: Units of the two hidden layers of an expert's network.
_HIDDEN = (512, 512)
#: Batch size of its training.
_BATCH = 256
#: Maximal number of training epochs.
_EPOCHS = 100
#: Training stops after this number of epochs without improvement.
_PATIENCE = 10


def experts(features: np.ndarray, labels: np.ndarray, rng: np.random.Generator, **options: Any) -> PairAnnotations:
    """Each expert answers random pairs with a classifier of its own.

    The probability of the same class is Σ_k p_k(a) p_k(b), with the classifier's probabilities p of the items a and b.
    A share of these values is replaced by uniform random numbers on [0, 1]. The answer is "same" for values above ½.

    Parameters
    ----------
    features : [N, D] input of the classifiers, without missing values
    labels : [N] true classes
    options : see :class:`semicrowd.settings.realistic.ExpertsSettings`; pairs and annotated items are drawn uniformly;
        the training items of an expert are drawn from all items. The true rates are computed from the answers
    """
    s = ExpertsSettings(**options)
    classes, code = np.unique(labels, return_inverse=True)
    blind = blind_spots(len(classes), s.num_annotators)
    items = annotated_items(len(labels), s.num_annotated, rng)
    available, count = len(items) * (len(items) - 1) // 2, s.pairs_per_annotator
    check_enough("pairs", available, count, len(items))
    i, j, value = [], [], []
    for spot in blind:
        first, second = (items[ends] for ends in pair_of_number(rng.choice(available, count, replace=False)))
        chosen = learnt(code, spot, s.familiar, s.unfamiliar, rng)
        seen = _seen(features, code, chosen, np.concatenate([first, second]), int(rng.integers(2**31)))
        compared = np.sum(seen[:count] * seen[count:], axis=1)
        i.append(first)
        j.append(second)
        value.append(np.where(rng.random(count) < s.corrupted, rng.random(count), compared))
    return PairAnnotations.from_arrays(
        np.concatenate(i), np.concatenate(j), np.repeat(np.arange(s.num_annotators), count),
        np.concatenate(value) > 0.5, num_items=len(labels), simulated=True, source="experts (simulated)",
    ).with_true_rates(labels)  # fmt: skip


def blind_spots(num_classes: int, num_experts: int) -> list[np.ndarray]:
    """Unfamiliar classes of each expert: consecutive classes, in parts of nearly equal size.

    Raises
    ------
    UserError
        If there are fewer classes than experts.
    """
    if num_classes < num_experts:
        raise UserError(
            f"annotations=experts: {num_experts} experts, {num_classes} classes; expected at least one class for each "
            "expert"
        )
    return np.array_split(np.arange(num_classes), num_experts)


def learnt(
    code: np.ndarray, spot: np.ndarray, familiar: float, unfamiliar: float, rng: np.random.Generator
) -> np.ndarray:
    """Training items of an expert: of each class a share, rounded down, but at least one item."""
    chosen = []
    for one in range(int(code.max()) + 1):
        members = np.flatnonzero(code == one)
        number = max(int((unfamiliar if one in spot else familiar) * len(members)), 1)
        chosen.append(rng.choice(members, number, replace=False))
    return np.concatenate(chosen)


def _seen(features: np.ndarray, code: np.ndarray, chosen: np.ndarray, asked: np.ndarray, seed: int) -> np.ndarray:
    """[n, K] class probabilities of the items ``asked``, by a network trained on the items ``chosen``."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.neural_network import MLPClassifier

    network = MLPClassifier(
        _HIDDEN, batch_size=min(_BATCH, len(chosen)), max_iter=_EPOCHS, n_iter_no_change=_PATIENCE, random_state=seed
    )
    with warnings.catch_warnings():
        # The number of epochs is part of the protocol, so training may end before convergence.
        warnings.simplefilter("ignore", ConvergenceWarning)
        network.fit(features[chosen], code[chosen])
    probabilities: np.ndarray = network.predict_proba(features[asked])
    return probabilities
