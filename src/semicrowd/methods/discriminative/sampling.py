"""Chains of partitions by Gibbs sampling, with and without hyperplanes, and the partition that stands for them."""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, ClassVar

import joblib
import numpy as np
import pandas as pd
from sklearn.utils._param_validation import StrOptions

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.errors import UserError
from semicrowd.estimators.base import COUNT, COUNT_OR_0, POSITIVE, CrowdClusterer, progress
from semicrowd.inference.gibbs.chain import Chain, Model
from semicrowd.inference.gibbs.franchise import neighbours
from semicrowd.inference.gibbs.gaussian import gaussian
from semicrowd.inference.gibbs.hyperplanes import Hyperplanes, rotated
from semicrowd.inference.gibbs.multinomial import multinomial
from semicrowd.methods.unsupervised import OrderedClusterer, checked_counts, checked_sequence
from semicrowd.metrics.chains import mixing
from semicrowd.random import stream
from semicrowd.result import Assignment, Result, Samples

#: Columns of the table of chains, in addition to chain and sweep.
_TRACE = ("clusters", "log_likelihood", "alpha", "gamma", "seconds")
#: Weight of the prior mean of a Gaussian, in items; parameter of the symmetric Dirichlet prior of a multinomial.
MEAN_STRENGTH, DIRICHLET = 0.01, 0.01


class SampledClusterer(CrowdClusterer):
    """Base class of methods that sample a posterior of partitions by Gibbs sampling.

    The concentrations have Gamma(1, 1) priors and are sampled.
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **CrowdClusterer._parameter_constraints, "n_start": [COUNT], "scatter": [POSITIVE],
        "family": [StrOptions({"gaussian", "multinomial"})], "n_chains": [COUNT], "n_sweeps": [COUNT],
        "n_kept": [COUNT], "keep_every": [COUNT_OR_0], "count_scale": [POSITIVE], "splits": [COUNT_OR_0],
        "n_warm": [COUNT_OR_0], "w": [POSITIVE], "bias": ["boolean"], "scale": [StrOptions({"standard", "none"})],
        "new": [StrOptions({"corrected", "paper"})],
    }  # fmt: skip
    requires_answers = False
    #: Name of the hyperplanes' loss; empty: no hyperplanes.
    loss_of_planes: ClassVar[str] = ""
    chains_: pd.DataFrame
    rhat_: dict
    ess_: dict
    mixed_: bool
    hyperplanes_: np.ndarray
    plane_center_: np.ndarray
    plane_scale_: np.ndarray

    def __init__(
        self, *, n_start: int = 1, scatter: float = 1.0, family: str = "gaussian", n_chains: int = 10,
        n_sweeps: int = 100, n_kept: int = 5, keep_every: int = 0, count_scale: float = 1.0, random_state: Any = 0,
        verbose: Any = False,
    ) -> None:  # fmt: skip
        self.n_start = n_start
        self.scatter = scatter
        self.family = family
        self.n_chains = n_chains
        self.n_sweeps = n_sweeps
        self.n_kept = n_kept
        self.keep_every = keep_every
        self.count_scale = count_scale
        self.random_state = random_state
        self.verbose = verbose

    def _validate_params(self) -> None:
        """As scikit-learn; the kept sweeps must exist, and must all be with or all without hyperplanes."""
        super()._validate_params()
        warm = getattr(self, "n_warm", 0)
        if warm + self.n_kept > self.n_sweeps:
            more = f" after n_warm={warm}" if warm else ""
            raise UserError(f"n_sweeps={self.n_sweeps}: expected at least n_kept={self.n_kept}{more}")

    def _run(
        self,
        features: np.ndarray,
        answers: PairAnnotations | None,  # noqa: ARG002 - ignored
        sequence: Any = None,
    ) -> Result:
        ordered = isinstance(self, OrderedClusterer)
        model = self._model(features, checked_sequence(sequence, len(features)) if ordered else None)
        chains = [Chain(model) for _ in range(self.n_chains)]
        if self.n_start > 1:
            number = min(self.n_start, len(features))
            for index, chain in enumerate(chains):
                chain.begin(stream(self.seed_, "gibbs/start", index).integers(number, size=len(features)))
        warm, seconds = getattr(self, "n_warm", 0), [0.0] * self.n_chains
        trace, partitions, planes = list[tuple[float, ...]](), list[tuple[int, int, np.ndarray]](), list[np.ndarray]()

        def swept(index: int) -> None:
            """One sweep of a chain, with a random stream of its own."""
            start = time.thread_time()
            chains[index].sweep(stream(self.seed_, "gibbs", index, iteration), iteration >= warm)
            seconds[index] += time.thread_time() - start

        with ThreadPoolExecutor(joblib.cpu_count()) as threads:
            for iteration in progress(range(self.n_sweeps), "sweeps", self.verbose):
                list(threads.map(swept, range(self.n_chains)))
                rows = [(one.clusters, one.log_likelihood, one.alpha, one.gamma if ordered else np.nan, taken)
                        for one, taken in zip(chains, seconds, strict=True)]  # fmt: skip
                trace += [(index, iteration + 1, *row) for index, row in enumerate(rows)]
                means = np.mean(rows, 0).tolist()
                self.history_.append({"epoch": iteration + 1, **dict(zip(_TRACE[:3], means, strict=False))})
                last = iteration >= self.n_sweeps - self.n_kept
                if not last and not (self.keep_every and (iteration + 1) % self.keep_every == 0):
                    continue
                for index, chain in enumerate(chains):
                    used, labels = np.unique(chain.z, return_inverse=True)
                    partitions.append((index, iteration + 1, labels.astype(np.int32)))
                    if last and self.loss_of_planes:
                        planes.append(chain.eta[chain.plane[used]])
        table = pd.DataFrame(trace, columns=["chain", "sweep", *_TRACE]).astype({"clusters": int})
        self.chains_ = table if ordered else table.drop(columns="gamma")
        number_of, sweep_of, all_labels = (np.array(column) for column in zip(*partitions, strict=True))
        kept = sweep_of > self.n_sweeps - self.n_kept
        return self._take(features, Samples(all_labels, number_of, sweep_of, kept, self.chains_), planes)

    def _families(self, features: np.ndarray) -> Callable[[int], Any]:
        """Function that makes the conjugate cluster distributions for these items."""
        if self.family == "multinomial":
            return multinomial(checked_counts(features, self.count_scale), DIRICHLET)
        variance = features.var(0)
        scatter = self.scatter * np.where(variance > 0, variance, 1.0)
        # With D + 2 degrees of freedom the mean of the inverse Wishart distribution is its scatter matrix.
        return gaussian(features, features.mean(0), MEAN_STRENGTH, features.shape[1] + 2, np.diag(scatter))

    def _seen(self, features: np.ndarray) -> np.ndarray:
        """Input of the hyperplanes: items scaled as in the fit, [N, D], with a column of ones if ``bias``."""
        seen = (features - self.plane_center_) / self.plane_scale_
        return np.column_stack([seen, np.ones(len(seen))]) if self.bias else seen

    def _model(self, features: np.ndarray, sequence: np.ndarray | None) -> Model:
        planes, more = None, dict[str, Any]()
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
        more |= {"splits": self.splits} if sequence is None else {"neighbours": neighbours(sequence)}
        return Model(self._families(features), len(features), planes=planes, **more)

    def _planes(self, items: np.ndarray) -> Hyperplanes:
        return Hyperplanes(items, self.loss_of_planes, self.w)

    def _take(self, features: np.ndarray, samples: Samples, planes: list[np.ndarray]) -> Result:
        """Set the attributes of the estimator, and return the point estimate as the result."""
        diagnostics = mixing(samples.chains)
        self.mixed_ = bool(diagnostics.pop("mixed"))
        self.rhat_ = {name.removeprefix("rhat_"): v for name, v in diagnostics.items() if name.startswith("rhat_")}
        self.ess_ = {name.removeprefix("ess_"): v for name, v in diagnostics.items() if name.startswith("ess_")}
        shown = int(np.argmin(expected_losses(samples.partitions[samples.kept]).round(12)))
        labels = samples.partitions[samples.kept][shown].astype(np.int64)
        if self.loss_of_planes:
            self.hyperplanes_ = planes[shown] @ self._basis.T
            del self._basis
        final = Assignment.hard(labels)
        return Result(int(labels.max()) + 1, final, self._of_features(features, final), samples=samples)

    def _of_features(self, features: np.ndarray, final: Assignment) -> Assignment:  # noqa: ARG002
        return final


class PlanesClusterer(SampledClusterer):
    """Base class of samplers in which hyperplanes define a likelihood of the partition (Nguyen et al. 2017)."""

    def __init__(
        self, *, n_start: int = 1, scatter: float = 1.0, family: str = "gaussian", n_chains: int = 10,
        n_sweeps: int = 100, n_kept: int = 5, keep_every: int = 0, count_scale: float = 1.0, n_warm: int = 10,
        w: float = 1.0, bias: bool = True, scale: str = "standard", new: str = "corrected", random_state: Any = 0,
        verbose: Any = False,
    ) -> None:  # fmt: skip
        super().__init__(
            n_start=n_start, scatter=scatter, family=family, n_chains=n_chains, n_sweeps=n_sweeps, n_kept=n_kept,
            keep_every=keep_every, count_scale=count_scale, random_state=random_state, verbose=verbose,
        )  # fmt: skip
        self.n_warm = n_warm
        self.w = w
        self.bias = bias
        self.scale = scale
        self.new = new


def expected_losses(partitions: np.ndarray) -> np.ndarray:
    """Mean variation of information, in nats, of each of S partitions to all S, [S, N] → [S].

    Meila 2007; Wade & Ghahramani 2018. Labels of a partition are 0 … K − 1.
    """
    samples, items = partitions.shape

    def entropy(sizes: np.ndarray) -> float:
        share = sizes[sizes > 0] / items
        return float(-(share * np.log(share)).sum())

    own = np.array([entropy(np.bincount(one)) for one in partitions])
    found = np.zeros((samples, samples))
    for a in range(samples):
        for b in range(a):
            joint = partitions[a].astype(np.int64) * (partitions[b].max() + 1) + partitions[b]
            both = entropy(np.unique(joint, return_counts=True)[1])
            found[a, b] = found[b, a] = abs(2 * both - own[a] - own[b])
    return found.mean(1)
