"""What ``make reproduce`` does before it starts."""

import json
from pathlib import Path

import pytest

from semicrowd.pipeline.reproduce import mend_lock

LISTED = {"read": {}, "write": {"results": {"pid": 1, "cmd": "dvc repro"}}}


@pytest.mark.parametrize(
    ("written", "kept"), [("", False), (json.dumps(LISTED)[:-9], False), (json.dumps(LISTED), True)]
)
def test_a_lock_that_a_kill_cut_off_is_deleted_and_a_whole_one_stays(tmp_path: Path, written: str, kept: bool) -> None:
    listed = tmp_path / ".dvc" / "tmp" / "rwlock"
    listed.parent.mkdir(parents=True)
    listed.write_text(written, encoding="utf-8")
    mend_lock(tmp_path)
    assert listed.exists() == kept


def test_before_the_first_run_there_is_no_lock(tmp_path: Path) -> None:
    mend_lock(tmp_path)
    assert not (tmp_path / ".dvc").exists()
