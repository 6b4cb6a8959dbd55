"""Runs and sweeps as MLflow has them, read back by a client of its own; stores; the server of MLflow's pages."""

import math
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from mlflow import MlflowClient
from mlflow.entities import Run

from semicrowd.errors import UserError
from semicrowd.settings.training import LoggerSettings
from semicrowd.tracking import open_sweep, start_run
from semicrowd.tracking.store import open_store, sqlite_uri

PROVENANCE = {
    "git_commit": "c0ffee" + "0" * 34,
    "git_dirty": True,
    "command": "python src/train.py seed=0",
    "data_hashes": {"raw/train-images": "ab" * 32},
    "versions": {"torch": "2.13.0"},
    "annotations": {"source": "tasks (simulated)", "simulated": True},
}
Saved = Callable[..., Run]


@pytest.fixture(scope="module")
def uri(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A store that the tests share: making one takes seconds. Its path needs quoting."""
    uri = sqlite_uri(tmp_path_factory.mktemp("a store 100%") / "mlflow.db")
    open_store(uri, "semicrowd")
    return uri


@pytest.fixture
def saved(uri: str, tmp_path: Path) -> Saved:
    """The MLflow run of a folder."""
    return lambda folder=tmp_path: MlflowClient(uri).get_run((folder / "mlflow_run_id").read_text().strip())


def settings(uri: str, **changes: Any) -> dict[str, Any]:
    return {
        "data": {"name": "pinwheel"}, "model": {"name": "bayes", "hidden": [40, 40]}, "annotations": {"name": "none"},
        "logger": {"name": "mlflow", "uri": uri, "experiment": "semicrowd"}, "seed": 0, "resume": False, **changes,
    }  # fmt: skip


def history(uri: str, run: Run, metric: str) -> dict[int, float]:
    return {point.step: point.value for point in MlflowClient(uri).get_metric_history(run.info.run_id, metric)}


def test_a_run_is_there_with_all_it_tells(tmp_path: Path, saved: Saved, uri: str) -> None:
    (tmp_path / "figures").mkdir()
    (tmp_path / "figures" / "curves.png").write_bytes(b"an image")
    for name in ("workers.csv", "config.yaml"):
        (tmp_path / name).write_text("annotator\n")
    with start_run(settings(uri), tmp_path, PROVENANCE) as tracker:
        assert saved().info.status == "RUNNING"
        for epoch, value in enumerate((-1.0, math.nan, math.inf, 2.0), start=1):
            tracker.log_epoch(epoch, {"elbo/epoch": value, "clusters/used": 15 - epoch})
        doubts = ["one cluster has all items", "the answers say nothing"]
        tracker.finish({"train/acc": 0.96, "clusters/used": 5}, [tmp_path / "figures", tmp_path / "workers.csv"],
                       doubts, {"ann": 0.5})  # fmt: skip
    run = saved()
    assert run.info.status == "FINISHED"
    assert run.info.run_name == "pinwheel bayes none seed 0"
    assert run.data.params == {"data": "pinwheel", "model": "bayes", "model.hidden": "[40, 40]", "annotations": "none",
                               "seed": "0"}  # fmt: skip
    assert run.data.tags["mlflow.source.git.commit"] == PROVENANCE["git_commit"]
    assert run.data.tags["sha256.raw/train-images"] == "ab" * 32
    assert run.data.tags["version.torch"] == "2.13.0"
    assert run.data.tags["warnings"] == "; ".join(doubts)
    assert (run.data.metrics["train/acc"], run.data.metrics["annotator weight/ann"]) == (0.96, 0.5)
    assert history(uri, run, "curve/clusters used") == {1: 14, 2: 13, 3: 12, 4: 11}
    elbo = [value for _, value in sorted(history(uri, run, "curve/elbo epoch").items())]
    assert [math.isnan(value) for value in elbo] == [False, True, True, False]
    paths = [entry.path for entry in MlflowClient(uri).list_artifacts(run.info.run_id)]
    assert paths == ["config.yaml", "figures", "workers.csv"]


@pytest.mark.parametrize(
    ("error", "status", "text"),
    [(ValueError("diverged\nat step 3"), "FAILED", "ValueError: diverged"), (KeyboardInterrupt(), "KILLED", None)],
)
def test_a_run_that_stops_says_how_and_goes_on(
    tmp_path: Path, saved: Saved, uri: str, error: BaseException, status: str, text: str | None
) -> None:
    def stopped() -> None:
        with start_run(settings(uri), tmp_path, PROVENANCE) as tracker:
            for epoch in (1, 2):
                tracker.log_epoch(epoch, {"elbo/epoch": -1.0 / epoch})
            raise error

    with pytest.raises(type(error)):
        stopped()
    before = saved()
    assert before.info.status == status
    assert before.data.tags.get("error") == text
    with start_run(settings(uri, resume=True, epochs=9), tmp_path, PROVENANCE) as tracker:
        assert saved().info.status == "RUNNING"
        tracker.log_epoch(3, {"elbo/epoch": 0.0})
        tracker.finish({"train/acc": 0.9}, [])
    after = saved()
    assert (after.info.run_id, after.info.status) == (before.info.run_id, "FINISHED")
    assert not after.data.tags.get("error")
    assert history(uri, after, "curve/elbo epoch") == {1: -1.0, 2: -0.5, 3: 0.0}


@pytest.mark.parametrize("content", [b"0" * 32, b"", b"\xff\xfe ../x\n"])
def test_resuming_what_the_store_does_not_know_starts_anew(
    tmp_path: Path, saved: Saved, uri: str, content: bytes
) -> None:
    (tmp_path / "mlflow_run_id").write_bytes(content)
    start_run(settings(uri, resume=True), tmp_path, PROVENANCE).end()
    assert saved().info.status == "FINISHED"


def test_trouble_with_the_store_is_one_note(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    database = tmp_path / "own" / "mlflow.db"
    with start_run(settings(sqlite_uri(database)), tmp_path, PROVENANCE) as tracker:
        database.write_bytes(b"something else" * 1000)
        tracker.log_epoch(2, {"elbo/epoch": -0.5})
        tracker.finish({"train/acc": 0.9}, [tmp_path / "not-there.csv"])
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("note: ")
    assert str(tmp_path) in line


def test_without_a_logger_nothing_happens(tmp_path: Path) -> None:
    with start_run(settings("", logger={"name": "none"}), tmp_path, PROVENANCE) as tracker:
        tracker.log_epoch(1, {"elbo/epoch": -1.0})
        tracker.finish({"train/acc": 0.9}, [tmp_path])
    with open_sweep(settings("", logger={"name": "none"}), tmp_path, {}) as sweep:
        sweep.keep(tmp_path / "jobs.csv")
    assert list(tmp_path.iterdir()) == []
    code = "import sys, semicrowd.tracking, semicrowd.tracking.ui; sys.exit('mlflow' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], timeout=60, check=False).returncode == 0


@pytest.mark.parametrize("failed", [0, 2])
def test_jobs_are_children_of_their_sweep(tmp_path: Path, saved: Saved, uri: str, failed: int) -> None:
    job, sweep_dir, alone = tmp_path / "sweep" / "seed-0", tmp_path / "sweep", tmp_path / "alone"
    job.mkdir(parents=True)
    alone.mkdir()
    (sweep_dir / "jobs.csv").write_text("job\n")
    with open_sweep(settings(uri), sweep_dir, {"command": "python src/train.py -m seed=0-1"}) as sweep:
        start_run(settings(uri), job, PROVENANCE).finish({}, [])
        sweep.keep(sweep_dir / "jobs.csv")
        sweep.end(f"{failed} jobs failed" if failed else None)
    start_run(settings(uri), alone, PROVENANCE).finish({}, [])
    parent = saved(sweep_dir)
    assert parent.info.status == ("FAILED" if failed else "FINISHED")
    assert parent.info.run_name == "sweep sweep"
    assert parent.data.tags["mlflow.source.name"] == "python src/train.py -m seed=0-1"
    assert [entry.path for entry in MlflowClient(uri).list_artifacts(parent.info.run_id)] == ["jobs.csv"]
    assert saved(job).data.tags["mlflow.parentRunId"] == parent.info.run_id
    assert "mlflow.parentRunId" not in saved(alone).data.tags


#: Processes that wait for each other, open a store that is not there yet, and log to it; MLflow is imported once.
RACE = """
import sys
from multiprocessing import get_context
from semicrowd.tracking.store import open_store
import mlflow
uri, fork = sys.argv[1], get_context("fork")
gate = fork.Barrier(3)

def race(number):
    gate.wait(60)
    store = open_store(uri, "semicrowd")
    run = store.client.create_run(store.experiment_id, run_name=str(number))
    for step in range(20):
        store.client.log_metric(run.info.run_id, "value", step, step=step)

racers = [fork.Process(target=race, args=(number,)) for number in range(3)]
for racer in racers:
    racer.start()
for racer in racers:
    racer.join(120)
print([racer.exitcode for racer in racers])
"""


def test_processes_that_start_at_once_share_a_new_store(tmp_path: Path) -> None:
    uri = sqlite_uri(tmp_path / "store" / "mlflow.db")
    done = subprocess.run([sys.executable, "-c", RACE, uri], capture_output=True, text=True, timeout=480)
    assert (done.returncode, done.stdout, done.stderr) == (0, "[0, 0, 0]\n", "")
    client = open_store(uri, "semicrowd").client
    (experiment,) = client.search_experiments()
    runs = client.search_runs([experiment.experiment_id])
    assert sorted(len(client.get_metric_history(run.info.run_id, "value")) for run in runs) == [20] * 3
    assert [path.name for path in (tmp_path / "store").iterdir()] == ["mlflow.db"]


def test_mlflows_own_variables_name_store_and_experiment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    assert open_store(None, None).uri == sqlite_uri(tmp_path / "mlflow.db")
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "sqlite:///named.db")
    monkeypatch.setenv("MLFLOW_EXPERIMENT_NAME", "faces / 100% ?")
    store = open_store(None, None)
    assert store.uri == sqlite_uri(tmp_path / "named.db")
    assert store.client.get_experiment(store.experiment_id).name == "faces / 100% ?"
    store.client.delete_experiment(store.experiment_id)
    with pytest.raises(UserError, match=r"logger\.experiment"):
        open_store(None, None)
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "http://ann:secret@127.0.0.1:9")  # MLflow's own place for a password
    with pytest.raises(UserError, match=r"http://…@127\.0\.0\.1:9") as caught:
        open_store(None, None)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("uri", ["https://ann:secret@example.org", "postgresql://token-secret@127.0.0.1/mlflow"])
def test_a_password_is_no_part_of_a_setting(uri: str) -> None:
    with pytest.raises(UserError, match=r"logger\.uri") as caught:
        LoggerSettings(uri=uri)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("uri", ["ftp://nowhere", "sqlite:////proc/no/x.db", "sqlite:///text.db", "sqlite:///file/x.db"])
def test_a_store_that_cannot_be_used_is_named_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, uri: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").touch()
    (tmp_path / "text.db").write_bytes(b"not a database, but long enough to look for one" * 100)
    with pytest.raises(UserError, match=uri.rpartition("/")[2]) as caught:
        open_store(uri, "semicrowd")
    assert "\n" not in str(caught.value)


COMMAND = [sys.executable, "-m", "semicrowd.tracking.ui"]


@pytest.mark.parametrize("arguments", ["--port=65536", "--port=http", "--uri=https://ann@example.org"])
def test_what_cannot_be_served_is_one_line(arguments: str) -> None:
    done = subprocess.run([*COMMAND, arguments], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert arguments.partition("=")[0] in done.stderr


def test_a_server_for_this_machine_until_it_is_stopped(tmp_path: Path) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    (tmp_path / "elsewhere").mkdir()
    command = [*COMMAND, "--port", str(port), "--uri", sqlite_uri(tmp_path / "mlflow.db")]
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    address = f"http://127.0.0.1:{port}/api/2.0/mlflow/experiments/get?experiment_id=1"
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                          cwd=tmp_path / "elsewhere", start_new_session=True) as ui:  # fmt: skip
        try:
            assert ui.stdout is not None
            assert f"http://127.0.0.1:{port}/#/experiments/1/runs?" in ui.stdout.readline()
            end = time.monotonic() + 120
            while True:
                try:
                    direct.open(address, timeout=5).close()
                    break
                except OSError:
                    assert time.monotonic() < end
                    time.sleep(0.2)
            with pytest.raises(urllib.error.HTTPError, match="403"):
                direct.open(urllib.request.Request(address, headers={"Host": "evil.example"}), timeout=5)
            with pytest.raises(OSError, match="refused"):
                socket.create_connection(("127.0.0.2", port), timeout=5).close()
        finally:
            os.killpg(ui.pid, signal.SIGINT)  # Ctrl-C
            ui.communicate(timeout=30)
    assert list((tmp_path / "elsewhere").iterdir()) == []
