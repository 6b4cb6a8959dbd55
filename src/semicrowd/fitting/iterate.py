"""The driver of all methods other than SCDC and BayesSCDC, and the interface of the methods that it fits."""

import time
from abc import ABC, abstractmethod
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from semicrowd.errors import UserError
from semicrowd.fitting.monitor import Monitor, interrupted_by_sigterm
from semicrowd.fitting.progress import threads_of_a_fit
from semicrowd.fitting.result import Result
from semicrowd.starts.recent import ProgressCallback


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


#: Minimal number of seconds between two checkpoints, as iterations of some methods take a millisecond.
EVERY = 5.0


def iterate(method: Method, monitor: Monitor | None = None) -> Result:
    """Fit a method: make its start, or restore the checkpoint, and then run the remaining iterations.

    Raises
    ------
    KeyboardInterrupt
        After Ctrl-C or SIGTERM; the last checkpoint is kept.
    UserError
        For a checkpoint that is damaged or of another method.
    """
    monitor = monitor or Monitor()
    monitor.begin()
    with interrupted_by_sigterm(), threads_of_a_fit(), monitor.bar(method.iterations) as bar:
        path, done = monitor.resume_point, 0
        if path is None:
            method.start(bar.progress)
        else:
            done = _restored(method, monitor, path)
        saved = time.monotonic()
        for iteration in range(done, method.iterations):
            bar.reach(iteration)
            metrics = method.step(iteration)
            if metrics:
                monitor.record(iteration + 1, {name: float(value) for name, value in metrics.items()})
            if method.iterations > 1 and time.monotonic() - saved > EVERY:
                _save(method, monitor, iteration + 1)
                saved = time.monotonic()
        monitor.end()
        return method.result()


def _restored(method: Method, monitor: Monitor, path: Path) -> int:
    """Load a checkpoint; returns the number of iterations that were done."""
    content = read_tensors(path)
    if not {"done", "state", "monitor"} <= content.keys():
        raise UserError(f"{path}: not a checkpoint of this method; delete it and start again without resume=true")
    try:
        method.load_state(content["state"])
        monitor.load_state(content["monitor"])
        return int(content["done"])
    except UserError:
        raise
    except (KeyError, TypeError, ValueError, RuntimeError) as error:
        raise UserError("the checkpoint is not of this fit; start again without resume=true") from error


def _save(method: Method, monitor: Monitor, done: int) -> None:
    import torch  # its import takes seconds, and is not needed to define estimators

    content = {"done": done, "state": method.state(), "monitor": monitor.state()}
    monitor.save(partial(torch.save, content))


def read_tensors(path: Path) -> dict[str, Any]:
    """A dictionary that ``torch.save`` wrote; only tensors and plain values are unpickled."""
    import torch

    try:
        content = torch.load(path, map_location="cpu", weights_only=True)
    except FileNotFoundError as error:
        raise UserError(f"{path}: no checkpoint here") from error
    except Exception as error:  # damaged bytes can lead to any error in torch
        raise UserError(f"{path}: corrupt checkpoint; delete it and start again without resume=true") from error
    if not isinstance(content, dict):
        raise UserError(f"{path}: not a checkpoint of a run; delete it and start again without resume=true")
    return content
