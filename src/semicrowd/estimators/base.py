"""The base class of all methods: scikit-learn's interface, answers as a further input of ``fit``, saving and loading.

A method's class names its parameters in ``__init__``, unless they are the base class's, what each may be in
``_parameter_constraints``, and does its work in :meth:`CrowdClusterer._run`.
"""

import contextlib
import hashlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from numbers import Integral, Real
from pathlib import Path
from typing import Any, ClassVar, Self, TypeVar

import numpy as np
import pandas as pd
from rich.console import Console
from rich.progress import track
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils import Bunch, check_random_state
from sklearn.utils._param_validation import Interval, Options
from sklearn.utils.validation import check_is_fitted
from threadpoolctl import threadpool_limits

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.crowd.workers import WorkerPosterior, worker_frame
from semicrowd.data.columns import Columns
from semicrowd.data.frames import as_pandas
from semicrowd.errors import UnreliableResultWarning, UserError, naming_extras, warn
from semicrowd.estimators import inputs, persistence
from semicrowd.result import Assignment, Result

T = TypeVar("T")
#: Constraints of a required number of clusters, of other counts, and of numbers above 0.
CLUSTERS, COUNT = Interval(Integral, 2, None, closed="left"), Interval(Integral, 1, None, closed="left")
COUNT_OR_0, POSITIVE = Interval(Integral, 0, None, closed="left"), Interval(Real, 0, None, closed="neither")
#: Constraints of a number of processes, in joblib's way.
JOBS = [COUNT, Options(Integral, {-1}), None]
#: Parameters that say how a fit is run and not what it is: they are not in ``params_``.
OF_THE_MACHINE = frozenset({"random_state", "verbose", "trainer", "memory", "n_jobs"})


def progress(iterable: Iterable[T], description: str, verbose: Any = True) -> Iterable[T]:
    """What is iterated over, with a bar on the standard error stream if ``verbose``."""
    if not verbose:
        return iterable
    return track(iterable, description, console=Console(stderr=True), transient=True)


@contextlib.contextmanager
def status(description: str, verbose: Any = True) -> Iterator[Callable[[str], Any]]:
    """Within the block, a line on the standard error stream if ``verbose``; the function that is given replaces it."""
    if not verbose:
        yield lambda _: None
        return
    with Console(stderr=True).status(description) as line:
        yield line.update


@contextlib.contextmanager
def threads_of_a_fit(threads: int = 1) -> Iterator[None]:
    """Within the block, torch and the libraries of linear algebra use ``threads`` threads.

    A fit has one: operations of these models take microseconds, so that several threads would mostly wait for each
    other in busy loops. ``python benchmarks/run.py threads`` measures it (docs/results.md).
    """
    import torch  # takes seconds

    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        with threadpool_limits(threads):
            yield
    finally:
        torch.set_num_threads(before)


def digest_of_rows(features: np.ndarray) -> str:
    """A digest of items [N, D], by which :func:`semicrowd.write_report` sees whether they are those of the fit."""
    return hashlib.sha256(np.ascontiguousarray(features, np.float64).data).hexdigest()


class CrowdClusterer(ClusterMixin, BaseEstimator, ABC):
    """A clustering of items by their features and by noisy answers to "do these two belong to the same class?".

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Clusters of the items, given their features and the answers.
    n_clusters_ : int
        Clusters that have an item.
    params_ : Bunch
        Every parameter with the value that was used: also of those that were None and are set from the data.
    history_ : list of dict
        One a finished iteration, with its number from 1 as ``epoch`` and its metrics; empty if there are none.
    workers_ : DataFrame or None
        A row for each annotator: name, number of answers, sensitivity and specificity with the ends of their 90 %
        intervals, weight (logit of the one plus logit of the other, in nats), and the share of correct answers if the
        final clusters (their probabilities, where the method has them) were the truth (observed_…); None for a method
        that estimates no annotators.
    result_ : Result
        The result of the fit (:class:`semicrowd.result.Result`).
    components_ : ndarray of shape (n_components,) or None
        The model's component behind each cluster number; None: the components' numbers are used. SCDC, BayesSCDC and
        co-training number clusters by their number of items, 0 is the largest. The model of a run of any method has the
        numbers of the run. What the model itself has of each component, such as ``cluster_centers_`` or ``means_``,
        keeps its order.
    seed_ : int
        The seed that was used: ``random_state``, or drawn from it.
    n_features_in_, feature_names_in_ : int, ndarray
        Number and, if X was a data frame, names of the features, after the conversion of its columns to numbers.
    columns_ : Columns or None
        How the columns of a data frame were converted (:class:`semicrowd.data.columns.Columns`); ``predict`` converts
        new items in the same way. None if X has no column names that are text.
    """

    #: What each parameter may be, in scikit-learn's words; those that most methods have.
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_clusters": [CLUSTERS], "random_state": ["random_state"], "verbose": ["verbose"],
    }  # fmt: skip
    #: Whether the method needs answers.
    requires_answers: ClassVar[bool] = True
    #: Whether NaN counts as a missing value; if False, it is an error.
    takes_missing: ClassVar[bool] = False

    components_: np.ndarray | None = None
    labels_: np.ndarray
    n_clusters_: int
    n_features_in_: int
    feature_names_in_: np.ndarray
    columns_: Columns | None
    params_: Bunch
    history_: list
    workers_: pd.DataFrame | None
    result_: Result
    seed_: int
    _digest: str
    _had_answers: bool

    def __init__(self, n_clusters: int = 4, *, random_state: Any = 0, verbose: Any = False) -> None:
        self.n_clusters: Any = n_clusters
        self.random_state = random_state
        self.verbose = verbose

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.takes_missing
        return tags

    def fit(self, X: Any, y: Any = None, pairs: Any = None) -> Self:
        """Cluster the rows of X with the help of answers about them.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            The categories of a data frame become columns of 0 and 1, its missing values medians, unless the method
            accepts them (:func:`semicrowd.estimators.inputs.items_to_fit`).
        y : answers, if ``pairs`` is None
            An array of labels, one for each item, is ignored, as in scikit-learn's clusterings; without ``pairs`` there
            is a warning.
        pairs : PairAnnotations, or what :func:`semicrowd.read_answers` takes, such as a data frame or a path
            Answers about the rows of X, with columns i, j, worker, label. They call the items by a column ``id`` of X,
            else by its index; rows of an array by their numbers from 0.

        Raises
        ------
        InvalidParameterError
            For parameters out of range.
        UserError
            For items or answers that cannot be used, and where answers are needed and missing.
        """
        return self._fit(X, y, pairs)

    def _fit(self, X: Any, y: Any, pairs: Any, **more: Any) -> Self:
        """``fit``, with what else a subclass hands on to its ``_run``."""
        self._validate_params()
        features, answers = self._inputs(X, y, pairs)
        with naming_extras(), threads_of_a_fit():
            result = self._run(features, answers, **more)
        if result is not None:  # not in the other ones of several processes
            self.result_, self.labels_ = result, result.final.cluster
            self.n_clusters_, self.workers_ = len(np.unique(self.labels_)), None
            if answers is not None and result.workers is not None:
                memberships = result.final.memberships_or_clusters
                self.workers_ = worker_frame(result.workers, result.best, answers, memberships)
            self._finish(features, answers)
        return self

    def _finish(self, features: np.ndarray, answers: PairAnnotations | None) -> None:
        """What follows a fit."""

    def _inputs(self, X: Any, y: Any, pairs: Any) -> tuple[np.ndarray, PairAnnotations | None]:
        """The items and answers that are fitted to; sets what an estimator has of them, and forgets an earlier fit."""
        X, y, pairs = as_pandas(X), as_pandas(y), as_pandas(pairs)
        if pairs is None and inputs.labels_alone(y):
            warn("y: labels of items are not used; pass answers about pairs of items as pairs=…")
            y = None
        given = y if pairs is None else pairs
        items, names, self.columns_ = inputs.items_to_fit(self, X)
        features = inputs.checked_features(self, items, fit=True)
        self._digest = digest_of_rows(features)
        if (counted := getattr(self, "n_clusters", None) or 0) > len(features):
            raise UserError(f"n_clusters={counted}: expected at most n_samples={len(features)}, the number of items")
        inputs.refuse_positions(names, given)
        answers = inputs.checked_answers(given, len(features), names)
        if answers is None and self.requires_answers:
            raise UserError(f"pairs: {type(self).__name__} needs answers about the items; expected i,j,worker,label")
        self._had_answers = answers is not None
        drawn = self.random_state is None or isinstance(self.random_state, np.random.RandomState)
        self.seed_ = int(check_random_state(self.random_state).randint(2**31 - 1) if drawn else self.random_state)
        self.__dict__.pop("components_", None)
        parameters = self.get_params(deep=False).items()
        self.params_ = Bunch(**{name: value for name, value in parameters if name not in OF_THE_MACHINE})
        self.history_ = []
        return features, answers

    def number_clusters(self) -> None:
        """Number the clusters by size; only once after a fit.

        It changes ``result_`` and ``labels_``; ``predict`` and ``predict_proba`` use the same numbers.
        """
        if self.components_ is not None:
            return
        components = self.result_.components
        self.result_, self.components_ = self.result_.renumbered(components), components
        self.labels_ = self.result_.final.cluster

    @property
    def indicators(self) -> tuple[int, ...]:
        """Features that mark missing numbers of a data frame's columns, while and after it is fitted."""
        columns = getattr(self, "columns_", None)
        return () if columns is None else tuple(columns.indicators)

    def fit_predict(self, X: Any, y: Any = None, **options: Any) -> np.ndarray:
        """``fit``, then ``labels_``."""
        return self.fit(X, y, **options).labels_

    def save(self, path: Path | str) -> None:
        """Write the fitted estimator to one file, from which :func:`semicrowd.load` restores it without the data.

        Raises
        ------
        UserError
            Where the file cannot be written.
        """
        check_is_fitted(self)
        persistence.save(self, path)

    @classmethod
    def load(cls, path: Path | str) -> Self:
        """The estimator of this class that :meth:`save` wrote; see :func:`semicrowd.load`."""
        found = persistence.load(path)
        if not isinstance(found, cls):
            raise UserError(f"{path}: a {type(found).__name__}; expected a {cls.__name__}")
        return found

    @abstractmethod
    def _run(self, features: np.ndarray, answers: Any) -> Result | None:
        """Fit to checked items [N, D] and to answers about them, PairAnnotations or, unless required, None.

        Sets the attributes that ``predict`` needs, and in ``params_`` the values of parameters that were None. Returns
        the result; None in all processes but the first, if several train together.
        """

    def _new_items(self, X: Any) -> np.ndarray:
        """Checked items to be predicted, float64 [N, D]."""
        check_is_fitted(self)
        return inputs.checked_features(self, inputs.items_to_predict(self, X), fit=False)

    def _numbered(self, found: Assignment) -> Assignment:
        return found if self.components_ is None else found.renumbered(self.components_)

    def _in_order(self, values: np.ndarray, axis: int = 1) -> np.ndarray:
        """Values of the model's components along ``axis``, such as probabilities [N, K], as those of the clusters."""
        return values if self.components_ is None else values.take(self.components_, axis)

    def _result(self, final: Assignment, features: Assignment, workers: WorkerPosterior | None = None) -> Result:
        num_clusters = getattr(self, "n_clusters", 1 + final.cluster.max())
        return Result(int(num_clusters), final, features, workers)


class WarningClusterer(CrowdClusterer):
    """``fit`` numbers clusters by size and warns (:class:`semicrowd.UnreliableResultWarning`) of unreliable results."""

    def _finish(self, features: np.ndarray, answers: PairAnnotations | None) -> None:
        self.number_clusters()
        # Imported here: it needs torch, and this module is imported by simple methods, too.
        from semicrowd.evaluation.trust import reliability_warnings

        gaps = None if self.columns_ is None else self.columns_.gaps(features)
        for line in reliability_warnings(self.result_, answers, gaps=gaps):
            warn(line, UnreliableResultWarning)


class InductiveClusterer(CrowdClusterer):
    """A method that assigns new items by their features alone."""

    def predict(self, X: Any) -> np.ndarray:
        """Clusters [N] of items from their features alone."""
        return self._numbered(self._assign(self._new_items(X))).cluster

    @abstractmethod
    def _assign(self, features: np.ndarray) -> Assignment:
        """Clusters of items [N, D]."""
