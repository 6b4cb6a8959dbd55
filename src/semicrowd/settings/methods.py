"""The list of all methods: name on the command line and in reports, module of the estimator, and description."""

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeVar

from semicrowd.settings.fields import Settings, described
from semicrowd.settings.model import BayesSettings, GenerativeSettings, SCDCSettings
from semicrowd.settings.parameters import Parameters


def _names(module: str, kind: str) -> Iterator[str]:
    """Names of the settings of a class and of its base classes, read from their text; some may come twice."""
    defined, imported = _parsed(module)
    if kind not in defined:
        return
    for line in defined[kind].body:
        match line:
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.Call(func=ast.Name(id="setting"))):
                yield name
    for base in (ast.unparse(one) for one in defined[kind].bases):
        yield from _names(imported.get(base, module), base)


@cache
def _parsed(module: str) -> tuple[dict[str, ast.ClassDef], dict[str, str]]:
    """Classes of a file of ours, and the modules that its other names are from; nothing of other packages' files."""
    spec = find_spec(module) if module.startswith("semicrowd.") else None
    if spec is None or spec.origin is None:
        return {}, {}
    lines = ast.parse(Path(spec.origin).read_text(encoding="utf-8")).body
    imported = {name.asname or name.name: str(one.module) for one in lines if isinstance(one, ast.ImportFrom)
                for name in one.names}
    return {one.name: one for one in lines if isinstance(one, ast.ClassDef)}, imported


#: A dataclass of settings.
Kind = type[Settings] | type[Parameters]
_T = TypeVar("_T")


@dataclass(frozen=True)
class Entry:
    """A method.

    Attributes
    ----------
    place : file and class of its estimator, in ``semicrowd.methods``; imported only when used, because importing torch
        takes seconds
    what : description in one line, for ``--help``
    generative : settings class of a generative model; None for other methods, whose settings are the parameters of
        their estimator
    expects_number: whether ``model.K`` is the number that is aimed at, and no maximum
    """

    place: str
    what: str
    generative: type[GenerativeSettings] | None = None
    expects_number: bool = False

    @property
    def module(self) -> str:
        """Name of the module of its estimator."""
        return f"semicrowd.methods.{self.place.partition('.')[0]}"

    @property
    def kind(self) -> str:
        """Name of its estimator's class."""
        return self.place.partition(".")[2]

    @property
    def estimator(self) -> Any:
        """The class of its estimator."""
        return getattr(import_module(self.module), self.kind)

    @property
    def trained(self) -> bool:
        """Whether it is trained in epochs, possibly by several processes; other methods are fitted by one call."""
        return self.generative is not None

    @property
    def settings(self) -> type[Parameters] | type[GenerativeSettings]:
        """Its own settings, ``model.…`` on the command line."""
        settings: type[Parameters] | type[GenerativeSettings] = self.generative or self.estimator
        return settings

    @property
    def names(self) -> list[str]:
        """Names of :attr:`settings` on the command line, for which nothing is loaded."""
        if self.generative is not None:
            return [one.spelled for one in described(self.generative)]
        return [Parameters.spelling.get(name, name) for name in sorted(set(_names(self.module, self.kind)))]

    @property
    def others(self) -> Mapping[str, type[Settings]]:
        """Group → settings class, of the groups other than ``model`` that contain settings of the method."""
        return self.generative.others if self.generative else {}

    @property
    def groups(self) -> dict[str, Kind]:
        """Group → settings class, of all groups that influence a fit."""
        return {"model": self.settings, **self.others}


METHODS: Mapping[str, Entry] = {
    "bayes": Entry(
        "generative.BayesSCDC",
        "BayesSCDC: fully Bayesian, message passing and natural gradients (SCDC paper, section 3, Algorithm 1).",
        BayesSettings,
    ),
    "scdc": Entry(
        "generative.SCDC", "SCDC: amortised inference, all parameters by gradient steps (SCDC paper, section 2).",
        SCDCSettings,
    ),
    "cotrain": Entry(
        "cotraining.CoTraining",
        "Co-training: classifiers of the features and the answers improve the clusters in turns; no generative model.",
    ),
    "mcvc": Entry(
        "mcvc.MCVC", "MCVC: discriminative clusterings, one for each group of annotators (Chang et al. 2017)."
    ),
    "deep_mcvc": Entry(
        "mcvc.DeepMCVC", "Deep MCVC: MCVC with networks in place of its linear maps (SCDC paper, appendix C)."
    ),
    "semicrowd": Entry(
        "semicrowd_matrix_completion.SemiCrowd",
        "SemiCrowd: matrix completion, metric, spectral clustering (Yi et al. 2012).",
    ),
    "itml": Entry("itml.ITML", "ITML and k-means: a metric learned from majority votes (Davis et al. 2007)."),
    "mpckmeans": Entry(
        "mpckmeans.MPCKMeans", "MPCK-means: k-means with majority votes and a learned metric (Bilenko et al. 2004)."
    ),
    "cspa": Entry("cspa.CSPA", "CSPA: a balanced cut of the annotators' co-association graph (Strehl & Ghosh 2002)."),
    "kmeans": Entry("unsupervised.KMeansOnly", "k-means on the features; answers are ignored."),
    "gmm": Entry("unsupervised.MixtureOnly", "Gaussian mixture on the features; answers are ignored."),
    "bgmm": Entry(
        "unsupervised.VariationalMixture",
        "Dirichlet process mixture of at most K Gaussians on the features, by scikit-learn; answers are ignored.",
    ),
    "affinity_propagation": Entry(
        "affinity_propagation.AffinityPropagation",
        "Affinity propagation on the features (Frey & Dueck 2007), with about K clusters; answers are ignored.",
        expects_number=True,
    ),
    "dp_means": Entry(
        "dp_means.DPMeans",
        "DP-means: k-means with a penalty for each cluster, set for K clusters (Kulis & Jordan 2012); ignores answers.",
        expects_number=True,
    ),
    "gmeans": Entry(
        "gmeans.GMeans",
        "G-means: splits k-means clusters until each is Gaussian; estimates their number; answers are ignored.",
    ),
    "hmm": Entry("hmm.HMM", "Hidden Markov model of items in temporal order; answers are ignored."),
    "constrained_kmeans": Entry(
        "constrained_kmeans.ConstrainedKMeans", "PCKMeans: k-means with majority votes (Basu et al. 2004)."
    ),
    "ukm": Entry("ckm.UKM", "k-means; answers are ignored (UKM of Li et al. 2009)."),
    "ckm": Entry("ckm.CKM", "k-means that satisfies all must-links (CKM of Li et al. 2009)."),
    "slpd": Entry(
        "slpd.SLPD", "SLPD: latent process decomposition in which linked items share proportions (Li et al. 2009)."
    ),
    "crowd_only": Entry(
        "crowd_only.SignedSpectral", "Signed spectral clustering of the answers; features are ignored."
    ),
    "crowd_logistic": Entry(
        "crowd_only.CrowdLogistic", "crowd_only, and a logistic regression from the features for the other items."
    ),
    "dpm": Entry(
        "dpm.DPM",
        "DPM: Dirichlet process mixture of Gaussians or multinomials; estimates the cluster number (Antoniak 1974).",
    ),
    "ddpm_s": Entry(
        "dpm.DDPMS", "DDPM-S: DPM with a Bayesian support vector machine for each cluster (Nguyen et al. 2017)."
    ),
    "ddpm_l": Entry(
        "dpm.DDPML", "DDPM-L: DPM with a Bayesian logistic regression for each cluster (Nguyen et al. 2017)."
    ),
    "mmgm": Entry(
        "dpm.MaxMarginMixture", "Max-margin Dirichlet process mixture (Chen, Zhu & Zhang 2014); answers are ignored."
    ),
    "ihmm": Entry(
        "ihmm.IHMM",
        "Infinite hidden Markov model of items in temporal order; estimates the number of states (Teh et al. 2006).",
    ),
    "dih_s": Entry(
        "ihmm.DIHS", "DIH-S: infinite HMM with a Bayesian support vector machine for each state (Nguyen et al. 2017)."
    ),
    "dih_l": Entry(
        "ihmm.DIHL", "DIH-L: infinite HMM with a Bayesian logistic regression for each state (Nguyen et al. 2017)."
    ),
    "deep_dpm": Entry(
        "deep_dpm.DeepDPM",
        "Deep DPM: volume-preserving flow and a Dirichlet process mixture; estimates the number of clusters.",
    ),
}

#: Name of a class → name of the method: ``BayesSCDC`` → ``bayes``.
NAMES = {method.kind: name for name, method in METHODS.items()}


class Later(Mapping[str, _T]):
    """A mapping whose values are computed by ``find`` when they are looked up."""

    def __init__(self, names: Iterable[str], find: Callable[[str], _T]) -> None:
        self._names, self._find = tuple(names), find

    def __getitem__(self, name: str) -> _T:
        if name not in self._names:
            raise KeyError(name)
        return self._find(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)
