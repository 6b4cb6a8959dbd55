"""A run as MLflow shows it: begun, logged, ended, stopped, resumed. Read back by a client of its own."""

import math
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from mlflow import MlflowClient
from mlflow.entities import Run
from omegaconf import DictConfig

from semicrowd.errors import UserError
from semicrowd.tracking import start_run
from semicrowd.tracking.store import open_store, sqlite_uri

from .conftest import PROVENANCE, Configure

Curve = dict[int, list[float]]


@pytest.fixture
def saved(uri: str, run_dir: Path) -> Callable[[], Run]:
    """The MLflow run that the run directory names."""
    return lambda: MlflowClient(uri).get_run((run_dir / "mlflow_run_id").read_text().strip())


@pytest.fixture
def history(uri: str, run_dir: Path) -> Callable[[str], Curve]:
    """All values of a metric at every step."""

    def read(name: str) -> Curve:
        points: Curve = {}
        run_id = (run_dir / "mlflow_run_id").read_text().strip()
        for point in MlflowClient(uri).get_metric_history(run_id, name):
            points.setdefault(point.step, []).append(point.value)
        return points

    return read


def write_curves(run_dir: Path, epochs: int) -> None:
    rows = [f"{epoch},{-1.0 / epoch}" for epoch in range(1, epochs + 1)]
    (run_dir / "curves.csv").write_text("\n".join(["epoch,elbo/epoch", *rows]) + "\n")


def test_a_run_is_there_with_all_it_tells(
    configure: Configure, run_dir: Path, saved: Callable[[], Run], history: Callable[[str], Curve], uri: str
) -> None:
    figures = run_dir / "figures"
    figures.mkdir()
    (figures / "curves.png").write_bytes(b"an image")
    (run_dir / "workers.csv").write_text("annotator\n")
    with start_run(configure(), run_dir, PROVENANCE) as tracker:
        assert saved().info.status == "RUNNING"
        for epoch in (1, 2, 3):
            tracker.log_epoch(epoch, {"elbo/epoch": -1.0 / epoch, "clusters/used": 15 - epoch})
        doubts = ["one cluster has all items", "the answers say nothing"]
        tracker.finish({"train/acc": 0.96, "clusters/used": 5}, [figures, run_dir / "workers.csv"], doubts)

    run = saved()
    assert run.info.status == "FINISHED"
    assert run.info.end_time >= run.info.start_time
    assert run.info.run_name == "pinwheel bayes none seed 0"
    assert run.data.params["data"] == "pinwheel"
    assert run.data.params["model.prior.kappa"] == "0.5"
    assert run.data.params["model.hidden"] == "[40, 40]"
    assert run.data.tags["mlflow.source.git.commit"] == PROVENANCE["git_commit"]
    assert run.data.tags["git.dirty"] == "true"
    assert run.data.tags["sha256.raw/train-images"] == "ab" * 32
    assert run.data.tags["version.torch"] == "2.13.0"
    assert run.data.tags["annotations.simulated"] == "true"
    assert run.data.tags["warnings"] == "one cluster has all items; the answers say nothing"
    assert run.data.tags["mlflow.note.content"].startswith(
        "Not to be trusted as it is:\n\n- one cluster has all items\n- the answers say nothing\n"
    )
    assert run.data.metrics["train/acc"] == 0.96
    assert run.data.metrics["clusters/used"] == 5
    assert history("curve/clusters used") == {1: [14], 2: [13], 3: [12]}
    client = MlflowClient(uri)
    assert [entry.path for entry in client.list_artifacts(run.info.run_id)] == ["config.yaml", "figures", "workers.csv"]
    image = client.download_artifacts(run.info.run_id, "figures/curves.png", str(run_dir))
    assert Path(image).read_bytes() == b"an image"


def test_what_is_not_a_number_stays_so(
    configure: Configure, run_dir: Path, saved: Callable[[], Run], history: Callable[[str], Curve]
) -> None:
    with start_run(configure(), run_dir, PROVENANCE) as tracker:
        for epoch, value in enumerate((1.0, math.nan, math.inf, 2.0), start=1):
            tracker.log_epoch(epoch, {"elbo/epoch": value})
        tracker.finish({"elbo/train": -math.inf, "train/acc": 0.5}, [])
    found = [values[0] for _, values in sorted(history("curve/elbo epoch").items())]
    assert [math.isnan(value) for value in found] == [False, True, True, False]
    assert math.isnan(saved().data.metrics["elbo/train"])
    assert saved().data.metrics["train/acc"] == 0.5


@pytest.mark.parametrize(
    ("error", "status", "text"),
    [
        (ValueError("diverged\nat step 3"), "FAILED", "ValueError: diverged"),
        (KeyboardInterrupt(), "KILLED", None),
    ],
)
def test_a_run_that_stops_says_how(
    configure: Configure, run_dir: Path, saved: Callable[[], Run], history: Callable[[str], Curve],
    error: BaseException, status: str, text: str | None,
) -> None:  # fmt: skip
    def stopped() -> None:
        with start_run(configure(), run_dir, PROVENANCE) as tracker:
            for epoch in (1, 2, 3):
                tracker.log_epoch(epoch, {"elbo/epoch": -1.0 / epoch})
            raise error

    with pytest.raises(type(error)):
        stopped()
    assert saved().info.status == status
    assert saved().data.tags.get("error") == text
    assert list(history("curve/elbo epoch")) == [1, 2, 3]


def test_a_resumed_run_goes_on_in_its_mlflow_run(
    configure: Configure, run_dir: Path, saved: Callable[[], Run], history: Callable[[str], Curve]
) -> None:
    tracker = start_run(configure(), run_dir, PROVENANCE)
    tracker.log_epoch(1, {"elbo/epoch": -1.0})
    tracker.fail(ValueError("no"))
    assert saved().info.status == "FAILED"
    before = saved().info.run_id
    with start_run(configure(resume=True, trainer__devices=2), run_dir, PROVENANCE) as tracker:
        assert saved().info.status == "RUNNING"
        assert "error" not in saved().data.tags
        tracker.log_epoch(2, {"elbo/epoch": -0.5})
        tracker.finish({"train/acc": 0.9}, [])
    run = saved()
    assert run.info.run_id == before
    assert run.info.status == "FINISHED"
    assert run.data.params["trainer.devices"] == "1"  # MLflow's parameters are what a run was begun with
    assert history("curve/elbo epoch") == {1: [-1.0], 2: [-0.5]}
    assert history("train/acc") == {0: [0.9]}


def test_a_killed_run_has_each_epoch_once_when_it_is_resumed(
    configure: Configure, run_dir: Path, history: Callable[[str], Curve], saved: Callable[[], Run]
) -> None:
    tracker = start_run(configure(), run_dir, PROVENANCE)  # never ended: the process is killed
    for epoch in (1, 2, 3):
        tracker.log_epoch(epoch, {"elbo/epoch": -1.0 / epoch})
    write_curves(run_dir, epochs=3)
    assert list(history("curve/elbo epoch")) == [1]  # the rest waited to be written
    before = saved().info.run_id
    with start_run(configure(resume=True), run_dir, PROVENANCE) as tracker:
        for epoch in (3, 4):  # the checkpoint was that of epoch 2
            tracker.log_epoch(epoch, {"elbo/epoch": -1.0 / epoch})
        tracker.finish({}, [])
    assert saved().info.run_id == before
    assert history("curve/elbo epoch") == {epoch: [-1.0 / epoch] for epoch in (1, 2, 3, 4)}


def test_a_new_run_in_the_same_place_ends_the_one_that_was_killed(
    configure: Configure, run_dir: Path, saved: Callable[[], Run], uri: str
) -> None:
    start_run(configure(), run_dir, PROVENANCE)
    killed = saved().info.run_id
    with start_run(configure(), run_dir, PROVENANCE) as tracker:
        tracker.finish({}, [])
    finished = saved().info.run_id
    assert finished != killed
    assert MlflowClient(uri).get_run(killed).info.status == "KILLED"
    with start_run(configure(), run_dir, PROVENANCE) as tracker:
        tracker.finish({}, [])
    assert MlflowClient(uri).get_run(finished).info.status == "FINISHED"


@pytest.mark.parametrize("content", [b"0" * 32, b"", b"\xff\xfe ../x\n"])
def test_resuming_what_the_store_does_not_know_starts_anew_with_the_whole_curve(
    configure: Configure, run_dir: Path, history: Callable[[str], Curve], content: bytes
) -> None:
    (run_dir / "mlflow_run_id").write_bytes(content)
    write_curves(run_dir, epochs=2)
    with start_run(configure(resume=True), run_dir, PROVENANCE) as tracker:
        tracker.log_epoch(3, {"elbo/epoch": -1.0 / 3})
        tracker.finish({}, [])
    assert history("curve/elbo epoch") == {1: [-1.0], 2: [-0.5], 3: [-1.0 / 3]}


def test_trouble_with_the_store_does_not_end_a_run(
    configure: Configure, run_dir: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    database = tmp_path / "own" / "mlflow.db"
    uri = sqlite_uri(database)
    with start_run(configure(logger__uri=uri), run_dir, PROVENANCE) as tracker:
        tracker.log_epoch(1, {"elbo/epoch": -1.0})
        database.write_bytes(b"something else" * 1000)
        tracker.log_epoch(2, {"elbo/epoch": -0.5})
        tracker.finish({"train/acc": 0.9}, [run_dir / "not-there.csv"])
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1
    assert lines[0].startswith(f"note: MLflow does not get all of {run_dir}: ")


def test_epochs_the_store_refused_are_logged_when_it_takes_them_again(
    configure: Configure, run_dir: Path, history: Callable[[str], Curve], monkeypatch: pytest.MonkeyPatch
) -> None:
    with start_run(configure(), run_dir, PROVENANCE) as tracker:
        with monkeypatch.context() as patch:
            patch.setattr(MlflowClient, "log_batch", _refuse)
            tracker.log_epoch(1, {"elbo/epoch": -1.0})
        tracker.finish({}, [])
    assert history("curve/elbo epoch") == {1: [-1.0]}


def test_a_store_that_takes_no_run_is_named(
    configure: Configure, run_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(MlflowClient, "create_run", _refuse)
    with pytest.raises(UserError, match="the tracking store cannot be used: No space left on device"):
        start_run(configure(), run_dir, PROVENANCE)
    assert not (run_dir / "mlflow_run_id").exists()


def _refuse(*arguments: object, **options: object) -> None:
    raise OSError("No space left on device")


def test_without_a_logger_nothing_happens(configure: Configure, run_dir: Path) -> None:
    cfg: DictConfig = configure(logger={"name": "none"})
    with start_run(cfg, run_dir, PROVENANCE) as tracker:
        tracker.log_epoch(1, {"elbo/epoch": -1.0})
        tracker.finish({"train/acc": 0.9}, [])
        tracker.fail(ValueError("no"))
    assert [path.name for path in run_dir.iterdir()] == ["config.yaml"]


def test_mlflow_is_imported_only_when_it_is_needed() -> None:
    code = "import sys, semicrowd.tracking, semicrowd.tracking.ui; sys.exit('mlflow' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], timeout=60, check=False).returncode == 0


def test_many_epochs_cost_little(configure: Configure, run_dir: Path, history: Callable[[str], Curve]) -> None:
    with start_run(configure(), run_dir, PROVENANCE) as tracker:
        for epoch in range(1, 1201):
            tracker.log_epoch(epoch, {"elbo/epoch": -1.0 / epoch, "clusters/used": 5})
        tracker.finish({}, [])
    assert history("curve/elbo epoch") == {epoch: [-1.0 / epoch] for epoch in range(1, 1201)}


def test_the_experiment_can_be_chosen(configure: Configure, run_dir: Path, saved: Callable[[], Run], uri: str) -> None:
    with start_run(configure(logger__experiment="another"), run_dir, PROVENANCE) as tracker:
        tracker.finish({}, [])
    assert saved().info.experiment_id == open_store(uri, "another").experiment_id
    assert saved().info.experiment_id != open_store(uri, "semicrowd").experiment_id
