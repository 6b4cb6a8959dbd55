"""Co-training (Blum & Mitchell 1998) of the annotated items' clusters by classifiers of the features and by answers.

Two steps alternate. Classifiers learn the current clusters and predict the annotated items by cross-validation; then
the annotators' rates are estimated and message passing (SCDC paper, eq. 14) combines the predictions with the answers.
Cross-validation prevents leakage: a classifier trained on an item's cluster would return the answers about this item
as evidence of its features.

The score of a candidate is the log probability of held-out answers, given the features and the other answers.
"""

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float, Int

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.crowd.cells import join_cells
from semicrowd.random import stream
from semicrowd.starts.answer_classifier import Annotators
from semicrowd.starts.answer_model import IndexedAnswers, fit_prevalence
from semicrowd.starts.calibration import Calibration
from semicrowd.starts.item_classifiers import ItemClassifier

#: Folds of cross-validation of the annotated items.
FOLDS = 5
#: Rounds of co-training after the first, at most.
ROUNDS = 8
#: Co-training ends when no more than this share of the items changes its cluster in a round.
_SETTLED_SHARE = 0.002
#: Iterations between annotators and items within a round.
_INFERENCE_ITERATIONS = 5
#: Nats per item by which the bound of message passing from the current clusters has to exceed that from the features'
#: predictions to be preferred. It is large because dependent answers exaggerate differences of bounds.
_MIN_BOUND_GAIN = 0.5
#: Iterations between annotators and items when some answers are held out.
_HELD_OUT_ITERATIONS = 2


@dataclass(frozen=True)
class Candidate:
    """A candidate clustering; each has its own number of clusters K.

    Attributes
    ----------
    known : cluster probabilities of the annotated items, given features and answers
    features : cross-validated cluster probabilities of the annotated items, given the features alone
    answers : calibration of the answers
    annotators : natural parameters of q(α) and q(β), [1, M, 2]
    scores : ln p of every answer when it is held out
    classifier : the classifier of all items
    cotrained : False where classifiers were trained on the initial clusters only
    independent : whether the answers of one grouping counted as independent (:meth:`IndexedAnswers.of`)
    """

    known: Float[np.ndarray, "n K"]
    features: Float[np.ndarray, "n K"]
    answers: Calibration
    annotators: Annotators
    scores: Float[np.ndarray, "P"]
    classifier: ItemClassifier
    cotrained: bool = True
    independent: bool = True

    @property
    def clusters(self) -> Int[np.ndarray, "n"]:
        """The most probable cluster of each annotated item."""
        return self.known.argmax(1)

    def probabilities(self, items: Int[np.ndarray, "n"]) -> tuple[Float[np.ndarray, "N K"], Float[np.ndarray, "N K"]]:
        """Cluster probabilities of all items: from features alone, then with those of annotated items from ``known``.

        Parameters
        ----------
        items : rows of all annotated items, in the order of ``known``
        """
        alone = self.classifier(items, self.known)
        final = alone.copy()
        final[items] = self.known
        return alone, final


def cotrain(
    answers: PairAnnotations,
    clusters: Int[np.ndarray, "n"],
    classifier: ItemClassifier,
    rng: np.random.Generator,
    rounds: int = ROUNDS,
    max_clusters: int | None = None,
    *,
    independent: bool = True,
) -> Candidate:
    """Co-train a candidate from initial clusters.

    Parameters
    ----------
    clusters : initial clusters of the annotated items, numbered from 0
    rng : draws the folds of the items
    rounds : rounds after the first, at most; 0: classifiers learn the initial clusters only, and the answers then move
        single items
    max_clusters : maximum number of clusters
    independent : whether the answers of one grouping count as independent (:meth:`IndexedAnswers.of`)
    """
    items, indexed = answers.annotated, IndexedAnswers.of(answers, independent=independent)
    fold = rng.permutation(len(items)) % FOLDS
    known = _used(np.eye(int(clusters.max()) + 1)[clusters])
    power = 1.0
    for turn in range(rounds + 1):
        features = classifier.out_of_sample(items, known, fold)
        # Message passing that starts at the features' predictions often reaches a better optimum; where features carry
        # no information it has to start at the current clusters.
        starts = (known if turn else features, features), (known, known)
        by_features, by_clusters = (indexed.infer_items(features, *one, power, _INFERENCE_ITERATIONS) for one in starts)
        keep_clusters = by_clusters.bound > by_features.bound + _MIN_BOUND_GAIN * len(items)
        inferred = by_clusters if keep_clusters else by_features
        calibration = Calibration.of_answers(inferred.message, features, known.mean(0))
        before, power = known.argmax(1), calibration.power
        known = calibration.with_answers(inferred.message, features)
        moved = (known.argmax(1) != before).mean()
        if turn == rounds or (turn and moved <= _SETTLED_SHARE):
            break
        known = _joined(known, answers, power * inferred.weights, max_clusters)
    scores = held_out_scores(answers, known, features, calibration, independent=independent)
    annotators = indexed.rates(known).annotators
    return Candidate(known, features, calibration, annotators, scores, classifier, rounds > 0, independent)


def held_out_scores(
    answers: PairAnnotations,
    known: Float[np.ndarray, "n K"],
    features: Float[np.ndarray, "n K"],
    calibration: Calibration,
    *,
    independent: bool = True,
) -> Float[np.ndarray, "P"]:
    """ln p of every answer, given the features and the answers of the other folds (:func:`folds_of_answers`).

    The annotators' rates, the similarity of clusters and q(z) are inferred from the answers of the other folds. But
    ``known`` (the initial q(z)), ``features`` and ``calibration`` depend on all answers, so the scores are optimistic.
    """
    scores = np.empty(answers.num_pairs)
    fold = folds_of_answers(answers)
    for one in range(FOLDS):
        training = IndexedAnswers.of(answers, fold != one, independent=independent)
        held_out = IndexedAnswers.of(answers, fold == one)
        if not len(held_out.i):
            continue
        z = known
        for _ in range(_HELD_OUT_ITERATIONS):
            _, message = training.item_posterior(features, training.rates(z), calibration.power, z)
            z = calibration.with_answers(message, features)
        scores[fold == one] = held_out.log_likelihood(z, *training.similarity(z))
    return scores


def scores_without_clusters(answers: PairAnnotations) -> Float[np.ndarray, "P"]:
    """ln p of every answer, held out by folds, in the model without clusters.

    In this model each annotator answers "same" with a constant probability, whatever the items.
    """
    scores, fold = np.empty(answers.num_pairs), folds_of_answers(answers)
    for one in range(FOLDS):
        training, held_out = fold != one, fold == one
        says_same = fit_prevalence(answers.worker[training], answers.label[training], answers.num_annotators)
        chance = says_same[answers.worker[held_out]]
        scores[held_out] = np.log(np.where(answers.label[held_out] == 1, chance, 1 - chance))
    return scores


def folds_of_answers(answers: PairAnnotations, folds: int = FOLDS) -> Int[np.ndarray, "P"]:
    """The fold of each answer; answers of one task, or without tasks about one pair, are in one fold.

    Where one person has sorted all items, and other tasks are but links of single pairs, answers about one pair are.
    They follow from that person's others, so that nothing then guards against a single person who sorts at random.
    """
    pairs = np.bincount(answers.question)
    one = answers.task is not None and (pairs > 1).sum() == 1
    unit = replace(answers, task=None).question if one else answers.question
    # Always the same folds: random ones would add variance to paired differences.
    return (stream(0, "cotraining/folds").permutation(int(unit.max()) + 1) % folds)[unit]


def _used(known: np.ndarray) -> np.ndarray:
    size = np.bincount(known.argmax(1), minlength=known.shape[1])
    known = known[:, size >= min(2, size.max())] + 1e-12  # uniform for an item that had only dropped clusters
    return known / known.sum(1, keepdims=True)


def _joined(known: np.ndarray, answers: PairAnnotations, weight: np.ndarray, max_clusters: int | None) -> np.ndarray:
    """Merge clusters that are one class according to the answers, and more if there are over ``max_clusters``."""
    names, clusters_in_use = np.unique(known.argmax(1), return_inverse=True)
    everywhere = np.zeros(answers.num_items, np.int64)
    everywhere[answers.annotated] = clusters_in_use
    most = max(min(len(names), max_clusters or len(names)), 2)
    name = join_cells(everywhere, answers, weight, most)[answers.annotated]
    merge = np.zeros((len(names), int(name.max()) + 1))
    merge[clusters_in_use, name] = 1.0
    return _used(known[:, names] @ merge)
