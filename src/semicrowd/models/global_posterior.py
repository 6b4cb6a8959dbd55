"""Priors and variational posteriors of the global variables of BayesSCDC (SCDC paper, eqs. 5 and 6, App. B)."""

from collections.abc import Sequence
from types import ModuleType
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from semicrowd.crowd.two_coin import FLAT_PRIOR, QUALITY_PRIOR
from semicrowd.expfam import dirichlet, normal_inverse_wishart
from semicrowd.expfam.shared_prior import common_beta
from semicrowd.inference.mixture import Mixture, niw_natural
from semicrowd.inference.statistics import ExpectedGlobals, natural_kl, natural_statistics

#: The global variables in the order of :class:`ExpectedGlobals`, with their families.
FAMILIES: dict[str, ModuleType] = {
    "pi": dirichlet,
    "components": normal_inverse_wishart,
    "sensitivity": dirichlet,
    "specificity": dirichlet,
}
#: The annotators' variables, by their names in q(Θ).
ANNOTATORS = ("sensitivity", "specificity")

# The variational posterior at first (App. B), beside QUALITY_PRIOR for both qualities of every annotator.
#: Concentrations of q(π), drawn uniformly between these two.
INITIAL_CONCENTRATION = (1.0, 2.0)
#: κ, items that each component's location counts for.
INITIAL_KAPPA = 1.0
#: c of each component's d + c degrees of freedom, whose scale is (d + c) I.
INITIAL_DEGREES = 1.0
#: Standard deviation of the components' locations in the latent space (docs/DEVIATIONS.md, row 13).
INITIAL_LOCATION_SD = 3.0


class GlobalPosterior(nn.Module):
    """q(π), q(μ, Σ), q(α), q(β) as natural parameters with a leading restart axis, in float64, beside their priors.

    Parameters
    ----------
    prior : of π, [1, K], and of (μ, Σ), [1, 1, F]
    num_annotators : M, 0 without annotations
    generators : one for each restart's random initial values
    """

    def __init__(self, prior: Mixture, num_annotators: int, generators: Sequence[torch.Generator]) -> None:
        super().__init__()
        R, M, K = len(generators), num_annotators, prior.pi.shape[-1]
        d = normal_inverse_wishart.to_standard(prior.components)[0].shape[-1]
        for name, eta in prior._asdict().items():
            self.register_buffer(f"prior_{name}", eta, persistent=False)
        pi, components = [], []
        for generator in generators:
            low, high = INITIAL_CONCENTRATION
            uniform = torch.rand(K, generator=generator, dtype=torch.float64)
            pi.append(dirichlet.to_natural(low + (high - low) * uniform))
            location = INITIAL_LOCATION_SD * torch.randn(K, d, generator=generator, dtype=torch.float64)
            components.append(niw_natural(location, INITIAL_KAPPA, INITIAL_DEGREES))
        self.eta = nn.ParameterDict({"pi": torch.stack(pi), "components": torch.stack(components)})
        initial, usual = (torch.tensor(shape, dtype=torch.float64) for shape in (QUALITY_PRIOR, FLAT_PRIOR))
        for name in ANNOTATORS:
            self.eta[name] = nn.Parameter(dirichlet.to_natural(initial.expand(R, M, 2)).clone())
            # Persistent: model.annotators=empirical fits it.
            self.register_buffer(f"prior_{name}", dirichlet.to_natural(usual.expand(R, 1, 2)).clone())

    def prior(self, name: str) -> Tensor:
        """Natural parameter of the prior, broadcast over restarts."""
        return self.get_buffer(f"prior_{name}")

    def fit_annotator_priors(self) -> None:
        """Empirical Bayes: set the priors that all annotators share from the expected counts that q(α), q(β) hold."""
        for name in ANNOTATORS:
            eta, prior = self.eta[name].detach(), self.prior(name)
            shapes = [common_beta(counts, FLAT_PRIOR) for counts in (eta - prior).cpu().numpy()]
            fitted = dirichlet.to_natural(torch.tensor(np.array(shapes), dtype=eta.dtype, device=eta.device))[:, None]
            self.eta[name].data.add_(fitted - prior)
            prior.copy_(fitted)

    def parameter_groups(self) -> list[dict[str, Any]]:
        """Groups for :class:`semicrowd.inference.natural_gradient.NaturalGradient`."""
        return [{"params": [self.eta[name]], "family": family} for name, family in FAMILIES.items()]

    def expected(self) -> ExpectedGlobals:
        """E t(Θ), whose gradients are natural gradients."""
        return ExpectedGlobals(*(natural_statistics(family, self.eta[name]) for name, family in FAMILIES.items()))

    def kl_terms(self, expected: ExpectedGlobals) -> dict[str, Tensor]:
        """KL of each global variable, [R] (eqs. 23–25), by name."""
        terms = {}
        for (name, family), statistics in zip(FAMILIES.items(), expected, strict=True):
            kl = natural_kl(family, self.eta[name], self.prior(name), statistics)
            terms[f"kl_{name}"] = kl.flatten(1).sum(1) if kl.dim() > 1 else kl
        return terms
