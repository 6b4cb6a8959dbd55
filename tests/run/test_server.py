"""A tracking server that several machines share: MLflow's own, on this machine; one that asks for a password."""

import base64
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from joblib.externals.loky import get_reusable_executor

from semicrowd.tracking.store import open_store

from .conftest import Command

#: A run of a second, with figures off.
RUN = ("data=table", "data.path=items.csv", "model=kmeans", "model.K=2", "logger=mlflow")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture
def server(tmp_path: Path) -> Iterator[tuple[str, "subprocess.Popen[bytes]"]]:
    """The address of a server as docs/CLUSTER.md starts it, and its process."""
    folder = tmp_path / "server"
    folder.mkdir()
    port = free_port()
    address = f"http://127.0.0.1:{port}"
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "mlflow", "server", "--backend-store-uri", f"sqlite:///{folder / 'mlflow.db'}",
             "--artifacts-destination", str(folder / "artifacts"), "--host", "127.0.0.1", "--port", str(port),
             "--workers", "1"],
            env=os.environ | {"MLFLOW_DISABLE_TELEMETRY": "true", "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false"},
            stdout=log, stderr=log, start_new_session=True,
        )  # fmt: skip
    deadline = time.monotonic() + 240
    try:
        while time.monotonic() < deadline:
            assert process.poll() is None, (folder / "log").read_text()
            try:
                with urllib.request.urlopen(f"{address}/health", timeout=5):
                    break
            except OSError:
                time.sleep(0.2)
        yield address, process
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


@pytest.mark.slow
@pytest.mark.usefixtures("table")
def test_runs_go_to_a_server_and_where_it_has_gone_nothing_is_begun(
    train: Command, tmp_path: Path, server: tuple[str, "subprocess.Popen[bytes]"]
) -> None:
    address, process = server
    secret = {"MLFLOW_TRACKING_USERNAME": "ann", "MLFLOW_TRACKING_PASSWORD": "hush-hush"}
    done = train("-m", *RUN, "seed=0-1", f"logger.uri={address}", "hydra.run.dir=sweep", "hydra/launcher=joblib",
                 "hydra.launcher.n_jobs=2", **secret)  # fmt: skip
    get_reusable_executor().shutdown()  # its processes stand in this test's folder
    assert done.returncode == 0, done.stderr
    assert not done.stderr
    store = open_store(address, "semicrowd")
    runs = store.client.search_runs([store.experiment_id])
    assert {run.info.status for run in runs} == {"FINISHED"}
    jobs = [run for run in runs if "mlflow.parentRunId" in run.data.tags]
    assert (len(runs), len(jobs)) == (3, 2)
    kept = {file.path for file in store.client.list_artifacts(jobs[0].info.run_id)}
    assert {"assignments.csv", "config.yaml", "provenance.json"} <= kept
    assert list((tmp_path / "server" / "artifacts").rglob("assignments.csv"))
    # Neither the server nor the runs' folders are told the password.
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert files
    assert not [path for path in files if b"hush-hush" in path.read_bytes()]
    assert "hush-hush" not in done.stdout

    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    done = train(*RUN, f"logger.uri={address}", "hydra.run.dir=late", MLFLOW_HTTP_REQUEST_MAX_RETRIES="0")
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"error: {address}: ")
    assert not (tmp_path / "late").exists()
    done = train("-m", *RUN, "seed=0-1", f"logger.uri={address}", "hydra.run.dir=late",
                 MLFLOW_HTTP_REQUEST_MAX_RETRIES="0")  # fmt: skip
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert not (tmp_path / "late").exists()


class _AsksForAPassword(BaseHTTPRequestHandler):
    """Answers nobody; ``server.heard`` has what it was told."""

    def do_GET(self) -> None:
        self.server.heard.append(self.headers.get("Authorization"))  # type: ignore[attr-defined]
        body = json.dumps({"error_code": "PERMISSION_DENIED", "message": "You are not authenticated"}).encode()
        self.send_response(401)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@pytest.mark.usefixtures("table")
def test_a_server_that_refuses_a_password_is_one_line_and_the_password_in_none(train: Command, tmp_path: Path) -> None:
    with HTTPServer(("127.0.0.1", 0), _AsksForAPassword) as stub:
        stub.heard = []  # type: ignore[attr-defined]
        threading.Thread(target=stub.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{stub.server_port}"
        done = train(*RUN, f"logger.uri={address}", "hydra.run.dir=run", MLFLOW_TRACKING_USERNAME="ann",
                     MLFLOW_TRACKING_PASSWORD="hush-hush")  # fmt: skip
        stub.shutdown()
        sent = "Basic " + base64.b64encode(b"ann:hush-hush").decode()
        assert stub.heard[0] == sent  # type: ignore[attr-defined]
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"error: {address}: ")
    assert "hush-hush" not in done.stderr + done.stdout
    assert not (tmp_path / "run").exists()
