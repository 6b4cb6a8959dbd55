"""Cluster-based similarity partitioning of the annotators' clusterings: Strehl & Ghosh 2002 (JMLR 3), section 3.1."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pymetis
from scipy.sparse import csr_array
from sklearn.neighbors import KNeighborsClassifier

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.crowd.links import majority_vote, neighbourhoods, shaken
from semicrowd.estimators.base import InductiveClusterer
from semicrowd.estimators.inputs import check_memory
from semicrowd.random import stream
from semicrowd.result import Assignment, Result

#: METIS takes whole numbers: co-associations are rounded to this part of 1.
RESOLUTION = 1000
#: So many matrices of all items against all are there at once (measured).
MATRICES = 3


class CSPA(InductiveClusterer):
    """Every annotator's answers make a clustering; the graph of how often two items meet in them is cut into K parts.

    An annotator's clustering has the items that the annotator was asked about, two groups together where the
    annotator's answers between them say "same" on balance (:func:`semicrowd.crowd.links.neighbourhoods`): by transitive
    closure one wrong answer would join two groups. The weight of a pair is the share of annotators who put it together
    among those whose clustering has both items. METIS cuts the graph into K parts of about the same size, with the
    least weight between them (Strehl & Ghosh 2002, section 3.1). Memory is quadratic in the number of annotated items.
    An item without answers gets the cluster of the nearest annotated item.

    Parameters
    ----------
    n_clusters : int, default=4
    random_state : int, RandomState instance or None, default=0
    verbose : bool, default=False

    Attributes
    ----------
    items_, parts_ : ndarray of shape (n_annotated, n_features), ndarray of shape (n_annotated,)
        Features of the annotated items, and their clusters.
    """

    items_: np.ndarray
    parts_: np.ndarray

    def _assign(self, features: np.ndarray) -> Assignment:
        return Assignment.hard(KNeighborsClassifier(1).fit(self.items_, self.parts_).predict(features))

    def _run(self, features: np.ndarray, answers: PairAnnotations) -> Result:
        check_memory("cspa", "co-associations", len(answers.annotated), MATRICES)
        rng = stream(self.seed_, "cspa")
        rows = np.split(np.argsort(answers.worker, kind="stable"), np.cumsum(np.bincount(answers.worker))[:-1])
        each = [clustering_of(answers.some(mine), rng) for mine in rows if len(mine)]
        items = np.unique(np.concatenate([some for some, _ in each]))
        share = co_association([(np.searchsorted(items, some), group) for some, group in each], len(items))
        self.items_, self.parts_ = features[items], partition(share, self.n_clusters, int(rng.integers(2**31 - 1)))
        nearest = self._assign(features)
        return self._result(nearest.replace(items, Assignment.hard(self.parts_)), nearest)


def clustering_of(answers: PairAnnotations, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """The items [n] that an annotator was asked about, and the group of each by the annotator's answers, [n]."""
    items = answers.index.items
    group, links = np.arange(len(items)), shaken(majority_vote(answers), rng)
    i, j = (np.searchsorted(items, ends) for ends in (links.i, links.j))
    for members in neighbourhoods(replace(links, i=i, j=j), len(group)):
        group[members] = members[0]
    return items, group


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
