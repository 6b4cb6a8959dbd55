"""Candidates: initial clusters of the annotated items, and their co-training by classifiers and answers.

Initial clusters are k-means cells of each preparation of the features, spectral clusters of the answers, and those of
networks that learn the answers; cells are joined where the answers support it. Then two steps alternate (co-training:
Blum & Mitchell 1998). Classifiers learn the current clusters and predict the annotated items by cross-validation; the
annotators' rates are estimated and message passing (SCDC paper, eq. 14) combines the predictions with the answers.
Cross-validation prevents leakage: a classifier trained on an item's cluster would return the answers about this item as
evidence of its features.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from jaxtyping import Float, Int

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.crowd.cells import join_cells, kmeans_cells, reversed_annotators
from semicrowd.inference.features_alone import clusters_of_features
from semicrowd.methods.cotraining.answers import Answers
from semicrowd.methods.cotraining.classifiers import ItemClassifier
from semicrowd.methods.cotraining.pool import Calibration, Pool
from semicrowd.random import stream
from semicrowd.starts.answer_classifier import spectral_clusters, train_on_answers
from semicrowd.starts.answers import joint_probabilities

#: Name of the candidate whose initial clusters are those of networks that learn the answers.
NETWORKS = "networks of the answers"
#: Their number, the units of their hidden layers, and about how many items they are trained on, at most.
_NETWORKS, _HIDDEN, _NETWORK_ITEMS = 4, (40, 40), 1000
#: Number of k-means cells of the initial clusters, as a multiple of the maximum number of clusters.
_CELLS = 1.5
#: Folds of cross-validation of the annotated items.
_FOLDS = 5
#: Rounds of co-training after the first, at most.
_ROUNDS = 8
#: Co-training ends when no more than this share of the items changes its cluster in a round.
_SETTLED_SHARE = 0.002
#: Iterations between annotators and items within a round.
_INFERENCE_ITERATIONS = 5
#: Nats per item by which the bound of message passing from the current clusters has to exceed that from the features'
#: predictions to be preferred. It is large because dependent answers exaggerate differences of bounds.
_MIN_BOUND_GAIN = 0.5


@dataclass(frozen=True)
class Candidate:
    """A candidate clustering; each has its own number of clusters K.

    Attributes
    ----------
    known : cluster probabilities of the annotated items, given features and answers
    features : cross-validated cluster probabilities of the annotated items, given the features alone
    evidence : :meth:`Answers.bound` of ``known``, in nats
    pool : the classifiers of all items
    independent : whether the answers of a grouping counted as independent
    """

    known: Float[np.ndarray, "n K"]
    features: Float[np.ndarray, "n K"]
    evidence: float
    pool: Pool
    independent: bool

    @property
    def clusters(self) -> Int[np.ndarray, "n"]:
        """The most probable cluster of each annotated item."""
        return self.known.argmax(1)

    def same_clusters(self, other: "Candidate") -> bool:
        """Whether two candidates have the same clusters, except for less than 1 % of the expected number of items.

        Expected under independent draws from both candidates' probabilities, so that uncertain items count as
        differences.
        """
        together = self.known.T @ other.known
        least = 0.99 * together.sum()
        return bool(together.max(1).sum() > least and together.max(0).sum() > least)


def initial_clusters(
    prepared: Mapping[str, Float[np.ndarray, "N C"]], answers: PairAnnotations, max_clusters: int, seed: int
) -> tuple[dict[str, tuple[Int[np.ndarray, "n"], Sequence[str]]], dict[int, float]]:
    """Name of a candidate → initial clusters, and the preparations whose classifiers co-train it first.

    Parameters
    ----------
    prepared : features of all N items in each preparation, the first one with the highest priority

    Returns
    -------
    the candidates; and the probability of each number of clusters by the features alone
    """
    annotated, indexed = answers.annotated, Answers.of(answers)
    found = dict[str, tuple[Int[np.ndarray, "n"], Sequence[str]]]()

    def add(name: str, clusters: Int[np.ndarray, "N"], own: Sequence[str]) -> None:
        """Clusters joined where the answers support it, and until at most ``max_clusters`` remain."""
        known = np.eye(int(clusters.max()) + 1)[clusters[annotated]]
        weights = indexed.counts * indexed.weights(indexed.rates(known))
        found[name] = join_cells(clusters, answers, weights, max_clusters)[annotated], own

    for name, x in prepared.items():
        number = max(2, min(round(_CELLS * max_clusters), len(annotated) // 2))
        draws = stream(seed, f"cotraining/cells of {name} features")
        add(f"cells of {name} features", kmeans_cells(x, number, int(draws.integers(2**31))), [name])
    if len(annotated) > max_clusters:
        clusters = np.zeros(answers.num_items, np.int64)
        draws = stream(seed, "cotraining/answers")
        clusters[annotated] = spectral_clusters(answers, max_clusters, 2, draws)[-1].numpy()
        add("answers alone", clusters, list(prepared))
    first, draws = next(iter(prepared)), stream(seed, "cotraining/features")
    add(NETWORKS, clusters_by_networks(prepared[first], answers, max_clusters, seed), list(prepared))
    return found, clusters_of_features(prepared[first], max(max_clusters, 2), draws)[1]


def clusters_by_networks(
    x: Float[np.ndarray, "N C"], answers: PairAnnotations, max_clusters: int, seed: int
) -> Int[np.ndarray, "N"]:
    """Clusters of networks q(z | o) that are trained on the answers (:mod:`semicrowd.starts.answer_classifier`).

    k-means cells follow what varies most in the features. Where the answers are about something else, such as the pose
    in pictures of many people, networks that learn the answers find it. Annotated items also have message passing.
    """
    some = _answers_about_few(answers, stream(seed, "cotraining/networks"))
    cells = kmeans_cells(x, max_clusters, int(stream(seed, "cotraining/networks/cells").integers(2**31)))
    reverse, features = reversed_annotators(cells, some)[None], torch.from_numpy(x.astype(np.float32))
    trained = train_on_answers(features, some, max_clusters, _HIDDEN, _NETWORKS, seed, reverse)
    with torch.no_grad():
        clusters: np.ndarray = trained.net(features)[0].argmax(-1).numpy()
    clusters[some.annotated] = joint_probabilities(trained, features, some)[0].argmax(-1).numpy()
    return clusters


def _answers_about_few(answers: PairAnnotations, rng: np.random.Generator) -> PairAnnotations:
    """Answers to random questions (tasks, or pairs) about some items, and all other answers between these items.

    A random sample of items would contain hardly any answers if items have few; a sample of questions would contain too
    few items of each cluster if items have many.
    """
    if len(answers.annotated) <= _NETWORK_ITEMS:
        return answers
    order = rng.permutation(int(answers.question.max()) + 1)[answers.question].argsort(kind="stable")
    index = answers.index
    both = np.stack([index.i[order], index.j[order]], 1).ravel()
    first = np.zeros(len(both), bool)
    first[np.unique(both, return_index=True)[1]] = True
    # A question is taken as a whole, so the number of items may be higher by those of one question.
    last = answers.question[order][np.searchsorted(first.cumsum(), _NETWORK_ITEMS) // 2]
    taken = order[: np.flatnonzero(answers.question[order] == last).max() + 1]
    inside = np.zeros(len(answers.annotated), bool)
    inside[index.i[taken]] = inside[index.j[taken]] = True
    return answers.some(inside[index.i] & inside[index.j])


def cotrain(
    answers: PairAnnotations,
    clusters: Int[np.ndarray, "n"],
    classifiers: Sequence[ItemClassifier],
    max_clusters: int,
    seed: int,
    independent: bool = False,
) -> Candidate:
    """Co-train a candidate from initial clusters.

    Parameters
    ----------
    clusters : initial clusters of the annotated items, numbered from 0
    classifiers : of all items, which are pooled
    max_clusters : maximum number of clusters
    seed : of the folds of the items
    independent : whether the answers of a grouping count as independent, and not as their effective number, while items
        and annotators are inferred: weak answers of large groupings would otherwise never part the clusters. Where each
        person has seen a few items of their own, it makes clusters too sure to be matched by the features. The evidence
        always counts the effective number
    """
    items, pool, fold = answers.annotated, Pool(classifiers), folds(answers, seed)
    indexed = Answers.of(answers)
    counted = replace(indexed, counts=np.ones(answers.num_pairs)) if independent else indexed
    known = _used(np.eye(int(clusters.max()) + 1)[clusters])
    power = 1.0
    for turn in range(_ROUNDS + 1):
        features = pool.out_of_sample(items, known, fold)
        # Message passing that starts at the features' predictions often reaches a better optimum; where features carry
        # no information it has to start at the current clusters.
        starts = (known if turn else features, features), (known, known)
        by_features, by_clusters = (counted.infer(features, *one, power, _INFERENCE_ITERATIONS) for one in starts)
        keep_clusters = by_clusters.bound > by_features.bound + _MIN_BOUND_GAIN * len(items)
        inferred = by_clusters if keep_clusters else by_features
        calibration = Calibration.of_answers(inferred.message, features, known.mean(0))
        before, power = known.argmax(1), calibration.power
        known = calibration.with_answers(inferred.message, features)
        moved = (known.argmax(1) != before).mean()
        if turn == _ROUNDS or (turn and moved <= _SETTLED_SHARE):
            break
        known = _joined(known, answers, power * counted.counts * inferred.weights, max_clusters)
    return Candidate(known, features, indexed.bound(known, features), pool, independent)


def folds(answers: PairAnnotations, seed: int) -> Int[np.ndarray, "n"]:
    """Folds of the annotated items, in which classifiers are cross-validated."""
    return stream(seed, "cotraining/folds").permutation(len(answers.annotated)) % _FOLDS


def _used(known: np.ndarray) -> np.ndarray:
    size = np.bincount(known.argmax(1), minlength=known.shape[1])
    known = known[:, size >= min(2, size.max())] + 1e-12  # uniform for an item that had only dropped clusters
    return known / known.sum(1, keepdims=True)


def _joined(known: np.ndarray, answers: PairAnnotations, weight: np.ndarray, max_clusters: int) -> np.ndarray:
    """Merge clusters that are one class according to the answers, and more if there are over ``max_clusters``."""
    names, clusters_in_use = np.unique(known.argmax(1), return_inverse=True)
    everywhere = np.zeros(answers.num_items, np.int64)
    everywhere[answers.annotated] = clusters_in_use
    most = max(min(len(names), max_clusters), 2)
    name = join_cells(everywhere, answers, weight, most)[answers.annotated]
    merge = np.zeros((len(names), int(name.max()) + 1))
    merge[clusters_in_use, name] = 1.0
    return _used(known[:, names] @ merge)
