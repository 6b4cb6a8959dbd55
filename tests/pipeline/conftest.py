"""A project of its own for tests that run ``make reproduce`` or DVC."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from subprocess import CompletedProcess

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
