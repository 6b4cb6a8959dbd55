"""Public tables with classes by name, as published: nothing is scaled."""

import hashlib
from collections.abc import Callable
from pathlib import Path

import numpy as np

from semicrowd.data.chains import draw_chains
from semicrowd.data.dataset import Dataset, drawn_items
from semicrowd.data.families import draw_families
from semicrowd.data.fetch import fetch
from semicrowd.data.formats import Table, read_activities, read_expressions, read_keel, read_texts, read_wifi
from semicrowd.data.public import PUBLIC
from semicrowd.errors import UserError
from semicrowd.settings.sources import BenchmarkSettings

#: Name → the reader of its only file. Tables of scikit-learn, of several files and generated ones are in ``_read``.
_READERS: dict[str, Callable[[Path], Table]] = {
    "optdigits": read_keel, "pen": read_keel, "letter": read_keel, "leukaemia": read_expressions,
    "lung": read_expressions, "activities": read_activities,
}  # fmt: skip
_GENERATED: dict[str, Callable[[], Table]] = {"families": draw_families, "chains": draw_chains}


def load_benchmark(root: Path, settings: BenchmarkSettings) -> Dataset:
    """Load one of :data:`semicrowd.settings.sources.BENCHMARKS`; what is not below ``root`` is fetched.

    Classes are chosen first, then columns of largest variance, then items.

    Returns
    -------
    Dataset
        Called as the table. Labels number the classes that are kept in the order of their names.

    Raises
    ------
    UserError
        If the files cannot be had, for a class that there is not, and for more columns or items than there are.
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
    if settings.subset is not None:
        chosen = drawn_items(len(features), settings.subset, settings.data_seed)
        features, names = features[chosen], names[chosen]
    classes, labels = np.unique(names, return_inverse=True)
    return Dataset(
        settings.which, np.ascontiguousarray(features, np.float32), labels.astype(np.int64), hashes=hashes,
        num_classes=len(classes),
    )  # fmt: skip


def _read(name: str, root: Path) -> tuple[np.ndarray, np.ndarray, dict[str, str]]:
    """Features, classes' names or numbers, file → sha256."""
    if name in _GENERATED or name in ("iris", "wine", "digits"):
        features, labels = _GENERATED[name]() if name in _GENERATED else _of_scikit_learn(name)
        digest = hashlib.sha256(np.ascontiguousarray(features, np.float32).tobytes() + labels.tobytes()).hexdigest()
        return features, labels, {f"{name} (generated or of scikit-learn)": digest}
    public, _, user = name.partition("_")
    paths = fetch(public, root)
    if public == "wifi":
        table = read_wifi(next(iter(paths.values())), int(user))
    elif public == "texts":
        table = read_texts(list(paths.values()))
    else:
        table = _READERS[public](next(iter(paths.values())))
    return *table, {file.name: file.sha256 for file in PUBLIC[public].files}


def _of_scikit_learn(name: str) -> Table:
    # Imported here: half a second, for three of the tables.
    from sklearn import datasets

    bunch = getattr(datasets, f"load_{name}")()
    return bunch.data, bunch.target
