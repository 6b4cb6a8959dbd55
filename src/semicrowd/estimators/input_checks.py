"""What every baseline asks of its input and its settings; ``UserError`` where it does not get it."""

import numpy as np
from numpy.typing import ArrayLike

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.errors import UserError


def check_features(X: ArrayLike, num_features: int | None = None) -> np.ndarray:
    """X as float64 [N, D]: a table of finite numbers, with ``num_features`` columns where that is given."""
    features = np.asarray(X)
    if features.ndim != 2 or features.dtype.kind not in "fiub":
        raise UserError(f"X: expected a table of numbers [items, features], got {features.dtype} {features.shape}")
    features = features.astype(np.float64)
    row, column = np.nonzero(~np.isfinite(features))
    if len(row):
        raise UserError(f"X, row {row[0]}, column {column[0]}: {features[row[0], column[0]]}; expected a finite number")
    if num_features is not None and features.shape[1] != num_features:
        raise UserError(f"X: {features.shape[1]} features; expected {num_features}, as in fit")
    return features


def check_input(X: ArrayLike, pairs: PairAnnotations | None, num_clusters: int) -> np.ndarray:
    """X as float64 [N, D]: as in :func:`check_features`, with one row for each item of the answers, K at least."""
    features = check_features(X)
    if pairs is not None and pairs.num_items != len(features):
        raise UserError(f"pairs: answers about {pairs.num_items} items; expected {len(features)}, the rows of X")
    if not 2 <= num_clusters <= len(features):
        raise UserError(f"n_clusters={num_clusters}: expected 2 to {len(features)}, the number of items")
    return features


def check_choice(name: str, value: str, allowed: tuple[str, ...]) -> None:
    """The setting ``name`` is one of ``allowed``."""
    if value not in allowed:
        raise UserError(f"{name}={value}: expected one of {', '.join(allowed)}")


def check_count(**settings: int) -> None:
    """Each of the settings is 1 or more."""
    for name, value in settings.items():
        if value < 1:
            raise UserError(f"{name}={value}: expected a whole number >= 1")


def check_not_negative(**settings: float) -> None:
    """Each of the settings is 0 or more."""
    for name, value in settings.items():
        if not value >= 0:
            raise UserError(f"{name}={value}: expected a number >= 0")
