"""The methods: each file or folder has an estimator with its parameters and what mathematics is its own; their list."""

from importlib import import_module
from typing import Any

#: Name on the command line, in reports and of the file in conf/model → file and class here. A class is imported when it
#: is first asked for (:func:`method`): torch takes seconds.
METHODS = {
    "bayes": "bayes.BayesSCDC",
    "scdc": "scdc.SCDC",
    "cotrain": "cotraining.CoTraining",
    "mcvc": "mcvc.MCVC",
    "deep_mcvc": "mcvc.DeepMCVC",
    "matrix_completion": "matrix_completion.MatrixCompletion",
    "itml": "itml.ITML",
    "mpckmeans": "mpckmeans.MPCKMeans",
    "cspa": "cspa.CSPA",
    "kmeans": "unsupervised.KMeansOnly",
    "gmm": "unsupervised.MixtureOnly",
    "bgmm": "unsupervised.VariationalMixture",
    "affinity_propagation": "affinity_propagation.AffinityPropagation",
    "dp_means": "dp_means.DPMeans",
    "gmeans": "gmeans.GMeans",
    "hmm": "hmm.HMM",
    "constrained_kmeans": "constrained_kmeans.ConstrainedKMeans",
    "ukm": "ckm.UKM",
    "ckm": "ckm.CKM",
    "slpd": "slpd.estimator.SLPD",
    "crowd_only": "crowd_only.SignedSpectral",
    "crowd_logistic": "crowd_only.CrowdLogistic",
    "dpm": "discriminative.estimators.DPM",
    "ddpm_s": "discriminative.estimators.DDPMS",
    "ddpm_l": "discriminative.estimators.DDPML",
    "mmgm": "discriminative.estimators.MaxMarginMixture",
    "ihmm": "discriminative.estimators.IHMM",
    "dih_s": "discriminative.estimators.DIHS",
    "dih_l": "discriminative.estimators.DIHL",
    "deep_dpm": "deep_dpm.estimator.DeepDPM",
}
#: Name of a class → name of the method: ``BayesSCDC`` → ``bayes``.
NAMES = {place.rpartition(".")[2]: name for name, place in METHODS.items()}


def method(name: str) -> Any:
    """The class of a method's estimator, a :class:`semicrowd.estimators.base.CrowdClusterer` with its parameters."""
    file, _, kind = METHODS[name].rpartition(".")
    return getattr(import_module(f"semicrowd.methods.{file}"), kind)
