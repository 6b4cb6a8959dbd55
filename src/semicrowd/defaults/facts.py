"""Properties of data and answers on which the rules for default settings may depend."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

if TYPE_CHECKING:
    from semicrowd.crowd.annotations import PairAnnotations


@dataclass(frozen=True)
class Facts:
    """Properties of data and answers; all that the rules may use.

    Attributes
    ----------
    num_items, num_features : N and D
    image_shape : (height, width) or (colours, height, width) if each row of the features is an image
    unit_interval : whether all feature values are between 0 and 1
    num_answers : P, 0 without answers
    num_annotated : number of items with at least one answer
    num_tasks : number of tasks from which the answers are, 0 if they do not come in tasks
    data : name of the data set, or None
    num_classes : number of classes in the data, if known; labels of items are never used
    """

    num_items: int
    num_features: int
    image_shape: tuple[int, ...] | None = None
    unit_interval: bool = False
    num_answers: int = 0
    num_annotated: int = 0
    num_tasks: int = 0
    data: str | None = None
    num_classes: int | None = None

    @classmethod
    def of(
        cls,
        features: np.ndarray,
        answers: "PairAnnotations | None",
        image_shape: tuple[int, ...] | None = None,
        data: str | None = None,
        num_classes: int | None = None,
    ) -> Self:
        """The properties of features [N, D] and of the answers about these items."""
        known = (0, 0, 0) if answers is None else (answers.num_pairs, len(answers.annotated), answers.num_tasks)
        inside = bool(features.min(initial=0.0) >= 0 and features.max(initial=0.0) <= 1)
        num_items, num_features = features.shape
        return cls(num_items, num_features, image_shape, inside, *known, data, num_classes)
