"""Selection of a candidate and of the number of clusters, by their evidence.

The evidence F of clusters (:mod:`semicrowd.methods.cotraining.answers`) is comparable between candidates, whatever
their numbers of clusters. From each candidate on, the two clusters whose union has the highest evidence are merged,
again and again, down to one cluster. The best evidence of each number of clusters K, over all candidates and merges,
gives the posterior p(K) ∝ p(K | features) exp F_K, where the prior is the posterior by the features alone. Clusters
that neither features nor answers tell apart are so merged: their union loses nothing in the first term of F, and gains
in the second one.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
from jaxtyping import Float
from scipy.special import softmax
from sklearn.metrics import adjusted_rand_score

from semicrowd.methods.cotraining.answers import Answers, feature_terms
from semicrowd.methods.cotraining.candidates import Candidate

#: Merges whose evidence is computed exactly: those with the highest first-order estimates.
_COMPUTED_MERGES = 5


@dataclass(frozen=True)
class Selected:
    """The clusters with the highest evidence.

    Attributes
    ----------
    name : of the candidate
    known, features : its probabilities, perhaps with merged clusters
    evidence : in nats
    """

    name: str
    known: Float[np.ndarray, "n K"]
    features: Float[np.ndarray, "n K"]
    evidence: float


def select(
    candidates: Mapping[str, Candidate], answers: Answers, of_features: Mapping[int, float]
) -> tuple[Selected, pd.DataFrame]:
    """The most probable clusters, and the posterior over K: ``clusters``, ``probability``, ``evidence`` (nats).

    Parameters
    ----------
    of_features : the probability of each number of clusters by the features alone
    """
    best = dict[int, Selected]()
    for name, one in candidates.items():
        for known, features, evidence in merges(one, answers):
            K = known.shape[1]
            if K not in best or evidence > best[K].evidence:
                best[K] = Selected(name, known, features, evidence)
    numbers = sorted(best)
    of_number = np.array([best[K].evidence for K in numbers])
    least = min(of_features.values(), default=1.0)
    probability = softmax(of_number + np.log([of_features.get(K, least) for K in numbers]))
    posterior = pd.DataFrame({"clusters": numbers, "probability": probability, "evidence": of_number})
    return best[numbers[int(probability.argmax())]], posterior


def merges(
    candidate: Candidate, answers: Answers
) -> Iterator[tuple[Float[np.ndarray, "n K"], Float[np.ndarray, "n K"], float]]:
    """Probabilities ``known`` and ``features``, and the evidence, after no merge, one merge, and so on."""
    known, features, evidence = candidate.known, candidate.features, candidate.evidence
    yield known, features, evidence
    while known.shape[1] > 1:
        gains = _first_order(known, features, answers)
        pairs = np.column_stack(np.triu_indices(len(gains), 1))
        likely = pairs[np.argsort(-gains[pairs[:, 0], pairs[:, 1]], kind="stable")[:_COMPUTED_MERGES]]
        tried = [(_merged(known, *pair), _merged(features, *pair)) for pair in likely.tolist()]
        found = [answers.bound(*both) for both in tried]
        evidence = max(found)
        known, features = tried[found.index(evidence)]
        yield known, features, evidence


def _merged(probabilities: Float[np.ndarray, "n K"], kept: int, gone: int) -> Float[np.ndarray, "n L"]:
    merged = np.delete(probabilities, gone, 1)
    merged[:, kept] += probabilities[:, gone]
    return merged


def _first_order(
    known: Float[np.ndarray, "n K"], features: Float[np.ndarray, "n K"], answers: Answers
) -> Float[np.ndarray, "K K"]:
    """What the union of two clusters adds to the evidence, to first order in the expected hits and misses.

    That of the answers is Σ w_ij (q_ik q_jl + q_il q_jk), of the features the difference of their terms in F.
    """
    weights = answers.counts * answers.weights(answers.rates(known))
    one_way = known[answers.i].T @ (weights[:, None] * known[answers.j])
    cost = feature_terms(known, features).sum(0)
    unions = (feature_terms(known + known[:, [k]], features + features[:, [k]]).sum(0) for k in range(len(cost)))
    union = np.stack([*unions])
    return one_way + one_way.T + union - cost - cost[:, None]


def table_of(candidates: Mapping[str, Candidate], selected: Selected, without: float) -> pd.DataFrame:
    """A row for each candidate, the highest evidence first.

    Columns: ``candidate``, ``clusters`` (their number), ``evidence`` (nats above no clusters, ``without``), ``behind``
    (nats below the highest), ``agreement`` (adjusted Rand index with the selected clusters of the annotated items).
    """
    labels, top = selected.known.argmax(1), max(one.evidence for one in candidates.values())
    rows = [
        {"candidate": name, "clusters": one.known.shape[1], "evidence": one.evidence - without,
         "behind": top - one.evidence, "agreement": adjusted_rand_score(labels, one.clusters)}
        for name, one in candidates.items()
    ]  # fmt: skip
    return pd.DataFrame(rows).sort_values("evidence", ascending=False, ignore_index=True)
