"""``make reproduce``: the whole pipeline, from data to reports/index.html.

DVC decides what has to run again; the experiments are one stage of it, which runs ``jobs`` of params.yaml at once. An
experiment that fails does not stop the others; the report is then written from what is there, with the failed run's
error in its place, and the exit code is 1.
"""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

from dvc.lock import make_lock

from semicrowd.errors import without_traceback
from semicrowd.pipeline.experiments import DATA, PARAMS, load_plan
from semicrowd.pipeline.profile import select_profile


def _environment(root: Path) -> dict[str, str]:
    """The stages' environment: this interpreter is their ``python``, the project's data folder their data root."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    return os.environ | {"PATH": path, "SEMICROWD_DATA": str(root / DATA)}


def allow_missing_git(root: Path) -> None:
    """Let DVC work in a tree without git (an unpacked archive), by its local, untracked configuration."""
    if not (root / ".git").exists():
        (root / ".dvc" / "config.local").write_text("[core]\n    no_scm = true\n", encoding="utf-8")


def mend_lock(root: Path) -> None:
    """Delete DVC's list of who reads and writes what where a process was killed while it wrote it: DVC would stop."""
    folder = root / ".dvc" / "tmp"
    listed = folder / "rwlock"
    if not listed.exists():
        return
    with make_lock(str(folder / "rwlock.lock"), tmp_dir=str(folder), wait=True):
        try:
            json.loads(listed.read_text(encoding="utf-8"))
        except ValueError:
            listed.unlink()
            print("note: a run before this one was killed; DVC's lock of it is deleted")


def reproduce(root: Path) -> int:
    """Run what has changed; the exit code is that of the pipeline."""
    allow_missing_git(root)
    mend_lock(root)
    environment = _environment(root)
    load_plan(root / PARAMS)  # a mistake in it is one line, before anything is started
    done = subprocess.run([sys.executable, "-m", "dvc", "repro"], cwd=root, env=environment, check=False).returncode
    if done != 0:
        print("error: a stage failed (see above); the report is written from what is there", file=sys.stderr)
        subprocess.run([sys.executable, "src/report.py"], cwd=root, env=environment, check=False)
    return 0 if done == 0 else 1


@without_traceback
def main(arguments: list[str] | None = None) -> int:
    """Parse the command line and run."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--profile", help="let params.yaml begin from conf/profile/<PROFILE>.yaml first")
    options = parser.parse_args(arguments)
    try:
        if options.profile:
            select_profile(options.profile)
        code = reproduce(Path.cwd())
    except KeyboardInterrupt:
        print("interrupted: make reproduce goes on from the last finished experiment", file=sys.stderr)
        return 130
    print("report: reports/index.html (the same as text: reports/REPORT.md)")
    return code


if __name__ == "__main__":
    sys.exit(main())
