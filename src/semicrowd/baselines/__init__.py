"""Other methods for features and noisy pair answers, as scikit-learn estimators: ``fit(X, pairs)``, ``labels_``."""

from sklearn.base import BaseEstimator

from semicrowd.baselines.constrained_kmeans import ConstrainedKMeans
from semicrowd.baselines.crowd_only import CrowdLogistic, SignedSpectral
from semicrowd.baselines.cspa import CSPA
from semicrowd.baselines.deep_mcvc import DeepMCVC
from semicrowd.baselines.itml import ITML
from semicrowd.baselines.mcvc import MCVC
from semicrowd.baselines.mpckmeans import MPCKMeans
from semicrowd.baselines.semicrowd_matrix_completion import SemiCrowd
from semicrowd.baselines.unsupervised import KMeansOnly, MixtureOnly

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
