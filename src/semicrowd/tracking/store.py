"""The MLflow store: a sqlite file and a folder of artifacts beside it, or any tracking server.

MLflow keeps the whole paths of artifacts. Where a sqlite file and its artifacts have been moved together, the paths are
set to the new place when the store is opened.

Several processes may open a sqlite store that is not there yet; MLflow's own way of making it would let them crash
each other. Here one of them makes it under a lock, under another name, and it appears when it is whole.
"""

import contextlib
import logging
import os
import sqlite3
import sys
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote, urlsplit

from filelock import FileLock, Timeout

from semicrowd.errors import UserError

if TYPE_CHECKING:
    from mlflow import MlflowClient

SQLITE = "sqlite:///"
_REMOTE = ("http://", "https://")
#: Seconds that a process waits while another one creates or migrates the store.
_LOCK_SECONDS = 120
#: Tag by which MLflow opens an experiment with its pages for training, not with those for language models.
_KIND = {"mlflow.experimentKind": "custom_model_development"}


@dataclass(frozen=True)
class Store:
    """An open store.

    Attributes
    ----------
    uri : of the store; a sqlite file's with its whole path
    client : MLflow's client
    experiment_id : of the experiment that runs go to
    """

    uri: str
    client: "MlflowClient"
    experiment_id: str


def default_uri() -> str:
    """``mlflow.db`` in the project folder; where the package is installed without one, in the current folder."""
    project = Path(__file__).resolve().parents[3]
    folder = project if (project / "pyproject.toml").is_file() else Path.cwd()
    return sqlite_uri(folder / "mlflow.db")


def sqlite_uri(path: Path) -> str:
    """Tracking URI of a database file."""
    return SQLITE + quote(str(path.absolute()))


def open_store(uri: str | None, experiment: str) -> Store:
    """Open the store at ``uri`` (None: the default), making it and the experiment where they are missing.

    Raises
    ------
    UserError
        Where the store cannot be used: unknown kind of URI, no access, a file of something else, a deleted experiment.
    """
    uri = uri or default_uri()
    if uri.startswith(_REMOTE) and "@" in urlsplit(uri).netloc:
        # Neither repeated here nor kept in the run's files; MLflow has its own way.
        raise UserError("logger.uri: a user or password in it would be written into the run's files; expected them in "
                        "MLFLOW_TRACKING_USERNAME and MLFLOW_TRACKING_PASSWORD, or MLFLOW_TRACKING_TOKEN")
    try:
        if uri.startswith(_REMOTE):
            return _connect(uri, experiment, database=None)
        if not uri.startswith(SQLITE):
            raise UserError(f"logger.uri={uri}: expected sqlite:///<file>, http://… or https://…")
        database = Path(unquote(uri.removeprefix(SQLITE))).absolute()
        uri = str(database)  # what a message calls it
        database.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(f"{database}.lock", timeout=_LOCK_SECONDS):
            if not database.exists():
                _make(database)
            return _connect(sqlite_uri(database), experiment, database)
    except Timeout as error:
        raise UserError(f"{uri}: another process has held {uri}.lock for {_LOCK_SECONDS} s") from error
    except store_errors() as error:
        raise UserError(f"{uri}: the tracking store cannot be used: {first_line(error)}") from error


def store_errors() -> tuple[type[Exception], ...]:
    """What MLflow raises where its store cannot be used."""
    if "mlflow" not in sys.modules:  # nothing of it has been called yet
        return OSError, sqlite3.Error
    from mlflow.exceptions import MlflowException
    from sqlalchemy.exc import SQLAlchemyError

    return OSError, sqlite3.Error, MlflowException, SQLAlchemyError


def first_line(error: BaseException) -> str:
    """An error in one line."""
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return next(iter(str(error).splitlines()), type(error).__name__)


def _make(database: Path) -> None:
    """Make an empty store; nothing is left of one that an earlier process did not get to finish."""
    temporary = database.with_name(f"{database.name}.new")
    for name in (temporary.name, f"{temporary.name}-journal"):
        database.with_name(name).unlink(missing_ok=True)
    # MLflow's own experiment would hide ours in the list, and points to a folder that is never made.
    _client(sqlite_uri(temporary)).delete_experiment("0")
    temporary.replace(database)


def _client(uri: str) -> "MlflowClient":
    os.environ["MLFLOW_DISABLE_TELEMETRY"] = "true"
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*noload.*", category=DeprecationWarning)
        from mlflow import MlflowClient

        logging.getLogger("mlflow").setLevel(logging.WARNING)
        return MlflowClient(uri)


def _connect(uri: str, experiment: str, database: Path | None) -> Store:
    client = _client(uri)
    entry = client.get_experiment_by_name(experiment)
    location = None if database is None else (database.parent / "mlartifacts" / quote(experiment, safe="")).as_uri()
    if entry is None:
        return Store(uri, client, _create(client, experiment, location))
    if entry.lifecycle_stage != "active":
        raise UserError(f"logger.experiment={experiment}: deleted in the tracking store; choose another name")
    if database is not None and location is not None and entry.artifact_location != location:
        _move_artifacts(database, entry.artifact_location, location)
    return Store(uri, client, entry.experiment_id)


def _move_artifacts(database: Path, old: str, new: str) -> None:
    """Give the artifacts below ``old`` their place below ``new``, if that is the same folder of another project."""
    if "/".join(old.split("/")[-2:]) != "/".join(new.split("/")[-2:]):
        return  # a place that somebody has chosen
    with contextlib.closing(sqlite3.connect(database)) as connection, connection:
        for table, column in (("experiments", "artifact_location"), ("runs", "artifact_uri")):
            connection.execute(
                f"UPDATE {table} SET {column} = :new || substr({column}, :rest) "
                f"WHERE substr({column} || '/', 1, :rest) = :old || '/'",
                {"new": new, "old": old, "rest": len(old) + 1},
            )


def _create(client: "MlflowClient", experiment: str, location: str | None) -> str:
    """Create an experiment that another process may have created by now."""
    from mlflow.exceptions import MlflowException

    try:
        return client.create_experiment(experiment, artifact_location=location, tags=_KIND)
    except MlflowException:
        entry = client.get_experiment_by_name(experiment)
        if entry is None:
            raise
        return entry.experiment_id

