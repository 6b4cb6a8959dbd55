"""A portfolio of starts and one judge: many ways to clusters that answers and features agree on.

None of them is right on all data. First clusters come from the features (cells joined by the answers), from the answers
alone, and from networks trained on the answers; each is refined and spread to all items by several classifiers, mixed
as they deserve (:mod:`semicrowd.starts.cotraining`, :mod:`semicrowd.starts.spreading`). The candidate under which the
answers are likeliest wins, each item known by its features alone and out of sample.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from sklearn.cluster import KMeans
from threadpoolctl import threadpool_limits

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.crowd.cells import join_cells
from semicrowd.crowd.two_coin import pair_evidence
from semicrowd.defaults.rule import FEW_ANSWERS
from semicrowd.expfam import beta
from semicrowd.models.training_data import TrainingData
from semicrowd.random import stream
from semicrowd.settings.model import GenerativeSettings
from semicrowd.settings.training import StartSettings
from semicrowd.starts.answer_classifier import Annotators, spectral_clusters
from semicrowd.starts.answers import AnswerStart, annotated_start
from semicrowd.starts.cotraining import ROUNDS, Candidate, cotrain, judge_annotators
from semicrowd.starts.epochs import Say
from semicrowd.starts.spreading import (
    GaussianSpread,
    LogisticSpread,
    NeighbourSpread,
    NetworkSpread,
    Spread,
    StackedSpread,
)

#: k-means cells that the answers join, in multiples of K.
_CELLS = (1, 3)
#: Principal components that Gaussians with covariances of their own look at, and those with one for all.
_FULL, _SHARED = 8, 50
#: Where the clusters of networks come from.
NETWORKS = "networks of the answers"
#: Standard errors.
_REFUTED = 3.0
#: Probability of a cluster that the winner does not use.
_LEAST = 1e-6


@dataclass(frozen=True)
class _Portfolio:
    """What the candidates of one restart are made of.

    Attributes
    ----------
    features : [N, D] float64
    spreads : classifiers that all candidates share
    """

    data: TrainingData
    answers: PairAnnotations
    model: GenerativeSettings
    settings: StartSettings
    restart: int
    say: Say
    features: np.ndarray
    spreads: Sequence[Spread]

    def winner(self) -> Candidate:
        """Each origin's candidate, that of the best and of the networks with networks beside, and the best of all."""
        first = self.first_clusters()
        found = {origin: self.refined(origin, clusters, self.spreads) for origin, clusters in first.items()}
        if NETWORKS in first:
            networks = self.settings.networks
            learned = NetworkSpread(self.features.astype(np.float32), self.model.hidden, networks, self.data.seed)
            best = judged(found, self.answers)
            finalists = {"networks": first[NETWORKS]}
            if not np.array_equal(found[best].clusters, first[NETWORKS]):
                finalists = {f"{best}, then networks": found[best].clusters} | finalists
            for name, clusters in finalists.items():
                found[name] = self.refined(name, clusters, [*self.spreads, learned], rounds=0)
        best = judged(found, self.answers)
        self.say(f"start: {_verdict(found, best, self.answers)}")
        return found[best]

    def refined(self, name: str, clusters: np.ndarray, spreads: Sequence[Spread], rounds: int = ROUNDS) -> Candidate:
        """A candidate from first clusters [n] of the annotated items."""
        self.say(f"start: {name}")
        folds = stream(self.data.seed, "portfolio/folds", self.restart)
        return cotrain(self.answers, clusters, StackedSpread(spreads), folds, rounds)

    def first_clusters(self) -> dict[str, np.ndarray]:
        """Clusters [n] of the annotated items, by where they come from."""
        K, annotated = self.model.K, self.answers.annotated
        rng = stream(self.data.seed, "portfolio/cells", self.restart)
        found: dict[str, np.ndarray] = {}
        for times in _CELLS:
            with threadpool_limits(1):
                kmeans = KMeans(min(times * K, self.data.num_items), n_init=1, random_state=int(rng.integers(2**31)))
                cells = kmeans.fit_predict(self.features).astype(np.int64)
            found[f"{times * K} cells"] = _joined(cells, self.answers, K)[annotated]
        if len(annotated) >= K:
            alone = np.zeros(self.data.num_items, np.int64)
            alone[annotated] = spectral_clusters(self.answers, K, 2, rng)[-1].numpy()
            found["answers alone"] = _joined(alone, self.answers, K)[annotated]
        if self.answers.num_pairs <= FEW_ANSWERS:
            found[NETWORKS] = self.networks()
        return found

    def networks(self) -> np.ndarray:
        """By networks of K clusters, then by networks of as many as those have used; of the two the higher bound."""
        found = annotated_start(self.data, self.answers, self.model, self.settings, 1, self.say)
        used = len(found.probabilities[0].argmax(-1).unique())
        if 1 < used < self.model.K:
            fewer = replace(self.model, K=used)
            again = annotated_start(self.data, self.answers, fewer, self.settings, 1, self.say)
            found = max(found, again, key=lambda one: float(one.bound))
        return found.probabilities[0].argmax(-1).numpy()


def portfolio_start(
    data: TrainingData,
    annotations: PairAnnotations,
    model: GenerativeSettings,
    settings: StartSettings,
    restarts: int,
    say: Say,
) -> AnswerStart:
    """The winner of each restart."""
    features = data.features.cpu().double().numpy()
    given, spreads = (data, annotations, model, settings), _spreads(features)
    won = [_Portfolio(*given, restart, say, features, spreads).winner() for restart in range(restarts)]
    annotators = Annotators(*(torch.cat(eta) for eta in zip(*(one.annotators for one in won), strict=True)))
    found = torch.full((restarts, data.num_items, model.K), _LEAST)
    for restart, one in enumerate(won):
        probabilities = torch.from_numpy(one.probabilities(annotations.annotated)).float()
        found[restart, :, : probabilities.shape[1]] += probabilities
    return AnswerStart(annotators, found / found.sum(-1, keepdim=True))


def _spreads(features: np.ndarray) -> list[Spread]:
    neighbours = NeighbourSpread(features)
    return [
        LogisticSpread(features),
        neighbours,
        GaussianSpread(features, neighbours, _FULL, shared=False),
        GaussianSpread(features, neighbours, _SHARED, shared=True),
    ]


def _joined(clusters: np.ndarray, answers: PairAnnotations, num_clusters: int) -> np.ndarray:
    """Clusters [N] joined where the answers say that they are one kind, by annotators judged by these clusters."""
    known = np.eye(int(clusters.max()) + 1)[clusters[answers.annotated]]
    sensitivity, specificity = (beta.expected_statistics(eta) for eta in judge_annotators(known, answers))
    worker, label = torch.from_numpy(answers.worker), torch.from_numpy(answers.label)
    evidence = pair_evidence(sensitivity, specificity, worker, label)
    return join_cells(clusters, answers, evidence.weight[0].numpy(), num_clusters)


def judged(found: Mapping[str, Candidate], answers: PairAnnotations) -> str:
    """The name of the winner.

    Of whole tasks the one with the highest evidence, which knows of misplaced items and merged kinds. Of answers on
    their own, which can't tell those from two kinds that are one: of those that all answers together do not refute, and
    of these within one standard error of the best score, one with the fewest clusters. The standard error is that of
    the mean difference to the best, paired by answer, over items.
    Refuted is whose evidence is less than another's by more than :data:`_REFUTED` standard errors of the difference,
    over items: a thousand answers that tell two kinds apart count, also where features alone would not tell them apart.
    """
    likeliest = max(found, key=lambda name: found[name].evidence.sum())
    if answers.task is not None:
        return likeliest
    most = found[likeliest].evidence
    left = {name: one for name, one in found.items() if not _refuted(most - one.evidence)}
    best = max(left, key=lambda name: left[name].scores.mean())
    leads = {name: _lead(left[best], one, answers) for name, one in left.items()}
    close = [name for name, (lead, error) in leads.items() if lead <= error]
    return min(close, key=lambda name: (left[name].known.shape[1], -left[name].scores.mean()))


def _refuted(lead: np.ndarray) -> bool:
    """Whether the sum of such leads [n] is more than chance."""
    return bool(lead.sum() > _REFUTED * lead.std() * np.sqrt(len(lead)))


def _lead(first: Candidate, second: Candidate, answers: PairAnnotations) -> tuple[float, float]:
    """Mean difference of two scores, and its standard error."""
    lead = first.scores - second.scores
    of_items = np.bincount(answers.index.i, lead - lead.mean(), minlength=len(answers.annotated))
    return float(lead.mean()), float(np.sqrt((of_items**2).sum())) / len(lead)


def _verdict(found: Mapping[str, Candidate], won: str, answers: PairAnnotations) -> str:
    score = found[won].scores.mean()
    others = sorted(found.keys() - {won}, key=lambda name: -found[name].scores.mean())
    if not others:
        return f"{won} won with {score:.4f} nats an answer"
    lead, error = _lead(found[won], found[others[0]], answers)
    return f"{won} won with {score:.4f} nats an answer, {lead:+.4f} ({error:.4f}) against {others[0]}"
