"""``make reproduce``: what it does before it starts, what another clone need not make, and how it survives kills."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from subprocess import CompletedProcess

import numpy as np
import pytest

PROJECT = Path(__file__).parents[2]


def copy_project(folder: Path) -> None:
    """Copy what ``make reproduce`` needs; the test writes params.yaml."""
    folder.mkdir()
    for name in ("conf", "src", "recorded", ".dvc/config", ".dvc/.gitignore", ".dvcignore", ".gitignore", "dvc.yaml",
                 "pyproject.toml"):  # fmt: skip
        source, target = PROJECT / name, folder / name
        target.parent.mkdir(exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
        else:
            shutil.copyfile(source, target)


def environment(folder: Path) -> dict[str, str]:
    """Variables of a command in a copy of the project: its stages run its own code, and no data are fetched."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    person = {f"GIT_{role}_{what}": value for role in ("AUTHOR", "COMMITTER")
              for what, value in (("NAME", "a"), ("EMAIL", "a@localhost"))}  # fmt: skip
    return os.environ | person | {
        "PATH": path, "PYTHONPATH": str(folder / "src"), "SEMICROWD_DATA": str(folder / "data"),
        "SEMICROWD_OFFLINE": "1", "SEMICROWD_MIRROR": str(folder / "nowhere"),
    }  # fmt: skip


def command(folder: Path, *arguments: str) -> "CompletedProcess[str]":
    """Run a command in a copy of the project."""
    return subprocess.run(
        arguments, cwd=folder, env=environment(folder), capture_output=True, text=True, timeout=600, check=True
    )


#: A profile of which one clone pushes what another one pulls: DVC with a folder as its remote (docs/CLUSTER.md).
SHARED = """\
profile: tiny
groups: {all: {seeds: [0, 1], experiments: [pinwheel_two_coin, pinwheel_cotrain]}}
experiments:
  pinwheel_two_coin: {settings: {data: pinwheel, model: bayes, epochs: 2}, answers: &coins {kind: two_coin}}
  pinwheel_cotrain: {settings: {data: pinwheel, model: crowd_logistic, model.K: 5}, answers: *coins}
"""


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
def test_what_one_clone_has_pushed_another_pulls_and_has_the_report_of(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    copy_project(first)
    (first / "params.yaml").write_text(SHARED)
    command(first, "git", "init", "-q")
    said = command(first, sys.executable, "-m", "semicrowd.pipeline.reproduce").stdout
    assert "[4/4] experiment" in said
    command(first, "dvc", "remote", "add", "-d", "shared", str(tmp_path / "remote"))
    command(first, "dvc", "push")
    command(first, "git", "add", "-A")
    command(first, "git", "commit", "-qm", "results")  # dvc.lock and the remote's address, no result
    assert not command(first, "git", "ls-files", "annotations", "results", "configurations").stdout

    began = time.monotonic()
    command(tmp_path, "git", "clone", "-q", str(first), str(second))
    assert not (second / "results").exists()
    command(second, "dvc", "pull", "--allow-missing")
    command(second, sys.executable, "src/report.py")
    assert time.monotonic() - began < 120
    for name in ("annotations", "results"):
        made = {path.relative_to(first): path.read_bytes() for path in (first / name).rglob("*") if path.is_file()}
        pulled = {path.relative_to(second): path.read_bytes() for path in (second / name).rglob("*") if path.is_file()}
        assert made
        assert pulled == made
    assert (second / "reports" / "REPORT.md").read_text() == (first / "reports" / "REPORT.md").read_text()
    again = command(second, sys.executable, "-m", "semicrowd.pipeline.reproduce").stdout
    assert "Stage 'experiments' didn't change, skipping" in again


#: A profile that is killed at random moments, as the out-of-memory killer or a power cut would do it.
KILLED = """\
profile: tiny
jobs: 2
groups:
  single: {seeds: [0], experiments: [pinwheel_two_coin, pinwheel_scdc]}
  swept: {seeds: [0, 1], sweep: {}, experiments: [[pinwheel_cotrain, pinwheel_dpm]]}
experiments:
  pinwheel_two_coin: {settings: {data: pinwheel, model: bayes, epochs: 8}, answers: &coins {kind: two_coin}}
  pinwheel_scdc: {settings: {data: pinwheel, model: scdc, epochs: 8}, answers: *coins}
  pinwheel_cotrain: {settings: {data: pinwheel, model: crowd_logistic, model.K: 5}, answers: *coins}
  pinwheel_dpm: {settings: {data: pinwheel, model: dpm}}
"""
REPRODUCE = (sys.executable, "-m", "semicrowd.pipeline.reproduce")
KILLS = 20


def results_of(folder: Path) -> dict[str, object]:
    """What the runs have found: the files without times, processes, and paths."""
    found: dict[str, object] = {}
    for path in sorted((folder / "results").rglob("*")):
        name = str(path.relative_to(folder))
        if path.name in ("assignments.csv", "workers.csv", "restarts.csv"):
            found[name] = path.read_bytes()
        elif path.name == "metrics.json":
            found[name] = {k: v for k, v in json.loads(path.read_text()).items() if not k.startswith("seconds")}
        elif path.name == "status.json":
            found[name] = json.loads(path.read_text())["status"]
    report = (folder / "reports" / "REPORT.md").read_text()
    found["tables"] = [re.sub(r"\d+(\.\d+)? (s|min)\b", "", line) for line in report.splitlines() if line[:1] == "|"]
    return found


def processes_of(folder: Path) -> list[int]:
    """Processes whose working folder is in the project."""
    found = []
    for one in Path("/proc").glob("[0-9]*"):
        try:
            if (one / "cwd").readlink().is_relative_to(folder):
                found.append(int(one.name))
        except OSError:
            pass
    return found


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/cwd").exists(), reason="needs /proc")
@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
def test_make_reproduce_killed_at_twenty_random_moments_ends_as_one_that_was_not(tmp_path: Path) -> None:
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    for folder in (whole, killed):
        copy_project(folder)
        (folder / "params.yaml").write_text(KILLED)
        command(folder, "git", "init", "-q")
    began = time.monotonic()
    command(whole, *REPRODUCE)
    seconds = time.monotonic() - began

    rng, log = np.random.default_rng(0), tmp_path / "log.txt"
    kills = 0
    while kills < KILLS:
        with log.open("w") as out:
            process = subprocess.Popen(
                REPRODUCE, cwd=killed, env=environment(killed), start_new_session=True, stdout=out, stderr=out
            )
        try:
            assert process.wait(timeout=rng.uniform(0, 0.7 * seconds)) == 0, log.read_text()
            assert results_of(killed) == results_of(whole)
            for name in ("results", "annotations", "reports", "dvc.lock"):  # all over again
                command(killed, "rm", "-r", name)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            kills += 1
        deadline = time.monotonic() + 20
        while left := processes_of(killed):
            assert time.monotonic() < deadline, f"processes go on after the kill: {left}"
            time.sleep(0.05)
    command(killed, *REPRODUCE)
    assert results_of(killed) == results_of(whole)
    assert not list((killed / "results").rglob("*.tmp"))
