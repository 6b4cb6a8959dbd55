"""Where files come from, that hashes hold, and that a failure names the file and its place."""

import gzip
import hashlib
import io
import sys
import tarfile
import threading
import zipfile
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

import pytest

from semicrowd.data import fetch as module
from semicrowd.data.fetch import PublicData, fetch
from semicrowd.errors import UserError

CONTENT = {"a.bin": b"first", "b.bin": b"second"}
FILES = {"a.bin": hashlib.sha256(CONTENT["a.bin"]).hexdigest(), "b.bin": f"md5:{hashlib.md5(b'second').hexdigest()}"}


class Served(NamedTuple):
    """A folder and the address at which its files are."""

    folder: Path
    address: str


class _QuietHandler(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    """An empty folder on the web."""
    folder = tmp_path / "served"
    folder.mkdir()
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(_QuietHandler, directory=str(folder))) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield Served(folder, f"http://127.0.0.1:{server.server_port}")
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture
def public(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Without mirror and other settings."""
    for name in ("SEMICROWD_MIRROR", "SEMICROWD_OFFLINE", "SEMICROWD_DATA"):
        monkeypatch.delenv(name, raising=False)
    return monkeypatch


def _offer(patch: pytest.MonkeyPatch, *sources: str, optional: tuple[str, ...] = ()) -> None:
    patch.setattr(module, "PUBLIC", {"toy": PublicData(Path("toy/raw"), sources, FILES, optional)})


def _put(folder: Path, content: dict[str, bytes]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, some in content.items():
        (folder / name).write_bytes(some)


def _contents(paths: dict[str, Path]) -> dict[str, bytes]:
    return {name: path.read_bytes() for name, path in paths.items()}


def _pack(path: Path, prefix: str, content: dict[str, bytes]) -> None:
    """A zip or a tar archive, as the file is called."""
    if path.suffix in (".zip", ".whl"):
        with zipfile.ZipFile(path, "w") as packed:
            for name, some in content.items():
                packed.writestr(f"{prefix}/{name}", some)
        return
    with tarfile.open(path, "w:gz") as tar:
        for name, some in {**{f"{prefix}/{name}": some for name, some in content.items()}, "a.bin": b"other"}.items():
            member = tarfile.TarInfo(name)
            member.size = len(some)
            tar.addfile(member, io.BytesIO(some))


def test_the_data_root_goes_before_mirror_and_sources(public: pytest.MonkeyPatch, tmp_path: Path) -> None:
    _offer(public, "https://127.0.0.1:9/{name}")
    _put(tmp_path / "root/toy/raw", {"a.bin": CONTENT["a.bin"]})
    _put(tmp_path / "mirror/toy/raw", {"a.bin": b"wrong", "b.bin": CONTENT["b.bin"]})
    public.setenv("SEMICROWD_MIRROR", str(tmp_path / "mirror"))
    assert _contents(fetch("toy", tmp_path / "root")) == CONTENT
    public.delenv("SEMICROWD_MIRROR")
    assert _contents(fetch("toy", tmp_path / "root")) == CONTENT


def test_a_wrong_file_is_named_wherever_it_is(public: pytest.MonkeyPatch, tmp_path: Path) -> None:
    _offer(public)
    _put(tmp_path / "root/toy/raw", {**CONTENT, "b.bin": b"wrong"})
    with pytest.raises(UserError, match=str(tmp_path / "root/toy/raw/b.bin")):
        fetch("toy", tmp_path / "root")
    public.setenv("SEMICROWD_MIRROR", str(tmp_path / "root"))
    with pytest.raises(UserError, match=str(tmp_path / "root/toy/raw/b.bin")):
        fetch("toy", tmp_path / "other")
    assert not (tmp_path / "other/toy/raw/b.bin").exists()


@pytest.mark.parametrize("source", ["right.zip#some/raw", "right.tar.gz#some/raw", "{name}", "{name}.gz"])
def test_addresses(public: pytest.MonkeyPatch, tmp_path: Path, served: Served, source: str) -> None:
    for name in ("right.zip", "right.tar.gz"):
        _pack(served.folder / name, "some/raw", CONTENT)
    _put(served.folder, {**CONTENT, **{f"{name}.gz": gzip.compress(some) for name, some in CONTENT.items()}})
    _put(served.folder, {"broken.tar.gz": b"no archive", "wrong.zip": b""})
    _pack(served.folder / "wrong.zip", "some/raw", {"a.bin": b"wrong"})
    bad = [f"{served.address}/{name}" for name in ("absent.zip#raw", "broken.tar.gz#raw", "wrong.zip#some/raw")]
    _offer(public, *bad, f"{served.address}/{source}")
    assert _contents(fetch("toy", tmp_path / "root")) == CONTENT


def test_wheels_and_packages_of_npm(public: pytest.MonkeyPatch, tmp_path: Path) -> None:
    index = tmp_path / "index"
    index.mkdir()
    wheel = index / "toy-1.0-py3-none-any.whl"
    _pack(wheel, "toy/raw", {"a.bin": CONTENT["a.bin"]})
    with zipfile.ZipFile(wheel, "a") as archive:
        archive.writestr("toy-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: toy\nVersion: 1.0\n")
        archive.writestr("toy-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        archive.writestr("toy-1.0.dist-info/RECORD", "")
    public.setenv("PIP_NO_INDEX", "1")
    public.setenv("PIP_FIND_LINKS", str(index))
    _pack(index / "toy-1.0.tgz", "package/data", {"b.bin": CONTENT["b.bin"]})
    _put(tmp_path / "bin", {"npm": f"#!/bin/sh\ncp {index}/toy-1.0.tgz .\n".encode()})
    (tmp_path / "bin/npm").chmod(0o755)
    public.setenv("PATH", f"{tmp_path / 'bin'}:/bin:/usr/bin")
    _offer(public, "pypi:absent==1.0#raw", "pypi:toy==1.0#toy/raw", "npm:toy@1.0#package/data")
    assert _contents(fetch("toy", tmp_path / "root")) == CONTENT
    assert not [name for name in sys.modules if name == "toy"]


def test_what_nobody_has_is_named_with_its_place(public: pytest.MonkeyPatch, tmp_path: Path) -> None:
    _offer(public, "http://127.0.0.1:9/{name}", "npm:toy@1.0#package")
    public.setenv("PATH", str(tmp_path))
    with pytest.raises(UserError) as caught:
        fetch("toy", tmp_path / "root")
    for named in ("a.bin, b.bin", str(tmp_path / "root/toy/raw"), "SEMICROWD_MIRROR", "127.0.0.1:9", "npm:toy"):
        assert named in str(caught.value)
    public.setenv("SEMICROWD_OFFLINE", "1")
    with pytest.raises(UserError, match="SEMICROWD_OFFLINE"):
        fetch("toy", tmp_path / "root")


def test_optional_files_are_not_downloaded_for_their_own_sake(public: pytest.MonkeyPatch, tmp_path: Path) -> None:
    _offer(public, "http://127.0.0.1:9/{name}", optional=("b.bin",))
    _put(tmp_path / "root/toy/raw", {"a.bin": CONTENT["a.bin"]})
    assert set(fetch("toy", tmp_path / "root")) == {"a.bin"}


def test_a_data_root_that_cannot_be_written_is_named(public: pytest.MonkeyPatch, tmp_path: Path) -> None:
    _offer(public)
    _put(tmp_path / "mirror/toy/raw", CONTENT)
    public.setenv("SEMICROWD_MIRROR", str(tmp_path / "mirror"))
    (tmp_path / "file").touch()
    with pytest.raises(UserError, match=str(tmp_path / "file")):
        fetch("toy", tmp_path / "file")


def test_runs_that_start_together(public: pytest.MonkeyPatch, tmp_path: Path, served: Served) -> None:
    _pack(served.folder / "right.tar.gz", "raw", CONTENT)
    _offer(public, f"{served.address}/right.tar.gz#raw")
    with ProcessPoolExecutor(4, get_context("fork")) as pool:
        made = list(pool.map(fetch, ["toy"] * 4, [tmp_path / "root"] * 4))
    assert list(map(_contents, made)) == [CONTENT] * 4
