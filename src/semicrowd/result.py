"""The result of a fitted method, before it is compared with true labels."""

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from jaxtyping import Bool, Float, Int

from semicrowd.crowd.workers import WorkerPosterior

#: Fewer answers than this are never called informative.
MIN_ANSWERS = 10
#: Nats an annotated item by which the evidence of clusters has to exceed that of no clusters. Clusters are fitted to
#: random answers, too, and reach up to .18 in simulations, so that less says nothing.
MIN_EVIDENCE = 0.25


@dataclass(frozen=True)
class Assignment:
    """Hard clusters of N items, and the probability of each item's cluster; NaN for a method without probabilities.

    Attributes
    ----------
    cluster : int64
    probability : float64
    memberships : probabilities of all clusters; None for a method without probabilities
    """

    cluster: Int[np.ndarray, "N"]
    probability: Float[np.ndarray, "N"]
    memberships: Float[np.ndarray, "N K"] | None = None

    @classmethod
    def of(cls, memberships: np.ndarray, components: np.ndarray | None = None) -> "Assignment":
        """The most probable cluster of every item, [N, K] → [N]; ties go to the first.

        Parameters
        ----------
        components : [K] the model's component of each column; ties go to the first component. None: to the first column
        """
        if components is None:
            cluster = memberships.argmax(-1)
        else:
            column = np.argsort(components)
            cluster = column[memberships[:, column].argmax(-1)]
        probability = memberships[np.arange(len(cluster)), cluster]
        return cls(cluster.astype(np.int64), probability.astype(np.float64), memberships)

    @classmethod
    def hard(cls, cluster: np.ndarray) -> "Assignment":
        """Clusters [N] of a method without probabilities."""
        return cls(np.asarray(cluster).astype(np.int64), np.full(len(cluster), np.nan))

    def second(self) -> tuple[Int[np.ndarray, "N"], Float[np.ndarray, "N"]]:
        """The second most probable cluster of every item, and its probability; ties go to the first.

        The cluster is −1 and the probability NaN for a method without probabilities and where there is one cluster.
        """
        if self.memberships is None or self.memberships.shape[1] < 2:
            return np.full(len(self.cluster), -1), np.full(len(self.cluster), np.nan)
        others = self.memberships.copy()
        np.put_along_axis(others, self.cluster[:, None], -1.0, axis=1)
        return others.argmax(1).astype(np.int64), others.max(1).astype(np.float64)

    def renumbered(self, components: np.ndarray) -> "Assignment":
        """The same clusters under other numbers.

        Parameters
        ----------
        components : [K] present number of each new cluster; it must have all numbers that occur
        """
        number = np.argsort(components)
        memberships = None
        if self.memberships is not None:
            memberships = self.memberships[:, components]
        return Assignment(number[self.cluster].astype(np.int64), self.probability, memberships)

    @property
    def memberships_or_clusters(self) -> np.ndarray:
        """Memberships [N, K] if there are any, else clusters [N]."""
        return self.cluster if self.memberships is None else self.memberships

    def replace(self, items: np.ndarray, new: "Assignment") -> "Assignment":
        """This assignment, except that ``items`` have the assignment ``new``, which has a row for each of them."""
        cluster, probability = self.cluster.copy(), self.probability.copy()
        cluster[items], probability[items] = new.cluster, new.probability
        memberships = None
        if self.memberships is not None and new.memberships is not None:
            memberships = self.memberships.copy()
            memberships[items] = new.memberships
        return Assignment(cluster, probability, memberships)


@dataclass(frozen=True)
class Verdict:
    """Comparison of candidate clusterings of co-training by their evidence.

    Attributes
    ----------
    winner : name of the selected candidate
    table : a row for each candidate: ``candidate``, ``clusters``, ``evidence``, ``behind``, ``agreement``
    posterior : a row for each number of clusters: ``clusters``, ``probability``, ``evidence``
    evidence : of the selected clusters, in nats above the model without clusters
    num_answers, num_annotated : numbers of answers, and of items that they are about
    """

    winner: str
    table: pd.DataFrame
    posterior: pd.DataFrame
    evidence: float
    num_answers: int
    num_annotated: int

    @property
    def informative(self) -> bool:
        """Whether there are enough answers, and they say something of the clusters."""
        return self.num_answers >= MIN_ANSWERS and self.evidence > MIN_EVIDENCE * self.num_annotated


#: Column of restarts.csv → the score in words.
RESTART_SCORES = {"elbo": "ELBO", "log_joint": "ln p(x, z)"}


@dataclass(frozen=True)
class Restarts:
    """Comparison of the restarts of a fit. The result is that of the restart with the highest score.

    Attributes
    ----------
    score : ELBO of the training data, or ln p(x, z) of the items and their clusters, in nats
    best : index of the restart with the highest score
    clusters : clusters of the training items from their features alone
    column : name of the score in files: a key of :data:`RESTART_SCORES`
    """

    score: Float[np.ndarray, "R"]
    best: int
    clusters: Int[np.ndarray, "R N"]
    column: str = "elbo"


@dataclass(frozen=True)
class Samples:
    """Partitions sampled by Markov chains.

    Attributes
    ----------
    partitions : clusters of all items; those of a partition are 0 … K − 1
    chain, sweep : number of each partition's chain and sweep; sweeps are counted from 1
    kept : True for posterior samples, False for partitions that are stored for the curves only
    chains : a row for each sweep of each chain: chain, sweep, clusters, log_likelihood in nats, concentrations, and the
        processor's seconds since the chain's start
    """

    partitions: Int[np.ndarray, "S N"]
    chain: Int[np.ndarray, "S"]
    sweep: Int[np.ndarray, "S"]
    kept: Bool[np.ndarray, "S"]
    chains: pd.DataFrame


@dataclass(frozen=True)
class Result:
    """Clusters and annotators that a method has estimated. K may be unknown before the fit.

    Attributes
    ----------
    num_clusters : labels are 0 … num_clusters − 1
    final : clusters of every item given its features and answers, as in assignments.csv
    features : clusters of every item given its features alone; equals ``final`` for a method without ``predict``
    workers : posteriors of the annotators' rates, with a leading restart axis; None for a method that estimates none
    latent_mean : posterior mean of each item; None for a method without latent variables
    restarts : comparison of the restarts; None for a method that keeps no scores of restarts
    samples : samples of the partition's posterior; None for a method that draws none
    verdict : selection among the candidates of co-training; None for a method without it
    posterior : posterior over the number of clusters: ``clusters``, ``probability``; None for a method without it
    """

    num_clusters: int
    final: Assignment
    features: Assignment
    workers: WorkerPosterior | None = None
    latent_mean: Float[np.ndarray, "N d"] | None = None
    restarts: Restarts | None = None
    samples: Samples | None = None
    verdict: Verdict | None = None
    posterior: pd.DataFrame | None = None

    @property
    def components(self) -> np.ndarray:
        """[K] the model's components, sorted by their number of items, largest first; those without items are last."""
        members = [one.memberships for one in (self.final, self.features) if one.memberships is not None]
        least = 1 + max(int(one.cluster.max()) for one in (self.final, self.features))
        total = max([self.num_clusters, least, *(one.shape[1] for one in members)])
        return np.argsort(-np.bincount(self.final.cluster, minlength=total), kind="stable")

    def renumbered(self, components: np.ndarray) -> "Result":
        """The same result with clusters under other numbers: see :meth:`Assignment.renumbered`.

        Restarts, samples and latent means stay as they are: each restart and sample has numbers of its own.
        """
        final, features = self.final.renumbered(components), self.features.renumbered(components)
        return replace(self, num_clusters=len(components), final=final, features=features)

    @property
    def best(self) -> int:
        """Index of the restart that gave this result."""
        return 0 if self.restarts is None else self.restarts.best
