"""Public tables with classes by name, as published: nothing is scaled."""

from collections.abc import Callable, Sequence
from numbers import Integral
from pathlib import Path

import numpy as np
from sklearn.preprocessing import scale
from sklearn.utils._param_validation import Interval, StrOptions, validate_params

from semicrowd.data.dataset import COUNT, SEED, SUBSET, Dataset, drawn
from semicrowd.data.fetch import PUBLIC, data_root, fetch
from semicrowd.data.formats import (
    WANTED,
    Table,
    read_activities,
    read_expressions,
    read_keel,
    read_own,
    read_texts,
    read_wifi,
)
from semicrowd.data.generated import draw_chains, hash_of
from semicrowd.errors import UserError
from semicrowd.files import sha256_of
from semicrowd.random import stream

#: Name → description.
BENCHMARKS = {
    "iris": "150 flowers, 4 measures, 3 species (UCI 53, from scikit-learn)",
    "wine": "178 wines, 13 measures of different units, 3 growers (UCI 109, from scikit-learn)",
    "digits": "1,797 images of 8 × 8 pixels, 10 digits (UCI 80, from scikit-learn)",
    "optdigits": "5,620 images of 8 × 8 pixels, 10 digits (UCI 80)",
    "pen": "10,992 pen strokes at 8 points of the plane, 10 digits (UCI 81)",
    "letter": "20,000 printed letters, 16 measures, A to Z (UCI 59)",
    "leukaemia": "248 patients, 2,526 genes, 6 subtypes (Yeoh et al. 2002)",
    "lung": "203 patients, 1,543 genes, 5 types of tissue (Bhattacharjee et al. 2001)",
    "activities": "5,418 stretches of 10 s of a telephone's accelerometer, 43 measures, 6 activities (WISDM 1.1)",
    "texts": "7,674 news of Reuters in 8 subjects, tf-idf of the 2,000 most frequent words (R8)",
    "har": "10,299 windows of a telephone's sensors, 561 measures, 6 activities; you provide the files (UCI 240)",
    "stl10": "13,000 images of 10 classes, your features or means of 3 × 3 pixels; you provide the files",
    "reuters10k": "10,000 news in 4 subjects, tf-idf of the 2,000 most frequent words; you provide the files (RCV1-v2)",
    "wifi_1": "2,737 scans of user 1 on 4 floors of buildings, signals of 141 access points (UCI 310)",
    "wifi_11": "4,516 scans of user 11 on 8 floors, signals of 357 access points (UCI 310)",
    "wifi_14": "1,596 scans of user 14 on 4 floors, signals of 184 access points (UCI 310)",
    "chains": "300 generated two-dimensional points, 2 chains of 5 Gaussians each (Nguyen et al. 2017, Fig. 2)",
}
#: Name → the reader of its only file. Tables of scikit-learn, of several files and generated ones are in ``_read``.
_READERS: dict[str, Callable[[Path], Table]] = {
    "optdigits": read_keel, "pen": read_keel, "letter": read_keel, "leukaemia": read_expressions,
    "lung": read_expressions, "activities": read_activities,
}  # fmt: skip


@validate_params(
    {
        "which": [StrOptions(set(BENCHMARKS))], "classes": ["array-like", None], "columns": [*COUNT, None],
        "subset": SUBSET, "per_class": [*COUNT, None], "item_scale": ["boolean"],
        "folds": [Interval(Integral, 2, None, closed="left")], "fold": [*SEED, None], "fold_classes": ["boolean"],
        "data_seed": SEED,
    },
    prefer_skip_nested_validation=False,
)  # fmt: skip
def load_benchmark(
    *, which: str = "iris", classes: Sequence[str | int] | None = None, columns: int | None = None,
    subset: int | None = None, per_class: int | None = None, item_scale: bool = False, folds: int = 3,
    fold: int | None = None, fold_classes: bool = False, data_seed: int = 0, root: Path | None = None,
) -> Dataset:  # fmt: skip
    """Load one of :data:`BENCHMARKS`; what is not below ``root`` is fetched.

    Classes are chosen first, then columns of largest variance, then items, then the test split. Columns are those of
    all items.

    Parameters
    ----------
    which : name in :data:`BENCHMARKS`
    classes : names of the classes to keep; None: all
    columns : number of columns to keep, those of largest variance; None: all
    subset : number of items, drawn at random; None: all, in the file's order
    per_class : number of items of each class, drawn at random; None: all
    item_scale : whether each item is scaled to mean 0 and variance 1, as gene expression chips are normalised
    folds : number of random folds of the items, one of which may be the test split
    fold : the fold that is the test split, from 0; None: no test split
    fold_classes : whether folds consist of whole classes instead of items
    data_seed : of these draws, apart from the run's seed
    root : data root, None: that of the environment

    Returns
    -------
    Dataset
        Called as the table. Labels number the classes that are kept in the order of their names, in both splits alike.
    """
    if fold is not None and fold >= folds:
        raise UserError(f"data.fold={fold}: expected a number below data.folds={folds}")
    features, names, hashes = _read(which, root or data_root())
    if classes is not None:
        wanted = [str(one) for one in classes]
        there = np.unique(names).astype(str).tolist()
        if not wanted:
            raise UserError("data.classes=[]: expected one class or more, or null for all")
        if missing := [one for one in wanted if one not in there]:
            raise UserError(f"data.classes: {missing[0]} is no class of {which}; there are {', '.join(there)}")
        kept = np.isin(names.astype(str), wanted)
        features, names = features[kept], names[kept]
    if columns is not None:
        if columns > features.shape[1]:
            raise UserError(f"data.columns={columns}: expected {features.shape[1]} at most")
        spread = features.var(axis=0, dtype=np.float64)
        features = features[:, np.sort(np.argsort(-spread, kind="stable")[:columns])]
    features, names = drawn(subset, data_seed, features, names)
    labels = np.unique(names, return_inverse=True)[1].astype(np.int64)
    if item_scale:
        features = scale(features, axis=1)
    features = np.ascontiguousarray(features, np.float32)
    if per_class is not None:
        chosen = _of_each_class(labels, per_class, data_seed)
        features, labels = features[chosen], labels[chosen]
    test = np.zeros(len(labels), bool)
    if fold is not None:  # the parts are as large as one another, give or take one
        what = labels if fold_classes else np.arange(len(labels))
        parts = np.unique(what)
        if folds > len(parts):
            kind = "classes" if fold_classes else "items"
            raise UserError(f"data.folds={folds}: expected {len(parts)} at most, the number of {kind}")
        shuffled = stream(data_seed, "data/folds").permutation(parts)
        test = np.isin(what, np.array_split(shuffled, folds)[fold])
    held_out = (features[test], labels[test]) if test.any() else (None, None)
    return Dataset(
        which, features[~test], labels[~test], held_out[0], held_out[1], hashes=hashes,
        num_classes=len(np.unique(labels[~test])),
    )  # fmt: skip


def _of_each_class(labels: np.ndarray, count: int, seed: int) -> np.ndarray:
    """Sorted numbers of ``count`` items of every class."""
    order = stream(seed, "data/per_class").permutation(len(labels))
    members = [order[labels[order] == label] for label in np.unique(labels)]
    if (fewest := min(map(len, members))) < count:
        raise UserError(f"data.per_class={count}: expected {fewest} at most, the items of the smallest class")
    return np.sort(np.concatenate([items[:count] for items in members]))


def _read(name: str, root: Path) -> tuple[np.ndarray, np.ndarray, dict[str, str]]:
    """Features, classes' names or numbers, file → sha256."""
    if name in ("chains", "iris", "wine", "digits"):
        features, labels = draw_chains() if name == "chains" else _of_scikit_learn(name)
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
