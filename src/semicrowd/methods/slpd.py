"""SLPD, a latent process decomposition with must-links: Li, Ying & Campbell 2009."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from sklearn.cluster import KMeans
from sklearn.preprocessing import StandardScaler
from torch import Tensor

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.crowd.links import blocks_of
from semicrowd.errors import UserError
from semicrowd.estimators.base import CrowdClusterer
from semicrowd.fitting.iterate import iterate
from semicrowd.fitting.method import Method, ProgressCallback
from semicrowd.fitting.monitor import Monitor
from semicrowd.fitting.result import Assignment, Restarts, Result
from semicrowd.inference.held_out import log_likelihood
from semicrowd.inference.slpd import Clusters, Prior, Samples, samples_of
from semicrowd.methods.ckm import block_means
from semicrowd.models.slpd import Decomposition, best_of, posterior
from semicrowd.random import stream, torch_stream
from semicrowd.settings.fields import flag, number, setting, whole
from semicrowd.settings.parameters import CountedParameters


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


class SLPD(SLPDParameters, CrowdClusterer):
    """Soft clusters of which every feature of an item has one of its own; items that answers put together share them.

    Items under must-links are a block, and a block has one vector of proportions θ_c ~ Dir(α), from which every value
    draws its cluster. The blocks are the groups that the majority of the answers joins
    (:func:`semicrowd.crowd.links.blocks_of`); without answers every item is its own, and the method is LPD (the paper's
    ULPD). Variational EM of all restarts at once; the one with the highest bound is kept
    (:func:`semicrowd.models.slpd.best_of`). Features are standardised
    first; a NaN is a value that is missing and takes no part. A start is CKM's clusters (:func:`first_clusters`).

    With ``mean_variance`` and ``variance_scale`` the clusters are the paper's MAP estimates (eq. 9), else maximum
    likelihood (eq. 8); both are in units of the scaled features.

    Attributes
    ----------
    means_, variances_ : [K, D] of every cluster and standardised feature
    concentration_ : [K], α
    bound_ : of the restart that was kept; ``bounds_`` [R] of all of them
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

    def log_likelihood(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        """:meth:`score_samples`, and the standard error that each has from the draws; [N] each."""
        features = self._new_items(X)
        generator = torch_stream(self.seed_, "slpd/likelihood")
        value, error = log_likelihood(table_of(self._standardised(features)), self._clusters(), self.n_draws, generator)
        density = np.isfinite(features) @ np.log(self.scaler_.scale_) if self.standardize else 0.0
        return value[0].numpy() - density, error[0].numpy()

    def _run(self, features: np.ndarray, answers: PairAnnotations | None, monitor: Monitor | None) -> Result:
        empty = np.isnan(features).all(0)
        if empty.any():
            raise UserError(f"X, column {empty.argmax()}: no value; expected one at least")
        self.scaler_ = StandardScaler(with_std=self.standardize).fit(features)
        blocks = None if answers is None else blocks_of(answers)
        return iterate(_Fit(self, self._standardised(features), blocks), monitor)

    def _standardised(self, features: np.ndarray) -> np.ndarray:
        return np.asarray(self.scaler_.transform(features))

    def _clusters(self) -> Clusters:
        parts = (self.means_, self.variances_, self.concentration_)
        return Clusters(*(torch.from_numpy(part)[None] for part in parts))

    def _proportions(self, features: np.ndarray) -> np.ndarray:
        return proportions(posterior(table_of(self._standardised(features)), self._clusters()))[0].numpy()


def table_of(values: np.ndarray, blocks: np.ndarray | None = None) -> Samples:
    """One table [D, G], NaN where missing, in blocks [D]; None: every sample is its own."""
    block = np.arange(len(values)) if blocks is None else blocks
    missing = np.isnan(values)
    observed = torch.from_numpy(~missing)[None] if missing.any() else None
    return samples_of(torch.from_numpy(values)[None], torch.from_numpy(block)[None], observed)


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


class _Fit(Method):
    """EM of all restarts."""

    def __init__(self, model: SLPD, values: np.ndarray, blocks: np.ndarray | None) -> None:
        self.model, self.values, self.iterations = model, values, model.n_iter
        self.samples, self.blocks = table_of(values, blocks), blocks
        shape = (model.n_restarts, model.n_clusters, values.shape[1])
        self.fits = self._fits(torch.zeros(shape, dtype=torch.float64), torch.zeros(shape[0], len(values)).long())

    def _fits(self, mean: Tensor, first: Tensor) -> Decomposition:
        return Decomposition(self.samples, torch.zeros(len(mean), dtype=torch.long), mean, first, prior_of(self.model))

    def start(self, progress: ProgressCallback) -> None:  # noqa: ARG002 - nothing worth a word
        """CKM's clusters."""
        model = self.model
        self.fits = self._fits(
            *first_clusters(self.values, self.blocks, model.n_clusters, model.n_restarts, model.seed_)
        )

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

    def result(self) -> Result:
        """The restart with the highest bound."""
        model, fits = self.model, self.fits
        best = best_of(fits.bound, fits.clusters)
        model.means_, model.variances_, model.concentration_ = (part[best].numpy() for part in fits.clusters)
        model.bounds_, model.bound_ = fits.bound.numpy(), float(fits.bound[best])
        alone = table_of(self.values).of(fits.table)
        each = proportions(posterior(alone, fits.clusters))
        features = final = Assignment.of(each[best].numpy())
        if self.blocks is not None:
            final = Assignment.of(proportions(fits.gamma[best])[self.samples.block[0]].numpy())
        restarts = Restarts(model.bounds_, best, each.argmax(-1).numpy())
        return Result(int(model.n_clusters), final, features, restarts=restarts)


def prior_of(parameters: SLPDParameters) -> Prior:
    """Maximum likelihood, or what is known of means and variances."""
    wide = parameters.mean_variance
    wide = np.inf if wide is None else float(wide)
    return Prior(float(parameters.least_variance), wide, float(parameters.variance_scale))
