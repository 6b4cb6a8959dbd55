"""What a driver asks of the method it fits."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any

from semicrowd.fitting.result import Result

#: Takes a line about what is being done.
ProgressCallback = Callable[[str], None]


class Method(ABC):
    """A method with its settings, its data and its answers, to be fitted by iterations.

    An iteration is what is worth a point of a curve: an epoch of gradient steps, a sweep of EM or of a Gibbs sampler.
    A method of one shot has one. All that later iterations depend on is in :meth:`state`, so that a fit that is stopped
    between two of them goes on as if it had not been.

    Attributes
    ----------
    iterations : how many there are
    """

    iterations: int = 1

    def start(self, progress: ProgressCallback) -> None:  # noqa: B027 - most methods have nothing to do
        """What is done once, before the first iteration."""

    @abstractmethod
    def step(self, iteration: int) -> Mapping[str, float]:
        """One iteration, counted from 0; diagnostics of it for the curves, none between two points of a curve."""

    def state(self) -> dict[str, Any]:
        """Tensors and plain values that the iterations to come depend on."""
        return {}

    def load_state(self, state: Mapping[str, Any]) -> None:  # noqa: B027 - a method of one shot has none
        """Go on where :meth:`state` was taken; ``UserError`` for the state of another method."""

    @abstractmethod
    def result(self) -> Result:
        """What has been found, after the last iteration."""
