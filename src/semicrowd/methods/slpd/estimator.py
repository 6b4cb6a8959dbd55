"""SLPD, a latent process decomposition with must-links: Li, Ying & Campbell 2009."""

from typing import Any, ClassVar, Self

import numpy as np
import torch
from jaxtyping import Float, Int
from sklearn.cluster import KMeans
from torch import Tensor

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.crowd.links import blocks_of
from semicrowd.data.preparation import ColumnScaler
from semicrowd.errors import UserError
from semicrowd.estimators.base import COUNT, POSITIVE, CrowdClusterer, progress
from semicrowd.methods.ckm import block_means
from semicrowd.methods.slpd.em import Clusters, Decomposition, best_of, log_likelihood, posterior, samples_of
from semicrowd.random import stream, torch_stream
from semicrowd.result import Assignment, Restarts, Result

#: EM iterations, at most, and draws of the proportions θ with which the likelihood of an item is estimated.
_MOST_ITERATIONS, _DRAWS = 500, 1000


class SLPD(CrowdClusterer):
    """Mixed-membership clustering: each feature value of an item has its own cluster; must-linked items share θ.

    Li, Ying & Campbell 2009; all restarts at once, each with these steps:

    1. Items connected by the majority of answers form a block (:func:`semicrowd.crowd.links.blocks_of`); without
       answers each item is a block of its own, and the method is LPD (called ULPD in the paper).
    2. Features are standardised; NaN marks a missing value, which is ignored.
    3. The model: a block c has cluster proportions θ_c ~ Dir(α); each feature g of each of its items d has a cluster
       Z_dg ~ θ_c of its own, and the value E_dg ~ N(μ_gk, σ²_gk) for Z_dg = k (eqs. 1–5).
    4. A restart begins with the clusters of CKM (:func:`first_clusters`), σ² = 1 and α = 1/K.
    5. E-step: Q_dg,k ∝ N(E_dg | μ_gk, σ²_gk) exp ψ(γ_ck) (eq. 6, corrected), γ_ck = α_k + Σ_{d in c, g} Q_dg,k (eq. 7).
    6. M-step: μ and σ² by maximum likelihood (eq. 8), σ² no lower than ``least_variance``; α by Newton's method
       (section 6.1).
    7. Steps 5 and 6 are repeated until the bound rises by no more than 10⁻⁶ of itself; the restart with the highest
       bound is kept (:func:`semicrowd.methods.slpd.em.best_of`).
    8. An item's cluster is that of the largest γ_ck of its block.

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
    scaler_ : ColumnScaler

    Examples
    --------
    >>> import numpy as np
    >>> from semicrowd import SLPD
    >>> X = np.repeat([[0.0, 0], [50, 50]], 20, axis=0) + np.sin(np.arange(80)).reshape(40, 2)
    >>> model = SLPD(2, n_restarts=2).fit(X, pairs=[[0, 1, 1], [1, 25, 0]])
    >>> bool(model.labels_[0] == model.labels_[1] != model.labels_[25])
    True
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
        gamma = posterior(samples_of(self._standardised(self._new_items(X))), self._clusters())
        return self._in_order(proportions(gamma)[0].numpy())

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
        value, error = log_likelihood(samples_of(self._standardised(features)), self._clusters(), _DRAWS, generator)
        density = np.isfinite(features) @ np.log(self.scaler_.scale_) if self.standardize else 0.0
        return value.numpy() - density, error.numpy()

    def fit_blocks(self, features: Float[np.ndarray, "D G"], blocks: Int[np.ndarray, "D"]) -> Self:
        """``fit`` where the blocks of items [D, G] are known; NaN where a value is missing."""
        return self._fit(features, None, None, blocks=blocks)

    def _run(self, features: np.ndarray, answers: PairAnnotations | None, blocks: np.ndarray | None = None) -> Result:
        if answers is not None:
            blocks = blocks_of(answers)
        empty = np.isnan(features).all(0)
        if empty.any():
            raise UserError(f"X, column {empty.argmax()}: no value; expected one at least")
        self.scaler_ = ColumnScaler(with_std=self.standardize, indicators=self.indicators).fit(features)
        values = self._standardised(features)
        first = first_clusters(values, blocks, self.n_clusters, self.n_restarts, self.seed_)
        fits = Decomposition(samples_of(values, blocks), *first, float(self.least_variance))
        for iteration in progress(range(1, _MOST_ITERATIONS + 1), "EM iterations", self.verbose):
            if not fits.active.any():
                break
            fits.step()
            self.history_.append({"epoch": iteration, "elbo/epoch": float(fits.bound.max())})
        self.bounds_, best = fits.bound.numpy(), best_of(fits.bound, fits.clusters)
        self.means_, self.variances_, self.concentration_ = (part[best].numpy() for part in fits.clusters)
        self.bound_ = float(fits.bound[best])
        each = proportions(posterior(samples_of(values), fits.clusters))
        alone = final = Assignment.of(each[best].numpy())
        if blocks is not None:
            final = Assignment.of(proportions(fits.gamma[best])[fits.samples.block].numpy())
        restarts = Restarts(self.bounds_, best, each.argmax(-1).numpy())
        return Result(int(self.n_clusters), final, alone, restarts=restarts)

    def _standardised(self, features: np.ndarray) -> np.ndarray:
        return np.asarray(self.scaler_.transform(features))

    def _clusters(self) -> Clusters:
        parts = (self.means_, self.variances_, self.concentration_)
        return Clusters(*(torch.from_numpy(part)[None] for part in parts))


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
