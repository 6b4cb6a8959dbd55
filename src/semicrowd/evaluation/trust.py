"""Warnings: reasons not to trust a result, one line each, with advice what to do. True labels are not needed."""

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
from scipy.special import polygamma
from sklearn.metrics import adjusted_rand_score

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.crowd.workers import WorkerPosterior
from semicrowd.data.dataset import Dataset
from semicrowd.errors import listed
from semicrowd.evaluation.columns_and_answers import dominant_columns
from semicrowd.evaluation.held_out import Gain
from semicrowd.fitting.result import Result
from semicrowd.starts.selection import MIN_ANSWERS, Verdict

#: Share of the items above which the size of a single cluster leads to a warning.
_ALMOST_ALL = 0.95
#: Adjusted Rand index below which two partitions agree hardly better than by chance.
_CHANCE = 0.1
#: Adjusted Rand index at and above which two partitions count as similar.
_ALIKE = 0.8
#: Adjusted Rand index from which on two partitions differ in a few items only, whatever the numbers of their clusters.
_SAME = 0.95
#: The mean weight of the answers is not distinguished from 0 within this many standard errors.
_NOISE = 2.0


def reliability_warnings(
    result: Result,
    answers: PairAnnotations | None,
    held_out: Gain | None = None,
    data: Dataset | None = None,
    *,
    in_python: bool = False,
) -> list[str]:
    """Reasons not to trust a result; empty if there are none.

    If there is a verdict, the answers are informative if there are enough of them and the verdict's gain, which is
    cross-validated over all answers, exceeds its standard error. Otherwise the gain ``held_out`` decides and, without
    it, the annotators' weights; overfitting can make these weights large even for random answers.

    Parameters
    ----------
    answers : the answers to which the method was fitted
    held_out : the gain on held-out answers, if it was computed
    data : the items; if they are given, advice names columns that determine the clusters, but not the answers
    in_python : whether there is an estimator and no folder of a run
    """
    lines = list(_one_cluster(result.final.cluster))
    if answers is None:
        return lines
    verdict = result.verdict
    gain = Gain.of(verdict, answers) or held_out
    # With uninformative answers, comparisons with the features or among candidates would be meaningless.
    advice = "regard the clusters as clusters of the features alone, and do not rely on the annotators' rates"
    if verdict is not None and answers.num_pairs < MIN_ANSWERS:
        problem = f"the answers are too few to decide anything: {answers.num_pairs}; at least {MIN_ANSWERS} are needed"
        return [*lines, f"{problem}; {advice}"]
    if verdict is not None and gain is None:
        problem = (f"it could not be tested whether the answers carry information: all {answers.num_pairs:,} are about "
                   "one pair of items, so none can be held out and predicted from the others; collect answers about "
                   "other pairs")  # fmt: skip
        return [*lines, f"{problem}; {advice}"]
    if gain is not None and not gain.real and len(words := np.unique(answers.label)) == 1:
        problem = (f"the answers carry no information about these clusters: all {answers.num_pairs:,} are "
                   f"{'same' if words[0] else 'different'!r}, which can be predicted without clusters; collect answers "
                   f"about pairs where you expect {'different' if words[0] else 'same'!r}")  # fmt: skip
        return [*lines, f"{problem}; {advice}"]
    if uninformative := _no_gain(gain) if gain is not None else _no_weight(result.workers, result.best, answers):
        problem = f"the answers carry no information about these clusters: {uninformative}"
        more = f"collect more than these {answers.num_pairs:,}; {_advice(data, result.final.cluster, answers)}"
        return [*lines, f"{problem}; {more}; {advice}"]
    lines += _contradiction(result, answers, data)
    if verdict is not None:
        nothing: Callable[[], list[str]] = list
        dominant = nothing if data is None else partial(dominant_columns, data, result.final.cluster, answers)
        lines += _close(verdict, dominant, "candidates_" if in_python else "candidates.csv")
    return lines


def _one_cluster(clusters: np.ndarray) -> Iterator[str]:
    share = np.bincount(clusters).max() / len(clusters)
    if share > _ALMOST_ALL:
        yield (
            f"one cluster has {100 * share:.1f} % of the items: no classes were separated; give features that differ "
            "between the classes, or more answers about items of several classes"
        )


def _no_gain(gain: Gain) -> str | None:
    if gain.real:
        return None
    return (
        f"given the clusters, the mean log-likelihood of held-out answers changes by {gain.nats:+.4f} nats "
        f"(standard error {gain.error:.4f})"
    )


def _no_weight(workers: WorkerPosterior | None, best: int, answers: PairAnnotations) -> str | None:
    """A message if the mean weight is not distinguishable from 0; None if it is, or if there are no estimated weights.

    The weight of an annotator is logit(sensitivity) + logit(specificity), 0 for random answers. The mean is over all
    answers, each with the weight of its annotator.
    """
    if workers is None:
        return None
    number = np.bincount(answers.worker, minlength=answers.num_annotators)
    weight = workers.weight(best)
    shapes = workers.sensitivity[best], workers.specificity[best]
    variance = polygamma(1, shapes).sum((0, -1))  # the sum of those of the logits of two Beta variables
    mean = float(np.average(weight, weights=number))
    if not np.isfinite(variance).all():  # no posterior variances: use the sample variance across annotators instead
        variance = np.full(len(number), np.var(weight, ddof=1) if len(number) > 1 else 0.0)
    error = float(np.sqrt((number**2 * variance).sum()) / number.sum())
    if abs(mean) > _NOISE * error:
        return None
    return (
        f"the mean weight of the annotators is {mean:+.2f} nats, not significantly different from 0 "
        f"(standard error {error:.2f})"
    )


def _advice(data: Dataset | None, clusters: np.ndarray, answers: PairAnnotations) -> str:
    rows = "check that i and j of the answers name the right items (their ids, or rows counted from 0)"
    if data is not None and data.files is not None:
        return rows
    columns = dominant_columns(data, clusters, answers) if data is not None else []
    if columns:
        which, them = ("columns", "them") if len(columns) > 1 else ("column", "it")
        return (
            f"the clusters are mostly values of the {which} {listed(columns)}, and the answers do not depend on "
            f"{them}: leave {them} out of the table (or data.ignore)"
        )
    return (
        f"{rows}, and leave out columns that have nothing to do with the question, since clusters can be the values of "
        "such a column"
    )


def _contradiction(result: Result, answers: PairAnnotations, data: Dataset | None) -> Iterator[str]:
    items = answers.annotated
    agreement = adjusted_rand_score(result.features.cluster[items], result.final.cluster[items])
    if agreement < _CHANCE:
        advice = _advice(data, result.features.cluster, answers)
        yield (
            f"features and answers contradict each other: for the {len(items)} annotated items, the clusters from "
            f"features alone and the clusters from features and answers have an adjusted Rand index of "
            f"{agreement:.2f} (0 by chance); {advice}; otherwise trust only the clusters of annotated items, or give "
            "features that differ between the classes"
        )


def _close(
    verdict: Verdict, dominant_columns_of: Callable[[], list[str]] = list, table: str = "candidates.csv"
) -> Iterator[str]:
    """A warning if a different candidate explains the answers as well as the selected one, or better.

    As well: the selected one, too, is within one standard error of the highest score. Better: it is not, but was
    selected because the lead of the other was gone when both were fitted again without each fold of the answers. If
    the lead was only smaller then, and no longer significant, there is no warning: it may be due to chance.

    Parameters
    ----------
    dominant_columns_of : computes the columns of which the clusters are mostly values, and on which the answers do not
        depend
    table : where all candidates are
    """
    rows = verdict.table.set_index("candidate")
    own = rows.loc[verdict.winner]
    if own["behind"] > own["standard_error"] and own["unseen"] < rows["unseen"].max():
        return
    number, others = int(own["clusters"]), rows.drop(index=verdict.winner)
    differ = (others["agreement"] < _ALIKE) | ((others["clusters"] != number) & (others["agreement"] < _SAME))
    near = others[differ & (others["behind"] <= others["standard_error"])].sort_values("score", ascending=False)
    if len(near):
        first = near.iloc[0]
        better = own["behind"] > own["standard_error"]
        how = "better, but failed a test on answers that it had not seen" if better else "as well"
        cause = "more answers would decide"
        if dominant := dominant_columns_of():
            cause = (f"the clusters are mostly values of {listed(dominant)}, on which the answers do not depend: leave "
                     "that out of the table (or data.ignore), or collect more answers")  # fmt: skip
        many = int(first["clusters"])
        of_it = f"also with {many} clusters" if many == number else f"with {many} clusters instead of {number}"
        yield (
            f"{'these clusters are' if many == number else 'the number of clusters is'} not certain: another result, "
            f"{of_it}, explains the answers {how} (adjusted Rand index of the two "
            f"{first['agreement']:.2f}); {cause}; {table} lists all: this result is "
            f"called {verdict.winner!r}, the other {near.index[0]!r}"
        )
