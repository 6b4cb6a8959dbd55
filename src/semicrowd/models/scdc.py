"""SCDC: amortised q(z | o) q(x | z, o), summed over z, trained by gradient steps (SCDC paper, section 2.3).

The annotators' rates also have refits in closed form.
"""

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.functional import logsigmoid, softplus

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.crowd.batch import RelationalBatch
from semicrowd.crowd.two_coin import PairEvidence, posterior_of_answers
from semicrowd.crowd.workers import WorkerPosterior
from semicrowd.expfam import dirichlet, normal_inverse_wishart
from semicrowd.inference.graph import PairGraph, answer_graph
from semicrowd.inference.message_passing import infer_z
from semicrowd.inference.mixture import Mixture, mixture_prior
from semicrowd.models.generative import GenerativeModel, Posterior, StepBound
from semicrowd.models.scdc_terms import ItemTerms, evaluated_pairs, kl_to_components
from semicrowd.models.training_data import CHUNK, TrainingData
from semicrowd.models.views import WEIGHT, Views
from semicrowd.nets.build import NetBuilder
from semicrowd.random import torch_stream

#: Least and largest α and β after a refit: their logits stay finite.
QUALITY = (1e-3, 1 - 1e-3)
#: Views of an annotated item over which q(z | o) is averaged.
NUM_VIEWS = 30


class SCDC(GenerativeModel):
    """The model of section 2; see :class:`GenerativeModel` for the arguments."""

    name: ClassVar[str] = "scdc"

    def build(self, generators: Sequence[torch.Generator]) -> None:
        """Networks, and points for π, μ, Σ, α and β."""
        restarts, K, d = self.num_restarts, self.params.n_clusters, self.params.latent_dim
        networks = NetBuilder(self.params, self.num_features, self.image_shape, generators)
        self.classifier, self.encoder = networks.classifier(), networks.cluster_encoder()
        self.decoder = networks.decoder()
        locations = [self.params.location_scale * torch.randn(K, d, generator=g) for g in generators]
        self.logits_pi = nn.Parameter(torch.zeros(restarts, K))
        self.location = nn.Parameter(torch.stack(locations))
        # Σ_k = L Lᵀ, L with softplus on the diagonal, or exp: unconstrained and always positive definite.
        raw = torch.zeros(d) if self.params.covariance == "diagonal" else _inverse_softplus(torch.ones(d))
        self.raw_scale = nn.Parameter(raw.diag().expand(restarts, K, d, d).clone())
        quality = [_initial_quality(self.params.initial_quality, self.num_annotators, g) for g in generators]
        # [R, 2, M]: sensitivity, specificity. Without annotators it gets no gradient, for which DDP would wait.
        self.logits_quality = nn.Parameter(torch.stack(quality).logit(), requires_grad=self.num_annotators > 0)
        if self.params.init == "cold" and self.params.initial_weights == "glorot":
            self._draw_clusters(generators)

    @torch.no_grad()
    def _draw_clusters(self, generators: Sequence[torch.Generator]) -> None:
        """First π, Σ_k and W_z of the authors' code, of the same variances; theirs are uniform or truncated normal."""

        def draw(like: Tensor, sd: float) -> Tensor:
            return sd * torch.stack([torch.randn(like.shape[1:], generator=g) for g in generators])

        W = self.encoder.cluster
        W.copy_(draw(W, (2 / (self.num_features + sum(W.shape[1:]))) ** 0.5))
        self.logits_pi.copy_(draw(self.logits_pi, 0.088))  # sd of N(0, .1²) truncated at two standard deviations
        self.raw_scale.add_(draw(self.location, self.params.location_scale).diag_embed())

    # ---------------------------------------------------------------- the bound of a step

    def bound(
        self,
        features: Float[Tensor, "B D"],
        weight: Float[Tensor, "B"],
        noise: torch.Generator,
        num_items: int,  # noqa: ARG002 - nothing is amortised beside the bound
        answers: RelationalBatch | None = None,
        views: Views | None = None,
    ) -> StepBound:
        """L_local + L_rel (eqs. 3 and 4), and the agreement with views."""
        both, of_items = features, weight
        if views is not None:
            both, weight = torch.cat([features, views.of(features, noise)]), weight.repeat(2)
        terms = self.item_terms(both, noise)
        bound = ((terms.reconstruction - terms.kl_z - terms.kl_x) * weight).double().sum(1)
        if views is not None:
            bound = bound + WEIGHT * _agreement_with_views(terms.log_z, of_items)
        if answers is not None:
            bound = bound + answers.pair_weight * self._relational(terms.log_z, answers)
        dropped = (terms.dropped * weight).sum(1) / weight.sum()
        zero = torch.zeros_like(bound)
        return StepBound(bound, zero, {}, {"clusters/dropped_mass": dropped})

    def _relational(self, log_z: Float[Tensor, "R b K"], answers: RelationalBatch) -> Float[Tensor, "R"]:
        """L_rel (eq. 4) of answers over the first items, in float64."""
        graph, evidence = self._graph(answers)
        agreement = graph.agreement(log_z[:, : graph.num_nodes].exp())
        return (evidence.weight * agreement + evidence.offset).double().sum(1)

    @torch.no_grad()
    def refit_annotators(self, data: TrainingData) -> None:
        """Set α and β to the expected shares of correct answers, under q(z | o) updated by the answers.

        This is the maximum of L_rel.
        """
        answers = data.answers
        assert answers is not None
        log_z = self._with_answers(self.classify(data.features[answers.items]), answers)
        graph, _ = self._graph(answers)
        same = graph.agreement(log_z.exp())
        none = log_z.new_zeros(2)  # no prior: shapes are expected counts
        shapes = posterior_of_answers(none, none, same, answers.worker, answers.label, self.num_annotators)
        for side, shape in enumerate(shapes):
            total = shape.sum(-1)
            quality = torch.where(total > 0, shape[..., 0] / total, self.logits_quality[:, side].sigmoid())
            self.logits_quality[:, side] = quality.clamp(*QUALITY).logit().float()

    def item_terms(self, features: Tensor, generator: torch.Generator, *, shared: bool = False) -> ItemTerms:
        """L_local of items [B, D] with the sum over z inside; x by one reparameterised draw for each cluster.

        ``shared``: all clusters of an item have the same noise, so that bounds of models whose clusters differ can be
        compared.

        Networks are evaluated at the fewest clusters of each item that hold all but ``drop_mass`` = δ of its
        q(z | o). For every other cluster k, q(x | z = k, o) is replaced by that of the item's likeliest cluster, whose
        reconstruction has been computed already and whose KL divergence to p(x | z = k) has a closed form. q(z | o)
        itself is the same in all terms and in L_rel, so that the value is still a lower bound, and clusters that are
        not evaluated keep a gradient. It differs from the exact sum over all K by at most δ times the largest change of
        a cluster's term by this replacement. δ = 0 is the exact sum.
        """
        log_q = self.classify(features)
        pairs = evaluated_pairs(log_q, self.params.drop_mass)
        of_items = self.in_pieces("encoder", lambda rows: self.encoder.of_items(features[rows]), len(features))
        shape = (self.num_restarts, len(features if shared else pairs.item), self.params.latent_dim)
        noise = torch.randn(shape, generator=generator, device=features.device)

        def of_pairs(rows: slice) -> tuple[Tensor, Tensor]:
            item, share = pairs.item[rows], pairs.share[:, rows]
            mean, variance = self.encoder.of_pairs(of_items, item, pairs.cluster[:, rows])
            x = mean + variance.sqrt() * (noise.index_select(1, item) if shared else noise[:, rows])
            log_likelihood = self.decoder.log_likelihood(x, features.index_select(0, item))
            kl_x = (share * kl_to_components(mean, variance, self.location, self._scale())).sum(-1)
            return share.sum(-1) * log_likelihood, kl_x

        log_likelihood, kl_x = self.in_pieces("pairs", of_pairs, len(pairs.item))
        kl_z = (log_q.exp() * (log_q - self.logits_pi.log_softmax(-1)[:, None])).sum(-1)
        return ItemTerms(pairs.sum(log_likelihood), kl_z, pairs.sum(kl_x), log_q, pairs.dropped)

    def classify(self, features: Float[Tensor, "B D"]) -> Float[Tensor, "R B K"]:
        """ln q(z | o), in pieces that fit in memory."""
        (log_q,) = self.in_pieces("classifier", lambda rows: (self.classifier(features[rows]),), len(features))
        return log_q

    def _scale(self) -> Tensor:
        """Cholesky factors of Σ_k, [R, K, d, d]."""
        raw = self.raw_scale.diagonal(dim1=-2, dim2=-1)
        if self.params.covariance == "diagonal":
            return raw.exp().diag_embed()
        return self.raw_scale.tril(-1) + (softplus(raw) + 1e-3).diag_embed()

    def _graph(self, answers: RelationalBatch) -> tuple[PairGraph, PairEvidence]:
        return answer_graph(answers, *self.annotator_statistics())

    # ---------------------------------------------------------------- evaluation

    def pieces(self, features: Tensor) -> list[Tensor]:
        """Features in pieces small enough for all restarts and clusters at once."""
        size = max(CHUNK // (self.num_restarts * self.num_clusters), 16)
        return [piece.to(self.device) for piece in features.split(size)]

    def hold_classifier(self, held: bool) -> None:
        """Whether training leaves the network of q(z | o) as it is: then it has no gradient, which saves time."""
        self.classifier.requires_grad_(not held)

    def optimizers(self, num_items: int) -> list[torch.optim.Optimizer]:  # noqa: ARG002 - BayesSCDC's
        """Adam, of all parameters that are not held."""
        free = [parameter for parameter in self.parameters() if parameter.requires_grad]
        return [torch.optim.Adam(free, lr=self.params.learning_rate, fused=True)]

    @torch.no_grad()
    def posterior(self, features: Float[Tensor, "N D"]) -> Posterior:
        """q(z | o), and the mean of x under q."""
        probabilities, latent = [], []
        for piece in self.pieces(features):
            log_q = self.classifier(piece)
            pairs = evaluated_pairs(log_q, self.params.drop_mass)
            mean, _ = self.encoder(piece, pairs.item, pairs.cluster)
            probabilities.append(log_q.exp())
            latent.append(pairs.sum(pairs.share.sum(-1, keepdim=True) * mean))
        return Posterior(torch.cat(probabilities, 1).cpu().float(), torch.cat(latent, 1).cpu().float())

    @torch.no_grad()
    def annotated_posterior(
        self, features: Float[Tensor, "N D"], annotations: PairAnnotations, views: Views | None = None
    ) -> Posterior:
        """q(z | o), half of it of the items' views where there are, updated by the answers."""
        answers = annotations.index.whole.to(self.device)
        items = features[annotations.index.whole.items.to(features.device)]
        alone = self.posterior(items)
        unary = self.classify(items.to(self.device)) if views is None else self._with_views(items, views)
        return Posterior(self._with_answers(unary, answers).exp().cpu().float(), alone.latent_mean)

    def _with_views(self, features: Float[Tensor, "n D"], views: Views) -> Float[Tensor, "R n K"]:
        """ln of ½ q(z | o) + ½ the mean of q(z | o') over :data:`NUM_VIEWS` views o' of each item.

        The classifier was trained on the answers about these items, including wrong ones, and is overconfident for
        them, less so for their views. All items have the same transformations, in every call the same ones, so that the
        result of an item does not depend on the others.
        """
        mean_q = []
        for items in self.pieces(features):
            noise = torch_stream(0, "evaluation/answered")
            moved = (views.of(items, noise, shared=True) for _ in range(NUM_VIEWS))
            of_views = torch.stack([self.classifier(one).exp() for one in moved]).mean(0)
            mean_q.append(0.5 * (self.classifier(items).exp() + of_views))
        return torch.cat(mean_q, 1).clamp(min=1e-30).log()

    def _with_answers(self, unary: Float[Tensor, "R n K"], answers: RelationalBatch) -> Float[Tensor, "R n K"]:
        """ln q(z) from ln q(z | o) and answers, by message passing (eq. 14)."""
        return infer_z(unary, self._graph(answers)[0])

    @torch.no_grad()
    def elbo(self, data: TrainingData) -> dict[str, Float[Tensor, "R"]]:
        """The terms of :meth:`bound` on the whole training set: reconstruction, kl_z, kl_x, relational and total.

        "relational" includes the agreement with views.
        """
        generator = torch_stream(data.seed, "evaluation/noise", device=self.device)
        moved = torch_stream(data.seed, "evaluation/views", device=self.device)
        names, samples = ("reconstruction", "kl_z", "kl_x"), self.elbo_samples(data.num_items)
        totals = {name: torch.zeros(self.num_restarts, dtype=torch.float64) for name in (*names, "relational")}
        for piece in self.pieces(data.features):
            both = piece if data.views is None else torch.cat([piece, data.views.of(piece, moved)])
            for _ in range(samples):
                terms = self.item_terms(both, generator, shared=True)
                for name in names:
                    totals[name] += getattr(terms, name).double().sum(1).cpu() / samples
            if data.views is not None:
                links = _agreement_with_views(terms.log_z, piece.new_ones(len(piece)))
                totals["relational"] += WEIGHT * links.cpu()
        if data.answers is not None:
            log_z = self.classify(data.features[data.answers.items])
            totals["relational"] += self._relational(log_z, data.answers).cpu()
        total = totals["reconstruction"] + totals["relational"] - totals["kl_z"] - totals["kl_x"]
        return {**totals, "total": total}

    def workers(self) -> WorkerPosterior | None:
        """Point estimates of the annotators' rates (intervals: :mod:`.pair_quality`); None without annotators."""
        if not self.num_annotators:
            return None
        quality = self.logits_quality.detach().sigmoid().cpu().double().numpy()
        unknown = np.full((*quality[:, 0].shape, 2), np.nan)
        return WorkerPosterior(unknown, unknown, quality.swapaxes(0, 1))

    def cluster_weights(self) -> Float[Tensor, "R K"]:
        """π."""
        return self.logits_pi.detach().softmax(-1).cpu()

    @torch.no_grad()
    def sample(self, num_per_cluster: int, generator: torch.Generator) -> Float[Tensor, "R K S D"]:
        """Means of p(o | x) at x drawn from each cluster."""
        R, K, d = self.location.shape
        noise = torch.randn(R, K, num_per_cluster, d, generator=generator).to(self.device)
        x = self.location[:, :, None] + noise @ self._scale().mT
        return self.decoder.mean(x.flatten(1, 2)).unflatten(1, (K, num_per_cluster)).cpu()

    # ---------------------------------------------------------------- for the start

    def mixture_prior(self) -> Mixture:
        """A conjugate prior that is not part of SCDC.

        It compares the start's partitions and keeps their Σ_k positive definite.
        """
        return mixture_prior("paper", self.params.n_clusters, self.params.latent_dim)

    def vae_parameters(self) -> list[nn.Parameter]:
        """The encoder without its clusters, and the decoder."""
        return [*self.encoder.parameters(), *self.decoder.parameters()]

    def vae_posterior(self, features: Float[Tensor, "B D"], prior_sd: float) -> Float[Tensor, "R B S"]:  # noqa: ARG002
        """q(x | o) without the cluster in the encoder's input; ``prior_sd`` is not used, because q is amortised."""
        mean, variance = self.in_pieces("vae", lambda rows: self.encoder(features[rows]), len(features))
        precision = variance.reciprocal()
        return torch.cat([mean * precision, (-0.5 * precision).diag_embed().flatten(-2)], -1)

    @torch.no_grad()
    def set_mixture(self, posterior: Mixture) -> None:
        """Set π and μ to their posterior means, Σ_k to the inverse of E[Σ_k⁻¹], and the encoder's W_z to 0.

        The statistics of x from which the posterior was made were computed without W_z.
        """
        location, _, scale, nu = normal_inverse_wishart.to_standard(posterior.components)
        self.encoder.cluster.zero_()
        self.location.copy_(location)
        covariance = scale / nu[..., None, None]
        if self.params.covariance == "diagonal":
            self.raw_scale.copy_(covariance.diagonal(dim1=-2, dim2=-1).sqrt().log().diag_embed())
        else:
            factor = torch.linalg.cholesky(covariance).float()
            diagonal = _inverse_softplus((factor.diagonal(dim1=-2, dim2=-1) - 1e-3).clamp(min=1e-3))
            self.raw_scale.copy_(factor.tril(-1) + diagonal.diag_embed())
        counts = posterior.pi + 1
        self.logits_pi.copy_((counts / counts.sum(-1, keepdim=True)).clamp(min=1e-6).log())

    @torch.no_grad()
    def set_annotators(self, sensitivity: Float[Tensor, "R M 2"], specificity: Float[Tensor, "R M 2"]) -> None:
        """α and β at their posterior means."""
        for side, eta in enumerate((sensitivity, specificity)):
            shape = dirichlet.to_standard(eta)
            self.logits_quality[:, side] = (shape[..., 0] / shape.sum(-1)).logit().float()

    def annotator_statistics(self) -> tuple[Float[Tensor, "R M 2"], Float[Tensor, "R M 2"]]:
        """Logs of the point estimates of α and β."""
        logits = self.logits_quality
        log = torch.stack([logsigmoid(logits), logsigmoid(-logits)], -1)
        return log[:, 0], log[:, 1]


def _agreement_with_views(log_z: Float[Tensor, "R b K"], weight: Float[Tensor, "B"]) -> Float[Tensor, "R"]:
    """Σ weight · q(z_i = z of its view), over B items followed by their views, in float64."""
    own, of_view = log_z.exp().chunk(2, 1)
    return ((own * of_view).sum(-1) * weight).double().sum(1)


def _inverse_softplus(y: Tensor) -> Tensor:
    return y + torch.log(-torch.expm1(-y))


def _initial_quality(kind: str, num_annotators: int, generator: torch.Generator) -> Float[Tensor, "2 M"]:
    """First α and β of M annotators, by the three readings (docs/DEVIATIONS.md, row 14).

    ``corrected``: all .9; ``paper``: each drawn from Beta(1, 1); ``released``: one α and one β drawn for all.
    """
    if kind == "corrected":
        return torch.full((2, num_annotators), 0.9)
    draw = torch.rand(2, num_annotators if kind == "paper" else min(1, num_annotators), generator=generator)
    return draw.expand(2, num_annotators).clamp(0.01, 0.99)
