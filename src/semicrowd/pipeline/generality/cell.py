"""One fit of the generality suite: its numbers, and the code that they depend on."""

import json
import signal
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.decomposition import PCA
from sklearn.metrics import normalized_mutual_info_score
from sklearn.preprocessing import StandardScaler

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.data import Dataset, load_dataset
from semicrowd.data.answers import load_annotations
from semicrowd.estimators import ESTIMATORS
from semicrowd.estimators.base import CrowdClusterer
from semicrowd.files import read_object, write_json
from semicrowd.metrics import (
    calibration_error,
    cluster_counts,
    clustering_scores,
    interval_coverage,
    worker_rank,
)
from semicrowd.metrics.clustering import USED_SHARE
from semicrowd.pipeline.generality.plan import OURS, Cell
from semicrowd.pipeline.generality.tables import REGIMES
from semicrowd.pipeline.inputs import SOURCE, data_modules, fingerprints
from semicrowd.settings.methods import METHODS
from semicrowd.settings.sources import source_settings
from semicrowd.settings.training import TrainerSettings
from semicrowd.starts.recent import RECENT

#: Maximum number of principal components for Gaussian mixtures; stated in baselines.BOUNDS.
_COMPONENTS = 50
#: Initialisations of Gaussian mixtures; stated in baselines.BOUNDS.
_STARTS = 3
#: Annotators with fewer answers are left out where rates are compared with the truth.
_LEAST_ANSWERS = 30
#: Whether a method is trained by gradients → files of settings/ with its defaults, which its imports do not contain.
_SETTINGS = {True: ("model.py", "training.py", "parameters.py"), False: ("parameters.py",)}


class _OverLimitError(Exception):
    """A fit has taken too long."""


def run_cell(cell: Cell, path: Path, root: Path, limit: float, provenance: dict[str, Any]) -> dict[str, Any]:
    """Fit a cell, write its numbers to ``path`` (the whole file or nothing), and return them.

    Parameters
    ----------
    root : data root
    limit : seconds for the fit; a fit that takes longer has no scores, and its status names the limit
    provenance : further columns
    """
    row: dict[str, Any] = {**vars(cell), "status": "done", "fingerprint": fingerprint(cell), **provenance}
    data, answers = inputs(cell, root)
    assert data.labels is not None
    row |= {"items": data.num_items, "features": data.num_features, "classes": data.num_classes}
    row |= {"answers": 0 if answers is None else answers.num_pairs}
    RECENT.clear()  # of a fit before this one: the seconds are those of a fit alone
    started = time.perf_counter()
    try:
        features, estimator = _prepared(cell, data)
        with _limited(limit), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            estimator.fit(features, answers)
        row |= {"seconds": round(time.perf_counter() - started, 2)}
        found = estimator.predict(features) if cell.variant.predicted else estimator.labels_
        row |= _scores(found, data.labels, answers)
        if answers is not None:
            row |= _trust(estimator, data.labels, answers)
    except _OverLimitError:
        row |= {"seconds": limit, "status": f"over {limit:g} s"}
    except Exception as error:  # any error: a fit that fails must not end the other fits
        reason = str(error).splitlines()[0] if str(error) else ""
        row |= {"seconds": round(time.perf_counter() - started, 2), "status": f"{type(error).__name__}: {reason}"}
    write_json(path, row)
    return row


def finished(cell: Cell, path: Path, limit: float, *, any_code: bool) -> bool:
    """Whether a cell has been fitted by the current code, or, if ``any_code``, by any.

    A failed fit is tried again, and so is a fit that took too long if the limit is longer now.
    """
    row = read_object(path)
    status = str(row.get("status", "none"))
    known = status == "done" or (status.startswith("over ") and float(status.split()[1]) >= limit)
    return known and (any_code or row["fingerprint"] == fingerprint(cell))


def inputs(cell: Cell, root: Path) -> tuple[Dataset, PairAnnotations | None]:
    """Data and answers of a cell: the same for all methods."""
    data = _data(cell.data, root, cell.table.loader, json.dumps(dict(cell.table.options)))
    regime = REGIMES[cell.regime]
    return data, load_annotations(regime.kind, data, cell.seed, root, **regime.settings(data.num_items))


@lru_cache(maxsize=2)
def _data(name: str, root: Path, loader: str, options: str) -> Dataset:  # noqa: ARG001 - the name is for the cache
    return load_dataset(loader, root, **json.loads(options))


def _prepared(cell: Cell, data: Dataset) -> tuple[np.ndarray, CrowdClusterer]:
    """The features that the method gets, and the estimator; parameters that the suite does not set have defaults."""
    features, kind = data.features, ESTIMATORS[cell.estimator]
    given: dict[str, Any] = {"random_state": cell.seed}
    if "image_shape" in kind._get_param_names():
        given["image_shape"] = data.image_shape
    trained = METHODS[cell.estimator].trained
    if trained:
        given |= {"trainer": TrainerSettings(threads=1), "settings": cell.settings}
    if cell.estimator in OURS:
        own = {} if trained else {name.removeprefix("model."): value for name, value in cell.settings.items()}
        return features, kind(**given, **own)
    if cell.variant.scaled:
        features = StandardScaler().fit_transform(features)
    if cell.estimator == "gmm":
        given["n_init"] = _STARTS
        if features.shape[1] > _COMPONENTS:
            features = PCA(_COMPONENTS, svd_solver="full").fit_transform(features)
    return features, kind(n_clusters=data.num_classes, **given, **cell.variant.options)


def _scores(found: np.ndarray, labels: np.ndarray, answers: PairAnnotations | None) -> dict[str, Any]:
    scores: dict[str, Any] = {name: round(x, 5) for name, x in clustering_scores(labels, found).items()}
    scores["clusters"] = _in_use(found, labels)
    if answers is not None:
        known = np.zeros(len(labels), bool)
        known[answers.annotated] = True
        for name, items in (("nmi_annotated", known), ("nmi_rest", ~known)):
            if items.any():
                scores[name] = round(float(normalized_mutual_info_score(labels[items], found[items])), 5)
    return scores


def _trust(estimator: CrowdClusterer, labels: np.ndarray, answers: PairAnnotations) -> dict[str, float]:
    """Calibration error of the annotated items' probabilities; coverage of the annotators' intervals; rank correlation.

    The rates of annotators with at least :data:`_LEAST_ANSWERS` answers are compared with the true ones: those of the
    simulation, or, for real answers, those computed from the answers and the labels.
    """
    items, final = answers.annotated, estimator.result_.final
    found = {"calibration_error": calibration_error(labels[items], final.cluster[items], final.probability[items])}
    people = estimator.workers_
    if people is not None:
        enough = (people["pairs"] >= _LEAST_ANSWERS).to_numpy()
        held = []
        for name, in_answers in zip(("sensitivity", "specificity"), answers.empirical_quality(labels), strict=True):
            simulated = getattr(answers, f"true_{name}")
            true = np.where(enough, in_answers if simulated is None else simulated, np.nan)
            held.append(interval_coverage(people[f"{name}_low"].to_numpy(), people[f"{name}_high"].to_numpy(), true))
            rank = worker_rank(people[name].to_numpy(), true)
            found[f"{name}_rank"] = np.nan if rank is None else rank
        found["interval_coverage"] = float(np.mean(held))
    return {name: round(value, 5) for name, value in found.items() if np.isfinite(value)}


def _in_use(found: np.ndarray, labels: np.ndarray) -> int:
    """Number of clusters with half a per cent of the items, or, if that is fewer, as many as the smallest class has."""
    sizes, smallest = np.bincount(found), int(np.unique(labels, return_counts=True)[1].min())
    if smallest < USED_SHARE * len(labels):
        return int((sizes >= smallest).sum())
    return int(cluster_counts(found, len(sizes))["used"])


@contextmanager
def _limited(seconds: float) -> Iterator[None]:
    """Stop a block that takes longer, between two instructions of Python. Only in a process's main thread."""

    def stop(number: int, frame: Any) -> None:  # noqa: ARG001 - arguments of a signal handler
        raise _OverLimitError

    before: Callable[[int, Any], Any] | int | None = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def fingerprint(cell: Cell) -> str:
    """Hash of the code and of all options that a cell's numbers depend on."""
    code = _code(cell.table.loader, cell.estimator, METHODS[cell.estimator].trained)
    regime = REGIMES[cell.regime]
    answers = vars(source_settings("annotations", regime.kind, regime.settings(1000)))
    data = vars(source_settings("data", cell.table.loader, cell.table.options))
    parts = [cell.name, _COMPONENTS, _STARTS, data, regime.kind, regime.share, answers, vars(cell.variant)]
    return sha256(f"{code}{json.dumps(parts, default=str)}".encode()).hexdigest()[:16]


@cache
def _code(loader: str, estimator: str, generative: bool) -> str:
    files = fingerprints([ESTIMATORS[estimator].__module__, *data_modules(loader), "semicrowd.metrics"])
    folder = SOURCE / "semicrowd" / "settings"
    settings = [(folder / name).read_text(encoding="utf-8") for name in _SETTINGS[generative]]
    return json.dumps(files) + "".join(settings)
