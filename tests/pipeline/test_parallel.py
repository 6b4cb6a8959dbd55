"""Experiments that run ahead of the rest: which, how many at once, and the whole pipeline with them."""

import json
import threading
from pathlib import Path
from typing import Any

import pytest

from semicrowd.pipeline import parallel
from semicrowd.pipeline.reproduce import reproduce

ROOT = Path(__file__).parents[2]
DVC_YAML = """\
stages:
  fetch: {cmd: python -m semicrowd.pipeline.fetch}
  some_answers: {cmd: python -m semicrowd.pipeline.answers some --seed 0}
  some: {cmd: python -m semicrowd.pipeline.experiment some --seed 0}
  report: {cmd: python -m semicrowd.report.build}
"""


class Dvc:
    """Commands that were started; those of single stages wait until ``at_once`` of them are running."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, changed: list[list[str]], at_once: int) -> None:
        self.commands: list[tuple[str, ...]] = []
        self.changed, self.barrier = iter(changed), threading.Barrier(at_once)
        monkeypatch.setattr(parallel, "_dvc", self.start)
        monkeypatch.setattr(parallel, "_output", self.output)

    def start(self, _root: Path, _environment: Any, *arguments: str) -> None:
        if "--single-item" in arguments:
            self.barrier.wait(timeout=20)  # an error unless so many run at once
        self.commands.append(arguments)

    def output(self, _root: Path, _environment: Any, *arguments: str) -> str:
        if arguments[0] == "status":
            return json.dumps({name: ["changed"] for name in next(self.changed)})
        return "fetch\nsome_answers@a-0\nsome@a-0\nsome@b-0\nreport\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "dvc.yaml").write_text(DVC_YAML)
    return tmp_path


def test_what_prepares_the_experiments_runs_first_then_those_that_changed_at_once(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dvc = Dvc(monkeypatch, [["fetch", "some_answers@a-0"], ["fetch", "some@a-0", "some@b-0", "report"]], at_once=2)
    parallel.run_ahead(root, {}, 2)
    before, *rest = dvc.commands
    assert before == ("repro", "--keep-going", "fetch", "some_answers@a-0")
    assert sorted(rest) == [("--wait-for-lock", "repro", "--single-item", f"some@{name}-0") for name in "ab"]


@pytest.mark.parametrize("changed", [["fetch"], []])
def test_where_nothing_has_changed_nothing_starts(
    root: Path, monkeypatch: pytest.MonkeyPatch, changed: list[str]
) -> None:
    dvc = Dvc(monkeypatch, [changed], at_once=1)
    parallel.run_ahead(root, {}, 2)
    assert not dvc.commands


@pytest.mark.slow
def test_without_any_data_the_pipeline_ends_in_a_report_that_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("src", "conf", "dvc.yaml"):
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
    assert "cifar-10-binary.tar.gz" in line
    status = json.loads((tmp_path / "results" / "mnist_scdc_none" / "seed-0" / "status.json").read_text())
    assert status["status"] == "unavailable"
