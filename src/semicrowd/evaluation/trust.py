"""Warnings: reasons not to trust a result, one line each, with what to do about it. True labels are not needed."""

from collections.abc import Iterator

import numpy as np
from scipy.special import polygamma
from sklearn.metrics import adjusted_rand_score

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.crowd.workers import WorkerPosterior
from semicrowd.evaluation.held_out import Gain
from semicrowd.fitting.result import Result
from semicrowd.starts.selection import MIN_ANSWERS, Verdict

#: A cluster with a larger share of the items leads to a warning.
_ALMOST_ALL = 0.95
#: Adjusted Rand index below which two partitions agree hardly better than by chance.
_CHANCE = 0.1
#: Adjusted Rand index from which on two partitions count as similar.
_ALIKE = 0.8
#: The crowd's mean weight may be 0 if it is within this many standard errors of 0.
_NOISE = 2.0
_ROWS = "check that i and j of the answers are rows of this table, counted from 0"


def doubts(found: Result, answers: PairAnnotations | None, held_out: Gain | None = None) -> list[str]:
    """Reasons not to trust a result; empty if there are none.

    Parameters
    ----------
    answers : the answers that the method was fitted to
    held_out : the score by held-out answers, where it is known. Whether the answers are informative is decided by the
        gain of the verdict, which uses all of them; without a verdict by ``held_out``; without both by the annotators'
        weights, which overfitting can make large even for random answers
    """
    lines = list(_one_cluster(found.final.cluster))
    if answers is None:
        return lines
    verdict = found.verdict
    gain = held_out if verdict is None else Gain(verdict.gain, verdict.gain_error)
    silent = _too_few(answers) if verdict is not None else None
    silent = silent or (_no_gain(gain) if gain is not None else _no_weight(found.workers, found.best, answers))
    if silent:
        # Comparisons with the features and among candidates would be meaningless for such answers.
        said = "take the clusters for those of the features alone, and do not rely on workers.csv"
        return [*lines, f"the answers say nothing about these clusters: {silent}; {_ROWS}; {said}"]
    lines += _contradiction(found, answers)
    if verdict is not None:
        lines += _close(verdict)
    return lines


def _one_cluster(clusters: np.ndarray) -> Iterator[str]:
    share = np.bincount(clusters).max() / len(clusters)
    if share > _ALMOST_ALL:
        yield (
            f"one cluster has {100 * share:.1f} % of the items: no kinds were told apart; give features that differ "
            "between the kinds, or more answers about items of several kinds"
        )


def _too_few(answers: PairAnnotations) -> str | None:
    number = answers.num_pairs
    return f"fewer than {MIN_ANSWERS} are no evidence, and there are {number}" if number < MIN_ANSWERS else None


def _no_gain(gain: Gain) -> str | None:
    if gain.real:
        return None
    return (
        f"one that was held out is {gain.nats:+.4f} nats likelier with the clusters than without any "
        f"(standard error {gain.error:.4f})"
    )


def _no_weight(workers: WorkerPosterior | None, best: int, answers: PairAnnotations) -> str | None:
    """A message if the mean weight of an answer may be 0; None for a method that estimates no annotators."""
    if workers is None:
        return None
    number = np.bincount(answers.worker, minlength=answers.num_annotators)
    weight, variance = np.zeros(len(number)), np.zeros(len(number))
    for rates, shapes in zip(workers.mean(), (workers.sensitivity, workers.specificity), strict=True):
        rate = np.clip(rates[best], 1e-12, 1 - 1e-12)
        weight += np.log(rate / (1 - rate))
        variance += polygamma(1, shapes[best]).sum(-1)  # of the logit of a Beta variable
    mean = float(np.average(weight, weights=number))
    if not np.isfinite(variance).all():  # no variances for single annotators: use that between annotators
        variance = np.full(len(number), np.var(weight, ddof=1) if len(number) > 1 else 0.0)
    error = float(np.sqrt((number**2 * variance).sum()) / number.sum())
    if abs(mean) > _NOISE * error:
        return None
    return f"the annotators' weights are {mean:+.2f} nats in the mean, which may be 0 (standard error {error:.2f})"


def _contradiction(found: Result, answers: PairAnnotations) -> Iterator[str]:
    items = answers.annotated
    agreement = adjusted_rand_score(found.features.cluster[items], found.final.cluster[items])
    if agreement < _CHANCE:
        yield (
            f"features and answers contradict each other: the clusters of the {len(items)} annotated items by their "
            f"features alone and with their answers have an adjusted Rand index of {agreement:.2f} (by chance 0); "
            f"{_ROWS}; if they are, trust the annotated items' clusters alone, or give features that differ between "
            "the kinds"
        )


def _close(verdict: Verdict) -> Iterator[str]:
    """The best of the candidates that are within one standard error of the winner, but differ from it.

    Nothing if the winner replaced a candidate with a higher score: the scores of co-trained candidates are then known
    to be optimistic.
    """
    rows = verdict.table.set_index("candidate")
    if rows.loc[verdict.winner, "unseen"] < rows["unseen"].max():
        return
    number, others = int(rows.loc[verdict.winner, "clusters"]), rows.drop(index=verdict.winner)
    differ = (others["clusters"] != number) | (others["agreement"] < _ALIKE)
    near = others[differ & (others["behind"] <= others["standard_error"])].sort_values("score", ascending=False)
    if len(near):
        first = near.iloc[0]
        yield (
            f"another result explains the answers as well: {int(first['clusters'])} clusters of {near.index[0]!r} "
            f"instead of the {number} of {verdict.winner!r} (adjusted Rand index of the two {first['agreement']:.2f}); "
            "more answers would decide; candidates.csv has all that were tried"
        )
