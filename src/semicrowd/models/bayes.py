"""BayesSCDC: message passing, natural gradients on q(Θ), Adam on the networks (SCDC paper, Algorithm 1)."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.crowd.samplers import RelationalBatch, whole_graph
from semicrowd.crowd.two_coin import PairEvidence, pair_evidence
from semicrowd.expfam import beta, dirichlet, gaussian, normal_inverse_wishart
from semicrowd.inference.bound import local_terms, relational_term
from semicrowd.inference.graph import PairGraph, answer_graph
from semicrowd.inference.message_passing import LocalPosterior, infer_local, initial_z
from semicrowd.inference.natural_gradient import NaturalGradient
from semicrowd.inference.statistics import ExpectedGlobals
from semicrowd.starts.answers import AnswerStart
from semicrowd.fitting.module import ClusteringModule
from semicrowd.fitting.batches import Batch
from semicrowd.models.global_posterior import FAMILIES, GlobalPosterior
from semicrowd.fitting.merges import SWEEPS, merge_moves, refit
from semicrowd.starts.partition import partition_posterior
from semicrowd.crowd.workers import WorkerPosterior
from semicrowd.models.posterior import Posterior
from semicrowd.starts.teaching import teach
from semicrowd.models.views import graph_with_views
from semicrowd.nets import build_decoder, build_recognition
from semicrowd.random import stream, torch_stream


class BayesSCDC(ClusteringModule):
    """The fully Bayesian model of section 3; see :class:`ClusteringModule` for the arguments."""

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
        generators = self.init_generators
        d, hidden, skip = settings.latent_dim, settings.hidden, settings.linear_skip
        D, variance = features.shape[1], settings.initial_variance
        self.recognition = build_recognition(settings, D, image_shape, generators)
        self.decoder = build_decoder(settings.likelihood, d, hidden[::-1], D, generators, skip, variance)
        num_annotators = 0 if annotations is None else annotations.num_annotators
        self.globals = GlobalPosterior(settings, num_annotators, generators)

    # ---------------------------------------------------------------- training

    def configure_optimizers(self) -> list[torch.optim.Optimizer]:
        """Adam, or gradient steps with momentum, on φ and γ; the natural gradient on η_Θ."""
        rate, networks = self.settings.learning_rate, self.parameters_of_vae()
        return [
            torch.optim.Adam(networks, lr=rate, fused=True)
            if self.settings.optimizer == "adam"
            else torch.optim.SGD(networks, lr=rate, momentum=0.9, fused=True),
            NaturalGradient(self.globals.parameter_groups(), self.settings.step_size, scale=float(self.num_items)),
        ]

    def training_step(self, batch: Batch, batch_idx: int) -> None:  # noqa: ARG002
        """One step of Algorithm 1 on a minibatch."""
        optimizers: Any = self.optimizers()
        nets, natural = optimizers
        nets.zero_grad()
        natural.zero_grad()
        expected = self.globals.expected()
        messages, leaves = self._message_statistics(expected)
        features = self.features[batch.items]
        bound, amortisation = self._batch_bound(batch, features, expected, messages)
        bound = bound - sum(self.globals.kl_terms(expected).values())
        self.manual_backward(-((bound + amortisation) / self.num_items).sum())
        self.record_bound(bound)
        nets.step()
        gradients = {name: leaf.grad for name, leaf in leaves.items() if leaf.grad is not None}
        natural.step(corrections={self.globals.eta[name]: gradient for name, gradient in gradients.items()})

    def _message_statistics(self, expected: ExpectedGlobals) -> tuple[ExpectedGlobals, dict[str, Tensor]]:
        """E t(Θ) as message passing sees it, and the leaves that collect the second term of eq. 17.

        ``svi`` leaves that term out, as the released code and SVAE do: detached statistics, no leaves.
        """
        if self.settings.natural_gradient == "svi":
            return ExpectedGlobals(*(s.detach() for s in expected)).cast(self.features.dtype), {}
        leaves = {
            name: family.expected_statistics(self.globals.eta[name].detach()).requires_grad_()
            for name, family in FAMILIES.items()
        }
        return ExpectedGlobals(*leaves.values()).cast(self.features.dtype), leaves

    def _batch_bound(
        self, batch: Batch, features: Tensor, expected: ExpectedGlobals, messages: ExpectedGlobals
    ) -> tuple[Tensor, Tensor]:
        """The batch's unbiased estimate of all local and relational terms, and the amortisation, [R] in float64."""
        expected = expected.cast(features.dtype)
        noise, weight = self.noise(batch.step), batch.weight
        if self.views is not None:
            features = torch.cat([features, self.views.of(features, noise)])
            weight = weight.repeat(2)
        recognition = self.recognition.potentials(features)
        graph = self._step_graph(batch, messages)
        alone = initial_z(recognition, ExpectedGlobals(*(statistics.detach() for statistics in messages)))
        local = infer_local(
            recognition, messages, graph, self.settings.max_sweeps, self.settings.tolerance, alone.detach()
        )
        x = gaussian.draw(local.mean, local.root, noise)
        terms = local_terms(local, expected)
        per_item = self.decoder.log_likelihood(x, features) - terms.kl_z - terms.kl_x
        bound = (per_item * weight).double().sum(1)
        if graph is not None:
            evidence, pair_weight = self._step_evidence(batch, expected)
            bound = bound + (pair_weight * relational_term(local, graph, evidence)).double().sum(1)
        return bound, self._amortisation(alone, local)

    def _amortisation(self, alone: Tensor, local: LocalPosterior) -> Tensor:
        """``model.amortisation`` · N · mean of E ln q(z | features alone) under the joint q(z), [R].

        It moves the recognition network alone. ``alone`` : ln q(z | features alone), [R, B, K].
        """
        if self.settings.amortisation == 0:  # nothing to pay for in the backward pass
            return alone.new_zeros(self.num_restarts, dtype=torch.float64)
        agreement = (local.probabilities.detach() * alone).sum(-1).double().mean(1)
        return self.settings.amortisation * self.num_items * agreement

    def _step_evidence(self, batch: Batch, expected: ExpectedGlobals) -> tuple[PairEvidence, Tensor]:
        """w_ij of the batch's answers and of its views, [R, P], and the weight of each in the bound, [P]."""
        parts = []
        if batch.relational is not None:
            evidence = _evidence(batch.relational, expected)
            parts.append((evidence, batch.weight.new_full((evidence.weight.shape[1],), batch.relational.pair_weight)))
        if self.views is not None:
            parts.append((self.views.evidence(len(batch.items), self.num_restarts, self.device), batch.weight))
        evidences, weights = zip(*parts, strict=True)
        joined = PairEvidence(*(torch.cat(fields, 1) for fields in zip(*evidences, strict=True)))
        return joined, torch.cat(weights)

    def _step_graph(self, batch: Batch, expected: ExpectedGlobals) -> PairGraph | None:
        """The graph of the batch's answers and views."""
        if self.views is not None:
            evidence, _ = self._step_evidence(batch, expected)
            return graph_with_views(len(batch.items), evidence.weight, batch.relational)
        return None if batch.relational is None else self._graph(batch.relational, expected)[0]

    def _graph(self, batch: RelationalBatch, expected: ExpectedGlobals) -> tuple[PairGraph, PairEvidence]:
        return answer_graph(batch, expected.sensitivity, expected.specificity)

    def on_train_epoch_end(self) -> None:
        """Merge moves every ``moves.every`` epochs, the annotators refitted after the last, then as every model."""
        every, done = self.settings.moves.every, self.current_epoch + 1
        if every and done % every == 0:
            merge_moves(self)
        if done == self.trainer.max_epochs:
            self._refit_annotators()
        super().on_train_epoch_end()

    def _refit_annotators(self) -> None:
        """q(α) and q(β) from all answers, and the priors that they share."""
        for _ in range(self.settings.final_refits):
            refit(self, 1, ("sensitivity", "specificity"))
            if self.annotations is not None and self.settings.prior.annotators == "empirical":
                self.globals.fit_annotator_priors()

    # -------------------------------------------------------------- warm start

    def parameters_of_vae(self) -> list[nn.Parameter]:
        """φ and γ."""
        return [*self.recognition.parameters(), *self.decoder.parameters()]

    def vae_posterior(self, features: Tensor) -> Tensor:
        """The recognition potential times N(0, s² I)."""
        d = self.settings.latent_dim
        covariance = torch.eye(d, dtype=features.dtype, device=features.device) * self.settings.warm.latent_sd**2
        return self.recognition.potentials(features) + gaussian.to_natural(features.new_zeros(d), covariance)

    @torch.no_grad()
    def start_from_partition(self, t_x: Tensor, clusters: Tensor, progress: Callable[[str], None]) -> None:  # noqa: ARG002
        """q(π) and q(μ, Σ) as the exact posterior of the partition."""
        for name, eta in partition_posterior(self, t_x, clusters).items():
            self.globals.eta[name].copy_(eta)

    def start_from_answers(self, t_x: Tensor, start: AnswerStart, progress: Callable[[str], None]) -> None:
        """q(α) and q(β) as found with the answers; the networks and the mixture taught the clusters."""
        with torch.no_grad():
            for name, eta in zip(("sensitivity", "specificity"), start.annotators, strict=True):
                self.globals.eta[name].copy_(eta)
        self.start_from_partition(t_x, start.probabilities.argmax(-1), progress)
        teach(self, start.probabilities, progress)

    @torch.no_grad()
    def reverse_annotators(self, restart: int, reverse: np.ndarray) -> None:
        """Exchange the two shapes of q(α) and of q(β)."""
        for name in ("sensitivity", "specificity"):
            eta, marked = self.globals.eta[name], torch.from_numpy(reverse)
            eta[restart, marked] = eta[restart, marked].flip(-1)

    def worker_log_probabilities(self) -> tuple[Tensor, Tensor]:
        """Under q(α) and q(β)."""
        expected = self.globals.expected()
        return expected.sensitivity, expected.specificity

    # -------------------------------------------------------------- evaluation

    @torch.no_grad()
    def infer(
        self,
        features: Tensor,
        batch: RelationalBatch | None = None,
        max_sweeps: int = 200,
        tolerance: float = 1e-4,
        start: Tensor | None = None,
    ) -> tuple[LocalPosterior, PairGraph | None, PairEvidence | None]:
        """Local inference to convergence, deterministic: all of ``features`` at once, annotated items first."""
        expected = self.globals.expected().cast(features.dtype)
        graph, evidence = (None, None) if batch is None else self._graph(batch.to(self.device), expected)
        recognition = self.recognition.potentials(features)
        return infer_local(recognition, expected, graph, max_sweeps, tolerance, start), graph, evidence

    def posterior(self, features: Tensor) -> Posterior:
        """Posterior from the features alone."""
        pieces = [self.infer(piece)[0] for piece in self.chunks(features)]
        return _posterior(pieces, self.settings.latent_dim)

    def annotated_posterior(self, features: Tensor, annotations: PairAnnotations) -> Posterior:
        """Posterior of the annotated items, message passing over the whole graph."""
        batch = whole_graph(annotations)
        local, _, _ = self.infer(features[batch.items].to(self.device), batch)
        return _posterior([local], self.settings.latent_dim)

    @torch.no_grad()
    def elbo(self, max_items: int | None = None, start: Sequence[Tensor] | None = None) -> dict[str, Tensor]:
        """Every term of eq. 19 on the whole training set, with ``settings.elbo_samples`` draws of each x.

        ``max_items``: an unbiased estimate from :meth:`evaluation_parts` of so many items, the same ones each time.
        ``start``: ln q(z) of every part, where a refit has left it, from which a few sweeps are enough.
        """
        generator = torch_stream(self.seed, "evaluation", device=self.device)
        expected = self.globals.expected()
        totals = {name: torch.zeros(self.num_restarts, dtype=torch.float64) for name in
                  ("reconstruction", "relational", "kl_z", "kl_x")}
        for part, (features, batch, weight) in enumerate(self.evaluation_parts(max_items)):
            local, graph, evidence = (
                self.infer(features, batch) if start is None else self.infer(features, batch, *SWEEPS, start[part])
            )
            terms = local_terms(local, expected.cast(features.dtype))
            samples = self.settings.elbo_samples
            for _ in range(samples):
                log_likelihood = self.decoder.log_likelihood(gaussian.draw(local.mean, local.root, generator), features)
                totals["reconstruction"] += weight / samples * log_likelihood.double().sum(1).cpu()
            totals["kl_z"] += weight * terms.kl_z.double().sum(1).cpu()
            totals["kl_x"] += weight * terms.kl_x.double().sum(1).cpu()
            if graph is not None and evidence is not None:
                totals["relational"] += relational_term(local, graph, evidence).double().sum(1).cpu()
        totals |= {name: value.cpu() for name, value in self.globals.kl_terms(expected).items()}
        gains = totals["reconstruction"] + totals["relational"]
        return {**totals, "total": gains - sum(v for k, v in totals.items() if k.startswith("kl_"))}

    def evaluation_parts(self, max_items: int | None = None) -> Iterator[tuple[Tensor, RelationalBatch | None, float]]:
        """The annotated items with their graph, then the others in chunks; each with its weight in a sum over all.

        Of more than ``max_items`` others, a random subset that depends on the run's seed alone stands for all.
        """
        others = np.arange(self.num_items)
        if self.annotations is not None:
            batch = whole_graph(self.annotations)
            others = np.setdiff1d(others, self.annotations.annotated)
            yield self.features[batch.items].to(self.device), batch, 1.0
        weight = 1.0
        if max_items is not None and len(others) > max_items:
            weight = len(others) / max_items
            others = np.sort(stream(self.seed, "evaluation", 1).choice(others, max_items, replace=False))
        for piece in self.chunks(self.features[torch.from_numpy(others)]):
            yield piece, None, weight

    def workers(self) -> WorkerPosterior | None:
        """Beta posteriors of the annotators."""
        if self.annotations is None:
            return None
        eta = self.globals.eta
        sensitivity, specificity = (
            beta.to_standard(eta[name].detach()).cpu().numpy() for name in ("sensitivity", "specificity")
        )
        return WorkerPosterior(sensitivity, specificity)

    def cluster_weights(self) -> Tensor:
        """E[π]."""
        concentration = dirichlet.to_standard(self.globals.eta["pi"].detach())
        return (concentration / concentration.sum(-1, keepdim=True)).cpu()

    @torch.no_grad()
    def sample(self, num_per_cluster: int, generator: torch.Generator) -> Tensor:
        """Means of p(o | x) at x drawn from each cluster's expected component."""
        location, _, scale, nu = normal_inverse_wishart.to_standard(self.globals.eta["components"].detach())
        covariance = scale / nu[..., None, None]
        factor = torch.linalg.cholesky(covariance)
        noise = torch.randn(*location.shape[:2], num_per_cluster, location.shape[-1], generator=generator,
                            dtype=location.dtype)
        x = location[:, :, None] + noise.to(location.device) @ factor.mT
        R, K, S, d = x.shape
        means = self.decoder.mean(x.reshape(R, K * S, d).to(self.features.dtype))
        return means.reshape(R, K, S, -1).cpu()


def _evidence(batch: RelationalBatch, expected: ExpectedGlobals) -> PairEvidence:
    return pair_evidence(expected.sensitivity, expected.specificity, batch.worker, batch.label)


def _posterior(pieces: list[LocalPosterior], latent_dim: int) -> Posterior:
    probabilities = torch.cat([piece.probabilities for piece in pieces], 1)
    latent = torch.cat([piece.t_x[..., :latent_dim] for piece in pieces], 1)
    return Posterior(probabilities.cpu().float(), latent.cpu().float())


