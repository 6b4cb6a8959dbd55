"""Affinity propagation: exemplars by messages (Frey & Dueck 2007, "Clustering by passing messages", Science 315)."""

import warnings

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.cluster import affinity_propagation
from sklearn.exceptions import ConvergenceWarning

from semicrowd.errors import UserError
from semicrowd.estimators.inputs import check_memory
from semicrowd.methods.unsupervised import NearestCentre

#: Preferences that are tried for a number of clusters: each halves the range of their logarithm.
_TRIALS = 15
#: Share of the old message in the new one.
_DAMPING = 0.9
#: Rounds of messages; they have settled after a tenth of them without a new exemplar (the authors' values).
_MOST_ROUNDS, _SETTLED = 1000, 100


class AffinityPropagation(NearestCentre):
    """Affinity propagation on minus squared Euclidean distances, by scikit-learn; answers are ignored.

    An exemplar costs minus its preference (Frey & Dueck 2007). The number of exemplars grows with the preference, which
    is sought, by bisection of its logarithm, until there are ``n_clusters`` exemplars; where messages settle at no such
    number, the nearest is kept.

    Parameters
    ----------
    n_clusters : int, default=4
        Number that is aimed at, and no maximum.
    random_state : int, RandomState instance or None, default=0
    verbose : bool, default=False

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        The exemplars.
    preference_ : float
        The preference that was found.
    n_iter_ : int
        Rounds of messages, of all preferences that were tried.
    """

    preference_: float
    n_iter_: int

    def _learn(self, features: np.ndarray) -> None:
        self.n_iter_ = 0
        check_memory("affinity_propagation", "similarities", len(features), 4)
        similarity = -cdist(features, features, "sqeuclidean")
        self.preference_, exemplars = self._sought(similarity)
        if not len(exemplars):
            raise UserError(f"n_clusters={self.n_clusters}: messages settle at no number near it; expected another one")
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
                similarity, preference=preference, damping=_DAMPING, max_iter=_MOST_ROUNDS, convergence_iter=_SETTLED,
                random_state=self.seed_, return_n_iter=True,
            )  # fmt: skip
        self.n_iter_ += rounds
        return np.asarray(exemplars, np.int64), rounds < _MOST_ROUNDS
