"""Deep Dirichlet process mixture: a flow that keeps volumes, and the clusters behind it (Li et al. 2022)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from scipy.special import log_softmax
from sklearn.base import TransformerMixin
from sklearn.preprocessing import StandardScaler

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.crowd.cells import join_cells
from semicrowd.crowd.workers import WorkerPosterior
from semicrowd.errors import UserError
from semicrowd.estimators.base import CrowdClusterer
from semicrowd.estimators.persistence import decode, encode
from semicrowd.fitting.iterate import iterate
from semicrowd.fitting.method import Method
from semicrowd.fitting.monitor import Monitor
from semicrowd.fitting.result import Assignment, Result
from semicrowd.methods.gibbs import PartitionParameters, first_partition
from semicrowd.random import stream, torch_stream
from semicrowd.settings.fields import choice, each, flag, number, setting, whole
from semicrowd.settings.parameters import QUALITY_PRIOR


@dataclass(eq=False, repr=False, kw_only=True)
class DeepDPMParameters(PartitionParameters):
    """Parameters of :class:`DeepDPM`."""

    start: str = setting("kmeans", "first partition: random | kmeans (its cells)", choice("random", "kmeans"))
    scatter: float = setting(0.5, "a cluster's expected variance, in units of the columns' variances", number(above=0))
    variance_strength: float = setting(40.0, "items that the prior variance counts for", number(above=0))
    n_warm: int = setting(3, "first epochs, in which the flow stays the identity", whole(0))
    n_epochs: int = setting(300, "epochs in which the flow learns, after the first", whole(1))
    n_sweeps: int = setting(3, "of the Gibbs sampler in an epoch", whole(1))
    splits: int = setting(
        10, "splits and merges of clusters that are proposed before a sweep of the first epochs", whole(0)
    )
    unions: bool = setting(
        True, "at the end, Gaussians are one cluster where items and partition are then likelier together", flag()
    )
    n_steps: int | None = setting(
        10, "of the flow in an epoch; null: N / 5, as the paper has it", whole(0), optional=True
    )
    batch_size: int = setting(128, "items of a step", whole(1))
    learning_rate: float = setting(1e-3, "of the flow, by Adam", number(above=0))
    quality_prior: tuple[float, float] = setting(
        QUALITY_PRIOR, "Beta prior of the annotators' sensitivity and specificity",
        each(number(above=0), "[10.0, 1.0]", length=2),
    )  # fmt: skip
    n_layers: int = setting(6, "coupling layers of the flow", whole(1, 1000))
    width: int = setting(512, "hidden units of each", whole(1, 100_000))
    keep_every: int = setting(0, "the flow of every so many epochs is kept, too; 0: the last alone", whole(0))


class DeepDPM(DeepDPMParameters, TransformerMixin, CrowdClusterer):
    """A Dirichlet process mixture of isotropic Gaussians behind a flow that keeps volumes (NICE).

    The columns are standardised. The number of Gaussians is found, by splits and merges before the flow learns, and by
    the sampler where the flow brings them together. The last partition and the flow after its last steps are kept.
    Gaussians that are likelier as one are one cluster then, whose probability is the sum of theirs. Answers are must-
    and cannot-links of annotators who may err; cells of k-means that they say are one kind begin as one.

    Attributes
    ----------
    means_, precisions_, sizes_ : [C, D], [C] and [C] of the Gaussians, in the flow's space
    cluster_ : [C] cluster of each
    epochs_ : epochs whose flow is kept, the last one last
    scaler_ : the fitted StandardScaler
    """

    requires_answers = False

    def transform(self, X: Any, epoch: int | None = None) -> np.ndarray:
        """Items [N, D] in the flow's space after an epoch of :attr:`epochs_`; None: after the last."""
        return self._pushed(self._new_items(X), epoch)

    def inverse_transform(self, Z: Any, epoch: int | None = None) -> np.ndarray:
        """Items [N, D] in the units of X from points of the flow's space."""
        from semicrowd.models.deep_dpm import pushed

        points = torch.from_numpy(np.asarray(Z, np.float32))
        return np.asarray(self.scaler_.inverse_transform(pushed(self._flow(epoch), points, inverse=True)))

    def predict_proba(self, X: Any) -> np.ndarray:
        """Probabilities [N, K] of the clusters, with the expected means and precisions of their Gaussians."""
        return self._summed(self._scores(self.transform(X)))

    def gaussian(self, X: Any) -> np.ndarray:
        """The most probable Gaussian [N] of items."""
        return self._scores(self.transform(X)).argmax(-1)

    def predict(self, X: Any) -> np.ndarray:
        """Clusters [N] of items."""
        return self.predict_proba(X).argmax(-1)

    def _run(self, features: np.ndarray, answers: PairAnnotations | None, monitor: Monitor | None) -> Result:
        if features.shape[1] < 2:
            raise UserError("X: 1 feature(s); expected two at least, of which the flow shifts one by the other")
        self.scaler_ = StandardScaler().fit(features)
        return iterate(_Fit(self, self.scaler_.transform(features), answers), monitor)

    def _pushed(self, features: np.ndarray, epoch: int | None = None) -> np.ndarray:
        from semicrowd.models.deep_dpm import pushed

        return pushed(self._flow(epoch), torch.from_numpy(self.scaler_.transform(features).astype(np.float32)))

    def _flow(self, epoch: int | None = None) -> Any:
        if epoch is not None and epoch not in self.epochs_:
            kept = ", ".join(map(str, self.epochs_))
            raise UserError(f"epoch={epoch}: its flow was not kept; there are {kept}")
        flow = new_flow(self, self.n_features_in_)
        flow.load_state_dict(self.flows_[-1 if epoch is None else self.epochs_.index(epoch)])
        return flow

    def _scores(self, z: np.ndarray) -> np.ndarray:
        """ln of the Gaussians' sizes and densities [N, C] at points of the flow's space."""
        square = np.square(z).sum(1)[:, None] - 2 * z @ self.means_.T + np.square(self.means_).sum(1)
        return np.log(self.sizes_) + z.shape[1] / 2 * np.log(self.precisions_) - self.precisions_ / 2 * square

    def _summed(self, score: np.ndarray) -> np.ndarray:
        """Probabilities [N, K] of the clusters, from scores [N, C]."""
        return np.exp(log_softmax(score, axis=-1)) @ np.eye(self.cluster_.max() + 1)[self.cluster_]


def new_flow(settings: DeepDPMParameters, dim: int) -> Any:
    """The flow before its first step: the identity."""
    from semicrowd.nets.flow import NICE

    return NICE(dim, settings.n_layers, settings.width, [torch_stream(getattr(settings, "seed_", 0), "networks", 0)])


class _Fit(Method):
    """Epochs of sweeps and of gradient steps; their draws are streams by the number of the sweep, of the epoch."""

    def __init__(self, model: DeepDPM, features: np.ndarray, answers: PairAnnotations | None) -> None:
        from semicrowd.inference.gibbs.answers import Answers
        from semicrowd.inference.gibbs.isotropic import base_of
        from semicrowd.models.deep_dpm import Base, DeepMixture

        self.model, self.iterations = model, model.n_warm + model.n_epochs
        self.answers = None if answers is None else Answers(answers, (model.quality_prior[0], model.quality_prior[1]))
        base = base_of(features, model.scatter, model.mean_strength, model.variance_strength)
        self.mixture = DeepMixture(
            features, new_flow(model, features.shape[1]), Base(*base, model.eq19), model.learning_rate,
            alpha=model.alpha, alpha_prior=tuple(model.alpha_prior), answers=self.answers,
        )  # fmt: skip
        if model.n_start > 1:
            first = first_partition(model, features, 0)
            if answers is not None and self.answers is not None:
                first = join_cells(first, answers, self.answers.weights(self.answers.expected), model.n_start)
            self.mixture.chain.begin(first)
        self.steps = len(features) // 5 if model.n_steps is None else model.n_steps
        self.kept: list[tuple[int, dict[str, Any]]] = []

    def step(self, iteration: int) -> Mapping[str, float]:
        """An epoch."""
        model, mixture = self.model, self.mixture
        first = iteration * model.n_sweeps
        learning = iteration >= model.n_warm
        rngs = [stream(model.seed_, "gibbs", 0, first + sweep) for sweep in range(model.n_sweeps)]
        mixture.expectation(rngs, 0 if learning else model.splits)
        if learning:
            order = torch_stream(model.seed_, "training/order", iteration)
            rng = stream(model.seed_, "gibbs/clusters", iteration)
            mixture.maximisation(self.steps, model.batch_size, order, rng)
        done = iteration + 1
        if done == self.iterations or (model.keep_every and done % model.keep_every == 0):
            self.kept.append((done, {name: one.clone() for name, one in mixture.flow.state_dict().items()}))
        chain = mixture.chain
        found = {"clusters": chain.clusters, "log_likelihood": chain.log_likelihood, "alpha": chain.alpha}
        return found | {"log_likelihood/flow": mixture.log_likelihood} if learning else found

    def state(self) -> dict[str, Any]:
        """Partition, flow, moments of Adam, and what has been kept."""
        content = self.mixture.state()
        return content | {"chain": encode(content["chain"]), "kept": self.kept}

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Go on where :meth:`state` was taken."""
        try:
            self.mixture.load_state({**state, "chain": decode(state["chain"])})
            self.kept = [(int(done), dict(flow)) for done, flow in state["kept"]]
        except (KeyError, TypeError, ValueError, RuntimeError) as error:
            raise UserError("the checkpoint is not of this fit; start again without resume=true") from error

    def result(self) -> Result:
        """The last partition, and every item's most probable cluster."""
        model, family, chain = self.model, self.mixture.clusters(), self.mixture.chain
        used, found = family.number > 0, family.expected()
        model.means_, model.precisions_ = found.mean[used] + found.location, found.precision[used]
        model.sizes_ = family.number[used].astype(np.int64)
        slots = self.mixture.unions(family) if model.unions else np.arange(len(used))
        _, model.cluster_ = np.unique(slots[used], return_inverse=True)
        model.epochs_, model.flows_ = [done for done, _ in self.kept], [flow for _, flow in self.kept]
        z = family.x + family.location
        share = model._summed(model._scores(z))
        final = features = Assignment.of(share)
        workers = None
        if self.answers is not None:
            labels = model.cluster_[(np.cumsum(used) - 1)[chain.z]]
            # Given the others as the chain has left them: they are where answers and features together put them.
            evidence = self.answers.evidence(labels, chain.quality, share.shape[1])
            final = Assignment.of(np.exp(log_softmax(np.log(share + 1e-300) + evidence, axis=-1)))
            workers = WorkerPosterior(*self.answers.shapes(labels)[:, None])
        return Result(share.shape[1], final, features, workers, latent_mean=z)
