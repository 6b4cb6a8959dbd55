"""Moves of BayesSCDC's clusters. Merged and split clusters get their exact posteriors (SCDC paper, App. A)."""

import torch
from jaxtyping import Float
from torch import Tensor

from semicrowd.fitting.moves import MovableModel
from semicrowd.inference.mixture import Cut, Items
from semicrowd.models.bayes import REFIT_SWEEPS, BayesSCDC
from semicrowd.models.training_data import TrainingData

#: Number of coordinate updates of q(Θ) before the ELBOs are compared.
REFITS = 3
#: Maximal number of unannotated items that these updates and ELBOs use.
MOST_ITEMS = 5000


class MovableBayes(MovableModel):
    """Moves change q(Θ); a refit is coordinate ascent in q(Θ)."""

    def __init__(self, model: BayesSCDC, data: TrainingData) -> None:
        self.model: BayesSCDC = model
        self.data = data
        self._found: list[Tensor] = []  # ln q(z) of every part of the data, from the last refit

    def tensors(self) -> list[Tensor]:
        """Natural parameters of q(Θ)."""
        return list(self.model.globals.eta.values())

    def bound(self) -> Float[Tensor, "R"]:
        """The ELBO, of at most :data:`MOST_ITEMS` unannotated items."""
        return self.model.elbo(self.data, MOST_ITEMS)["total"]

    def refitted_bound(self) -> Float[Tensor, "R"]:
        """The ELBO after :data:`REFITS` updates of q(Θ), with the q(z) of the last update."""
        self._found = refit(self.model, self.data, REFITS, MOST_ITEMS)
        return self.model.elbo(self.data, MOST_ITEMS, self._found)["total"]

    def counts(self, restart: int) -> Float[Tensor, "K"]:
        """Expected number of items of each cluster, by q(π)."""
        return self.model.globals.eta["pi"].detach()[restart] - self.model.globals.prior("pi")[0]

    def components(self, restart: int) -> Float[Tensor, "K F"]:
        """Natural parameters of q(μ, Σ)."""
        return self.model.globals.eta["components"].detach()[restart]

    def items(self) -> Items:
        """The posterior of the items that refits use, without views, and the answers about them."""
        model, data = self.model, self.data
        shares, statistics, means = [], [], []
        for part, start in zip(data.parts(model.num_restarts, MOST_ITEMS), self._found, strict=True):
            local, _ = model.infer(part, REFIT_SWEEPS, start)
            n = len(part.features)  # the posteriors of views follow
            t_x = local.t_x[:, :n].double()
            shares.append(local.probabilities[:, :n].double())
            statistics.append(part.weight[:, None] * torch.cat([t_x, t_x.new_ones(*t_x.shape[:2], 2)], -1))
            means.append(local.mean[:, :n])
        # The annotated items are the first ones here, so that answers are about their positions among these.
        positions = torch.cat(means, 1).cpu().numpy()
        return Items(torch.cat(shares, 1), torch.cat(statistics, 1), positions, *self.answers())

    @torch.no_grad()
    def unite(self, restart: int, keep: int, gone: int) -> None:
        """Set ``keep`` to the exact posterior of the union, and ``gone`` to the prior."""
        posterior = self.model.globals
        for name in ("pi", "components"):
            eta, prior = posterior.eta[name], posterior.prior(name)[0, 0]
            eta[restart, keep] += eta[restart, gone] - prior
            eta[restart, gone] = prior

    @torch.no_grad()
    def divide(self, restart: int, cut: Cut, free: int) -> None:
        """Set both halves to their exact posteriors."""
        posterior = self.model.globals
        for k, statistics in ((cut.cluster, cut.kept), (free, cut.gone)):
            for name, counts in (("pi", statistics[-1]), ("components", statistics)):
                posterior.eta[name][restart, k] = posterior.prior(name)[0, 0] + counts


@torch.no_grad()
def refit(model: BayesSCDC, data: TrainingData, iterations: int, max_items: int | None = None) -> list[Tensor]:
    """Coordinate ascent of q(Θ) on the whole training set (eqs. 26–29 at ρ = 1) with the networks fixed.

    ``max_items``: see :meth:`TrainingData.parts`. Each iteration starts from the q(z) of the previous one. Returns ln
    q(z) of every part of the data that was used.
    """
    log_z: list[Tensor] = []
    for _ in range(iterations):
        targets = {name: model.globals.prior(name).expand_as(eta).clone() for name, eta in model.globals.eta.items()}
        starts, log_z = log_z, []
        for number, part in enumerate(data.parts(model.num_restarts, max_items)):
            local, graph = model.infer(part, REFIT_SWEEPS, starts[number] if starts else None)
            log_z.append(local.log_z)
            q = part.weight_with_views[:, None] * local.probabilities.double()
            t = torch.cat([local.t_x.double(), q.new_ones(*q.shape[:2], 2)], -1)
            targets["pi"] += q.sum(1)
            targets["components"] += q.mT @ t
            if part.answers is not None:
                targets |= model.annotator_targets(part, local, graph)
        # A restart that has diverged stays as it is, lest the others end with it.
        finite = torch.stack([target.isfinite().flatten(1).all(1) for target in targets.values()]).all(0)
        for name, target in targets.items():
            eta = model.globals.eta[name]
            eta[finite] = target[finite]
    return log_z
