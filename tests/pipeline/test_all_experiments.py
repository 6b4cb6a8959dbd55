"""The stage that runs every experiment: in which order, how many at once, what happens when one fails or dies."""

import json
import os
import threading
import time
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from semicrowd.pipeline import all_experiments
from semicrowd.pipeline.all_experiments import Schedule, Task, Worker, expected_seconds, keep_seconds, tasks_of, urgency
from semicrowd.pipeline.experiments import load_plan, profile_path
from semicrowd.pipeline.reproduce import reproduce

ROOT = Path(__file__).parents[2]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty project, whose tasks are modules of its own."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


class Scripted:
    """In the place of workers: tasks that take as long as they say, their order, and how many ran at once."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, seconds: dict[str, float], codes: dict[str, int]) -> None:
        self.begun: list[str] = []
        self.most = 0
        running, lock = set[str](), threading.Lock()

        def run(_: Worker, task: Task) -> tuple[int, float]:
            with lock:
                self.begun.append(task.name)
                running.add(task.name)
                self.most = max(self.most, len(running))
            time.sleep(seconds[task.name] / 20)
            with lock:
                running.remove(task.name)
            return codes.get(task.name, 0), seconds[task.name]

        monkeypatch.setattr(Worker, "run", run)


SECONDS = {"code": 3.0, "codes_of": 4.0, "long": 6.0, "short": 1.0, "other": 2.0}
TASKS = [Task("code", ()), Task("codes_of", (), ("code",)), *(Task(name, ()) for name in ("short", "other", "long"))]


def test_the_longest_way_to_the_end_goes_first_and_what_it_waits_for_before_it(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert urgency(TASKS, SECONDS) == {**SECONDS, "code": 7.0}
    keep_seconds(SECONDS)
    assert expected_seconds([*TASKS, Task("new", ())]) == {**SECONDS, "new": all_experiments._UNKNOWN}
    ran, said = Scripted(monkeypatch, SECONDS, {}), StringIO()
    assert Schedule(TASKS, 2, Console(file=said)).run()
    assert ran.begun == ["code", "long", "codes_of", "other", "short"]
    assert ran.most == 2
    lines = said.getvalue().splitlines()
    assert lines[0].startswith("[1/5] code: done, 3 s of a core; some 0 min left")
    assert len(lines) == 5


def test_what_fails_stops_what_reads_it_and_nothing_else(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ran, said = Scripted(monkeypatch, SECONDS, {"code": 2}), StringIO()
    log = Path(str(TASKS[0].command["log"]))
    log.parent.mkdir(parents=True)
    log.write_text("error: no room\n\n")
    schedule = Schedule(TASKS, 1, Console(file=said))
    assert not schedule.run()
    assert sorted(ran.begun) == ["code", "long", "other", "short"]
    assert schedule.failed == ["code", "codes_of"]
    assert "code: failed (code 2): no room, 3 s of a core" in said.getvalue()
    assert "codes_of: not run, since code failed" in said.getvalue()
    assert "code" not in json.loads(all_experiments.HERE.read_text())
    assert "error: not run, since code failed" in Path(str(TASKS[1].command["log"])).read_text()


def test_ctrl_c_of_a_task_ends_all(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Scripted(monkeypatch, SECONDS, {"long": 130})
    with pytest.raises(KeyboardInterrupt):
        Schedule(TASKS, 2, Console(file=StringIO())).run()


def own_task(folder: Path, name: str, body: str) -> Task:
    """A task whose module is a file of the folder."""
    (folder / f"own_{name}.py").write_text(f"import os, sys\ndef main(arguments):\n    {body}\n")

    class Own(Task):
        @property
        def command(self) -> dict[str, object]:
            return {**super().command, "module": f"own_{name}"}

    return Own(name, ("a", "b"))


def test_a_worker_runs_task_after_task_and_keeps_what_they_say(folder: Path) -> None:
    worker = Worker({**os.environ, "PYTHONPATH": f"{folder}{os.pathsep}{ROOT / 'src'}"})
    fine = own_task(folder, "fine", "print(arguments, os.getpid()); print('why', file=sys.stderr); return 3")
    again = own_task(folder, "again", "print(os.getpid())")
    broken = own_task(folder, "broken", "raise ValueError('no')")
    assert worker.run(fine)[0] == 3
    code, seconds = worker.run(again)
    assert (code, 0 <= seconds < 10) == (0, True)
    assert worker.run(broken)[0] == 1
    said = Path(str(fine.command["log"])).read_text().splitlines()
    assert said[0].startswith("['a', 'b'] ")
    assert said[1] == "why"
    assert Path(str(again.command["log"])).read_text().strip() == said[0].split()[-1]  # the same process
    assert "ValueError: no" in Path(str(broken.command["log"])).read_text()
    worker.end()


def test_a_process_that_dies_is_a_failure_and_the_next_task_has_another(folder: Path) -> None:
    worker = Worker({**os.environ, "PYTHONPATH": f"{folder}{os.pathsep}{ROOT / 'src'}"})
    assert worker.run(own_task(folder, "dies", "os.kill(os.getpid(), 9)"))[0] == -9
    assert worker.run(own_task(folder, "fine", "return 0"))[0] == 0
    worker.end()


@pytest.mark.parametrize("profile", ["laptop", "paper"])
def test_every_experiment_is_a_task_behind_what_it_reads(profile: str) -> None:
    plan = load_plan(profile_path(profile))
    found = tasks_of(plan)
    names = [task.name for task in found]
    assert len(set(names)) == len(names)
    for position, task in enumerate(found):
        assert set(task.after) <= set(names[:position])
    by_name = {task.name: task for task in found}
    assert by_name["experiment deep_mnist"].after == ("autoencoder mnist",)
    assert by_name["experiment deep_standins"].after == ("autoencoder activities", "autoencoder texts")
    assert by_name["deep_spaces deep_mnist"].after == ("experiment deep_mnist",)
    assert by_name["experiment face_all_mcvc"].after == ()
    assert "experiment mnist_bayes_crowd --seed 0" in names
    experiments = [" ".join(task.arguments).partition(" --seed")[0] for task in found if task.module == "experiment"]
    assert {name for one in experiments for name in one.split()} == set(plan.experiments)
    known = json.loads((ROOT / all_experiments.KNOWN).read_text()) if profile == "laptop" else None
    assert known is None or set(known) == set(names)


@pytest.mark.slow
def test_without_any_data_the_pipeline_ends_in_a_report_that_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("src", "conf", "recorded", "dvc.yaml"):
        (tmp_path / name).symlink_to(ROOT / name)
    (tmp_path / ".dvc").mkdir()
    (tmp_path / ".dvc" / "config").write_text("[core]\n    analytics = false\n    check_update = false\n")
    (tmp_path / "params.yaml").write_text(
        "profile: tiny\njobs: 2\n"
        "answers: {face_all: {kind: quota}, face_100: {kind: quota, num_annotated: 100}}\n"
        "groups:\n"
        "  pinwheel_none: {seeds: [], experiments: [pinwheel_none]}\n"
        "  pinwheel_two_coin: {seeds: [], experiments: [pinwheel_two_coin]}\n"
        "  mnist: {seeds: [0], needs: [mnist], experiments: [mnist_bayes_crowd, mnist_scdc_none]}\n"
        "  face: {seeds: [0], needs: [face], sweep: {pairs_per_annotator: [200]},\n"
        "         experiments: [face_all_scdc, face_all_mcvc, face_100_mcvc, face_kmeans]}\n"
        "  cifar10: {seeds: [0], needs: [cifar10], experiments: [cifar_deep_mcvc]}\n"
        "experiments:\n"
        "  pinwheel_none: {settings: {data: pinwheel}}\n"
        "  pinwheel_two_coin: {settings: {data: pinwheel}, answers: {kind: two_coin}}\n"
        "  cifar_deep_mcvc: {settings: {data: cifar10, model: deep_mcvc}, answers: {kind: tasks}}\n"
        "  mnist_bayes_crowd: {settings: {data: mnist, model: bayes}, answers: {kind: crowd}}\n"
        "  mnist_scdc_none: {settings: {data: mnist, model: scdc}}\n"
        "  scdc: {settings: {data: face, model: scdc}}\n"
        "  mcvc: {settings: {data: face, model: mcvc}}\n"
        "  face_kmeans: {settings: {data: face, model: kmeans, annotations: none}, sweep: {}}\n"
    )
    monkeypatch.setenv("SEMICROWD_OFFLINE", "1")
    monkeypatch.setenv("SEMICROWD_MIRROR", str(tmp_path / "nowhere"))
    monkeypatch.chdir(tmp_path)
    assert reproduce(tmp_path) == 0
    report = (tmp_path / "reports" / "REPORT.md").read_text()
    for row in ("BayesSCDC, with; protocol semicrowd", "SCDC, without; protocol semicrowd"):
        (line,) = (line for line in report.splitlines() if line.startswith(f"| {row} | accuracy"))
        assert "data not available here" in line
    for row in ("SCDC, 200 answers each", "MCVC, 200 answers each", "k-means, no answers"):
        assert any(line.startswith(f"| {row} | NMI") and "data not available" in line for line in report.splitlines())
    (line,) = (line for line in report.splitlines() if line.startswith("| deep MCVC on CIFAR-10, best of 5 runs"))
    assert "data not available here" in line
    assert "cifar-10-batches-bin" in line
    status = json.loads((tmp_path / "results" / "mnist_scdc_none" / "seed-0" / "status.json").read_text())
    assert status["status"] == "unavailable"


def test_experiments_with_the_same_start_are_one_task(folder: Path) -> None:
    (folder / "params.yaml").write_text(
        "profile: tiny\n"
        "groups:\n"
        "  swept: {seeds: [0, 1], sweep: {}, experiments: [a, [b, c]]}\n"
        "  single: {seeds: [3, 4], experiments: [[d, e]]}\n"
        "experiments: {a: &any {settings: {data: pinwheel}}, b: *any, c: *any, d: *any, e: *any}\n"
    )
    plan = load_plan()
    assert list(plan.experiments) == ["a", "b", "c", "d", "e"]
    assert [task.arguments for task in tasks_of(plan)] == [
        ("a",), ("b", "c"), ("d", "e", "--seed", "3"), ("d", "e", "--seed", "4"),
    ]  # fmt: skip
