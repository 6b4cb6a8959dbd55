"""What share of a start is done, from which a progress bar estimates the time left."""

from collections.abc import Mapping
from typing import Self

from semicrowd.starts.recent import ProgressCallback


class Step(str):
    """A line about the current step, with the share of all work that was done before it.

    It is a str, so that whoever only prints lines needs nothing else.

    Attributes
    ----------
    number, of : this step, from 1, and how many there are
    share : 0 to 1
    """

    number: int
    of: int
    share: float

    @classmethod
    def at(cls, text: str, number: int, of: int, share: float) -> Self:
        """The line ``text`` with its place."""
        step = cls(text)
        step.number, step.of, step.share = number, of, share
        return step


class Course:
    """Reports steps whose kinds, numbers and weights are planned.

    Parameters
    ----------
    progress : is told of every step
    plan : kind of the steps → how many there are at most, and the work of each; kinds come in this order. If there are
        fewer, the work of the others is counted as done when the next kind begins, so that the share never goes back
    """

    def __init__(self, progress: ProgressCallback, plan: Mapping[str, tuple[int, float]]) -> None:
        self._progress, self._plan = progress, plan
        self._done = dict.fromkeys(plan, 0)

    def step(self, kind: str, text: str) -> None:
        """Report that another step of this kind begins."""
        before = list(self._plan)[: list(self._plan).index(kind)]
        self._done.update({name: self._plan[name][0] for name in before})
        self._report(text, 1)
        self._done[kind] = min(self._done[kind] + 1, self._plan[kind][0])

    def end(self, text: str) -> None:
        """Report that everything is done."""
        self._done = {name: number for name, (number, _) in self._plan.items()}
        self._report(text, 0)

    def _report(self, text: str, begun: int) -> None:
        work = {name: number * weight for name, (number, weight) in self._plan.items()}
        share = sum(self._done[name] * weight for name, (_, weight) in self._plan.items()) / sum(work.values())
        of = sum(number for number, _ in self._plan.values())
        self._progress(Step.at(text, min(sum(self._done.values()) + begun, of), of, min(share, 1.0)))
