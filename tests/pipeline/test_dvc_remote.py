"""DVC with a folder as its remote, as docs/CLUSTER.md has it: what one clone has made, another need not make."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from subprocess import CompletedProcess

import pytest

PROJECT = Path(__file__).parents[2]
#: A stage of a second, after that of all configurations.
STAGE = "pinwheel_two_coin_answers@pinwheel_two_coin-0"


def command(folder: Path, *arguments: str) -> "CompletedProcess[str]":
    """Run a command in a clone, whose own code its stages run."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    variables = {"PATH": path, "PYTHONPATH": str(folder / "src"), "SEMICROWD_DATA": str(folder / "data"),
                 "SEMICROWD_OFFLINE": "1", "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@localhost",
                 "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@localhost"}  # fmt: skip
    return subprocess.run(
        arguments, cwd=folder, env=os.environ | variables, capture_output=True, text=True, timeout=600, check=True
    )


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
def test_what_one_clone_has_pushed_another_pulls_and_does_not_make_again(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    first.mkdir()
    for name in ("conf", "src", ".dvc/config", ".dvc/.gitignore", ".dvcignore", ".gitignore", "dvc.yaml", "params.yaml",
                 "pyproject.toml"):  # fmt: skip
        source, target = PROJECT / name, first / name
        target.parent.mkdir(exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
        else:
            shutil.copyfile(source, target)
    command(first, "git", "init", "-q")
    command(first, "dvc", "repro", STAGE)
    command(first, "dvc", "remote", "add", "-d", "shared", str(tmp_path / "remote"))
    command(first, "dvc", "push")
    command(first, "git", "add", "-A")
    command(first, "git", "commit", "-qm", "results")  # dvc.lock and the remote's address, no result
    assert not command(first, "git", "ls-files", "annotations", "results", "configurations").stdout

    command(tmp_path, "git", "clone", "-q", str(first), str(second))
    assert not (second / "annotations").exists()
    command(second, "dvc", "pull", "--allow-missing")
    made = {path.relative_to(first): path.read_bytes() for path in (first / "annotations").rglob("*.csv")}
    assert made
    pulled = {path.relative_to(second): path.read_bytes() for path in (second / "annotations").rglob("*.csv")}
    assert pulled == made
    assert f"Stage '{STAGE}' didn't change, skipping" in command(second, "dvc", "repro", STAGE).stdout
