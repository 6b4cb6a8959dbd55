"""A portfolio of candidate clusterings, and the selection of one of them by the likelihood of held-out answers.

No single initialisation is best on all data. Initial clusters are k-means cells of each preparation of the features and
spectral clusters of the answers; in both, clusters are merged where the answers support it. In one preparation columns
have weights by how well they predict the answers
(:mod:`semicrowd.starts.weighting`). Each is co-trained with the two quick classifiers of its preparation; if it belongs
to none, with those of all. The best are co-trained again with a stack of all classifiers except networks
(:mod:`semicrowd.starts.cotraining`, :mod:`semicrowd.starts.calibration`). The answers of one grouping depend on each
other: they count as their effective number, or as independent, whichever predicts held-out answers better. Three kinds
of candidates are not co-trained: the clusters of networks that learn the answers, if they are clearly better than all
co-trained ones (:mod:`semicrowd.starts.networks`); the clusters of the features alone, as they are and merged where the
answers support it; and k-means with the number of clusters of the best candidate so far. Held-out answers select the
winner (:mod:`semicrowd.starts.selection`).
"""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import astuple, replace
from functools import cached_property
from typing import Any, NamedTuple

import joblib
import numpy as np
from jaxtyping import Bool, Float, Int
from threadpoolctl import threadpool_limits

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.crowd.cells import kmeans_cells
from semicrowd.random import stream
from semicrowd.starts.answer_classifier import Annotators
from semicrowd.starts.answer_model import IndexedAnswers
from semicrowd.starts.calibration import StackedClassifier
from semicrowd.starts.cotraining import ROUNDS, Candidate, cotrain, folds_of_answers, scores_without_clusters
from semicrowd.starts.initial_clusters import ClustersWithoutAnswers, Initial, InitialClusters
from semicrowd.starts.item_classifiers import ItemClassifier
from semicrowd.starts.networks import NetworkClassifier, clusters_by_networks
from semicrowd.starts.prepared_features import classifiers_of
from semicrowd.starts.preparing import Prepared, prepared
from semicrowd.starts.selection import FEATURES_ALONE, Verdict, agreement, confirm, mean_difference, select
from semicrowd.starts.shared import ProgressCallback, shared

#: Candidates that are co-trained again with all classifiers.
_FINALISTS = 3
#: A random sample of at most so many items is added to the annotated ones: time does not grow with the number of items.
_MAX_SAMPLE = 20_000
#: In standard errors: a candidate with at least this lead over the features alone needs no confirmation; the networks
#: become a candidate only with a larger lead over the best co-trained candidate.
_CLEAR_LEAD = 5.0
#: Folds of the answers when candidates are fitted again. Ten and not five: if answers are few and often wrong, nine
#: tenths of them still suffice for the same clusters, four fifths do not.
_REFIT_FOLDS = 10
#: Name of the candidate whose initial clusters are those of networks that learn the answers.
BY_NETWORKS = "networks of the answers"


class Cotrained(NamedTuple):
    """The winner of a portfolio.

    Attributes
    ----------
    annotators : posteriors of the annotators' rates
    alone, probabilities : cluster probabilities of all items from their features alone, and with the answers
    verdict : comparison of the candidates
    rows : indices of the items that the candidates were fitted to
    preparations : the preparations of their features that the winner uses, by name
    shares : weight of each preparation in the winner's classifiers, by name
    """

    annotators: Annotators
    alone: Float[np.ndarray, "N K"]
    probabilities: Float[np.ndarray, "N K"]
    verdict: Verdict
    rows: Int[np.ndarray, "n"]
    preparations: dict[str, Prepared]
    shares: dict[str, float]


class Portfolio(InitialClusters):
    """Initial clusters, candidates and the choice among them, for given features and answers.

    Parameters
    ----------
    features : before any preparation
    max_clusters : maximum number of clusters; None: :func:`default_max_clusters` of the number of annotated items
    restart : number of the restart; each has random streams of its own
    image_shape : (height, width) or (colours, height, width) where a row of the features is an image
    jobs : processes in which candidates are fitted again; None: one, −1: the cores
    indicators : columns of the features that mark missing numbers
    memory : keeps the result, which portfolios with the same arguments share
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
        jobs: int | None = None,
        indicators: Sequence[int] = (),
        memory: joblib.Memory | None = None,
    ) -> None:
        self.all_answers, self.progress, self.jobs, self.indicators = answers, progress, jobs, tuple(indicators)
        self.memory = memory or joblib.Memory(None)
        others = stream(seed, "portfolio/sample", restart).permutation(answers.num_items)[:_MAX_SAMPLE]
        # Items that candidates are fitted to: the annotated ones and a sample of the others.
        rows = np.union1d(others, answers.annotated)
        i, j = (np.searchsorted(rows, ends) for ends in (answers.i, answers.j))
        super().__init__(
            features, rows, replace(answers, num_items=len(rows), i=i, j=j), image_shape,
            seed=seed, restart=restart, max_clusters=max_clusters,
        )  # fmt: skip
        #: Whether the answers of one grouping count as independent; both are tried if it makes a difference.
        self._ways = (False, True) if self.answers.index.effective().min() < 1 else (False,)

    def __getstate__(self) -> dict[str, Any]:
        """For another process, which tells nobody of its progress."""
        return {name: value for name, value in vars(self).items() if name != "progress"}

    def cotrained(self) -> Cotrained:
        """The winner."""
        inputs = (self.all_features, astuple(self.all_answers), self.seed, self.max_clusters, self.restart,
                  self.image_shape, self.indicators)  # fmt: skip
        return shared(self.memory, "co-training", inputs, self._cotrain)

    def _cotrain(self) -> Cotrained:
        winner, verdict = self.winner()
        self.progress("start: clusters of all items")
        shares = self.shares_of_preparations(winner)
        used = {name: one for name, one in self.preparations.items() if shares[name] > 0}
        return Cotrained(winner.annotators, *self.probabilities(winner), verdict, self.rows, used, shares)

    @cached_property
    def network(self) -> NetworkClassifier:
        """Networks on the first preparation only, because they take most of the time."""
        return NetworkClassifier(self.prepared[self.first], self.seed)

    def probabilities(self, winner: Candidate) -> tuple[Float[np.ndarray, "N K"], Float[np.ndarray, "N K"]]:
        """Cluster probabilities of all items: from features alone, and with the answers about annotated items."""
        items = self.all_answers.annotated
        if len(self.rows) == len(self.all_features):
            return winner.probabilities(items)
        stack = winner.classifier
        assert isinstance(stack, StackedClassifier)
        everywhere: list[ItemClassifier] = []
        for name, small in self.classifiers.items():
            used = any(stack.share(one) > 0 for one in small)
            everywhere += classifiers_of(self._all_prepared(name)) if used else small
        network = self.network
        if stack.share(network) > 0:
            network = NetworkClassifier(self._all_prepared(self.first), self.seed)
        before: list[ItemClassifier] = [*self.all_classifiers(), self.network]
        return replace(winner, classifier=stack.of(before, [*everywhere, network])).probabilities(items)

    def _all_prepared(self, name: str) -> Float[np.ndarray, "N C"]:
        if name in self.preparations:
            return prepared(self.preparations[name].pipeline, self.all_features)
        return np.zeros((len(self.all_features), 1))

    def winner(self) -> tuple[Candidate, Verdict]:
        """The best candidate, and its comparison with the others."""
        candidates = self._finalists()
        best = max(candidates.values(), key=lambda one: one.scores.mean())
        self.progress(f"start: {BY_NETWORKS}")
        networks = self._cotrained_by_networks()
        ahead, error = mean_difference(networks.scores, best.scores, self.answers)
        # The networks' clusters were trained on all answers, held-out ones included, so a small lead is no evidence.
        if ahead > _CLEAR_LEAD * error:
            candidates[BY_NETWORKS] = best = networks
        without_answers = self.without_answers(best.known.shape[1])
        for name, made in without_answers.items():
            self.progress(f"start: {name}")
            candidates[name] = self._cotrained_without_answers(made)
        winner, verdict = select(candidates, self.answers)
        if self._in_doubt(candidates, winner):
            winner, verdict = self._confirmed(winner, candidates, verdict, without_answers)
        gained = f"{verdict.gain:+.4f} ± {verdict.gain_error:.4f}"
        number = candidates[winner].known.shape[1]
        said = f"start: selected {winner} ({number} clusters); gain over no clusters: {gained} nats per held-out answer"
        self.progress(said)
        return candidates[winner], verdict

    def _finalists(self) -> dict[str, Candidate]:
        """The best of the candidates that are co-trained quickly, co-trained again with all classifiers."""
        initial, quick = self.initial(), dict[str, Candidate]()
        for number, (name, one) in enumerate(initial.items(), 1):
            self.progress(f"start: candidate {number} of {len(initial)}: {name}")
            quick[name] = self._cotrained_quickly(one)
        finalists = dict[str, Candidate]()
        for name in sorted(quick, key=lambda name: -quick[name].scores.mean()):
            known = any(_same_clusters(quick[name], quick[other]) for other in finalists)
            if len(finalists) < _FINALISTS and not known:
                self.progress(f"start: {name}, again with all classifiers")
                finalists[name] = self._cotrained(quick[name].clusters, self.all_classifiers(), ROUNDS)
        return finalists

    def _in_doubt(self, candidates: Mapping[str, Candidate], best: str) -> bool:
        ahead, error = mean_difference(candidates[best].scores, candidates[FEATURES_ALONE].scores, self.answers)
        return agreement(candidates[best], candidates[FEATURES_ALONE]) < 1.0 and ahead < _CLEAR_LEAD * error

    def _confirmed(
        self,
        best: str,
        candidates: Mapping[str, Candidate],
        verdict: Verdict,
        without_answers: Mapping[str, ClustersWithoutAnswers],
    ) -> tuple[str, Verdict]:
        """The winner and the verdict after candidates are fitted again without each fold of the answers.

        If the best one is not confirmed, the best of :meth:`without_answers` is tried, besides the features alone:
        answers that are too few for co-training may suffice to merge clusters of the features, for the number of
        clusters and for weights of columns. It has to predict the folds better by a standard error, since it is a
        second attempt.
        """
        others = sorted(without_answers, key=lambda name: -candidates[name].scores.mean())
        second = next((name for name in others if name not in (best, FEATURES_ALONE)), None)
        unseen = {
            name: self._refitted_scores(name, without_answers.get(name), independent=candidates[name].independent)
            for name in (best, FEATURES_ALONE)
        }
        best, verdict = confirm(best, unseen, candidates, verdict, self.answers)
        if best != FEATURES_ALONE or second is None:
            return best, verdict
        way = candidates[second].independent
        unseen[second] = self._refitted_scores(second, without_answers[second], independent=way)
        return confirm(second, unseen, candidates, verdict, self.answers, margin=1.0)

    def _refitted_scores(
        self, name: str, without_answers: ClustersWithoutAnswers | None, *, independent: bool = False
    ) -> Float[np.ndarray, "P"]:
        """ln p of every answer, given a candidate that is fitted again without the fold of this answer.

        If the candidate cannot be fitted without a fold, the scores of this fold are those of the model without
        clusters. The scores of :func:`select` are optimistic in comparison: the clusters that its classifiers learn
        come from all answers, held-out ones included.

        Parameters
        ----------
        name : of the candidate
        without_answers : computes its initial clusters, if they come from the features; otherwise None
        independent : whether the answers of one grouping count as independent
        """
        scores, fold = scores_without_clusters(self.answers), folds_of_answers(self.answers, _REFIT_FOLDS)
        folds = [one for one in range(_REFIT_FOLDS) if (fold == one).any() and (fold != one).any()]
        # Not a backend that the user has chosen for something else: threads of one process would share their settings.
        in_parallel = joblib.Parallel(
            self.jobs or 1, backend="loky", return_as="generator", max_nbytes=None, pre_dispatch="n_jobs"
        )
        here = os.getpid()
        found = in_parallel(
            joblib.delayed(_in_one_thread)(
                here, self._scores_of_refit, name, without_answers, fold != one, scores[fold == one], independent
            )
            for one in folds
        )
        for number, one in enumerate(folds, 1):
            self.progress(f"start: {name}, fitted again without fold {number} of {len(folds)} of the answers")
            scores[fold == one] = next(found)
        return scores

    def _scores_of_refit(
        self,
        name: str,
        without_answers: ClustersWithoutAnswers | None,
        training: Bool[np.ndarray, "P"],
        without_clusters: Float[np.ndarray, "H"],
        independent: bool,
    ) -> Float[np.ndarray, "H"]:
        """ln p of the H answers that are not ``training``; ``without_clusters`` if the candidate cannot be fitted."""
        refit = self.given(training)
        refit._ways = (independent,)
        candidate = refit._fitted(name, without_answers)
        if candidate is None:
            return without_clusters
        z = candidate.probabilities(refit.answers.annotated)[1][self.answers.annotated]
        similarity = IndexedAnswers.of(self.answers, training).similarity(z)
        return IndexedAnswers.of(self.answers, ~training).log_likelihood(z, *similarity)

    def _fitted(self, name: str, without_answers: ClustersWithoutAnswers | None) -> Candidate | None:
        """The candidate of this name, fitted to :attr:`answers`; None if they are too few for its initial clusters."""
        if name == BY_NETWORKS:
            return self._cotrained_by_networks()
        if without_answers is not None:
            return self._cotrained_without_answers(without_answers)
        initial = self.initial().get(name)
        if initial is None:
            return None
        return self._cotrained(self._cotrained_quickly(initial).clusters, self.all_classifiers(), ROUNDS)

    def shares_of_preparations(self, winner: Candidate) -> dict[str, float]:
        """Weight of each preparation in the stacked classifiers of a candidate, by name."""
        stack = winner.classifier
        assert isinstance(stack, StackedClassifier)
        shares = {name: sum(stack.share(one) for one in some) for name, some in self.classifiers.items()}
        return shares | {self.first: shares[self.first] + stack.share(self.network)}

    def _cotrained_quickly(self, initial: Initial) -> Candidate:
        return self._cotrained_in_one_way(
            initial.clusters(), self._quick_classifiers(initial), ROUNDS, independent=False
        )

    def _quick_classifiers(self, initial: Initial) -> list[ItemClassifier]:
        return [one for preparation in initial.preparations for one in self.classifiers[preparation][:2]]

    def _cotrained_without_answers(self, clusters: ClustersWithoutAnswers) -> Candidate:
        return self._cotrained(clusters(self)[self.answers.annotated], self.all_classifiers(), 0)

    def _cotrained_by_networks(self) -> Candidate:
        x = self.prepared[self.first]
        draws = stream(self.seed, "networks/cells", self.restart)
        cells = kmeans_cells(x, self.max_clusters, int(draws.integers(2**31)))
        clusters = np.zeros(self.answers.num_items, np.int64)
        learned = clusters_by_networks(x, self.answers, cells, self.max_clusters, self.seed, self.restart)
        clusters[self.answers.annotated] = learned
        clusters = self.merged_by_answers(clusters)[self.answers.annotated]
        return self._cotrained(clusters, [*self.all_classifiers(), self.network], 0)

    def _cotrained(self, clusters: np.ndarray, classifiers: list[ItemClassifier], rounds: int) -> Candidate:
        made = [self._cotrained_in_one_way(clusters, classifiers, rounds, independent=way) for way in self._ways]
        return max(made, key=lambda one: one.scores.mean())

    def _cotrained_in_one_way(
        self, clusters: np.ndarray, classifiers: list[ItemClassifier], rounds: int, *, independent: bool
    ) -> Candidate:
        folds, stack = stream(self.seed, "portfolio/folds", self.restart), StackedClassifier(classifiers)
        return cotrain(self.answers, clusters, stack, folds, rounds, self.max_clusters, independent=independent)


def _in_one_thread(here: int, compute: Callable[..., np.ndarray], *arguments: Any) -> np.ndarray:
    """``compute`` of the arguments; in a process other than ``here`` in one thread, since others are beside it."""
    if os.getpid() == here:
        return compute(*arguments)
    import torch

    torch.set_num_threads(1)
    with threadpool_limits(1):
        return compute(*arguments)


def _same_clusters(one: Candidate, other: Candidate) -> bool:
    """Whether two candidates have the same clusters, except for less than 1 % of the expected number of items.

    Expected under independent draws from both candidates' probabilities, so that uncertain items count as differences.
    """
    together = one.known.T @ other.known
    return bool(together.max(1).sum() > 0.99 * together.sum() and together.max(0).sum() > 0.99 * together.sum())
