"""Deep Dirichlet process mixture: a mixture in the latent space of a volume-preserving flow (Li et al. 2022)."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from scipy.special import log_softmax
from sklearn.base import TransformerMixin

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.crowd.cells import join_cells
from semicrowd.crowd.workers import WorkerPosterior
from semicrowd.data.preparation import ColumnScaler
from semicrowd.errors import UserError
from semicrowd.estimators.base import CrowdClusterer
from semicrowd.estimators.persistence import decode, encode
from semicrowd.fitting.iterate import Method, iterate
from semicrowd.fitting.monitor import Monitor
from semicrowd.fitting.result import Assignment, Restarts, Result
from semicrowd.methods.gibbs import PartitionParameters, first_partition
from semicrowd.random import stream, torch_stream
from semicrowd.settings.fields import choice, each, flag, number, setting, whole
from semicrowd.settings.parameters import QUALITY_PRIOR


@dataclass(eq=False, repr=False, kw_only=True)
class DeepDPMParameters(PartitionParameters):
    """Parameters of :class:`DeepDPM`."""

    start: str = setting("kmeans", "initial partition: random | kmeans", choice("random", "kmeans"))
    scatter: float = setting(
        0.5, "prior mean of a cluster's variance, in units of the columns' variances", number(above=0)
    )
    variance_strength: float = setting(40.0, "weight of the prior variance, in items", number(above=0))
    n_init: int = setting(
        1, "independent fits, of which the one with the highest ln p of items, clusters and, if there are any, answers "
        "is kept",
        whole(1, 1000),
    )
    n_warm: int = setting(3, "number of first epochs in which the flow stays the identity", whole(0))
    n_epochs: int = setting(300, "further epochs, in which the flow is trained", whole(1))
    n_sweeps: int = setting(3, "sweeps of the Gibbs sampler in an epoch", whole(1))
    splits: int = setting(
        10, "split or merge proposals before each sweep of the first epochs", whole(0, 1000)
    )
    unions: bool = setting(
        True, "finally join Gaussians to one cluster if that increases the joint probability of items and partition",
        flag(),
    )
    n_steps: int | None = setting(
        10, "gradient steps of the flow in an epoch; null: N / 5, as in the paper", whole(0), optional=True
    )
    batch_size: int = setting(128, "items in a gradient step", whole(1))
    learning_rate: float = setting(1e-3, "learning rate of the flow (Adam)", number(above=0))
    quality_prior: tuple[float, float] = setting(
        QUALITY_PRIOR, "Beta prior of the annotators' sensitivity and specificity",
        each(number(above=0), "[10.0, 1.0]", length=2),
    )  # fmt: skip
    n_layers: int = setting(6, "coupling layers of the flow", whole(1, 1000))
    width: int = setting(512, "hidden units of each coupling layer", whole(1, 100_000))
    keep_every: int = setting(0, "interval of epochs after which the flow is also kept; 0: only the last", whole(0))


class DeepDPM(DeepDPMParameters, TransformerMixin, CrowdClusterer):
    """A Dirichlet process mixture of isotropic Gaussians in the latent space of a volume-preserving flow (NICE).

    The columns are standardised. The number of Gaussians is estimated, by splits and merges before the flow is trained,
    and later by the sampler when the flow moves Gaussians together. The last partition and the final flow are the
    result. Gaussians are then joined to one cluster if that is more probable; the probability of a cluster is the sum
    of those of its Gaussians. Answers are must-links and cannot-links of annotators who may err; in the initial
    partition k-means cells are joined by the answers.

    Attributes
    ----------
    means_, precisions_, sizes_ : [C, D], [C] and [C], of each Gaussian in the latent space
    cluster_ : [C] cluster of each Gaussian
    epochs_ : epochs whose flow was kept, in increasing order
    scaler_ : the fitted ColumnScaler
    """

    requires_answers = False

    def transform(self, X: Any, epoch: int | None = None) -> np.ndarray:
        """Items [N, D] in the latent space of the flow after an epoch of :attr:`epochs_`; None: after the last."""
        return self._pushed(self._new_items(X), epoch)

    def inverse_transform(self, Z: Any, epoch: int | None = None) -> np.ndarray:
        """Items [N, D], in the units of X, from points in the latent space."""
        from semicrowd.models.deep_dpm import pushed

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

    def _run(self, features: np.ndarray, answers: PairAnnotations | None, monitor: Monitor) -> Result:
        if features.shape[1] < 2:
            raise UserError("X: 1 feature(s); expected at least two, because the flow shifts one by the other")
        self.scaler_ = ColumnScaler(indicators=self.indicators).fit(features)
        given = self, self.scaler_.transform(features), answers
        return iterate(_Fit(*given) if self.n_init == 1 else _BestOfSeveral(*given), monitor)

    def _pushed(self, features: np.ndarray, epoch: int | None = None) -> np.ndarray:
        from semicrowd.models.deep_dpm import pushed

        return pushed(self._flow(epoch), torch.from_numpy(self.scaler_.transform(features).astype(np.float32)))

    def _flow(self, epoch: int | None = None) -> Any:
        if epoch is not None and epoch not in self.epochs_:
            kept = ", ".join(map(str, self.epochs_))
            raise UserError(f"epoch={epoch}: the flow of this epoch was not kept; kept epochs: {kept}")
        flow = new_flow(self, self.n_features_in_)
        flow.load_state_dict(self.flows_[-1 if epoch is None else self.epochs_.index(epoch)])
        return flow

    def _scores(self, z: np.ndarray) -> np.ndarray:
        """ln(size · density) of each Gaussian, [N, C], at points in the latent space."""
        square = np.square(z).sum(1)[:, None] - 2 * z @ self.means_.T + np.square(self.means_).sum(1)
        return np.log(self.sizes_) + z.shape[1] / 2 * np.log(self.precisions_) - self.precisions_ / 2 * square

    def _summed(self, score: np.ndarray) -> np.ndarray:
        """Probabilities [N, K] of the clusters, from scores [N, C]."""
        return np.exp(log_softmax(score, axis=-1)) @ np.eye(self.cluster_.max() + 1)[self.cluster_]


def new_flow(settings: DeepDPMParameters, dim: int, start: int = 0) -> Any:
    """The initial flow of a fit, which is the identity."""
    from semicrowd.nets.mlp import NICE

    generator = torch_stream(getattr(settings, "seed_", 0), "networks", start)
    return NICE(dim, settings.n_layers, settings.width, [generator])


class _Fit(Method):
    """Epochs of Gibbs sweeps and gradient steps, with a separate random stream for each sweep and each epoch.

    ``start`` is the number of this fit among those of ``n_init``.
    """

    def __init__(self, model: DeepDPM, features: np.ndarray, answers: PairAnnotations | None, start: int = 0) -> None:
        from semicrowd.inference.gibbs.answers import Answers
        from semicrowd.inference.gibbs.isotropic import base_of, isotropic
        from semicrowd.models.deep_dpm import DeepMixture

        self.model, self.iterations, self.number = model, model.n_warm + model.n_epochs, start
        self.answers = None if answers is None else Answers(answers, (model.quality_prior[0], model.quality_prior[1]))
        base = base_of(features, model.scatter, model.mean_strength, model.variance_strength)
        self.mixture = DeepMixture(
            features, new_flow(model, features.shape[1], start), lambda z: isotropic(z, *base, model.eq19),
            model.learning_rate,
            alpha=model.alpha, alpha_prior=tuple(model.alpha_prior), answers=self.answers,
        )  # fmt: skip
        if model.n_start > 1:
            first = first_partition(model, features, start)
            if answers is not None and self.answers is not None:
                first = join_cells(first, answers, self.answers.weights(self.answers.expected), model.n_start)
            self.mixture.chain.begin(first)
        self.steps = len(features) // 5 if model.n_steps is None else model.n_steps
        self.kept: list[tuple[int, dict[str, Any]]] = []

    def step(self, iteration: int) -> Mapping[str, float]:
        """One epoch."""
        model, mixture = self.model, self.mixture
        first, epoch = iteration * model.n_sweeps, self.number * self.iterations + iteration
        learning = iteration >= model.n_warm
        rngs = [stream(model.seed_, "gibbs", self.number, first + sweep) for sweep in range(model.n_sweeps)]
        mixture.expectation(rngs, 0 if learning else model.splits)
        if learning:
            order = torch_stream(model.seed_, "training/order", epoch)
            rng = stream(model.seed_, "gibbs/clusters", epoch)
            mixture.maximisation(self.steps, model.batch_size, order, rng)
        done = iteration + 1
        if done == self.iterations or (model.keep_every and done % model.keep_every == 0):
            self.kept.append((done, {name: one.clone() for name, one in mixture.flow.state_dict().items()}))
        chain = mixture.chain
        curves = {"clusters": chain.clusters, "log_likelihood": chain.log_likelihood, "alpha": chain.alpha}
        return curves | {"log_likelihood/flow": mixture.log_likelihood} if learning else curves

    def state(self) -> dict[str, Any]:
        """Partition, flow, moments of Adam, and kept flows."""
        content = self.mixture.state()
        return content | {"chain": encode(content["chain"]), "kept": self.kept}

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Restore what :meth:`state` returned."""
        self.mixture.load_state({**state, "chain": decode(state["chain"])})
        self.kept = [(int(done), dict(flow)) for done, flow in state["kept"]]

    def result(self) -> Result:
        """The last partition, and the most probable cluster of each item."""
        model, family, chain = self.model, self.mixture.clusters(), self.mixture.chain
        used, expected = family.number > 0, family.expected()
        model.means_, model.precisions_ = expected.mean[used] + expected.location, expected.precision[used]
        model.sizes_ = family.number[used].astype(np.int64)
        slots = self.mixture.unions(family) if model.unions else np.arange(len(used))
        self.log_joint = self.mixture.log_joint(family, slots)
        _, model.cluster_ = np.unique(slots[used], return_inverse=True)
        model.epochs_, model.flows_ = [done for done, _ in self.kept], [flow for _, flow in self.kept]
        z = family.x + family.location
        share = model._summed(model._scores(z))
        final = features = Assignment.of(share)
        workers = None
        if self.answers is not None:
            labels = model.cluster_[(np.cumsum(used) - 1)[chain.z]]
            # The clusters of all other items are those of the last partition, which is based on answers and features.
            evidence = self.answers.evidence(labels, chain.quality, share.shape[1])
            final = Assignment.of(np.exp(log_softmax(np.log(share + 1e-300) + evidence, axis=-1)))
            workers = WorkerPosterior(*self.answers.shapes(labels)[:, None])
        return Result(share.shape[1], final, features, workers, latent_mean=z)


class _BestOfSeveral(Method):
    """Fits one after the other, each with its own random streams; the result is that with the highest ln p(x, z)."""

    def __init__(self, model: DeepDPM, features: np.ndarray, answers: PairAnnotations | None) -> None:
        self._given = model, features, answers
        self._fit = _Fit(*self._given)
        self.iterations = model.n_init * self._fit.iterations
        #: Of each finished fit: ln p(x, z), [N] clusters, and shapes of the annotators' rates, [2, M, 2].
        self._log_joint, self._clusters, self._rates = list[float](), list[np.ndarray](), list[np.ndarray]()
        self._best: dict[str, Any] = {}

    def step(self, iteration: int) -> Mapping[str, float]:
        """One epoch of one fit."""
        start, own = divmod(iteration, self._fit.iterations)
        if start != self._fit.number:
            self._fit = _Fit(*self._given, start)
        metrics = self._fit.step(own)
        if own + 1 == self._fit.iterations:
            result = self._fit.result()
            if not self._best or self._fit.log_joint > max(self._log_joint):
                self._best = {"number": start, **self._fit.state()}
            self._log_joint.append(self._fit.log_joint)
            self._clusters.append(result.features.cluster)
            if result.workers is not None:
                self._rates.append(np.concatenate([result.workers.sensitivity, result.workers.specificity]))
        return metrics

    def state(self) -> dict[str, Any]:
        """The fit that is running, the best one before it, and the comparison."""
        clusters, rates = ([torch.from_numpy(one) for one in of] for of in (self._clusters, self._rates))
        running = {"number": self._fit.number, **self._fit.state()}
        finished = {"log_joint": self._log_joint, "clusters": clusters, "rates": rates}
        return {"running": running, "best": self._best, **finished}

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Restore what :meth:`state` returned."""
        self._fit = self._loaded(state["running"])
        self._best, self._log_joint = dict(state["best"]), list(state["log_joint"])
        self._clusters, self._rates = ([one.numpy() for one in state[name]] for name in ("clusters", "rates"))

    def _loaded(self, state: Mapping[str, Any]) -> _Fit:
        fit = _Fit(*self._given, int(state["number"]))
        fit.load_state(state)
        return fit

    def result(self) -> Result:
        """The result of the best fit."""
        best = int(self._best["number"])
        compared = Restarts(np.array(self._log_joint), best, np.stack(self._clusters), "log_joint")
        workers = WorkerPosterior(*np.stack(self._rates, 1)) if self._rates else None
        return replace(self._loaded(self._best).result(), restarts=compared, workers=workers)
