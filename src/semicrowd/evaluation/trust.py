"""The one list of reasons not to trust a result: a line each, with advice what to do. No true labels are needed.

A run logs the list and writes it into its page, and its length into metrics.json; in Python each is a warning.
"""

from collections.abc import Iterator, Mapping

import numpy as np
from scipy.special import polygamma
from sklearn.metrics import adjusted_rand_score

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.crowd.workers import WorkerPosterior
from semicrowd.errors import listed
from semicrowd.evaluation.held_out import Gain
from semicrowd.result import Result
from semicrowd.starts.selection import MIN_ANSWERS, Verdict

#: Share of the items above which the size of a single cluster leads to a line.
_ALMOST_ALL = 0.95
#: Share of a cluster's items from which on, with an empty cell in a column, it is a cluster of missing values.
_NEARLY_ALL = 0.9
#: Adjusted Rand index below which two partitions agree hardly better than by chance.
_CHANCE = 0.1
#: Adjusted Rand index at and above which two partitions count as similar.
_ALIKE = 0.8
#: Adjusted Rand index from which on two partitions differ in a few items only, whatever the numbers of their clusters.
_SAME = 0.95
#: The mean weight of the answers is not distinguished from 0 within this many standard errors.
_NOISE = 2.0
#: Half the width of a 90 % interval, in standard deviations.
_NINETY = 1.645
#: A person may as well guess if sensitivity + specificity − 1 is surely below this; 0: random answers, 1: perfect ones.
_NOTHING = 0.3
#: Probability of an answer, whatever the two items are, from which on it counts as nearly always given.
_ALWAYS = 0.8


def reliability_warnings(
    result: Result, answers: PairAnnotations | None, held_out: Gain | None = None,
    gaps: Mapping[str, np.ndarray] | None = None,
) -> list[str]:  # fmt: skip
    """Reasons not to trust a result; empty if there are none.

    If there is a verdict, the answers are informative if there are enough of them and the verdict's gain, which is
    cross-validated over all answers, exceeds its standard error. Otherwise the gain ``held_out`` decides and, without
    it, the annotators' weights; overfitting can make these weights large even for random answers.

    Parameters
    ----------
    answers : the answers to which the method was fitted
    held_out : the gain on held-out answers, if it was computed
    gaps : of columns of a table, whether each item's cell is empty (:meth:`semicrowd.data.columns.Columns.gaps`)
    """
    lines = [*_one_cluster(result.final.cluster), *_only_gaps(result.final.cluster, gaps or {})]
    if answers is None:
        return lines
    # With uninformative answers, comparisons with the features or among candidates would be meaningless.
    if uninformative := _uninformative(result, answers, held_out):
        return [*lines, f"{uninformative}; regard the clusters as clusters of the features alone, and do not rely on "
                        "the annotators' rates"]  # fmt: skip
    lines += _contradiction(result, answers)
    if not lines:  # rates are estimated from the clusters: if these are wrong, people who are right would be reproached
        lines += _people(result, answers)
    if result.verdict is not None:
        lines += _close(result.verdict)
    return lines


def _one_cluster(clusters: np.ndarray) -> Iterator[str]:
    share = np.bincount(clusters).max() / len(clusters)
    if share > _ALMOST_ALL:
        yield (
            f"one cluster has {100 * share:.1f} % of the items: no classes were separated; give features that differ "
            "between the classes, or more answers about items of several classes"
        )


def _only_gaps(clusters: np.ndarray, gaps: Mapping[str, np.ndarray]) -> Iterator[str]:
    """Clusters that are nothing but the items with an empty cell."""
    for column, empty in gaps.items():
        for k in np.unique(clusters):
            own = clusters == k
            if own.sum() < len(own) and empty[own].mean() >= _NEARLY_ALL and empty[~own].mean() <= 1 - _NEARLY_ALL:
                yield (f"cluster {k} is the items whose {column} is empty: fill the cells of this column, or leave it "
                       "out (data.ignore)")  # fmt: skip


def _uninformative(result: Result, answers: PairAnnotations, held_out: Gain | None) -> str | None:
    """Why the answers are not known to say anything about the clusters; None if they do."""
    verdict, number = result.verdict, f"{answers.num_pairs:,}"
    gain = Gain.of(verdict, answers) or held_out
    if verdict is not None and answers.num_pairs < MIN_ANSWERS:
        return f"the answers are too few to decide anything: {number}; at least {MIN_ANSWERS} are needed"
    if verdict is not None and gain is None:
        return (f"it could not be tested whether the answers carry information: all {number} are about one pair of "
                "items; collect answers about other pairs")  # fmt: skip
    nothing = "the answers carry no information about these clusters"
    if gain is not None:
        if gain.real:
            return None
        if len(words := np.unique(answers.label)) == 1:
            one, other = ("same", "different") if words[0] else ("different", "same")
            return f"{nothing}: all {number} are '{one}'; collect answers about pairs where you expect '{other}'"
        found = (f"given the clusters, the mean log-likelihood of held-out answers changes by {gain.nats:+.4f} nats "
                 f"(standard error {gain.error:.4f})")  # fmt: skip
    else:
        if result.workers is None:
            return None
        weight, error = _mean_weight(result.workers, result.best, answers)
        if abs(weight) > _NOISE * error:
            return None
        found = f"the mean weight of the annotators is {weight:+.2f} nats, not significantly different from 0"
    return f"{nothing}: {found}; collect more than these {number}, and check that their ids are those of the items"


def _mean_weight(workers: WorkerPosterior, best: int, answers: PairAnnotations) -> tuple[float, float]:
    """Mean over all answers of logit(sensitivity) + logit(specificity) of their annotators, and its standard error."""
    number = np.bincount(answers.worker, minlength=answers.num_annotators)
    weight = workers.weight(best)
    shapes = workers.sensitivity[best], workers.specificity[best]
    variance = polygamma(1, shapes).sum((0, -1))  # the sum of those of the logits of two Beta variables
    if not np.isfinite(variance).all():  # no posterior variances: use the sample variance across annotators instead
        variance = np.full(len(number), np.var(weight, ddof=1) if len(number) > 1 else 0.0)
    return float(np.average(weight, weights=number)), float(np.sqrt((number**2 * variance).sum()) / number.sum())


def _contradiction(result: Result, answers: PairAnnotations) -> Iterator[str]:
    items = answers.annotated
    agreement = adjusted_rand_score(result.features.cluster[items], result.final.cluster[items])
    if agreement < _CHANCE:
        yield (
            f"features and answers contradict each other: for the {len(items)} annotated items, the clusters from "
            "features alone and the clusters from features and answers have an adjusted Rand index of "
            f"{agreement:.2f} (0 by chance); check that the ids of the answers are those of the items, and leave out "
            "columns that have nothing to do with the question; otherwise trust only the clusters of annotated items"
        )


def _close(verdict: Verdict) -> Iterator[str]:
    """A line if a different candidate explains the answers as well as the selected one, or better.

    As well: the selected one, too, is within one standard error of the highest score. Better: it is not, but was
    selected because the lead of the other was gone when both were fitted again without each fold of the answers. If
    the lead was only smaller then, and no longer significant, there is no line: it may be due to chance.
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
        many = int(first["clusters"])
        of_it = f"also with {many} clusters" if many == number else f"with {many} clusters instead of {number}"
        yield (
            f"{'these clusters are' if many == number else 'the number of clusters is'} not certain: another result, "
            f"{of_it}, explains the answers {how} (adjusted Rand index of the two {first['agreement']:.2f}); more "
            f"answers would decide; among the candidates this result is {verdict.winner!r}, the other {near.index[0]!r}"
        )


def _people(result: Result, answers: PairAnnotations) -> Iterator[str]:
    """Lines that name people who answer inverted, always in the same way, or at random.

    The measure is Youden's: sensitivity + specificity − 1, with the upper end of its 90 % interval. For a method
    without a posterior, the variance is an upper bound: that of two shares of half the answers each.
    """
    if result.workers is None:
        return
    count = np.maximum(np.bincount(answers.worker, minlength=answers.num_annotators), 1)
    rates = np.stack([one[result.best] for one in result.workers.mean()])
    variance = np.zeros(len(count))
    for shape in (result.workers.sensitivity[result.best], result.workers.specificity[result.best]):
        a, b = shape[:, 0], shape[:, 1]
        beta = a * b / ((a + b) ** 2 * (a + b + 1))
        variance += np.where(np.isfinite(beta), beta, 0.5 / count)
    youden = rates.sum(0) - 1
    high = youden + _NINETY * np.sqrt(variance)
    inverted = (high < 0) & (youden < -_NOTHING)
    says_same = np.stack([rates[0], 1 - rates[1]])  # about two items of one class, and of two classes
    same, different = says_same.min(0) > _ALWAYS, says_same.max(0) < 1 - _ALWAYS
    low = "their answers hardly count; ask them how they understood the question, or do not ask them again"
    for who, what, advice in (
        (inverted & ~same & ~different, "inverted", "were 'same' and 'different' mixed up? The fit reads these "
         "answers as their opposite; explain the question before you ask again"),
        ((high < _NOTHING) & same, "nearly always 'same'", low),
        ((high < _NOTHING) & different, "nearly always 'different'", low),
        ((high < _NOTHING) & ~inverted & ~same & ~different, "as if guessing", low),
    ):  # fmt: skip
        if who.any():
            named = [f"{answers.worker_names[m]} ({rates[0, m]:.0%} right about pairs of one class, {rates[1, m]:.0%} "
                     f"about pairs of two)" for m in np.flatnonzero(who)]  # fmt: skip
            yield f"people who answer {what}: {listed(named, 10)}; {advice}"
