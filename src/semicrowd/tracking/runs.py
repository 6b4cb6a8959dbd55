"""MLflow runs that a folder remembers: begun, taken up again, ended; and the parent of a sweep's runs."""

import contextlib
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from semicrowd.errors import UserError
from semicrowd.files import write_text
from semicrowd.tracking import content
from semicrowd.tracking.store import Store, first_line, open_store, store_errors

if TYPE_CHECKING:
    from mlflow.entities import Run

#: File in a run's or a sweep's directory that names its MLflow run.
RUN_ID = "mlflow_run_id"
#: Environment variable that tells a sweep's jobs the MLflow run they belong to.
PARENT = "SEMICROWD_PARENT_RUN"
_BATCH = 100  # parameters or tags a request, the least that a server takes


class FolderRun:
    """The MLflow run of a folder, in state RUNNING.

    Once it has begun, trouble with the store (locked, full, out of reach) ends in a note and not in an error: the
    files of the folder are the result, MLflow shows it.

    Parameters
    ----------
    store : an open store
    folder : of the run or sweep; ``mlflow_run_id`` is kept here
    resume : go on in the MLflow run of this folder, if the store still has it
    name : shown in the list of runs
    parameters, tags : of the run; a parameter that MLflow knows already keeps its value

    Raises
    ------
    UserError
        Where the store takes no run.
    """

    def __init__(
        self,
        store: Store,
        folder: Path,
        resume: bool,
        name: str,
        parameters: Mapping[str, str],
        tags: Mapping[str, str],
    ) -> None:
        self.client = store.client
        self.folder = folder
        self._noted = False
        previous = self._previous()
        if previous is not None and resume:
            self.run = previous
        else:
            if previous is not None and previous.info.status == "RUNNING":  # its process was killed
                self.attempt(lambda: self.client.set_terminated(previous.info.run_id, "KILLED"))
            try:
                self.run = self.client.create_run(store.experiment_id, run_name=name)
            except store_errors() as error:
                raise UserError(f"{store.uri}: the tracking store cannot be used: {first_line(error)}") from error
            write_text(folder / RUN_ID, f"{self.id}\n")
        self.attempt(lambda: self._describe(parameters, tags))

    @property
    def id(self) -> str:
        """MLflow's id of the run."""
        run_id = self.run.info.run_id
        assert isinstance(run_id, str)
        return run_id

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
        from mlflow.entities import Param

        known = self.run.data.params
        rows: Sequence[Param] = [Param(name, value) for name, value in parameters.items() if name not in known]
        for start in range(0, len(rows), _BATCH):
            self.client.log_batch(self.id, params=rows[start : start + _BATCH])
        self._tag({**tags, **self._parent()})
        if "error" in self.run.data.tags:
            self.client.delete_tag(self.id, "error")
        self.client.update_run(self.id, status="RUNNING")

    def _tag(self, tags: Mapping[str, str]) -> None:
        from mlflow.entities import RunTag

        marks = [RunTag(name, value) for name, value in tags.items()]
        for start in range(0, len(marks), _BATCH):
            self.client.log_batch(self.id, tags=marks[start : start + _BATCH])

    def _parent(self) -> dict[str, str]:
        parent = os.environ.get(PARENT)
        return {} if parent is None else {"mlflow.parentRunId": parent}

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

    def mark(self, tags: Mapping[str, str]) -> None:
        """Set tags of the run."""
        self.attempt(lambda: self._tag(tags))

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


class SweepTracker:
    """The sweep's run, None with ``logger=none``."""

    def __init__(self, run: FolderRun | None = None) -> None:
        self.run = run
        self.ended = False

    def finish(self, failed: int, artifacts: Sequence[Path]) -> None:
        """Take the number of failed jobs (0: the sweep is FINISHED, else FAILED) and files of the sweep's folder."""
        if self.run is not None:
            for path in artifacts:
                self.run.keep(path)
            self.run.end(f"{failed} jobs failed" if failed else None)
        self.ended = True


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
    logger = settings["logger"]
    if logger["name"] == "none":
        yield SweepTracker()
        return
    store = open_store(logger["uri"], logger["experiment"])
    sweep_dir.mkdir(parents=True, exist_ok=True)
    tags = {**content.tags(provenance), "sweep_dir": str(sweep_dir)}
    run = FolderRun(store, sweep_dir, settings["resume"], f"sweep {sweep_dir.name}", {}, tags)
    sweep, stopped = SweepTracker(run), None
    os.environ[PARENT] = run.id
    try:
        yield sweep
    except BaseException as error:
        stopped = error
        raise
    finally:
        del os.environ[PARENT]
        run.attempt(partial(_end_lost_children, store, run))
        if not sweep.ended:
            run.end(stopped)


def _end_lost_children(store: Store, run: FolderRun) -> None:
    """Mark the runs whose process died without a word."""
    chosen = f"tags.mlflow.parentRunId = '{run.id}' and attributes.status = 'RUNNING'"
    for child in run.client.search_runs([store.experiment_id], chosen):
        run.client.set_terminated(child.info.run_id, "KILLED")
