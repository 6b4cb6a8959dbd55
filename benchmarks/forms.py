"""Answers in several forms, of six people of whom two are bad: do they make the items that they are about worse?

The data of questions.py. Pairs: 160, each of two people. Groupings: three of ten items of each person. Class labels: of
25 items each of four people. Whoever groups or labels puts an item at random unless he is right. NMI of all items, of
those with answers, and of these by their features alone (``predict`` of the same model).
"""

from collections.abc import Iterator

import numpy as np
import pandas as pd
from sklearn.metrics import normalized_mutual_info_score

from questions import SEEDS, data_of
from semicrowd.crowd.index import pairs_within
from semicrowd.methods.cotraining import CoTraining
from semicrowd.random import stream
from table import print_table

#: Probability to be right.
_PEOPLE = {"Anna": 0.95, "Ben": 0.92, "Chloe": 0.9, "Dora": 0.85, "Emil": 0.5, "Fritz": 0.68}
_LABELLERS = ("Anna", "Ben", "Dora", "Emil")
_PAIRS, _EACH, _TASKS, _SIZE, _LABELLED = 160, 2, 3, 10, 25
#: Share of the pairs that are of one class, besides those that are by chance.
_SAME = 0.25


def forms(quick: bool = False) -> None:
    """The table; with ``quick`` of one data set and seed."""
    rows, scores = [], []
    for name in ["wine"] if quick else ["wine", "cancer", "gaussians"]:
        for seed in SEEDS[:1] if quick else SEEDS:
            features, labels = data_of(name, seed)
            for form in ("groupings", "class labels", "all three"):
                answers = _answers(labels, form, seed)
                fit = CoTraining(random_state=seed).fit(features, pairs=answers)
                some = np.unique(answers[["i", "j"]])
                alone = fit.predict(features[some])
                found = labels, fit.labels_, labels[some], fit.labels_[some], labels[some], alone
                scores.append([normalized_mutual_info_score(*found[k : k + 2]) for k in (0, 2, 4)])
                number = f"{len(np.unique(fit.labels_))} of {len(np.unique(labels))}"
                rows.append((name, str(seed), form, *(f"{one:.3f}" for one in scores[-1]), number))
    titles = ("data", "seed", "answers", "NMI of all", "of those with answers", "by features alone", "clusters")
    print_table(titles, rows)
    means = np.mean(scores, axis=0)
    gains = np.subtract(*np.transpose(scores)[1:])
    error = gains.std(ddof=1) / np.sqrt(len(gains))
    print(f"\nMeans: {' '.join(f'{one:.3f}' for one in means)}; items with answers less by features alone: "
          f"{gains.mean():+.3f} ± {error:.3f} (standard error, n = {len(gains)})")  # fmt: skip


def _answers(labels: np.ndarray, form: str, seed: int) -> pd.DataFrame:
    """Columns i, j, worker, label and task; an answer about a single pair is a task of its own."""
    draws, parts = stream(seed, f"forms/{form}"), []
    if form in ("groupings", "all three"):
        parts += [_grouping(labels, person, _SIZE, draws) for person in _PEOPLE for _ in range(_TASKS)]
    if form in ("class labels", "all three"):
        parts += [_grouping(labels, person, _LABELLED, draws) for person in _LABELLERS]
    if form == "all three":
        parts += [pd.DataFrame([one], columns=["i", "j", "worker", "label"]) for one in _pairs(labels, draws)]
    return pd.concat([part.assign(task=task) for task, part in enumerate(parts)], ignore_index=True)


def _grouping(labels: np.ndarray, person: str, size: int, draws: np.random.Generator) -> pd.DataFrame:
    items = draws.choice(len(labels), size, replace=False)
    anywhere = draws.integers(labels.max() + 1, size=size)
    group = np.where(draws.random(size) < _PEOPLE[person], labels[items], anywhere)
    one, two, _ = pairs_within([np.arange(size)])
    return pd.DataFrame({"i": items[one], "j": items[two], "worker": person, "label": group[one] == group[two]})


def _pairs(labels: np.ndarray, draws: np.random.Generator) -> Iterator[tuple[int, int, str, bool]]:
    for _ in range(_PAIRS):
        i, j = draws.choice(len(labels), 2, replace=False)
        if draws.random() < _SAME:
            j = draws.choice(np.flatnonzero((labels == labels[i]) & (np.arange(len(labels)) != i)))
        for person in draws.choice(list(_PEOPLE), _EACH, replace=False):
            right = draws.random() < _PEOPLE[person]
            yield int(i), int(j), str(person), bool((labels[i] == labels[j]) == right)
