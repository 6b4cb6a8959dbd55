"""Other methods for features and noisy pair answers, as scikit-learn estimators: ``fit(X, pairs)``, ``labels_``."""

from sklearn.base import BaseEstimator

from semicrowd.estimators.constrained_kmeans import ConstrainedKMeans
from semicrowd.estimators.crowd_only import CrowdLogistic, SignedSpectral
from semicrowd.estimators.cspa import CSPA
from semicrowd.estimators.deep_mcvc import DeepMCVC
from semicrowd.estimators.itml import ITML
from semicrowd.estimators.mcvc import MCVC
from semicrowd.estimators.mpckmeans import MPCKMeans
from semicrowd.estimators.semicrowd_matrix_completion import SemiCrowd
from semicrowd.estimators.unsupervised import KMeansOnly, MixtureOnly

#: Every method under the name that configurations and reports use. All take ``n_clusters`` and ``random_state``.
BASELINES: dict[str, type[BaseEstimator]] = {
    "mcvc": MCVC,
    "deep_mcvc": DeepMCVC,
    "semicrowd": SemiCrowd,
    "itml": ITML,
    "mpckmeans": MPCKMeans,
    "cspa": CSPA,
    "kmeans": KMeansOnly,
    "gmm": MixtureOnly,
    "constrained_kmeans": ConstrainedKMeans,
    "crowd_only": SignedSpectral,
    "crowd_logistic": CrowdLogistic,
}

__all__ = ["BASELINES"]
