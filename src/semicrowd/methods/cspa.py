"""Cluster-based similarity partitioning of the annotators' clusterings: Strehl & Ghosh 2002 (JMLR 3), section 3.1."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pymetis
from scipy.sparse import csr_array
from sklearn.neighbors import KNeighborsClassifier

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.crowd.index import components
from semicrowd.crowd.links import majority_vote, neighbourhoods, shaken
from semicrowd.estimators.base import InductiveClusterer
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


class CSPA(CSPAParameters, InductiveClusterer):
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

    def _assign(self, features: np.ndarray) -> Assignment:
        return Assignment.hard(KNeighborsClassifier(1).fit(self.items_, self.parts_).predict(features))

    def _cluster(self, features: np.ndarray, answers: PairAnnotations) -> Result:
        clustered = len(features) if self.clusterings == "constrained_kmeans" else len(answers.annotated)
        check_memory("cspa", "co-associations", clustered, MATRICES)
        rng = stream(self.seed_, "cspa")
        rows = np.split(np.argsort(answers.worker, kind="stable"), np.cumsum(np.bincount(answers.worker))[:-1])
        each = [self._clustering(features, answers.some(mine), rng) for mine in rows if len(mine)]
        items = np.unique(np.concatenate([some for some, _ in each]))
        share = co_association([(np.searchsorted(items, some), group) for some, group in each], len(items))
        self.items_, self.parts_ = features[items], partition(share, self.n_clusters, int(rng.integers(2**31 - 1)))
        nearest = self._assign(features)
        return self._result(nearest.replace(items, Assignment.hard(self.parts_)), nearest)

    def _clustering(
        self, features: np.ndarray, answers: PairAnnotations, rng: np.random.Generator
    ) -> tuple[np.ndarray, np.ndarray]:
        """The items [n] of the clustering of an annotator, whose answers are given, and the group of each item, [n]."""
        if self.clusterings == "constrained_kmeans":
            model = ConstrainedKMeans(self.n_clusters, random_state=self.seed_).fit(features, answers)
            return np.arange(len(features)), model.labels_
        index = answers.index
        if self.clusterings == "closure":
            same = answers.label == 1
            return index.items, components(index.i[same], index.j[same], len(index.items))
        group, links = np.arange(len(index.items)), shaken(majority_vote(answers), rng)
        i, j = (np.searchsorted(index.items, ends) for ends in (links.i, links.j))
        for members in neighbourhoods(replace(links, i=i, j=j), len(group)):
            group[members] = members[0]
        return index.items, group


def co_association(clusterings: Sequence[tuple[np.ndarray, np.ndarray]], num_items: int) -> np.ndarray:
    """Share of the clusterings that have two items together, among those that have both.

    Parameters
    ----------
    clusterings : items [n] of each clustering, every item once, and the group of each of them

    Returns
    -------
    share : [N, N], 0 where nobody has both
    """
    together, asked = np.zeros((2, num_items, num_items))
    for items, group in clusterings:
        both = np.ix_(items, items)
        together[both] += group[:, None] == group
        asked[both] += 1
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
