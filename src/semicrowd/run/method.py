"""What a run asks of the method it fits: a model under Lightning, or an estimator."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from semicrowd.evaluation.scores import Evaluation
from semicrowd.files import RunDirectory
from semicrowd.fitting.snapshots import Snapshots


@dataclass(frozen=True)
class Fit:
    """How a fit went.

    Attributes
    ----------
    seconds : spent on it, in earlier sessions of the run too
    epochs : 1 of a method that has none
    curves : rows of curves.csv
    snapshots : of the clusters while training, None of a run without
    """

    seconds: float
    epochs: int
    curves: Sequence[Mapping[str, float]] = ()
    snapshots: Snapshots | None = None


@dataclass(frozen=True)
class ClusterPicture:
    """Clusters as the figures show them.

    Attributes
    ----------
    weights : [K] expected mixing proportions
    samples : [K, S, D] means of samples, None of a method that generates none
    """

    weights: np.ndarray
    samples: np.ndarray | None = None


class Method(ABC):
    """A method with its settings and its data. Making one checks both; what is wrong is a ``UserError``.

    Attributes
    ----------
    notes : what the user should know before it starts, a line each
    """

    notes: tuple[str, ...] = ()

    @abstractmethod
    def resume_point(self, directory: RunDirectory) -> Path | None:
        """The checkpoint to go on from, None to begin; ``UserError`` for one that is damaged."""

    @abstractmethod
    def fit(
        self, directory: RunDirectory, log_epoch: Callable[[int, dict[str, float]], Any], resume_from: Path | None
    ) -> Fit:
        """Fit, from a checkpoint on if one is given; ``KeyboardInterrupt`` after Ctrl-C or SIGTERM."""

    @abstractmethod
    def evaluate(self) -> Evaluation:
        """Evaluate what has been fitted."""

    @abstractmethod
    def clusters(self, result: Evaluation) -> ClusterPicture:
        """The clusters of the best restart for the figures."""
