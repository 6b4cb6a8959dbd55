"""Every method: its name on the command line and in reports, its settings, and where its class is."""

from collections.abc import Mapping
from dataclasses import dataclass

from semicrowd.settings import baselines, gibbs
from semicrowd.settings.baselines import Parameters
from semicrowd.settings.fields import Settings
from semicrowd.settings.model import BayesSettings, GenerativeSettings, SCDCSettings

#: A dataclass of settings.
Kind = type[Settings] | type[Parameters]


@dataclass(frozen=True)
class Entry:
    """A line of the list.

    Attributes
    ----------
    settings : of the method; the first line of their docstring stands in ``--help``
    module, kind : of its estimator, in ``semicrowd.estimators``; loaded when asked for, since torch takes seconds
    """

    settings: type[Parameters] | type[GenerativeSettings]
    module: str
    kind: str

    @property
    def groups(self) -> dict[str, Kind]:
        """Group → settings, of all that decide a fit."""
        return {"model": self.settings, **self.settings.others}

    @property
    def trained(self) -> bool:
        """Whether it is fitted in epochs, by several processes if need be; the others are fitted at one go."""
        return bool(self.settings.others)


METHODS: Mapping[str, Entry] = {
    "bayes": Entry(BayesSettings, "generative", "BayesSCDC"),
    "scdc": Entry(SCDCSettings, "generative", "SCDC"),
    "cotrain": Entry(baselines.CoTrainingParameters, "cotraining", "CoTraining"),
    "mcvc": Entry(baselines.MCVCParameters, "mcvc", "MCVC"),
    "deep_mcvc": Entry(baselines.DeepMCVCParameters, "mcvc", "DeepMCVC"),
    "semicrowd": Entry(baselines.SemiCrowdParameters, "semicrowd_matrix_completion", "SemiCrowd"),
    "itml": Entry(baselines.ITMLParameters, "itml", "ITML"),
    "mpckmeans": Entry(baselines.MPCKMeansParameters, "mpckmeans", "MPCKMeans"),
    "cspa": Entry(baselines.CSPAParameters, "cspa", "CSPA"),
    "kmeans": Entry(baselines.KMeansParameters, "unsupervised", "KMeansOnly"),
    "gmm": Entry(baselines.MixtureParameters, "unsupervised", "MixtureOnly"),
    "bgmm": Entry(baselines.VariationalMixtureParameters, "unsupervised", "VariationalMixture"),
    "affinity_propagation": Entry(
        baselines.AffinityPropagationParameters, "affinity_propagation", "AffinityPropagation"
    ),
    "dp_means": Entry(baselines.DPMeansParameters, "dp_means", "DPMeans"),
    "gmeans": Entry(baselines.GMeansParameters, "gmeans", "GMeans"),
    "hmm": Entry(baselines.HMMParameters, "hmm", "HMM"),
    "constrained_kmeans": Entry(baselines.ConstrainedKMeansParameters, "constrained_kmeans", "ConstrainedKMeans"),
    "ukm": Entry(baselines.UKMParameters, "ckm", "UKM"),
    "ckm": Entry(baselines.CKMParameters, "ckm", "CKM"),
    "slpd": Entry(baselines.SLPDParameters, "slpd", "SLPD"),
    "crowd_only": Entry(baselines.CrowdOnlyParameters, "crowd_only", "SignedSpectral"),
    "crowd_logistic": Entry(baselines.CrowdLogisticParameters, "crowd_only", "CrowdLogistic"),
    "dpm": Entry(gibbs.DPMParameters, "gibbs", "DPM"),
    "ddpm_s": Entry(gibbs.DDPMSParameters, "gibbs", "DDPMS"),
    "ddpm_l": Entry(gibbs.DDPMLParameters, "gibbs", "DDPML"),
    "mmgm": Entry(gibbs.MMGMParameters, "gibbs", "MaxMarginMixture"),
    "ihmm": Entry(gibbs.IHMMParameters, "gibbs", "IHMM"),
    "dih_s": Entry(gibbs.DIHSParameters, "gibbs", "DIHS"),
    "dih_l": Entry(gibbs.DIHLParameters, "gibbs", "DIHL"),
    "deep_dpm": Entry(gibbs.DeepDPMParameters, "deep_dpm", "DeepDPM"),
}
