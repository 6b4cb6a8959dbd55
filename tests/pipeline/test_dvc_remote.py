"""DVC with a folder as its remote, as docs/CLUSTER.md has it: what one clone has made, another need not make."""

import shutil
import sys
import time
from pathlib import Path

import pytest

from .conftest import command, copy_project

PARAMS = """\
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
    (first / "params.yaml").write_text(PARAMS)
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
