"""What the engine asks of a family of clusters and of a prior of partitions.

Here the functions do nothing: a family or prior is a named tuple of arrays, whose file says what they are for it by
:func:`overloads`. A cluster is a slot from 0 to C − 1; a slot without items has the statistics of no items.
"""

import inspect
from collections.abc import Callable
from typing import Any

from numba import types
from numba.extending import overload

# ------------------------------------------------------------------------------------- a family of clusters


def log_predictive(family: Any, item: int, cluster: int) -> Any:
    """ln p(x_i | items of the cluster), its parameters integrated out, or p(x_i | parameters), in nats."""


def add(family: Any, item: int, cluster: int) -> None:
    """The item joins the cluster's statistics."""


def remove(family: Any, item: int, cluster: int) -> None:
    """The item leaves the cluster's statistics."""


def draw(family: Any, cluster: int, rng: Any) -> None:
    """Draw the cluster's parameters given its items, of a family that does not integrate them out.

    Before a sweep of every cluster that has items, within it of one that has got its first.
    """


# ---------------------------------------------------------------------------------- a prior of partitions


def meet(prior: Any, z: Any, item: int) -> None:
    """The item is in no cluster, and about to be weighed in all."""


def log_weight(prior: Any, z: Any, size: Any, item: int, cluster: int) -> Any:
    """ln of the prior weight of a cluster that has items, for the item just met; in units of :func:`weight_of_new`."""


def weight_of_new(prior: Any, z: Any, item: int) -> Any:
    """Prior weight of all clusters without items together, a number."""


def enter(prior: Any, z: Any, item: int) -> None:
    """The item has got the cluster z[item]."""


def leave(prior: Any, z: Any, item: int) -> None:
    """The item is about to lose the cluster z[item]."""


def opened(prior: Any, cluster: int, rng: Any) -> None:
    """The cluster is about to get its first item."""


def closed(prior: Any, cluster: int) -> None:
    """The cluster has lost its last item."""


def overloads(function: Callable[..., Any], kind: type) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorator: this is what ``function`` does in compiled code where its first argument is of the class ``kind``."""

    def register(body: Callable[..., Any]) -> Callable[..., Any]:
        def choose(first: Any, *_: Any) -> Callable[..., Any] | None:
            named = isinstance(first, types.NamedTuple | types.NamedUniTuple)
            return inspect.unwrap(body) if named and first.instance_class is kind else None

        choose.__signature__ = inspect.signature(body)  # type: ignore[attr-defined] # numba compares the two
        overload(function)(choose)
        return body

    return register
