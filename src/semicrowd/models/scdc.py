"""SCDC: amortised q(z | o) q(x | z, o), summed over z, every parameter by gradient steps (SCDC paper, section 2.3)."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import logsigmoid, nll_loss, softplus

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.crowd.samplers import RelationalBatch, whole_graph
from semicrowd.crowd.two_coin import PairEvidence, pair_evidence
from semicrowd.errors import UserError
from semicrowd.expfam import normal_inverse_wishart
from semicrowd.inference.graph import PairGraph
from semicrowd.inference.message_passing import infer_z
from semicrowd.models.base import CHUNK, ClusteringModule
from semicrowd.models.batches import Batch
from semicrowd.models.results import Posterior, WorkerPosterior
from semicrowd.models.warm_start import partition_posterior
from semicrowd.nets import Classifier, ClusterEncoder, build_decoder
from semicrowd.random import stream, torch_stream


class ItemTerms(NamedTuple):
    """Terms of L_local for B items, [R, B] each, and ln q(z | o), [R, B, K]."""

    reconstruction: Tensor
    kl_z: Tensor
    kl_x: Tensor
    log_z: Tensor


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
    ) -> None:
        super().__init__(settings, features, annotations, seed, restarts, batch_size)
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

    # ---------------------------------------------------------------- training

    def configure_optimizers(self) -> torch.optim.Optimizer:
        """Adam on everything."""
        return torch.optim.Adam(self.parameters(), lr=self.settings.learning_rate, fused=True)

    def training_step(self, batch: Batch, batch_idx: int) -> None:  # noqa: ARG002
        """One step on the unbiased estimate of L_local + L_rel."""
        optimizer: Any = self.optimizers()
        optimizer.zero_grad()
        features = self.features[batch.items]
        terms = self.item_terms(features, self.noise(batch.step))
        bound = ((terms.reconstruction - terms.kl_z - terms.kl_x) * batch.weight).double().sum(1)
        if batch.relational is not None:
            graph, evidence = self._graph(batch.relational)
            agreement = graph.agreement(terms.log_z[:, : graph.num_nodes].exp())
            relational = (evidence.weight * agreement + evidence.offset).double().sum(1)
            bound = bound + batch.relational.pair_weight * relational
        self.manual_backward(-(bound / self.num_items).sum())
        self.record_bound(bound)
        optimizer.step()

    def item_terms(self, features: Tensor, generator: torch.Generator) -> ItemTerms:
        """L_local of items [B, D] with the sum over z inside; x by one reparameterised draw for each cluster.

        With ``model.drop_mass`` = δ > 0, each item is evaluated only at its L most likely clusters, L the fewest that
        hold a mass of 1 − δ of every item's q(z | o); q restricted to them is itself a variational posterior, so the
        value stays a lower bound. δ = 0 is the exact sum over all K.
        """
        log_q, clusters = self._kept_clusters(self.classifier(features))
        mean, variance = self.encoder(features, clusters)
        restart = torch.arange(self.num_restarts, device=self.device)[:, None, None]
        x = mean + variance.sqrt() * torch.randn(mean.shape, generator=generator, device=mean.device)
        R, B, L, _ = x.shape
        observed = features[:, None].expand(B, L, -1).reshape(B * L, -1)
        log_likelihood = self.decoder.log_likelihood(x.flatten(1, 2), observed).unflatten(1, (B, L))
        kl_x = _kl_to_components(mean, variance, self.location[restart, clusters], self._scale()[restart, clusters])
        log_pi = self.logits_pi.log_softmax(-1)[restart, clusters]
        q = log_q.exp()
        # ln q over all K clusters, zero mass (−∞ would have no gradient) outside the kept ones.
        log_z = log_q.new_full((R, B, self.num_clusters), -100.0).scatter(2, clusters, log_q)
        return ItemTerms((q * log_likelihood).sum(-1), (q * (log_q - log_pi)).sum(-1), (q * kl_x).sum(-1), log_z)

    def _kept_clusters(self, log_q: Tensor) -> tuple[Tensor, Tensor]:
        """ln q restricted to the kept clusters, and which they are, [R, B, L] each."""
        if self.settings.drop_mass == 0:
            return log_q, torch.arange(self.num_clusters, device=log_q.device).expand(log_q.shape)
        ordered, clusters = log_q.detach().sort(-1, descending=True)
        needed = (ordered.exp().cumsum(-1) < 1 - self.settings.drop_mass).sum(-1) + 1
        clusters = clusters[..., : int(needed.max().clamp(max=self.num_clusters))]
        return log_q.gather(-1, clusters).log_softmax(-1), clusters

    def _scale(self) -> Tensor:
        """Cholesky factors of Σ_k, [R, K, d, d]."""
        diagonal = softplus(self.raw_scale.diagonal(dim1=-2, dim2=-1)) + 1e-3
        return self.raw_scale.tril(-1) + diagonal.diag_embed()

    def worker_log_probabilities(self) -> tuple[Tensor, Tensor]:
        """Of the point estimates of α and β."""
        log = torch.stack([logsigmoid(self.logits_quality), logsigmoid(-self.logits_quality)], -1)
        return log[:, 0], log[:, 1]

    def _graph(self, batch: RelationalBatch) -> tuple[PairGraph, PairEvidence]:
        evidence = pair_evidence(*self.worker_log_probabilities(), batch.worker, batch.label)
        graph = PairGraph(batch.num_nodes, batch.i, batch.j, evidence.weight, batch.component, batch.num_components)
        return graph, evidence

    # -------------------------------------------------------------- warm start

    def parameters_of_vae(self) -> list[nn.Parameter]:
        """The encoder without its clusters, and the decoder."""
        return [*self.encoder.parameters(), *self.decoder.parameters()]

    def vae_posterior(self, features: Tensor) -> Tensor:
        """q(x | o) with the cluster left out of the encoder's input."""
        mean, variance = (tensor[:, :, 0] for tensor in self.encoder(features))
        precision = variance.reciprocal()
        return torch.cat([mean * precision, (-0.5 * precision).diag_embed().flatten(-2)], -1)

    def start_from_partition(self, t_x: Tensor, clusters: Tensor, progress: Callable[[str], None]) -> None:
        """π, μ, Σ at the posterior means of the partition; q(z | o) fitted to it by cross entropy."""
        with torch.no_grad():
            eta = partition_posterior(self, t_x, clusters)
            location, _, scale, nu = normal_inverse_wishart.to_standard(eta["components"])
            factor = torch.linalg.cholesky(scale / nu[..., None, None]).float()
            diagonal = _inverse_softplus((factor.diagonal(dim1=-2, dim2=-1) - 1e-3).clamp(min=1e-3))
            self.location.copy_(location)
            self.raw_scale.copy_(factor.tril(-1) + diagonal.diag_embed())
            counts = eta["pi"] + 1
            self.logits_pi.copy_((counts / counts.sum(-1, keepdim=True)).clamp(min=1e-6).log())
        settings = self.settings.warm
        optimizer = torch.optim.Adam(self.classifier.parameters(), lr=settings.learning_rate, fused=True)
        for epoch in range(settings.classifier_epochs):
            order = torch.from_numpy(stream(self.seed, "order", 0, 1, epoch).permutation(self.num_items))
            for items in order.split(self.batch_size):
                log_q = self.classifier(self.features[items].to(self.device))
                optimizer.zero_grad()
                nll_loss(log_q.flatten(0, 1), clusters[:, items].flatten().long().to(self.device)).backward()
                optimizer.step()
            progress(f"warm start: classifier {epoch + 1}/{settings.classifier_epochs}")

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
            log_q, clusters = self._kept_clusters(self.classifier(piece))
            mean, _ = self.encoder(piece, clusters)
            probabilities.append(self.classifier(piece).exp())
            latent.append((log_q.exp()[..., None] * mean).sum(2))
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


def _kl_to_components(mean: Tensor, variance: Tensor, location: Tensor, scale: Tensor) -> Tensor:
    """KL(N(m, diag v)‖N(μ_k, L Lᵀ)) in nats; [R, B, L, d] and [R, B, L, d, d] → [R, B, L]."""
    whitened = torch.linalg.solve_triangular(scale, (mean - location)[..., None], upper=False)[..., 0]
    root = torch.linalg.solve_triangular(scale, variance.sqrt().diag_embed(), upper=False)
    log_ratio = 2 * scale.diagonal(dim1=-2, dim2=-1).log().sum(-1) - variance.log().sum(-1)
    return 0.5 * (root.square().sum((-2, -1)) + whitened.square().sum(-1) - mean.shape[-1] + log_ratio)


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


