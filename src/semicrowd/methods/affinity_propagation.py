"""Affinity propagation: exemplars by messages (Frey & Dueck 2007, "Clustering by passing messages", Science 315)."""

import warnings
from dataclasses import dataclass

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.cluster import affinity_propagation
from sklearn.exceptions import ConvergenceWarning

from semicrowd.errors import UserError
from semicrowd.estimators.inputs import check_memory
from semicrowd.methods.unsupervised import NearestCentre
from semicrowd.settings.fields import number, setting, whole
from semicrowd.settings.parameters import CountedParameters

#: Preferences that are tried for a number of clusters: each halves the range of their logarithm.
_TRIALS = 15
#: The messages have converged after this share of the iterations without a new exemplar (the authors' value).
_SETTLED = 0.1
#: Iterations without a new exemplar, at least.
_FEWEST = 15


@dataclass(eq=False, repr=False, kw_only=True)
class AffinityPropagationParameters(CountedParameters):
    """Parameters of :class:`AffinityPropagation`."""

    preference: float | None = setting(
        None, "similarity of an item to itself, minus a squared distance; null: what comes nearest to K clusters",
        number(), optional=True,
    )  # fmt: skip
    damping: float = setting(0.9, "share of the old message in the new one", number(0.5, 0.999))
    max_iter: int = setting(1000, "rounds of messages, fewer where the exemplars have settled", whole(1))


class AffinityPropagation(AffinityPropagationParameters, NearestCentre):
    """Affinity propagation on minus squared Euclidean distances, by scikit-learn.

    The number of exemplars grows with the preference. Without one it is sought, by bisection of its logarithm, until
    there are ``n_clusters`` exemplars; where messages settle at no such number, the nearest is kept.

    Attributes
    ----------
    cluster_centers_ : [K, D] the exemplars
    preference_ : given or found
    n_iter_ : rounds of messages, of all preferences that were tried
    """

    def _learn(self, features: np.ndarray) -> None:
        self.n_iter_ = 0
        check_memory("affinity_propagation", "similarities", len(features), 4)
        similarity = -cdist(features, features, "sqeuclidean")
        if self.preference is None:
            self.preference_, exemplars = self._sought(similarity)
        else:
            self.preference_ = float(self.preference)
            exemplars, settled = self._exemplars(similarity, self.preference_)
            exemplars = exemplars if settled else exemplars[:0]
        if not len(exemplars):
            raise UserError(
                f"affinity_propagation: the messages have not settled; expected max_iter above {self.max_iter} or "
                f"damping above {self.damping:g}"
            )
        self.cluster_centers_ = features[exemplars]

    def _sought(self, similarity: np.ndarray) -> tuple[float, np.ndarray]:
        # One cluster costs no more than this; an item that is worth less than the nearest pair stays alone.
        one, all_alone = -similarity.sum(0).max(), -similarity[similarity < 0].max(initial=-np.inf)
        if not one:  # all items are alike
            return 0.0, np.zeros(1, np.int64)
        low, high = np.log(one), np.log(all_alone)
        best = 0.0, np.zeros(0, np.int64)
        for _ in range(_TRIALS):
            middle = (low + high) / 2
            exemplars, settled = self._exemplars(similarity, -float(np.exp(middle)))
            number = len(exemplars)
            nearer = not len(best[1]) or abs(number - self.n_clusters) < abs(len(best[1]) - self.n_clusters)
            if settled and number and nearer:
                best = -float(np.exp(middle)), exemplars
            if len(best[1]) == self.n_clusters:
                break
            low, high = (low, middle) if number > self.n_clusters else (middle, high)
        return best

    def _exemplars(self, similarity: np.ndarray, preference: float) -> tuple[np.ndarray, bool]:
        """Items [K] that are exemplars, and whether the messages have settled."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            exemplars, _, rounds = affinity_propagation(
                similarity, preference=preference, damping=self.damping, max_iter=self.max_iter,
                convergence_iter=max(_FEWEST, round(_SETTLED * self.max_iter)),
                random_state=self.seed_, return_n_iter=True,
            )  # fmt: skip
        self.n_iter_ += rounds
        return np.asarray(exemplars, np.int64), rounds < self.max_iter
