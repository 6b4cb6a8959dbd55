"""Opening a store: several processes at once, places that cannot be used, leftovers of a process that was killed."""

import subprocess
import sys
from pathlib import Path

import pytest

from semicrowd.errors import UserError
from semicrowd.tracking.store import default_uri, open_store, sqlite_uri

#: Processes that wait for each other, open a store that is not there yet, and log to it; MLflow is imported once.
RACE = """
import sys
from multiprocessing import get_context
from semicrowd.tracking.store import open_store
import mlflow
uri, count, fork = sys.argv[1], int(sys.argv[2]), get_context("fork")
gate = fork.Barrier(count)

def race(number):
    gate.wait(60)
    store = open_store(uri, "semicrowd")
    run = store.client.create_run(store.experiment_id, run_name=str(number))
    for step in range(20):
        store.client.log_metric(run.info.run_id, "value", step, step=step)
    store.client.set_terminated(run.info.run_id)

racers = [fork.Process(target=race, args=(number,)) for number in range(count)]
for racer in racers:
    racer.start()
for racer in racers:
    racer.join(120)
print([racer.exitcode for racer in racers])
for racer in racers:
    racer.kill()
"""


def test_processes_that_start_at_once_share_a_new_store(tmp_path: Path) -> None:
    uri, count = sqlite_uri(tmp_path / "store" / "mlflow.db"), 3
    done = subprocess.run([sys.executable, "-c", RACE, uri, str(count)], capture_output=True, text=True, timeout=480)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{[0] * count}\n", "")
    client = open_store(uri, "semicrowd").client
    (experiment,) = client.search_experiments()
    runs = client.search_runs([experiment.experiment_id])
    assert sorted(run.info.run_name for run in runs) == [str(n) for n in range(count)]
    for run in runs:
        assert len(client.get_metric_history(run.info.run_id, "value")) == 20
    assert sorted(path.name for path in (tmp_path / "store").iterdir()) == ["mlflow.db", "mlflow.db.lock"]


def test_a_store_that_was_never_finished_is_made_anew(tmp_path: Path) -> None:
    (tmp_path / "mlflow.db.new").write_bytes(b"half of a store")
    (tmp_path / "mlflow.db.new-journal").write_bytes(b"and its journal")
    uri = sqlite_uri(tmp_path / "mlflow.db")
    store = open_store(uri, "semicrowd")
    assert store.uri == uri
    assert [experiment.name for experiment in store.client.search_experiments()] == ["semicrowd"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mlflow.db", "mlflow.db.lock"]
    assert open_store(uri, "semicrowd").experiment_id == store.experiment_id


def test_the_default_store_is_in_the_project_folder() -> None:
    assert default_uri() == f"sqlite:///{Path(__file__).resolve().parents[2] / 'mlflow.db'}"


def test_a_relative_file_is_one_of_the_current_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert open_store("sqlite:///own.db", "semicrowd").uri == sqlite_uri(tmp_path / "own.db")
    assert (tmp_path / "own.db").exists()


@pytest.mark.parametrize("uri", ["mlruns", "file:///tmp/mlruns", "sqlite:/x.db", "databricks"])
def test_other_kinds_of_stores_are_refused(uri: str) -> None:
    with pytest.raises(UserError, match=f"logger.uri={uri}: expected sqlite:///"):
        open_store(uri, "semicrowd")


def test_a_file_of_something_else_is_named(tmp_path: Path) -> None:
    (tmp_path / "mlflow.db").write_bytes(b"not a database, but long enough to look for one" * 100)
    with pytest.raises(UserError, match=r"mlflow\.db: the tracking store cannot be used: ") as caught:
        open_store(sqlite_uri(tmp_path / "mlflow.db"), "semicrowd")
    assert "\n" not in str(caught.value)


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match="cannot be used: "):
        open_store(sqlite_uri(tmp_path / "file" / "mlflow.db"), "semicrowd")


def test_a_server_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
    with pytest.raises(UserError, match=r"http://127\.0\.0\.1:9: the tracking store cannot be used") as caught:
        open_store("http://127.0.0.1:9", "semicrowd")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("uri", ["https://ann:secret@example.org", "http://token-secret@127.0.0.1:9/mlflow"])
def test_a_password_in_the_address_is_refused_and_not_repeated(uri: str) -> None:
    with pytest.raises(UserError, match="MLFLOW_TRACKING_USERNAME and MLFLOW_TRACKING_PASSWORD") as caught:
        open_store(uri, "semicrowd")
    assert "secret" not in str(caught.value)


def test_an_experiment_may_have_any_name(uri: str, tmp_path: Path) -> None:
    name = "faces / 100% ?"
    store = open_store(uri, name)
    run = store.client.create_run(store.experiment_id)
    (tmp_path / "file.txt").write_text("content")
    store.client.log_artifact(run.info.run_id, str(tmp_path / "file.txt"))
    copy = store.client.download_artifacts(run.info.run_id, "file.txt", str(tmp_path))
    assert Path(copy).read_text() == "content"
    assert open_store(uri, name).experiment_id == store.experiment_id


def test_a_deleted_experiment_is_not_written_to(uri: str) -> None:
    store = open_store(uri, "forgotten")
    store.client.delete_experiment(store.experiment_id)
    with pytest.raises(UserError, match=r"logger\.experiment=forgotten: deleted"):
        open_store(uri, "forgotten")


def test_artifacts_of_a_store_that_has_moved_are_found_in_its_new_place(tmp_path: Path) -> None:
    before = open_store(sqlite_uri(tmp_path / "old" / "mlflow.db"), "semicrowd")
    run = before.client.create_run(before.experiment_id).info.run_id
    (tmp_path / "note.txt").write_text("kept")
    before.client.log_artifact(run, str(tmp_path / "note.txt"))
    (tmp_path / "old").rename(tmp_path / "new")
    after = open_store(sqlite_uri(tmp_path / "new" / "mlflow.db"), "semicrowd")
    assert [one.path for one in after.client.list_artifacts(run)] == ["note.txt"]
    assert Path(after.client.download_artifacts(run, "note.txt")).read_text() == "kept"
    more = after.client.create_run(after.experiment_id).info.run_id
    after.client.log_artifact(more, str(tmp_path / "note.txt"))
    assert not (tmp_path / "old").exists()


def test_a_place_of_artifacts_that_somebody_has_chosen_stays(tmp_path: Path) -> None:
    store = open_store(sqlite_uri(tmp_path / "mlflow.db"), "semicrowd")
    place = (tmp_path / "elsewhere").as_uri()
    own = store.client.create_experiment("own", artifact_location=place)
    open_store(store.uri, "own")
    assert store.client.get_experiment(own).artifact_location == place
