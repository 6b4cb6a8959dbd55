"""Runs and sweeps in MLflow, as its own environment variables say: MLFLOW_TRACKING_URI, MLFLOW_EXPERIMENT_NAME.

A run is opened before its fit, so that Lightning's MLFlowLogger writes the curves into it; what is left follows at its
end. Trouble with the store stops a run before its fit; after it there is a note, since the files are the result.
"""

import contextlib
import fcntl
import logging
import os
import sqlite3
import sys
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from semicrowd.errors import UserError

if TYPE_CHECKING:
    from mlflow import MlflowClient
    from omegaconf import DictConfig

    from reproduction.run import Run

SQLITE = "sqlite:///"
#: Environment variable with the id of the sweep's run, for its jobs.
PARENT = "SEMICROWD_PARENT_RUN"
#: Longest value of a parameter or tag that every MLflow server takes; the whole value is in the artifact config.yaml.
_LONGEST = 250
#: Annotators with a metric of their own; those of a larger crowd would fill MLflow's list.
_MOST_ANNOTATORS = 60
#: Files and folders of a run that become artifacts.
_ARTIFACTS = ("config.yaml", "provenance.json", "report.html", "figures", "assignments.csv", "workers.csv",
              "curves.csv", "questions.csv", "warnings.json")  # fmt: skip


def open_store(uri: str | None = None, experiment: str | None = None) -> tuple["MlflowClient", str]:
    """MLflow's client, and the id of the experiment, which is made where there is none."""
    uri = uri or os.environ.get("MLFLOW_TRACKING_URI") or f"{SQLITE}mlflow.db"
    experiment = experiment or os.environ.get("MLFLOW_EXPERIMENT_NAME") or "semicrowd"
    os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")
    place, new = None, False
    try:
        with contextlib.ExitStack() as lock, warnings.catch_warnings():
            warnings.filterwarnings("ignore", message=".*noload.*", category=DeprecationWarning)  # within MLflow
            from mlflow import MlflowClient

            logging.getLogger("mlflow").setLevel(logging.WARNING)
            if uri.startswith(SQLITE):  # MLflow makes the tables, and another process at the same time would fail
                database = Path(unquote(uri.removeprefix(SQLITE))).absolute()
                place = (database.parent / "mlartifacts").as_uri()
                folder = os.open(database.parent, os.O_RDONLY)
                lock.callback(os.close, folder)
                fcntl.flock(folder, fcntl.LOCK_EX)
                new = not database.exists()
            client = MlflowClient(uri)
            entry = client.get_experiment_by_name(experiment)
            if new:
                client.delete_experiment("0")  # MLflow's own, which would hide ours in the list
            if entry is None:
                kind = {"mlflow.experimentKind": "custom_model_development"}  # pages of training, not of chats
                id = client.create_experiment(experiment, artifact_location=place, tags=kind)
                entry = client.get_experiment(id)
    except store_errors() as error:
        raise UserError(f"{uri}: the tracking store cannot be used: {_first_line(error)}") from error
    if entry.lifecycle_stage != "active":
        raise UserError(f"MLFLOW_EXPERIMENT_NAME={experiment}: deleted in the tracking store; expected another name")
    return client, entry.experiment_id


def store_errors() -> tuple[type[Exception], ...]:
    """What MLflow raises where its store cannot be used."""
    from mlflow.exceptions import MlflowException
    from sqlalchemy.exc import SQLAlchemyError

    return OSError, sqlite3.Error, MlflowException, SQLAlchemyError


class Tracker:
    """An MLflow run; without a client (``logger=none``) nothing is done."""

    def __init__(self, client: "MlflowClient | None" = None, id: str | None = None) -> None:
        self.client, self.id = client, id

    def finish(self, run: "Run", metrics: Mapping[str, float]) -> None:
        """Take parameters that the data have set, curves, final metrics, annotators' weights, and files."""
        if self.client is None or self.id is None:
            return
        from mlflow.entities import Metric, Param, RunTag

        now = time.time_ns() // 1_000_000
        final = {**metrics}
        people = None if run.result is None else run.result.workers
        if people is not None and len(people) <= _MOST_ANNOTATORS:
            for name, weight in zip(people["annotator"].astype(str), people["weight"], strict=True):
                final[_allowed(f"annotator weight/{name.replace('/', '_')}")] = weight
        entries = [Metric(name, float(value), now, 0) for name, value in final.items()]
        if getattr(run.model, "trainer", None) is None:  # Lightning's logger has those of the others
            entries += [Metric(_allowed(name), float(value), now, int(row["epoch"]))
                        for row in run.model.history_ for name, value in row.items() if name not in final]  # fmt: skip
        known = parameters(run.content)
        params = [Param(f"model.{name}", str(value)[:_LONGEST]) for name, value in run.model.params_.items()
                  if f"model.{name}" not in known]  # fmt: skip
        tags = [RunTag("warnings", "; ".join(run.warnings)[:_LONGEST])] if run.warnings else []
        with self._noted():
            for start in range(0, len(entries), 1000):  # the most that MLflow takes at once
                self.client.log_batch(self.id, metrics=entries[start : start + 1000])
            self.client.log_batch(self.id, params=params[:100], tags=tags)
            for path in (run.folder / name for name in _ARTIFACTS):
                if path.is_dir():
                    self.client.log_artifacts(self.id, str(path), path.name)
                elif path.exists():
                    self.client.log_artifact(self.id, str(path))

    def end(self, status: str = "FINISHED", error: str = "", files: Sequence[Path] = ()) -> None:
        """FINISHED, FAILED or KILLED."""
        if self.client is None or self.id is None:
            return
        with self._noted():
            for path in files:
                self.client.log_artifact(self.id, str(path))
            if error:
                self.client.set_tag(self.id, "error", error[:_LONGEST])
            self.client.set_terminated(self.id, status)

    def remove(self) -> None:
        """As if it had not been."""
        with self._noted():
            if self.client is not None and self.id is not None:
                self.client.delete_run(self.id)

    @contextlib.contextmanager
    def _noted(self) -> Iterator[None]:
        try:
            yield
        except store_errors() as error:
            print(f"note: MLflow does not get all of a run: {_first_line(error)}", file=sys.stderr)


def open_run(
    logger: Mapping[str, Any], name: str, tags: Mapping[str, Any], params: Mapping[str, Any] | None = None
) -> Tracker:
    """A new run of MLflow, in the store of conf/logger; within a sweep, a child of the sweep's run."""
    client, experiment = open_store(logger["tracking_uri"], logger["experiment_name"])
    from mlflow.entities import Param

    if PARENT in os.environ:
        tags = {**tags, "mlflow.parentRunId": os.environ[PARENT]}
    texts = {_allowed(key): str(value)[:_LONGEST] for key, value in tags.items() if value is not None}
    try:
        id = client.create_run(experiment, run_name=name, tags=texts).info.run_id
        entries = [Param(_allowed(key), str(value)[:_LONGEST]) for key, value in (params or {}).items()
                   if value is not None]  # fmt: skip
        client.log_batch(id, params=entries[:100])  # the most that MLflow takes at once
    except store_errors() as error:
        raise UserError(f"the tracking store cannot be used: {_first_line(error)}") from error
    return Tracker(client, id)


@contextlib.contextmanager
def start(cfg: "DictConfig", run: "Run") -> Iterator[Tracker]:
    """Track a run within the block."""
    if not cfg.logger:
        yield Tracker()
        return
    origin = run.origin
    tags = {
        "mlflow.source.type": "LOCAL", "mlflow.source.name": origin["command"],
        "mlflow.source.git.commit": origin["git_commit"], "git.dirty": origin["git_dirty"], "folder": run.folder,
        **{f"sha256.{name}": digest for name, digest in origin["data_hashes"].items()},
    }  # fmt: skip
    tracker = open_run(cfg.logger, run.name, tags, {**run.choices, **parameters(run.content)})
    try:
        yield tracker
    except BaseException as error:
        stopped = isinstance(error, KeyboardInterrupt)
        tracker.end("KILLED" if stopped else "FAILED", f"{type(error).__name__}: {_first_line(error)}")
        raise
    tracker.end()


def parameters(content: Mapping[str, Any]) -> dict[str, Any]:
    """Of a configuration by dotted names: what can change a result and has a value; the fit sets the others."""
    flat = {f"{group}.{name}": value for group in ("data", "annotations", "model")
            for name, value in content[group].items()}  # fmt: skip
    flat |= {name: content[name] for name in ("seed", "protocol", "held_out")}
    flat |= {f"trainer.{name}": content["trainer"][name] for name in ("devices", "num_nodes") if content["trainer"]}
    left_out = ("model.trainer", "model.verbose")
    return {name: one for name, one in flat.items() if one is not None and "._" not in name and name not in left_out}


def _allowed(name: str) -> str:
    return "".join(c if c.isalnum() or c in "_-. /" else "_" for c in name)[:_LONGEST]


def _first_line(error: BaseException) -> str:
    return next(iter(str(error).splitlines()), type(error).__name__)
