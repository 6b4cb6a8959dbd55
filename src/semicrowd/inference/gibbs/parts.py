"""The functions of a family of clusters, and of a prior of partitions, that the engine calls.

They are empty here. Each family or prior is a named tuple of arrays, and its file implements the functions for it by
:func:`overloads`. A cluster is a slot from 0 to C − 1; a slot may have no items.
"""

import inspect
from collections.abc import Callable
from typing import Any

from numba import types
from numba.extending import overload

# ------------------------------------------------------------------------------------- a family of clusters


def log_predictive(family: Any, item: int, cluster: int) -> Any:
    """ln p(x_i | items of the cluster) with parameters integrated out, or ln p(x_i | parameters), in nats."""


def add(family: Any, item: int, cluster: int) -> None:
    """Add the item to the cluster's statistics."""


def remove(family: Any, item: int, cluster: int) -> None:
    """Remove the item from the cluster's statistics."""


def draw(family: Any, cluster: int, rng: Any) -> None:
    """Draw the cluster's parameters given its items, in a family that does not integrate them out.

    Called for every cluster with items before a sweep, and within a sweep for a cluster that has got its first item.
    """


# ---------------------------------------------------------------------------------- a prior of partitions


def meet(prior: Any, z: Any, item: int) -> None:
    """Called for an item without a cluster, before its weights in all clusters are computed."""


def log_weight(prior: Any, z: Any, size: Any, item: int, cluster: int) -> Any:
    """Log prior weight of a cluster with items, for the last item of :func:`meet`; scaled as :func:`weight_of_new`."""


def weight_of_new(prior: Any, z: Any, item: int) -> Any:
    """Total prior weight of all clusters without items."""


def enter(prior: Any, z: Any, item: int) -> None:
    """Called after the item has got the cluster z[item]."""


def leave(prior: Any, z: Any, item: int) -> None:
    """Called before the item leaves the cluster z[item]."""


def opened(prior: Any, cluster: int, rng: Any) -> None:
    """Called before the cluster gets its first item."""


def closed(prior: Any, cluster: int) -> None:
    """Called after the cluster has lost its last item."""


def overloads(function: Callable[..., Any], kind: type) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorator of the implementation of ``function``, in compiled code, for a first argument of the class ``kind``."""

    def register(body: Callable[..., Any]) -> Callable[..., Any]:
        def choose(first: Any, *_: Any) -> Callable[..., Any] | None:
            named = isinstance(first, types.NamedTuple | types.NamedUniTuple)
            return inspect.unwrap(body) if named and first.instance_class is kind else None

        choose.__signature__ = inspect.signature(body)  # type: ignore[attr-defined] # numba compares signatures
        overload(function)(choose)
        return body

    return register


def ignored(kind: type, *functions: Callable[..., Any]) -> None:
    """Families or priors of the class ``kind`` do nothing in these functions."""
    for function in functions:
        overloads(function, kind)(function)
