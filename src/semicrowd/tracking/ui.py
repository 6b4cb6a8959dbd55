"""``python -m semicrowd.tracking.ui``: MLflow's pages on this machine, for this machine only.

The server listens on 127.0.0.1, with one worker, without MLflow's job runner and without telemetry.

It opens with the runs and their main metrics, as one of MLflow's saved views, which are tags of the experiment. Without
one the list of runs has no column of any metric.
"""

import argparse
import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from types import FrameType
from typing import IO

from semicrowd.errors import UserError, without_traceback
from semicrowd.tracking.store import SQLITE, Store, open_store

#: Version of the view; raise it when the columns change, since stores keep old views.
_KEY = "semicrowd-4"
_PARAMETERS = tuple(f"params.`{name}`" for name in ("data", "model", "annotations", "seed", "restarts"))
#: Scores that need true classes.
_SCORES = ("train/acc", "train/nmi", "annotated/acc", "test/acc", "test/nmi")
_OTHERS = (
    "answers/held_out_gain", "answers/cross_validated_gain", "clusters/used", "elbo/train", "warnings/count",
)  # fmt: skip


def page(store: Store) -> str:
    """Address of the page, relative to the server; the view is made if the experiment does not have it.

    It has columns of scores that need true classes if a run of the experiment has such a score.
    """
    labelled = _has_scores(store)
    key = _KEY if labelled else f"{_KEY}-without-labels"
    tag = f"mlflow.sharedViewState.{key}"
    if tag not in store.client.get_experiment(store.experiment_id).tags:
        metrics = (*(_SCORES if labelled else ()), *_OTHERS)
        state = {"selectedColumns": (*_PARAMETERS, *(f"metrics.`{name}`" for name in metrics))}
        view = {"name": "results", "createdAt": 0, "updatedAt": 0, "state": json.dumps(state)}
        store.client.set_experiment_tag(store.experiment_id, tag, json.dumps(view))
    return f"#/experiments/{store.experiment_id}/runs?workflowType=machine_learning&viewStateShareKey={key}"


def _has_scores(store: Store) -> bool:
    """Whether a run has a score that needs true classes; True also if the experiment has no runs yet."""
    scored = store.client.search_runs([store.experiment_id], f"metrics.`{_SCORES[0]}` >= 0", max_results=1)
    return bool(scored) or not store.client.search_runs([store.experiment_id], max_results=1)


HOST = "127.0.0.1"
_STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)  # Ctrl-C, kill, a closed terminal
#: Seconds within which the server must answer.
_START_SECONDS = 120
#: Seconds that the server has to end by itself before it is killed.
_STOP_SECONDS = 10


def serve(port: int, uri: str | None, experiment: str) -> None:
    """Run the server until a signal ends it.

    Parameters
    ----------
    port : on 127.0.0.1
    uri : of a sqlite store, made if it is not there; None: the project's
    experiment : whose page is named

    Raises
    ------
    UserError
        Where the port is taken, the store cannot be used or the server does not start.
    """
    if uri is not None and not uri.startswith(SQLITE):
        raise UserError(f"--uri {uri}: expected sqlite:///<file>; a tracking server has pages of its own")
    _check_free(port)
    # The store is made here, under its lock, and not by the server.
    store = open_store(uri, experiment)
    address = f"http://{HOST}:{port}/{page(store)}"
    with tempfile.TemporaryFile() as log, _server(port, store.uri, log) as server:
        _wait(server, port, log)
        print(f"MLflow: {address} (Ctrl-C ends it)", flush=True)
        if code := server.wait():
            raise UserError(f"the MLflow server ended with code {code}: {_last_line(log)}")


def _check_free(port: int) -> None:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as the server does: a port just left is free
        try:
            probe.bind((HOST, port))
        except OSError as error:
            raise UserError(
                f"port {port} on {HOST} cannot be used ({error.strerror}); choose another one: --port <number>, "
                "or make ui SEMICROWD_UI_PORT=<number>"
            ) from error


@contextlib.contextmanager
def _server(port: int, uri: str, log: IO[bytes]) -> "Iterator[subprocess.Popen[bytes]]":
    """The server process, in a process group of its own that ends with the block."""
    settings = {
        "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false",
        "MLFLOW_DISABLE_TELEMETRY": "true",
        "DO_NOT_TRACK": "true",
    }
    command = [
        sys.executable, "-m", "mlflow", "server", "--backend-store-uri", uri, "--host", HOST, "--port", str(port),
        "--workers", "1",
    ]  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:  # MLflow's defaults would leave folders in the current one
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=folder, env=os.environ | settings,
            start_new_session=True,
        )  # fmt: skip
        try:
            yield process
        finally:
            _end(process)


def _end(process: "subprocess.Popen[bytes]") -> None:
    """End the whole process group, whether or not its leader is still there; a second Ctrl-C does not stop this."""
    for number in _STOP_SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGTERM)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(_STOP_SECONDS)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _wait(server: "subprocess.Popen[bytes]", port: int, log: IO[bytes]) -> None:
    """Return when the server answers."""
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    end = time.monotonic() + _START_SECONDS
    while time.monotonic() < end:
        if server.poll() is not None:
            raise UserError(f"the MLflow server did not start: {_last_line(log)}")
        with contextlib.suppress(OSError), direct.open(f"http://{HOST}:{port}/health", timeout=5) as answer:
            if answer.status == 200:
                return
        time.sleep(0.2)
    raise UserError(f"the MLflow server did not answer within {_START_SECONDS} s: {_last_line(log)}")


def _last_line(log: IO[bytes]) -> str:
    log.seek(0)
    lines = log.read().decode(errors="replace").split("\n")
    return next((line.strip() for line in reversed(lines) if line.strip()), "it said nothing")


def _port(text: str) -> int:
    if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= 65535:
        raise UserError(f"--port {text}: expected a whole number from 1 to 65535")
    return int(text)


def _interrupt(number: int, frame: FrameType | None) -> None:  # noqa: ARG001
    raise KeyboardInterrupt


@without_traceback
def main(arguments: Sequence[str] | None = None) -> int:
    """Command line; exit code 0 after Ctrl-C, 2 where the server cannot be had."""
    parser = argparse.ArgumentParser(prog="semicrowd ui", description="open the tracking UI")
    parser.add_argument("--port", default="5000", help=f"on {HOST} (default 5000)")
    parser.add_argument("--uri", help="sqlite:///<file> of the store (default: mlflow.db in the project folder)")
    parser.add_argument("--experiment", default="semicrowd", help="whose page to name (default semicrowd)")
    options = parser.parse_args(arguments)
    for number in _STOP_SIGNALS:
        signal.signal(number, _interrupt)
    with contextlib.suppress(KeyboardInterrupt):
        serve(_port(options.port), options.uri, options.experiment)
    return 0


if __name__ == "__main__":
    sys.exit(main())
