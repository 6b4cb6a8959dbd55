"""SCDC: amortised q(z | o) q(x | z, o), summed over z, every parameter by gradient steps (SCDC paper, section 2.3)."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import logsigmoid, nll_loss, softplus

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.crowd.samplers import RelationalBatch, whole_graph
from semicrowd.crowd.two_coin import PairEvidence
from semicrowd.errors import UserError
from semicrowd.expfam import beta, normal_inverse_wishart
from semicrowd.inference.graph import PairGraph, answer_graph
from semicrowd.inference.message_passing import infer_z
from semicrowd.starts.answers import AnswerStart
from semicrowd.fitting.module import CHUNK, ClusteringModule
from semicrowd.fitting.batches import Batch
from semicrowd.starts.partition import partition_posterior
from semicrowd.crowd.workers import WorkerPosterior
from semicrowd.models.posterior import Posterior
from semicrowd.models.scdc_terms import EvaluatedPairs, evaluated_pairs, kl_to_components
from semicrowd.nets import Classifier, ClusterEncoder, build_decoder
from semicrowd.random import stream, torch_stream

#: Least and largest α and β after a refit: their logits stay finite.
QUALITY = (1e-3, 1 - 1e-3)


class ItemTerms(NamedTuple):
    """Terms of L_local for B items, [R, B] each; ln q(z | o), [R, B, K]; mass of it without an x of its own, [R, B]."""

    reconstruction: Tensor
    kl_z: Tensor
    kl_x: Tensor
    log_z: Tensor
    dropped: Tensor


class SCDC(ClusteringModule):
    """The model of section 2; see :class:`ClusteringModule` for the arguments."""

    def __init__(
        self,
        settings: Any,
        features: Tensor,
        annotations: PairAnnotations | None,
        seed: int,
        restarts: int,
        batch_size: int,
        image_shape: tuple[int, ...] | None = None,
    ) -> None:
        super().__init__(settings, features, annotations, seed, restarts, batch_size, image_shape)
        _check_restriction(settings.drop_mass, settings.max_clusters)
        generators = self.init_generators
        K, d, hidden, skip = settings.K, settings.latent_dim, settings.hidden, settings.linear_skip
        D = features.shape[1]
        self.classifier = Classifier(D, hidden, K, generators)
        self.encoder = ClusterEncoder(D, hidden, d, K, generators, skip, settings.initial_variance)
        self.decoder = build_decoder(
            settings.likelihood, d, hidden[::-1], D, generators, skip, settings.initial_variance
        )
        locations = [settings.location_sd * torch.randn(K, d, generator=g) for g in generators]
        self.logits_pi = nn.Parameter(torch.zeros(restarts, K))
        self.location = nn.Parameter(torch.stack(locations))
        # Σ_k = L Lᵀ, L with softplus on the diagonal: unconstrained and always positive definite.
        self.raw_scale = nn.Parameter(_inverse_softplus(torch.ones(d)).diag().expand(restarts, K, d, d).clone())
        num_annotators = 0 if annotations is None else annotations.num_annotators
        quality = torch.stack([_initial_quality(settings.initial_quality, num_annotators, g) for g in generators])
        self.logits_quality = nn.Parameter(quality.logit())  # [R, 2, M]: sensitivity, specificity
        self._epoch_dropped = torch.zeros(restarts)

    # ---------------------------------------------------------------- training

    def configure_optimizers(self) -> torch.optim.Optimizer:
        """Adam on everything."""
        return torch.optim.Adam(self.parameters(), lr=self.settings.learning_rate, fused=True)

    def training_step(self, batch: Batch, batch_idx: int) -> None:  # noqa: ARG002
        """One step on the unbiased estimate of L_local + L_rel."""
        optimizer: Any = self.optimizers()
        optimizer.zero_grad()
        features, weight, noise = self.features[batch.items], batch.weight, self.noise(batch.step)
        if self.views is not None:
            features, weight = torch.cat([features, self.views.of(features, noise)]), weight.repeat(2)
        terms = self.item_terms(features, noise)
        bound = ((terms.reconstruction - terms.kl_z - terms.kl_x) * weight).double().sum(1)
        if self.views is not None:
            own, of_view = terms.log_z.exp().chunk(2, 1)
            links = (own * of_view).sum(-1) * batch.weight
            bound = bound + self.views.settings.weight * links.double().sum(1)
        if batch.relational is not None:
            graph, evidence = self._graph(batch.relational)
            agreement = graph.agreement(terms.log_z[:, : graph.num_nodes].exp())
            relational = (evidence.weight * agreement + evidence.offset).double().sum(1)
            bound = bound + batch.relational.pair_weight * relational
        self.manual_backward(-(bound / self.num_items).sum())
        self.record_bound(bound)
        dropped = (terms.dropped * weight).sum(1) / weight.sum()
        self._epoch_dropped = self._epoch_dropped.to(dropped.device) + dropped
        optimizer.step()

    def on_train_epoch_end(self) -> None:
        """At the end the annotators, refitted; the mass that the restricted sum over z leaves out; the common log."""
        if self.current_epoch + 1 == self.trainer.max_epochs and self.annotations is not None:
            for _ in range(self.settings.final_refits):
                self._refit_annotators(self.annotations)
        best = int(self._epoch_bound.argmax())
        self.log("clusters/dropped_mass", self._epoch_dropped[best] / max(self._epoch_steps, 1), sync_dist=True)
        self._epoch_dropped = torch.zeros_like(self._epoch_dropped)
        super().on_train_epoch_end()

    @torch.no_grad()
    def _refit_annotators(self, annotations: PairAnnotations) -> None:
        """α and β at the maximum of L_rel, a ratio of expected counts, under q(z | o) updated by the answers."""
        batch = whole_graph(annotations).to(self.device)
        graph, _ = self._graph(batch)
        log_z = infer_z(self.classifier(self.features[batch.items]), graph)
        same, yes = graph.agreement(log_z.exp()).double(), batch.label.double()
        for side, (chance, right) in enumerate(((same, yes), (1 - same, 1 - yes))):
            counts = chance.new_zeros(2, self.num_restarts, annotations.num_annotators)
            counts[0].index_add_(1, batch.worker, chance * right)
            counts[1].index_add_(1, batch.worker, chance)
            quality = torch.where(counts[1] > 0, counts[0] / counts[1], self.logits_quality[:, side].sigmoid())
            self.logits_quality[:, side] = quality.clamp(*QUALITY).logit().float()

    def item_terms(self, features: Tensor, generator: torch.Generator) -> ItemTerms:
        """L_local of items [B, D] with the sum over z inside; x by one reparameterised draw for each cluster.

        Networks are evaluated at the fewest clusters of each item that hold all but ``model.drop_mass`` = δ of its
        q(z | o), at ``model.max_clusters`` of them at most. For every other cluster k, q(x | z = k, o) is that of the
        item's likeliest cluster: its reconstruction is there already, and its KL divergence to p(x | z = k) is a closed
        form. That is one member of the family q(z | o) q(x | z, o), with the same full q(z | o) in all terms and in the
        answers': the value stays a lower bound, and clusters that are left out keep a gradient. From the sum over all
        K it differs by at most δ (more under ``max_clusters``: see ``clusters/dropped_mass``) times the largest
        difference that its own x makes to a cluster's term. δ = 0 without ``max_clusters`` is that sum.
        """
        log_q = self.classifier(features)
        pairs = self._kept_clusters(log_q)
        mean, variance = self.encoder(features, pairs.item, pairs.cluster)
        x = mean + variance.sqrt() * torch.randn(mean.shape, generator=generator, device=mean.device)
        log_likelihood = self.decoder.log_likelihood(x, features.index_select(0, pairs.item))
        kl_x = (pairs.share * kl_to_components(mean, variance, self.location, self._scale())).sum(-1)
        kl_z = (log_q.exp() * (log_q - self.logits_pi.log_softmax(-1)[:, None])).sum(-1)
        reconstruction = pairs.sum(pairs.share.sum(-1) * log_likelihood)
        return ItemTerms(reconstruction, kl_z, pairs.sum(kl_x), log_q, pairs.dropped)

    def _kept_clusters(self, log_q: Tensor) -> EvaluatedPairs:
        """The pairs of items and clusters at which the networks are evaluated, from ln q(z | o), [R, B, K]."""
        return evaluated_pairs(log_q, self.settings.drop_mass, self.settings.max_clusters)

    def _scale(self) -> Tensor:
        """Cholesky factors of Σ_k, [R, K, d, d]."""
        diagonal = softplus(self.raw_scale.diagonal(dim1=-2, dim2=-1)) + 1e-3
        return self.raw_scale.tril(-1) + diagonal.diag_embed()

    @torch.no_grad()
    def reverse_annotators(self, restart: int, reverse: np.ndarray) -> None:
        """α ← 1 − α and β ← 1 − β."""
        self.logits_quality[restart, :, torch.from_numpy(reverse)] *= -1

    def worker_log_probabilities(self) -> tuple[Tensor, Tensor]:
        """Of the point estimates of α and β."""
        log = torch.stack([logsigmoid(self.logits_quality), logsigmoid(-self.logits_quality)], -1)
        return log[:, 0], log[:, 1]

    def _graph(self, batch: RelationalBatch) -> tuple[PairGraph, PairEvidence]:
        return answer_graph(batch, *self.worker_log_probabilities())

    # -------------------------------------------------------------- warm start

    def parameters_of_vae(self) -> list[nn.Parameter]:
        """The encoder without its clusters, and the decoder."""
        return [*self.encoder.parameters(), *self.decoder.parameters()]

    def vae_posterior(self, features: Tensor) -> Tensor:
        """q(x | o) with the cluster left out of the encoder's input."""
        mean, variance = self.encoder(features)
        precision = variance.reciprocal()
        return torch.cat([mean * precision, (-0.5 * precision).diag_embed().flatten(-2)], -1)

    def start_from_partition(self, t_x: Tensor, clusters: Tensor, progress: Callable[[str], None]) -> None:
        """π, μ, Σ at the posterior means of the partition; q(z | o) fitted to it by cross entropy."""
        self._set_mixture(t_x, clusters)
        self._fit_classifier(
            lambda log_q, items: nll_loss(log_q.flatten(0, 1), clusters[:, items].flatten().long().to(self.device)),
            progress,
        )

    def start_from_answers(self, t_x: Tensor, start: AnswerStart, progress: Callable[[str], None]) -> None:
        """The same of the clusters found with the answers; α and β at their posterior means."""
        self._set_mixture(t_x, start.probabilities.argmax(-1))
        with torch.no_grad():
            for side, eta in enumerate(start.annotators):
                shape = beta.to_standard(eta)
                self.logits_quality[:, side] = (shape[..., 0] / shape.sum(-1)).logit().float()
        target = start.probabilities.to(self.device)
        self._fit_classifier(lambda log_q, items: -(target[:, items] * log_q).sum(-1).mean(), progress)

    def _fit_classifier(self, loss: Callable[[Tensor, Tensor], Tensor], progress: Callable[[str], None]) -> None:
        """Epochs of Adam on q(z | o); ``loss`` of ln q(z | o), [R, B, K], and of the items, [B]."""
        settings = self.settings.warm
        optimizer = torch.optim.Adam(self.classifier.parameters(), lr=settings.learning_rate, fused=True)
        for epoch in range(settings.classifier_epochs):
            order = torch.from_numpy(stream(self.seed, "order", 0, 1, epoch).permutation(self.num_items))
            for items in order.split(self.batch_size):
                log_q = self.classifier(self.features[items].to(self.device))
                optimizer.zero_grad()
                loss(log_q, items).backward()
                optimizer.step()
            progress(f"warm start: classifier {epoch + 1}/{settings.classifier_epochs}")

    @torch.no_grad()
    def _set_mixture(self, t_x: Tensor, clusters: Tensor) -> None:
        eta = partition_posterior(self, t_x, clusters)
        location, _, scale, nu = normal_inverse_wishart.to_standard(eta["components"])
        factor = torch.linalg.cholesky(scale / nu[..., None, None]).float()
        diagonal = _inverse_softplus((factor.diagonal(dim1=-2, dim2=-1) - 1e-3).clamp(min=1e-3))
        self.location.copy_(location)
        self.encoder.cluster.zero_()  # of the clusters before; t_x is that of the encoder without them
        self.raw_scale.copy_(factor.tril(-1) + diagonal.diag_embed())
        counts = eta["pi"] + 1
        self.logits_pi.copy_((counts / counts.sum(-1, keepdim=True)).clamp(min=1e-6).log())

    # -------------------------------------------------------------- evaluation

    def _pieces(self, features: Tensor) -> list[Tensor]:
        """Features in pieces small enough for all restarts and clusters at once."""
        size = max(CHUNK // (self.num_restarts * self.num_clusters), 16)
        return [piece.to(self.device) for piece in features.split(size)]

    @torch.no_grad()
    def posterior(self, features: Tensor) -> Posterior:
        """q(z | o), and the mean of x under q."""
        probabilities, latent = [], []
        for piece in self._pieces(features):
            log_q = self.classifier(piece)
            pairs = self._kept_clusters(log_q)
            mean, _ = self.encoder(piece, pairs.item, pairs.cluster)
            probabilities.append(log_q.exp())
            latent.append(pairs.sum(pairs.share.sum(-1, keepdim=True) * mean))
        return Posterior(torch.cat(probabilities, 1).cpu().float(), torch.cat(latent, 1).cpu().float())

    @torch.no_grad()
    def annotated_posterior(self, features: Tensor, annotations: PairAnnotations) -> Posterior:
        """q(z | o) updated by the answers: message passing (eq. 14) with ln q(z | o) as the unary potential."""
        batch = whole_graph(annotations).to(self.device)
        items = features[batch.items.cpu()]
        alone = self.posterior(items)
        graph, _ = self._graph(batch)
        log_z = infer_z(self.classifier(items.to(self.device)), graph)
        return Posterior(log_z.exp().cpu().float(), alone.latent_mean)

    @torch.no_grad()
    def elbo(self) -> dict[str, Tensor]:
        """Every term of L_local + L_rel on the whole training set, with ``settings.elbo_samples`` draws of each x."""
        generator = torch_stream(self.seed, "evaluation", device=self.device)
        names = ("reconstruction", "kl_z", "kl_x")
        totals = {name: torch.zeros(self.num_restarts, dtype=torch.float64) for name in (*names, "relational")}
        samples = self.settings.elbo_samples
        for piece in self._pieces(self.features):
            for _ in range(samples):
                terms = self.item_terms(piece, generator)
                for name in names:
                    totals[name] += getattr(terms, name).double().sum(1).cpu() / samples
        if self.annotations is not None:
            batch = whole_graph(self.annotations).to(self.device)
            graph, evidence = self._graph(batch)
            q = self.classifier(self.features[batch.items.cpu()].to(self.device)).exp()
            totals["relational"] += (evidence.weight * graph.agreement(q) + evidence.offset).double().sum(1).cpu()
        total = totals["reconstruction"] + totals["relational"] - totals["kl_z"] - totals["kl_x"]
        return {**totals, "total": total}

    def workers(self) -> WorkerPosterior | None:
        """Point estimates of the annotators, as means of exact Beta shapes."""
        if self.annotations is None:
            return None
        quality = self.logits_quality.detach().sigmoid().cpu().double().numpy()
        shapes = np.stack([quality, 1 - quality], -1)
        return WorkerPosterior(shapes[:, 0], shapes[:, 1], exact=True)

    def cluster_weights(self) -> Tensor:
        """π."""
        return self.logits_pi.detach().softmax(-1).cpu()

    @torch.no_grad()
    def sample(self, num_per_cluster: int, generator: torch.Generator) -> Tensor:
        """Means of p(o | x) at x drawn from each cluster."""
        R, K, d = self.location.shape
        noise = torch.randn(R, K, num_per_cluster, d, generator=generator).to(self.device)
        x = self.location[:, :, None] + noise @ self._scale().mT
        return self.decoder.mean(x.flatten(1, 2)).unflatten(1, (K, num_per_cluster)).cpu()


def _check_restriction(drop_mass: float, max_clusters: int | None) -> None:
    if not 0 <= drop_mass < 1:
        raise UserError(f"model.drop_mass={drop_mass}: expected a mass of at least 0, below 1")
    if max_clusters is not None and max_clusters < 1:
        raise UserError(f"model.max_clusters={max_clusters}: expected at least 1, or null for no limit")


def _inverse_softplus(y: Tensor) -> Tensor:
    return y + torch.log(-torch.expm1(-y))


def _initial_quality(kind: str, num_annotators: int, generator: torch.Generator) -> Tensor:
    """First α and β of M annotators, [2, M], by the three readings (docs/DEVIATIONS.md, row 14).

    ``corrected``: all .9; ``paper``: each drawn from Beta(1, 1); ``released``: one draw of α and one of β for all.
    """
    if kind == "corrected":
        return torch.full((2, num_annotators), 0.9)
    if kind not in ("paper", "released"):
        raise UserError(f"model.initial_quality={kind}: expected corrected, paper or released")
    draw = torch.rand(2, num_annotators if kind == "paper" else 1, generator=generator)
    return draw.clamp(0.01, 0.99).expand(2, num_annotators).clone()
