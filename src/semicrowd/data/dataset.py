"""What every loader returns."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.data.columns import Columns
from semicrowd.errors import UserError
from semicrowd.random import stream


@dataclass(frozen=True)
class Dataset:
    """N items with D features, perhaps a test split and perhaps true classes.

    Attributes
    ----------
    name : of the data set
    features : [N, D] float32, finite but for values that are missing, NaN; images are flattened, pixels in [0, 1]
    labels : [N] int64 or None; for metrics and simulators alone
    test_features, test_labels : the same of a test split, or None
    image_shape : (height, width), or (colours, height, width), where a row of ``features`` is an image
    hashes : file → sha256 of what was read; of the array's bytes where the data are generated
    class_names : what class k of ``labels`` is called; None where classes are numbers
    num_classes : kinds of items, where that is known of the data set
    sequence : [N] int64, which sequence an item is of, in the order of the items; None of data without order
    other_labels : [N] int64 or None; another way to sort the same items, for simulated annotators who do
    answers : of people, that came with the data; None where none did
    missing : where the first missing value is, for people; empty where none may be missing
    files : of each item, the file that it was read from; None where an item is not a file
    ids : of each item, its name; None where items have none
    columns : what the columns of a table have become; None of data that are no table with names
    notes : what was left out or converted, for people, a line each
    previous : [N] int64, clusters of an earlier run, −1 of an item that it did not have; None without one
    chosen : option of the data that nobody gave and the loader decided → its value and the reason

    Raises
    ------
    UserError
        If the arrays do not fit together.
    """

    name: str
    features: np.ndarray
    labels: np.ndarray | None = None
    test_features: np.ndarray | None = None
    test_labels: np.ndarray | None = None
    image_shape: tuple[int, ...] | None = None
    hashes: Mapping[str, str] = field(default_factory=dict)
    class_names: tuple[str, ...] | None = None
    num_classes: int | None = None
    sequence: np.ndarray | None = None
    other_labels: np.ndarray | None = None
    answers: PairAnnotations | None = None
    missing: str = ""
    files: tuple[str, ...] | None = None
    ids: tuple[str, ...] | None = None
    columns: Columns | None = None
    notes: tuple[str, ...] = ()
    previous: np.ndarray | None = None
    chosen: Mapping[str, tuple[Any, str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for split, features, labels in (
            ("", self.features, self.labels),
            ("test ", self.test_features, self.test_labels),
        ):
            if features is None:
                continue
            if features.ndim != 2 or features.dtype != np.float32 or 0 in features.shape:
                raise UserError(
                    f"data={self.name}: {split}features: expected a float32 table [items, features], at least 1 × 1, "
                    f"got {features.dtype} {list(features.shape)}"
                )
            bad = np.isinf(features) if self.missing else ~np.isfinite(features)
            if bad.any():
                row, column = (int(x[0]) for x in np.nonzero(bad))
                raise UserError(f"data={self.name}: {split}features, row {row}, column {column}: not a finite number")
            if labels is not None and (labels.shape != features.shape[:1] or labels.dtype != np.int64):
                raise UserError(
                    f"data={self.name}: {split}labels: expected {len(features)} int64, "
                    f"got {labels.dtype} {list(labels.shape)}"
                )
        for what, named in (("files", self.files), ("ids", self.ids)):
            if named is not None and len(named) != self.num_items:
                raise UserError(f"data={self.name}: {what}: expected {self.num_items}, got {len(named)}")
        for name, numbers in (("sequence", self.sequence), ("other labels", self.other_labels)):
            if numbers is not None and (numbers.shape != (self.num_items,) or numbers.dtype != np.int64):
                raise UserError(
                    f"data={self.name}: {name}: expected {self.num_items} int64, "
                    f"got {numbers.dtype} {list(numbers.shape)}"
                )

    def with_gaps_filled(self) -> Self:
        """The same with medians in the place of missing numbers and a column for each that had gaps, where the columns
        of a table are known; as it is without.
        """
        if self.columns is None:
            return self
        features = np.ascontiguousarray(self.columns.fill(self.features), np.float32)
        return replace(self, features=features, missing="", columns=self.columns.with_gaps_filled())

    @property
    def names(self) -> tuple[str, ...] | None:
        """What the user calls each item: its id or its file; None where all there is is the number of its row."""
        return self.ids if self.ids is not None else self.files

    @property
    def num_items(self) -> int:
        """N."""
        return self.features.shape[0]

    @property
    def num_features(self) -> int:
        """D."""
        return self.features.shape[1]


def drawn_items(num_items: int, subset: int, seed: int) -> np.ndarray:
    """Sorted numbers of ``subset`` items, drawn uniformly; those of a smaller subset are among them.

    Raises
    ------
    UserError
        If there are fewer.
    """
    if subset > num_items:
        raise UserError(f"data.subset={subset}: expected {num_items} at most, the number of items")
    return np.sort(stream(seed, "data/subset").permutation(num_items)[:subset])
