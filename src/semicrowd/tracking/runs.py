"""Runs and sweeps in MLflow. The folder of each remembers its MLflow run, in which it goes on when it is resumed."""

import contextlib
import csv
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from semicrowd.errors import UserError
from semicrowd.files import write_text
from semicrowd.tracking import content
from semicrowd.tracking.store import first_line, open_store, store_errors

if TYPE_CHECKING:
    from mlflow.entities import Metric, Run

#: File in a run's or a sweep's directory that names its MLflow run.
RUN_ID = "mlflow_run_id"
#: Environment variable that tells a sweep's jobs the MLflow run they belong to.
PARENT = "SEMICROWD_PARENT_RUN"
_FLUSH_SECONDS = 2.0  # writing takes some 20 ms, which a run of fast epochs would notice


class FolderRun:
    """The MLflow run of a folder, in state RUNNING.

    Once it has begun, trouble with the store (locked, full, out of reach) ends in a note and not in an error: the
    files of the folder are the result, MLflow shows it.

    Parameters
    ----------
    settings : ``logger`` names the store; with ``resume`` the MLflow run of this folder goes on, if the store has it
    folder : of the run or sweep; ``mlflow_run_id`` is kept here
    kind : run or sweep: the folder is the tag ``run_dir`` or ``sweep_dir``
    name : shown in the list of runs
    parameters : of the run; one that MLflow knows already keeps its value
    provenance : of the run, for its tags

    Raises
    ------
    UserError
        Where the tracking store cannot be used.
    """

    def __init__(
        self, settings: Mapping[str, Any], folder: Path, kind: str, name: str, parameters: Mapping[str, str],
        provenance: Mapping[str, Any],
    ) -> None:  # fmt: skip
        logger = settings["logger"]
        self.store = store = open_store(logger["uri"], logger["experiment"])
        self.client = store.client
        self.folder = folder
        self._noted = False
        previous = self._previous()
        if previous is not None and settings["resume"]:
            self.run = previous
        else:
            if previous is not None and previous.info.status == "RUNNING":  # its process was killed
                self.attempt(lambda: self.client.set_terminated(previous.info.run_id, "KILLED"))
            try:
                self.run = self.client.create_run(store.experiment_id, run_name=name)
            except store_errors() as error:
                raise UserError(f"{store.uri}: the tracking store cannot be used: {first_line(error)}") from error
            write_text(folder / RUN_ID, f"{self.run.info.run_id}\n")
        #: MLflow's id of the run.
        self.id: str = self.run.info.run_id
        tags = {**content.tags(provenance), f"{kind}_dir": str(folder)}
        self.attempt(lambda: self._describe(parameters, tags))

    def _previous(self) -> "Run | None":
        from mlflow.exceptions import MlflowException

        path = self.folder / RUN_ID
        if not path.exists():
            return None
        try:
            run = self.client.get_run(path.read_bytes().decode(errors="replace").strip())
        except MlflowException:  # another store, or the run is gone
            return None
        elsewhere = run.data.tags.get("run_dir") or run.data.tags.get("sweep_dir")
        if elsewhere and Path(elsewhere).resolve() != self.folder.resolve() and (Path(elsewhere) / RUN_ID).exists():
            return None  # this folder is a copy of that of the run
        return run if run.info.lifecycle_stage == "active" else None

    def _describe(self, parameters: Mapping[str, str], tags: Mapping[str, str]) -> None:
        from mlflow.entities import Param, RunTag

        known = self.run.data.params
        parent = {"mlflow.parentRunId": os.environ[PARENT]} if PARENT in os.environ else {}
        self.client.log_batch(
            self.id, params=[Param(name, value) for name, value in parameters.items() if name not in known],
            tags=[RunTag(name, value) for name, value in {**tags, **parent}.items()],
        )  # fmt: skip
        if "error" in self.run.data.tags:
            self.client.delete_tag(self.id, "error")
        self.client.update_run(self.id, status="RUNNING")

    def attempt(self, action: Callable[[], object]) -> bool:
        """Do something with the store; whether it worked. The first time that it does not, say so."""
        try:
            action()
        except store_errors() as error:
            if not self._noted:
                print(f"note: MLflow does not get all of {self.folder}: {first_line(error)}", file=sys.stderr)
            self._noted = True
            return False
        return True

    def epochs(self, metric: str) -> set[int]:
        """The epochs for which MLflow has the metric."""
        return {point.step for point in self.client.get_metric_history(self.id, metric)}

    def mark(self, tags: Mapping[str, str]) -> None:
        """Set tags of the run."""
        from mlflow.entities import RunTag

        self.attempt(lambda: self.client.log_batch(self.id, tags=[RunTag(*one) for one in tags.items()]))

    def keep(self, path: Path) -> None:
        """Copy a file, or all files of a folder, to the artifacts, under its path within the run's folder."""
        place = path.relative_to(self.folder)
        if path.is_dir():
            self.attempt(lambda: self.client.log_artifacts(self.id, str(path), str(place)))
        else:
            parent = None if place.parent == Path() else str(place.parent)
            self.attempt(lambda: self.client.log_artifact(self.id, str(path), parent))

    def end(self, error: BaseException | str | None = None) -> None:
        """FINISHED; with an error FAILED, its first line in the tag ``error``; with KeyboardInterrupt KILLED."""
        status = "FINISHED" if error is None else "KILLED" if isinstance(error, KeyboardInterrupt) else "FAILED"
        if error is not None and status == "FAILED":
            text = error if isinstance(error, str) else f"{type(error).__name__}: {error}".splitlines()[0]
            self.attempt(lambda: self.client.set_tag(self.id, "error", text))
        self.attempt(lambda: self.client.set_terminated(self.id, status))


class RunTracker:
    """What a run tells of itself; nothing is done with it without an MLflow run (``logger=none``)."""

    def __init__(self, run: FolderRun | None = None) -> None:
        self.run = run
        self._waiting: list[Metric] = []
        self._flushed = 0.0
        self._logged: set[int] = set()
        if run is not None:
            curves = [name for name in run.run.data.metrics if name.startswith(content.CURVE)]
            run.attempt(lambda: self._logged.update(*(run.epochs(name) for name in curves)))
            self._catch_up(run.folder / "curves.csv")

    def _catch_up(self, curves: Path) -> None:
        """Log the epochs that were finished, but not logged, when the run was stopped."""
        if not curves.exists():
            return
        with curves.open(newline="") as file:
            for row in csv.DictReader(file):
                self.log_epoch(int(row.pop("epoch")), {name: float(value or "nan") for name, value in row.items()})

    def log_epoch(self, epoch: int, metrics: Mapping[str, float]) -> None:
        """Take the metrics of an epoch, counted from 1; NaN is a value."""
        if self.run is None or epoch in self._logged:  # finished twice: a run goes on from its last checkpoint
            return
        self._logged.add(epoch)
        self._waiting += _points(content.curve(metrics), epoch)
        if time.monotonic() - self._flushed > _FLUSH_SECONDS:
            self._flush(self.run)

    def _flush(self, run: FolderRun) -> None:
        """Log what waits; where that fails, once more with the next epoch."""
        self._flushed = time.monotonic()
        if run.attempt(lambda: run.client.log_batch(run.id, metrics=self._waiting)):
            self._waiting = []

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
        if self.run is None:
            return
        self.run.mark(content.description(warnings))
        self._waiting += _points(content.final(metrics) | content.annotator_weights(weights), 0)  # no step: bars
        self._flush(self.run)
        for path in artifacts:
            self.run.keep(path)
        self.run.end()

    def fail(self, error: BaseException) -> None:
        """Mark the run as failed, as killed if the error is KeyboardInterrupt."""
        if self.run is not None:
            self._flush(self.run)
            self.run.end(error)

    def __enter__(self) -> "RunTracker":
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if error is not None:
            self.fail(error)


def _points(metrics: Mapping[str, float], epoch: int) -> "list[Metric]":
    from mlflow.entities import Metric

    now = time.time_ns() // 1_000_000
    return [Metric(name, value, now, epoch) for name, value in metrics.items()]


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
    return RunTracker(run)


class SweepTracker:
    """The sweep's run, None with ``logger=none``."""

    def __init__(self, run: FolderRun | None = None) -> None:
        self.run = run

    def finish(self, failed: int, artifacts: Sequence[Path]) -> None:
        """Take the number of failed jobs (0: the sweep is FINISHED, else FAILED) and files of the sweep's folder."""
        if self.run is not None:
            for path in artifacts:
                self.run.keep(path)
            self.run.end(f"{failed} jobs failed" if failed else None)


@contextlib.contextmanager
def open_sweep(
    settings: Mapping[str, Any], sweep_dir: Path, provenance: Mapping[str, Any]
) -> Iterator[SweepTracker]:
    """Track the sweep of ``sweep_dir``, made if it is not there; runs that start in the block are its children.

    With ``resume`` the MLflow run named in ``sweep_dir/mlflow_run_id`` goes on.

    Parameters
    ----------
    settings : of any of the jobs; ``logger`` and ``resume`` are enough
    sweep_dir : folder of the sweep
    provenance : what is known before the data are read; ``{"command": …}`` is enough

    Raises
    ------
    UserError
        Where the tracking store cannot be used.
    """
    if settings["logger"]["name"] == "none":
        yield SweepTracker()
        return
    run = FolderRun(settings, sweep_dir, "sweep", f"sweep {sweep_dir.name}", {}, provenance)
    os.environ[PARENT] = run.id
    try:
        yield SweepTracker(run)
    except BaseException as error:
        run.end(error)
        raise
    finally:
        del os.environ[PARENT]
        run.attempt(lambda: _end_lost_children(run))


def _end_lost_children(run: FolderRun) -> None:
    """Mark the runs whose process died without a word."""
    chosen = f"tags.mlflow.parentRunId = '{run.id}' and attributes.status = 'RUNNING'"
    for child in run.client.search_runs([run.store.experiment_id], chosen):
        run.client.set_terminated(child.info.run_id, "KILLED")
