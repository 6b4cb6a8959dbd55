"""Where a run's numbers come from: commit, command, versions, data hashes, annotation source."""

import hashlib
import os
import shlex
import subprocess
import sys
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.data import Dataset

_PACKAGES = ("semicrowd", "torch", "pytorch-lightning", "numpy", "scipy", "scikit-learn", "hydra-core")


def provenance(data: Dataset, annotations: PairAnnotations | None) -> dict[str, Any]:
    """Everything but the configuration that a run's result depends on."""
    return {
        "git_commit": _git("rev-parse", "HEAD"),
        "git_dirty": _dirty(),
        "command": command(),
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
        "data": data.name,
        "data_hashes": dict(data.hashes),
        "data_notes": list(data.notes),
        "num_items": data.num_items,
        "num_features": data.num_features,
        "image_shape": None if data.image_shape is None else list(data.image_shape),
        "annotations": None if annotations is None else {
            "source": annotations.source,
            "simulated": annotations.simulated,
            "num_pairs": annotations.num_pairs,
            "num_annotators": annotations.num_annotators,
            "num_annotated": len(annotations.annotated),
            "notes": list(annotations.notes),
            "sha256": _digest(annotations),
        },
        "versions": {"python": sys.version.split()[0], **{name: _version(name) for name in _PACKAGES}},
    }


def _digest(answers: PairAnnotations) -> str:
    """sha256 of the answers: items, annotators by name, labels, tasks."""
    found = hashlib.sha256()
    for numbers in (answers.i, answers.j, answers.worker, answers.label, answers.task):
        found.update(b"none" if numbers is None else np.ascontiguousarray(numbers, np.int64).tobytes())
    found.update("\0".join(answers.worker_names).encode())
    return found.hexdigest()


def revision() -> dict[str, Any]:
    """Commit, whether there are uncommitted changes, and the date, as columns of a table of results."""
    now = datetime.now(UTC).isoformat(timespec="seconds")
    return {"commit": _git("rev-parse", "HEAD"), "dirty": _dirty(), "date": now}


def command() -> str:
    """The command that the user typed; in a worker process of a sweep, the command of the sweep."""
    return os.environ.get("SEMICROWD_COMMAND") or shlex.join(sys.argv)


def _git(*arguments: str) -> str | None:
    """Output of a git command; None without git, or if no repository has this file (a .venv may be inside of one)."""

    def run(*given: str) -> str:
        return subprocess.run(
            ["git", *given], cwd=Path(__file__).parent, capture_output=True, text=True, timeout=10, check=True
        ).stdout

    try:
        run("ls-files", "--error-unmatch", Path(__file__).name)
        return run(*arguments).strip()
    except (OSError, subprocess.SubprocessError):
        return None


def _dirty() -> bool | None:
    status = _git("status", "--porcelain", "--", ":/src", ":/conf")
    return None if status is None else bool(status)


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None
