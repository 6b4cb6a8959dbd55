"""A sweep in MLflow: the parent of its jobs' runs."""

import contextlib
import os
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from semicrowd.tracking import content
from semicrowd.tracking.runs import PARENT, FolderRun
from semicrowd.tracking.store import Store, open_store


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
