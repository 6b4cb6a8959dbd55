"""The Dirichlet process as a prior of partitions: the Chinese restaurant process (Antoniak 1974)."""

import math
from typing import Any, NamedTuple

import numpy as np

from semicrowd.inference.gibbs.parts import (
    closed,
    enter,
    ignored,
    leave,
    log_weight,
    meet,
    opened,
    overloads,
    weight_of_new,
)


class Restaurant(NamedTuple):
    """``alpha`` : [1], the concentration."""

    alpha: np.ndarray


@overloads(log_weight, Restaurant)
def _log_weight(prior: Any, z: Any, size: Any, item: int, cluster: int) -> float:  # noqa: ARG001
    return math.log(size[cluster])


@overloads(weight_of_new, Restaurant)
def _weight_of_new(prior: Any, z: Any, item: int) -> float:  # noqa: ARG001
    return prior.alpha[0]


# This prior only depends on the sizes of clusters, which the engine counts.
ignored(Restaurant, meet, enter, leave, opened, closed)
