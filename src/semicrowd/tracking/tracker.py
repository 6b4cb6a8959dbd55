"""One run in MLflow. A run that is resumed goes on in the MLflow run that it began."""

import csv
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from semicrowd.tracking import content
from semicrowd.tracking.runs import FolderRun

if TYPE_CHECKING:
    from mlflow.entities import Metric

_FLUSH_SECONDS = 2.0  # writing takes some 20 ms, which a run of fast epochs would notice


class RunTracker:
    """What a run tells of itself. This one does nothing (``logger=none``)."""

    def log_epoch(self, epoch: int, metrics: Mapping[str, float]) -> None:
        """Take the metrics of an epoch, counted from 1; NaN is a value."""

    def finish(
        self,
        metrics: Mapping[str, float],
        artifacts: Sequence[Path],
        warnings: Sequence[str] = (),
        weights: Mapping[str, float] = MappingProxyType({}),
    ) -> None:
        """Take the final metrics, files or folders of the run directory to keep beside them, why not to trust the
        result, a line each, and the annotators' weights by their names.
        """

    def fail(self, error: BaseException) -> None:
        """Mark the run as failed, as killed if the error is KeyboardInterrupt."""

    def __enter__(self) -> "RunTracker":
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if error is not None:
            self.fail(error)


def start_run(
    settings: Mapping[str, Any],
    run_dir: Path,
    provenance: Mapping[str, Any],
    given: Mapping[str, Any] = MappingProxyType({}),
) -> RunTracker:
    """Start tracking the run of ``run_dir``, which the caller holds alone.

    With ``resume`` the MLflow run named in ``run_dir/mlflow_run_id`` goes on; epochs of curves.csv that it lacks
    are added. An earlier MLflow run of this directory that was cut off is marked as killed.

    Parameters
    ----------
    settings : of the run, as its config.yaml has them
    run_dir : its config.yaml and provenance.json, if they are there, become artifacts
    provenance : content of provenance.json
    given : the settings that the user has given, by dotted name; the run's name has some of them

    Raises
    ------
    UserError
        Where the tracking store cannot be used.
    """
    if settings["logger"]["name"] == "none":
        return RunTracker()
    name = content.run_name(settings, given)
    run = FolderRun(settings, run_dir, "run", name, content.parameters(settings), provenance)
    for file in ("config.yaml", "provenance.json"):
        if (run_dir / file).exists():
            run.keep(run_dir / file)
    return _MlflowTracker(run)


class _MlflowTracker(RunTracker):
    def __init__(self, run: FolderRun) -> None:
        self.run = run
        self._waiting: list[Metric] = []
        self._flushed = 0.0
        self._logged: set[int] = set()
        curves = [name for name in run.run.data.metrics if name.startswith(content.CURVE)]
        run.attempt(lambda: self._logged.update(*(self._epochs(name) for name in curves)))
        self._catch_up(run.folder / "curves.csv")

    def _epochs(self, name: str) -> set[int]:
        return {point.step for point in self.run.client.get_metric_history(self.run.id, name)}

    def _catch_up(self, curves: Path) -> None:
        """Log the epochs that were finished, but not logged, when the run was stopped."""
        if not curves.exists():
            return
        with curves.open(newline="") as file:
            for row in csv.DictReader(file):
                self.log_epoch(int(row.pop("epoch")), {name: float(value or "nan") for name, value in row.items()})

    def log_epoch(self, epoch: int, metrics: Mapping[str, float]) -> None:
        if epoch in self._logged:  # finished twice: a run goes on from its last checkpoint
            return
        self._logged.add(epoch)
        self._waiting += self._points(content.curve(metrics), epoch)
        if time.monotonic() - self._flushed > _FLUSH_SECONDS:
            self._flush()

    def _points(self, metrics: Mapping[str, float], epoch: int) -> "list[Metric]":
        from mlflow.entities import Metric

        now = time.time_ns() // 1_000_000
        return [Metric(name, value, now, epoch) for name, value in metrics.items()]

    def _flush(self) -> None:
        """Log what waits; where that fails, once more with the next epoch."""
        self._flushed = time.monotonic()
        if self.run.attempt(lambda: self.run.client.log_batch(self.run.id, metrics=self._waiting)):
            self._waiting = []

    def finish(
        self,
        metrics: Mapping[str, float],
        artifacts: Sequence[Path],
        warnings: Sequence[str] = (),
        weights: Mapping[str, float] = MappingProxyType({}),
    ) -> None:
        self.run.mark(content.description(warnings))
        self._waiting += self._points(content.final(metrics), 0)  # no step: MLflow draws bars
        self._waiting += self._points(content.annotator_weights(weights), 0)
        self._flush()
        for path in artifacts:
            self.run.keep(path)
        self.run.end()

    def fail(self, error: BaseException) -> None:
        self._flush()
        self.run.end(error)
