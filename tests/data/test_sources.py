"""Every kind of source on this machine alone: a folder, fake and real package clients, a local web server."""

import gzip
import io
import tarfile
import zipfile
from collections.abc import Sequence
from pathlib import Path

import pytest

from semicrowd.data.sources import Addresses, Mirror, NpmPackage, PythonPackage, SourceError

from .conftest import Served


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "target"
    path.mkdir()
    return path


def test_mirror_gives_what_it_has(tmp_path: Path, folder: Path) -> None:
    (tmp_path / "a.bin").write_bytes(b"content")
    Mirror(tmp_path).get(["a.bin", "b.bin"], folder)
    assert [p.name for p in folder.iterdir()] == ["a.bin"]
    with pytest.raises(SourceError, match=r"no b\.bin there"):
        Mirror(tmp_path).get(["b.bin"], folder)


def _fake_npm(tmp_path: Path, patch: pytest.MonkeyPatch, script: str) -> None:
    """A program called npm that does ``script`` in the folder it is started in."""
    programs = tmp_path / "programs"
    programs.mkdir()
    npm = programs / "npm"
    npm.write_text(f"#!/bin/sh\n{script}\n")
    npm.chmod(0o755)
    patch.setenv("PATH", f"{programs}:/usr/bin:/bin")


def test_npm_package(tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    archive = tmp_path / "toy.tar"
    with tarfile.open(archive, "w:gz") as tar:
        for name, content in {"package/data/a.bin": b"content", "package/index.js": b"throw 1"}.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    _fake_npm(tmp_path, monkeypatch, f'[ "$1 $2" = "pack toy@1.0.0" ] && cp {archive} toy-1.0.0.tgz')
    NpmPackage("toy@1.0.0", "package/data").get(["a.bin"], folder)
    assert (folder / "a.bin").read_bytes() == b"content"
    with pytest.raises(SourceError, match=r"not the archive that was expected .*b\.bin"):
        NpmPackage("toy@1.0.0", "package/data").get(["b.bin"], folder)


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("echo 'npm warn x' >&2; echo 'npm error code ENOTFOUND' >&2; exit 1", "npm error code ENOTFOUND"),
        ("exit 3", "exit code 3"),
        ("exit 0", "no archive"),
        ("printf 'not a tar' > toy.tgz", "not the archive that was expected"),
        ("printf '\\037\\213\\010\\000' > toy.tgz", "not the archive that was expected"),
    ],
)
def test_npm_fails(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch, script: str, message: str
) -> None:
    _fake_npm(tmp_path, monkeypatch, script)
    with pytest.raises(SourceError, match=message):
        NpmPackage("toy@1.0.0", "package/data").get(["a.bin"], folder)


def test_no_npm(tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SourceError, match="npm is not installed"):
        NpmPackage("toy@1.0.0", "package/data").get(["a.bin"], folder)


def _take(wheel: zipfile.ZipFile, names: Sequence[str], folder: Path) -> None:
    for name in names:
        (folder / name).write_bytes(wheel.read(f"toy/{name}"))


@pytest.fixture
def wheels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only place where pip looks."""
    path = tmp_path / "wheels"
    path.mkdir()
    for name in ("PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(path))
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    return path


def test_python_package(wheels: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    info = "semicrowd_toy-1.0.dist-info"
    with zipfile.ZipFile(wheels / "semicrowd_toy-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: semicrowd-toy\nVersion: 1.0\n")
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{info}/RECORD", "")
        wheel.writestr("toy/a.bin", b"content")
    # A relative folder, as a relative data root gives.
    monkeypatch.chdir(folder.parent)
    relative = Path(folder.name)
    PythonPackage("semicrowd-toy==1.0", _take).get(["a.bin"], relative)
    assert (folder / "a.bin").read_bytes() == b"content"
    with pytest.raises(SourceError, match=r"not the package that was expected .*b\.bin"):
        PythonPackage("semicrowd-toy==1.0", _take).get(["b.bin"], relative)


@pytest.mark.usefixtures("wheels")
def test_python_package_that_cannot_be_had(folder: Path) -> None:
    with pytest.raises(SourceError, match=r"^ERROR: "):
        PythonPackage("semicrowd-toy==2.0", _take).get(["a.bin"], folder)


def test_addresses(served: Served, folder: Path) -> None:
    (served.folder / "a.bin.gz").write_bytes(gzip.compress(b"content"))
    (served.folder / "b.bin").write_bytes(b"plain")
    at = served.address
    urls = {"a.bin": (f"{at}/absent.gz", f"{at}/a.bin.gz"), "b.bin": (f"{at}/b.bin",)}
    Addresses(urls).get(["a.bin", "b.bin"], folder)
    assert {p.name: p.read_bytes() for p in folder.iterdir()} == {"a.bin": b"content", "b.bin": b"plain"}


def test_address_with_a_broken_archive(served: Served, folder: Path) -> None:
    (served.folder / "a.bin.gz").write_bytes(gzip.compress(b"content" * 1000)[:-12])
    with pytest.raises(SourceError, match=r"a\.bin\.gz: EOFError"):
        Addresses({"a.bin": (f"{served.address}/a.bin.gz",)}).get(["a.bin"], folder)


def test_no_network(folder: Path) -> None:
    # Port 9 of this machine answers nobody.
    with pytest.raises(SourceError, match=r"127\.0\.0\.1:9/a\.bin: ConnectionError"):
        Addresses({"a.bin": ("http://127.0.0.1:9/a.bin",)}).get(["a.bin"], folder)
