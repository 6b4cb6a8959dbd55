"""A baseline as a run's method: an estimator of :mod:`semicrowd.estimators` fitted once."""

import contextlib
import inspect
import signal
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from omegaconf import DictConfig, OmegaConf
from sklearn.base import BaseEstimator

from semicrowd.estimators import ESTIMATORS
from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.data import Dataset
from semicrowd.data.options import check_options
from semicrowd.errors import UserError
from semicrowd.models import WorkerPosterior
from semicrowd.evaluation.scores import Assignment, Evaluation, Findings, score
from semicrowd.files import RunDirectory
from semicrowd.run.method import ClusterPicture, Fit, Method

#: Largest seed of scikit-learn.
_LARGEST_SEED = 2**32 - 1


class BaselineMethod(Method):
    """A baseline: no epochs, no checkpoint, one restart as far as the run is concerned.

    ``train/…`` is what ``predict`` says of the training items, from their features alone; of a method without
    ``predict`` it is ``labels_``. ``assignments.csv`` and ``annotated/…`` are ``labels_``, the method's own result.
    """

    def __init__(self, cfg: DictConfig, data: Dataset, annotations: PairAnnotations | None) -> None:
        self.data, self.annotations = data, annotations
        name, self.num_clusters, items = cfg.model.name, cfg.model.K, data.num_items
        if annotations is None and _needs_answers(ESTIMATORS[name]):
            raise UserError(f"model={name}: needs answers; expected annotations=<name> other than annotations=none")
        if items < self.num_clusters:
            raise UserError(f"model.K={self.num_clusters}: more clusters than the {items} items of {data.name}")
        if cfg.seed > _LARGEST_SEED:
            raise UserError(f"seed={cfg.seed}: expected at most {_LARGEST_SEED} with model={name}")
        self.estimator = build_baseline(cfg.model, cfg.seed)
        if cfg.model.get("nets", {}).get("kind", "mlp") != "mlp":
            raise UserError(f"nets={cfg.model.nets.kind}: model={name} has no such networks; leave nets out")
        ignored = {
            f"restarts={cfg.restarts}": cfg.restarts > 1,
            f"protocol={cfg.get('protocol')}": cfg.get("protocol") == "paper",
            f"snapshots={cfg.get('snapshots')}": bool(cfg.get("snapshots")),
        }
        self.notes = tuple(
            f"{setting}: model={name} is fitted once, by its own settings"
            for setting, given in ignored.items() if given
        )

    def resume_point(self, directory: RunDirectory) -> Path | None:  # noqa: ARG002 - nothing is kept on the way
        """None: it begins again."""
        return None

    def fit(
        self,
        directory: RunDirectory,  # noqa: ARG002 - no checkpoint, no epochs
        log_epoch: Callable[[int, dict[str, float]], Any],  # noqa: ARG002
        resume_from: Path | None,  # noqa: ARG002
    ) -> Fit:
        """Fit the estimator."""
        start = time.perf_counter()
        with _interrupted_by_sigterm():
            self.estimator.fit(self.data.features, self.annotations)
        return Fit(time.perf_counter() - start, epochs=1)

    def evaluate(self) -> Evaluation:
        """The fitted estimator on every item."""
        own = np.asarray(self.estimator.labels_)
        final = self._assignment(self.data.features, own)
        alone, test = final, None
        if hasattr(self.estimator, "predict"):
            alone = self._assignment(self.data.features)
            if self.data.test_features is not None:
                test = self._assignment(self.data.test_features)
        found = Findings(
            num_clusters=self.num_clusters,
            elbo=None,
            best=0,
            restart_clusters=alone.cluster[None],
            latent_mean=np.zeros((len(own), 0)),
            features=alone,
            final=final,
            test=test,
            workers=self._workers(),
        )
        return score(found, self.data, self.annotations)

    def clusters(self, result: Evaluation) -> ClusterPicture:
        """Shares of the items; there is nothing to draw samples from."""
        sizes = np.bincount(result.found.final.cluster, minlength=self.num_clusters)
        return ClusterPicture(sizes / sizes.sum())

    def _assignment(self, features: np.ndarray, clusters: np.ndarray | None = None) -> Assignment:
        """Clusters of items, by ``predict`` where none are given, and their probabilities where the method has them."""
        if clusters is None:
            clusters = np.asarray(self.estimator.predict(features))
        probability = np.full(len(clusters), np.nan)
        if hasattr(self.estimator, "predict_proba"):
            probability = self.estimator.predict_proba(features)[np.arange(len(clusters)), clusters]
        return Assignment(clusters.astype(np.int64), probability.astype(np.float64))

    def _workers(self) -> WorkerPosterior | None:
        if not hasattr(self.estimator, "sensitivity_shape_"):
            return None
        return WorkerPosterior(self.estimator.sensitivity_shape_[None], self.estimator.specificity_shape_[None])


def _needs_answers(baseline: type[BaseEstimator]) -> bool:
    return inspect.signature(baseline.fit).parameters["pairs"].default is inspect.Parameter.empty


def build_baseline(settings: DictConfig, seed: int) -> BaseEstimator:
    """The estimator of a ``model`` configuration: ``K`` is its number of clusters, the rest its own parameters.

    Raises
    ------
    UserError
        For a parameter that it does not have, or a value of another type than the default's.
    """
    baseline = ESTIMATORS[settings.name]
    content = OmegaConf.to_container(settings, resolve=True)
    assert isinstance(content, dict)
    options = {str(key): _plain(value) for key, value in content.items() if key not in ("name", "K", "nets")}
    check_options("model", baseline, options)
    defaults = baseline().get_params()
    for name, value in options.items():
        expected = _expected(value, defaults[name])
        if expected is not None:
            raise UserError(f"model.{name}={value}: expected {expected}")
    return baseline(**{**options, "n_clusters": settings.K, "random_state": seed})


def _plain(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _expected(value: Any, default: Any) -> str | None:
    """What was expected where ``value`` is not of the default's type; None stands for a number that may be left out."""
    if isinstance(default, bool):
        return None if isinstance(value, bool) else "true or false"
    if isinstance(default, str):
        return None if isinstance(value, str) else "a word"
    if isinstance(default, int):
        return None if _is_number(value) and isinstance(value, int) else "a whole number"
    if isinstance(default, tuple):
        return None if isinstance(value, tuple) and all(map(_is_number, value)) else "a list of numbers"
    if default is None and value is None:
        return None
    return None if _is_number(value) else "a number"


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


@contextlib.contextmanager
def _interrupted_by_sigterm() -> Iterator[None]:
    """SIGTERM ends the block as Ctrl-C does, so that the run's status says so."""
    if threading.current_thread() is not threading.main_thread():
        yield  # Python lets the main thread alone handle signals
        return

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
