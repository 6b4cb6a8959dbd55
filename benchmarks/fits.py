"""Whole fits as users type them: seconds, memory, clusters; and items a second that methods assign."""

import json
import math
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import make_blobs
from sklearn.decomposition import PCA
from sklearn.metrics import normalized_mutual_info_score

from measuring import apart, at_least, at_most, growth_row, print_table
from semicrowd.crowd import simulate
from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.data.mnist import load_mnist
from semicrowd.methods import METHODS, method
from semicrowd.methods.cotraining import CoTraining
from semicrowd.random import stream

ROOT = Path(__file__).resolve().parents[1]
#: Items a second that a method has to assign.
LEAST = 50_000


def tables(quick: bool = False) -> None:
    """Default fits of a table with simulated answers, each in a process of its own, without OMP_NUM_THREADS.

    Ten kinds of the same size, Gaussian around centres; a fifth of the items have answers of ten annotators, to pairs,
    right nine times of ten, or in tasks of 15 items of which they misplace one in ten.
    """
    sizes = [(60, 4, 210, 60.0)] if quick else [(2000, 64, 10_000, 30.0), (5000, 200, 50_000, 60.0)]
    rows = []
    for items, columns, answers, bar in sizes:
        for kind in ("pairs", "tasks"):
            for name in ("bayes", "scdc"):
                wall, cpu, clusters = apart(_table_fit, name, items, columns, answers, kind, as_a_user=True)
                rows.append((name, f"{items} × {columns}", f"{answers}, {kind}", f"{wall:.1f}", f"{cpu:.1f}",
                             str(clusters), at_most(wall, bar)))  # fmt: skip
    print_table(("model", "items × columns", "answers", "s", "CPU s", "clusters (10 kinds)", "bar, s"), rows)


def _table_fit(name: str, items: int, columns: int, number: int, kind: str) -> tuple[float, float, int]:
    rng, annotators, size = stream(0, "data"), 10, 15
    labels = rng.integers(10, size=items)
    features = 0.5 * rng.normal(size=(10, columns))[labels] + rng.normal(size=(items, columns))
    rng, annotated = stream(0, "answers"), max(20, items // 5)
    if kind == "tasks":
        tasks = number // math.comb(size, 2)
        answers = simulate.tasks(
            labels, rng, num_annotators=min(annotators, tasks), num_tasks=tasks, task_size=size,
            num_annotated=annotated, sensitivity=0.9, specificity=0.95,
        )  # fmt: skip
    else:
        answers = simulate.two_coin(
            labels, rng, num_annotators=annotators, pairs_per_annotator=number // annotators, num_annotated=annotated,
            sensitivity=0.9, specificity=0.9,
        )  # fmt: skip
    estimator = method(name)(random_state=0)
    wall, cpu = time.perf_counter(), time.process_time()
    estimator.fit(features.astype(np.float32), pairs=answers)
    return time.perf_counter() - wall, time.process_time() - cpu, len(np.unique(estimator.labels_))


def sizes(quick: bool = False) -> None:
    """Default fits of co-training up to a million items, each in a process of its own, without OMP_NUM_THREADS.

    MNIST's first 50 principal components, as many answers an item at every size: a tenth of the images, each in four
    tasks of 20, by 30 people who misplace one image in ten (20,000 images: 400 tasks, 76,000 answers). And eight
    Gaussian kinds in 64 columns, 100 people who answer about one item in a hundred, right with .85.
    """
    sizes = {"gaussians": [2_000, 4_000]} if quick else {
        "mnist": [2_000, 20_000, 60_000], "gaussians": [10_000, 100_000, 10**6],
    }  # fmt: skip
    rows, growth = [], []
    for kind, numbers in sizes.items():
        found = [apart(_cotraining, kind, items, as_a_user=True) for items in numbers]
        for items, (nmi, clusters, seconds, _, memory) in zip(numbers, found, strict=True):
            bars = ""
            if (kind, items) == ("mnist", 20_000):
                bars = f"NMI {at_least(nmi, 0.85)}; s {at_most(seconds, 180)}; GiB {at_most(memory, 4)}"
            elif items == 10**6:
                bars = f"s {at_most(seconds, 2400)}; GiB {at_most(memory, 8)}"
            rows.append((kind, str(items), f"{nmi:.3f}", str(clusters), f"{seconds:.0f}", f"{memory:.2f}", bars))
        growth.append(growth_row(f"{kind}: CPU s", numbers, [cpu for *_, cpu, _ in found]))
    print_table(("data", "items", "NMI", "clusters", "s", "GiB at most", "bars"), rows)
    print_table(("co-training", "sizes", "measured", "slope of the logs", "bar"), growth)


def _cotraining(kind: str, items: int) -> tuple[float, int, float, float, float]:
    """NMI, clusters, seconds, seconds of the processor, GiB at the peak."""
    features, labels, answers = {"mnist": _images, "gaussians": _gaussians}[kind](items)
    started, computed = time.perf_counter(), time.process_time()
    found = CoTraining(random_state=0).fit(features.astype(np.float32), pairs=answers)
    seconds, cpu = time.perf_counter() - started, time.process_time() - computed
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    return float(normalized_mutual_info_score(labels, found.labels_)), found.n_clusters_, seconds, cpu, memory


def _images(items: int) -> tuple[np.ndarray, np.ndarray, PairAnnotations]:
    data = load_mnist()
    assert data.labels is not None
    rows = stream(0, "data").permutation(data.num_items)[:items]
    features = PCA(50, random_state=0).fit_transform(data.features.reshape(len(data.labels), -1))[rows]
    answers = simulate.tasks(
        data.labels[rows], stream(0, "answers"), num_annotators=min(30, items // 50), num_tasks=items // 50,
        task_size=20, num_annotated=items // 10, sensitivity=0.9, specificity=0.95,
    )  # fmt: skip
    return features, data.labels[rows], answers


def _gaussians(items: int) -> tuple[np.ndarray, np.ndarray, PairAnnotations]:
    centres = 0.45 * stream(0, "centres").normal(size=(8, 64))
    features, labels = make_blobs(items, centers=centres, random_state=0)
    answers = simulate.two_coin(
        labels, stream(0, "answers"), num_annotators=100, pairs_per_annotator=items // 1000,
        num_annotated=items // 100, sensitivity=0.85, specificity=0.85,
    )  # fmt: skip
    return features, labels, answers


def predict(quick: bool = False) -> None:
    """Items a second that every method assigns by their features alone, after a small fit.

    Seconds that this process computes, the least of three turns; the first, which may compile, does not count.
    Predicting takes as long as after a default fit, or longer: a model that has learned little needs more sweeps.
    """
    clusters, features = 5, 20
    training, new = (200, 500) if quick else (2_000, 100_000)
    items, labels = make_blobs(training + new, features, centers=clusters, cluster_std=4.0, random_state=0)
    pairs = simulate.quota(
        labels[:training], stream(0, "annotations"), sensitivity=0.9, specificity=[0.9] * 5, pairs_per_annotator=200
    )
    of_all = {"n_clusters": clusters, "n_sweeps": 20, "n_chains": 1, "n_restarts": 2, "n_epochs": 5, "random_state": 0}
    generative = {"n_clusters": None, "epochs": 3, "init": "mixture"}
    rows = []
    for name in METHODS:
        kind = method(name)
        if not hasattr(kind, "predict"):
            continue
        asked = {key: value for key, value in of_all.items() if key in kind().get_params()}
        given: dict[str, Any] = asked | (generative if name in ("bayes", "scdc") else {})
        model: Any = kind(**given).fit(items[:training], pairs=pairs)
        model.predict(items[training : training + 200])
        fastest = math.inf
        for _ in range(1 if quick else 3):
            start = time.process_time()
            model.predict(items[training:])
            fastest = min(fastest, time.process_time() - start)
        rows.append((name, f"{new / fastest:,.0f}", at_least(new / fastest, LEAST)))
    print_table((f"predict, {new:,} items of {features} features", "items a second", "bar"), rows)


def fit_seconds(*overrides: str, threads: str | None = "1") -> float:
    """Wall time of the fit of one run of ``src/train.py``; ``threads``: OMP_NUM_THREADS, None: that of the user."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "src/train.py", *overrides, "logger=none", "figures=false", "verbose=false",
                   f"hydra.run.dir={folder}/run"]  # fmt: skip
        environment = {k: v for k, v in os.environ.items() if not k.endswith("_NUM_THREADS")}
        environment |= {} if threads is None else {"OMP_NUM_THREADS": threads, "MKL_NUM_THREADS": threads}
        subprocess.run(command, cwd=ROOT, env=environment, check=True, stdout=subprocess.DEVNULL)
        return float(json.loads((Path(folder) / "run" / "metrics.json").read_text())["seconds/fit"])


def restarts(quick: bool = False) -> None:
    """Twenty starts in one fit against one start: the pinwheel, by ``src/train.py``."""
    short, repeats = (("model.epochs=2", "model.init=cold"), 1) if quick else ((), 2)
    rows = []
    for annotations, what in (("two_coin", "with answers"), ("none", "without answers")):
        common = ("data=pinwheel", "model=bayes", f"annotations={annotations}", "seed=0", *short)
        one, twenty = (
            min(fit_seconds(*common, f"model.restarts={number}") for _ in range(repeats)) for number in (1, 20)
        )
        rows.append((what, f"{twenty:.1f}", f"{one:.1f}", f"{twenty / one:.2f}", at_most(twenty / one, 3)))
    print_table(("pinwheel, BayesSCDC", "s, 20 restarts", "s, 1 restart", "ratio", "bar"), rows)


def threads(quick: bool = False) -> None:
    """A fit of BayesSCDC with answers, by ``src/train.py`` as a user types it, while another process computes.

    The environment is left alone in one turn and has OMP_NUM_THREADS=1 in the other, one after the other, twice.
    """
    short = ("model.epochs=2", "model.init=cold") if quick else ("model.epochs=1", "model.init_epochs=2")
    case = ("data=pinwheel", "annotations=two_coin") if quick else ("data=mnist", "annotations=crowd")
    busy = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        alone, users = (
            min(fit_seconds(*case, *short, "model=bayes", "seed=0", threads=number) for _ in range(1 if quick else 2))
            for number in ("1", None)
        )
    finally:
        busy.kill()
        busy.wait()
    row = (" ".join(case), f"{users:.1f}", f"{alone:.1f}", f"{users / alone:.2f}", at_most(users / alone, 1.3))
    print_table(("beside a busy process", "s, as it is", "s, OMP_NUM_THREADS=1", "ratio", "bar"), [row])
