"""Selection of one of several candidate clusterings by the likelihood of held-out answers.

Of the candidates whose score is within one standard error of the highest, the one with the fewest clusters wins. If
its clusters differ from those of the features alone and its lead over them is not clear, both are fitted again without
each fold of the answers. The candidate then has to predict these folds better, and significantly (:func:`confirm`). If
it does not, one that takes less from the answers is tried in the same way (starts/portfolio.py).
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
from jaxtyping import Float
from sklearn.metrics import adjusted_rand_score

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.starts.cotraining import Candidate, scores_without_clusters

#: Combined z value (Stouffer) that confirms a candidate, in standard errors: see :func:`confirm`.
_MIN_Z_VALUE = 2.0
#: Lower bound of a standard error, in nats: divisions by it stay finite.
_MIN_STANDARD_ERROR = 1e-9
#: Fewer answers than this are never called informative.
MIN_ANSWERS = 10
#: Name of the candidate whose initial clusters come from the features alone; answers then move single items only.
FEATURES_ALONE = "features alone"


@dataclass(frozen=True)
class Verdict:
    """The winner among the candidates, and its lead.

    Attributes
    ----------
    winner : name of the winning candidate; it need not be the first of the table
    table : a row for each candidate that could have won: ``candidate``, ``clusters``, ``score`` (nats an answer, held
        out), ``behind`` and ``standard_error`` (difference to the highest score and its standard error over items),
        ``answer_power``, ``agreement`` (adjusted Rand index to the winner on the annotated items), ``unseen`` (score
        of the candidate fitted again without each fold of the answers; NaN where it was not)
    gain, gain_error : mean over the answers of the held-out log-likelihood with clusters minus that without clusters,
        and its standard error, in nats: of the winner, or of its refit after a successful :func:`confirm`; if
        :func:`select` has replaced an uninformative winner, of the replaced candidate
    num_answers : number of answers behind the scores
    """

    winner: str
    table: pd.DataFrame
    gain: float
    gain_error: float
    num_answers: int

    @property
    def informative(self) -> bool:
        """Whether there are enough answers, and ``gain`` exceeds its standard error."""
        return _informative(self.gain, self.gain_error, self.num_answers)


def _informative(gain: float, gain_error: float, num_answers: int) -> bool:
    return num_answers >= MIN_ANSWERS and gain > gain_error


def select(candidates: Mapping[str, Candidate], answers: PairAnnotations) -> tuple[str, Verdict]:
    """The name of the winner, and the verdict.

    Candidates within one standard error of the highest score are ranked by fewest clusters, then co-trained before
    others, then by score. The standard error is that of the mean difference to the best, paired by answer, over items.
    If the winner's gain over no clusters is at most one standard error, or there are fewer than :data:`MIN_ANSWERS`
    answers, the clusters of the features alone win instead.
    """
    best = max(candidates, key=lambda name: candidates[name].scores.mean())
    leads = {name: mean_difference(candidates[best].scores, one.scores, answers) for name, one in candidates.items()}
    close = [name for name, (behind, error) in leads.items() if behind <= error]

    def rank(name: str) -> tuple[int, bool, float]:
        one = candidates[name]
        return one.known.shape[1], not one.cotrained, -float(one.scores.mean())

    winner = min(close, key=rank)
    gain, gain_error = mean_difference(candidates[winner].scores, scores_without_clusters(answers), answers)
    if FEATURES_ALONE in candidates and not _informative(gain, gain_error, answers.num_pairs):
        winner = FEATURES_ALONE
    rows = [
        {"candidate": name, "clusters": one.known.shape[1], "score": one.scores.mean(), "behind": leads[name][0],
         "standard_error": leads[name][1], "answer_power": one.answers.power,
         "agreement": agreement(candidates[winner], one), "unseen": np.nan}
        for name, one in candidates.items()
    ]  # fmt: skip
    table = pd.DataFrame(rows).sort_values("score", ascending=False, ignore_index=True)
    return winner, Verdict(winner, table, gain, gain_error, answers.num_pairs)


def confirm(
    best: str,
    unseen: Mapping[str, Float[np.ndarray, "P"]],
    candidates: Mapping[str, Candidate],
    verdict: Verdict,
    answers: PairAnnotations,
    margin: float = 0.0,
) -> tuple[str, Verdict]:
    """Name of the winner and verdict, after ``best`` and the features alone were fitted again without each fold.

    ``best`` has to predict the folds better than the features alone do, and significantly: an accidental fit to
    annotators who guess must not win. Two z values are combined (Stouffer): of the lead of the first fit over the
    features alone, which is optimistic, since the clusters come from all answers; and of the lead of the second fit
    over no clusters, which is pessimistic, since it had fewer answers. They have to reach :data:`_MIN_Z_VALUE`, and the
    gain of the second fit has to be above its standard error, as in :func:`select`.

    Parameters
    ----------
    unseen : scores of the second fit, of ``best`` and of the features alone, perhaps of others
    margin : standard errors by which ``best`` has to predict the folds better than the features alone do
    """
    without = scores_without_clusters(answers)
    ahead, ahead_error = mean_difference(unseen[best], unseen[FEATURES_ALONE], answers)
    gain, gain_error = mean_difference(unseen[best], without, answers)
    first, first_error = mean_difference(candidates[best].scores, candidates[FEATURES_ALONE].scores, answers)
    z_first, z_refit = first / max(first_error, _MIN_STANDARD_ERROR), gain / max(gain_error, _MIN_STANDARD_ERROR)
    sure = ahead > margin * ahead_error and (z_first + z_refit) / np.sqrt(2) > _MIN_Z_VALUE
    winner = best if sure and _informative(gain, gain_error, answers.num_pairs) else FEATURES_ALONE
    if winner == FEATURES_ALONE:
        gain, gain_error = mean_difference(candidates[FEATURES_ALONE].scores, without, answers)
    names = verdict.table.candidate
    table = verdict.table.assign(
        agreement=[agreement(candidates[winner], candidates[name]) for name in names],
        unseen=[unseen[name].mean() if name in unseen else np.nan for name in names],
    )
    return winner, Verdict(winner, table, gain, gain_error, answers.num_pairs)


def mean_difference(
    first: Float[np.ndarray, "P"], second: Float[np.ndarray, "P"], answers: PairAnnotations
) -> tuple[float, float]:
    """Mean difference of two scores of the answers, and its standard error, clustered by item.

    Answers that share an item are dependent (dyadic-robust variance, Fafchamps & Gubert 2007). Σ over items of
    (sum of their answers)² contains the product of two answers once for each item that they share, thus twice if they
    are about one pair; one of the two is subtracted. The variance is at least the one clustered by pair.
    """
    difference = first - second
    centred = difference - difference.mean()
    index, number = answers.index, len(answers.annotated)
    of_items = np.bincount(index.i, centred, number) + np.bincount(index.j, centred, number)
    within = (np.bincount(answers.pair, centred) ** 2).sum()
    variance = max((of_items**2).sum() - within, within)
    return float(difference.mean()), float(np.sqrt(variance)) / len(difference)


def agreement(one: Candidate, other: Candidate) -> float:
    """Adjusted Rand index of the clusters of two candidates, on the annotated items."""
    return float(adjusted_rand_score(one.clusters, other.clusters))
