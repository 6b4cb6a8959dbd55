"""The interface between a driver and the method that it fits."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any

from semicrowd.fitting.result import Result

#: Is called with a line about the current step.
ProgressCallback = Callable[[str], None]


class Method(ABC):
    """A method with its settings, data and answers, fitted by iterations.

    An iteration is an epoch of gradient steps, or a sweep of EM or of a Gibbs sampler; methods that are not iterative
    have one. :meth:`state` has everything that later iterations depend on, so that a resumed fit equals an
    uninterrupted one.

    Attributes
    ----------
    iterations : number of iterations
    """

    iterations: int = 1

    def start(self, progress: ProgressCallback) -> None:  # noqa: B027 - most methods have nothing to do
        """Initialise the method once, before the first iteration."""

    @abstractmethod
    def step(self, iteration: int) -> Mapping[str, float]:
        """Run an iteration, counted from 0; returns its metrics, empty if it does not add a point to the curves."""

    def state(self) -> dict[str, Any]:
        """Tensors and plain values that later iterations depend on."""
        return {}

    def load_state(self, state: Mapping[str, Any]) -> None:  # noqa: B027 - a one-shot method has no state
        """Restore what :meth:`state` returned; ``UserError`` for the state of another method."""

    @abstractmethod
    def result(self) -> Result:
        """The result, after the last iteration."""
