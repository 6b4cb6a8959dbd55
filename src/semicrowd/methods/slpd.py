"""SLPD, a latent process decomposition with must-links: Li, Ying & Campbell 2009."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import torch
from jaxtyping import Float, Int
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.preprocessing import StandardScaler
from torch import Tensor
from torch.nn.functional import pad

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.crowd.links import blocks_of
from semicrowd.errors import UserError
from semicrowd.estimators.base import CrowdClusterer
from semicrowd.fitting.iterate import iterate
from semicrowd.fitting.method import Method, ProgressCallback
from semicrowd.fitting.monitor import Monitor
from semicrowd.fitting.result import Assignment, Restarts, Result
from semicrowd.inference.held_out import log_likelihood
from semicrowd.inference.slpd import Clusters, Prior, Samples, bound, first_gamma, samples_of, sweep, update
from semicrowd.methods.ckm import block_means
from semicrowd.random import stream, torch_stream
from semicrowd.settings.fields import flag, number, setting, whole
from semicrowd.settings.parameters import CountedParameters

#: A fit has converged where an iteration gains no more than this share of its bound.
_TOLERANCE = 1e-6
#: Sweeps over new samples, at most.
_SWEEPS = 100
#: Largest change of γ, as a share of a sample's values, that ends them.
_STILL = 1e-4
#: Values that the fits of one batch have, in copies: 128 MiB.
_VALUES = 2**24


@dataclass(eq=False, repr=False, kw_only=True)
class SLPDParameters(CountedParameters):
    """Parameters of :class:`SLPD`."""

    standardize: bool = setting(True, "features to mean 0 and variance 1; false: to mean 0 alone", flag())
    n_restarts: int = setting(10, "the one with the highest bound is kept", whole(1, 100_000))
    n_iter: int = setting(500, "most iterations of EM", whole(1))
    mean_variance: float | None = setting(
        None, "of the means' prior (paper, eq. 9); null: maximum likelihood", number(above=0), optional=True
    )
    variance_scale: float = setting(0.0, "s of the variances' prior exp(−s/σ²); 0: maximum likelihood", number(0))
    least_variance: float = setting(0.03, "of a cluster's feature, after it was scaled", number(above=0))
    n_draws: int = setting(1000, "proportions drawn for the likelihood of an item", whole(2, 10_000_000))


@dataclass(frozen=True)
class Table:
    """Items of a fit among several (:meth:`SLPD.fit_each`).

    Attributes
    ----------
    features : [D, G], NaN where missing
    blocks : [D], block of each item
    seed : of the fit
    """

    features: np.ndarray
    blocks: np.ndarray
    seed: int


class SLPD(SLPDParameters, CrowdClusterer):
    """Soft clusters of which every feature of an item has one of its own; items that answers put together share them.

    Items under must-links are a block, and a block has one vector of proportions θ_c ~ Dir(α), from which every value
    draws its cluster. The blocks are the groups that the majority of the answers joins
    (:func:`semicrowd.crowd.links.blocks_of`); without answers every item is its own, and the method is LPD (the paper's
    ULPD). Variational EM of all restarts at once; the one with the highest bound is kept
    (:func:`best_of`). Features are standardised first; a NaN is a value that is missing and takes no part. A start is
    CKM's clusters (:func:`first_clusters`).

    With ``mean_variance`` and ``variance_scale`` the clusters are the paper's MAP estimates (eq. 9), else maximum
    likelihood (eq. 8); both are in units of the scaled features.

    Attributes
    ----------
    means_, variances_ : [K, D] of every cluster and standardised feature
    concentration_ : [K], α
    bound_ : of the restart that was kept; ``bounds_`` [R] of all of them
    restarts_ : of :meth:`fit_each` alone, means, variances and α of all restarts, [R, …] each
    scaler_ : the fitted StandardScaler
    """

    requires_answers, takes_missing = False, True

    def predict_proba(self, X: Any) -> np.ndarray:
        """Proportions of the clusters [N, K] in items, each a block of its own: γ, normalised."""
        return self._proportions(self._new_items(X))

    def predict(self, X: Any) -> np.ndarray:
        """Clusters [N] of items: the largest proportion."""
        return self.predict_proba(X).argmax(-1)

    def score_samples(self, X: Any) -> np.ndarray:
        """ln p(x) of items [N], in nats and in the units of X, by ``n_draws`` of θ ~ Dir(α) (paper, section 6.2)."""
        return self.log_likelihood(X)[0]

    def score(self, X: Any, y: Any = None) -> float:  # noqa: ARG002 - scikit-learn hands labels on
        """Mean of :meth:`score_samples`: of items that were held out it tells how many clusters there are."""
        return float(self.score_samples(X).mean())

    def log_likelihood(self, X: Any, draws: torch.Generator | None = None) -> tuple[np.ndarray, np.ndarray]:
        """:meth:`score_samples`, and the standard error that each has from the draws; [N] each.

        ``draws``: None: a stream of the fit's seed, the same in every call.
        """
        features = self._new_items(X)
        generator = torch_stream(self.seed_, "slpd/likelihood") if draws is None else draws
        value, error = log_likelihood(table_of(self._standardised(features)), self._clusters(), self.n_draws, generator)
        density = np.isfinite(features) @ np.log(self.scaler_.scale_) if self.standardize else 0.0
        return value[0].numpy() - density, error[0].numpy()

    def fit_each(self, tables: Sequence[Table]) -> Iterator["SLPD"]:
        """A fit of each table, as many side by side as memory allows; each is what ``fit`` would find alone.

        The estimators are copies of this one with the tables' seeds, and can be asked what another choice among their
        restarts would have been (:meth:`chosen_among`).
        """
        size = max(table.features.size for table in tables) * self.n_restarts
        at_once = max(_VALUES // size, 1)
        for low in range(0, len(tables), at_once):
            batch = tables[low : low + at_once]
            models = [clone(self).set_params(random_state=table.seed) for table in batch]
            for model, table in zip(models, batch, strict=True):
                model._check_parameters()
                model.seed_, model.n_features_in_ = table.seed, table.features.shape[1]
            found = _Fit(models, [m._prepared(t.features) for m, t in zip(models, batch, strict=True)],
                         [table.blocks for table in batch])  # fmt: skip
            found.start(lambda _: None)
            for iteration in range(self.n_iter):
                found.step(iteration)
                if not found.fits.active.any():
                    break
            for index, model in enumerate(models):
                clusters, bounds = found.of(index)
                model.restarts_, model.bounds_ = tuple(part.numpy() for part in clusters), bounds.numpy()
                yield model.chosen_among(range(self.n_restarts))

    def chosen_among(self, some: range) -> Self:
        """This estimator with the best of some of its restarts; of :meth:`fit_each`."""
        parts = Clusters(*(torch.from_numpy(part[some.start : some.stop]) for part in self.restarts_))
        self._take(parts, torch.from_numpy(self.bounds_[some.start : some.stop]))
        return self

    def _run(self, features: np.ndarray, answers: PairAnnotations | None, monitor: Monitor | None) -> Result:
        blocks = None if answers is None else blocks_of(answers)
        return iterate(_Fit([self], [self._prepared(features)], [blocks]), monitor)

    def _prepared(self, features: np.ndarray) -> np.ndarray:
        """Standardised training items; NaN stays."""
        empty = np.isnan(features).all(0)
        if empty.any():
            raise UserError(f"X, column {empty.argmax()}: no value; expected one at least")
        self.scaler_ = StandardScaler(with_std=self.standardize).fit(features)
        return self._standardised(features)

    def _take(self, clusters: Clusters, bounds: Tensor) -> int:
        """Keep the best of some restarts; its number."""
        best = best_of(bounds, clusters)
        self.means_, self.variances_, self.concentration_ = (part[best].numpy() for part in clusters)
        self.bound_ = float(bounds[best])
        return best

    def _standardised(self, features: np.ndarray) -> np.ndarray:
        return np.asarray(self.scaler_.transform(features))

    def _clusters(self) -> Clusters:
        parts = (self.means_, self.variances_, self.concentration_)
        return Clusters(*(torch.from_numpy(part)[None] for part in parts))

    def _proportions(self, features: np.ndarray) -> np.ndarray:
        return proportions(posterior(table_of(self._standardised(features)), self._clusters()))[0].numpy()


def tables_of(values: Sequence[np.ndarray], blocks: Sequence[np.ndarray | None]) -> Samples:
    """Tables [D, G], NaN where missing, in blocks [D]; None: every sample is its own.

    Rows without a value, a block each, fill up those that are shorter than the longest.
    """
    longest = max(map(len, values))
    padded = np.full((len(values), longest, values[0].shape[1]), np.nan)
    block = np.zeros((len(values), longest), np.int64)
    for row, (one, given) in enumerate(zip(values, blocks, strict=True)):
        of = np.arange(len(one)) if given is None else given
        padded[row, : len(one)] = one
        block[row] = np.concatenate([of, of.max() + 1 + np.arange(longest - len(one))])
    missing = np.isnan(padded)
    observed = torch.from_numpy(~missing) if missing.any() else None
    return samples_of(torch.from_numpy(np.nan_to_num(padded)), torch.from_numpy(block), observed)


def table_of(values: np.ndarray) -> Samples:
    """One table whose samples are blocks of their own."""
    return tables_of([values], [None])


def first_clusters(
    values: np.ndarray, blocks: np.ndarray | None, num_clusters: int, restarts: int, seed: int
) -> tuple[Tensor, Tensor]:
    """Clusters to begin with, CKM's: centres [R, K, G] and the cluster of every sample [R, D].

    k-means of the blocks, each start from a stream of its own; of the samples where there are fewer blocks than
    clusters. What is missing is 0, the mean.
    """
    known = np.nan_to_num(values)
    if blocks is None or blocks.max() + 1 < num_clusters:
        blocks = np.arange(len(values))
    means, size = block_means(known, blocks)
    centres, first = [], []
    for restart in range(restarts):
        state = np.random.RandomState(stream(seed, "slpd", restart).integers(2**31))
        found = KMeans(num_clusters, n_init=1, random_state=state).fit(means, sample_weight=size)
        first.append(found.labels_[blocks])
        centres.append(found.cluster_centers_)
    return torch.from_numpy(np.array(centres)), torch.from_numpy(np.array(first)).long()


def proportions(gamma: Tensor) -> Tensor:
    """γ [..., K], normalised."""
    return gamma / gamma.sum(-1, keepdim=True)


class Decomposition:
    """F fits side by side, each of one of T tables; a fit that has converged rests.

    Attributes
    ----------
    samples, table : the tables, and which of them each fit is of, [F]
    clusters, gamma : Θ and γ of every fit
    bound : [F], −∞ before the first iteration
    active : [F], whether a fit has not converged yet
    """

    def __init__(
        self, samples: Samples, table: Int[Tensor, "F"], mean: Float[Tensor, "F K G"], first: Int[Tensor, "F D"],
        prior: Prior,
    ) -> None:  # fmt: skip
        """Begin with σ² = 1, α = 1/K and all values of a sample in its cluster of ``first`` (−1: shared evenly)."""
        self.samples, self.table, self.prior = samples, table, prior
        alpha = torch.full_like(mean[..., 0], 1 / mean.shape[1])
        self.clusters = Clusters(mean, torch.ones_like(mean), alpha)
        self.gamma = first_gamma(samples.of(table), self.clusters, first)
        self.bound = torch.full((len(table),), -torch.inf, dtype=mean.dtype)
        self.active = torch.ones(len(table), dtype=torch.bool)
        self._gathered: tuple[Tensor, Samples] | None = None

    def step(self) -> None:
        """One iteration of the fits that are active."""
        fits = self.active.nonzero()[:, 0]
        if not len(fits):
            return
        samples = self._samples_of(fits)
        clusters, gamma = Clusters(*(part[fits] for part in self.clusters)), self.gamma[fits]
        sums = sweep(samples, clusters, gamma)
        value = bound(samples, clusters, gamma, sums, self.prior)
        self.active[fits] = value - self.bound[fits] > _TOLERANCE * value.abs()
        self.bound[fits] = value
        found, gamma = update(samples, clusters, sums, self.prior)
        for old, new in zip((*self.clusters, self.gamma), (*found, gamma), strict=True):
            old[fits] = new

    def _samples_of(self, fits: Tensor) -> Samples:
        if self._gathered is None or len(self._gathered[0]) != len(fits):
            self._gathered = fits, self.samples.of(self.table[fits])
        return self._gathered[1]

    def state(self) -> dict[str, Any]:
        """What the iterations to come depend on."""
        return {"clusters": tuple(self.clusters), "gamma": self.gamma, "bound": self.bound, "active": self.active}

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Go on where :meth:`state` was taken."""
        self.clusters, self.gamma = Clusters(*state["clusters"]), state["gamma"]
        self.bound, self.active = state["bound"], state["active"]


def best_of(bound: Float[Tensor, "R"], clusters: Clusters) -> int:
    """The start with the highest bound; those last whose prior outweighs an item's own values, Σ α > G.

    Their clusters have become alike, and so have the items.
    """
    alike = clusters.concentration.sum(-1) > clusters.mean.shape[-1]
    return max(range(len(bound)), key=lambda start: (not alike[start], float(bound[start])))


def posterior(samples: Samples, clusters: Clusters) -> Float[Tensor, "F C K"]:
    """γ of blocks of new samples with the clusters as they are: eqs. 6 and 7 in turn."""
    gamma = first_gamma(samples, clusters)
    values = (gamma - clusters.concentration[:, None]).sum(-1, keepdim=True).clamp(min=1)
    moving = torch.ones_like(values, dtype=torch.bool)
    for _ in range(_SWEEPS):
        new = clusters.concentration[:, None] + sweep(samples, clusters, gamma).block
        moving = ((new - gamma).abs() > _STILL * values).any(-1, keepdim=True) & moving
        if not moving.any():
            break
        # A block that is still stays as it is: what is found of it does not depend on the others.
        gamma = new.where(moving, gamma)
    return gamma


class _Fit(Method):
    """EM of all restarts, of one table or of several side by side."""

    def __init__(
        self, models: Sequence[SLPD], values: Sequence[np.ndarray], blocks: Sequence[np.ndarray | None]
    ) -> None:
        self.models, self.values, self.blocks = models, values, blocks
        self.model, self.iterations = models[0], models[0].n_iter
        self.samples = tables_of(values, blocks)
        self.table = torch.arange(len(models)).repeat_interleave(self.model.n_restarts)
        shape = (len(self.table), self.model.n_clusters, values[0].shape[1])
        first = torch.zeros(len(self.table), self.samples.block.shape[1]).long()
        self.fits = self._fits(torch.zeros(shape, dtype=torch.float64), first)

    def _fits(self, mean: Tensor, first: Tensor) -> Decomposition:
        return Decomposition(self.samples, self.table, mean, first, prior_of(self.model))

    def start(self, progress: ProgressCallback) -> None:  # noqa: ARG002 - nothing worth a word
        """CKM's clusters."""
        begun = [
            first_clusters(values, blocks, model.n_clusters, model.n_restarts, model.seed_)
            for model, values, blocks in zip(self.models, self.values, self.blocks, strict=True)
        ]
        longest = self.samples.block.shape[1]
        first = torch.cat([pad(of, (0, longest - of.shape[1]), value=-1) for _, of in begun])
        self.fits = self._fits(torch.cat([means for means, _ in begun]), first)

    def step(self, iteration: int) -> Mapping[str, float]:  # noqa: ARG002 - all are alike
        """One iteration; the best bound, until all restarts have converged."""
        if not self.fits.active.any():
            return {}
        self.fits.step()
        return {"elbo/epoch": float(self.fits.bound.max())}

    def state(self) -> dict[str, Any]:
        """Clusters and proportions of every restart."""
        return self.fits.state()

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Go on where :meth:`state` was taken."""
        try:
            self.fits.load_state(state)
        except (KeyError, TypeError, ValueError) as error:
            raise UserError("the checkpoint is not of this fit; start again without resume=true") from error

    def of(self, index: int) -> tuple[Clusters, Tensor]:
        """Clusters and bounds of the restarts of one table, [R, …] each."""
        mine = self.table == index
        return Clusters(*(part[mine] for part in self.fits.clusters)), self.fits.bound[mine]

    def result(self) -> Result:
        """The restart with the highest bound, of the only table."""
        model, fits = self.model, self.fits
        model.bounds_ = fits.bound.numpy()
        best = model._take(fits.clusters, fits.bound)
        each = proportions(posterior(table_of(self.values[0]).of(fits.table), fits.clusters))
        features = final = Assignment.of(each[best].numpy())
        if self.blocks[0] is not None:
            final = Assignment.of(proportions(fits.gamma[best])[self.samples.block[0]].numpy())
        restarts = Restarts(model.bounds_, best, each.argmax(-1).numpy())
        return Result(int(model.n_clusters), final, features, restarts=restarts)


def prior_of(parameters: SLPDParameters) -> Prior:
    """Maximum likelihood, or what is known of means and variances."""
    wide = parameters.mean_variance
    wide = np.inf if wide is None else float(wide)
    return Prior(float(parameters.least_variance), wide, float(parameters.variance_scale))
