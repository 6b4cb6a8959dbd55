"""SLPD, a latent process decomposition with must-links: Li, Ying & Campbell 2009."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
import torch
from jaxtyping import Float, Int
from sklearn.base import clone
from sklearn.cluster import KMeans
from torch import Tensor
from torch.nn.functional import pad

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.crowd.links import blocks_of
from semicrowd.data.preparation import ColumnScaler
from semicrowd.errors import UserError
from semicrowd.estimators.base import COUNT, POSITIVE, CrowdClusterer, progress
from semicrowd.inference.slpd import (
    Clusters,
    Prior,
    Samples,
    bound,
    first_gamma,
    log_likelihood,
    posterior,
    samples_of,
    sweep,
    update,
)
from semicrowd.methods.ckm import block_means
from semicrowd.random import stream, torch_stream
from semicrowd.result import Assignment, Restarts, Result

#: A fit has converged if an iteration raises its bound by no more than this, relative to the bound.
_TOLERANCE = 1e-6
#: EM iterations, at most, and draws of the proportions θ with which the likelihood of an item is estimated.
_MOST_ITERATIONS, _DRAWS = 500, 1000
#: Maximal number of feature values in a batch of fits, counted once per restart: 128 MiB.
_VALUES = 2**24


@dataclass(frozen=True)
class Table:
    """The data of one of several fits (:meth:`SLPD.fit_each`).

    Attributes
    ----------
    features : NaN where missing
    blocks : block of each item
    seed : seed of the fit
    """

    features: Float[np.ndarray, "D G"]
    blocks: Int[np.ndarray, "D"]
    seed: int


class SLPD(CrowdClusterer):
    """Mixed-membership clustering: each feature value of an item has its own cluster; must-linked items share θ.

    Items connected by must-links form a block (Li, Ying & Campbell 2009). A block c has one vector of cluster
    proportions θ_c ~ Dir(α), and the cluster of each feature value of its items is drawn from θ_c. Blocks are made from
    the majority answers (:func:`semicrowd.crowd.links.blocks_of`). Without answers each item is a block of its own, and
    the method is LPD (called ULPD in the paper). All restarts are fitted at once by variational EM, and the one with
    the highest bound is kept (:func:`best_of`). Features are standardised first; NaN marks a missing value, which is
    ignored. Each restart is initialised by the clusters of CKM (:func:`first_clusters`).

    Parameters
    ----------
    n_clusters : int, default=4
    standardize : bool, default=True
        Scale features to mean 0 and variance 1; False: only to mean 0.
    n_restarts : int, default=10
        Restarts, of which the one with the highest bound is kept.
    least_variance : float, default=0.03
        Lower limit of the variance of each cluster and scaled feature: without it the likelihood has no maximum.
    random_state : int, RandomState instance or None, default=0
    verbose : bool, default=False

    Attributes
    ----------
    means_, variances_ : ndarray of shape (n_clusters, n_features)
        Means and variances of each cluster and standardised feature, maximum likelihood estimates (eq. 8).
    concentration_ : ndarray of shape (n_clusters,)
        α.
    bound_, bounds_ : float, ndarray of shape (n_restarts,)
        Bound of the restart that was kept, and of all restarts.
    restarts_ : tuple of ndarray
        Means, variances and α of all restarts, [R, …] each; only after :meth:`fit_each`.
    scaler_ : ColumnScaler
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **CrowdClusterer._parameter_constraints, "standardize": ["boolean"],
        "n_restarts": [COUNT], "least_variance": [POSITIVE],
    }  # fmt: skip
    requires_answers, takes_missing = False, True
    means_: np.ndarray
    variances_: np.ndarray
    concentration_: np.ndarray
    bound_: float
    bounds_: np.ndarray
    restarts_: tuple
    scaler_: ColumnScaler

    def __init__(
        self, n_clusters: int = 4, *, standardize: bool = True, n_restarts: int = 10, least_variance: float = 0.03,
        random_state: Any = 0, verbose: Any = False,
    ) -> None:  # fmt: skip
        self.n_clusters = n_clusters
        self.standardize = standardize
        self.n_restarts = n_restarts
        self.least_variance = least_variance
        self.random_state = random_state
        self.verbose = verbose

    def predict_proba(self, X: Any) -> np.ndarray:
        """Expected cluster proportions [N, K] of items, each as a block of its own: γ, normalised."""
        return self._in_order(self._proportions(self._new_items(X)))

    def predict(self, X: Any) -> np.ndarray:
        """Clusters [N] of items: the cluster of the largest proportion."""
        return Assignment.of(self.predict_proba(X), self.components_).cluster

    def score_samples(self, X: Any) -> np.ndarray:
        """ln p(x) of items [N] in nats, estimated with 1000 draws of θ ~ Dir(α) (paper, section 6.2).

        It is the density of X in its original units, not of the standardised features.
        """
        return self.log_likelihood(X)[0]

    def score(self, X: Any, y: Any = None) -> float:  # noqa: ARG002 - scikit-learn hands labels on
        """Mean of :meth:`score_samples`; on held-out items it can be used to choose the number of clusters."""
        return float(self.score_samples(X).mean())

    def log_likelihood(self, X: Any, draws: torch.Generator | None = None) -> tuple[np.ndarray, np.ndarray]:
        """:meth:`score_samples`, and the Monte Carlo standard error of each value; [N] each.

        Parameters
        ----------
        draws : random generator; None: one seeded by the fit's seed, the same in every call
        """
        features = self._new_items(X)
        generator = torch_stream(self.seed_, "slpd/likelihood") if draws is None else draws
        value, error = log_likelihood(table_of(self._standardised(features)), self._clusters(), _DRAWS, generator)
        density = np.isfinite(features) @ np.log(self.scaler_.scale_) if self.standardize else 0.0
        return value[0].numpy() - density, error[0].numpy()

    def fit_each(self, tables: Sequence[Table]) -> Iterator["SLPD"]:
        """Fit each table, several at once if memory allows; the results equal those of separate calls of ``fit``.

        The returned estimators are copies of this one with the tables' seeds. They keep all restarts, so that the best
        of a subset of the restarts can be selected later (:meth:`chosen_among`).
        """
        size = max(table.features.size for table in tables) * self.n_restarts
        at_once = max(_VALUES // size, 1)
        for low in range(0, len(tables), at_once):
            batch = tables[low : low + at_once]
            models = [clone(self).set_params(random_state=table.seed) for table in batch]
            for model, table in zip(models, batch, strict=True):
                model._validate_params()
                model.seed_, model.n_features_in_ = table.seed, table.features.shape[1]
            values = [model._prepared(table.features) for model, table in zip(models, batch, strict=True)]
            fits = begun(models, values, [table.blocks for table in batch])
            for _ in range(_MOST_ITERATIONS):
                fits.step()
                if not fits.active.any():
                    break
            for index, model in enumerate(models):
                rows = fits.table == index
                model.restarts_ = tuple(part[rows].numpy() for part in fits.clusters)
                model.bounds_ = fits.bound[rows].numpy()
                yield model.chosen_among(range(self.n_restarts))

    def chosen_among(self, some: range) -> Self:
        """Select the best of some restarts, of an estimator that :meth:`fit_each` returned; changes this estimator."""
        parts = Clusters(*(torch.from_numpy(part[some.start : some.stop]) for part in self.restarts_))
        self._take(parts, torch.from_numpy(self.bounds_[some.start : some.stop]))
        return self

    def _run(self, features: np.ndarray, answers: PairAnnotations | None) -> Result:
        blocks = None if answers is None else blocks_of(answers)
        values = self._prepared(features)
        fits = begun([self], [values], [blocks])
        for iteration in progress(range(1, _MOST_ITERATIONS + 1), "EM iterations", self.verbose):
            if not fits.active.any():
                break
            fits.step()
            self.history_.append({"epoch": iteration, "elbo/epoch": float(fits.bound.max())})
        self.bounds_ = fits.bound.numpy()
        best = self._take(fits.clusters, fits.bound)
        each = proportions(posterior(table_of(values).of(fits.table), fits.clusters))
        alone = final = Assignment.of(each[best].numpy())
        if blocks is not None:
            final = Assignment.of(proportions(fits.gamma[best])[fits.samples.block[0]].numpy())
        restarts = Restarts(self.bounds_, best, each.argmax(-1).numpy())
        return Result(int(self.n_clusters), final, alone, restarts=restarts)

    def _prepared(self, features: np.ndarray) -> np.ndarray:
        """Fit the scaler and return the standardised training items; NaN stays NaN."""
        empty = np.isnan(features).all(0)
        if empty.any():
            raise UserError(f"X, column {empty.argmax()}: no value; expected one at least")
        self.scaler_ = ColumnScaler(with_std=self.standardize, indicators=self.indicators).fit(features)
        return self._standardised(features)

    def _take(self, clusters: Clusters, bounds: Tensor) -> int:
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
    """Stack several tables into one set of samples.

    Parameters
    ----------
    values : tables [D, G], NaN where missing. Shorter tables are padded to the length of the longest by rows without
        any value, each in a block of its own
    blocks : [D] block of each sample of a table; None: each sample is a block of its own
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
    """A single table, each sample a block of its own."""
    return tables_of([values], [None])


def first_clusters(
    values: np.ndarray, blocks: np.ndarray | None, num_clusters: int, restarts: int, seed: int
) -> tuple[Tensor, Tensor]:
    """Initial clusters, from CKM: centres [R, K, G], and the cluster of each sample [R, D].

    CKM is k-means of the block means, weighted by block size. Each restart has its own random stream. If there are
    fewer blocks than clusters, k-means is applied to the samples. Missing values are replaced by 0, the feature's mean.
    """
    known = np.nan_to_num(values)
    if blocks is None or blocks.max() + 1 < num_clusters:
        blocks = np.arange(len(values))
    means, size = block_means(known, blocks)
    centres, first = [], []
    for restart in range(restarts):
        state = np.random.RandomState(stream(seed, "slpd", restart).integers(2**31))
        kmeans = KMeans(num_clusters, n_init=1, random_state=state).fit(means, sample_weight=size)
        first.append(kmeans.labels_[blocks])
        centres.append(kmeans.cluster_centers_)
    return torch.from_numpy(np.array(centres)), torch.from_numpy(np.array(first)).long()


def proportions(gamma: Tensor) -> Tensor:
    """γ [..., K], normalised."""
    return gamma / gamma.sum(-1, keepdim=True)


class Decomposition:
    """F simultaneous fits, each to one of T tables; a fit is not updated any more after it has converged.

    Attributes
    ----------
    samples, table : the tables, and the index of the table of each fit, [F]
    clusters, gamma : Θ and γ of each fit
    bound : [F], −∞ before the first iteration
    active : [F], True for fits that have not converged yet
    """

    def __init__(
        self, samples: Samples, table: Int[Tensor, "F"], mean: Float[Tensor, "F K G"], first: Int[Tensor, "F D"],
        prior: Prior,
    ) -> None:  # fmt: skip
        """Initialise with σ² = 1, α = 1/K and all values of a sample in cluster ``first`` (−1: equally in all)."""
        self.samples, self.table, self.prior = samples, table, prior
        alpha = torch.full_like(mean[..., 0], 1 / mean.shape[1])
        self.clusters = Clusters(mean, torch.ones_like(mean), alpha)
        self.gamma = first_gamma(samples.of(table), self.clusters, first)
        self.bound = torch.full((len(table),), -torch.inf, dtype=mean.dtype)
        self.active = torch.ones(len(table), dtype=torch.bool)
        self._gathered: tuple[Tensor, Samples] | None = None

    def step(self) -> None:
        """One EM iteration of the active fits."""
        fits = self.active.nonzero()[:, 0]
        if not len(fits):
            return
        samples = self._samples_of(fits)
        clusters, gamma = Clusters(*(part[fits] for part in self.clusters)), self.gamma[fits]
        sums = sweep(samples, clusters, gamma)
        value = bound(samples, clusters, gamma, sums, self.prior)
        self.active[fits] = value - self.bound[fits] > _TOLERANCE * value.abs()
        self.bound[fits] = value
        updated, gamma = update(samples, clusters, sums, self.prior)
        for old, new in zip((*self.clusters, self.gamma), (*updated, gamma), strict=True):
            old[fits] = new

    def _samples_of(self, fits: Tensor) -> Samples:
        if self._gathered is None or len(self._gathered[0]) != len(fits):
            self._gathered = fits, self.samples.of(self.table[fits])
        return self._gathered[1]


def best_of(bound: Float[Tensor, "R"], clusters: Clusters) -> int:
    """Index of the restart with the highest bound, preferably among the restarts with Σ α ≤ G.

    If Σ α > G, the prior outweighs the G values of an item. In such a restart the clusters have become almost equal,
    and so have the proportions of all items.
    """
    alike = clusters.concentration.sum(-1) > clusters.mean.shape[-1]
    return max(range(len(bound)), key=lambda start: (not alike[start], float(bound[start])))


def begun(
    models: Sequence[SLPD], values: Sequence[np.ndarray], blocks: Sequence[np.ndarray | None]
) -> Decomposition:
    """All restarts of one table [D, G], or of several, each begun with the clusters of CKM."""
    first = models[0]
    samples = tables_of(values, blocks)
    initial = [
        first_clusters(table, of, model.n_clusters, model.n_restarts, model.seed_)
        for model, table, of in zip(models, values, blocks, strict=True)
    ]
    longest = samples.block.shape[1]
    return Decomposition(
        samples, torch.arange(len(models)).repeat_interleave(first.n_restarts),
        torch.cat([means for means, _ in initial]),
        torch.cat([pad(of, (0, longest - of.shape[1]), value=-1) for _, of in initial]),
        Prior(float(first.least_variance)),
    )  # fmt: skip
