"""What ``make reproduce`` does before it starts."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from semicrowd.pipeline.reproduce import mend_lock

LISTED = {"read": {"data": [{"pid": os.getpid(), "cmd": "dvc repro"}]}, "write": {}}


@pytest.mark.parametrize(
    ("written", "kept"),
    [("", False), (json.dumps(LISTED)[:-9], False), ("[]", False), (json.dumps(LISTED), True)],
    ids=["empty", "cut off", "of another form", "whole"],
)
def test_a_lock_that_a_kill_cut_off_is_deleted_and_a_whole_one_stays(tmp_path: Path, written: str, kept: bool) -> None:
    listed = tmp_path / ".dvc" / "tmp" / "rwlock"
    listed.parent.mkdir(parents=True)
    listed.write_text(written, encoding="utf-8")
    mend_lock(tmp_path)
    assert listed.exists() == kept


def test_a_lock_of_a_process_that_has_ended_is_deleted_even_while_it_is_a_zombie(tmp_path: Path) -> None:
    listed = tmp_path / ".dvc" / "tmp" / "rwlock"
    listed.parent.mkdir(parents=True)
    with subprocess.Popen([sys.executable, "-c", ""], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.read()  # it has ended, and nobody has asked for its exit code
        listed.write_text(json.dumps({"read": {}, "write": {"data": {"pid": process.pid, "cmd": "dvc repro"}}}))
        for _ in range(100):
            mend_lock(tmp_path)
            if not listed.exists():
                break
            time.sleep(0.05)  # between closing its output and its end
    assert not listed.exists()


def test_before_the_first_run_there_is_no_lock(tmp_path: Path) -> None:
    mend_lock(tmp_path)
    assert not (tmp_path / ".dvc").exists()
