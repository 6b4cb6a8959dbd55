"""A sweep in MLflow: the parent of its jobs' runs."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from semicrowd.tracking import content
from semicrowd.tracking.runs import PARENT, FolderRun
from semicrowd.tracking.store import Store, open_store


class SweepTracker:
    """The sweep's run; within the ``with`` block, runs that start are its children. This one does nothing."""

    def finish(self, failed: int, artifacts: Sequence[Path]) -> None:
        """Take the number of failed jobs (0: the sweep is FINISHED, else FAILED) and files of the sweep's folder."""

    def __enter__(self) -> "SweepTracker":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass


def open_sweep(settings: Mapping[str, Any], sweep_dir: Path, provenance: Mapping[str, Any]) -> SweepTracker:
    """Start tracking the sweep of ``sweep_dir``, which is made if it is not there.

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
        return SweepTracker()
    store = open_store(logger["uri"], logger["experiment"])
    sweep_dir.mkdir(parents=True, exist_ok=True)
    tags = {**content.tags(provenance), "sweep_dir": str(sweep_dir)}
    return _MlflowSweep(store, FolderRun(store, sweep_dir, settings["resume"], f"sweep {sweep_dir.name}", {}, tags))


class _MlflowSweep(SweepTracker):
    def __init__(self, store: Store, run: FolderRun) -> None:
        self.store, self.run = store, run
        self._ended = False

    def finish(self, failed: int, artifacts: Sequence[Path]) -> None:
        for path in artifacts:
            self.run.keep(path)
        self.run.end(f"{failed} jobs failed" if failed else None)
        self._ended = True

    def __enter__(self) -> SweepTracker:
        os.environ[PARENT] = self.run.id
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        del os.environ[PARENT]
        self.run.attempt(self._end_lost_children)
        if not self._ended:
            self.run.end(error)

    def _end_lost_children(self) -> None:
        """Mark the runs whose process died without a word."""
        chosen = f"tags.mlflow.parentRunId = '{self.run.id}' and attributes.status = 'RUNNING'"
        for child in self.run.client.search_runs([self.store.experiment_id], chosen):
            self.run.client.set_terminated(child.info.run_id, "KILLED")
