"""The baselines of Li, Ying & Campbell 2009: k-means without and with must-links.

UKM is k-means. CKM assigns all items of a block to the same cluster (Basu, Banerjee & Mooney 2002; Demiriz, Bennett &
Embrechts 1999); must-links are always satisfied, while PCKMeans only penalises violations.
"""

from dataclasses import dataclass

import numpy as np
from sklearn.cluster import KMeans

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.crowd.links import blocks_of
from semicrowd.data.preparation import ColumnScaler
from semicrowd.errors import UserError
from semicrowd.estimators.base import InductiveClusterer
from semicrowd.fitting.result import Assignment, Result
from semicrowd.settings.fields import flag, setting, whole
from semicrowd.settings.parameters import STANDARDIZE, STARTS, CountedParameters


@dataclass(eq=False, repr=False, kw_only=True)
class CKMParameters(CountedParameters):
    """Parameters of :class:`CKM` and :class:`UKM`."""

    standardize: bool = setting(True, STANDARDIZE, flag())
    n_init: int = setting(10, STARTS, whole(1, 100_000))


class CKM(CKMParameters, InductiveClusterer):
    """k-means that satisfies all must-links.

    The cost of a block of n items in one cluster is n times the cost of its mean, plus a constant. Therefore this is
    k-means of the block means, weighted by block size. Blocks are those of SLPD.

    Attributes
    ----------
    model_, scaler_ : the fitted KMeans and ColumnScaler
    """

    requires_answers = False

    def _assign(self, features: np.ndarray) -> Assignment:
        return Assignment.hard(self.model_.predict(self.scaler_.transform(features)))

    def _cluster(self, features: np.ndarray, answers: PairAnnotations | None) -> Result:
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
    """k-means; answers are ignored. Attributes are those of :class:`CKM`."""

    def _cluster(self, features: np.ndarray, answers: PairAnnotations | None) -> Result:  # noqa: ARG002 - ignored
        return super()._cluster(features, None)


def block_means(features: np.ndarray, blocks: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean of each block [C, D], and its size [C]."""
    size = np.bincount(blocks).astype(np.float64)
    means = np.zeros((len(size), features.shape[1]))
    np.add.at(means, blocks, features)
    return means / size[:, None], size
