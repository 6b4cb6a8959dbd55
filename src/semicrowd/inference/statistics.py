"""Expected statistics whose gradient is the natural gradient (SCDC paper, eq. 17; docs/EQUATIONS.md).

With s = E_q[t(θ)] = ∇ log Z(η), the Fisher matrix of q is ds/dη. Hence the natural gradient with respect to η of any
function of s is its ordinary gradient with respect to s. The backward pass returns this gradient unchanged, so that it
is in ``eta.grad`` after ``backward()``.
"""

from types import ModuleType
from typing import Any, NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor


class _NaturalStatistics(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, eta: Tensor, family: ModuleType) -> Tensor:  # noqa: ARG004
        return family.expected_statistics(eta)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:  # noqa: ARG004
        return gradient, None


def natural_statistics(family: ModuleType, eta: Float[Tensor, "*batch F"]) -> Float[Tensor, "*batch F"]:
    """E_q[t(θ)] at η; differentiating through it gives the natural gradient with respect to η (eq. 17, first term)."""
    return _NaturalStatistics.apply(eta, family)


def natural_kl(
    family: ModuleType, eta_q: Float[Tensor, "*batch F"], eta_p: Float[Tensor, "*#batch F"], statistics: Tensor
) -> Float[Tensor, "*batch"]:
    """KL(q‖p) (eqs. 23–25) as a function of the natural statistics of q, so that its natural gradient is η_q − η_p."""
    eta = eta_q.detach()
    inner = ((eta - eta_p) * statistics).sum(-1)
    return inner - family.log_partition(eta) + family.log_partition(eta_p)


class ExpectedGlobals(NamedTuple):
    """E_q(Θ)[t(Θ)] (App. A.2). Local inference depends on the global posterior through these statistics only.

    Attributes
    ----------
    log_pi : E ln π_k
    components : E t(μ_k, Σ_k), F = d + d² + 2
    sensitivity : E [ln α_m, ln(1 − α_m)]
    specificity : E [ln β_m, ln(1 − β_m)]
    """

    log_pi: Float[Tensor, "R K"]
    components: Float[Tensor, "R K F"]
    sensitivity: Float[Tensor, "R M 2"]
    specificity: Float[Tensor, "R M 2"]

    def cast(self, dtype: torch.dtype) -> "ExpectedGlobals":
        """The same statistics in another precision; the global posterior is kept in float64."""
        return ExpectedGlobals(*(tensor.to(dtype) for tensor in self))

    def detach(self) -> "ExpectedGlobals":
        """The same statistics without gradients."""
        return ExpectedGlobals(*(tensor.detach() for tensor in self))
