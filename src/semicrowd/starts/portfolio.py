"""A portfolio of starts and one judge: many ways to clusters that answers and features agree on.

None of them is right on all data. First clusters come from the features in each of their preparations (cells joined by
the answers) and from the answers alone. Each is co-trained with quick classifiers; the best go on with all classifiers
of all preparations, mixed as they deserve (:mod:`semicrowd.starts.cotraining`, :mod:`semicrowd.starts.stacking`).
Beside them stand the clusters of the features alone, and those of k-means with as many clusters as the answers have
led to: what only the answers see has to pay. The candidate under which held-out answers are likeliest wins. Where it
has other clusters than the features alone and is not far ahead of them, both are made anew without each fold of the
answers, and it has to predict these better.
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
from semicrowd.starts.answer_model import Heard
from semicrowd.starts.cotraining import ROUNDS, Candidate, cotrain, folds_of_answers, scores_without_clusters
from semicrowd.starts.of_features import clusters_of_features
from semicrowd.starts.preparing import Prepared, preparations, prepared
from semicrowd.starts.spreading import GaussianSpread, LogisticSpread, NeighbourSpread, Spread
from semicrowd.starts.stacking import StackedSpread
from semicrowd.starts.two_way import TwoWaySpread

#: k-means cells of a start, as shares of the most clusters.
_CELLS = {"few": 0.5, "many": 1.5}
#: Principal components that Gaussians with covariances of their own look at.
_FULL = 8
#: Those that Gaussians with one covariance for all look at: it has fewer numbers to learn.
_SHARED = 50
#: Candidates that go on to all classifiers.
_FINALISTS = 3
#: Items beside the annotated ones that candidates are made of, at most.
_SEEN = 20_000
#: Standard errors by which a co-trained candidate is ahead of the features alone beyond doubt.
_CLEAR = 5.0
#: Standard errors by which a candidate that answers have made has to be better than none, on two counts together.
_INFORMED = 2.0
#: Least standard error.
_TINY = 1e-9
#: Folds of the answers, each of which is left out once where candidates are made anew: of few answers that are often
#: wrong nine tenths lead to the clusters where four fifths do not.
_UNSEEN_FOLDS = 10
#: Answers that can tell anything of the items, at least.
FEWEST = 10
#: What a name says of the candidate of the features, which is not co-trained.
FEATURES = "features alone"
#: The same of the one whose number of clusters is that of the answers.
COUNTED = "features, number of clusters from the answers"
#: Takes a line about what is being done.
Say = Callable[[str], None]


@dataclass(frozen=True)
class Verdict:
    """What won and by how much.

    Attributes
    ----------
    winner : name of the candidate; it need not be the first of the table
    table : a row for each candidate that could have won: ``candidate``, ``clusters``, ``score`` (nats an answer, held
        out), ``behind`` and ``standard_error`` (how far behind the highest score, over items), ``answer_power``,
        ``agreement`` (adjusted Rand index of the annotated items' clusters and the winner's), ``unseen`` (the score of
        those that were made anew without each fold of the answers; NaN of the others)
    gain, gain_error : how much likelier an answer is with the winner's clusters than without any, and the standard
        error, in nats
    num_answers : that this was judged by
    """

    winner: str
    table: pd.DataFrame
    gain: float
    gain_error: float
    num_answers: int

    @property
    def informative(self) -> bool:
        """Whether the answers are likelier than if they had nothing to do with the items, and not a handful."""
        return _informative(self.gain, self.gain_error, self.num_answers)


def _informative(gain: float, gain_error: float, num_answers: int) -> bool:
    return num_answers >= FEWEST and gain > gain_error


class Portfolio:
    """Starts, candidates and their judge for some features and answers.

    Parameters
    ----------
    features : [N, D], as they come
    most : clusters at most; None: as many as the answers could tell apart
    restart : number of the restart, which draws its own cells
    image_shape : (height, width) or (colours, height, width) where a row of the features is an image
    """

    def __init__(
        self,
        features: Float[np.ndarray, "N D"],
        answers: PairAnnotations,
        seed: int,
        say: Say,
        most: int | None = None,
        restart: int = 0,
        image_shape: Sequence[int] | None = None,
    ) -> None:
        self.all_features, self.all_answers = features, answers
        self.seed, self.say, self.restart, self.image_shape = seed, say, restart, image_shape
        self.most = most or most_clusters(len(answers.annotated))
        others = stream(seed, "portfolio/sample", restart).permutation(answers.num_items)[:_SEEN]
        #: Items that candidates are made of: the annotated ones and a sample of the others.
        self.rows = np.union1d(others, answers.annotated)
        self.features = features[self.rows]
        self.answers = replace(
            answers, num_items=len(self.rows), i=np.searchsorted(self.rows, answers.i),
            j=np.searchsorted(self.rows, answers.j),
        )  # fmt: skip

    @cached_property
    def preparations(self) -> dict[str, Prepared]:
        """Of the features, by name."""
        return dict(preparations(self.features, self.image_shape))

    @cached_property
    def prepared(self) -> dict[str, np.ndarray]:
        """Features [n, C] of :attr:`rows`, by name of their preparation."""
        ways = {name: way.items for name, way in self.preparations.items()}
        return ways or {"none": np.zeros((len(self.features), 1))}

    @cached_property
    def spreads(self) -> dict[str, list[Spread]]:
        """Classifiers by preparation; the first two are quick."""
        return {name: _classifiers(x) for name, x in self.prepared.items()}

    def probabilities(self, winner: Candidate) -> tuple[Float[np.ndarray, "N K"], Float[np.ndarray, "N K"]]:
        """Of all items, from their features alone; and with all that is known of the annotated ones."""
        items = self.all_answers.annotated
        if len(self.rows) == len(self.all_features):
            return winner.probabilities(items)
        stack = winner.spread
        assert isinstance(stack, StackedSpread)
        self.say("start: all items")
        everywhere: list[Spread] = []
        for name, small in self.spreads.items():
            used = {place for place, one in enumerate(small) if stack.share(one) > 0}
            everywhere += _classifiers(self._all_prepared(name)) if used else small
        return replace(winner, spread=stack.of(self._all(), everywhere)).probabilities(items)

    def _all_prepared(self, name: str) -> Float[np.ndarray, "N C"]:
        if name in self.preparations:
            return prepared(self.preparations[name].pipeline, self.all_features)
        return np.zeros((len(self.all_features), 1))

    def winner(self) -> tuple[Candidate, Verdict]:
        """The best candidate, and what it was compared with."""
        quick = {name: self._quick(name, *start) for name, start in self.first_clusters().items()}
        order = sorted(quick, key=lambda name: -quick[name].scores.mean())
        last: dict[str, Candidate] = {}
        for name in order:
            if len(last) < _FINALISTS and not any(_alike(quick[name], quick[other]) for other in last):
                self.say(f"start: {name}, all classifiers")
                last[name] = self._cotrained(quick[name].clusters, self._all(), ROUNDS)
        unmoved = self.unmoved(last)
        for name, clusters in unmoved.items():
            self.say(f"start: {name}")
            last[name] = self._cotrained(clusters, self._all(), 0)
        best, verdict = judge(last, self.answers)
        ahead, error = lead(last[best].scores, last[FEATURES].scores, self.answers)
        the_same = _agreement(last[best], last[FEATURES]) == 1.0
        if not the_same and ahead < _CLEAR * error:
            self.say(f"start: {best}, without each answer in turn")
            unseen = {name: self._unseen_scores(name, unmoved.get(name)) for name in (best, FEATURES)}
            best, verdict = confirmed(best, unseen, last, verdict, self.answers)
        self.say(f"start: {best} won with {verdict.gain:+.4f} ({verdict.gain_error:.4f}) nats an answer")
        return last[best], verdict

    def _unseen_scores(self, name: str, unmoved: Int[np.ndarray, "n"] | None) -> Float[np.ndarray, "P"]:
        """ln p of every answer by a candidate of the same start that is made without it and its fold.

        The scores of a candidate are too good: the clusters that classifiers learn have come from all answers, those
        held out among them.

        Parameters
        ----------
        name : of a start, or of a candidate with these ``unmoved`` clusters of the annotated items, which no answer has
            had a part in but for their number
        """
        scores, fold = scores_without_clusters(self.answers), folds_of_answers(self.answers, _UNSEEN_FOLDS)
        for one in range(_UNSEEN_FOLDS):
            part, told, asked = copy(self), fold != one, fold == one
            if not (told.any() and asked.any()):
                continue
            part.answers = self.answers.some(told)
            if unmoved is None:
                first, rounds = part.first_clusters().get(name, (None, []))[0], ROUNDS
            else:
                first, rounds = unmoved[np.searchsorted(self.answers.annotated, part.answers.annotated)], 0
            if first is not None:
                found = part._cotrained(first, self._all(), rounds)
                z = found.probabilities(part.answers.annotated)[1][self.answers.annotated]
                alike = Heard.of(self.answers, told).alike(z)
                scores[asked] = Heard.of(self.answers, asked).log_likelihood(z, *alike)
        return scores

    def shares_of_preparations(self, winner: Candidate) -> dict[str, float]:
        """How much each preparation has to say in the classifiers of a candidate, by name."""
        stack = winner.spread
        assert isinstance(stack, StackedSpread)
        return {name: sum(stack.share(one) for one in spreads) for name, spreads in self.spreads.items()}

    def first_clusters(self) -> dict[str, tuple[Int[np.ndarray, "n"], list[str]]]:
        """Clusters of the annotated items, and the preparations whose classifiers go on, by where they come from."""
        rng = stream(self.seed, "portfolio/cells", self.restart)
        found = {}
        for name, x in self.prepared.items():
            for amount, share in _CELLS.items():
                number = max(2, min(round(share * self.most), len(self.answers.annotated) // 2))
                cells = self._joined(_cells(x, number, rng))
                found[f"{amount} cells of {name} features"] = cells[self.answers.annotated], [name]
        if len(self.answers.annotated) > self.most:
            alone = np.zeros(self.answers.num_items, np.int64)
            alone[self.answers.annotated] = spectral_clusters(self.answers, self.most, 2, rng)[-1].numpy()
            found["answers alone"] = self._joined(alone)[self.answers.annotated], list(self.prepared)
        return found

    def unmoved(self, found: Mapping[str, Candidate]) -> dict[str, Int[np.ndarray, "n"]]:
        """Clusters of the annotated items that no answer has moved."""
        rng, annotated = stream(self.seed, "portfolio/features", self.restart), self.answers.annotated
        clusters = {FEATURES: self.of_features(rng)[annotated]}
        best = max(found.values(), key=lambda one: one.scores.mean())
        number = best.known.shape[1]
        if number > 1:
            for name, x in self.prepared.items():
                clusters[f"{name} {COUNTED}"] = _cells(x, number, rng, tries=5)[annotated]
        return clusters

    def of_features(self, rng: np.random.Generator) -> Int[np.ndarray, "N"]:
        """Clusters of all items by the features alone."""
        first = next(iter(self.prepared.values()))
        return clusters_of_features(first, max(self.most, 2), rng)[0]

    def _quick(self, name: str, clusters: np.ndarray, ways: list[str]) -> Candidate:
        self.say(f"start: {name}")
        return self._cotrained(clusters, [one for way in ways for one in self.spreads[way][:2]], ROUNDS)

    def _all(self) -> list[Spread]:
        return [one for way in self.spreads.values() for one in way]

    def _cotrained(self, clusters: np.ndarray, spreads: list[Spread], rounds: int) -> Candidate:
        folds = stream(self.seed, "portfolio/folds", self.restart)
        return cotrain(self.answers, clusters, StackedSpread(spreads), folds, rounds, self.most)

    def _joined(self, clusters: Int[np.ndarray, "N"]) -> Int[np.ndarray, "N"]:
        """Clusters joined where the answers say that they are one kind."""
        heard = Heard.of(self.answers)
        known = np.eye(int(clusters.max()) + 1)[clusters[self.answers.annotated]]
        return join_cells(clusters, self.answers, heard.weights(heard.rates(known)), self.most)


def most_clusters(num_annotated: int) -> int:
    """More kinds than this are hardly seen in so many items: one and a half times the square root, 4 to 50."""
    return int(np.clip(round(1.5 * np.sqrt(num_annotated)), 4, 50))


def judge(found: Mapping[str, Candidate], answers: PairAnnotations) -> tuple[str, Verdict]:
    """The name of the winner, and the verdict.

    Of the candidates within one standard error of the highest score those with the fewest clusters, of these the
    co-trained ones where there are any, and of these the one with the highest score. The standard error is that of the
    mean difference to the best, paired by answer, over items. If answers are predicted no better than without clusters,
    they say nothing of the items, and the clusters of the features alone win.
    """
    best = max(found, key=lambda name: found[name].scores.mean())
    leads = {name: lead(found[best].scores, one.scores, answers) for name, one in found.items()}
    close = [name for name, (behind, error) in leads.items() if behind <= error]

    def rank(name: str) -> tuple[int, bool, float]:
        one = found[name]
        return one.known.shape[1], not one.cotrained, -float(one.scores.mean())

    winner = min(close, key=rank)
    gain, gain_error = lead(found[winner].scores, scores_without_clusters(answers), answers)
    if FEATURES in found and not _informative(gain, gain_error, answers.num_pairs):
        winner = FEATURES
    rows = [
        {"candidate": name, "clusters": one.known.shape[1], "score": one.scores.mean(), "behind": leads[name][0],
         "standard_error": leads[name][1], "answer_power": one.answers.power,
         "agreement": _agreement(found[winner], one), "unseen": np.nan}
        for name, one in found.items()
    ]  # fmt: skip
    table = pd.DataFrame(rows).sort_values("score", ascending=False, ignore_index=True)
    return winner, Verdict(winner, table, gain, gain_error, answers.num_pairs)


def confirmed(
    best: str,
    unseen: Mapping[str, Float[np.ndarray, "P"]],
    found: Mapping[str, Candidate],
    verdict: Verdict,
    answers: PairAnnotations,
) -> tuple[str, Verdict]:
    """The same where the best and the features alone are judged by answers that had no part in either.

    The best has to predict these answers better than the features alone do. And luck with the answers of people who
    guess must not be taken for knowledge. Two scores speak of that: how far ahead of the features alone the best is as
    it was found, and how far ahead of no clusters made anew. The one is too good, since all answers have led to the
    clusters; the other too bad, since fewer have. Their z values together (Stouffer) have to be :data:`_INFORMED`.

    Parameters
    ----------
    unseen : scores of both
    """
    without = scores_without_clusters(answers)
    ahead, (gain, gain_error) = lead(unseen[best], unseen[FEATURES], answers)[0], lead(unseen[best], without, answers)
    found_ahead, found_error = lead(found[best].scores, found[FEATURES].scores, answers)
    both = (found_ahead / max(found_error, _TINY) + gain / max(gain_error, _TINY)) / np.sqrt(2)
    winner = best if ahead > 0 and both > _INFORMED else FEATURES
    if winner == FEATURES:
        gain, gain_error = lead(found[FEATURES].scores, without, answers)
    names = verdict.table.candidate
    table = verdict.table.assign(
        agreement=[_agreement(found[winner], found[name]) for name in names],
        unseen=[unseen[name].mean() if name in unseen else np.nan for name in names],
    )
    return winner, Verdict(winner, table, gain, gain_error, answers.num_pairs)


def lead(
    first: Float[np.ndarray, "P"], second: Float[np.ndarray, "P"], answers: PairAnnotations
) -> tuple[float, float]:
    """Mean difference of two scores of the answers, and its standard error over items: each has many answers.

    Two answers go together where they share an item (Fafchamps & Gubert 2007): Σ over items of the squared sums of
    their answers has all such products, those of answers about one pair twice. Never less than if only these went
    together.
    """
    difference = first - second
    centred = difference - difference.mean()
    index, number = answers.index, len(answers.annotated)
    of_items = np.bincount(index.i, centred, number) + np.bincount(index.j, centred, number)
    within = (np.bincount(answers.pair, centred) ** 2).sum()
    variance = max((of_items**2).sum() - within, within)
    return float(difference.mean()), float(np.sqrt(variance)) / len(difference)


def _classifiers(x: Float[np.ndarray, "N C"]) -> list[Spread]:
    neighbours = NeighbourSpread(x)
    full, shared = (GaussianSpread(x, neighbours, dims, shared=one) for dims, one in ((_FULL, False), (_SHARED, True)))
    return [LogisticSpread(x), neighbours, full, shared, TwoWaySpread(x, shared)]


def _agreement(one: Candidate, other: Candidate) -> float:
    return float(adjusted_rand_score(one.clusters, other.clusters))


def _alike(one: Candidate, other: Candidate) -> bool:
    """Whether two candidates have the same clusters but for one item in a hundred."""
    together = one.known.T @ other.known
    return bool(together.max(1).sum() > 0.99 * together.sum() and together.max(0).sum() > 0.99 * together.sum())


def _cells(x: Float[np.ndarray, "N C"], number: int, rng: np.random.Generator, tries: int = 1) -> np.ndarray:
    """Cells [N] of k-means."""
    seed = int(rng.integers(2**31))
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # items in fewer than K places: fewer cells
        return KMeans(min(number, len(x)), n_init=tries, random_state=seed).fit_predict(x).astype(np.int64)
