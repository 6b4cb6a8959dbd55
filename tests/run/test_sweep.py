"""Sweeps through the command line."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from hydra.core.override_parser.overrides_parser import OverridesParser

from semicrowd.errors import UserError
from semicrowd.run.composition import composed
from semicrowd.run.job import JobCall
from semicrowd.run.sweep import Sweep, combinations

from .conftest import Command, rows_of


def combine(*arguments: str) -> list[tuple[str, ...]]:
    return [job.overrides for job in combinations(OverridesParser.create().parse_overrides(list(arguments)))]


def test_every_combination_once_the_last_argument_fastest() -> None:
    jobs = combinations(OverridesParser.create().parse_overrides(["model=scdc,bayes", "epochs=5", "seed=0,1"]))
    assert [job.overrides for job in jobs] == [
        (f"model={model}", "epochs=5", f"seed={seed}") for model in ("scdc", "bayes") for seed in (0, 1)
    ]
    assert [job.number for job in jobs] == [0, 1, 2, 3]
    assert [job.folder for job in jobs][:2] == ["model-scdc_seed-0", "model-scdc_seed-1"]
    # Jobs that differ in how they run alone have folders of their own, though such an argument names none else.
    jobs = combinations(OverridesParser.create().parse_overrides(["trainer=cpu,ddp", "logger=none,mlflow"]))
    assert len({job.folder for job in jobs}) == 4
    assert jobs[0].folder == "trainer-cpu_logger-none"
    assert combine("seed=1,1,2") == [("seed=1",), ("seed=2",)]
    assert combine("seed=range(0,3)") == [("seed=0",), ("seed=1",), ("seed=2",)]
    with pytest.raises(UserError, match="expected a list of values"):
        combine("seed=interval(0,3)")


def test_jobs_that_could_not_be_started_are_failed_ones_of_the_table(tmp_path: Path) -> None:
    """As where one job of a cluster's array is cancelled before it begins."""
    given = composed(["logger=none"])
    jobs = combinations(OverridesParser.create().parse_overrides(["seed=0,1"]))

    def launch(_: Sequence[JobCall]) -> None:
        report = tmp_path / ".jobs" / "seed-0.json"
        report.write_text(json.dumps(json.loads(report.read_text()) | {"status": "finished", "metrics": {}}))
        raise RuntimeError("job 17_1 was cancelled\nmore lines")

    with pytest.raises(SystemExit, match="1"):
        Sweep(jobs, dict.fromkeys(jobs, given), {}, tmp_path, launch).run()
    rows = rows_of(tmp_path / "jobs.csv")
    assert [row["status"] for row in rows] == ["finished", "failed"]
    assert rows[1]["error"] == "it could not be started: job 17_1 was cancelled"


def test_jobs_that_had_not_begun_when_a_worker_died_are_run(tmp_path: Path) -> None:
    given = composed(["logger=none"])
    jobs = combinations(OverridesParser.create().parse_overrides(["seed=0,1,2,3"]))
    launched = []

    def launch(calls: Sequence[JobCall]) -> None:
        """Two at a time; the first time their processes die."""
        names = [call.name for call in calls]
        launched.append(names)
        dies = len(launched) == 1
        for name in names[: 2 if dies else None]:
            report = tmp_path / ".jobs" / f"{name}.json"
            ended = {"status": "running"} if dies else {"status": "finished", "metrics": {"train/acc": 1.0}}
            report.write_text(json.dumps(json.loads(report.read_text()) | ended))
        if dies:
            raise RuntimeError("a worker died")

    with pytest.raises(SystemExit, match="1"):
        Sweep(jobs, dict.fromkeys(jobs, given), {}, tmp_path, launch).run()
    assert launched == [["seed-0", "seed-1", "seed-2", "seed-3"], ["seed-2", "seed-3"]]
    assert [job["status"] for job in rows_of(tmp_path / "jobs.csv")] == ["failed", "failed", "finished", "finished"]
    assert "process died (RuntimeError)" in rows_of(tmp_path / "jobs.csv")[0]["error"]


@pytest.mark.usefixtures("table")
@pytest.mark.parametrize(
    "launcher",
    [[], ["hydra/launcher=joblib", "hydra.launcher.n_jobs=2"],
     pytest.param(["hydra/launcher=joblib", "hydra.launcher.n_jobs=1"], marks=pytest.mark.slow)],
    ids=["serial", "joblib", "joblib-alone"],
)
def test_a_job_that_fails_leaves_the_others_alone(train: Command, tmp_path: Path, launcher: list[str]) -> None:
    done = train("-m", "data=table", "data.path=items.csv,nowhere.csv", "model=kmeans,kmaens", "model.K=2",
                 "seed=0-1", *launcher)  # fmt: skip
    assert done.returncode == 1, done.stderr
    sweep = tmp_path / "multirun" / (
        "items.csv+nowhere.csv_model-kmeans+kmaens_model.K-2_seed-0-1"
    )
    jobs = rows_of(sweep / "jobs.csv")
    assert [job["arguments"] for job in jobs] == [
        f"data.path={path} model={model} seed={seed}"
        for path in ("items.csv", "nowhere.csv") for model in ("kmeans", "kmaens") for seed in (0, 1)
    ]  # fmt: skip
    assert [job["status"] for job in jobs] == ["finished"] * 2 + ["failed"] * 6
    assert "kmeans" in jobs[2]["error"]
    assert "nowhere.csv" in jobs[4]["error"]
    # Only jobs that ran have a folder, with the same result as alone.
    folders = sorted(p.name for p in sweep.iterdir() if p.is_dir())
    assert folders == [f"items.csv_model-kmeans_seed-{seed}" for seed in (0, 1)]
    assert "Traceback" not in done.stderr
    assert "8 jobs in" in done.stdout
    for job in jobs:
        assert job["arguments"] in done.stdout
    alone = train("data=table", "data.path=items.csv", "model=kmeans", "model.K=2", "seed=1", "hydra.run.dir=alone")
    assert alone.returncode == 0
    own = sweep / folders[1] / "assignments.csv"
    assert own.read_bytes() == (tmp_path / "alone" / "assignments.csv").read_bytes()


@pytest.mark.usefixtures("table")
def test_a_sweep_is_named_by_the_user_and_resumed(train: Command, tmp_path: Path) -> None:
    command = ["-m", "data=table", "data.path=items.csv", "model=scdc", "model.K=2", "epochs=1", "seed=0-1",
               "start.teach_epochs=5", "hydra.run.dir=mine"]  # fmt: skip
    assert train(*command).returncode == 0
    status = tmp_path / "mine" / "seed-1" / "status.json"
    before = status.read_bytes()
    assert json.loads(before)["status"] == "finished"
    again = train(*command, "resume=true")
    assert again.returncode == 0
    assert again.stderr.count("finished before") == 2
    assert status.read_bytes() == before
    assert [job["train/acc"] for job in rows_of(tmp_path / "mine" / "jobs.csv")] != ["", ""]


def test_another_launcher_is_refused(train: Command, tmp_path: Path) -> None:
    done = train("-m", "seed=0-1", "hydra/launcher=nowhere")
    assert done.returncode == 2
    assert "hydra/launcher/nowhere" in done.stderr
    assert not list(tmp_path.iterdir())


def test_a_sweep_whose_every_job_is_a_mistake_runs_nothing(train: Command, tmp_path: Path) -> None:
    done = train("-m", "model.k=2,3", "seed=0-2")
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert "model.k" in line
    assert not list(tmp_path.iterdir())
