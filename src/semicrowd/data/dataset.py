"""The data set class, which every loader returns."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from numbers import Integral
from typing import Self

import numpy as np
import pandas as pd
from jaxtyping import Float, Int
from sklearn.utils._param_validation import Interval

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.data.columns import Columns
from semicrowd.data.frames import place
from semicrowd.errors import UserError
from semicrowd.random import stream

#: scikit-learn's constraints of options that several loaders have.
COUNT = [Interval(Integral, 1, None, closed="left")]
SUBSET = [Interval(Integral, 2, None, closed="left"), None]
SEED = [Interval(Integral, 0, None, closed="left")]


@dataclass(frozen=True)
class Dataset:
    """N items with D features, optionally with a test split and true classes.

    Attributes
    ----------
    name : name of the data set
    features : finite except for missing values of a table, which are NaN; images are flattened, pixels in [0, 1].
        float32, of the user's own tables float64: methods scale numbers before they are float32
    labels : true classes, int64, or None; only used for metrics and simulated answers
    test_features, test_labels : the same for a test split, or None
    image_shape : (height, width), or (colours, height, width), if each row of ``features`` is an image
    hashes : file → SHA-256 hash; for generated data the hash of the array
    class_names : name of each class in ``labels``; None if classes have only numbers
    num_classes : number of classes, if known
    sequence : sequence of each item, int64, in the order of the items; None for data without order
    answers : real answers that belong to the data set, or None
    files : file from which each item was read; None if items are not files
    ids : id of each item; None if items have none
    columns : how the columns of a table were converted; None for data without named columns
    notes : what was left out or converted, a line each
    """

    name: str
    features: Float[np.ndarray, "N D"]
    labels: Int[np.ndarray, "N"] | None = None
    test_features: Float[np.ndarray, "T D"] | None = None
    test_labels: Int[np.ndarray, "T"] | None = None
    image_shape: tuple[int, ...] | None = None
    hashes: Mapping[str, str] = field(default_factory=dict)
    class_names: tuple[str, ...] | None = None
    num_classes: int | None = None
    sequence: Int[np.ndarray, "N"] | None = None
    answers: PairAnnotations | None = None
    files: tuple[str, ...] | None = None
    ids: tuple[str, ...] | None = None
    columns: Columns | None = None
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for split, features, labels in (
            ("", self.features, self.labels),
            ("test ", self.test_features, self.test_labels),
        ):
            if features is None:
                continue
            if features.ndim != 2 or features.dtype not in (np.float32, np.float64) or 0 in features.shape:
                raise UserError(
                    f"data={self.name}: {split}features: expected a table of floats [items, features], at least 1 × 1, "
                    f"got {features.dtype} {list(features.shape)}"
                )
            bad = np.isinf(features) if self.columns is not None else ~np.isfinite(features)
            if bad.any():
                row, column = (int(x[0]) for x in np.nonzero(bad))
                raise UserError(f"data={self.name}: {split}features, row {row}, column {column}: not a finite number")
            if labels is not None and (labels.shape != features.shape[:1] or labels.dtype != np.int64):
                raise UserError(f"data={self.name}: {split}labels: expected {len(features)} int64, got {labels.dtype} "
                                f"{list(labels.shape)}")  # fmt: skip
        for what, named in (("files", self.files), ("ids", self.ids)):
            if named is not None and len(named) != self.num_items:
                raise UserError(f"data={self.name}: {what}: expected {self.num_items}, got {len(named)}")
        walk = self.sequence
        if walk is not None and (walk.shape != (self.num_items,) or walk.dtype != np.int64):
            raise UserError(f"data={self.name}: sequence: expected {self.num_items} int64, got {walk.dtype} "
                            f"{list(walk.shape)}")  # fmt: skip

    def with_gaps_filled(self) -> Self:
        """A copy with missing values replaced by medians, and missing indicators; unchanged for data without
        ``columns``.
        """
        if self.columns is None:
            return self
        filled = self.columns.with_gaps_filled()
        return replace(self, features=self.columns.fill(self.features), columns=filled)

    @property
    def missing(self) -> str:
        """Row and column of the first missing number, for messages; empty if there is none."""
        if self.columns is None:
            return ""
        first = np.argwhere(np.isnan(self.features))[:1].tolist()
        rows = pd.RangeIndex(self.num_items) if self.ids is None else pd.Index(self.ids, name="id")
        return "".join(f"{place(rows, row)}, column {self.columns.parts[column][0]}" for row, column in first)

    @property
    def gaps(self) -> dict[str, np.ndarray]:
        """Of each column of a table that has some: [N] bool, whether its cell is empty."""
        return {} if self.columns is None else self.columns.gaps(self.features)

    @property
    def names(self) -> tuple[str, ...] | None:
        """Name of each item, its id or its file; None if items only have row numbers."""
        return self.ids if self.ids is not None else self.files

    @property
    def num_items(self) -> int:
        """N."""
        return self.features.shape[0]

    @property
    def num_features(self) -> int:
        """D."""
        return self.features.shape[1]


def drawn(subset: int | None, seed: int, *arrays: np.ndarray) -> tuple[np.ndarray, ...]:
    """Rows of ``subset`` items, drawn uniformly, in their order, of each array; None: all.

    A larger subset includes the items of a smaller one.
    """
    if subset is None:
        return arrays
    number = len(arrays[0])
    if subset > number:
        raise UserError(f"data.subset={subset}: expected {number} at most, the number of items")
    chosen = np.sort(stream(seed, "data/subset").permutation(number)[:subset])
    return tuple(array[chosen] for array in arrays)
