"""Priors and variational posteriors of the global variables of BayesSCDC (SCDC paper, eqs. 5 and 6, App. B)."""

from collections.abc import Iterable
from types import ModuleType
from typing import Any

import numpy as np
import torch
from scipy.optimize import minimize
from scipy.special import betaln
from torch import Tensor, nn

from semicrowd.errors import UserError
from semicrowd.expfam import beta, dirichlet, normal_inverse_wishart
from semicrowd.inference.statistics import ExpectedGlobals, natural_kl, natural_statistics

#: The four global variables in the order of :class:`ExpectedGlobals`, with their families.
FAMILIES: dict[str, ModuleType] = {
    "pi": dirichlet,
    "components": normal_inverse_wishart,
    "sensitivity": beta,
    "specificity": beta,
}

#: Standard deviation of ln a and ln b of the annotators' Beta(a, b) priors around their usual values.
HYPERPRIOR_SD = 2.0


def prior_concentration(kind: str, K: int) -> float:
    """Concentration of the symmetric Dirichlet prior, from the three readings of "α₀ = 0.05/K".

    ``corrected``: 0.05/K is the natural parameter, as in SVAE, whose settings the paper follows (1 + 0.05/K);
    ``released``: 1.05, of the authors' MNIST code; ``paper``: 0.05/K itself, as printed, which is a sparse prior.
    """
    choices = {"corrected": 1 + 0.05 / K, "released": 1.05, "paper": 0.05 / K}
    if kind not in choices:
        raise UserError(f"model.prior.concentration={kind}: expected one of {', '.join(choices)}")
    return choices[kind]


def mixture_prior(settings: Any) -> dict[str, Tensor]:
    """Natural parameters of p(π), [1, K], and p(μ, Σ), [1, 1, F], in float64."""
    concentration = prior_concentration(settings.prior.concentration, settings.K)
    location = torch.zeros(1, 1, settings.latent_dim, dtype=torch.float64)
    return {
        "pi": dirichlet.to_natural(torch.full((1, settings.K), concentration, dtype=torch.float64)),
        "components": _components(location, settings.prior),
    }


class GlobalPosterior(nn.Module):
    """q(π), q(μ, Σ), q(α), q(β) as natural parameters with a leading restart axis, in float64, beside their priors.

    Parameters
    ----------
    settings : the ``model`` configuration (``K``, ``latent_dim``, ``prior``, ``initial``)
    num_annotators : M, 0 without annotations
    generators : one for each restart's random initial values
    """

    def __init__(self, settings: Any, num_annotators: int, generators: Iterable[torch.Generator]) -> None:
        super().__init__()
        prior, initial = settings.prior, settings.initial
        K, d, M = settings.K, settings.latent_dim, num_annotators
        if prior.annotators not in ("empirical", "fixed"):
            raise UserError(f"model.prior.annotators={prior.annotators}: expected empirical or fixed")
        for name, eta in mixture_prior(settings).items():
            self.register_buffer(f"prior_{name}", eta, persistent=False)
        self.usual_shapes: dict[str, list[float]] = {name: prior[name] for name in ("sensitivity", "specificity")}
        pi, components = [], []
        for generator in generators:
            uniform = torch.rand(K, generator=generator, dtype=torch.float64)
            low, high = initial.concentration
            pi.append(dirichlet.to_natural(low + (high - low) * uniform))
            location = initial.location_sd * torch.randn(K, d, generator=generator, dtype=torch.float64)
            components.append(_components(location, initial))
        R = len(pi)
        self.eta = nn.ParameterDict({"pi": torch.stack(pi), "components": torch.stack(components)})
        for name in ("sensitivity", "specificity"):
            shape = torch.tensor(initial[name], dtype=torch.float64).expand(R, M, 2)
            self.eta[name] = nn.Parameter(beta.to_natural(shape).clone())
            # Persistent: model.prior.annotators=empirical fits it.
            shape = torch.tensor(prior[name], dtype=torch.float64).expand(R, 1, 2)
            self.register_buffer(f"prior_{name}", beta.to_natural(shape).clone())

    def prior(self, name: str) -> Tensor:
        """Natural parameter of the prior, broadcast over restarts."""
        return self.get_buffer(f"prior_{name}")

    @torch.no_grad()
    def unite(self, restart: int, keep: int, gone: int) -> None:
        """Give the items of ``gone`` to ``keep``, which gets the exact posterior of the union, ``gone`` the prior."""
        for name in ("pi", "components"):
            eta, prior = self.eta[name], self.prior(name)
            prior = prior[0, gone] if name == "pi" else prior[0, 0]
            eta[restart, keep] += eta[restart, gone] - prior
            eta[restart, gone] = prior

    def fit_annotator_priors(self) -> None:
        """Empirical Bayes: set the priors that all annotators share from the expected counts that q(α), q(β) hold."""
        for name in ("sensitivity", "specificity"):
            eta, prior = self.eta[name].detach(), self.prior(name)
            usual = np.array(self.usual_shapes[name], dtype=float)
            shapes = [_common_beta(counts, usual) for counts in (eta - prior).cpu().numpy()]
            fitted = beta.to_natural(torch.tensor(np.array(shapes), dtype=eta.dtype, device=eta.device))[:, None]
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


def _components(location: Tensor, values: Any) -> Tensor:
    """Natural parameter of NIW(m, κ, (d + c) I, d + c), c = ``values.degrees`` (App. B: S = (d + κ) I, ν = d + κ)."""
    batch, d = location.shape[:-1], location.shape[-1]
    degrees = torch.full(batch, d + values.degrees, dtype=location.dtype)
    scale = degrees[..., None, None] * torch.eye(d, dtype=location.dtype)
    kappa = torch.full(batch, values.kappa, dtype=location.dtype)
    return normal_inverse_wishart.to_natural(location, kappa, scale, degrees)


def _common_beta(counts: np.ndarray, usual: np.ndarray) -> np.ndarray:
    """Shapes (a, b) of the Beta that M annotators' right and wrong answers, ``counts`` [M, 2], share.

    The mode of the Beta-binomial likelihood in (ln a, ln b) under a wide hyperprior, each N(ln ``usual``, 2²): a crowd
    decides, one or two annotators hardly move it, and where nobody errs the mode stays finite.
    """
    counts = counts.clip(min=0)  # a difference of float64: zero may come as −1e-16
    centre = np.log(usual)

    def loss(log_shape: np.ndarray) -> float:
        a, b = np.exp(log_shape)
        likelihood = (betaln(a + counts[:, 0], b + counts[:, 1]) - betaln(a, b)).sum()
        return float(0.5 * np.square((log_shape - centre) / HYPERPRIOR_SD).sum() - likelihood)

    within = (np.log(1e-3), np.log(1e3))  # the line search may leap: betaln of more is rounding
    return np.exp(minimize(loss, centre, bounds=[within, within]).x)
