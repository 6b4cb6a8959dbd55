"""``make reproduce``: the whole pipeline, from data to reports/index.html.

DVC decides which stages have to run again. The experiments are one stage, which runs as many at once as ``jobs`` in
params.yaml says. An experiment that fails does not stop the others. The report is then written from the available
results, with the error in place of the failed run's result, and the exit code is 1.
"""

import argparse
import os
import subprocess
import sys
from pathlib import Path

from semicrowd.errors import without_traceback
from semicrowd.pipeline.experiments import DATA, PARAMS, load_plan, select_profile


def allow_missing_git(root: Path) -> None:
    """Let DVC work in a tree without git (an unpacked archive), by its local, untracked configuration."""
    own = root / ".dvc" / "config.local"
    if not (root / ".git").exists() and not own.exists():  # a user's has remotes
        own.write_text("[core]\n    no_scm = true\n", encoding="utf-8")


def reproduce(root: Path) -> int:
    """Run what has changed; returns 0 if all stages succeeded, else 1."""
    allow_missing_git(root)
    # This interpreter is the stages' ``python``, the project's data folder their data root.
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    environment = os.environ | {"PATH": path, "SEMICROWD_DATA": str(root / DATA)}
    load_plan(root / PARAMS)  # reports a mistake in params.yaml before anything is started
    done = subprocess.run([sys.executable, "-m", "dvc", "repro"], cwd=root, env=environment, check=False).returncode
    if done != 0:
        print("error: a stage failed (see above); the report is written from the available results", file=sys.stderr)
        subprocess.run([sys.executable, "src/report.py"], cwd=root, env=environment, check=False)
    return 0 if done == 0 else 1


@without_traceback
def main(arguments: list[str] | None = None) -> int:
    """Parse the command line and run."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--profile", help="first make conf/profile/<PROFILE>.yaml the base of params.yaml")
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
