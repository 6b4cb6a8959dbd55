"""A portfolio of candidate clusterings, and the selection of one of them by the likelihood of held-out answers.

No single initialisation is best on all data. Initial clusters are k-means cells of each preparation of the features,
joined by the answers, and spectral clusters of the answers alone. Each is co-trained with two quick classifiers; the
best are co-trained again with all classifiers of all preparations, stacked (:mod:`semicrowd.starts.cotraining`,
:mod:`semicrowd.starts.stacking`). Two kinds of candidates are not co-trained: the clusters of the features alone, and
k-means with the number of clusters of the best co-trained candidate. The candidate under which held-out answers are
likeliest wins. If its clusters differ from those of the features alone and its lead over them is not clear, both are
fitted again without each fold of the answers, and the winner has to predict these folds better.
"""

import warnings
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pandas as pd
from jaxtyping import Float, Int
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score
from threadpoolctl import threadpool_limits

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.crowd.cells import join_cells
from semicrowd.random import stream
from semicrowd.starts.answer_classifier import spectral_clusters
from semicrowd.starts.answer_model import IndexedAnswers
from semicrowd.starts.cotraining import ROUNDS, Candidate, cotrain, folds_of_answers, scores_without_clusters
from semicrowd.starts.item_classifiers import GaussianClassifier, ItemClassifier, LabelPropagation, LogisticClassifier
from semicrowd.starts.of_features import clusters_of_features
from semicrowd.starts.preparing import Prepared, preparations, prepared
from semicrowd.starts.stacking import StackedClassifier
from semicrowd.starts.two_way import TwoWayClassifier

#: Numbers of k-means cells of the initial clusters, as multiples of the maximum number of clusters.
_NUM_CELLS = {"few": 0.5, "many": 1.5}
#: Principal components that the Gaussian classifier with one covariance for each cluster uses.
_DIMS_FULL_COVARIANCE = 8
#: Principal components that the Gaussian classifier with one covariance for all clusters uses.
_DIMS_SHARED_COVARIANCE = 50
#: Candidates that are co-trained again with all classifiers.
_FINALISTS = 3
#: Unannotated items that candidates are fitted to, at most: time does not grow with the number of items beyond it.
_MAX_UNANNOTATED = 20_000
#: Lead of a candidate over the features alone, in standard errors, from which it needs no confirmation.
_CLEAR_LEAD = 5.0
#: Combined z value (Stouffer) that confirms a candidate, in standard errors: see :func:`confirm`.
_MIN_Z_VALUE = 2.0
#: Lower bound of a standard error, in nats: divisions by it stay finite.
_MIN_STANDARD_ERROR = 1e-9
#: Folds of the answers when candidates are fitted again. Ten and not five: if answers are few and often wrong, nine
#: tenths of them still suffice for the same clusters, four fifths do not.
_REFIT_FOLDS = 10
#: Fewer answers than this are never called informative.
MIN_ANSWERS = 10
#: Name of the candidate that was made without answers.
FEATURES_ALONE = "features alone"
#: End of the names of the k-means candidates whose number of clusters comes from the answers.
NUMBER_FROM_ANSWERS = "features, number of clusters from the answers"
#: Is called with a line about the current step.
ProgressCallback = Callable[[str], None]


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
    gain, gain_error : mean log-likelihood ratio of an answer, winner's clusters to no clusters, and its standard
        error, in nats
    num_answers : number of answers behind the scores
    """

    winner: str
    table: pd.DataFrame
    gain: float
    gain_error: float
    num_answers: int

    @property
    def informative(self) -> bool:
        """Whether there are enough answers, and clusters predict them better than no clusters do."""
        return _informative(self.gain, self.gain_error, self.num_answers)


def _informative(gain: float, gain_error: float, num_answers: int) -> bool:
    return num_answers >= MIN_ANSWERS and gain > gain_error


class Portfolio:
    """Initial clusters, candidates and the choice among them, for given features and answers.

    Parameters
    ----------
    features : before any preparation
    max_clusters : clusters at most; None: as many as the answers could tell apart
    restart : number of the restart; each has random streams of its own
    image_shape : (height, width) or (colours, height, width) where a row of the features is an image
    """

    def __init__(
        self,
        features: Float[np.ndarray, "N D"],
        answers: PairAnnotations,
        seed: int,
        progress: ProgressCallback,
        max_clusters: int | None = None,
        restart: int = 0,
        image_shape: Sequence[int] | None = None,
    ) -> None:
        self.all_features, self.all_answers = features, answers
        self.seed, self.progress, self.restart, self.image_shape = seed, progress, restart, image_shape
        self.max_clusters = max_clusters or default_max_clusters(len(answers.annotated))
        others = stream(seed, "portfolio/sample", restart).permutation(answers.num_items)[:_MAX_UNANNOTATED]
        #: Items that candidates are fitted to: the annotated ones and a sample of the others.
        self.rows = np.union1d(others, answers.annotated)
        self.features = features[self.rows]
        self.answers = replace(
            answers, num_items=len(self.rows), i=np.searchsorted(self.rows, answers.i),
            j=np.searchsorted(self.rows, answers.j),
        )  # fmt: skip

    @cached_property
    def preparations(self) -> dict[str, Prepared]:
        """Preparations of the features, by name."""
        return dict(preparations(self.features, self.image_shape))

    @cached_property
    def prepared(self) -> dict[str, np.ndarray]:
        """Features [n, C] of :attr:`rows`, by name of their preparation."""
        items = {name: preparation.items for name, preparation in self.preparations.items()}
        return items or {"none": np.zeros((len(self.features), 1))}

    @cached_property
    def classifiers(self) -> dict[str, list[ItemClassifier]]:
        """Classifiers by preparation; the first two are quick."""
        return {name: _classifiers(x) for name, x in self.prepared.items()}

    def probabilities(self, winner: Candidate) -> tuple[Float[np.ndarray, "N K"], Float[np.ndarray, "N K"]]:
        """Cluster probabilities of all items: from features alone, and with the answers about annotated items."""
        items = self.all_answers.annotated
        if len(self.rows) == len(self.all_features):
            return winner.probabilities(items)
        stack = winner.classifier
        assert isinstance(stack, StackedClassifier)
        self.progress("start: all items")
        everywhere: list[ItemClassifier] = []
        for name, small in self.classifiers.items():
            used = {place for place, one in enumerate(small) if stack.share(one) > 0}
            everywhere += _classifiers(self._all_prepared(name)) if used else small
        return replace(winner, classifier=stack.of(self._all_classifiers(), everywhere)).probabilities(items)

    def _all_prepared(self, name: str) -> Float[np.ndarray, "N C"]:
        if name in self.preparations:
            return prepared(self.preparations[name].pipeline, self.all_features)
        return np.zeros((len(self.all_features), 1))

    def winner(self) -> tuple[Candidate, Verdict]:
        """The best candidate, and its comparison with the others."""
        quick = {name: self._cotrained_quickly(name, *start) for name, start in self.first_clusters().items()}
        order = sorted(quick, key=lambda name: -quick[name].scores.mean())
        last: dict[str, Candidate] = {}
        for name in order:
            if len(last) < _FINALISTS and not any(_same_clusters(quick[name], quick[other]) for other in last):
                self.progress(f"start: {name}, all classifiers")
                last[name] = self._cotrained(quick[name].clusters, self._all_classifiers(), ROUNDS)
        without_answers = self.without_answers(last)
        for name, clusters in without_answers.items():
            self.progress(f"start: {name}")
            last[name] = self._cotrained(clusters, self._all_classifiers(), 0)
        best, verdict = judge(last, self.answers)
        ahead, error = mean_difference(last[best].scores, last[FEATURES_ALONE].scores, self.answers)
        the_same = _agreement(last[best], last[FEATURES_ALONE]) == 1.0
        if not the_same and ahead < _CLEAR_LEAD * error:
            self.progress(f"start: {best}, without each answer in turn")
            unseen = {name: self._refitted_scores(name, without_answers.get(name)) for name in (best, FEATURES_ALONE)}
            best, verdict = confirm(best, unseen, last, verdict, self.answers)
        self.progress(f"start: {best} won with {verdict.gain:+.4f} ({verdict.gain_error:.4f}) nats an answer")
        return last[best], verdict

    def _refitted_scores(self, name: str, without_answers: Int[np.ndarray, "n"] | None) -> Float[np.ndarray, "P"]:
        """ln p of every answer by a candidate that is fitted again without the fold of this answer.

        The scores of :func:`judge` are optimistic: the clusters that classifiers learn come from all answers, held-out
        ones included.

        Parameters
        ----------
        name : of the initial clusters
        without_answers : clusters of the annotated items for a candidate that is not co-trained; None of others
        """
        scores, fold = scores_without_clusters(self.answers), folds_of_answers(self.answers, _REFIT_FOLDS)
        for one in range(_REFIT_FOLDS):
            refit, training, held_out = copy(self), fold != one, fold == one
            if not (training.any() and held_out.any()):
                continue
            refit.answers = self.answers.some(training)
            if without_answers is None:
                first, rounds = refit.first_clusters().get(name, (None, []))[0], ROUNDS
            else:
                first, rounds = without_answers[np.searchsorted(self.answers.annotated, refit.answers.annotated)], 0
            if first is not None:
                candidate = refit._cotrained(first, self._all_classifiers(), rounds)
                z = candidate.probabilities(refit.answers.annotated)[1][self.answers.annotated]
                similarity = IndexedAnswers.of(self.answers, training).similarity(z)
                scores[held_out] = IndexedAnswers.of(self.answers, held_out).log_likelihood(z, *similarity)
        return scores

    def shares_of_preparations(self, winner: Candidate) -> dict[str, float]:
        """Weight of each preparation in the stacked classifiers of a candidate, by name."""
        stack = winner.classifier
        assert isinstance(stack, StackedClassifier)
        return {name: sum(stack.share(one) for one in classifiers) for name, classifiers in self.classifiers.items()}

    def first_clusters(self) -> dict[str, tuple[Int[np.ndarray, "n"], list[str]]]:
        """Initial clusters of the annotated items and the preparations whose classifiers co-train them, by name."""
        rng = stream(self.seed, "portfolio/cells", self.restart)
        starts = {}
        for name, x in self.prepared.items():
            for amount, share in _NUM_CELLS.items():
                number = max(2, min(round(share * self.max_clusters), len(self.answers.annotated) // 2))
                cells = self._joined_by_answers(_kmeans_cells(x, number, rng))
                starts[f"{amount} cells of {name} features"] = cells[self.answers.annotated], [name]
        if len(self.answers.annotated) > self.max_clusters:
            alone = np.zeros(self.answers.num_items, np.int64)
            alone[self.answers.annotated] = spectral_clusters(self.answers, self.max_clusters, 2, rng)[-1].numpy()
            starts["answers alone"] = self._joined_by_answers(alone)[self.answers.annotated], list(self.prepared)
        return starts

    def without_answers(self, candidates: Mapping[str, Candidate]) -> dict[str, Int[np.ndarray, "n"]]:
        """Clusters of the annotated items that the answers influence by their number at most, by name."""
        rng, annotated = stream(self.seed, "portfolio/features", self.restart), self.answers.annotated
        clusters = {FEATURES_ALONE: self.of_features(rng)[annotated]}
        best = max(candidates.values(), key=lambda one: one.scores.mean())
        number = best.known.shape[1]
        if number > 1:
            for name, x in self.prepared.items():
                clusters[f"{name} {NUMBER_FROM_ANSWERS}"] = _kmeans_cells(x, number, rng, tries=5)[annotated]
        return clusters

    def of_features(self, rng: np.random.Generator) -> Int[np.ndarray, "N"]:
        """Clusters of all items by the features alone."""
        first = next(iter(self.prepared.values()))
        return clusters_of_features(first, max(self.max_clusters, 2), rng)[0]

    def _cotrained_quickly(self, name: str, clusters: np.ndarray, preparations: list[str]) -> Candidate:
        self.progress(f"start: {name}")
        quick = [one for preparation in preparations for one in self.classifiers[preparation][:2]]
        return self._cotrained(clusters, quick, ROUNDS)

    def _all_classifiers(self) -> list[ItemClassifier]:
        return [one for preparation in self.classifiers.values() for one in preparation]

    def _cotrained(self, clusters: np.ndarray, classifiers: list[ItemClassifier], rounds: int) -> Candidate:
        folds = stream(self.seed, "portfolio/folds", self.restart)
        return cotrain(self.answers, clusters, StackedClassifier(classifiers), folds, rounds, self.max_clusters)

    def _joined_by_answers(self, clusters: Int[np.ndarray, "N"]) -> Int[np.ndarray, "N"]:
        """Clusters merged where the answers are evidence that they are one."""
        indexed = IndexedAnswers.of(self.answers)
        known = np.eye(int(clusters.max()) + 1)[clusters[self.answers.annotated]]
        return join_cells(clusters, self.answers, indexed.weights(indexed.rates(known)), self.max_clusters)


def default_max_clusters(num_annotated: int) -> int:
    """Default for the maximum number of clusters: one and a half times √(annotated items), between 4 and 50."""
    return int(np.clip(round(1.5 * np.sqrt(num_annotated)), 4, 50))


def judge(candidates: Mapping[str, Candidate], answers: PairAnnotations) -> tuple[str, Verdict]:
    """The name of the winner, and the verdict.

    Candidates within one standard error of the highest score are ranked by fewest clusters, then co-trained before
    others, then by score. The standard error is that of the mean difference to the best, paired by answer, over items.
    If the winner predicts answers no better than no clusters do, the clusters of the features alone win instead.
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
         "agreement": _agreement(candidates[winner], one), "unseen": np.nan}
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
) -> tuple[str, Verdict]:
    """Name of the winner and verdict, after ``best`` and the features alone were fitted again without each fold.

    ``best`` has to predict the folds better than the features alone do, and significantly: an accidental fit to
    annotators who guess must not win. Two z values are combined (Stouffer): of the lead of the first fit over the
    features alone, which is optimistic, since the clusters come from all answers; and of the lead of the second fit
    over no clusters, which is pessimistic, since it had fewer answers. They have to reach :data:`_MIN_Z_VALUE`.

    Parameters
    ----------
    unseen : scores of the second fit, of ``best`` and of the features alone
    """
    without = scores_without_clusters(answers)
    ahead, _ = mean_difference(unseen[best], unseen[FEATURES_ALONE], answers)
    gain, gain_error = mean_difference(unseen[best], without, answers)
    first, first_error = mean_difference(candidates[best].scores, candidates[FEATURES_ALONE].scores, answers)
    z_first, z_refit = first / max(first_error, _MIN_STANDARD_ERROR), gain / max(gain_error, _MIN_STANDARD_ERROR)
    winner = best if ahead > 0 and (z_first + z_refit) / np.sqrt(2) > _MIN_Z_VALUE else FEATURES_ALONE
    if winner == FEATURES_ALONE:
        gain, gain_error = mean_difference(candidates[FEATURES_ALONE].scores, without, answers)
    names = verdict.table.candidate
    table = verdict.table.assign(
        agreement=[_agreement(candidates[winner], candidates[name]) for name in names],
        unseen=[unseen[name].mean() if name in unseen else np.nan for name in names],
    )
    return winner, Verdict(winner, table, gain, gain_error, answers.num_pairs)


def mean_difference(
    first: Float[np.ndarray, "P"], second: Float[np.ndarray, "P"], answers: PairAnnotations
) -> tuple[float, float]:
    """Mean difference of two scores of the answers, and its standard error, clustered by item.

    Answers that share an item are dependent (dyadic-robust variance, Fafchamps & Gubert 2007). Σ over items of the
    squared sum of their answers contains every such product once, and twice if the two answers are about one pair, so
    these are subtracted. The variance is at least the one clustered by pair.
    """
    difference = first - second
    centred = difference - difference.mean()
    index, number = answers.index, len(answers.annotated)
    of_items = np.bincount(index.i, centred, number) + np.bincount(index.j, centred, number)
    within = (np.bincount(answers.pair, centred) ** 2).sum()
    variance = max((of_items**2).sum() - within, within)
    return float(difference.mean()), float(np.sqrt(variance)) / len(difference)


def _classifiers(x: Float[np.ndarray, "N C"]) -> list[ItemClassifier]:
    neighbours = LabelPropagation(x)
    full = GaussianClassifier(x, neighbours, _DIMS_FULL_COVARIANCE, shared=False)
    shared = GaussianClassifier(x, neighbours, _DIMS_SHARED_COVARIANCE, shared=True)
    return [LogisticClassifier(x), neighbours, full, shared, TwoWayClassifier(x, shared)]


def _agreement(one: Candidate, other: Candidate) -> float:
    return float(adjusted_rand_score(one.clusters, other.clusters))


def _same_clusters(one: Candidate, other: Candidate) -> bool:
    """Whether the clusters of two candidates differ in less than one item in a hundred."""
    together = one.known.T @ other.known
    return bool(together.max(1).sum() > 0.99 * together.sum() and together.max(0).sum() > 0.99 * together.sum())


def _kmeans_cells(x: Float[np.ndarray, "N C"], number: int, rng: np.random.Generator, tries: int = 1) -> np.ndarray:
    """k-means cells [N], the best of ``tries`` initialisations."""
    seed = int(rng.integers(2**31))
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # fewer distinct items than cells
        return KMeans(min(number, len(x)), n_init=tries, random_state=seed).fit_predict(x).astype(np.int64)
