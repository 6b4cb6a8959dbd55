"""Whether a run's inputs are still those that it began with."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from semicrowd.errors import UserError
from semicrowd.files import read_object, sha256_of

#: Where a run keeps what its inputs were.
PROVENANCE = "provenance.json"
_PATHS = ("data.path", "annotations.path", "annotations.must_link", "annotations.cannot_link", "annotations.history")


def file_hashes(given: Mapping[str, Any]) -> dict[str, str]:
    """Path → sha256 of the files that somebody named as data and answers; a folder is no file."""
    paths = [Path(given[name]) for name in _PATHS if given.get(name)]
    return {str(path): sha256_of(path) for path in paths if path.is_file()}


def read_provenance(run_dir: Path) -> dict[str, Any]:
    """Content of a run's provenance.json, empty where it is missing or damaged."""
    return read_object(run_dir / PROVENANCE)


def check_files(run_dir: Path, given: Mapping[str, Any]) -> None:
    """Refuse to take a run for one on files that have changed since; nothing is read but these.

    Raises
    ------
    UserError
        Naming the file.
    """
    _compare(read_provenance(run_dir).get("files"), file_hashes(given), run_dir)


def check_inputs(run_dir: Path, now: Mapping[str, Any]) -> None:
    """Refuse to go on with a run on other data or answers than it was started with.

    Parameters
    ----------
    now : what provenance.json of the run would be

    Raises
    ------
    UserError
        Naming the data, or the answers.
    """
    before = read_provenance(run_dir)
    _compare(before.get("data_hashes"), now["data_hashes"], run_dir)
    answers = [{"the answers": digest} if (digest := (one.get("annotations") or {}).get("sha256")) else {}
               for one in (before, now)]  # fmt: skip
    _compare(answers[0], answers[1], run_dir)


def _compare(before: Mapping[str, str] | None, now: Mapping[str, str], run_dir: Path) -> None:
    """What an earlier version has not kept is not compared."""
    for name in sorted((before or {}).keys() & now.keys()):
        if (before or {})[name] != now[name]:
            verb = "have" if name == "the answers" else "has"
            raise UserError(f"{run_dir}: {name} {verb} changed since the run was started; start again without "
                            "resume=true, or choose another hydra.run.dir to keep what is there")
