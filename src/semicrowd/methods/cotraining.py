"""Co-training: classifiers of the features and the answers improve the clusters in turns; no generative model."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from sklearn.neighbors import NearestNeighbors

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.crowd.workers import WorkerPosterior
from semicrowd.errors import UserError
from semicrowd.estimators.base import WarningClusterer
from semicrowd.evaluation.held_out import Gain
from semicrowd.expfam import dirichlet
from semicrowd.fitting.iterate import Method, iterate
from semicrowd.fitting.monitor import Monitor
from semicrowd.fitting.result import Assignment, Result
from semicrowd.models.pair_quality import reported_quality
from semicrowd.random import stream
from semicrowd.settings.fields import each, number_of_jobs, setting, whole
from semicrowd.settings.parameters import Parameters
from semicrowd.starts.portfolio import Portfolio
from semicrowd.starts.preparing import Prepared, prepared
from semicrowd.starts.recent import ProgressCallback
from semicrowd.starts.unsupervised import clusters_of_preparations

#: Number of nearest training items whose probabilities are averaged for a new item.
_NEIGHBOURS = 5
#: Number of new items whose neighbours are searched at once.
_PIECE = 4096


@dataclass(eq=False, repr=False, kw_only=True)
class CoTrainingParameters(Parameters):
    """Parameters of :class:`CoTraining`."""

    max_clusters: int | None = setting(
        None, "maximal number of clusters; null: 1.5 times the square root of the number of annotated items (of all "
        "items, without answers), but from 4 to 50", whole(2, 100_000), optional=True,
    )  # fmt: skip
    image_shape: tuple[int, ...] | None = setting(
        None, "(height, width) or (colours, height, width) if the rows of X are images; on the command line null "
        "means the shape of the data set", each(whole(1), "[28, 28]", least=2), optional=True,
    )  # fmt: skip
    n_jobs: int | None = None


class CoTraining(CoTrainingParameters, WarningClusterer):
    """Semi-supervised clustering by co-training of classifiers of the features with the answers of annotators.

    Several initial clusterings are co-trained (Blum & Mitchell 1998) by stacked classifiers (Wolpert 1992) and message
    passing among the answers (SCDC paper, eq. 14); the result that predicts held-out answers best is selected
    (:mod:`semicrowd.starts.portfolio`). Without answers the features alone are clustered
    (:mod:`semicrowd.starts.unsupervised`). There is no generative model; the result can be used to initialise SCDC and
    BayesSCDC.

    Parameters
    ----------
    n_jobs : int or None, default=None
        processes in which candidates are fitted again without parts of the answers, which takes most of the time if
        they are in doubt; None: one; -1: one for each core. The result does not depend on it

    Attributes
    ----------
    candidates_ : data frame of all candidates, in decreasing order of ``score``; None without answers. Its columns:
        ``candidate`` (name), ``clusters`` (their number), ``score`` (mean ln p of a held-out answer, in nats),
        ``behind`` (difference from the highest score) and its ``standard_error``, ``answer_power``, ``agreement``
        (adjusted Rand index with the selected candidate's clusters), ``unseen`` (score of the two or three candidates
        that were fitted again without each fold of the answers; one of them is selected, not always the first row)
    winner_ : name of the selected candidate
    held_out_gain_, held_out_gain_error_ : mean log-likelihood of a held-out answer minus that without clusters, in
        nats, and its standard error; NaN without answers, and if all are about one pair, so that none can be held out
    preparations_ : preparation → pipeline and prepared training items, or the sample of them that was used
    memberships_ : [n, K] cluster probabilities of the training items from their features alone
    shares_ : weight of each preparation

    Examples
    --------
    Irises without answers, clustered by their features alone; with ``fit(X, pairs=answers)`` it takes half a minute.

    >>> from sklearn.datasets import load_iris
    >>> from semicrowd import CoTraining
    >>> X, kind = load_iris(return_X_y=True)
    >>> model = CoTraining().fit(X)
    >>> model.labels_.shape
    (150,)
    >>> model.predict_proba(X[:5]).shape == (5, model.n_clusters_)
    True
    """

    requires_answers = False
    memberships_: np.ndarray

    def predict_proba(self, X: Any) -> np.ndarray:
        """Cluster probabilities [N, K] of new items: means over the nearest training items in each preparation."""
        features = self._new_items(X)
        alone = self.memberships_
        probabilities = np.zeros((len(features), alone.shape[1]))
        for name, (pipeline, known) in self.preparations_.items():
            search = NearestNeighbors(n_neighbors=min(_NEIGHBOURS, len(known))).fit(known)
            for first in range(0, len(features), _PIECE):
                rows = slice(first, first + _PIECE)
                near = search.kneighbors(prepared(pipeline, features[rows]), return_distance=False)
                probabilities[rows] += self.shares_[name] * alone[near].mean(1)
        return probabilities if self.preparations_ else probabilities + alone.mean(0)

    def predict(self, X: Any) -> np.ndarray:
        """Clusters [N] of new items."""
        return Assignment.of(self.predict_proba(X), self.components_).cluster

    def number_clusters(self) -> None:
        """Number the clusters, those of ``memberships_`` as well; see :meth:`CrowdClusterer.number_clusters`."""
        if self.components_ is None:
            super().number_clusters()
            self.memberships_ = self._in_order(self.memberships_)

    def _run(self, features: np.ndarray, answers: PairAnnotations | None, monitor: Monitor) -> Result:
        if self.image_shape is not None and math.prod(self.image_shape) != features.shape[1]:
            raise UserError(
                f"image_shape={list(self.image_shape)}: {math.prod(self.image_shape)} pixels; expected "
                f"{features.shape[1]}, the columns of X"
            )
        if self.n_jobs is not None and (wrong := number_of_jobs(self.n_jobs)):
            raise UserError(f"n_jobs={self.n_jobs}: expected {wrong}")
        return iterate(_Fit(self, features, answers), monitor)

    def _keep(
        self,
        ways: Mapping[str, Prepared],
        shares: Mapping[str, float],
        memberships: np.ndarray,
    ) -> None:
        self.preparations_ = {name: tuple(way) for name, way in ways.items()}
        total = sum(shares[name] for name in self.preparations_) or 1.0
        self.shares_ = {name: shares[name] / total for name in self.preparations_}
        self.memberships_ = memberships


class _Fit(Method):
    iterations = 1

    def __init__(self, model: CoTraining, features: np.ndarray, answers: PairAnnotations | None) -> None:
        self.model, self.features, self.answers = model, features, answers
        self.progress: ProgressCallback = lambda _: None

    def start(self, progress: ProgressCallback) -> None:
        """Store the progress callback."""
        self.progress = progress

    def step(self, iteration: int) -> Mapping[str, float]:  # noqa: ARG002 - there is one
        self._result = self._of_features() if self.answers is None else self._of_both(self.answers)
        return {}

    def result(self) -> Result:
        """The result of the only iteration."""
        return self._result

    def _of_features(self) -> Result:
        model = self.model
        clustering = clusters_of_preparations(
            self.features, stream(model.seed_, "unsupervised"), self.progress, model.max_clusters, model.image_shape,
            model.indicators,
        )  # fmt: skip
        model.candidates_, model.winner_ = None, clustering.description
        model.held_out_gain_ = model.held_out_gain_error_ = float("nan")
        shares = dict.fromkeys(clustering.preparations, 1.0)
        memberships = clustering.memberships
        model._keep(clustering.preparations, shares, memberships)
        assignment = Assignment.of(memberships)
        return Result(memberships.shape[1], assignment, assignment)

    def _of_both(self, answers: PairAnnotations) -> Result:
        model = self.model
        best = Portfolio(
            self.features, answers, model.seed_, self.progress, model.max_clusters, image_shape=model.image_shape,
            jobs=model.n_jobs, indicators=model.indicators,
        ).cotrained()  # fmt: skip
        shapes = (dirichlet.to_standard(eta).numpy() for eta in best.annotators)
        known = torch.from_numpy(best.probabilities[answers.annotated])[None]
        workers = reported_quality(WorkerPosterior(*shapes), known, answers.index, robust=True)
        verdict = best.verdict
        if verdict.informative:
            model._keep(best.preparations, best.shares, best.alone[best.rows])
            final = Assignment.of(best.probabilities)
            result = Result(best.probabilities.shape[1], final, Assignment.of(best.alone), workers)
        else:  # uninformative answers are ignored: clusters fitted to the annotated items alone would be worse
            result = replace(self._of_features(), workers=workers)
        model.candidates_, model.winner_ = verdict.table, verdict.winner
        model.held_out_gain_, model.held_out_gain_error_ = Gain.of(verdict, answers) or (math.nan, math.nan)
        return replace(result, verdict=verdict)
