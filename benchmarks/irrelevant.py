"""What columns that have nothing to do with the question cost co-training.

Seven Gaussian kinds of 900 items in eight numbers of different units, 660 answers of twelve people who are right with
some .88; without further columns, with a category of 14 random towns, and with 14 columns of noise.
"""

import numpy as np
import pandas as pd
from sklearn.metrics import normalized_mutual_info_score

from semicrowd.methods.cotraining import CoTraining
from table import print_table

_ITEMS, _KINDS, _NUMBERS, _MORE, _ANSWERS, _PEOPLE = 900, 7, 8, 14, 660, 12
_SEEDS = range(5)


def irrelevant(quick: bool = False) -> None:
    """The table; with ``quick`` of one seed, without further columns."""
    rows = []
    for seed in _SEEDS[:1] if quick else _SEEDS:
        numbers, towns, answers, kinds = _problem(seed)
        noise = pd.DataFrame(np.random.default_rng(1000 + seed).normal(size=(_ITEMS, _MORE)), index=numbers.index)
        tables = [numbers, numbers.assign(town=towns), pd.concat([numbers, noise.add_prefix("noise ")], axis=1)]
        fits = (CoTraining(random_state=0).fit(one, pairs=answers) for one in (tables[:1] if quick else tables))
        rows.append((str(seed), *(f"{normalized_mutual_info_score(kinds, fit.labels_):.3f}" for fit in fits)))
    print_table(("seed", "NMI without", "with a category", "with noise")[: len(rows[0])], rows)


def _problem(seed: int) -> tuple[pd.DataFrame, pd.Series, pd.DataFrame, np.ndarray]:
    """Numbers and towns of the items, answers about them, and their kinds."""
    draws = np.random.default_rng(seed)
    means = draws.normal(size=(_KINDS, _NUMBERS)) * 1.6 / np.sqrt(2)
    kinds = draws.choice(_KINDS, _ITEMS, p=draws.dirichlet(np.full(_KINDS, 5.0)))
    values = means[kinds] + draws.normal(size=(_ITEMS, _NUMBERS))
    values = values * np.exp(draws.normal(size=_NUMBERS)) + draws.normal(size=_NUMBERS) * 10
    ids = [f"P{number:04d}" for number in range(_ITEMS)]
    numbers = pd.DataFrame(values, index=ids, columns=[f"v{number}" for number in range(_NUMBERS)])
    towns = pd.Series([f"town {one}" for one in draws.integers(_MORE, size=_ITEMS)], index=ids)
    first = draws.integers(_ITEMS, size=_ANSWERS)
    second = (first + draws.integers(1, _ITEMS, size=_ANSWERS)) % _ITEMS
    for pair in np.flatnonzero(draws.random(_ANSWERS) < 0.35):  # a third more are about two of a kind
        alike = np.flatnonzero(kinds == kinds[first[pair]])
        second[pair] = draws.choice(np.setdiff1d(alike, first[pair]))
    person = draws.integers(_PEOPLE, size=_ANSWERS)
    rate = np.clip(0.88 + draws.normal(size=_PEOPLE) * 0.07, 0.5, 0.99)
    same = kinds[first] == kinds[second]
    label = np.where(draws.random(_ANSWERS) < rate[person], same, ~same).astype(int)
    names = np.array(ids)
    people = [f"w{one}" for one in person]
    answers = pd.DataFrame({"i": names[first], "j": names[second], "worker": people, "label": label})
    return numbers, towns, answers, kinds
