"""What holds for every exponential family: domain and Kullback–Leibler divergence."""

from types import ModuleType

from jaxtyping import Bool, Float
from torch import Tensor


def in_domain(family: ModuleType, eta: Float[Tensor, "*batch F"]) -> Bool[Tensor, "*batch"]:
    """Whether η is a natural parameter of ``family`` (its log partition function is finite)."""
    return family.log_partition(eta).isfinite()


def kl_divergence(
    family: ModuleType, eta_q: Float[Tensor, "*batch F"], eta_p: Float[Tensor, "*#batch F"]
) -> Float[Tensor, "*batch"]:
    """KL(q‖p) = ⟨η_q − η_p, E_q t⟩ − log Z(η_q) + log Z(η_p) (SCDC paper, eqs. 23–25), in nats."""
    inner = ((eta_q - eta_p) * family.expected_statistics(eta_q)).sum(-1)
    return inner - family.log_partition(eta_q) + family.log_partition(eta_p)
