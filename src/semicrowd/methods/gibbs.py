"""Common base classes of the methods that sample partitions by Gibbs sampling, with and without hyperplanes.

Nguyen, Phung, Le & Bui 2017. The number of clusters is estimated; answers are ignored.
"""

import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import joblib
import numpy as np
import pandas as pd
from sklearn.cluster import KMeans

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.errors import UserError
from semicrowd.estimators.base import CrowdClusterer, OrderedClusterer
from semicrowd.estimators.inputs import checked_counts
from semicrowd.estimators.persistence import decode, encode
from semicrowd.fitting.iterate import Method, iterate
from semicrowd.fitting.monitor import Monitor
from semicrowd.fitting.result import Assignment, Result, Samples
from semicrowd.inference.partitions import point_estimate
from semicrowd.metrics.chains import mixing
from semicrowd.random import stream
from semicrowd.settings.fields import choice, each, flag, number, setting, whole
from semicrowd.settings.parameters import Parameters

if TYPE_CHECKING:
    from semicrowd.inference.gibbs.chain import Chain, Model
    from semicrowd.inference.gibbs.hyperplanes import Hyperplanes

#: Columns of the table of chains, in addition to chain and sweep.
_TRACE = ("clusters", "log_likelihood", "alpha", "gamma", "seconds")
#: Rule for the shape and the rate of a Gamma prior.
GAMMA = each(number(above=0), "[1.0, 1.0]", length=2)


@dataclass(eq=False, repr=False, kw_only=True)
class PartitionParameters(Parameters):
    """Parameters of the prior of partitions, and of the prior of Gaussian clusters."""

    n_start: int = setting(
        1, "number of clusters of the initial partition; 1: items are assigned one after the other", whole(1, 10_000)
    )
    start: str = setting("random", "initial partition: random | kmeans", choice("random", "kmeans"))
    alpha: float | None = setting(None, "fixed concentration; null: it is sampled", number(above=0), optional=True)
    alpha_prior: tuple[float, float] = setting((1.0, 1.0), "shape and rate of the Gamma prior of alpha", GAMMA)
    scatter: float = setting(
        1.0, "gaussian: prior mean of a cluster's covariance, in units of the columns' variances", number(above=0)
    )
    mean_strength: float = setting(0.01, "gaussian: weight of the prior mean, in items", number(above=0))
    variance_strength: float = setting(1.0, "isotropic: weight of the prior variance, in items", number(above=0))
    eq19: str = setting(
        "corrected", "isotropic: marginal density of a new cluster: corrected | printed (as in the paper)",
        choice("corrected", "printed"),
    )  # fmt: skip


@dataclass(eq=False, repr=False, kw_only=True)
class SampledParameters(PartitionParameters):
    """Common parameters of all Gibbs samplers of partitions."""

    family: str = setting(
        "gaussian",
        "distribution of a cluster: gaussian (full covariance) | isotropic (one variance) | multinomial (for counts)",
        choice("gaussian", "isotropic", "multinomial"),
    )
    n_chains: int = setting(10, "number of independent chains", whole(1, 10_000))
    n_sweeps: int = setting(100, "sweeps of each chain", whole(1))
    n_kept: int = setting(5, "number of last sweeps of each chain whose partitions are kept", whole(1))
    keep_every: int = setting(
        0, "interval of sweeps after which a partition is also kept; 0: only the last ones", whole(0)
    )
    loss: str = setting(
        "vi", "loss whose expectation is minimised by the partition in labels_, one of the kept: vi | binder",
        choice("vi", "binder"),
    )
    dirichlet: float = setting(0.01, "multinomial: parameter of the symmetric Dirichlet prior", number(above=0))
    count_scale: float = setting(1.0, "multinomial: counts are X multiplied by this, rounded", number(above=0))

    def check_parameters(self, group: str = "") -> None:
        """Check all values; the kept sweeps must exist, and must all be with or all without hyperplanes."""
        super().check_parameters(group)
        prefix, warm = f"{group}." if group else "", getattr(self, "n_warm", 0)
        if warm + self.n_kept > self.n_sweeps:
            more = f" and {prefix}n_warm={warm} before them" if warm else ""
            raise UserError(f"{prefix}n_sweeps={self.n_sweeps}: too few for {prefix}n_kept={self.n_kept}{more}")


@dataclass(eq=False, repr=False, kw_only=True)
class PlaneParameters(SampledParameters):
    """Common parameters of samplers with hyperplanes."""

    n_warm: int = setting(10, "number of first sweeps without hyperplanes", whole(0))
    w: float = setting(1.0, "prior variance of a hyperplane's weights", number(above=0))
    bias: bool = setting(True, "hyperplanes with an intercept", flag())
    scale: str = setting(
        "standard", "scaling of the hyperplanes' input: standard (columns of mean 0 and equal variance, rows of mean "
        "squared length 1) | none", choice("standard", "none"),
    )  # fmt: skip


@dataclass(eq=False, repr=False, kw_only=True)
class DiscriminativeParameters(PlaneParameters):
    """Common parameters of samplers in which hyperplanes define a likelihood of the partition (Nguyen et al. 2017)."""

    new: str = setting(
        "corrected", "distribution of a new cluster's hyperplane: corrected (given that it is empty) | paper (prior)",
        choice("corrected", "paper"),
    )  # fmt: skip


class SampledClusterer(CrowdClusterer):
    """Base class of methods that sample a posterior of partitions by Gibbs sampling."""

    requires_answers = False
    #: Name of the hyperplanes' loss; empty: no hyperplanes.
    loss_of_planes: ClassVar[str] = ""

    def _run(self, features: np.ndarray, answers: PairAnnotations | None, monitor: Monitor) -> Result:  # noqa: ARG002
        return iterate(_Fit(self, features, self._order(len(features))), monitor)

    def _order(self, items: int) -> np.ndarray | None:  # noqa: ARG002
        """Sequence of each item [N]; None for items without order."""
        return None

    def _families(self, features: np.ndarray) -> Callable[[int], Any]:
        """Function that makes the conjugate cluster distributions for these items."""
        # Imported here, like the rest of the sampler, because importing numba takes a third of a second.
        if self.family == "multinomial":
            from semicrowd.inference.gibbs.multinomial import multinomial

            return multinomial(checked_counts(features, self.count_scale), self.dirichlet)
        if self.family == "isotropic":
            from semicrowd.inference.gibbs.isotropic import base_of, isotropic

            base = base_of(features, self.scatter, self.mean_strength, self.variance_strength)
            return isotropic(features, *base, self.eq19)
        from semicrowd.inference.gibbs.gaussian import gaussian

        variance = features.var(0)
        scatter = self.scatter * np.where(variance > 0, variance, 1.0)
        # With D + 2 degrees of freedom the mean of the inverse Wishart distribution is its scatter matrix.
        return gaussian(features, features.mean(0), self.mean_strength, features.shape[1] + 2, np.diag(scatter))

    def _seen(self, features: np.ndarray) -> np.ndarray:
        """Input of the hyperplanes: items scaled as in the fit, [N, D], with a column of ones if ``bias``."""
        seen = (features - self.plane_center_) / self.plane_scale_
        return np.column_stack([seen, np.ones(len(seen))]) if self.bias else seen

    def _model(self, features: np.ndarray, sequence: np.ndarray | None) -> "Model":
        from semicrowd.inference.gibbs.chain import Model
        from semicrowd.inference.gibbs.franchise import neighbours
        from semicrowd.inference.gibbs.hyperplanes import rotated

        planes, more = None, {}
        if self.loss_of_planes:
            shape = features.shape[1]
            self.plane_center_, self.plane_scale_ = np.zeros(shape), np.ones(shape)
            if self.scale == "standard":
                spread = features.std(0)
                self.plane_center_ = features.mean(0)
                self.plane_scale_ = np.sqrt(shape) * np.where(spread > 0, spread, 1.0)
            items, self._basis = rotated(self._seen(features))
            planes = self._planes(items)
            more = {"new": self.new}
        if sequence is not None:
            more |= {"neighbours": neighbours(sequence), "gamma_prior": tuple(self.gamma_prior)}
        else:
            more["splits"] = self.splits
        return Model(
            self._families(features), len(features), alpha=self.alpha, alpha_prior=tuple(self.alpha_prior),
            planes=planes, **more,
        )  # fmt: skip

    def _planes(self, items: np.ndarray) -> "Hyperplanes":
        from semicrowd.inference.gibbs.hyperplanes import Hyperplanes

        return Hyperplanes(items, self.loss_of_planes, self.w)

    def _chain(self, model: "Model") -> "Chain":
        from semicrowd.inference.gibbs.chain import Chain

        return Chain(model)

    def _tilt(self, score: np.ndarray) -> np.ndarray:
        """Extra log-weights [N, K] of clusters, from the scores of their hyperplanes."""
        from semicrowd.inference.gibbs.hyperplanes import log_ratio

        return log_ratio(score, self.loss_of_planes)

    def _take(self, features: np.ndarray, samples: Samples, planes: list[np.ndarray]) -> Result:
        """Set the attributes of the estimator, and return the point estimate as the result."""
        self.chains_ = samples.chains
        diagnostics = mixing(samples.chains)
        self.mixed_ = bool(diagnostics.pop("mixed"))
        self.rhat_ = {name.removeprefix("rhat_"): v for name, v in diagnostics.items() if name.startswith("rhat_")}
        self.ess_ = {name.removeprefix("ess_"): v for name, v in diagnostics.items() if name.startswith("ess_")}
        shown = point_estimate(samples.partitions[samples.kept], self.loss)
        labels = samples.partitions[samples.kept][shown].astype(np.int64)
        if self.loss_of_planes:
            self.hyperplanes_ = planes[shown] @ self._basis.T
            del self._basis
        final = Assignment.hard(labels)
        return Result(int(labels.max()) + 1, final, self._of_features(features, final), samples=samples)

    def _of_features(self, features: np.ndarray, final: Assignment) -> Assignment:  # noqa: ARG002
        return final


def first_partition(model: Any, features: np.ndarray, chain: int) -> np.ndarray:
    """Initial clusters [N] of a chain, if ``n_start`` > 1."""
    rng, number = stream(model.seed_, "gibbs/start", chain), min(model.n_start, len(features))
    if model.start == "random":
        return rng.integers(number, size=len(features))
    state = np.random.RandomState(rng.integers(2**31))
    return np.asarray(KMeans(number, n_init=1, random_state=state).fit_predict(features)).astype(np.int64)


class _Fit(Method):
    """Sweeps of all chains. Each sweep of a chain has its own random stream, so that no generator state is stored."""

    def __init__(self, clusterer: SampledClusterer, features: np.ndarray, sequence: np.ndarray | None) -> None:
        self.clusterer, self.features, self.iterations = clusterer, features, clusterer.n_sweeps
        model = clusterer._model(features, sequence)
        self.chains = [clusterer._chain(model) for _ in range(clusterer.n_chains)]
        for index, chain in enumerate(self.chains if clusterer.n_start > 1 else ()):
            chain.begin(first_partition(clusterer, features, index))
        self.seconds = [0.0] * len(self.chains)
        self.trace: list[list[tuple[float, ...]]] = []
        self.partitions: list[tuple[int, int, np.ndarray]] = []
        self.planes: list[np.ndarray] = []
        self.ordered = isinstance(clusterer, OrderedClusterer)
        self.threads = ThreadPoolExecutor(joblib.cpu_count())

    def step(self, iteration: int) -> Mapping[str, float]:
        """One sweep of each chain."""
        warm = getattr(self.clusterer, "n_warm", 0)
        list(self.threads.map(partial(self._sweep, iteration, iteration >= warm), range(len(self.chains))))
        gammas = [chain.gamma if self.ordered else np.nan for chain in self.chains]
        row: list[tuple[float, ...]] = [
            (chain.clusters, chain.log_likelihood, chain.alpha, gamma, seconds)
            for chain, gamma, seconds in zip(self.chains, gammas, self.seconds, strict=True)
        ]
        self.trace.append(row)
        last = iteration >= self.iterations - self.clusterer.n_kept
        if last or (self.clusterer.keep_every and (iteration + 1) % self.clusterer.keep_every == 0):
            for index, chain in enumerate(self.chains):
                used, labels = np.unique(chain.z, return_inverse=True)
                self.partitions.append((index, iteration + 1, labels.astype(np.int32)))
                if last and self.clusterer.loss_of_planes:
                    self.planes.append(chain.eta[chain.plane[used]])
        return dict(zip(_TRACE[:3], np.mean(row, 0), strict=False))

    def _sweep(self, iteration: int, discriminative: bool, number: int) -> None:
        start = time.thread_time()
        rng = stream(self.clusterer.seed_, "gibbs", number, iteration)
        self.chains[number].sweep(rng, discriminative)
        self.seconds[number] += time.thread_time() - start

    def state(self) -> dict[str, Any]:
        """Chains, curves and kept partitions."""
        chains = [chain.state() for chain in self.chains]
        return {"gibbs": encode([chains, self.seconds, self.trace, self.partitions, self.planes])}

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Restore what :meth:`state` returned."""
        chains, self.seconds, self.trace, self.partitions, self.planes = decode(state["gibbs"])
        for chain, content in zip(self.chains, chains, strict=True):
            chain.load_state(content)

    def result(self) -> Result:
        """The kept partitions, and the one with the least expected loss."""
        self.threads.shutdown()
        number, sweep, partitions = zip(*self.partitions, strict=True)
        rows = [
            (chain, 1 + iteration, *values)
            for iteration, row in enumerate(self.trace)
            for chain, values in enumerate(row)
        ]
        table = pd.DataFrame(rows, columns=["chain", "sweep", *_TRACE])
        if not self.ordered:
            del table["gamma"]
        sweeps = np.array(sweep)
        kept = sweeps > self.iterations - self.clusterer.n_kept
        samples = Samples(np.stack(partitions), np.array(number), sweeps, kept, table.astype({"clusters": int}))
        return self.clusterer._take(self.features, samples, self.planes)
