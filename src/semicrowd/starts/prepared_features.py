"""Features in several preparations, with classifiers of each; one preparation depends on the answers."""

from collections.abc import Sequence
from copy import copy
from functools import cached_property
from typing import Self

import numpy as np
from jaxtyping import Bool, Float, Int

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.starts.item_classifiers import GaussianClassifier, ItemClassifier, LabelPropagation, LogisticClassifier
from semicrowd.starts.preparing import STANDARDISED, Prepared, preparations, weighted
from semicrowd.starts.two_way import TwoWayClassifier

#: Principal components that the Gaussian classifier with one covariance for each cluster uses.
_DIMS_FULL_COVARIANCE = 8
#: Principal components that the Gaussian classifier with one covariance for all clusters uses.
_DIMS_SHARED_COVARIANCE = 50
#: Name of the preparation that depends on the answers.
WEIGHTED = "weighted"


class PreparedFeatures:
    """Preparations of some rows of the features, and their classifiers, made when they are first needed.

    Parameters
    ----------
    features : of all items, before any preparation
    rows : indices of the items that are prepared
    answers : about these items
    image_shape : (height, width) or (colours, height, width) where a row of the features is an image
    """

    #: Columns that mark missing numbers.
    indicators: tuple[int, ...] = ()

    def __init__(
        self,
        features: Float[np.ndarray, "N D"],
        rows: Int[np.ndarray, "n"],
        answers: PairAnnotations,
        image_shape: Sequence[int] | None,
    ) -> None:
        self.all_features, self.rows, self.answers, self.image_shape = features, rows, answers, image_shape

    @cached_property
    def features(self) -> Float[np.ndarray, "n D"]:
        """Features of :attr:`rows`, before any preparation."""
        return self.all_features[self.rows]

    @cached_property
    def preparations(self) -> dict[str, Prepared]:
        """Preparations of the features, by name."""
        equal = self._of_features.get(STANDARDISED)
        by_answers = None if equal is None else weighted(self.features, equal.pipeline, self.answers)
        return self._of_features if by_answers is None else self._of_features | {WEIGHTED: by_answers}

    @cached_property
    def prepared(self) -> dict[str, np.ndarray]:
        """Features [n, C] of :attr:`rows`, by name of their preparation."""
        items = {name: preparation.items for name, preparation in self.preparations.items()}
        return items or {"none": np.zeros((len(self.features), 1))}

    @cached_property
    def classifiers(self) -> dict[str, list[ItemClassifier]]:
        """Classifiers by preparation; the first two are quick."""
        return {
            name: classifiers_of(x) if name == WEIGHTED else self._classifiers_of_features[name]
            for name, x in self.prepared.items()
        }

    @cached_property
    def _of_features(self) -> dict[str, Prepared]:
        return dict(preparations(self.features, self.image_shape, self.indicators))

    @cached_property
    def _classifiers_of_features(self) -> dict[str, list[ItemClassifier]]:
        return {name: classifiers_of(x) for name, x in self.prepared.items() if name != WEIGHTED}

    def given(self, some: Bool[np.ndarray, "P"]) -> Self:
        """The same with some of the answers only; what depends on the features alone is shared."""
        other = copy(self)
        other.answers = self.answers.some(some)
        for name in ("preparations", "prepared", "classifiers"):
            vars(other).pop(name, None)
        return other

    @property
    def first(self) -> str:
        """The preparation of highest priority."""
        return next(iter(self.prepared))

    def all_classifiers(self) -> list[ItemClassifier]:
        """Those of all preparations."""
        return [one for preparation in self.classifiers.values() for one in preparation]


def classifiers_of(x: Float[np.ndarray, "N C"]) -> list[ItemClassifier]:
    """The classifiers of one preparation; the first two are quick."""
    neighbours = LabelPropagation(x)
    full = GaussianClassifier(x, neighbours, _DIMS_FULL_COVARIANCE, shared=False)
    shared = GaussianClassifier(x, neighbours, _DIMS_SHARED_COVARIANCE, shared=True)
    return [LogisticClassifier(x), neighbours, full, shared, TwoWayClassifier(x, shared)]
