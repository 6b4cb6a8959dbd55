"""How often the 90 % intervals of annotators' rates contain the true rates, and the errors of the estimates.

Twelve people about 400 items of five Gaussian kinds: eight who are right about most items, four who guess. They answer
200 questions about random pairs each, or name the classes of 20 to 40 items, or sort twelve items, once to five times.
Each cell: share of the intervals that contain the true rate, then the mean absolute error of sensitivity, specificity.
"""

from typing import NamedTuple

import numpy as np
import torch

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.crowd.two_coin import hits_and_misses
from semicrowd.crowd.workers import WorkerPosterior
from semicrowd.methods.cotraining import CoTraining
from semicrowd.models.pair_quality import JEFFREYS, reported_quality
from table import print_table

_ITEMS, _KINDS, _NUMBERS, _PAIRS = 400, 5, 6, 200
#: Range of the probability to name the right class, of the people who do not guess.
_GOOD, _MEDIOCRE = (0.85, 0.97), (0.5, 0.75)
#: Form of the answers → least number of items of a task, and one more than the largest.
_SIZES = {"pairs": (2, 3), "class labels": (20, 41), "groupings": (12, 13)}
_SEEDS = range(5)


class _Crowd(NamedTuple):
    """Features, kinds, answers, and the true sensitivity and specificity of each annotator [2, M]."""

    features: np.ndarray
    kinds: np.ndarray
    answers: PairAnnotations
    rates: np.ndarray


def intervals(quick: bool = False) -> None:
    """The table; with ``quick`` of one seed, without fits."""
    rows = []
    for form in _SIZES:
        covered: dict[str, list[np.ndarray]] = {}
        errors: dict[str, list[np.ndarray]] = {}
        for seed in _SEEDS[:1] if quick else _SEEDS:
            crowd = _crowd(form, seed)
            answers = crowd.answers
            known = torch.eye(_KINDS, dtype=torch.float64)[crowd.kinds[answers.annotated]][None]
            same = (crowd.kinds[answers.i] == crowd.kinds[answers.j]).astype(np.float64)
            counts = hits_and_misses(same, answers.worker, answers.label, answers.num_annotators)
            alone = WorkerPosterior(*(counts + JEFFREYS)[:, None])
            found = {"every answer alone": alone}
            found["true clusters"] = reported_quality(alone, known, answers.index, robust=True)
            if not quick:
                by_fit = CoTraining(random_state=seed).fit(crowd.features, answers).result_.workers
                assert by_fit is not None
                found["clusters of co-training"] = by_fit
            for name, one in found.items():
                covered.setdefault(name, []).append(_covered(one, crowd.rates))
                errors.setdefault(name, []).append(np.abs(np.array(one.mean())[:, 0] - crowd.rates).mean(1))
        cells = [(np.mean(covered[name]), *np.mean(errors[name], 0)) for name in covered]
        rows.append((form, *("{:.3f}: {:.3f}, {:.3f}".format(*cell) for cell in cells)))
    print_table(("answers", *covered), rows)


def _covered(posterior: WorkerPosterior, rates: np.ndarray) -> np.ndarray:
    """Whether the interval of each rate of each annotator contains the true one, [2, M]."""
    low, high = np.moveaxis(np.array(posterior.interval())[:, 0], -1, 0)
    return (low <= rates) & (rates <= high)


def _crowd(form: str, seed: int) -> _Crowd:
    draws = np.random.default_rng(seed)
    kinds = draws.integers(_KINDS, size=_ITEMS)
    features = draws.normal(size=(_KINDS, _NUMBERS))[kinds] * 2 + draws.normal(size=(_ITEMS, _NUMBERS))
    share = np.bincount(kinds, minlength=_KINDS) / _ITEMS
    rates, columns, task = [], [], 0
    for person, right in enumerate([*draws.uniform(*_GOOD, 4), *draws.uniform(*_MEDIOCRE, 4), *[1 / _KINDS] * 4]):
        named = np.full((_KINDS, _KINDS), (1 - right) / (_KINDS - 1))  # P(class that is named | kind)
        np.fill_diagonal(named, right)
        together = np.outer(share, share) * (named @ named.T)  # both of these kinds and called the same
        both = np.square(share).sum()
        rates.append((np.trace(together) / both, 1 - (together.sum() - np.trace(together)) / (1 - both)))
        if form == "pairs":
            i = draws.integers(_ITEMS, size=_PAIRS)
            j = (i + draws.integers(1, _ITEMS, size=_PAIRS)) % _ITEMS
            chance = np.where(kinds[i] == kinds[j], rates[-1][0], 1 - rates[-1][1])
            columns.append((i, j, np.full(_PAIRS, person), draws.random(_PAIRS) < chance, task + np.arange(_PAIRS)))
            task += _PAIRS
            continue
        for _ in range(1 if form == "class labels" else draws.integers(1, 6)):
            items = draws.choice(_ITEMS, draws.integers(*_SIZES[form]), replace=False)
            names = np.array([draws.choice(_KINDS, p=named[kind]) for kind in kinds[items]])
            one, other = np.triu_indices(len(items), 1)
            pair = np.full(len(one), 1)
            columns.append((items[one], items[other], pair * person, names[one] == names[other], pair * task))
            task += 1
    i, j, worker, label, tasks = map(np.concatenate, zip(*columns, strict=True))
    answers = PairAnnotations.from_arrays(
        i, j, worker, label.astype(np.int64), task=None if form == "pairs" else tasks, num_items=_ITEMS
    )
    return _Crowd(features, kinds, answers, np.array(rates).T)
