"""The baselines of Li, Ying & Campbell 2009: k-means without and with must-links.

UKM is k-means. CKM assigns all items of a block to the same cluster (Basu, Banerjee & Mooney 2002; Demiriz, Bennett &
Embrechts 1999); must-links are always satisfied, while PCKMeans only penalises violations.
"""

from typing import Any, ClassVar

import numpy as np
from sklearn.cluster import KMeans

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.crowd.links import blocks_of
from semicrowd.data.preparation import ColumnScaler
from semicrowd.errors import UserError
from semicrowd.estimators.base import COUNT, CrowdClusterer, InductiveClusterer
from semicrowd.result import Assignment, Result


class CKM(InductiveClusterer):
    """k-means that satisfies all must-links.

    The cost of a block of n items in one cluster is n times the cost of its mean, plus a constant. Therefore this is
    k-means of the block means, weighted by block size (Basu, Banerjee & Mooney 2002; CKM of Li, Ying & Campbell 2009).
    Blocks are those of SLPD (:func:`semicrowd.crowd.links.blocks_of`); without answers it is k-means.

    Parameters
    ----------
    n_clusters : int, default=4
    n_init : int, default=10
        Number of random starts, of which the one with the best objective is kept.
    standardize : bool, default=True
        Scale features to mean 0 and variance 1.
    random_state : int, RandomState instance or None, default=0
    verbose : bool, default=False

    Attributes
    ----------
    model_, scaler_ : KMeans, ColumnScaler
        The fitted estimator, and the scaling of the features before it.
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **CrowdClusterer._parameter_constraints, "n_init": [COUNT],
        "standardize": ["boolean"],
    }  # fmt: skip
    requires_answers = False
    model_: KMeans
    scaler_: ColumnScaler

    def __init__(
        self, n_clusters: int = 4, *, n_init: int = 10, standardize: bool = True, random_state: Any = 0,
        verbose: Any = False,
    ) -> None:  # fmt: skip
        self.n_clusters = n_clusters
        self.n_init = n_init
        self.standardize = standardize
        self.random_state = random_state
        self.verbose = verbose

    def _assign(self, features: np.ndarray) -> Assignment:
        return Assignment.hard(self.model_.predict(self.scaler_.transform(features)))

    def _run(self, features: np.ndarray, answers: PairAnnotations | None) -> Result:
        scaler = ColumnScaler(with_mean=self.standardize, with_std=self.standardize, indicators=self.indicators)
        self.scaler_ = scaler.fit(features)
        blocks = np.arange(len(features)) if answers is None else blocks_of(answers)
        means, size = block_means(self.scaler_.transform(features), blocks)
        if len(size) < self.n_clusters:
            raise UserError(f"n_clusters={self.n_clusters}: expected at most {len(size)}, the groups of linked items")
        self.model_ = KMeans(self.n_clusters, n_init=self.n_init, random_state=self.seed_)
        self.model_.fit(means, sample_weight=size)
        labels = self.model_.labels_[blocks]
        return self._result(Assignment.hard(labels), self._assign(features))


class UKM(CKM):
    """k-means; answers are ignored (UKM of Li, Ying & Campbell 2009).

    Parameters and attributes are those of :class:`CKM`.
    """

    def _run(self, features: np.ndarray, answers: PairAnnotations | None) -> Result:  # noqa: ARG002 - ignored
        return super()._run(features, None)


def block_means(features: np.ndarray, blocks: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean of each block [C, D], and its size [C]."""
    size = np.bincount(blocks).astype(np.float64)
    means = np.zeros((len(size), features.shape[1]))
    np.add.at(means, blocks, features)
    return means / size[:, None], size
