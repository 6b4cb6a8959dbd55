"""Co-training: classifiers of the features and the answers improve the clusters in turns; no generative model."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import torch
from joblib import Memory
from sklearn.neighbors import NearestNeighbors
from sklearn.utils.validation import check_memory

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.crowd.workers import WorkerPosterior
from semicrowd.errors import UserError
from semicrowd.estimators.base import CLUSTERS, JOBS, CrowdClusterer, WarningClusterer, status
from semicrowd.evaluation.held_out import Gain
from semicrowd.expfam import dirichlet
from semicrowd.models.pair_quality import reported_quality
from semicrowd.random import stream
from semicrowd.result import Assignment, Result
from semicrowd.starts.initial_clusters import default_max_clusters
from semicrowd.starts.portfolio import Portfolio
from semicrowd.starts.preparing import Prepared, prepared
from semicrowd.starts.shared import ProgressCallback
from semicrowd.starts.unsupervised import clusters_of_preparations

#: Number of nearest training items whose probabilities are averaged for a new item.
_NEIGHBOURS = 5
#: Number of new items whose neighbours are searched at once.
_PIECE = 4096


class CoTraining(WarningClusterer):
    """Semi-supervised clustering by co-training of classifiers of the features with the answers of annotators.

    Several initial clusterings are co-trained (Blum & Mitchell 1998) by stacked classifiers (Wolpert 1992) and message
    passing among the answers (SCDC paper, eq. 14); the result that predicts held-out answers best is selected
    (:mod:`semicrowd.starts.portfolio`). Without answers the features alone are clustered
    (:mod:`semicrowd.starts.unsupervised`). There is no generative model; the result can be used to initialise SCDC and
    BayesSCDC.

    Parameters
    ----------
    max_clusters : int or None, default=None
        Maximal number of clusters; None: 1.5 times the square root of the number of annotated items (of all items,
        without answers), but from 4 to 50.
    image_shape : tuple of int or None, default=None
        (height, width) or (colours, height, width) if the rows of X are images.
    memory : joblib.Memory, str or None, default=None
        Keeps the co-training, which SCDC and BayesSCDC fitted to the same data, answers and seed share.
    n_jobs : int or None, default=None
        Processes in which candidates are fitted again without parts of the answers, which takes most of the time if
        they are in doubt; None: one; -1: one for each core. The result does not depend on it.
    random_state : int, RandomState instance or None, default=0
    verbose : bool, default=False

    Attributes
    ----------
    candidates_ : DataFrame or None
        All candidates, in decreasing order of ``score``; None without answers. Its columns: ``candidate`` (name),
        ``clusters`` (their number), ``score`` (mean ln p of a held-out answer, in nats), ``behind`` (difference from
        the highest score) and its ``standard_error``, ``answer_power``, ``agreement`` (adjusted Rand index with the
        selected candidate's clusters), ``unseen`` (score of the two or three candidates that were fitted again without
        each fold of the answers; one of them is selected, not always the first row).
    winner_ : str
        Name of the selected candidate.
    held_out_gain_, held_out_gain_error_ : float
        Mean log-likelihood of a held-out answer minus that without clusters, in nats, and its standard error; NaN
        without answers, and if all are about one pair, so that none can be held out.
    preparations_ : dict
        Preparation → pipeline and prepared training items, or the sample of them that was used.
    memberships_ : ndarray of shape (n_samples or the sample's size, n_clusters)
        Cluster probabilities of the training items from their features alone.
    shares_ : dict
        Weight of each preparation.

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

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **CrowdClusterer._parameter_constraints, "max_clusters": [CLUSTERS, None], "image_shape": ["array-like", None],
        "memory": [str, Path, Memory, None], "n_jobs": JOBS,
    }  # fmt: skip
    requires_answers = False
    candidates_: pd.DataFrame | None
    winner_: str
    held_out_gain_: float
    held_out_gain_error_: float
    preparations_: dict
    memberships_: np.ndarray
    shares_: dict

    def __init__(
        self, *, max_clusters: int | None = None, image_shape: Sequence[int] | None = None,
        memory: Memory | str | None = None, n_jobs: int | None = None, random_state: Any = 0, verbose: Any = False,
    ) -> None:  # fmt: skip
        self.max_clusters = max_clusters
        self.image_shape = image_shape
        self.memory = memory
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

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

    def _run(self, features: np.ndarray, answers: PairAnnotations | None) -> Result:
        if self.image_shape is not None and math.prod(self.image_shape) != features.shape[1]:
            raise UserError(
                f"image_shape={list(self.image_shape)}: {math.prod(self.image_shape)} pixels; expected "
                f"{features.shape[1]}, the columns of X"
            )
        if self.max_clusters is None:
            self.params_["max_clusters"] = default_max_clusters(
                len(features) if answers is None else len(answers.annotated)
            )
        with status("co-training", self.verbose) as tell:
            return self._of_features(features, tell) if answers is None else self._of_both(features, answers, tell)

    def _of_features(self, features: np.ndarray, tell: ProgressCallback) -> Result:
        clustering = clusters_of_preparations(
            features, stream(self.seed_, "unsupervised"), tell, self.max_clusters, self.image_shape, self.indicators
        )
        self.candidates_, self.winner_ = None, clustering.description
        self.held_out_gain_ = self.held_out_gain_error_ = math.nan
        self._keep(clustering.preparations, dict.fromkeys(clustering.preparations, 1.0), clustering.memberships)
        assignment = Assignment.of(clustering.memberships)
        return Result(clustering.memberships.shape[1], assignment, assignment)

    def _of_both(self, features: np.ndarray, answers: PairAnnotations, tell: ProgressCallback) -> Result:
        best = Portfolio(
            features, answers, self.seed_, tell, self.max_clusters, image_shape=self.image_shape, jobs=self.n_jobs,
            indicators=self.indicators, memory=check_memory(self.memory),
        ).cotrained()  # fmt: skip
        shapes = (dirichlet.to_standard(eta).numpy() for eta in best.annotators)
        known = torch.from_numpy(best.probabilities[answers.annotated])[None]
        workers = reported_quality(WorkerPosterior(*shapes), known, answers.index, robust=True)
        verdict = best.verdict
        if verdict.informative:
            self._keep(best.preparations, best.shares, best.alone[best.rows])
            final = Assignment.of(best.probabilities)
            result = Result(best.probabilities.shape[1], final, Assignment.of(best.alone), workers)
        else:  # uninformative answers are ignored: clusters fitted to the annotated items alone would be worse
            result = replace(self._of_features(features, tell), workers=workers)
        self.candidates_, self.winner_ = verdict.table, verdict.winner
        self.held_out_gain_, self.held_out_gain_error_ = Gain.of(verdict, answers) or (math.nan, math.nan)
        return replace(result, verdict=verdict)

    def _keep(self, preparations: Mapping[str, Prepared], shares: Mapping[str, float], memberships: np.ndarray) -> None:
        self.preparations_ = {name: tuple(one) for name, one in preparations.items()}
        total = sum(shares[name] for name in self.preparations_) or 1.0
        self.shares_ = {name: shares[name] / total for name in self.preparations_}
        self.memberships_ = memberships
