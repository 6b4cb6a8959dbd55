"""Terms of the surrogate bound (SCDC paper, eq. 10) and of the ELBO (eqs. 8 and 19–22), in nats."""

from typing import NamedTuple

from jaxtyping import Float
from torch import Tensor

from semicrowd.crowd.two_coin import PairEvidence
from semicrowd.inference.graph import PairGraph
from semicrowd.inference.message_passing import LocalPosterior
from semicrowd.inference.statistics import ExpectedGlobals


class LocalTerms(NamedTuple):
    """Local KL divergences of B items (eq. 21), in nats."""

    kl_z: Float[Tensor, "R B"]
    kl_x: Float[Tensor, "R B"]


def local_terms(local: LocalPosterior, expected: ExpectedGlobals) -> LocalTerms:
    """E KL(q(z_i)‖p(z_i | π)) and E KL(q(x_i)‖p(x_i | μ, Σ, z_i)) of every item (eqs. 21 and 22)."""
    probabilities = local.probabilities
    kl_z = (probabilities * (local.log_z - expected.log_pi[:, None])).sum(-1)
    message = probabilities @ expected.components
    # As ∇ log Z(η) = E t(x), the gradient of ⟨η, E t(x)⟩ − log Z(η) equals that of ⟨η, E t(x)⟩ with η held fixed.
    eta_x, mean, root = (tensor.detach() for tensor in (local.eta_x, local.mean, local.root))
    inner = ((eta_x - message[..., :-2]) * local.t_x).sum(-1)
    # Without (d/2) ln 2π, which is also missing in the expected log Z of p(x | z), the last two entries of ``message``.
    log_partition = 0.5 * (eta_x[..., : mean.shape[-1]] * mean).sum(-1)
    log_partition = log_partition + root.diagonal(dim1=-2, dim2=-1).log().sum(-1)
    kl_x = inner - log_partition - message[..., -2:].sum(-1)
    return LocalTerms(kl_z, kl_x)


def relational_term(local: LocalPosterior, graph: PairGraph, evidence: PairEvidence) -> Float[Tensor, "R P"]:
    """E ln p(L_ij | z_i, z_j) of every answer (eq. 20)."""
    agreement = graph.agreement(local.probabilities[:, : graph.num_nodes])
    return evidence.weight * agreement + evidence.offset
