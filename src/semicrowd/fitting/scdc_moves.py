"""Split and merge moves of SCDC: the last layer of q(z | o) is fitted to the proposed clusters, then the mixture."""

from functools import cached_property

import torch
from jaxtyping import Float
from torch import Tensor

from semicrowd.fitting.moves import MIN_COUNT, MovableModel
from semicrowd.inference.mixture import Cut, Items
from semicrowd.models.scdc import SCDC
from semicrowd.models.training_data import TrainingData
from semicrowd.random import torch_stream

#: Maximal number of L-BFGS iterations for the head, the last layer of the classifier q(z | o).
HEAD_STEPS = 100
#: Penalty of the squared change of the head's weights; without it they would diverge on linearly separable items.
NEAR = 1e-5
#: Bias of the head for a cluster that has become empty.
NOTHING = -10.0


class MovableSCDC(MovableModel):
    """Moves change the head of q(z | o) and the cluster-specific weights of q(x | z, o); a refit changes π, μ and Σ.

    A refit is a single, exact step: it sets π, μ and Σ to their optimum given the current q(z | o) and q(x | z, o).
    """

    def __init__(self, model: SCDC, data: TrainingData) -> None:
        self.model: SCDC = model
        self.data = data
        self._shares = self._t_x = torch.zeros(0)  # of the last refit
        self._of_clusters = torch.zeros(0)

    def tensors(self) -> list[Tensor]:
        """The parameters of the head, the encoder's cluster-specific weights and the mixture."""
        model = self.model
        head = model.classifier.head
        return [head.weight, head.bias, model.encoder.cluster, model.location, model.raw_scale, model.logits_pi]

    def bound(self) -> Float[Tensor, "R"]:
        """The ELBO of all items."""
        return self.model.elbo(self.data)["total"]

    def refitted_bound(self) -> Float[Tensor, "R"]:
        """Refit π, μ and Σ to q(z, x | o) of all items and of one view of each; returns the ELBO after the refit."""
        model, views = self.model, self.data.views
        noise = torch_stream(self.data.seed, "evaluation/views", device=model.device)
        shares, t_x, total = [], [], torch.zeros((), device=model.device)
        for piece, weight in zip(model.pieces(self.data.features), model.pieces(self.data.item_weights), strict=True):
            statistics = model.statistics(piece, weight)
            shares.append(statistics.shares)
            t_x.append(statistics.t_x)
            total = total + statistics.of_clusters
            if views is not None:
                total = total + model.statistics(views.of(piece, noise), weight).of_clusters
        self._shares, self._t_x = torch.cat(shares, 1), torch.cat(t_x, 1)
        self._of_clusters = total
        model.refit_mixture(total, MIN_COUNT)
        return self.bound()

    def counts(self, restart: int) -> Float[Tensor, "K"]:
        """Number of items whose most probable cluster is k.

        Expected counts would not show which clusters are in use: with many items they are well above 0 everywhere.
        """
        K = self._shares.shape[-1]
        return torch.bincount(self._shares[restart].argmax(-1), minlength=K).double()

    def components(self, restart: int) -> Float[Tensor, "K F"]:
        """Natural parameters of the posterior of a conjugate mixture, given q(z, x | o)."""
        return self.prior + self._of_clusters[restart]

    def items(self) -> Items:
        """The posterior q(z, x | o) of all items, and the answers."""
        statistics = torch.cat([self._t_x, self._t_x.new_ones(*self._t_x.shape[:2], 2)], -1)
        statistics = self.data.item_weights[:, None] * statistics
        means = self._t_x[..., : self.model.settings.latent_dim].float().cpu().numpy()
        i, j, weight = self.answers()
        if self.data.annotations is not None:
            i, j = (self.data.annotations.annotated[ends] for ends in (i, j))
        return Items(self._shares, statistics, means, i, j, weight)

    def unite(self, restart: int, keep: int, gone: int) -> None:
        """Merge ``gone`` into ``keep``: add their q(z | o); average their W_z, weighted by their numbers of items."""
        target, both = self._present(restart), [keep, gone]
        counts = target.sum(0)[both]
        share = (counts / counts.sum()).float()
        target[:, keep] += target[:, gone]
        target[:, gone] = 0
        head, of_clusters = self.model.classifier.head, self.model.encoder.cluster
        head.weight[restart, :, keep] = head.weight[restart][:, both] @ share
        head.bias[restart, keep] = head.bias[restart, both] @ share
        head.weight[restart, :, gone], head.bias[restart, gone] = 0.0, NOTHING
        of_clusters[restart, keep] = share @ of_clusters[restart, both]
        self._teach_head(restart, target)

    def divide(self, restart: int, cut: Cut, free: int) -> None:
        """Move the items of the cut to cluster ``free``, with their q(z | o) and a copy of the old cluster's W_z."""
        target = self._present(restart)
        rows = torch.from_numpy(cut.rows).to(target.device)
        target[:, free] = 0
        target[rows, free] = target[rows, cut.cluster]
        target[rows, cut.cluster] = 0
        head, of_clusters = self.model.classifier.head, self.model.encoder.cluster
        head.weight[restart, :, free] = head.weight[restart, :, cut.cluster]
        head.bias[restart, free] = head.bias[restart, cut.cluster]
        of_clusters[restart, free] = of_clusters[restart, cut.cluster]
        self._teach_head(restart, target)

    @cached_property
    def _units(self) -> Float[Tensor, "R N w"]:
        """Inputs of the head; no move changes them."""
        units = self.model.classifier.net.units
        return torch.cat([units(piece) for piece in self.model.pieces(self.data.features)], 1).double()

    def _present(self, restart: int) -> Float[Tensor, "N K"]:
        """q(z | o) of the current head, which may differ from that of the last refit if a move was rejected."""
        head = self.model.classifier.head
        weight, bias = head.weight[restart].double(), head.bias[restart].double()
        return torch.addmm(bias, self._units[restart], weight).softmax(-1)

    def _teach_head(self, restart: int, target: Float[Tensor, "N K"]) -> None:
        """Fit the head to ``target`` by logistic regression; a penalty keeps it close to its current weights."""
        head, units = self.model.classifier.head, self._units[restart]
        first = [value[restart].detach().double() for value in (head.weight, head.bias)]
        weight, bias = (value.clone().requires_grad_() for value in first)
        optimizer = torch.optim.LBFGS([weight, bias], max_iter=HEAD_STEPS, line_search_fn="strong_wolfe")

        def loss() -> Tensor:
            optimizer.zero_grad()
            value = -(target * torch.addmm(bias, units, weight).log_softmax(-1)).sum(-1).mean()
            value = value + NEAR * ((weight - first[0]).square().sum() + (bias - first[1]).square().sum())
            value.backward()
            return value

        optimizer.step(loss)
        head.weight[restart], head.bias[restart] = weight.detach().float(), bias.detach().float()
