"""Initial clusters of co-training: k-means cells of the features, and clusters of the answers."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.crowd.cells import join_cells, kmeans_cells
from semicrowd.random import stream
from semicrowd.starts.answer_classifier import spectral_clusters
from semicrowd.starts.answer_model import IndexedAnswers
from semicrowd.starts.of_features import clusters_of_features
from semicrowd.starts.prepared_features import WEIGHTED, PreparedFeatures
from semicrowd.starts.preparing import STANDARDISED
from semicrowd.starts.selection import FEATURES_ALONE

#: Numbers of k-means cells of the initial clusters, as multiples of the maximum number of clusters.
_NUM_CELLS = {"few": 0.5, "many": 1.5}
#: End of the names of the k-means candidates whose number of clusters comes from the answers.
NUMBER_FROM_ANSWERS = "features, number of clusters from the answers"
#: Name of the candidate whose clusters are those of the features alone, merged where the answers support it.
MERGED_BY_ANSWERS = f"{FEATURES_ALONE}, merged by the answers"


class Initial(NamedTuple):
    """Initial clusters of the annotated items.

    Attributes
    ----------
    clusters : computes them, [n]
    preparations : names of the preparations whose quick classifiers co-train them
    """

    clusters: Callable[[], np.ndarray]
    preparations: list[str]


#: Computes clusters [n] of the items from their features.
ClustersWithoutAnswers = Callable[["InitialClusters"], np.ndarray]


class InitialClusters(PreparedFeatures):
    """Initial clusters of some rows of the features.

    Parameters
    ----------
    features, rows, answers, image_shape : see :class:`PreparedFeatures`
    seed, restart : of the random draws; each restart has streams of its own
    max_clusters : maximum number of clusters; None: :func:`default_max_clusters` of the number of annotated items
    """

    def __init__(
        self,
        features: Float[np.ndarray, "N D"],
        rows: Int[np.ndarray, "n"],
        answers: PairAnnotations,
        image_shape: Sequence[int] | None,
        *,
        seed: int,
        restart: int,
        max_clusters: int | None,
    ) -> None:
        super().__init__(features, rows, answers, image_shape)
        self.seed, self.restart = seed, restart
        self.max_clusters = max_clusters or default_max_clusters(len(answers.annotated))
        #: k-means cells that do not depend on the answers, by preparation, number and seed.
        self._known_cells = dict[tuple[str, int, int], Int[np.ndarray, "n"]]()

    def initial(self) -> dict[str, Initial]:
        """Initial clusters by name."""
        rng = stream(self.seed, "portfolio/cells", self.restart)
        found = dict[str, Initial]()
        for name in self.prepared:
            draws = stream(self.seed, "portfolio/cells of weighted features", self.restart) if name == WEIGHTED else rng
            for amount in _NUM_CELLS:
                cells = partial(self._cells, amount, name, int(draws.integers(2**31)))
                found[f"{amount} cells of {name} features"] = Initial(cells, [name])
        if len(self.answers.annotated) > self.max_clusters:
            found["answers alone"] = Initial(partial(self._by_answers_alone, rng), list(self.prepared))
        return found

    def _cells(self, amount: str, name: str, seed: int) -> Int[np.ndarray, "n"]:
        number = max(2, min(round(_NUM_CELLS[amount] * self.max_clusters), len(self.answers.annotated) // 2))
        cells = kmeans_cells(self.prepared[name], number, seed)
        return self.merged_by_answers(cells)[self.answers.annotated]

    def _by_answers_alone(self, rng: np.random.Generator) -> Int[np.ndarray, "n"]:
        annotated = self.answers.annotated
        clusters = np.zeros(self.answers.num_items, np.int64)
        clusters[annotated] = spectral_clusters(self.answers, self.max_clusters, 2, rng)[-1].numpy()
        return self.merged_by_answers(clusters)[annotated]

    def without_answers(self, number: int) -> dict[str, ClustersWithoutAnswers]:
        """Clusters of the features, by name of the candidate.

        The answers determine at most their number, which of them are merged, and the weights of columns.

        Parameters
        ----------
        number : of the clusters of the best candidate, which was fitted to the answers
        """
        rng = stream(self.seed, "portfolio/features", self.restart)
        alone = self.of_features(rng)
        clusters: dict[str, ClustersWithoutAnswers] = {FEATURES_ALONE: lambda _: alone}
        if self.merged_by_answers(alone).max() < alone.max():
            clusters[MERGED_BY_ANSWERS] = lambda one: one.merged_by_answers(alone)
        if number > 1:
            for name in self.prepared:
                seed = int(rng.integers(2**31))
                made = partial(InitialClusters.of_number, preparation=name, number=number, seed=seed)
                clusters[f"{name} {NUMBER_FROM_ANSWERS}"] = made
        return clusters

    def of_number(self, preparation: str, number: int, seed: int) -> Int[np.ndarray, "n"]:
        """k-means cells of a preparation; without the weighted one, where no column has another weight."""
        prepared = preparation if preparation in self.prepared else STANDARDISED
        key = prepared, number, seed
        cells = self._known_cells.get(key)
        if cells is None:
            cells = kmeans_cells(self.prepared[prepared], number, seed, tries=5)
            if prepared != WEIGHTED:  # it depends on the answers
                self._known_cells[key] = cells
        return cells

    def of_features(self, rng: np.random.Generator) -> Int[np.ndarray, "N"]:
        """Clusters of all items by the features alone."""
        return clusters_of_features(self.prepared[self.first], max(self.max_clusters, 2), rng)[0]

    def merged_by_answers(self, clusters: Int[np.ndarray, "N"]) -> Int[np.ndarray, "N"]:
        """Clusters merged where the answers support it, and until at most ``max_clusters`` remain."""
        indexed = IndexedAnswers.of(self.answers)
        known = np.eye(int(clusters.max()) + 1)[clusters[self.answers.annotated]]
        return join_cells(clusters, self.answers, indexed.weights(indexed.rates(known)), self.max_clusters)


def default_max_clusters(num_annotated: int) -> int:
    """Default for the maximum number of clusters: one and a half times √(annotated items), between 4 and 50."""
    return int(np.clip(round(1.5 * np.sqrt(num_annotated)), 4, 50))
