"""Clusters of the annotated items that answers and features agree on, spread to all items: co-training.

From first clusters of the annotated items two things take turns (Blum & Mitchell 1998): classifiers learn the clusters
and say of each annotated item, out of sample, what its features are; the annotators are judged and message passing
(SCDC paper, eq. 14) joins their answers to that. Out of sample: the classifier that speaks of an item has not seen its
cluster, or an answer would be taken for the features' word.

A candidate is judged by answers that were held out: how probable are they, given the features and the other answers?
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.crowd.cells import join_cells
from semicrowd.starts.answer_classifier import Annotators
from semicrowd.starts.answer_model import Heard, fit_prevalence
from semicrowd.starts.calibration import Calibration
from semicrowd.starts.spreading import Spread

#: Folds of the annotated items: what is said of an item comes from classifiers that learned the other folds.
FOLDS = 5
#: Turns, at most.
ROUNDS = 8
#: Share of the items that still move from one cluster to another when the turns end.
_SETTLED = 0.002
#: Turns of judging the annotators and placing the items within one turn.
_PLACING_TURNS = 5
#: Nats an item by which a bound has to be better: answers that share their mistakes make bounds differ by too much.
_CLEARLY = 0.5
#: Turns of judging annotators and placing items while some answers are held out.
_HELD_OUT_TURNS = 2


@dataclass(frozen=True)
class Candidate:
    """What one way has found, K clusters of its own number.

    Attributes
    ----------
    known : [n, K] cluster probabilities of the annotated items, answers included
    features : [n, K] the same by the features alone, out of sample
    answers : how far the answers are to be believed
    annotators : natural parameters of q(α) and q(β), [1, M, 2]
    scores : [P] ln p of every answer, held out
    spread : the classifier of all items
    cotrained : whether classifiers have learned what the answers have changed
    """

    known: np.ndarray
    features: np.ndarray
    answers: Calibration
    annotators: Annotators
    scores: np.ndarray
    spread: Spread
    cotrained: bool = True

    @property
    def clusters(self) -> np.ndarray:
        """Of the annotated items, [n]."""
        return self.known.argmax(1)

    def probabilities(self, items: Int[np.ndarray, "n"]) -> tuple[Float[np.ndarray, "N K"], Float[np.ndarray, "N K"]]:
        """Of all items, from their features alone; and with all that is known of the annotated ones, whose rows these
        are.
        """
        alone = self.spread(items, self.known)
        final = alone.copy()
        final[items] = self.known
        return alone, final


def cotrain(
    answers: PairAnnotations,
    clusters: Int[np.ndarray, "n"],
    spread: Spread,
    rng: np.random.Generator,
    rounds: int = ROUNDS,
    most: int | None = None,
) -> Candidate:
    """From first clusters of the annotated items to a candidate.

    Parameters
    ----------
    clusters : of the annotated items, any numbers from 0 on
    rng : draws the folds
    rounds : turns after the first, in which classifiers learn what answers have changed; 0: only single items move
    most : clusters at most
    """
    items, heard = answers.annotated, Heard.of(answers)
    fold = rng.permutation(len(items)) % FOLDS
    known = _used(np.eye(int(clusters.max()) + 1)[clusters])
    trust = 1.0
    for turn in range(rounds + 1):
        features = spread.out_of_sample(items, known, fold)
        # From what the features say answers often lead further; where features say nothing, only clusters lead on.
        ways = (known if turn else features, features), (known, known)
        by_features, by_clusters = (heard.placed(features, *way, trust, _PLACING_TURNS) for way in ways)
        held = by_clusters.bound > by_features.bound + _CLEARLY * len(items)
        placed = by_clusters if held else by_features
        believed = Calibration.of_answers(placed.message, features, known.mean(0))
        before, trust = known.argmax(1), believed.power
        known = believed.with_answers(placed.message, features)
        moved = (known.argmax(1) != before).mean()
        if turn == rounds or (turn and moved <= _SETTLED):
            break
        known = _joined(known, answers, trust * placed.weights, most)
    scores = held_out_scores(answers, known, features, believed)
    return Candidate(known, features, believed, heard.rates(known).annotators, scores, spread, rounds > 0)


def held_out_scores(
    answers: PairAnnotations,
    known: Float[np.ndarray, "n K"],
    features: Float[np.ndarray, "n K"],
    believed: Calibration,
) -> Float[np.ndarray, "P"]:
    """ln p of every answer, given the features and the answers of other tasks (of other pairs, without tasks).

    Annotators, look-alike clusters and the items' clusters are inferred from those others alone; the annotators
    are first judged where all answers have led.
    """
    scores = np.empty(answers.num_pairs)
    fold = folds_of_answers(answers)
    for one in range(FOLDS):
        told, asked = Heard.of(answers, fold != one), Heard.of(answers, fold == one)
        if not len(asked.i):
            continue
        z = known
        for _ in range(_HELD_OUT_TURNS):
            _, message = told.joined(features, told.rates(z), believed.power, z)
            z = believed.with_answers(message, features)
        scores[fold == one] = asked.log_likelihood(z, *told.alike(z))
    return scores


def scores_without_clusters(answers: PairAnnotations) -> Float[np.ndarray, "P"]:
    """The same where answers are believed to have nothing to do with the items."""
    scores, fold = np.empty(answers.num_pairs), folds_of_answers(answers)
    for one in range(FOLDS):
        told, asked = fold != one, fold == one
        says_same = fit_prevalence(answers.worker[told], answers.label[told], answers.num_annotators)
        chance = says_same[answers.worker[asked]]
        scores[asked] = np.log(np.where(answers.label[asked] == 1, chance, 1 - chance))
    return scores


def folds_of_answers(answers: PairAnnotations, folds: int = FOLDS) -> Int[np.ndarray, "P"]:
    """The fold of each answer: those of a task together, else those about a pair."""
    number = int(answers.question.max()) + 1
    # Always the same folds, or the standard error of a difference would hold their noise.
    return (np.random.default_rng(0).permutation(number) % folds)[answers.question]


def _used(known: np.ndarray) -> np.ndarray:
    """The clusters that are the most probable of two items at least: a kind seen once is as likely a mistake."""
    size = np.bincount(known.argmax(1), minlength=known.shape[1])
    known = known[:, size >= min(2, size.max())] + 1e-12  # of a lone item nothing is known now
    return known / known.sum(1, keepdims=True)


def _joined(known: np.ndarray, answers: PairAnnotations, weight: np.ndarray, most: int | None) -> np.ndarray:
    """Clusters that the answers say are one, as one."""
    names, found = np.unique(known.argmax(1), return_inverse=True)
    everywhere = np.zeros(answers.num_items, np.int64)
    everywhere[answers.annotated] = found
    name = join_cells(everywhere, answers, weight, max(min(len(names), most or len(names)), 2))[answers.annotated]
    union = np.zeros((len(names), int(name.max()) + 1))
    union[found, name] = 1.0
    return _used(known[:, names] @ union)
