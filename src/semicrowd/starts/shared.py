"""Results of slow parts of a start that several fits share: a VAE, communities, co-training."""

from collections.abc import Callable
from typing import Any, TypeVar

from joblib import Memory

T = TypeVar("T")
#: Is called with a line about the current step.
ProgressCallback = Callable[[str], None]


def _computed(name: str, inputs: Any, compute: Callable[[], Any]) -> Any:  # noqa: ARG001 - the key of the result
    return compute()


def shared(memory: Memory, name: str, inputs: Any, compute: Callable[[], T]) -> T:
    """What ``compute`` returns, or returned in an earlier fit with the same ``memory``, name and inputs.

    Parameters
    ----------
    memory : joblib's; without a location every result is computed
    inputs : all that the result depends on, arrays included. The code is not among them: after a change of the code
        use another folder
    """
    found: T = memory.cache(_computed, ignore=["compute"])(name, inputs, compute)
    return found
