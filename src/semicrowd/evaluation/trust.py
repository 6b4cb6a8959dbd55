"""The one list of reasons not to trust a result: a line each, with advice what to do. No true labels are needed.

A run logs the list and writes it into its page, and its length into metrics.json; in Python each is a warning.
"""

from collections.abc import Iterator, Mapping

import numpy as np
from scipy.special import ndtri, polygamma
from sklearn.metrics import adjusted_rand_score

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.crowd.workers import WorkerPosterior
from semicrowd.errors import listed
from semicrowd.evaluation.held_out import Gain
from semicrowd.result import MIN_ANSWERS, Result, Verdict

#: Share of the items above which the size of a single cluster leads to a line.
_ALMOST_ALL = 0.95
#: Share of a cluster's items from which on, with an empty cell in a column, it is a cluster of missing values.
_NEARLY_ALL = 0.9
#: Adjusted Rand index below which two partitions agree hardly better than by chance.
_CHANCE = 0.1
#: Adjusted Rand index at and above which two partitions count as similar.
_ALIKE = 0.8
#: Nats by which the evidence of other clusters may be lower so that they are mentioned.
_NEARLY = 3.0
#: Probability of another number of clusters from which on there is a line.
_DOUBT = 0.1
#: The mean weight of the answers is not distinguished from 0 within this many standard errors.
_NOISE = 2.0
#: Probability with which somebody is named by chance, divided by the number of people who are judged.
_LEVEL = 0.05
#: A person may as well guess if sensitivity + specificity − 1 is surely below this; 0: random answers, 1: perfect ones.
_NOTHING = 0.3
#: Share of a person's answers from which on one of the two words counts as nearly always given.
_ALWAYS = 0.9


def reliability_warnings(
    result: Result, answers: PairAnnotations | None, held_out: Gain | None = None,
    gaps: Mapping[str, np.ndarray] | None = None,
) -> list[str]:  # fmt: skip
    """Reasons not to trust a result; empty if there are none.

    If there is a verdict, it says whether the answers are informative. Otherwise the gain ``held_out`` decides and,
    without it, the annotators' weights; overfitting can make these weights large even for random answers.

    Parameters
    ----------
    answers : the answers to which the method was fitted
    held_out : the gain on held-out answers, if it was computed
    gaps : of columns of a table, whether each item's cell is empty (:meth:`semicrowd.data.columns.Columns.gaps`)
    """
    clusters, lines = result.final.cluster, list[str]()
    if (share := np.bincount(clusters).max() / len(clusters)) > _ALMOST_ALL:
        lines.append(f"one cluster has {100 * share:.1f} % of the items: no classes were separated; give features that "
                     "differ between the classes, or more answers about items of several classes")  # fmt: skip
    lines += _only_gaps(clusters, gaps or {})
    if answers is None:
        return lines
    # With uninformative answers, comparisons with the features or among candidates would be meaningless.
    if uninformative := _uninformative(result, answers, held_out):
        return [*lines, f"{uninformative}; regard the clusters as clusters of the features alone, and do not rely on "
                        "the annotators' rates"]  # fmt: skip
    items = answers.annotated
    agreement = adjusted_rand_score(result.features.cluster[items], clusters[items])
    if agreement < _CHANCE:
        lines.append(
            f"features and answers contradict each other: for the {len(items)} annotated items, the clusters from "
            "features alone and the clusters from features and answers have an adjusted Rand index of "
            f"{agreement:.2f} (0 by chance); check that the ids of the answers are those of the items, and leave out "
            "columns that have nothing to do with the question; otherwise trust only the clusters of annotated items"
        )
    if not lines:  # rates are estimated from the clusters: if these are wrong, people who are right would be reproached
        lines += _people(result, answers)
    if result.verdict is not None:
        lines += _close(result.verdict)
    return lines


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
    nothing = "the answers carry no information about these clusters"
    if len(words := np.unique(answers.label)) == 1:
        one, other = ("same", "different") if words[0] else ("different", "same")
        return f"{nothing}: all {number} are '{one}'; collect answers about pairs where you expect '{other}'"
    if verdict is not None:
        if verdict.informative:
            return None
        if answers.num_pairs < MIN_ANSWERS:
            return f"the answers are too few to decide anything: {number}; at least {MIN_ANSWERS} are needed"
        found = f"their evidence for the clusters is {verdict.evidence:+.1f} nats above that for none"
    elif held_out is not None:
        if held_out.real:
            return None
        found = (f"given the clusters, the mean log-likelihood of held-out answers changes by {held_out.nats:+.4f} "
                 f"nats (standard error {held_out.error:.4f})")  # fmt: skip
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


def _close(verdict: Verdict) -> Iterator[str]:
    """A line if another number of clusters, or another candidate with other clusters, is nearly as probable."""
    numbers = verdict.posterior.sort_values("probability", ascending=False)
    if len(numbers) > 1 and (second := numbers.iloc[1])["probability"] > _DOUBT:
        yield (
            f"the number of clusters is not certain: {int(numbers.iloc[0]['clusters'])} with probability "
            f"{numbers.iloc[0]['probability']:.2f}, {int(second['clusters'])} with {second['probability']:.2f}; more "
            "answers would decide"
        )
        return
    rows = verdict.table[(verdict.table["behind"] < _NEARLY) & (verdict.table["agreement"] < _ALIKE)]
    for row in rows.head(1).itertuples():
        yield (
            f"these clusters are not certain: another result, {row.candidate!r}, has nearly the same evidence "
            f"(adjusted Rand index of the two {row.agreement:.2f}); more answers would decide"
        )


def _people(result: Result, answers: PairAnnotations) -> Iterator[str]:
    """Lines that name people who answer inverted, nearly always in the same way, or at random.

    The measure is Youden's, sensitivity + specificity − 1, and the upper end of its interval: inverted below 0, of no
    use below :data:`_NOTHING`. Only people with :data:`MIN_ANSWERS` answers are judged, each at 5 % divided by their
    number (Bonferroni). For a method without a posterior, the variance is an upper bound: that of two shares of half
    the answers each.
    """
    count = np.bincount(answers.worker, minlength=answers.num_annotators)
    judged = count >= MIN_ANSWERS
    if result.workers is None or not judged.any():
        return
    rates = np.stack([one[result.best] for one in result.workers.mean()])
    variance = np.zeros(len(count))
    for shape in (result.workers.sensitivity[result.best], result.workers.specificity[result.best]):
        beta = shape.prod(-1) / (shape.sum(-1) ** 2 * (shape.sum(-1) + 1))
        variance += np.where(np.isfinite(beta), beta, 0.5 / np.maximum(count, 1))
    youden = rates.sum(0) - 1
    high = youden - ndtri(_LEVEL / judged.sum()) * np.sqrt(variance)
    inverted = (high < 0) & (youden < -_NOTHING)
    same = np.bincount(answers.worker, answers.label, len(count)) / np.maximum(count, 1)
    how = np.select([inverted, same >= _ALWAYS, same <= 1 - _ALWAYS],
                    ["inverted", "nearly always 'same'", "nearly always 'different'"], "as if guessing")  # fmt: skip
    useless = judged & (high < _NOTHING)
    for kind in np.unique(how[useless]):
        advice = ("ask them how they understood the question, or do not ask them again; their answers hardly count"
                  if kind != "inverted" else "explain the question before you ask them again (were 'same' and "
                  "'different' mixed up?); their answers are read as the opposite")  # fmt: skip
        named = [f"{answers.worker_names[m]} (right about {rates[0, m]:.0%} of the pairs of one class, "
                 f"{rates[1, m]:.0%} of those of two classes)" for m in np.flatnonzero(useless & (how == kind))]
        yield f"people who answer {kind}: {advice}: {listed(named, 10)}"
