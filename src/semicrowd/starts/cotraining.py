"""A candidate for the start: clusters of the annotated items that answers and features agree on, spread to all items.

From first clusters of the annotated items two things take turns: a classifier learns the clusters and says of each
annotated item, out of sample, what its features are; the annotators are judged and message passing (SCDC paper,
eq. 14) joins their answers to that. Out of sample: the classifier that speaks of an item has not seen its cluster, so
that what an answer said does not come back as the features' word.

The same words judge the candidate: how probable are the answers if both items of a pair are known by their features
alone? No label is involved.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn.functional import one_hot

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.crowd.cells import join_cells
from semicrowd.crowd.two_coin import QUALITY_PRIOR, PairEvidence, agreement_by_annotator, quality_posterior
from semicrowd.expfam import beta
from semicrowd.inference.confusions import place
from semicrowd.inference.graph import answer_graph
from semicrowd.inference.message_passing import infer_z
from semicrowd.starts.answer_classifier import Annotators
from semicrowd.starts.answers import FOLDS
from semicrowd.starts.spreading import Spread

#: Turns.
ROUNDS = 3


@dataclass(frozen=True)
class Candidate:
    """What one way has found, K clusters of its own number.

    Attributes
    ----------
    known : [n, K] cluster probabilities of the annotated items
    annotators : natural parameters of q(α) and q(β), [1, M, 2]
    scores : [P] ln p of every answer, both of its items known by their features alone, out of sample
    evidence : [n] each annotated item's part in a bound on ln p of all answers together, given the features likewise
    spread : the classifier of all items
    """

    known: np.ndarray
    annotators: Annotators
    scores: np.ndarray
    evidence: np.ndarray
    spread: Spread

    @property
    def clusters(self) -> np.ndarray:
        """Of the annotated items, [n]."""
        return self.known.argmax(1)

    def probabilities(self, items: Int[np.ndarray, "n"]) -> Float[np.ndarray, "N K"]:
        """Of all items; of the annotated ones, whose rows these are, as they are known."""
        found = self.spread(items, self.known)
        found[items] = self.known
        return found


def cotrain(
    answers: PairAnnotations,
    clusters: Int[np.ndarray, "n"],
    spread: Spread,
    rng: np.random.Generator,
    rounds: int = ROUNDS,
) -> Candidate:
    """From first clusters of the annotated items to a candidate.

    Parameters
    ----------
    clusters : of the annotated items, any numbers from 0 on
    rng : draws the folds
    """
    items = answers.annotated
    fold = rng.permutation(len(items)) % FOLDS
    known = one_hot(torch.from_numpy(clusters)).double().numpy()
    for turn in range(rounds + 1):
        known = _used(known)
        features = spread.out_of_sample(items, known, fold)
        told = _of_pairs(features, known, answers) if answers.task is None else _of_tasks(features, known, answers)
        if turn == rounds:
            break
        known = np.exp(told.log_z) if told.weight is None else _joined(np.exp(told.log_z), answers, told.weight)
    return Candidate(known, judge_annotators(known, answers), told.scores, told.evidence, spread)


class _Told(NamedTuple):
    """What the answers make of annotated items whose features say something already.

    Attributes
    ----------
    log_z : [n, K]
    scores, evidence : see :class:`Candidate`
    weight : [P], what each answer says for its items being one, where it says so by itself
    """

    log_z: np.ndarray
    scores: np.ndarray
    evidence: np.ndarray
    weight: np.ndarray | None


def _of_pairs(features: np.ndarray, known: np.ndarray, answers: PairAnnotations) -> _Told:
    """Answers each on its own, annotators as the clusters before show them."""
    annotators = judge_annotators(known, answers)
    graph, evidence = answer_graph(answers.index.whole, *(beta.expected_statistics(eta) for eta in annotators))
    log_z = infer_z(torch.from_numpy(np.log(features))[None], graph)[0].numpy()
    alpha, specificity = (rate[0].numpy()[answers.worker] for rate in map(_mean, annotators))
    same = (features[answers.index.i] * features[answers.index.j]).sum(1)
    scores = log_predictive(same, alpha, specificity, answers.label)
    return _Told(log_z, scores, item_evidence(log_z, features, answers, evidence), evidence.weight[0].numpy())


def _of_tasks(features: np.ndarray, known: np.ndarray, answers: PairAnnotations) -> _Told:
    """Answers of whole tasks, whose annotators may confuse kinds or misplace an item.

    Nothing is joined: that many see two kinds as one is no sign that they are.
    """
    at_first = [beta.expected_statistics(eta) for eta in judge_annotators(known, answers)]
    placed = place(torch.from_numpy(np.log(features))[None], answers.index.whole, *at_first)
    i, j, worker, seen = answers.index.i, answers.index.j, answers.worker, placed.same()[0].numpy()
    same = np.empty(len(i))
    for annotator in np.unique(worker):
        rows = worker == annotator
        same[rows] = ((features[i[rows]] @ seen[annotator]) * features[j[rows]]).sum(1)
    alpha, specificity = (rate[0].numpy()[worker] for rate in map(_mean, placed.quality))
    scores = log_predictive(same, alpha, specificity, answers.label)
    return _Told(placed.log_z[0].numpy(), scores, placed.evidence[0].numpy(), None)


def _mean(eta: Tensor) -> Tensor:
    """Of Beta distributions, [*batch, 2] → [*batch]."""
    shape = beta.to_standard(eta)
    return shape[..., 0] / shape.sum(-1)


def judge_annotators(known: Float[np.ndarray, "n K"], answers: PairAnnotations) -> Annotators:
    """Exact posteriors of the annotators, given the clusters (eqs. 28 and 29), under the classifiers' prior."""
    index, z = answers.index, torch.from_numpy(known)
    worker, label = torch.from_numpy(answers.worker), torch.from_numpy(answers.label)
    prior = beta.to_natural(torch.tensor(QUALITY_PRIOR, dtype=torch.float64))
    same = (z[index.i] * z[index.j]).sum(-1)[None]
    found = agreement_by_annotator(same, worker, label, answers.num_annotators)
    return Annotators(*quality_posterior(prior, prior, found, torch.from_numpy(index.counts).double()))


def log_predictive(
    same: Float[np.ndarray, "P"],
    sensitivity: Float[np.ndarray, "P"],
    specificity: Float[np.ndarray, "P"],
    label: Int[np.ndarray, "P"],
) -> Float[np.ndarray, "P"]:
    """ln p(answer) of annotators with these rates where both items are of one kind with chance ``same``."""
    one = sensitivity * same + (1 - specificity) * (1 - same)
    return np.log(np.where(label == 1, one, 1 - one))


def item_evidence(
    log_z: Float[np.ndarray, "n K"],
    features: Float[np.ndarray, "n K"],
    answers: PairAnnotations,
    evidence: PairEvidence,
) -> Float[np.ndarray, "n"]:
    """E ln p(answers | z) − KL(q(z) ‖ p(z | features)), item by item: of an answer each of its items has one half."""
    i, j, z = answers.index.i, answers.index.j, np.exp(log_z)
    half = 0.5 * (evidence.weight[0].numpy() * (z[i] * z[j]).sum(1) + evidence.offset[0].numpy())
    found = (z * (np.log(features) - log_z)).sum(1)
    np.add.at(found, i, half)
    np.add.at(found, j, half)
    return found


def _used(known: np.ndarray) -> np.ndarray:
    """The clusters that are the most probable of two items at least: a kind seen once is as likely a mistake."""
    size = np.bincount(known.argmax(1), minlength=known.shape[1])
    known = known[:, size >= min(2, size.max())] + 1e-12  # of a lone item nothing is known now
    return known / known.sum(1, keepdims=True)


def _joined(known: np.ndarray, answers: PairAnnotations, weight: np.ndarray) -> np.ndarray:
    """Clusters that the answers say are one, as one."""
    names, found = np.unique(known.argmax(1), return_inverse=True)
    everywhere = np.zeros(answers.num_items, np.int64)
    everywhere[answers.annotated] = found
    name = join_cells(everywhere, answers, weight, max(len(names), 2))[answers.annotated]
    union = np.zeros((len(names), int(name.max()) + 1))
    union[found, name] = 1.0
    return _used(known[:, names] @ union)
