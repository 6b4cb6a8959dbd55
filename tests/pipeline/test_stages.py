"""What the stages leave behind when data can and cannot be had, and when a run fails."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.answer_files import read_csv_answers

from semicrowd.data import load_dataset
from semicrowd.errors import UserError
from semicrowd.pipeline import answers, experiment, features, fetch
from semicrowd.pipeline.configurations import write_configurations
from semicrowd.pipeline.experiments import Answers, Experiment, Job, load_plan

SETTINGS = {"data": "pinwheel", "model": "bayes", "restarts": 1, "epochs": 1, "logger": "none"}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty project folder as the current one; the code stays where it is."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "src").symlink_to(Path(__file__).parents[2] / "src")
    return tmp_path


def read_json(path: Path) -> dict[str, Any]:
    content = json.loads(path.read_text())
    assert isinstance(content, dict)
    return content


def test_fetch_notes_what_cannot_be_had_and_goes_on(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SEMICROWD_OFFLINE", "1")
    monkeypatch.setenv("SEMICROWD_MIRROR", str(project / "nowhere"))
    fetch.main([])
    status = read_json(fetch.STATUS)
    assert set(status) == {
        "mnist", "mnist_crowd", "face", "cifar10", "cifar10h", "optdigits", "wifi", "homes", "nus_animals",
        "fifteen_scenes", "letter", "pen", "leukaemia", "lung", "activities", "texts", "har", "stl10", "reuters10k",
    }  # fmt: skip
    assert not any(status.values())
    assert str(project) not in fetch.STATUS.read_text()  # it is the same on machines that lack the same
    assert "data/nus_animals" in fetch.why_missing("nus_animals")
    assert "crowd_annotations_mnist.npy" in fetch.why_missing("mnist_crowd")
    assert (project / "data" / "mnist").is_dir()  # the pipeline declares it
    assert (project / "data" / "cmu_faces").is_dir()
    # What the user brings is there from then on.
    (project / "data/fifteen_scenes/table.csv").touch()
    fetch.main([])
    assert not fetch.why_missing("fifteen_scenes")
    assert fetch.why_missing("nus_animals")


def test_answers_of_a_stage_are_those_that_the_run_would_draw(project: Path) -> None:
    two_coin = Answers("two_coin")
    wanted = Experiment("some", SETTINGS, (3,), two_coin)
    answers.make_answers(wanted, Job(3))
    path = wanted.annotation_dir(Job(3)) / "answers.csv"
    read = read_csv_answers(path, 500)
    direct = answers._draw(wanted, two_coin, Job(3))
    for name in ("i", "j", "worker", "label"):
        np.testing.assert_array_equal(getattr(read, name), getattr(direct, name))
    assert (read.num_pairs, read.num_annotators, len(read.annotated)) == (980, 20, 100)
    assert read.simulated
    np.testing.assert_array_equal(read.true_sensitivity, np.full(20, 0.9))
    other = answers._draw(wanted, two_coin, Job(4))
    assert not np.array_equal(other.i, direct.i)


def test_real_answers_that_cannot_be_had_are_replaced_and_said_so(project: Path) -> None:
    fetch.write_status({"pinwheel_crowd": "put them there"})
    instead = Answers("tasks", {"num_tasks": 7, "num_annotators": 5, "sensitivity": 0.95})
    wanted = Experiment("some", SETTINGS, (0,), Answers("crowd", {"num_tasks": 7}, instead))
    about = answers.make_answers(wanted, Job(0))
    assert about == {"kind": "tasks", "instead_of": "crowd", "because": "put them there"}
    read = read_csv_answers(wanted.annotation_dir(Job(0)) / "answers.csv", 500)
    assert read.simulated
    assert (read.num_tasks, read.num_annotators) == (7, 5)
    np.testing.assert_array_equal(read.true_sensitivity, np.full(5, 0.95))
    labels = load_dataset("pinwheel", project).labels
    assert labels is not None
    assert (read.label == (labels[read.i] == labels[read.j])).mean() > 0.7


@pytest.mark.usefixtures("project")
def test_before_anybody_has_fetched_it_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert features.main(["face_features"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert str(fetch.STATUS) in line
    with pytest.raises(UserError, match=str(fetch.STATUS)):
        experiment.run(Experiment("some", {"data": "mnist"}, (0,), needs=("mnist",)), 0)


@pytest.fixture
def sweep(project: Path) -> Experiment:
    """k-means with two seeds and two sets of answers, which are there."""
    (project / "conf").symlink_to(Path(__file__).parents[2] / "conf")
    settings = {"data": "pinwheel", "model": "kmeans", "model.K": 5, "logger": "none"}
    shared = Answers("quota", {"num_annotated": 30}, shared="set")
    wanted = Experiment("set_kmeans", settings, (0, 2), shared, sweep={"pairs_per_annotator": [20]})
    for job in wanted.jobs:
        answers.make_answers(wanted, job)
    write_configurations([wanted])
    return wanted


def test_a_sweep_runs_all_its_jobs_with_their_answers_and_goes_on_where_it_was_stopped(
    sweep: Experiment, capfd: pytest.CaptureFixture[str]
) -> None:
    assert experiment.run(sweep) == 0
    first, other = (sweep.run_dir(job) for job in sweep.jobs)
    for job in sweep.jobs:
        folder = sweep.run_dir(job)
        own = read_csv_answers(folder / "annotations.csv", 500)
        wanted = read_csv_answers(sweep.annotation_dir(job) / "answers.csv", 500)
        np.testing.assert_array_equal(own.i, wanted.i)
        assert own.num_pairs == 100
        assert "final/nmi" in read_json(folder / "metrics.json")
    # As if it had been killed in its second run.
    kept = (first / "metrics.json").stat().st_mtime_ns
    (other / "status.json").write_text('{"status": "running"}')
    capfd.readouterr()
    assert experiment.run(sweep) == 0
    assert (first / "metrics.json").stat().st_mtime_ns == kept
    assert read_json(other / "status.json")["status"] == "finished"
    # With other answers nothing of it counts.
    path = sweep.annotation_dir(sweep.jobs[0]) / "answers.csv"
    path.write_text("\n".join(path.read_text().splitlines()[:-1]) + "\n")
    assert experiment.run(sweep) == 0
    assert (first / "metrics.json").stat().st_mtime_ns != kept
    assert read_csv_answers(first / "annotations.csv", 500).num_pairs == 99


def test_a_sweep_that_cannot_start_says_why_in_every_run(sweep: Experiment) -> None:
    broken = replace(sweep, settings={**sweep.settings, "model.K": 1})
    assert experiment.run(broken) != 0
    for job in broken.jobs:
        status = read_json(broken.run_dir(job) / "status.json")
        assert status["status"] == "failed"
        assert "model.K" in status["error"]


def test_a_sweep_without_its_data_or_answers_says_so(sweep: Experiment) -> None:
    fetch.write_status({"face": "put it there"})
    assert experiment.run(replace(sweep, needs=("face",))) == 0
    states = [read_json(sweep.run_dir(job) / "status.json") for job in sweep.jobs]
    assert [(state["status"], state["error"]) for state in states] == [("unavailable", "put it there")] * 2
    (sweep.annotation_dir(sweep.jobs[0]) / "answers.csv").unlink()
    with pytest.raises(UserError, match=r"answers\.csv"):
        experiment.run(sweep)


def test_shared_answers_are_made_once_for_all_who_share_them(project: Path) -> None:
    (project / "params.yaml").write_text(
        "profile: tiny\n"
        "answers: {set: {kind: quota, num_annotated: 30}}\n"
        "groups: {all: {seeds: [0, 1], sweep: {pairs_per_annotator: [20, 40]}, experiments: [set_a, set_b]}}\n"
        "experiments: {a: {settings: {data: pinwheel, model: mcvc}}, b: {settings: {data: pinwheel, model: itml}}}\n"
    )
    write_configurations(list(load_plan().experiments.values()))
    assert answers.main(["set"]) == 0
    made = sorted(path.parent.name for path in Path("annotations").rglob("answers.csv"))
    assert made == [f"pairs_per_annotator-{number}_seed-{seed}" for number in (20, 40) for seed in (0, 1)]
    assert [path.name for path in Path("annotations").iterdir()] == ["set"]
    read = read_csv_answers(Path("annotations/set/pairs_per_annotator-40_seed-1/answers.csv"), 500)
    assert (read.num_pairs, len(read.annotated) <= 30) == (200, True)
    # One that is lost is made again, and no other; with other settings all are.
    kept, lost = (path.parent for path in sorted(Path("annotations").rglob("answers.csv"))[:2])
    (lost / "about.json").unlink()
    times = {one: (one / "answers.csv").stat().st_mtime_ns for one in (kept, lost)}
    assert answers.main([]) == 0
    assert (kept / "answers.csv").stat().st_mtime_ns == times[kept]
    assert (lost / "answers.csv").stat().st_mtime_ns != times[lost]
    Path("configurations/set/answers.yaml").write_text("other: true")
    assert answers.main([]) == 0
    assert (kept / "answers.csv").stat().st_mtime_ns != times[kept]


def test_runs_whose_process_died_say_so_and_those_that_had_ended_keep_what_they_said(sweep: Experiment) -> None:
    ended, running, absent = sweep.jobs[0], sweep.jobs[1], Job(7, sweep.jobs[0].point)
    for job, status in ((ended, "finished"), (running, "running")):
        experiment.note_all(sweep, [job], status, "")
    experiment.note_lost(sweep, [ended, running, absent], "its process died (code -9)")
    states = [read_json(sweep.run_dir(job) / "status.json") for job in (ended, running, absent)]
    assert [state["status"] for state in states] == ["finished", "failed", "failed"]
    assert states[1]["error"] == states[2]["error"] == "its process died (code -9)"


JOINED = (
    "profile: tiny\n"
    "groups: {all: {seeds: [0], sweep: {}, experiments: [[a, b, c]]}}\n"
    "experiments: {a: &any {settings: {data: pinwheel, model: kmeans, annotations: none}}, b: *any, c: *any}\n"
)


def test_an_experiment_that_fails_does_not_stop_those_of_its_task(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "params.yaml").write_text(JOINED)
    begun = list[str]()

    def run(one: Experiment, seed: int | None) -> int:
        assert seed is None
        begun.append(one.name)
        if one.name == "a":
            raise UserError("a: its answers are not there")
        return 130 if one.name == interrupted else 0

    monkeypatch.setattr(experiment, "run", run)
    interrupted = ""
    assert experiment.main(["a", "b", "c"]) == 2
    assert begun == ["a", "b", "c"]
    assert "a: its answers are not there" in capsys.readouterr().err
    interrupted = "b"
    assert experiment.main(["a", "b", "c"]) == 130
    assert begun[3:] == ["a", "b"]


def test_where_a_task_died_old_runs_of_those_not_begun_are_no_results(project: Path) -> None:
    (project / "params.yaml").write_text(JOINED)
    plan = load_plan()
    write_configurations(list(plan.experiments.values()))
    for name in ("a", "b"):
        one = plan.experiment(name)
        assert experiment._are_of_these_inputs(one, one.jobs, None) is False
        experiment.note_all(one, one.jobs, "finished", "")
    (project / "configurations" / "b" / "run.yaml").write_text("other: code")
    assert experiment.main(["a", "b", "c", "--died", "its process died"]) == 0
    states = {name: read_json(one.run_dir(one.jobs[0]) / "status.json") for name, one in plan.experiments.items()}
    assert {name: state["status"] for name, state in states.items()} == {"a": "finished", "b": "failed", "c": "failed"}


def test_a_run_depends_on_the_users_own_file_and_on_codes(project: Path) -> None:
    own = Experiment("own", SETTINGS | {"data": "table", "data.path": "data/mine.csv"}, (0,))
    coded = Experiment("coded", SETTINGS | {"data": "encoded", "data.which": "har"}, (0,))
    paths = (project / "data/mine.csv", project / "data/encoded/har/codes-100.npz")
    for one, path in zip((own, coded), paths, strict=True):
        (project / "configurations" / one.name).mkdir(parents=True)
        (project / "configurations" / one.name / "run.yaml").write_text("settings: 1\n")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("1")
        before = experiment.inputs_of(one, one.jobs)
        assert experiment.inputs_of(one, one.jobs) == before
        path.write_text("2")
        assert experiment.inputs_of(one, one.jobs) != before
