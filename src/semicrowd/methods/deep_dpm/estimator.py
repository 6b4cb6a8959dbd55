"""Deep Dirichlet process mixture: a mixture in the latent space of a volume-preserving flow (Li et al. 2022)."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import torch
from scipy.special import log_softmax
from sklearn.base import TransformerMixin
from sklearn.cluster import KMeans
from sklearn.utils._param_validation import StrOptions

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.crowd.cells import join_cells
from semicrowd.crowd.two_coin import QUALITY_PRIOR
from semicrowd.crowd.workers import WorkerPosterior
from semicrowd.data.preparation import ColumnScaler
from semicrowd.errors import UserError
from semicrowd.estimators.base import COUNT, COUNT_OR_0, POSITIVE, CrowdClusterer, progress
from semicrowd.inference.gibbs.answers import Answers
from semicrowd.inference.gibbs.isotropic import base_of, isotropic
from semicrowd.methods.deep_dpm.em import DeepMixture, pushed
from semicrowd.nets.mlp import NICE
from semicrowd.random import stream, torch_stream
from semicrowd.result import Assignment, Restarts, Result

#: Coupling layers of the flow, and hidden units of each (the paper's).
LAYERS, WIDTH = 6, 512
#: Items in a gradient step.
_BATCH = 128
#: What a fit sets, besides the result: of several fits, that of the best is kept.
_OF_A_FIT = ("means_", "precisions_", "sizes_", "cluster_", "epochs_", "flows_")


class DeepDPM(TransformerMixin, CrowdClusterer):
    """A Dirichlet process mixture of isotropic Gaussians in the latent space of a volume-preserving flow (NICE).

    Items y are pushed through a flow f that keeps volumes, z = f(y; θ), and z_i | c_i = k ~ N(μ_k, I/λ_k) with a
    Dirichlet process prior of the partition c and a normal-gamma base of (μ, λ) (eqs. 1 and 4–7). Monte Carlo EM (Li,
    Li, Jiang & Xia 2022, Algorithm 1):

    1. The columns are standardised; f begins as the identity. The initial partition is one cluster after the other, or
       the cells of k-means, joined by the answers.
    2. In the first ``n_warm`` epochs the flow stays, and splits and merges of Gaussians are proposed.
    3. E-step: each item's Gaussian is sampled, p(c_i = k | …) ∝ n_k N(z_i | μ_k, I/λ_k), or a new one ∝ α p(z_i) with
       the marginal density of eq. 19 (eqs. 8 and 18); then α, and the rates of annotators.
    4. M-step: μ and λ are drawn given the partition (eq. 17), and held in ``n_steps`` steps of Adam up
       Σ_i ln N(f(y_i; θ) | μ_{c_i}, I/λ_{c_i}) (eqs. 14–16). Steps 3 and 4 are an epoch, of which there are
       ``n_epochs``.
    5. Of the last partition, Gaussians are joined to one cluster where that raises ln p(z, c)
       (:mod:`semicrowd.methods.deep_dpm.unions`); the probability of a cluster is the sum of those of its Gaussians.

    The number of Gaussians is estimated in steps 2 and 3: the flow moves Gaussians together. Answers are must-links and
    cannot-links of annotators who may err, with Beta(10, 1) priors of their rates
    (:mod:`semicrowd.inference.gibbs.answers`).

    Parameters
    ----------
    n_start : int, default=1
        Number of k-means cells of the initial partition; 1: items are assigned one after the other.
    alpha : float or None, default=None
        Fixed concentration; None: it has a Gamma(1, 1) prior and is sampled.
    scatter : float, default=0.5
        Prior mean of a Gaussian's variance, in units of the columns' variances.
    mean_strength : float, default=0.01
        Weight of the prior mean, in items.
    variance_strength : float, default=40.0
        Weight of the prior variance, in items.
    eq19 : {"corrected", "printed"}, default="corrected"
        Marginal density of a new Gaussian; printed: as in the paper.
    n_init : int, default=1
        Independent fits, of which the one with the highest ln p of items, clusters and, if there are any, answers is
        kept.
    n_warm : int, default=3
        Number of first epochs in which the flow stays the identity.
    n_epochs : int, default=300
        Further epochs, in which the flow is trained.
    n_sweeps : int, default=3
        Sweeps of the Gibbs sampler in an epoch.
    splits : int, default=10
        Split or merge proposals before each sweep of the first epochs.
    unions : bool, default=True
        Finally join Gaussians to one cluster if that increases the joint probability of items and partition.
    n_steps : int or None, default=10
        Gradient steps of the flow in an epoch, of 128 items each; None: a fifth of the number of items, as in the
        paper.
    learning_rate : float, default=0.001
        Learning rate of the flow (Adam).
    keep_every : int, default=0
        Interval of epochs after which the flow is also kept; 0: only the last.
    random_state : int, RandomState instance or None, default=0
    verbose : bool, default=False

    Attributes
    ----------
    means_, precisions_, sizes_ : ndarray
        [C, D], [C] and [C], of each Gaussian in the latent space.
    cluster_ : ndarray of shape (n_gaussians,)
        Cluster of each Gaussian.
    epochs_, flows_ : list of int, list of dict
        Epochs whose flow was kept, in increasing order, and the flows' weights.
    scaler_ : ColumnScaler

    Examples
    --------
    >>> import numpy as np
    >>> from semicrowd import DeepDPM
    >>> X = np.repeat([[0.0, 0], [50, 50]], 20, axis=0) + np.sin(np.arange(80)).reshape(40, 2)
    >>> model = DeepDPM(n_epochs=5, scatter=0.05).fit(X)
    >>> model.n_clusters_, model.transform(X).shape
    (2, (40, 2))
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **CrowdClusterer._parameter_constraints, "n_start": [COUNT], "alpha": [POSITIVE, None], "scatter": [POSITIVE],
        "mean_strength": [POSITIVE], "variance_strength": [POSITIVE], "eq19": [StrOptions({"corrected", "printed"})],
        "n_init": [COUNT], "n_warm": [COUNT_OR_0], "n_epochs": [COUNT], "n_sweeps": [COUNT], "splits": [COUNT_OR_0],
        "unions": ["boolean"], "n_steps": [COUNT_OR_0, None], "learning_rate": [POSITIVE], "keep_every": [COUNT_OR_0],
    }  # fmt: skip
    requires_answers = False
    means_: np.ndarray
    precisions_: np.ndarray
    sizes_: np.ndarray
    cluster_: np.ndarray
    epochs_: list
    flows_: list
    scaler_: ColumnScaler

    def __init__(
        self, *, n_start: int = 1, alpha: float | None = None, scatter: float = 0.5, mean_strength: float = 0.01,
        variance_strength: float = 40.0, eq19: str = "corrected", n_init: int = 1, n_warm: int = 3, n_epochs: int = 300,
        n_sweeps: int = 3, splits: int = 10, unions: bool = True, n_steps: int | None = 10,
        learning_rate: float = 1e-3, keep_every: int = 0, random_state: Any = 0, verbose: Any = False,
    ) -> None:  # fmt: skip
        self.n_start = n_start
        self.alpha = alpha
        self.scatter = scatter
        self.mean_strength = mean_strength
        self.variance_strength = variance_strength
        self.eq19 = eq19
        self.n_init = n_init
        self.n_warm = n_warm
        self.n_epochs = n_epochs
        self.n_sweeps = n_sweeps
        self.splits = splits
        self.unions = unions
        self.n_steps = n_steps
        self.learning_rate = learning_rate
        self.keep_every = keep_every
        self.random_state = random_state
        self.verbose = verbose

    def transform(self, X: Any, epoch: int | None = None) -> np.ndarray:
        """Items [N, D] in the latent space of the flow after an epoch of :attr:`epochs_`; None: after the last."""
        features = self._new_items(X)
        items = torch.from_numpy(self.scaler_.transform(features).astype(np.float32))
        return pushed(self._flow(epoch), items)

    def inverse_transform(self, Z: Any, epoch: int | None = None) -> np.ndarray:
        """Items [N, D], in the units of X, from points in the latent space."""
        points = torch.from_numpy(np.asarray(Z, np.float32))
        return np.asarray(self.scaler_.inverse_transform(pushed(self._flow(epoch), points, inverse=True)))

    def predict_proba(self, X: Any) -> np.ndarray:
        """Cluster probabilities [N, K], given the expected means and precisions of the Gaussians."""
        return self._in_order(self._summed(self._scores(self.transform(X))))

    def gaussian(self, X: Any) -> np.ndarray:
        """The most probable Gaussian [N] of items."""
        return self._scores(self.transform(X)).argmax(-1)

    def predict(self, X: Any) -> np.ndarray:
        """Clusters [N] of items."""
        return Assignment.of(self.predict_proba(X), self.components_).cluster

    def _run(self, features: np.ndarray, answers: PairAnnotations | None) -> Result:
        if features.shape[1] < 2:
            raise UserError("X: 1 feature(s); expected at least two, because the flow shifts one by the other")
        self.scaler_ = ColumnScaler(indicators=self.indicators).fit(features)
        items = self.scaler_.transform(features)
        if self.n_steps is None:
            self.params_["n_steps"] = len(items) // 5
        given = None if answers is None else Answers(answers, QUALITY_PRIOR)
        epochs = self.n_warm + self.n_epochs
        log_joint, results, sets = list[float](), list[Result](), list[dict[str, Any]]()
        for number in range(self.n_init):
            mixture, kept = self._begun(items, answers, given, number), list[tuple[int, dict[str, Any]]]()
            what = "epochs" if self.n_init == 1 else f"epochs of fit {number + 1} of {self.n_init}"
            for epoch in progress(range(epochs), what, self.verbose):
                curves = self._epoch(mixture, number, epoch)
                self.history_.append({"epoch": number * epochs + epoch + 1, **curves})
                if epoch + 1 == epochs or (self.keep_every and (epoch + 1) % self.keep_every == 0):
                    weights = {name: one.clone() for name, one in mixture.flow.state_dict().items()}
                    kept.append((epoch + 1, weights))
            self.epochs_, self.flows_ = [done for done, _ in kept], [weights for _, weights in kept]
            value, result = self._take(mixture, given)
            log_joint.append(value)
            results.append(result)
            sets.append({name: vars(self)[name] for name in _OF_A_FIT})
        if self.n_init == 1:
            return results[0]
        best = int(np.argmax(log_joint))
        self.__dict__.update(sets[best])
        compared = Restarts(np.array(log_joint), best, np.stack([one.features.cluster for one in results]), "log_joint")
        each = [one.workers for one in results if one.workers is not None]
        workers = None
        if each:
            sides = ([one.sensitivity for one in each], [one.specificity for one in each])
            workers = WorkerPosterior(*(np.concatenate(side) for side in sides))
        return replace(results[best], restarts=compared, workers=workers)

    def _begun(
        self, items: np.ndarray, answers: PairAnnotations | None, given: Answers | None, number: int
    ) -> DeepMixture:
        """The flow and the first partition of a fit, the ``number``-th of ``n_init``."""
        base = base_of(items, self.scatter, self.mean_strength, self.variance_strength)
        mixture = DeepMixture(
            items, self._new_flow(items.shape[1], number), lambda z: isotropic(z, *base, self.eq19),
            self.learning_rate, alpha=self.alpha, answers=given,
        )  # fmt: skip
        if self.n_start > 1:
            state = np.random.RandomState(stream(self.seed_, "gibbs/start", number).integers(2**31))
            cells = KMeans(min(self.n_start, len(items)), n_init=1, random_state=state).fit_predict(items)
            first = np.asarray(cells).astype(np.int64)
            if answers is not None and given is not None:
                first = join_cells(first, answers, given.weights(given.expected), self.n_start)
            mixture.chain.begin(first)
        return mixture

    def _epoch(self, mixture: DeepMixture, number: int, epoch: int) -> Mapping[str, float]:
        """Gibbs sweeps and gradient steps, with a random stream for each sweep and each epoch; returns the curves."""
        learning, first = epoch >= self.n_warm, epoch * self.n_sweeps
        rngs = [stream(self.seed_, "gibbs", number, first + sweep) for sweep in range(self.n_sweeps)]
        mixture.expectation(rngs, 0 if learning else self.splits)
        chain = mixture.chain
        curves = {"clusters": float(chain.clusters), "log_likelihood": chain.log_likelihood, "alpha": chain.alpha}
        if learning:
            index = number * (self.n_warm + self.n_epochs) + epoch
            order, rng = torch_stream(self.seed_, "training/order", index), stream(self.seed_, "gibbs/clusters", index)
            mixture.maximisation(self.params_["n_steps"], _BATCH, order, rng)
            curves["log_likelihood/flow"] = mixture.log_likelihood
        return curves

    def _take(self, mixture: DeepMixture, given: Answers | None) -> tuple[float, Result]:
        """ln p of items, clusters and answers, and the result: the last partition, each item's most probable cluster.

        Sets the attributes of the Gaussians.
        """
        family, chain = mixture.clusters(), mixture.chain
        used, expected = family.number > 0, family.expected()
        self.means_, self.precisions_ = expected.mean[used] + expected.location, expected.precision[used]
        self.sizes_ = family.number[used].astype(np.int64)
        slots = mixture.unions(family) if self.unions else np.arange(len(used))
        _, self.cluster_ = np.unique(slots[used], return_inverse=True)
        z = family.x + family.location
        share = self._summed(self._scores(z))
        final = features = Assignment.of(share)
        workers = None
        if given is not None:
            labels = self.cluster_[(np.cumsum(used) - 1)[chain.z]]
            # The clusters of all other items are those of the last partition, which is based on answers and features.
            evidence = given.evidence(labels, chain.quality, share.shape[1])
            final = Assignment.of(np.exp(log_softmax(np.log(share + 1e-300) + evidence, axis=-1)))
            workers = WorkerPosterior(*given.shapes(labels)[:, None])
        return mixture.log_joint(family, slots), Result(share.shape[1], final, features, workers, latent_mean=z)

    def _flow(self, epoch: int | None = None) -> NICE:
        if epoch is not None and epoch not in self.epochs_:
            kept = ", ".join(map(str, self.epochs_))
            raise UserError(f"epoch={epoch}: the flow of this epoch was not kept; kept epochs: {kept}")
        flow = self._new_flow(self.n_features_in_)
        flow.load_state_dict(self.flows_[-1 if epoch is None else self.epochs_.index(epoch)])
        return flow

    def _scores(self, z: np.ndarray) -> np.ndarray:
        """ln(size · density) of each Gaussian, [N, C], at points in the latent space."""
        square = np.square(z).sum(1)[:, None] - 2 * z @ self.means_.T + np.square(self.means_).sum(1)
        return np.log(self.sizes_) + z.shape[1] / 2 * np.log(self.precisions_) - self.precisions_ / 2 * square

    def _summed(self, score: np.ndarray) -> np.ndarray:
        """Probabilities [N, K] of the clusters, from scores [N, C]."""
        return np.exp(log_softmax(score, axis=-1)) @ np.eye(self.cluster_.max() + 1)[self.cluster_]

    def _new_flow(self, dim: int, number: int = 0) -> NICE:
        """The initial flow of a fit, which is the identity."""
        return NICE(dim, LAYERS, WIDTH, [torch_stream(self.seed_, "networks", number)])
