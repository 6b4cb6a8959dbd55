"""Dirichlet process mixtures and infinite hidden Markov models by Gibbs sampling, with and without hyperplanes.

Nguyen, Phung, Le & Bui 2017. The number of clusters is found; answers are ignored.
"""

import os
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pandas as pd
from scipy.special import log_softmax
from sklearn.cluster import KMeans

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.errors import UserError
from semicrowd.estimators.base import CrowdClusterer
from semicrowd.estimators.inputs import checked_counts
from semicrowd.estimators.ordered import OrderedClusterer
from semicrowd.estimators.persistence import decode, encode
from semicrowd.fitting.iterate import iterate
from semicrowd.fitting.method import Method
from semicrowd.fitting.monitor import Monitor
from semicrowd.fitting.result import Assignment, Result, Samples
from semicrowd.inference.partitions import point_estimate
from semicrowd.metrics.chains import mixing
from semicrowd.random import stream
from semicrowd.settings.gibbs import (
    DDPMLParameters,
    DDPMSParameters,
    DIHLParameters,
    DIHSParameters,
    DPMParameters,
    IHMMParameters,
    MMGMParameters,
)

if TYPE_CHECKING:
    from semicrowd.inference.gibbs.chain import Chain, Model
    from semicrowd.inference.gibbs.hyperplanes import Hyperplanes

#: Columns of the chains' table, beside chain and sweep.
_TRACE = ("clusters", "log_likelihood", "alpha", "gamma", "seconds")


class _Sampled(CrowdClusterer):
    """A posterior of partitions that Gibbs chains sample."""

    requires_answers = False
    #: Likelihood of a hyperplane's side; empty: no hyperplanes.
    loss_of_planes: ClassVar[str] = ""
    #: Whether items are in order of time.
    sequential: ClassVar[bool] = False

    def _run(self, features: np.ndarray, answers: PairAnnotations | None, monitor: Monitor | None) -> Result:  # noqa: ARG002
        return iterate(_Fit(self, features, self._order(len(features))), monitor)

    def _order(self, items: int) -> np.ndarray | None:  # noqa: ARG002
        """Sequence of each item [N], None where they are in no order."""
        return None

    def _families(self, features: np.ndarray) -> Callable[[int], Any]:
        """Conjugate families of the clusters for these items; their parameters are kept for new items."""
        # Imported here, as all of the sampler: numba takes a third of a second.
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
        # With D + 2 degrees of freedom the inverse Wishart's mean is its scatter.
        return gaussian(features, features.mean(0), self.mean_strength, features.shape[1] + 2, np.diag(scatter))

    def _seen(self, features: np.ndarray) -> np.ndarray:
        """Inputs of the hyperplanes, [N, D] or [N, D + 1], as set up by the fit."""
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
            self._families(features), len(features), alpha_prior=tuple(self.alpha_prior), planes=planes, **more
        )

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
        """Set the point estimate and the attributes that prediction needs."""
        self.chains_ = samples.chains
        found = mixing(samples.chains)
        self.mixed_ = bool(found.pop("mixed"))
        self.rhat_ = {name.removeprefix("rhat_"): v for name, v in found.items() if name.startswith("rhat_")}
        self.ess_ = {name.removeprefix("ess_"): v for name, v in found.items() if name.startswith("ess_")}
        shown = point_estimate(samples.partitions[samples.kept], self.loss)
        labels = samples.partitions[samples.kept][shown].astype(np.int64)
        if self.loss_of_planes:
            self.hyperplanes_ = planes[shown] @ self._basis.T
            del self._basis
        final = Assignment.hard(labels)
        return Result(int(labels.max()) + 1, final, self._of_features(features, final), samples=samples)

    def _of_features(self, features: np.ndarray, final: Assignment) -> Assignment:  # noqa: ARG002
        """The training items from their features alone."""
        return final


class _Mixture(_Sampled):
    """Items in no order: the predictive density of the partition shown takes new ones."""

    def predict(self, X: Any) -> np.ndarray:
        """Clusters [N] of items."""
        return self.predict_proba(X).argmax(-1)

    def predict_proba(self, X: Any) -> np.ndarray:
        """Probabilities [N, K] of the clusters of the partition shown."""
        return self._probabilities(self._new_items(X))

    def _of_features(self, features: np.ndarray, final: Assignment) -> Assignment:
        from semicrowd.inference.gibbs.sweep import seat

        family = self._families(features)(int(final.cluster.max()) + 1)
        self.sizes_ = np.zeros(int(final.cluster.max()) + 1, np.int64)
        seat(family, final.cluster, self.sizes_)
        if self.family == "isotropic":
            family = family.expected()
        self.clusters_ = family.of(np.zeros((0, features.shape[1])))._asdict()
        return Assignment.of(self._probabilities(features))

    def _probabilities(self, features: np.ndarray) -> np.ndarray:
        from semicrowd.inference.gibbs.gaussian import Gaussian
        from semicrowd.inference.gibbs.isotropic import Isotropic
        from semicrowd.inference.gibbs.multinomial import Multinomial
        from semicrowd.inference.gibbs.sweep import predictive

        kinds: dict[str, Any] = {"gaussian": Gaussian, "isotropic": Isotropic, "multinomial": Multinomial}
        items = checked_counts(features, self.count_scale) if self.family == "multinomial" else features
        family = kinds[self.family](**self.clusters_).of(items)
        score = predictive(family, len(features), len(self.sizes_)) + np.log(self.sizes_)
        if self.loss_of_planes:
            score += self._tilt(self._seen(features) @ self.hyperplanes_.T)
        return np.exp(log_softmax(score, axis=-1))


class _Sequential(OrderedClusterer, _Sampled):
    """Items in order of time."""


class DPM(DPMParameters, _Mixture):
    """A Dirichlet process mixture of Gaussians or multinomials, whose parameters are integrated out.

    Some chains run beside each other from first partitions of their own. ``labels_`` is that of the partitions of their
    last sweeps that has the least expected loss; :attr:`mixed_` says whether the chains agree.

    Attributes
    ----------
    chains_ : data frame, a row for each sweep of each chain: number of clusters, ln p(x | partition), concentrations
    rhat_, ess_ : R-hat and effective sample size of ``clusters`` and ``log_likelihood`` over the second half
    mixed_ : whether both are as they should be
    sizes_ : [K] items of the clusters of ``labels_``
    """


class DDPMS(DDPMSParameters, _Mixture):
    """DDPM-S: a Dirichlet process mixture with a Bayesian support vector machine for each cluster against all others.

    As :class:`DPM` in all else.

    Attributes
    ----------
    hyperplanes_ : [K, D] or, with bias, [K, D + 1] weights of the clusters of ``labels_``
    """

    loss_of_planes = "svm"


class DDPML(DDPMLParameters, _Mixture):
    """DDPM-L: a Dirichlet process mixture with a Bayesian logistic regression for each cluster against all others.

    Attributes are those of :class:`DDPMS`.
    """

    loss_of_planes = "logistic"


class MaxMarginMixture(MMGMParameters, _Mixture):
    """MMGM: a Dirichlet process mixture with a margin between an item's cluster and the best other (Chen et al. 2014).

    As :class:`DDPMS` in all else; the hyperplanes give a cluster's score. They are drawn from their posterior given the
    partition; which clusters are an item's rivals changes only from sweep to sweep, so that clusters do not come and go
    as those of one posterior would.
    """

    loss_of_planes = "margin"
    new = "paper"

    def _planes(self, items: np.ndarray) -> "Hyperplanes":
        from semicrowd.inference.gibbs.margins import Margins

        return Margins(items, self.loss_of_planes, self.w, self.cost, self.margin)

    def _chain(self, model: "Model") -> "Chain":
        from semicrowd.inference.gibbs.margins import MarginChain

        return MarginChain(model)

    def _tilt(self, score: np.ndarray) -> np.ndarray:
        from semicrowd.inference.gibbs.margins import log_margins

        return log_margins(score, np.arange(score.shape[1]), self.cost, self.margin)


class IHMM(IHMMParameters, _Sequential):
    """An infinite hidden Markov model: states that rows in order of time go through. No prediction row by row.

    Attributes are those of :class:`DPM` but for ``sizes_``.
    """


class DIHS(DIHSParameters, _Sequential):
    """DIH-S: an infinite hidden Markov model with a Bayesian support vector machine for each state against all others.

    Attributes are those of :class:`IHMM`, and ``hyperplanes_``.
    """

    loss_of_planes = "svm"


class DIHL(DIHLParameters, _Sequential):
    """DIH-L: an infinite hidden Markov model with a Bayesian logistic regression for each state against all others.

    Attributes are those of :class:`IHMM`, and ``hyperplanes_``.
    """

    loss_of_planes = "logistic"


def first_partition(model: Any, features: np.ndarray, chain: int) -> np.ndarray:
    """Clusters [N] that a chain of ``n_start`` > 1 clusters begins with."""
    rng, number = stream(model.seed_, "gibbs/start", chain), min(model.n_start, len(features))
    if model.start == "random":
        return rng.integers(number, size=len(features))
    state = np.random.RandomState(rng.integers(2**31))
    return np.asarray(KMeans(number, n_init=1, random_state=state).fit_predict(features)).astype(np.int64)


class _Fit(Method):
    """Sweeps of all chains, each with a random stream of its own for every sweep: no state of a generator to keep."""

    def __init__(self, clusterer: _Sampled, features: np.ndarray, sequence: np.ndarray | None) -> None:
        self.clusterer, self.features, self.iterations = clusterer, features, clusterer.n_sweeps
        model = clusterer._model(features, sequence)
        self.chains = [clusterer._chain(model) for _ in range(clusterer.n_chains)]
        for number, chain in enumerate(self.chains if clusterer.n_start > 1 else ()):
            chain.begin(first_partition(clusterer, features, number))
        self.seconds = [0.0] * len(self.chains)
        self.trace: list[list[tuple[float, ...]]] = []
        self.partitions: list[tuple[int, int, np.ndarray]] = []
        self.planes: list[np.ndarray] = []
        self.threads = ThreadPoolExecutor(len(os.sched_getaffinity(0)))

    def step(self, iteration: int) -> Mapping[str, float]:
        """A sweep of every chain."""
        warm = getattr(self.clusterer, "n_warm", 0)
        list(self.threads.map(partial(self._sweep, iteration, iteration >= warm), range(len(self.chains))))
        gammas = [chain.gamma if self.clusterer.sequential else np.nan for chain in self.chains]
        row: list[tuple[float, ...]] = [
            (chain.clusters, chain.log_likelihood, chain.alpha, gamma, seconds)
            for chain, gamma, seconds in zip(self.chains, gammas, self.seconds, strict=True)
        ]
        self.trace.append(row)
        last = iteration >= self.iterations - self.clusterer.n_kept
        if last or (self.clusterer.keep_every and (iteration + 1) % self.clusterer.keep_every == 0):
            for number, chain in enumerate(self.chains):
                used, labels = np.unique(chain.z, return_inverse=True)
                self.partitions.append((number, iteration + 1, labels.astype(np.int32)))
                if last and self.clusterer.loss_of_planes:
                    self.planes.append(chain.eta[chain.plane[used]])
        return dict(zip(_TRACE[:3], np.mean(row, 0), strict=False))

    def _sweep(self, iteration: int, discriminative: bool, number: int) -> None:
        start = time.thread_time()
        rng = stream(self.clusterer.seed_, "gibbs", number, iteration)
        self.chains[number].sweep(rng, discriminative)
        self.seconds[number] += time.thread_time() - start

    def state(self) -> dict[str, Any]:
        """Chains, curves and what has been kept."""
        chains = [chain.state() for chain in self.chains]
        return {"gibbs": encode([chains, self.seconds, self.trace, self.partitions, self.planes])}

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Go on where :meth:`state` was taken."""
        try:
            chains, self.seconds, self.trace, self.partitions, self.planes = decode(state["gibbs"])
            for chain, content in zip(self.chains, chains, strict=True):
                chain.load_state(content)
        except (KeyError, TypeError, ValueError) as error:
            raise UserError("the checkpoint is not of this fit; start again without resume=true") from error

    def result(self) -> Result:
        """The partitions that were kept, and the one of least expected loss."""
        self.threads.shutdown()
        number, sweep, partitions = zip(*self.partitions, strict=True)
        rows = [
            (chain, 1 + iteration, *values)
            for iteration, row in enumerate(self.trace)
            for chain, values in enumerate(row)
        ]
        table = pd.DataFrame(rows, columns=["chain", "sweep", *_TRACE])
        if not self.clusterer.sequential:
            del table["gamma"]
        sweeps = np.array(sweep)
        kept = sweeps > self.iterations - self.clusterer.n_kept
        samples = Samples(np.stack(partitions), np.array(number), sweeps, kept, table.astype({"clusters": int}))
        return self.clusterer._take(self.features, samples, self.planes)
