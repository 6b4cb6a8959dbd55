"""Facts of data and answers that the rules of the defaults may depend on."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

if TYPE_CHECKING:
    from semicrowd.crowd.annotations import PairAnnotations


@dataclass(frozen=True)
class Facts:
    """Data and answers as far as rules know them.

    Attributes
    ----------
    num_items, num_features : N and D
    image_shape : (height, width) or (colours, height, width) where a row of the features is an image
    unit_interval : whether every feature is from 0 to 1
    num_answers : P, 0 without answers
    num_annotated : items that some answer is about
    num_tasks : groupings that the answers come from, 0 where they do not come in tasks
    data : name of the data set, None of data without one
    num_classes : of the data, where that is known; never which item is of which
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
        """Facts of features [N, D] and of the answers about them."""
        known = (0, 0, 0) if answers is None else (answers.num_pairs, len(answers.annotated), answers.num_tasks)
        inside = bool(features.min(initial=0.0) >= 0 and features.max(initial=0.0) <= 1)
        num_items, num_features = features.shape
        return cls(num_items, num_features, image_shape, inside, *known, data, num_classes)
