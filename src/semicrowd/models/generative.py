"""What SCDC and BayesSCDC have in common: sizes, devices, a state that loads without data."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Self

import torch
from jaxtyping import Float
from sklearn.utils import Bunch
from torch import Tensor, nn

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.crowd.batch import RelationalBatch
from semicrowd.crowd.workers import WorkerPosterior
from semicrowd.errors import UserError
from semicrowd.inference.mixture import Mixture
from semicrowd.models.training_data import TrainingData
from semicrowd.models.views import Views
from semicrowd.nets.decoder import Decoder
from semicrowd.nets.mlp import set_glorot, set_precision
from semicrowd.nets.pieces import Pieces
from semicrowd.random import torch_stream


@dataclass(frozen=True)
class Posterior:
    """q(z) and the latent means of N items under R restarts."""

    probabilities: Float[Tensor, "R N K"]
    latent_mean: Float[Tensor, "R N d"]


#: Draws of x for each item when the ELBO of all items is computed, for small data sets.
ELBO_SAMPLES = 10
#: With more items than this, each has fewer draws (at least one), in inverse proportion to the number of items.
FEW = 1_000


class StepBound(NamedTuple):
    """A step's estimate of the ELBO, and the other term that the step maximises.

    Attributes
    ----------
    elbo : float64, in nats, unbiased
    amortisation : float64, a term that trains the recognition network alone
    leaves : natural parameter → the expected statistics that message passing saw; after the backward pass the gradient
        of a leaf is the second term of eq. 17
    diagnostics : of the step, by their name in the curves
    """

    elbo: Float[Tensor, "R"]
    amortisation: Float[Tensor, "R"]
    leaves: Mapping[nn.Parameter, Tensor]
    diagnostics: Mapping[str, Float[Tensor, "R"]]


class GenerativeModel(nn.Module, ABC):
    """A generative clustering model of features and pair answers, with R restarts on a leading tensor axis.

    Parameters
    ----------
    params : values of the estimator's parameters (:mod:`semicrowd.methods.protocols`)
    num_features : D
    num_annotators : M
    restarts : R
    seed : of the stream of initial values
    image_shape : (height, width) or (colours, height, width) where an item is an image
    """

    name: ClassVar[str]
    decoder: Decoder

    def __init__(
        self,
        params: Bunch,
        num_features: int,
        num_annotators: int = 0,
        *,
        restarts: int = 1,
        seed: int = 0,
        image_shape: Sequence[int] | None = None,
    ) -> None:
        super().__init__()
        self.params = params
        self.num_features, self.num_annotators, self.num_restarts = num_features, num_annotators, restarts
        self.image_shape = None if image_shape is None else tuple(image_shape)
        self.build([torch_stream(seed, "networks", r) for r in range(restarts)])
        if params.initial_weights == "glorot":
            set_glorot(self)
        set_precision(self, params.precision)
        self.in_pieces = Pieces()  # evaluates networks in parts if a step does not fit into memory

    @property
    def num_clusters(self) -> int:
        """K."""
        return self.params.n_clusters

    @property
    def device(self) -> torch.device:
        """Where the parameters are."""
        return next(self.parameters()).device

    def description(self) -> dict[str, Any]:
        """Tensors and plain values from which :func:`semicrowd.models.state.load_model` restores this model."""
        return {
            "model": self.name,
            "params": dict(self.params),
            "num_features": self.num_features,
            "num_annotators": self.num_annotators,
            "restarts": self.num_restarts,
            "image_shape": self.image_shape,
            "state": {name: value.cpu() for name, value in self.state_dict().items()},
        }

    @classmethod
    def from_description(cls, content: Mapping[str, Any]) -> Self:
        """Restore the model from its :meth:`description`."""
        try:
            model = cls(
                Bunch(**content["params"]),
                content["num_features"],
                content["num_annotators"],
                restarts=content["restarts"],
                image_shape=content["image_shape"],
            )
            model.load_state_dict(content["state"])
        except (AttributeError, KeyError, TypeError, RuntimeError) as error:
            raise UserError(f"not a complete model of {cls.name}") from error
        return model.eval()

    def log_likelihood(self, x: Float[Tensor, "R B d"], observed: Float[Tensor, "B D"]) -> Float[Tensor, "R B"]:
        """ln p(o | x) in nats, in pieces that fit in memory."""
        (found,) = self.in_pieces(
            "decoder", lambda rows: (self.decoder.log_likelihood(x[:, rows], observed[rows]),), len(observed)
        )
        return found

    def elbo_samples(self, num_items: int) -> int:
        """Draws of each x in the ELBO of so many items."""
        return max(1, round(ELBO_SAMPLES * min(1.0, FEW / num_items)))

    @abstractmethod
    def build(self, generators: Sequence[torch.Generator]) -> None:
        """Make networks and parameters; one generator for each restart's initial values."""

    @abstractmethod
    def bound(
        self,
        features: Float[Tensor, "B D"],
        weight: Float[Tensor, "B"],
        noise: torch.Generator,
        num_items: int,
        answers: RelationalBatch | None = None,
        views: Views | None = None,
    ) -> StepBound:
        """An unbiased estimate of the ELBO from a minibatch, differentiable.

        Parameters
        ----------
        weight : factor of each item's local term in the estimate of the whole data set's sum
        noise : of views and of reparameterised draws
        num_items : N
        answers : over the first ``answers.num_nodes`` items
        """

    @abstractmethod
    def optimizers(self, num_items: int) -> list[torch.optim.Optimizer]:
        """The optimizers of a training step on N items."""

    def hold_classifier(self, held: bool) -> None:
        """Fix the network of q(z | o) during training, or release it. Only SCDC has one."""

    @abstractmethod
    def posterior(self, features: Float[Tensor, "N D"]) -> Posterior:
        """Posterior of items from their features alone; deterministic."""

    def assign(self, features: Float[Tensor, "N D"]) -> Float[Tensor, "R N K"]:
        """Cluster probabilities of new items from their features alone; deterministic."""
        return self.posterior(features).probabilities

    @abstractmethod
    def annotated_posterior(
        self, features: Float[Tensor, "N D"], annotations: PairAnnotations, views: Views | None = None
    ) -> Posterior:
        """Posterior of the annotated items given features and answers; deterministic.

        SCDC's ``latent_mean`` does not depend on the answers.

        Parameters
        ----------
        views : if given, SCDC averages q(z | o) over an item and its views
        """

    @abstractmethod
    def elbo(self, data: TrainingData) -> dict[str, Float[Tensor, "R"]]:
        """ELBO of all items in nats, every term by name; "total" is their signed sum. Views count as in training."""

    @abstractmethod
    def refit_annotators(self, data: TrainingData) -> None:
        """Set the annotators' rates, or their q, to the optimum given q(z) of the annotated items."""

    @abstractmethod
    def workers(self) -> WorkerPosterior | None:
        """Posterior of the annotators' quality, None without annotators."""

    @abstractmethod
    def cluster_weights(self) -> Float[Tensor, "R K"]:
        """Expected mixing proportions."""

    @abstractmethod
    def sample(self, num_per_cluster: int, generator: torch.Generator) -> Float[Tensor, "R K S D"]:
        """Means E[o | x] of x drawn from every cluster."""

    # ------------------------------------------------------------------------------------------------ for the start

    @abstractmethod
    def mixture_prior(self) -> Mixture:
        """p(π) and p(μ, Σ) under which partitions are weighed."""

    @abstractmethod
    def vae_parameters(self) -> list[nn.Parameter]:
        """Parameters of the model as a plain VAE."""

    @abstractmethod
    def vae_posterior(self, features: Float[Tensor, "B D"], prior_sd: float) -> Float[Tensor, "R B S"]:
        """q(x) without clusters, under the prior N(0, ``prior_sd``² I): natural parameters, S = d + d²."""

    @abstractmethod
    def set_mixture(self, posterior: Mixture) -> None:
        """Take over the posterior of a partition."""

    @abstractmethod
    def set_annotators(self, sensitivity: Float[Tensor, "R M 2"], specificity: Float[Tensor, "R M 2"]) -> None:
        """Take over natural parameters of q(α) and q(β)."""

    @abstractmethod
    def annotator_statistics(self) -> tuple[Float[Tensor, "R M 2"], Float[Tensor, "R M 2"]]:
        """E[ln α, ln(1 − α)] and E[ln β, ln(1 − β)] of the annotators."""
