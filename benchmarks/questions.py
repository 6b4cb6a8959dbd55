"""Which pairs to ask about: those of ``questions.csv`` or random ones.

At most 400 items of wine, breast cancer, digits and seven Gaussian kinds with a category that means nothing; six
people, who are right with probability .85. Co-training of 200 answers about random pairs of at most 150
items; then of 100 more, about the pairs that the first fit asks for, or about random pairs of all items.
"""

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer, load_digits, load_wine, make_blobs
from sklearn.metrics import normalized_mutual_info_score

from semicrowd.estimators.inputs import checked_answers
from semicrowd.methods.cotraining import CoTraining
from semicrowd.page.clusters import Distances
from semicrowd.page.questions import pairs_to_ask
from semicrowd.random import stream
from table import print_table

_ITEMS, _ASKED_ABOUT, _PEOPLE, _RATE = 400, 150, 6, 0.85
_FIRST, _MORE = 200, 100
SEEDS = range(3, 6)
_LOADERS = {"wine": load_wine, "cancer": load_breast_cancer, "digits": load_digits}

Pairs = Sequence[tuple[int, int]]


def questions(quick: bool = False) -> None:
    """The table; with ``quick`` of one data set and seed."""
    rows, gains = [], []
    for name in ["wine"] if quick else [*_LOADERS, "gaussians"]:
        for seed in SEEDS[:1] if quick else SEEDS:
            before, asked, random = _worth(name, seed)
            gains.append(asked - random)
            rows.append((name, str(seed), f"{before:.3f}", f"{asked:.3f}", f"{random:.3f}", f"{gains[-1]:+.3f}"))
    print_table(("data", "seed", "NMI of 200 answers", "100 more, asked for", "100 more, random", "difference"), rows)
    error = np.std(gains, ddof=1) / np.sqrt(len(gains)) if len(gains) > 1 else np.nan
    print(f"\nAsked for less random: {np.mean(gains):+.3f} ± {error:.3f} (standard error, n = {len(gains)})")


def _worth(name: str, seed: int) -> tuple[float, float, float]:
    """NMI of the first answers, with those that are asked for, and with random ones."""
    features, labels = data_of(name, seed)
    number = len(labels)
    some = stream(seed, "questions/items").permutation(number)[:_ASKED_ABOUT]
    first = _answered(labels, _random(some, _FIRST, seed, "first"), seed, "first")
    fitted = CoTraining(random_state=seed).fit(features, pairs=first)
    answers, result = checked_answers(first, number), fitted.result_
    assert answers is not None
    counts = np.bincount(np.concatenate([answers.i, answers.j]), minlength=number)
    distance = Distances(features.astype(np.float32), result.final.cluster)
    asked = pairs_to_ask(result.final, result.features, distance, counts, answers, _MORE)
    found = [fitted.labels_]
    for pairs in (asked, _random(np.arange(number), len(asked), seed, "random")):
        both = pd.concat([first, _answered(labels, pairs, seed, "more")])
        found.append(CoTraining(random_state=seed).fit(features, pairs=both).labels_)
    before, after, random = (float(normalized_mutual_info_score(labels, one)) for one in found)
    return before, after, random


def data_of(name: str, seed: int) -> tuple[np.ndarray, np.ndarray]:
    if name in _LOADERS:
        features, labels = _LOADERS[name](return_X_y=True)
    else:
        features, labels = make_blobs(_ITEMS, 8, centers=7, cluster_std=4.0, random_state=seed)
        values = stream(seed, "questions/category").integers(14, size=len(labels))
        features = np.hstack([features, np.eye(14)[values]])
    rows = stream(seed, "questions/rows").permutation(len(labels))[:_ITEMS]
    return features[rows], labels[rows]


def _random(items: np.ndarray, number: int, seed: int, name: str) -> Pairs:
    draws = stream(seed, f"questions/{name}")
    return [tuple(draws.choice(items, 2, replace=False).tolist()) for _ in range(number)]


def _answered(labels: np.ndarray, pairs: Pairs, seed: int, name: str) -> pd.DataFrame:
    return pd.DataFrame(list(_answers(labels, pairs, seed, name)), columns=["i", "j", "worker", "label"])


def _answers(labels: np.ndarray, pairs: Pairs, seed: int, name: str) -> Iterator[tuple[int, int, str, int]]:
    draws = stream(seed, f"questions/answers/{name}")
    for i, j in pairs:
        right = draws.random() < _RATE
        yield i, j, f"person {draws.integers(_PEOPLE)}", int((labels[i] == labels[j]) == right)
