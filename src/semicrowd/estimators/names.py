"""Where the class of every method is."""

from importlib import import_module
from typing import Any

#: Name on the command line and in reports → module and class; loaded when asked for, since torch takes seconds.
PLACES = {
    "bayes": ("generative", "BayesSCDC"),
    "scdc": ("generative", "SCDC"),
    "cotrain": ("cotraining", "CoTraining"),
    "mcvc": ("mcvc", "MCVC"),
    "deep_mcvc": ("mcvc", "DeepMCVC"),
    "semicrowd": ("semicrowd_matrix_completion", "SemiCrowd"),
    "itml": ("itml", "ITML"),
    "mpckmeans": ("mpckmeans", "MPCKMeans"),
    "cspa": ("cspa", "CSPA"),
    "kmeans": ("unsupervised", "KMeansOnly"),
    "gmm": ("unsupervised", "MixtureOnly"),
    "bgmm": ("unsupervised", "VariationalMixture"),
    "affinity_propagation": ("affinity_propagation", "AffinityPropagation"),
    "dp_means": ("dp_means", "DPMeans"),
    "gmeans": ("gmeans", "GMeans"),
    "hmm": ("hmm", "HMM"),
    "constrained_kmeans": ("constrained_kmeans", "ConstrainedKMeans"),
    "ukm": ("ckm", "UKM"),
    "ckm": ("ckm", "CKM"),
    "slpd": ("slpd", "SLPD"),
    "crowd_only": ("crowd_only", "SignedSpectral"),
    "crowd_logistic": ("crowd_only", "CrowdLogistic"),
    "dpm": ("gibbs", "DPM"),
    "ddpm_s": ("gibbs", "DDPMS"),
    "ddpm_l": ("gibbs", "DDPML"),
    "mmgm": ("gibbs", "MaxMarginMixture"),
    "ihmm": ("gibbs", "IHMM"),
    "dih_s": ("gibbs", "DIHS"),
    "dih_l": ("gibbs", "DIHL"),
    "deep_dpm": ("deep_dpm", "DeepDPM"),
}
#: The same names by those of the classes: ``BayesSCDC`` → ``bayes``.
NAMES = {kind: name for name, (_, kind) in PLACES.items()}


def estimator_class(name: str) -> Any:
    """The class of a method."""
    module, kind = PLACES[name]
    return getattr(import_module(f"semicrowd.estimators.{module}"), kind)
