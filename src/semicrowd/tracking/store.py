"""MLflow's store: a sqlite file with a folder of artifacts beside it, or what else MLflow's tracking URIs name."""

import contextlib
import logging
import os
import sqlite3
import tempfile
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote, unquote

from semicrowd.errors import UserError

if TYPE_CHECKING:
    from mlflow import MlflowClient

SQLITE = "sqlite:///"
#: Tag by which MLflow opens an experiment with its pages for training, not with those for language models.
_KIND = {"mlflow.experimentKind": "custom_model_development"}


class Store(NamedTuple):
    """An open store: its URI, a sqlite file's with its whole path; MLflow's client; the experiment that runs go to."""

    uri: str
    client: "MlflowClient"
    experiment_id: str


def sqlite_uri(path: Path) -> str:
    """Tracking URI of a database file."""
    return SQLITE + quote(str(path.absolute()))


def open_store(uri: str | None, experiment: str | None) -> Store:
    """Open a store, making it and the experiment where they are missing.

    Parameters
    ----------
    uri : None: MLFLOW_TRACKING_URI, else mlflow.db in the current folder, as MLflow has it
    experiment : None: MLFLOW_EXPERIMENT_NAME, else semicrowd
    """
    uri = uri or os.environ.get("MLFLOW_TRACKING_URI") or f"{SQLITE}mlflow.db"
    experiment = experiment or os.environ.get("MLFLOW_EXPERIMENT_NAME") or "semicrowd"
    location = None
    try:
        if uri.startswith(SQLITE):
            database = Path(unquote(uri.removeprefix(SQLITE))).absolute()
            uri = sqlite_uri(database)
            location = (database.parent / "mlartifacts" / quote(experiment, safe="")).as_uri()
            if not database.exists():
                _make(database)
        client = connect(uri)
        entry = client.get_experiment_by_name(experiment)
        if entry is None:
            with contextlib.suppress(*store_errors()):  # another process has been faster
                client.create_experiment(experiment, artifact_location=location, tags=_KIND)
            entry = client.get_experiment_by_name(experiment)
    except store_errors() as error:
        raise UserError(f"{uri}: the tracking store cannot be used: {first_line(error)}") from error
    if entry is None or entry.lifecycle_stage != "active":
        raise UserError(f"logger.experiment={experiment}: deleted in the tracking store; choose another name")
    return Store(uri, client, entry.experiment_id)


def _make(database: Path) -> None:
    """Make an empty store under another name, which then appears as a whole: several processes may do so at once."""
    database.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=database.parent) as folder:
        new = Path(folder) / database.name
        # MLflow's own experiment would hide ours in the list, and points to a folder that is never made.
        connect(sqlite_uri(new)).delete_experiment("0")
        try:
            os.link(new, database)
        except FileExistsError:  # of a process that has been faster
            pass
        except OSError:  # a file system without links
            new.replace(database)


def connect(uri: str) -> "MlflowClient":
    """MLflow's client, without telemetry; MLflow is imported when it is needed."""
    os.environ["MLFLOW_DISABLE_TELEMETRY"] = "true"
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*noload.*", category=DeprecationWarning)
        from mlflow import MlflowClient

        logging.getLogger("mlflow").setLevel(logging.WARNING)
        return MlflowClient(uri)


def store_errors() -> tuple[type[Exception], ...]:
    """What MLflow raises where its store cannot be used."""
    from mlflow.exceptions import MlflowException
    from sqlalchemy.exc import SQLAlchemyError

    return OSError, sqlite3.Error, MlflowException, SQLAlchemyError


def first_line(error: BaseException) -> str:
    """An error in one line."""
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return next(iter(str(error).splitlines()), type(error).__name__)
