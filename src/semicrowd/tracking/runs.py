"""Runs and sweeps in MLflow. The folder of each names its MLflow run, in which it goes on when it is resumed."""

import contextlib
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
from semicrowd.tracking.store import Store, first_line, open_store, store_errors

if TYPE_CHECKING:
    from mlflow.entities import Metric

#: File in a run's or a sweep's directory that names its MLflow run.
RUN_ID = "mlflow_run_id"
#: Environment variable that tells a sweep's jobs the MLflow run they belong to.
PARENT = "SEMICROWD_PARENT_RUN"
_FLUSH_SECONDS = 2.0  # writing takes some 20 ms, which a run of fast epochs would notice


class Tracker:
    """The MLflow run of a run's or a sweep's folder; without one (``logger=none``) nothing is done.

    Once the run has begun, trouble with the store ends in a note: the files of the folder are the result.

    Attributes
    ----------
    id : MLflow's, of the run
    """

    def __init__(self, store: Store | None = None, id: str = "", folder: Path = Path()) -> None:
        self.store, self.id, self.folder = store, id, folder
        self._waiting: list[Metric] = []
        self._flushed = 0.0
        self._noted = False

    def log_epoch(self, epoch: int, metrics: Mapping[str, float]) -> None:
        """Take the metrics of an epoch, counted from 1; NaN is a value."""
        self._log(content.curve(metrics), epoch)

    def finish(
        self,
        metrics: Mapping[str, float],
        artifacts: Sequence[Path],
        warnings: Sequence[str] = (),
        weights: Mapping[str, float] = MappingProxyType({}),
    ) -> None:
        """Take the final metrics, files or folders to keep beside them, why not to trust the result, a line each, and
        the annotators' weights by their names.
        """
        if self.store is None:
            return
        from mlflow.entities import RunTag

        tags = [RunTag(*one) for one in content.description(warnings).items()]
        self.attempt(lambda store: store.client.log_batch(self.id, tags=tags))
        self._log(content.final(metrics) | content.annotator_weights(weights), 0)  # no step: bars
        for path in artifacts:
            self.keep(path)
        self.end()

    def keep(self, path: Path) -> None:
        """Copy a file, or all files of a folder, to the artifacts, under its path within the folder."""
        if self.store is None:
            return
        place = path.relative_to(self.folder)
        if path.is_dir():
            self.attempt(lambda store: store.client.log_artifacts(self.id, str(path), str(place)))
        else:
            parent = None if place.parent == Path() else str(place.parent)
            self.attempt(lambda store: store.client.log_artifact(self.id, str(path), parent))

    def end(self, error: BaseException | str | None = None) -> None:
        """FINISHED; with an error FAILED, its first line in the tag ``error``; with KeyboardInterrupt KILLED."""
        self._flush()
        status = "FINISHED" if error is None else "KILLED" if isinstance(error, KeyboardInterrupt) else "FAILED"
        if error is not None and status == "FAILED":
            text = error if isinstance(error, str) else f"{type(error).__name__}: {error}".splitlines()[0]
            self.attempt(lambda store: store.client.set_tag(self.id, "error", text))
        self.attempt(lambda store: store.client.set_terminated(self.id, status))

    def attempt(self, action: Callable[[Store], object]) -> None:
        """Do something with the store, if there is one; the first time that it fails, say so."""
        try:
            if self.store is not None:
                action(self.store)
        except store_errors() as error:
            if not self._noted:
                said = UserError(first_line(error))
                print(f"note: MLflow does not get all of {self.folder}: {said}", file=sys.stderr)
            self._noted = True

    def _log(self, metrics: Mapping[str, float], step: int) -> None:
        if self.store is not None:
            from mlflow.entities import Metric

            now = time.time_ns() // 1_000_000
            self._waiting += [Metric(name, value, now, step) for name, value in metrics.items()]
            if time.monotonic() - self._flushed > _FLUSH_SECONDS:
                self._flush()

    def _flush(self) -> None:
        self._flushed, waiting, self._waiting = time.monotonic(), self._waiting, []
        if waiting:
            self.attempt(lambda store: store.client.log_batch(self.id, metrics=waiting))

    def __enter__(self) -> "Tracker":
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if error is not None:
            self.end(error)


def start_run(
    settings: Mapping[str, Any],
    run_dir: Path,
    provenance: Mapping[str, Any],
    given: Mapping[str, Any] = MappingProxyType({}),
) -> Tracker:
    """Start tracking the run of ``run_dir``; with ``resume`` the MLflow run named in ``mlflow_run_id`` goes on.

    Parameters
    ----------
    settings : of the run, as its config.yaml has them
    run_dir : its config.yaml and provenance.json, if they are there, become artifacts
    provenance : content of provenance.json
    given : the settings that the user has given, by dotted name; the run's name has some of them
    """
    if settings["logger"]["name"] == "none":
        return Tracker()
    tags = content.tags(provenance) | {"run_dir": str(run_dir)}
    if PARENT in os.environ:
        tags["mlflow.parentRunId"] = os.environ[PARENT]
    tracker = _started(settings, run_dir, content.run_name(settings, given), tags, content.parameters(settings))
    for path in (run_dir / "config.yaml", run_dir / "provenance.json"):
        if path.exists():
            tracker.keep(path)
    return tracker


@contextlib.contextmanager
def open_sweep(settings: Mapping[str, Any], sweep_dir: Path, provenance: Mapping[str, Any]) -> Iterator[Tracker]:
    """Track the sweep of ``sweep_dir``; runs that start in the block, in worker processes too, are its children.

    Parameters
    ----------
    settings : of any of the jobs; ``logger`` and ``resume`` are enough
    sweep_dir : folder of the sweep
    provenance : what is known before the data are read; ``{"command": …}`` is enough
    """
    if settings["logger"]["name"] == "none":
        yield Tracker()
        return
    tags = content.tags(provenance) | {"sweep_dir": str(sweep_dir)}
    with _started(settings, sweep_dir, f"sweep {sweep_dir.name}", tags) as tracker:
        os.environ[PARENT] = tracker.id
        try:
            yield tracker
        finally:
            del os.environ[PARENT]


def _started(
    settings: Mapping[str, Any], folder: Path, name: str, tags: dict[str, str],
    parameters: Mapping[str, str] = MappingProxyType({}),
) -> Tracker:  # fmt: skip
    """The MLflow run of a folder, which goes on with ``resume`` if the store has it, in state RUNNING."""
    store = open_store(settings["logger"]["uri"], settings["logger"]["experiment"])
    from mlflow.entities import Param

    client, path = store.client, folder / RUN_ID
    id = path.read_bytes().decode(errors="replace").strip() if settings["resume"] and path.exists() else ""
    try:
        with contextlib.suppress(*store_errors()):  # another store, or the run is gone
            if id and client.get_run(id).info.lifecycle_stage == "active":
                client.update_run(id, status="RUNNING")
                client.set_tag(id, "error", "")
                return Tracker(store, id, folder)
        id = client.create_run(store.experiment_id, run_name=name, tags=tags).info.run_id
        write_text(path, f"{id}\n")
        client.log_batch(id, params=[Param(*one) for one in parameters.items()])
    except store_errors() as error:
        raise UserError(f"{store.uri}: the tracking store cannot be used: {first_line(error)}") from error
    return Tracker(store, id, folder)
