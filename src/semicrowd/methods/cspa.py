"""Cluster-based similarity partitioning of the annotators' clusterings: Strehl & Ghosh 2002 (JMLR 3), section 3.1."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pymetis
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components
from sklearn.neighbors import KNeighborsClassifier

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.crowd.links import majority_vote, neighbourhoods, shaken
from semicrowd.estimators.base import OneShotClusterer
from semicrowd.estimators.inputs import check_memory
from semicrowd.fitting.result import Assignment, Result
from semicrowd.methods.constrained_kmeans import ConstrainedKMeans
from semicrowd.random import stream
from semicrowd.settings.fields import choice, setting
from semicrowd.settings.parameters import CountedParameters

#: METIS takes whole numbers: co-associations are rounded to this part of 1.
RESOLUTION = 1000
#: So many matrices of all items against all are there at once (measured).
MATRICES = 3


@dataclass(eq=False, repr=False, kw_only=True)
class CSPAParameters(CountedParameters):
    """Parameters of :class:`CSPA`."""

    clusterings: str = setting(
        "balance", "what an annotator's clustering is: balance | closure | constrained_kmeans",
        choice("balance", "closure", "constrained_kmeans"),
    )  # fmt: skip


class CSPA(CSPAParameters, OneShotClusterer):
    """Every annotator's answers make a clustering; the graph of how often two items meet in them is cut into K parts.

    The weight of a pair is the share of annotators who put it together among those whose clustering has both items.
    METIS cuts the graph into K parts of about the same size, with the least weight between them. Memory is quadratic in
    the number of items that are in somebody's clustering.

    An annotator's clustering is one of these.
    ``closure``: the items that the annotator was asked about, two of them together where a chain of answers "same"
    joins them. One wrong answer joins two groups, so that with many answers all items are one group and the graph says
    nothing.
    ``balance``: the same items, two groups together only where the annotator's answers between them say "same" on
    balance (:func:`semicrowd.crowd.links.neighbourhoods`).
    ``constrained_kmeans``: all items, by constrained k-means with the annotator's answers alone.

    An unassigned item, which is in no annotator's clustering, gets the cluster of the nearest assigned item.

    Attributes
    ----------
    items_, parts_ : [n, D] features of the assigned items, and their clusters [n]
    """

    def predict(self, X: Any) -> np.ndarray:
        """Cluster of new items, [N]: that of the nearest assigned item."""
        return self._nearest(self._new_items(X))

    def _nearest(self, features: np.ndarray) -> np.ndarray:
        return np.asarray(KNeighborsClassifier(1).fit(self.items_, self.parts_).predict(features))

    def _cluster(self, features: np.ndarray, answers: PairAnnotations) -> Result:
        clustered = len(features) if self.clusterings == "constrained_kmeans" else len(answers.annotated)
        check_memory("cspa", "co-associations", clustered, MATRICES)
        rng = stream(self.seed_, "cspa")
        each = [_answers_of(answers, worker) for worker in range(answers.num_annotators)]
        clusterings = np.array([self._clustering(features, mine, rng) for mine in each])
        items = np.flatnonzero((clusterings >= 0).any(axis=0))
        share = co_association(clusterings[:, items])
        self.items_, self.parts_ = features[items], partition(share, self.n_clusters, int(rng.integers(2**31 - 1)))
        nearest = Assignment.hard(self._nearest(features))
        return self._result(nearest.replace(items, Assignment.hard(self.parts_)), nearest)

    def _clustering(self, features: np.ndarray, answers: PairAnnotations, rng: np.random.Generator) -> np.ndarray:
        """Group of each item, [N], −1 for items the annotator's clustering leaves out."""
        if self.clusterings == "constrained_kmeans":
            return ConstrainedKMeans(self.n_clusters, random_state=self.seed_).fit(features, answers).labels_
        if self.clusterings == "closure":
            same = answers.label == 1
            shape = (len(features), len(features))
            graph = csr_array((np.ones(same.sum()), (answers.i[same], answers.j[same])), shape=shape)
            group = connected_components(graph, directed=False)[1].astype(np.int64)
        else:
            group = np.arange(len(features))
            links = shaken(majority_vote(answers), rng)
            for members in neighbourhoods(links, len(features)):
                group[members] = members[0]
        unseen = np.ones(len(features), bool)
        unseen[answers.annotated] = False
        group[unseen] = -1
        return group


def co_association(groups: np.ndarray) -> np.ndarray:
    """Share of the clusterings that have two items together, among those that have both.

    Parameters
    ----------
    groups : [M, N], group of item n in clustering m, −1 where it is left out

    Returns
    -------
    share : [N, N], 0 where nobody has both
    """
    together, asked = np.zeros((2, groups.shape[1], groups.shape[1]))
    for group in groups:
        seen = (group[:, None] >= 0) & (group >= 0)
        together += (group[:, None] == group) & seen
        asked += seen
    return np.divide(together, asked, out=np.zeros_like(together), where=asked > 0)


def partition(weights: np.ndarray, num_parts: int, seed: int) -> np.ndarray:
    """METIS' parts of about the same size of a graph [N, N] with symmetric weights from 0 to 1, [N]."""
    whole = np.rint(RESOLUTION * weights).astype(np.int64)
    np.fill_diagonal(whole, 0)
    graph = csr_array(whole)
    adjacency = pymetis.CSRAdjacency(graph.indptr.tolist(), graph.indices.tolist())
    options = pymetis.Options(seed=seed)
    part = pymetis.part_graph(num_parts, adjacency, eweights=graph.data.tolist(), options=options).vertex_part
    return np.asarray(part, np.int64)


def _answers_of(pairs: PairAnnotations, worker: int) -> PairAnnotations:
    mine = pairs.worker == worker
    i, j, label = pairs.i[mine], pairs.j[mine], pairs.label[mine]
    return PairAnnotations.from_arrays(i, j, np.zeros(len(i), np.int64), label, num_items=pairs.num_items)
