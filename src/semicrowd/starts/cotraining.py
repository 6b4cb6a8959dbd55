"""A candidate for the start: clusters of the annotated items that answers and features agree on, spread to all items.

From first clusters of the annotated items two things take turns: a classifier learns the clusters and says of each
annotated item, out of sample, what its features are; the annotators are judged and message passing (SCDC paper,
eq. 14) joins their answers to that. Out of sample: the classifier that speaks of an item has not seen its cluster, so
that what an answer said does not come back as the features' word.

The same words judge the candidate: how probable are the answers if both items of a pair are known by their features
alone? No label is involved.
"""

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float, Int
from torch.nn.functional import one_hot

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.crowd.cells import join_cells
from semicrowd.crowd.two_coin import PairEvidence, agreement_by_annotator, quality_posterior
from semicrowd.expfam import beta
from semicrowd.inference.graph import answer_graph
from semicrowd.inference.message_passing import infer_z
from semicrowd.starts.answer_classifier import QUALITY_PRIOR, Annotators
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
    batch = answers.index.whole
    items = answers.annotated
    fold = rng.permutation(len(items)) % FOLDS
    known = one_hot(torch.from_numpy(clusters)).double().numpy()
    for turn in range(rounds + 1):
        known = _used(known)
        features = spread.out_of_sample(items, known, fold)
        annotators = judge_annotators(known, answers)
        graph, evidence = answer_graph(batch, *(beta.expected_statistics(eta) for eta in annotators))
        log_z = infer_z(torch.from_numpy(np.log(features))[None], graph)[0].numpy()
        if turn == rounds:
            break
        known = _joined(np.exp(log_z), answers, evidence.weight[0].numpy())
    scores = log_predictive(features, answers, annotators)
    return Candidate(known, annotators, scores, item_evidence(log_z, features, answers, evidence), spread)


def judge_annotators(known: Float[np.ndarray, "n K"], answers: PairAnnotations) -> Annotators:
    """Exact posteriors of the annotators, given the clusters (eqs. 28 and 29), under the classifiers' prior."""
    index, z = answers.index, torch.from_numpy(known)
    worker, label = torch.from_numpy(answers.worker), torch.from_numpy(answers.label)
    prior = beta.to_natural(torch.tensor(QUALITY_PRIOR, dtype=torch.float64))
    same = (z[index.i] * z[index.j]).sum(-1)[None]
    found = agreement_by_annotator(same, worker, label, answers.num_annotators)
    return Annotators(*quality_posterior(prior, prior, found, torch.from_numpy(index.counts).double()))


def log_predictive(
    features: Float[np.ndarray, "n K"], answers: PairAnnotations, annotators: Annotators
) -> Float[np.ndarray, "P"]:
    """ln p(answer) where clusters of both items have these probabilities, annotators at their posterior means."""
    alpha, beta_ = (
        (shape[0, :, 0] / shape[0].sum(-1)).numpy()[answers.worker] for shape in map(beta.to_standard, annotators)
    )
    same = (features[answers.index.i] * features[answers.index.j]).sum(1)
    one = alpha * same + (1 - beta_) * (1 - same)
    return np.log(np.where(answers.label == 1, one, 1 - one))


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
