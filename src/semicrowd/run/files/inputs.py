"""Checks that a run's inputs have not changed since it was started."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from semicrowd.errors import UserError
from semicrowd.files import digest_of, expanded, find_images, read_object, sha256_of

#: File of a run with the hashes of its inputs.
PROVENANCE = "provenance.json"
_AGAIN = "start again without resume=true, or choose another hydra.run.dir to keep what is there"
_PATHS = ("data.path", "annotations.path")


def file_hashes(given: Mapping[str, Any], hashed: Mapping[str, str] = MappingProxyType({})) -> dict[str, str]:
    """Path → sha256 of the files that the user has named as data and answers; also of the images in a folder, and of
    the clusters of the earlier run.

    Parameters
    ----------
    hashed : name of a file or folder → sha256, for data that have been loaded and need not be read again
    """
    named = [(name, expanded(path)) for name in _PATHS for path in _listed(given.get(name))]
    return {str(path): (name == "data.path" and hashed.get(path.name)) or _digest(path)
            for name, path in named if path.exists()}


def _listed(paths: str | Path | Sequence[str | Path] | None) -> Sequence[str | Path]:
    return [] if not paths else [paths] if isinstance(paths, str | Path) else paths


def _digest(path: Path) -> str:
    if path.is_file():
        return sha256_of(path)
    return digest_of(find_images(path))


def check_files(run_dir: Path, given: Mapping[str, Any]) -> None:
    """Refuse a finished run whose input files have changed since; only these files are read."""
    _compare(read_object(run_dir / PROVENANCE).get("files"), file_hashes(given), run_dir, _AGAIN)


def check_inputs(run_dir: Path, now: Mapping[str, Any], advice: str = _AGAIN) -> None:
    """Refuse a run whose data or answers have changed since it was started.

    Parameters
    ----------
    now : content of provenance.json for the current inputs
    advice : end of the message, what to do; the default is for a run that is to be resumed
    """
    before = read_object(run_dir / PROVENANCE)
    _compare(before.get("data_hashes"), now["data_hashes"], run_dir, advice)
    answers = [{"the answers": digest} if (digest := (one.get("annotations") or {}).get("sha256")) else {}
               for one in (before, now)]  # fmt: skip
    _compare(answers[0], answers[1], run_dir, advice)
    _compare(before.get("files"), now.get("files", {}), run_dir, advice)


def _compare(before: Mapping[str, str] | None, now: Mapping[str, str], run_dir: Path, advice: str) -> None:
    for name in sorted((before or {}).keys() & now.keys()):
        if (before or {})[name] != now[name]:
            verb = "have" if name == "the answers" else "has"
            raise UserError(f"{run_dir}: {name} {verb} changed since the run was started; {advice}")
