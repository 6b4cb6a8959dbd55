"""Studies of quality: which pairs to ask about, irrelevant columns, intervals of annotators."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import torch
from sklearn.datasets import load_breast_cancer, load_digits, load_wine, make_blobs
from sklearn.metrics import normalized_mutual_info_score

from measuring import print_table
from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.crowd.two_coin import hits_and_misses
from semicrowd.crowd.workers import WorkerPosterior
from semicrowd.estimators.inputs import checked_answers
from semicrowd.methods.cotraining import CoTraining
from semicrowd.models.pair_quality import JEFFREYS, reported_quality
from semicrowd.page.clusters import Distances
from semicrowd.page.questions import pairs_to_ask
from semicrowd.random import stream

_LOADERS = {"wine": load_wine, "cancer": load_breast_cancer, "digits": load_digits}
#: Numbers of answers: the first ones, about pairs of so many items; and those that are added.
_FIRST, _ABOUT, _MORE = 200, 150, 100
Pairs = Sequence[tuple[int, int]]


def questions(quick: bool = False) -> None:
    """Which pairs to ask about: those of ``questions.csv`` or random ones; ``quick`` of one data set and seed.

    At most 400 items of wine, breast cancer, digits and seven Gaussian kinds with a category that means nothing; six
    people, who are right with probability .85. Co-training of 200 answers about random pairs of at most 150 items; then
    of 100 more, about the pairs that the first fit asks for, or about random pairs of all items.
    """
    rows, gains = [], []
    for name in ["wine"] if quick else [*_LOADERS, "gaussians"]:
        for seed in (3,) if quick else (3, 4, 5):
            before, asked, random = _worth(name, seed)
            gains.append(asked - random)
            rows.append((name, str(seed), f"{before:.3f}", f"{asked:.3f}", f"{random:.3f}", f"{gains[-1]:+.3f}"))
    print_table(("data", "seed", "NMI of 200 answers", "100 more, asked for", "100 more, random", "difference"), rows)
    error = np.std(gains, ddof=1) / np.sqrt(len(gains)) if len(gains) > 1 else np.nan
    print(f"\nAsked for less random: {np.mean(gains):+.3f} ± {error:.3f} (standard error, n = {len(gains)})")


def _worth(name: str, seed: int) -> tuple[float, float, float]:
    """NMI of the first answers, with those that are asked for, and with random ones."""
    if name in _LOADERS:
        features, labels = _LOADERS[name](return_X_y=True)
    else:
        features, labels = make_blobs(400, 8, centers=7, cluster_std=4.0, random_state=seed)
        values = stream(seed, "questions/category").integers(14, size=len(labels))
        features = np.hstack([features, np.eye(14)[values]])
    rows = stream(seed, "questions/rows").permutation(len(labels))[:400]
    features, labels, number = features[rows], labels[rows], len(rows)
    some = stream(seed, "questions/items").permutation(number)[:_ABOUT]
    first = _answered(labels, _random(some, _FIRST, seed, "first"), seed, "first")
    fitted = CoTraining(random_state=seed).fit(features, pairs=first)
    answers, result = checked_answers(first, number), fitted.result_
    assert answers is not None
    distance = Distances(features.astype(np.float32), result.final.cluster)
    asked = pairs_to_ask(result.final, result.features, distance, answers, _MORE)
    found = [fitted.labels_]
    for pairs in (asked, _random(np.arange(number), len(asked), seed, "random")):
        both = pd.concat([first, _answered(labels, pairs, seed, "more")])
        found.append(CoTraining(random_state=seed).fit(features, pairs=both).labels_)
    before, after, random = (float(normalized_mutual_info_score(labels, one)) for one in found)
    return before, after, random


def _random(items: np.ndarray, number: int, seed: int, name: str) -> Pairs:
    draws = stream(seed, f"questions/{name}")
    return [tuple(draws.choice(items, 2, replace=False).tolist()) for _ in range(number)]


def _answered(labels: np.ndarray, pairs: Pairs, seed: int, name: str) -> pd.DataFrame:
    draws, rows = stream(seed, f"questions/answers/{name}"), []
    for i, j in pairs:
        right = draws.random() < 0.85
        rows.append((i, j, f"person {draws.integers(6)}", int((labels[i] == labels[j]) == right)))
    return pd.DataFrame(rows, columns=["i", "j", "worker", "label"])


def irrelevant(quick: bool = False) -> None:
    """What columns without information cost co-training; ``quick`` of one seed, without further columns.

    Seven Gaussian kinds of 900 items in eight numbers of different units, 660 answers of twelve people who are right
    with some .88; without further columns, with a category of 14 random towns, and with 14 columns of noise.
    """
    rows = []
    for seed in (0,) if quick else range(5):
        numbers, towns, answers, kinds = _problem(seed)
        noise = pd.DataFrame(np.random.default_rng(1000 + seed).normal(size=(len(kinds), 14)), index=numbers.index)
        tables = [numbers, numbers.assign(town=towns), pd.concat([numbers, noise.add_prefix("noise ")], axis=1)]
        fits = (CoTraining(random_state=0).fit(one, pairs=answers) for one in (tables[:1] if quick else tables))
        rows.append((str(seed), *(f"{normalized_mutual_info_score(kinds, fit.labels_):.3f}" for fit in fits)))
    print_table(("seed", "NMI without", "with a category", "with noise")[: len(rows[0])], rows)


def _problem(seed: int) -> tuple[pd.DataFrame, pd.Series, pd.DataFrame, np.ndarray]:
    """Numbers and towns of the items, answers about them, and their kinds."""
    items, clusters, columns, number, people = 900, 7, 8, 660, 12
    draws = np.random.default_rng(seed)
    means = draws.normal(size=(clusters, columns)) * 1.6 / np.sqrt(2)
    kinds = draws.choice(clusters, items, p=draws.dirichlet(np.full(clusters, 5.0)))
    values = means[kinds] + draws.normal(size=(items, columns))
    values = values * np.exp(draws.normal(size=columns)) + draws.normal(size=columns) * 10
    ids = [f"P{one:04d}" for one in range(items)]
    numbers = pd.DataFrame(values, index=ids, columns=[f"v{one}" for one in range(columns)])
    towns = pd.Series([f"town {one}" for one in draws.integers(14, size=items)], index=ids)
    first = draws.integers(items, size=number)
    second = (first + draws.integers(1, items, size=number)) % items
    for pair in np.flatnonzero(draws.random(number) < 0.35):  # a third more are about two of a kind
        alike = np.flatnonzero(kinds == kinds[first[pair]])
        second[pair] = draws.choice(np.setdiff1d(alike, first[pair]))
    person = draws.integers(people, size=number)
    rate = np.clip(0.88 + draws.normal(size=people) * 0.07, 0.5, 0.99)
    same = kinds[first] == kinds[second]
    label = np.where(draws.random(number) < rate[person], same, ~same).astype(int)
    names = np.array(ids)
    answers = pd.DataFrame({"i": names[first], "j": names[second], "worker": [f"w{one}" for one in person],
                            "label": label})  # fmt: skip
    return numbers, towns, answers, kinds


#: Kinds of the items whose answers have intervals; form of the answers → least number of items of a task, and one more
#: than the largest.
_KINDS = 5
_SIZES = {"pairs": (2, 3), "class labels": (20, 41), "groupings": (12, 13)}


def intervals(quick: bool = False) -> None:
    """How often the 90 % intervals of annotators' rates contain the true rates; ``quick`` of one seed, without fits.

    Twelve people about 400 items of five Gaussian kinds: eight who are right about most items, four who guess. They
    answer 200 questions about random pairs each, or name the classes of 20 to 40 items, or sort twelve items, once to
    five times. Each cell: share of the intervals that contain the true rate, then the mean absolute error of
    sensitivity, specificity.
    """
    rows = []
    for form in _SIZES:
        covered: dict[str, list[np.ndarray]] = {}
        errors: dict[str, list[np.ndarray]] = {}
        for seed in range(1 if quick else 5):
            features, kinds, answers, rates = _crowd(form, seed)
            known = torch.eye(_KINDS, dtype=torch.float64)[kinds[answers.annotated]][None]
            same = (kinds[answers.i] == kinds[answers.j]).astype(np.float64)
            counts = hits_and_misses(same, answers.worker, answers.label, answers.num_annotators)
            alone = WorkerPosterior(*(counts + JEFFREYS)[:, None])
            found = {"every answer alone": alone}
            found["true clusters"] = reported_quality(alone, known, answers.index, robust=True)
            if not quick:
                by_fit = CoTraining(random_state=seed).fit(features, pairs=answers).result_.workers
                assert by_fit is not None
                found["clusters of co-training"] = by_fit
            for name, one in found.items():
                low, high = np.moveaxis(np.array(one.interval())[:, 0], -1, 0)
                covered.setdefault(name, []).append((low <= rates) & (rates <= high))
                errors.setdefault(name, []).append(np.abs(np.array(one.mean())[:, 0] - rates).mean(1))
        cells = [(np.mean(covered[name]), *np.mean(errors[name], 0)) for name in covered]
        rows.append((form, *("{:.3f}: {:.3f}, {:.3f}".format(*cell) for cell in cells)))
    print_table(("answers", *covered), rows)


def _crowd(form: str, seed: int) -> tuple[np.ndarray, np.ndarray, PairAnnotations, np.ndarray]:
    """Features, kinds, answers, and the true sensitivity and specificity of each annotator [2, M]."""
    items, columns, number = 400, 6, 200
    draws = np.random.default_rng(seed)
    kinds = draws.integers(_KINDS, size=items)
    features = draws.normal(size=(_KINDS, columns))[kinds] * 2 + draws.normal(size=(items, columns))
    share = np.bincount(kinds, minlength=_KINDS) / items
    rates, parts, task = [], [], 0
    # The probability to name the right class, of each person.
    right = [*draws.uniform(0.85, 0.97, 4), *draws.uniform(0.5, 0.75, 4), *[1 / _KINDS] * 4]
    for person, probability in enumerate(right):
        named = np.full((_KINDS, _KINDS), (1 - probability) / (_KINDS - 1))  # P(class that is named | kind)
        np.fill_diagonal(named, probability)
        together = np.outer(share, share) * (named @ named.T)  # both of these kinds and called the same
        both = np.square(share).sum()
        rates.append((np.trace(together) / both, 1 - (together.sum() - np.trace(together)) / (1 - both)))
        if form == "pairs":
            i = draws.integers(items, size=number)
            j = (i + draws.integers(1, items, size=number)) % items
            chance = np.where(kinds[i] == kinds[j], rates[-1][0], 1 - rates[-1][1])
            parts.append((i, j, np.full(number, person), draws.random(number) < chance, task + np.arange(number)))
            task += number
            continue
        for _ in range(1 if form == "class labels" else draws.integers(1, 6)):
            shown = draws.choice(items, draws.integers(*_SIZES[form]), replace=False)
            names = np.array([draws.choice(_KINDS, p=named[kind]) for kind in kinds[shown]])
            one, other = np.triu_indices(len(shown), 1)
            pair = np.full(len(one), 1)
            parts.append((shown[one], shown[other], pair * person, names[one] == names[other], pair * task))
            task += 1
    i, j, worker, label, tasks = map(np.concatenate, zip(*parts, strict=True))
    answers = PairAnnotations.from_arrays(
        i, j, worker, label.astype(np.int64), task=None if form == "pairs" else tasks, num_items=items
    )
    return features, kinds, answers, np.array(rates).T
