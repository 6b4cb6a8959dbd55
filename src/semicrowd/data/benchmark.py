"""Public tables with classes by name, as published: nothing is scaled."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
from sklearn.preprocessing import scale

from semicrowd.data.dataset import Dataset, drawn
from semicrowd.data.fetch import PUBLIC, fetch
from semicrowd.data.formats import Table, read_activities, read_expressions, read_keel, read_texts, read_wifi
from semicrowd.data.generated import draw_chains, hash_of
from semicrowd.data.own import WANTED, read_own
from semicrowd.errors import UserError
from semicrowd.files import sha256_of
from semicrowd.random import stream
from semicrowd.settings.sources import BenchmarkSettings

#: Name → the reader of its only file. Tables of scikit-learn, of several files and generated ones are in ``_read``.
_READERS: dict[str, Callable[[Path], Table]] = {
    "optdigits": read_keel, "pen": read_keel, "letter": read_keel, "leukaemia": read_expressions,
    "lung": read_expressions, "activities": read_activities,
}  # fmt: skip
_GENERATED: dict[str, Callable[[], Table]] = {"chains": draw_chains}


def load_benchmark(root: Path, settings: BenchmarkSettings) -> Dataset:
    """Load one of :data:`semicrowd.settings.sources.BENCHMARKS`; what is not below ``root`` is fetched.

    Classes are chosen first, then columns of largest variance, then items, then the test split. Columns are those of
    all items.

    Returns
    -------
    Dataset
        Called as the table. Labels number the classes that are kept in the order of their names, in both splits alike.
    """
    features, names, hashes = _read(settings.which, root)
    if settings.classes is not None:
        wanted = [str(one) for one in settings.classes]
        there = np.unique(names).astype(str).tolist()
        if missing := [one for one in wanted if one not in there]:
            raise UserError(f"data.classes: {missing[0]} is no class of {settings.which}; there are {', '.join(there)}")
        kept = np.isin(names.astype(str), wanted)
        features, names = features[kept], names[kept]
    if settings.columns is not None:
        if settings.columns > features.shape[1]:
            raise UserError(f"data.columns={settings.columns}: expected {features.shape[1]} at most")
        spread = features.var(axis=0, dtype=np.float64)
        features = features[:, np.sort(np.argsort(-spread, kind="stable")[: settings.columns])]
    features, names = drawn(settings.subset, settings.data_seed, features, names)
    labels = np.unique(names, return_inverse=True)[1].astype(np.int64)
    if settings.item_scale:
        features = scale(features, axis=1)
    features = np.ascontiguousarray(features, np.float32)
    if settings.per_class is not None:
        chosen = _of_each_class(labels, settings.per_class, settings.data_seed)
        features, labels = features[chosen], labels[chosen]
    test = _test_items(labels, settings)
    held_out = (features[test], labels[test]) if test.any() else (None, None)
    return Dataset(
        settings.which, features[~test], labels[~test], held_out[0], held_out[1], hashes=hashes,
        num_classes=len(np.unique(labels[~test])),
    )  # fmt: skip


def _of_each_class(labels: np.ndarray, count: int, seed: int) -> np.ndarray:
    """Sorted numbers of ``count`` items of every class."""
    order = stream(seed, "data/per_class").permutation(len(labels))
    members = [order[labels[order] == label] for label in np.unique(labels)]
    if (fewest := min(map(len, members))) < count:
        raise UserError(f"data.per_class={count}: expected {fewest} at most, the items of the smallest class")
    return np.sort(np.concatenate([items[:count] for items in members]))


def _test_items(labels: np.ndarray, settings: BenchmarkSettings) -> np.ndarray:
    """Whether an item is of the test split, [N]; the parts are as large as one another, give or take one."""
    if settings.fold is None:
        return np.zeros(len(labels), bool)
    what = labels if settings.fold_classes else np.arange(len(labels))
    parts = np.unique(what)
    if settings.folds > len(parts):
        kind = "classes" if settings.fold_classes else "items"
        raise UserError(f"data.folds={settings.folds}: expected {len(parts)} at most, the number of {kind}")
    shuffled = stream(settings.data_seed, "data/folds").permutation(parts)
    return np.isin(what, np.array_split(shuffled, settings.folds)[settings.fold])


def _read(name: str, root: Path) -> tuple[np.ndarray, np.ndarray, dict[str, str]]:
    """Features, classes' names or numbers, file → sha256."""
    if name in _GENERATED or name in ("iris", "wine", "digits"):
        features, labels = _GENERATED[name]() if name in _GENERATED else _of_scikit_learn(name)
        digest = hash_of(np.ascontiguousarray(features, np.float32), labels)
        return features, labels, {f"{name} (generated or of scikit-learn)": digest}
    if name in WANTED:
        table, paths_of_user = read_own(name, root)
        return *table, {path.name: sha256_of(path) for path in paths_of_user}
    public, _, user = name.partition("_")
    paths = fetch(public, root)
    if public == "wifi":
        table = read_wifi(next(iter(paths.values())), int(user))
    elif public == "texts":
        table = read_texts(list(paths.values()))
    else:
        table = _READERS[public](next(iter(paths.values())))
    return *table, dict(PUBLIC[public].files)


def _of_scikit_learn(name: str) -> Table:
    # Imported here: half a second, for three of the tables.
    from sklearn import datasets

    bunch = getattr(datasets, f"load_{name}")()
    return bunch.data, bunch.target
