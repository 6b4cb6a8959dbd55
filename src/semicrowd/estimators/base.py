"""Base classes of all methods: scikit-learn's interface, answers as a further input of ``fit``, saving and loading.

Methods for items in the order of time have a base class of their own."""

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.crowd.workers import WorkerPosterior, worker_frame
from semicrowd.data.frames import as_pandas
from semicrowd.errors import UnreliableResultWarning, UserError, naming_extras, warn
from semicrowd.estimators import docstrings, persistence
from semicrowd.estimators.inputs import (
    checked_answers,
    checked_features,
    items_to_fit,
    items_to_predict,
    labels_alone,
    refuse_positions,
    refuse_swapped,
)
from semicrowd.fitting.iterate import Method, iterate
from semicrowd.fitting.monitor import Monitor
from semicrowd.fitting.result import Assignment, Result
from semicrowd.settings.fields import LARGEST
from semicrowd.settings.parameters import Parameters


def digest_of_rows(features: np.ndarray) -> str:
    """A digest of items [N, D], by which :func:`semicrowd.write_report` sees whether they are those of the fit."""
    return hashlib.sha256(np.ascontiguousarray(features, np.float64).data).hexdigest()


class CrowdClusterer(ClusterMixin, BaseEstimator, ABC):
    """A clustering of items by their features and by noisy answers to "do these two belong to the same class?".

    The class of a method inherits from this class and from its class of parameters
    (:mod:`semicrowd.settings.parameters`).

    Attributes
    ----------
    result_ : the result of the fit
    labels_ : [N] clusters of the items, given their features and the answers
    components_ : [K] the model's component behind each cluster number; None: the components' numbers are used. SCDC,
        BayesSCDC and co-training number clusters by their number of items, 0 is the largest. The
        model of a run of any method has the numbers of the run. What the model itself has of each component, such as
        ``cluster_centers_`` or ``means_``, keeps its order
    n_clusters_ : clusters that have an item
    workers_ : data frame, a row for each annotator: name, number of answers, sensitivity and specificity with the ends
        of their 90 % intervals, weight (logit of the one plus logit of the other, in nats), and the share of correct
        answers if the final clusters (their probabilities, where the method has them) were the truth (observed_…);
        None for a method that estimates no annotators
    seed_ : the seed that was used: ``random_state``, or drawn from it
    n_features_in_, feature_names_in_ : number and, if X was a data frame, names of the features, after the conversion
        of its columns to numbers
    columns_ : how the columns of a data frame were converted (:class:`semicrowd.data.columns.Columns`); ``predict``
        converts new items in the same way. None if X has no column names that are text
    """

    #: The section "Attributes" of its docstring, which the docstrings of classes that inherit from it repeat.
    _attributes: ClassVar[str] = ""
    #: Whether the method needs answers.
    requires_answers: ClassVar[bool] = True
    #: Whether NaN counts as a missing value; if False, it is an error.
    takes_missing: ClassVar[bool] = False
    #: Whether the method has ``predict``.
    takes_new_items: ClassVar[bool] = False
    #: Parameters, defined in the class of parameters. ``n_clusters`` is the number of clusters or its maximum; some
    #: methods that estimate the number have none.
    n_clusters: Any
    random_state: Any
    verbose: Any
    components_: np.ndarray | None = None

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls.takes_new_items = hasattr(cls, "predict")
        persistence.CLASSES.setdefault(cls.__name__, cls)
        cls._attributes = docstrings.sections(cls).get("Attributes", "")
        if issubclass(cls, Parameters) and cls.__doc__:
            cls.__doc__ = docstrings.whole(cls)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.takes_missing
        tags.input_tags.sparse = True  # made dense
        return tags

    def fit(self, X: Any, y: Any = None, pairs: Any = None, *, monitor: Monitor | None = None) -> Self:
        """Cluster the rows of X with the help of answers about them.

        Parameters
        ----------
        X : an array or sparse matrix [N, D], or a data frame, whose categories become columns of 0 and 1 and whose
            missing values become medians, unless the method accepts them
            (:func:`semicrowd.estimators.inputs.items_to_fit`)
        y : answers, if ``pairs`` is None. An array of labels, one for each item, is ignored, as in scikit-learn's
            clusterings; without ``pairs`` there is a warning
        pairs : answers about the rows of X: PairAnnotations, or what :func:`semicrowd.read_answers` takes, such as a
            data frame with columns i, j, worker, label, or a path. Answers call the items by a column ``id`` of X, else
            by its index; rows of an array by their numbers from 0
        monitor : takes curves, keeps checkpoints; None: nothing is kept

        Raises
        ------
        UserError
            For parameters out of range, items or answers that cannot be used, and where answers are needed and missing.
        """
        features, answers = self._inputs(X, y, pairs)
        with naming_extras():
            result = self._run(features, answers, monitor or Monitor(progress=bool(self.verbose)))
        if result is not None:  # not in the other ones of several processes
            self._set_result(result, answers)
            if monitor is None:  # a run warns itself
                self._warn(features, answers)
        return self

    def _warn(self, features: np.ndarray, answers: PairAnnotations | None) -> None:
        """Warn if the result is unreliable."""

    def _inputs(self, X: Any, y: Any, pairs: Any) -> tuple[np.ndarray, PairAnnotations | None]:
        """The items and answers that are fitted to; sets what an estimator has of them, and forgets an earlier fit."""
        if isinstance(self, Parameters):
            self.check_parameters()
        X, y, pairs = as_pandas(X), as_pandas(y), as_pandas(pairs)
        if pairs is None and labels_alone(y):
            warn("y: labels of items are not used; pass answers about pairs of items as pairs=…")
            y = None
        given = y if pairs is None else pairs
        refuse_swapped(X)
        items = items_to_fit(self, X)
        features = checked_features(self, items.X, fit=True)
        self._digest = digest_of_rows(features)
        self.columns_ = items.columns
        counted = getattr(self, "n_clusters", None)
        if counted is not None and counted > len(features):
            raise UserError(f"n_clusters={counted}: expected at most n_samples={len(features)}, the number of items")
        refuse_positions(items, given)
        answers = checked_answers(given, len(features), items.ids, index=items.by_index)
        if answers is None and self.requires_answers:
            raise UserError(f"pairs: {type(self).__name__} needs answers about the items; expected i,j,worker,label")
        self._had_answers = answers is not None
        self.seed_ = _seed(self.random_state)
        self.__dict__.pop("components_", None)
        return features, answers

    def _set_result(self, result: Result, answers: PairAnnotations | None) -> None:
        """Set the attributes of the result."""
        self.result_ = result
        self.labels_ = result.final.cluster
        self.n_clusters_ = len(np.unique(self.labels_))
        self.workers_ = None
        if answers is not None and result.workers is not None:
            self.workers_ = worker_frame(result.workers, result.best, answers, result.final.memberships_or_clusters)

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
        """The estimator that :meth:`save` wrote.

        Raises
        ------
        UserError
            Where there is no such file, it is damaged, or another method's.
        """
        found = persistence.load(path)
        if not isinstance(found, cls):
            raise UserError(f"{path}: a {type(found).__name__}; expected a {cls.__name__}")
        return found

    @abstractmethod
    def _run(self, features: np.ndarray, answers: PairAnnotations | None, monitor: Monitor) -> Result | None:
        """Fit to checked items and answers; sets the attributes that ``predict`` needs.

        Returns the result; None in all processes but the first, if several train together.
        """

    def _new_items(self, X: Any) -> np.ndarray:
        """Checked items to be predicted, float64 [N, D]."""
        check_is_fitted(self)
        return checked_features(self, items_to_predict(self, X), fit=False)

    def _numbered(self, found: Assignment) -> Assignment:
        return found if self.components_ is None else found.renumbered(self.components_)

    def _in_order(self, values: np.ndarray, axis: int = 1) -> np.ndarray:
        """Values of the model's components along ``axis``, such as probabilities [N, K], as those of the clusters."""
        return values if self.components_ is None else values.take(self.components_, axis)

    def _result(self, final: Assignment, features: Assignment, workers: WorkerPosterior | None = None) -> Result:
        num_clusters = getattr(self, "n_clusters", 1 + final.cluster.max())
        return Result(int(num_clusters), final, features, workers)


CrowdClusterer._attributes = docstrings.sections(CrowdClusterer).get("Attributes", "")


class WarningClusterer(CrowdClusterer):
    """``fit`` numbers clusters by size and warns (:class:`semicrowd.UnreliableResultWarning`) of unreliable results."""

    def _set_result(self, result: Result, answers: PairAnnotations | None) -> None:
        super()._set_result(result, answers)
        self.number_clusters()

    def _warn(self, features: np.ndarray, answers: PairAnnotations | None) -> None:
        # Imported here: it needs torch, and this module is imported by simple methods, too.
        from semicrowd.evaluation.trust import reliability_warnings

        gaps = None if self.columns_ is None else self.columns_.gaps(features)
        for line in reliability_warnings(self.result_, answers, gaps=gaps):
            warn(line, UnreliableResultWarning)


class OneShotClusterer(CrowdClusterer):
    """A method that is not iterative."""

    def _run(self, features: np.ndarray, answers: PairAnnotations | None, monitor: Monitor) -> Result:
        return iterate(_OneShot(self, features, answers), monitor)

    @abstractmethod
    def _cluster(self, features: np.ndarray, answers: Any) -> Result:
        """Cluster the items; ``answers`` are PairAnnotations or, where ``requires_answers`` is False, None."""


class InductiveClusterer(OneShotClusterer):
    """A method that is not iterative and assigns new items by their features alone."""

    def predict(self, X: Any) -> np.ndarray:
        """Clusters [N] of items from their features alone."""
        return self._numbered(self._assign(self._new_items(X))).cluster

    @abstractmethod
    def _assign(self, features: np.ndarray) -> Assignment:
        """Clusters of items [N, D]."""


class _OneShot(Method):
    def __init__(self, clusterer: OneShotClusterer, features: np.ndarray, answers: PairAnnotations | None) -> None:
        self._arguments: Any = (features, answers)
        self._clusterer = clusterer

    def step(self, iteration: int) -> Mapping[str, float]:  # noqa: ARG002 - there is one
        self._result = self._clusterer._cluster(*self._arguments)
        return {}

    def result(self) -> Result:
        return self._result


def _seed(random_state: Any) -> int:
    if random_state is None or isinstance(random_state, np.random.RandomState):
        return int(check_random_state(random_state).randint(2**31 - 1))
    whole = isinstance(random_state, int | np.integer) and not isinstance(random_state, bool)
    if not whole or not 0 <= random_state <= LARGEST:
        raise UserError(f"random_state={random_state}: expected a whole number from 0 to {LARGEST}, or None")
    return int(random_state)


class OrderedClusterer(CrowdClusterer):
    """What an item is depends on its neighbours, so that there is no prediction item by item."""

    requires_answers = False

    def fit(
        self, X: Any, y: Any = None, pairs: Any = None, *, sequence: Any = None, monitor: Monitor | None = None
    ) -> Self:
        """Find states of the rows of X, which are in order of time.

        Parameters
        ----------
        X : [N, D] numbers, an array or a data frame
        y, pairs : ignored
        sequence : [N] whole numbers, which sequence a row is of; None: all are of one
        monitor : takes curves, keeps checkpoints; None: nothing is kept

        Raises
        ------
        UserError
            For parameters out of range, and items that cannot be used.
        """
        self._sequence = sequence
        try:
            return super().fit(X, y, pairs=pairs, monitor=monitor)
        finally:
            del self._sequence

    def _order(self, items: int) -> np.ndarray:
        """Sequence of each item [N]."""
        if self._sequence is None:
            return np.zeros(items, np.int64)
        found = np.asarray(self._sequence)
        if found.shape != (items,) or found.dtype.kind not in "iu":
            raise UserError(f"sequence: {found.dtype} {list(found.shape)}; expected {items} whole numbers, one a row")
        return found
