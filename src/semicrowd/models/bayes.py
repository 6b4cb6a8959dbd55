"""BayesSCDC: message passing, natural gradients on q(Θ), gradient steps on the networks (SCDC paper, Algorithm 1)."""

from collections.abc import Sequence
from typing import ClassVar

import torch
from jaxtyping import Float
from torch import Tensor, nn

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.crowd.batch import RelationalBatch
from semicrowd.crowd.two_coin import PairEvidence, pair_evidence, posterior_of_answers
from semicrowd.crowd.workers import WorkerPosterior
from semicrowd.expfam import dirichlet, gaussian, normal_inverse_wishart
from semicrowd.inference.bound import local_terms, relational_term
from semicrowd.inference.graph import PairGraph, graph_of
from semicrowd.inference.message_passing import LocalPosterior, infer_each, infer_local, infer_unrolled, initial_z
from semicrowd.inference.mixture import Mixture, mixture_prior
from semicrowd.inference.natural_gradient import NaturalGradient
from semicrowd.inference.statistics import ExpectedGlobals
from semicrowd.models.generative import GenerativeModel, Posterior, StepBound
from semicrowd.models.global_posterior import ANNOTATORS, FAMILIES, GlobalPosterior
from semicrowd.models.training_data import Part, TrainingData, pieces
from semicrowd.models.views import WEIGHT, Views, graph_with_views
from semicrowd.nets.build import NetBuilder
from semicrowd.random import torch_stream

#: Message passing in a training step stops if no probability changes by more than this, or after ``max_sweeps``.
STEP_TOLERANCE = 0.01
#: (Maximal number of sweeps, tolerance) of message passing: in refits, and in evaluations.
REFIT_SWEEPS = (10, 1e-3)
EVALUATION_SWEEPS = (200, 1e-4)
#: Numerator of ρ = 100 / N: the authors' code uses steps of 10 / N with momentum .9, in total ten times as long.
RELEASED_STEP = 100
#: Momentum of the networks' gradient steps with ``optimizer=momentum`` (App. B).
MOMENTUM = 0.9


class BayesSCDC(GenerativeModel):
    """The fully Bayesian model of section 3; see :class:`GenerativeModel` for the arguments."""

    name: ClassVar[str] = "bayes"

    def build(self, generators: Sequence[torch.Generator]) -> None:
        """Make the networks, whose parameters are φ and γ, and q(Θ)."""
        networks = NetBuilder(self.params, self.num_features, self.image_shape, generators)
        self.recognition, self.decoder = networks.recognition(), networks.decoder()
        self.globals = GlobalPosterior(self.mixture_prior(), self.num_annotators, generators)

    # ---------------------------------------------------------------- the bound of a step (Algorithm 1)

    def bound(
        self,
        features: Float[Tensor, "B D"],
        weight: Float[Tensor, "B"],
        noise: torch.Generator,
        num_items: int,
        answers: RelationalBatch | None = None,
        views: Views | None = None,
    ) -> StepBound:
        """Eqs. 19–25 on a minibatch, after sweeps until STEP_TOLERANCE or ``max_sweeps``, and the amortisation."""
        expected = self.globals.expected()
        messages, leaves = self._message_statistics(expected)
        part = Part(features, None if views is None else views.of(features, noise), answers, weight)
        recognition = self.recognise(_items_and_views(part))
        alone = initial_z(recognition, messages.detach())
        sweeps = self.params.max_sweeps, STEP_TOLERANCE
        if self.params.inference == "unrolled":
            uniform = torch.rand(alone.shape, generator=noise, device=alone.device).clamp(min=1e-8)
            start = uniform.log().log_softmax(-1)
            graph = self._graph(part, messages)
            local = infer_unrolled(recognition, messages, graph, sweeps[0], start)
        else:
            local, graph = self._infer(part, recognition, messages, sweeps, alone.detach())
        x = gaussian.draw(local.mean, local.root, noise)
        terms = local_terms(local, expected.cast(features.dtype))
        per_item = self.log_likelihood(x, _items_and_views(part)) - terms.kl_z - terms.kl_x
        elbo = (per_item * part.weight_with_views).double().sum(1)
        if graph is not None:
            elbo = elbo + self._relational(part, local, graph, expected)
        elbo = elbo - sum(self.globals.kl_terms(expected).values())
        return StepBound(elbo, self._amortisation(alone, local, num_items), leaves, {})

    def optimizers(self, num_items: int) -> list[torch.optim.Optimizer]:
        """Adam or gradient steps with momentum on the networks, the natural gradient on η_Θ."""
        networks, rate = self.vae_parameters(), self.params.learning_rate
        if self.params.optimizer == "adam":
            of_networks: torch.optim.Optimizer = torch.optim.Adam(networks, lr=rate, fused=True)
        else:
            of_networks = torch.optim.SGD(networks, lr=rate, momentum=MOMENTUM, fused=True)
        groups, step = self.globals.parameter_groups(), self.first_step(num_items)
        if self.params.batch_weights == "released":
            for group in groups[2:]:  # α and β: one of the two bounds whose mean is taken has no annotators
                group["lr"] = 0.5 * step
        momentum = self.params.natural_momentum
        return [of_networks, NaturalGradient(groups, step, float(num_items), momentum)]

    def first_step(self, num_items: int) -> float:
        """ρ of the first step as a number, also if ``step_size`` is ``released``."""
        given = self.params.step_size
        return min(1.0, RELEASED_STEP / num_items) if isinstance(given, str) else given

    def _message_statistics(self, expected: ExpectedGlobals) -> tuple[ExpectedGlobals, dict[nn.Parameter, Tensor]]:
        """E t(Θ) for message passing, and by parameter the tensor whose gradient will be the second term of eq. 17.

        With ``svi`` that term is omitted, as in the authors' code: the statistics are detached, and no tensor is kept.
        """
        dtype = self.decoder_dtype
        if self.params.natural_gradient == "svi":
            return expected.detach().cast(dtype), {}
        leaves = {
            name: family.expected_statistics(self.globals.eta[name].detach()).requires_grad_()
            for name, family in FAMILIES.items()
        }
        by_parameter = {self.globals.eta[name]: leaf for name, leaf in leaves.items()}
        return ExpectedGlobals(*leaves.values()).cast(dtype), by_parameter

    @property
    def decoder_dtype(self) -> torch.dtype:
        """Precision of features, networks and local inference; q(Θ) is kept in float64."""
        return next(self.decoder.parameters()).dtype

    def _amortisation(self, alone: Tensor, local: LocalPosterior, num_items: int) -> Float[Tensor, "R"]:
        """``amortisation`` · N · mean of E ln q(z | features alone) under the joint q(z), which is held fixed.

        Its gradient reaches the recognition network only. ``alone`` : ln q(z | features alone), [R, B, K].
        """
        if self.params.amortisation == 0:  # nothing to pay for in the backward pass
            return alone.new_zeros(self.num_restarts, dtype=torch.float64)
        expected = (local.probabilities.detach() * alone).sum(-1).double().mean(1)
        return self.params.amortisation * num_items * expected

    # ---------------------------------------------------------------- local inference

    def _infer(
        self,
        part: Part,
        recognition: Float[Tensor, "R b S"],
        expected: ExpectedGlobals,
        sweeps: tuple[int, float],
        start: Float[Tensor, "R b K"] | None = None,
    ) -> tuple[LocalPosterior, PairGraph | None]:
        """Posterior of a part's items and of their views (eqs. 12 and 14), and the graph between them.

        ``sweeps``: maximal number, and the tolerance at which they stop earlier.
        """
        graph = self._graph(part, expected)
        return infer_local(recognition, expected, graph, *sweeps, start), graph

    def _graph(self, part: Part, expected: ExpectedGlobals) -> PairGraph | None:
        """The graph of a part's answers and views; None without both."""
        evidence, _ = self._evidence(part, expected)
        if evidence is None:
            return None
        if part.views is not None:
            return graph_with_views(len(part.features), evidence.weight, part.answers)
        assert part.answers is not None
        return graph_of(part.answers, evidence)

    def _evidence(self, part: Part, expected: ExpectedGlobals) -> tuple[PairEvidence | None, Tensor]:
        """Evidence of the part's answers, then of its links to views, [R, Q]; and their weights in the bound, [Q]."""
        of_parts, weights = [], []
        if part.answers is not None:
            answers = part.answers
            evidence = pair_evidence(expected.sensitivity, expected.specificity, answers.worker, answers.label)
            of_parts.append(evidence)
            weights.append(part.weight.new_full((evidence.weight.shape[1],), answers.pair_weight))
        if part.views is not None:
            links = expected.log_pi.new_full((self.num_restarts, len(part.views)), WEIGHT)
            of_parts.append(PairEvidence(links, torch.zeros_like(links)))
            weights.append(part.weight)
        if not of_parts:
            return None, part.weight[:0]
        return PairEvidence(*(torch.cat(fields, 1) for fields in zip(*of_parts, strict=True))), torch.cat(weights)

    def _relational(
        self,
        part: Part,
        local: LocalPosterior,
        graph: PairGraph,
        expected: ExpectedGlobals,
    ) -> Float[Tensor, "R"]:
        """Sum of eq. 20 over a part's answers and its links to views, weighted; summed in float64."""
        expected = expected.cast(part.features.dtype)
        if part.answers is not None and part.answers.count_weight != 1:
            scaled = (_with_gradient_times(one, part.answers.count_weight) for one in expected[2:])
            expected = ExpectedGlobals(*expected[:2], *scaled)
        evidence, weights = self._evidence(part, expected)
        assert evidence is not None
        return (weights * relational_term(local, graph, evidence)).double().sum(1)

    @torch.no_grad()
    def infer(
        self, part: Part, sweeps: tuple[int, float] = EVALUATION_SWEEPS, start: Float[Tensor, "R b K"] | None = None
    ) -> tuple[LocalPosterior, PairGraph | None]:
        """Local inference: the posterior of items and views, and the graph (None without answers and views).

        Deterministic. ``sweeps``: maximal number and tolerance. ``start``: initial ln q(z).
        """
        expected = self.globals.expected().cast(part.features.dtype)
        return self._infer(part, self.recognise(_items_and_views(part)), expected, sweeps, start)

    def recognise(self, features: Float[Tensor, "*#R B D"]) -> Float[Tensor, "R B S"]:
        """The recognition potentials, in pieces that fit in memory."""
        (potentials,) = self.in_pieces(
            "recognition", lambda rows: (self.recognition.potentials(features[..., rows, :]),), features.shape[-2]
        )
        return potentials

    # ---------------------------------------------------------------- evaluation

    def posterior(self, features: Float[Tensor, "N D"]) -> Posterior:
        """Posterior from the features alone."""
        each = pieces(features, self.num_restarts, self.device)
        return _posterior([self.infer(Part(piece, None, None, piece.new_ones(len(piece))))[0] for piece in each])

    @torch.no_grad()
    def assign(self, features: Float[Tensor, "N D"]) -> Float[Tensor, "R N K"]:
        """Each item is swept until it has itself converged, which :meth:`posterior` does not do."""
        expected = self.globals.expected().cast(self.decoder_dtype)
        parts = pieces(features, self.num_restarts, self.device)
        log_z = [infer_each(self.recognise(part), expected, *EVALUATION_SWEEPS) for part in parts]
        return torch.cat(log_z, 1).exp().cpu().float()

    def annotated_posterior(
        self,
        features: Float[Tensor, "N D"],
        annotations: PairAnnotations,
        views: Views | None = None,  # noqa: ARG002 - they are links of the training bound alone
    ) -> Posterior:
        """Posterior of the annotated items, message passing over the whole graph."""
        answers = annotations.index.whole.to(self.device)
        items = features[annotations.index.whole.items.to(features.device)].to(self.device)
        return _posterior([self.infer(Part(items, None, answers, items.new_ones(len(items))))[0]])

    @torch.no_grad()
    def elbo(self, data: TrainingData) -> dict[str, Float[Tensor, "R"]]:
        """Every term of eq. 19 on the whole training set; its global KL are eqs. 23–25."""
        generator = torch_stream(data.seed, "evaluation/noise", device=self.device)
        expected, samples = self.globals.expected(), self.elbo_samples(data.num_items)
        names = ("reconstruction", "relational", "kl_z", "kl_x")
        totals = {name: torch.zeros(self.num_restarts, dtype=torch.float64) for name in names}
        for part in data.parts(self.num_restarts):
            local, graph = self.infer(part)
            terms, weight = local_terms(local, expected.cast(part.features.dtype)), part.weight_with_views
            for _ in range(samples):
                x = gaussian.draw(local.mean, local.root, generator)
                log_likelihood = self.log_likelihood(x, _items_and_views(part))
                totals["reconstruction"] += 1 / samples * (weight * log_likelihood.double()).sum(1).cpu()
            totals["kl_z"] += (weight * terms.kl_z.double()).sum(1).cpu()
            totals["kl_x"] += (weight * terms.kl_x.double()).sum(1).cpu()
            if graph is not None:
                totals["relational"] += self._relational(part, local, graph, expected).cpu()
        totals |= {name: value.cpu() for name, value in self.globals.kl_terms(expected).items()}
        gains = totals["reconstruction"] + totals["relational"]
        return {**totals, "total": gains - sum(v for k, v in totals.items() if k.startswith("kl_"))}

    @torch.no_grad()
    def refit_annotators(self, data: TrainingData) -> None:
        """Set q(α) and q(β) to their optimum given all answers (eqs. 28 and 29), then fit their priors.

        The priors are only fitted with ``annotators=empirical``.
        """
        part = next(data.parts(self.num_restarts))
        local, graph = self.infer(part, REFIT_SWEEPS)
        for name, eta in self.annotator_targets(part, local, graph).items():
            self.globals.eta[name].copy_(eta)
        if self.params.annotators == "empirical":
            self.globals.fit_annotator_priors()

    def annotator_targets(self, part: Part, local: LocalPosterior, graph: PairGraph | None) -> dict[str, Tensor]:
        """η̂ of q(α) and q(β) (eqs. 28 and 29): the prior and the expected counts of a part with answers."""
        targets = {name: self.globals.prior(name).expand_as(self.globals.eta[name]).clone() for name in ANNOTATORS}
        answers = part.answers
        if answers is None or graph is None:
            return targets
        same = graph.agreement(local.log_z[:, : graph.num_nodes].exp())[:, : len(answers.label)]
        priors = targets["sensitivity"], targets["specificity"]
        quality = posterior_of_answers(*priors, same, answers.worker, answers.label, self.num_annotators)
        return dict(zip(ANNOTATORS, quality, strict=True))

    def workers(self) -> WorkerPosterior | None:
        """Beta posteriors of the annotators."""
        if not self.num_annotators:
            return None
        shapes = [dirichlet.to_standard(self.globals.eta[name].detach()) for name in ANNOTATORS]
        sensitivity, specificity = (shape.cpu().numpy() for shape in shapes)
        return WorkerPosterior(sensitivity, specificity)

    def cluster_weights(self) -> Float[Tensor, "R K"]:
        """E[π]."""
        concentration = dirichlet.to_standard(self.globals.eta["pi"].detach())
        return (concentration / concentration.sum(-1, keepdim=True)).cpu()

    @torch.no_grad()
    def sample(self, num_per_cluster: int, generator: torch.Generator) -> Float[Tensor, "R K S D"]:
        """Means of p(o | x) at x drawn from N(m_k, S_k / ν_k), whose covariance is the inverse of E[Σ_k⁻¹]."""
        location, _, scale, nu = normal_inverse_wishart.to_standard(self.globals.eta["components"].detach())
        factor = torch.linalg.cholesky(scale / nu[..., None, None])
        R, K, d = location.shape
        noise = torch.randn(R, K, num_per_cluster, d, generator=generator, dtype=location.dtype)
        x = location[:, :, None] + noise.to(location.device) @ factor.mT
        return self.decoder.mean(x.flatten(1, 2).to(self.decoder_dtype)).unflatten(1, (K, num_per_cluster)).cpu()

    # ---------------------------------------------------------------- for the start

    def mixture_prior(self) -> Mixture:
        """p(π) and p(μ, Σ)."""
        return mixture_prior(self.params.concentration, self.params.n_clusters, self.params.latent_dim)

    def vae_parameters(self) -> list[nn.Parameter]:
        """φ and γ."""
        return [*self.recognition.parameters(), *self.decoder.parameters()]

    def vae_posterior(self, features: Float[Tensor, "B D"], prior_sd: float) -> Float[Tensor, "R B S"]:
        """The recognition potential times N(0, s² I)."""
        d = self.params.latent_dim
        covariance = torch.eye(d, dtype=features.dtype, device=features.device) * prior_sd**2
        return self.recognise(features) + gaussian.to_natural(features.new_zeros(d), covariance)

    @torch.no_grad()
    def set_mixture(self, posterior: Mixture) -> None:
        """q(π) and q(μ, Σ) as the exact posterior of a partition."""
        for name, eta in posterior._asdict().items():
            self.globals.eta[name].copy_(eta)

    @torch.no_grad()
    def set_annotators(self, sensitivity: Float[Tensor, "R M 2"], specificity: Float[Tensor, "R M 2"]) -> None:
        """q(α) and q(β)."""
        for name, eta in zip(ANNOTATORS, (sensitivity, specificity), strict=True):
            self.globals.eta[name].copy_(eta)

    def annotator_statistics(self) -> tuple[Float[Tensor, "R M 2"], Float[Tensor, "R M 2"]]:
        """E[ln α, ln(1 − α)] under q(α), and the same of β."""
        expected = self.globals.expected()
        return expected.sensitivity, expected.specificity


def _with_gradient_times(statistics: Tensor, factor: float) -> Tensor:
    return factor * statistics + (1 - factor) * statistics.detach()


def _items_and_views(part: Part) -> Float[Tensor, "b D"]:
    return part.features if part.views is None else torch.cat([part.features, part.views])


def _posterior(parts: list[LocalPosterior]) -> Posterior:
    probabilities = torch.cat([local.probabilities for local in parts], 1)
    return Posterior(probabilities.cpu().float(), torch.cat([local.mean for local in parts], 1).cpu().float())
