"""A portfolio of starts and one judge: many ways to clusters that answers and features agree on.

None of them is right on all data. First clusters come from the features (cells joined by the answers), from the answers
alone, and from networks trained on the answers; each is refined and spread to all items by several classifiers, mixed
as they deserve (:mod:`semicrowd.starts.cotraining`, :mod:`semicrowd.starts.spreading`). The candidate under which the
answers are likeliest wins, each item known by its features alone and out of sample.
"""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import torch
from sklearn.cluster import KMeans
from threadpoolctl import threadpool_limits

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.crowd.cells import join_cells
from semicrowd.expfam import beta
from semicrowd.inference.graph import answer_graph
from semicrowd.models.training_data import TrainingData
from semicrowd.random import stream
from semicrowd.settings.model import GenerativeSettings
from semicrowd.settings.training import StartSettings
from semicrowd.starts.answer_classifier import spectral_clusters
from semicrowd.starts.answers import AnswerStart, annotated_start
from semicrowd.starts.cotraining import Candidate, cotrain, judge_annotators
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
#: Networks learn from the answers where these are few: each of their steps looks at all of them.
FEW_ANSWERS = 20_000
#: Probability of a cluster that the winner does not use.
_LEAST = 1e-6


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
    won = [_winner(data, features, annotations, model, settings, restart, say) for restart in range(restarts)]
    annotators = (torch.cat(eta) for eta in zip(*(one.annotators for one in won), strict=True))
    found = torch.full((restarts, data.num_items, model.K), _LEAST)
    for restart, one in enumerate(won):
        probabilities = torch.from_numpy(one.probabilities(annotations.annotated)).float()
        found[restart, :, : probabilities.shape[1]] += probabilities
    return AnswerStart(type(won[0].annotators)(*annotators), found / found.sum(-1, keepdim=True))


def _winner(
    data: TrainingData,
    features: np.ndarray,
    answers: PairAnnotations,
    model: GenerativeSettings,
    settings: StartSettings,
    restart: int,
    say: Say,
) -> Candidate:
    """All candidates for a turn, the best of them for the rest, and the best of those."""

    def refined(name: str, clusters: np.ndarray, spread: Spread, **options: int) -> Candidate:
        say(f"start: {name}")
        return cotrain(answers, clusters, spread, stream(data.seed, "portfolio/folds", restart), **options)

    first = _first_clusters(data, features, answers, model, settings, restart, say)
    found = {origin: refined(origin, clusters, StackedSpread(_spreads(features))) for origin, clusters in first.items()}
    if answers.num_pairs <= FEW_ANSWERS:
        networks = NetworkSpread(features.astype(np.float32), model.hidden, settings.networks, data.seed)
        best = judged(found, answers)
        for name, clusters in ((f"{best}, then networks", found[best].clusters), ("networks", first[NETWORKS])):
            found[name] = refined(name, clusters, StackedSpread([*_spreads(features), networks]), rounds=0)
    best = judged(found, answers)
    say(f"start: {_verdict(found, best, answers)}")
    return found[best]


def _first_clusters(
    data: TrainingData,
    features: np.ndarray,
    answers: PairAnnotations,
    model: GenerativeSettings,
    settings: StartSettings,
    restart: int,
    say: Say,
) -> dict[str, np.ndarray]:
    """Clusters [n] of the annotated items, by where they come from."""
    K = model.K
    rng = stream(data.seed, "portfolio/cells", restart)
    found: dict[str, np.ndarray] = {}
    for times in _CELLS:
        with threadpool_limits(1):
            kmeans = KMeans(min(times * K, data.num_items), n_init=1, random_state=int(rng.integers(2**31)))
            cells = kmeans.fit_predict(features).astype(np.int64)
        found[f"{times * K} cells"] = _joined(cells, answers, K)[answers.annotated]
    if len(answers.annotated) >= K:
        alone = np.zeros(data.num_items, np.int64)
        alone[answers.annotated] = spectral_clusters(answers, K, 2, rng)[-1].numpy()
        found["answers alone"] = _joined(alone, answers, K)[answers.annotated]
    if answers.num_pairs <= FEW_ANSWERS:
        found[NETWORKS] = _networks(data, answers, model, settings, say)
    return found


def _networks(
    data: TrainingData, answers: PairAnnotations, model: GenerativeSettings, settings: StartSettings, say: Say
) -> np.ndarray:
    """By networks of K clusters, then by networks of as many as those have used; of the two the higher bound."""
    found = annotated_start(data, answers, model, settings, 1, say)
    used = len(found.probabilities[0].argmax(-1).unique())
    if 1 < used < model.K:
        again = annotated_start(data, answers, replace(model, K=used), settings, 1, say)
        found = max(found, again, key=lambda one: float(one.bound))
    return found.probabilities[0].argmax(-1).numpy()


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
    expected = (beta.expected_statistics(eta) for eta in judge_annotators(known, answers))
    _, evidence = answer_graph(answers.index.whole, *expected)
    return join_cells(clusters, answers, evidence.weight[0].numpy(), num_clusters)


def judged(found: Mapping[str, Candidate], answers: PairAnnotations) -> str:
    """The name of the winner: of those within one standard error of the best score one with the fewest clusters.

    The standard error is that of the mean difference to the best, paired by answer, over items.
    """
    best = max(found, key=lambda name: found[name].scores.mean())
    leads = {name: _lead(found[best], one, answers) for name, one in found.items()}
    close = [name for name, (lead, error) in leads.items() if lead <= error]
    return min(close, key=lambda name: (found[name].known.shape[1], -found[name].scores.mean()))


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
