"""Runs of the pipeline's experiments, several at once.

DVC runs one stage after the other, and lets several of its processes work on different stages of one pipeline. The runs
of the experiments need one core each and nothing of each other, so they go ahead of the rest in this way.
"""

import json
import subprocess
import sys
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import yaml

_EXPERIMENTS = tuple(f"semicrowd.pipeline.{name}" for name in ("experiment", "slpd.tables", "slpd.curve"))
_PIPELINE = "semicrowd.pipeline."
#: What reads the experiments' runs.
_AFTER = ("semicrowd.pipeline.deep_spaces",)


def stage_groups(dvc_yaml: Path) -> tuple[list[str], list[str]]:
    """Names in dvc.yaml of the stages that prepare the experiments, and of those that run them.

    Both are told by the module that they start; what comes after the experiments is of ``semicrowd.report``
    or in ``_AFTER``.
    """
    stages = yaml.safe_load(dvc_yaml.read_text(encoding="utf-8"))["stages"]
    modules = {name: stage["cmd"].split()[2] for name, stage in stages.items()}
    others = (*_EXPERIMENTS, *_AFTER)
    before = [name for name, module in modules.items() if module.startswith(_PIPELINE) and module not in others]
    return before, [name for name, module in modules.items() if module in _EXPERIMENTS]


def run_ahead(root: Path, environment: Mapping[str, str], jobs: int) -> bool:
    """Run the experiments that have to run, ``jobs`` at once; whether all that ran ended well."""
    before, experiments = stage_groups(root / "dvc.yaml")
    if not set(_changed(root, environment)) - {"fetch"}:
        return True
    names = _output(root, environment, "stage", "list", "--name-only").split()
    prepared = _dvc(root, environment, "repro", "--keep-going", *(n for n in names if n.split("@")[0] in before))
    changed = [name for name in _changed(root, environment) if name.split("@")[0] in experiments]
    pool = ThreadPoolExecutor(jobs)
    try:
        run = partial(_dvc, root, environment, "--wait-for-lock", "repro", "--single-item")
        return all([prepared, *pool.map(run, changed)])
    finally:
        pool.shutdown(cancel_futures=True)


def _changed(root: Path, environment: Mapping[str, str]) -> list[str]:
    """Stages that are not up to date, those that always run among them."""
    return list(json.loads(_output(root, environment, "status", "--json") or "{}"))


def _dvc(root: Path, environment: Mapping[str, str], *arguments: str) -> bool:
    """Run a command of DVC; whether it ended well."""
    command = [sys.executable, "-m", "dvc", *arguments]
    return subprocess.run(command, cwd=root, env=environment, check=False).returncode == 0


def _output(root: Path, environment: Mapping[str, str], *arguments: str) -> str:
    """What a command of DVC prints; nothing where it fails."""
    command = [sys.executable, "-m", "dvc", *arguments]
    done = subprocess.run(command, cwd=root, env=environment, check=False, stdout=subprocess.PIPE, text=True)
    return done.stdout if done.returncode == 0 else ""
