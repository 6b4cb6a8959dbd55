"""``make reproduce`` is killed at random moments, as the out-of-memory killer or a power cut would do it."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from .conftest import command, copy_project, environment

PARAMS = """\
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
        (folder / "params.yaml").write_text(PARAMS)
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
            if kills % 2:
                os.killpg(process.pid, signal.SIGKILL)
            else:  # its stages and workers notice it
                process.kill()
            process.wait()
            kills += 1
        deadline = time.monotonic() + 20
        while left := processes_of(killed):
            assert time.monotonic() < deadline, f"processes go on after the kill: {left}"
            time.sleep(0.05)
    command(killed, *REPRODUCE)
    assert results_of(killed) == results_of(whole)
    assert not list((killed / "results").rglob("*.tmp"))
