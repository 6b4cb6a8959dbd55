"""``python -m semicrowd.tracking.ui``: what it refuses, and a server from its start to its end."""

import json
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from semicrowd.tracking.store import open_store, sqlite_uri
from semicrowd.tracking.ui import page


def test_the_page_names_a_view_that_the_experiment_has(uri: str) -> None:
    store = open_store(uri, "viewed")
    address = page(store)
    assert address.startswith(f"#/experiments/{store.experiment_id}/runs?")
    key = address.rpartition("viewStateShareKey=")[2]
    tags = store.client.get_experiment(store.experiment_id).tags
    view = json.loads(tags[f"mlflow.sharedViewState.{key}"])
    assert {"params.`seed`", "metrics.`train/acc`"} <= set(json.loads(view["state"])["selectedColumns"])


def test_a_view_that_was_changed_stays(uri: str) -> None:
    store = open_store(uri, "viewed")
    key = page(store).rpartition("viewStateShareKey=")[2]
    store.client.set_experiment_tag(store.experiment_id, f"mlflow.sharedViewState.{key}", "mine")
    page(store)
    assert store.client.get_experiment(store.experiment_id).tags[f"mlflow.sharedViewState.{key}"] == "mine"


def test_scores_by_labels_have_columns_where_a_run_has_labels(uri: str) -> None:
    store = open_store(uri, "own data")

    def columns() -> list[str]:
        key = page(store).rpartition("viewStateShareKey=")[2]
        tag = store.client.get_experiment(store.experiment_id).tags[f"mlflow.sharedViewState.{key}"]
        return list(json.loads(json.loads(tag)["state"])["selectedColumns"])

    run = store.client.create_run(store.experiment_id)
    store.client.log_metric(run.info.run_id, "clusters/used", 3)
    assert not any("acc" in column or "nmi" in column for column in columns())
    assert "metrics.`clusters/used`" in columns()
    store.client.log_metric(run.info.run_id, "train/acc", 0.9)
    assert "metrics.`train/acc`" in columns()


COMMAND = [sys.executable, "-m", "semicrowd.tracking.ui"]


def refusal(*arguments: str) -> str:
    """The one line of a command that must exit with 2."""
    done = subprocess.run([*COMMAND, *arguments], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2
    assert done.stdout == ""
    (line,) = done.stderr.splitlines()
    return line


@pytest.fixture
def listener() -> Iterator[int]:
    """A port that something listens on."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        yield taken.getsockname()[1]


def test_a_port_that_is_taken_is_named(listener: int, tmp_path: Path) -> None:
    uri = sqlite_uri(tmp_path / "mlflow.db")
    line = refusal("--port", str(listener), "--uri", uri)
    assert line.startswith(f"error: port {listener} on 127.0.0.1 cannot be used (Address already in use)")
    assert "--port" in line
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("port", ["0", "65536", "-1", "http", "5000.0", "²", ""])
def test_ports_are_numbers(port: str) -> None:
    assert refusal(f"--port={port}") == f"error: --port {port}: expected a whole number from 1 to 65535"


def test_only_a_file_can_be_served() -> None:
    assert refusal("--uri", "https://example.org").startswith("error: --uri https://example.org: expected sqlite:///")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
        assert isinstance(port, int)
        return port


def get(url: str, **headers: str) -> int:
    """Status of an answer."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(urllib.request.Request(url, headers=headers), timeout=10) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        return error.code


def group_is_gone(leader: int, seconds: float) -> bool:
    """Whether no process of a session is left, after some time at most."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        sessions = []
        for entry in Path("/proc").glob("[0-9]*/stat"):
            try:
                state, _, _, session = entry.read_text().rpartition(")")[2].split()[:4]
            except OSError:
                continue
            sessions += [int(session)] if state != "Z" else []
        if leader not in sessions:
            return True
        time.sleep(0.1)
    return False


def children(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


@pytest.mark.parametrize(
    "number",
    [
        signal.SIGINT,
        pytest.param(signal.SIGTERM, marks=pytest.mark.slow),
        pytest.param(signal.SIGHUP, marks=pytest.mark.slow),
    ],
)
def test_a_server_for_this_machine_until_it_is_stopped(number: signal.Signals, tmp_path: Path) -> None:
    port = free_port()
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    command = [*COMMAND, "--port", str(port), "--uri", sqlite_uri(tmp_path / "mlflow.db")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=folder) as ui:
        try:
            assert ui.stdout is not None
            line = ui.stdout.readline().strip()
            assert line.startswith(f"MLflow: http://127.0.0.1:{port}/#/experiments/1/runs?")
            assert get(f"http://127.0.0.1:{port}/") == 200
            found = f"http://127.0.0.1:{port}/api/2.0/mlflow/experiments/get?experiment_id=1"
            assert get(found) == 200
            assert get(found, Host="evil.example") == 403
            with pytest.raises(OSError, match="refused"):
                socket.create_connection(("127.0.0.2", port), timeout=5).close()
            (server,) = children(ui.pid)
            ui.send_signal(number)
            output, errors = ui.communicate(timeout=30)
        finally:
            ui.terminate()  # the server goes with it, which it would not after a kill
    assert (ui.returncode, output, errors) == (0, "", "")
    assert group_is_gone(server, seconds=5)
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        probe.bind(("127.0.0.1", port))
    assert list(folder.iterdir()) == []
