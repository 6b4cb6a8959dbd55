"""The fetcher with a small public data set and sources of the test's own."""

import hashlib
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from semicrowd.data import fetch as module
from semicrowd.data.fetch import data_root, fetch
from semicrowd.data.public import PublicData, PublicFile
from semicrowd.data.sources import SourceError
from semicrowd.errors import UserError

CONTENT = {"a.bin": b"first file", "b.bin": b"second file"}


class FakeSource:
    """Gives what it is told to and counts how often it is asked."""

    label = "fake registry"

    def __init__(self, content: Mapping[str, bytes], failure: Exception | None = None) -> None:
        self.content, self.failure = content, failure
        self.asked: list[list[str]] = []

    def get(self, names: Sequence[str], folder: Path) -> None:
        self.asked.append(list(names))
        for name in names:
            if name in self.content:
                (folder / name).write_bytes(self.content[name])
        if self.failure is not None:
            raise self.failure


@pytest.fixture
def public(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    for name in ("SEMICROWD_MIRROR", "SEMICROWD_OFFLINE", "SEMICROWD_DATA"):
        monkeypatch.delenv(name, raising=False)
    return monkeypatch


def _offer(patch: pytest.MonkeyPatch, *sources: FakeSource) -> None:
    files = tuple(PublicFile(n, len(c), hashlib.sha256(c).hexdigest()) for n, c in CONTENT.items())
    patch.setattr(module, "PUBLIC", {"toy": PublicData(Path("toy/raw"), files, sources)})


def _mirror(patch: pytest.MonkeyPatch, folder: Path, content: Mapping[str, bytes]) -> None:
    (folder / "toy/raw").mkdir(parents=True)
    for name, data in content.items():
        (folder / "toy/raw" / name).write_bytes(data)
    patch.setenv("SEMICROWD_MIRROR", str(folder))


def _read(paths: Mapping[str, Path]) -> dict[str, bytes]:
    return {name: path.read_bytes() for name, path in paths.items()}


def test_files_of_the_data_root_are_used_without_asking(public: pytest.MonkeyPatch, tmp_path: Path) -> None:
    source = FakeSource(CONTENT)
    _offer(public, source)
    folder = tmp_path / "toy/raw"
    folder.mkdir(parents=True)
    for name, content in CONTENT.items():
        (folder / name).write_bytes(content)
    assert fetch("toy", tmp_path) == {name: folder / name for name in CONTENT}
    assert source.asked == []


def test_the_mirror_comes_before_the_registry(public: pytest.MonkeyPatch, tmp_path: Path) -> None:
    source = FakeSource(CONTENT)
    _offer(public, source)
    _mirror(public, tmp_path / "mirror", {"a.bin": CONTENT["a.bin"]})
    assert _read(fetch("toy", tmp_path / "data")) == CONTENT
    assert source.asked == [["b.bin"]]
    # All is local afterwards.
    public.delenv("SEMICROWD_MIRROR")
    assert _read(fetch("toy", tmp_path / "data")) == CONTENT
    assert len(source.asked) == 1


@pytest.mark.parametrize("bad", [b"first fil", b"First file", b""], ids=["truncated", "changed", "empty"])
def test_a_bad_file_is_refetched_and_kept_aside(
    public: pytest.MonkeyPatch, tmp_path: Path, bad: bytes, capsys: pytest.CaptureFixture[str]
) -> None:
    source = FakeSource(CONTENT)
    _offer(public, source)
    fetch("toy", tmp_path)
    (tmp_path / "toy/raw/a.bin").write_bytes(bad)
    assert _read(fetch("toy", tmp_path)) == CONTENT
    assert source.asked[1:] == [["a.bin"]]
    assert (tmp_path / "moved-aside/toy/raw/a.bin").read_bytes() == bad
    assert "not the published file, moved to" in capsys.readouterr().err


def test_a_source_that_gives_a_bad_file_is_passed_over(public: pytest.MonkeyPatch, tmp_path: Path) -> None:
    forged = FakeSource({"a.bin": b"First file", "b.bin": CONTENT["b.bin"]})
    honest = FakeSource(CONTENT)
    _offer(public, forged, honest)
    assert _read(fetch("toy", tmp_path)) == CONTENT
    assert honest.asked == [["a.bin"]]


def test_a_source_that_breaks_off_gives_what_it_has(public: pytest.MonkeyPatch, tmp_path: Path) -> None:
    broken = FakeSource({"a.bin": CONTENT["a.bin"], "b.bin": b"sec"}, SourceError("line went dead"))
    honest = FakeSource(CONTENT)
    _offer(public, broken, honest)
    assert _read(fetch("toy", tmp_path)) == CONTENT
    assert honest.asked == [["b.bin"]]


def test_nothing_works(public: pytest.MonkeyPatch, tmp_path: Path) -> None:
    _offer(public, FakeSource({}, SourceError("no such package")), FakeSource({}, ConnectionError("no network")))
    folder = tmp_path / "toy/raw"
    folder.mkdir(parents=True)
    (folder / "a.bin").write_bytes(b"first")
    with pytest.raises(UserError) as caught:
        fetch("toy", tmp_path)
    message = str(caught.value)
    assert "\n" not in message
    for part in (
        "a.bin (5 bytes instead of 10)", "b.bin (missing)", "SEMICROWD_MIRROR is not set", "no such package",
        "no network", f"Put the published files into {folder}",
    ):
        assert part in message
    # The user's file stays where it is, and nothing half-fetched is left.
    assert (folder / "a.bin").read_bytes() == b"first"
    assert sorted(p.name for p in tmp_path.iterdir()) == [".fetch.lock", "toy"]


def test_a_mirror_that_is_wrong_is_named(public: pytest.MonkeyPatch, tmp_path: Path) -> None:
    _offer(public)
    _mirror(public, tmp_path / "mirror", {"a.bin": b"First file"})
    with pytest.raises(UserError, match=r"mirror .*mirror/toy/raw: a\.bin: wrong sha256"):
        fetch("toy", tmp_path / "data")
    public.setenv("SEMICROWD_MIRROR", str(tmp_path / "absent"))
    with pytest.raises(UserError, match=r"mirror .*absent/toy/raw: no a\.bin there"):
        fetch("toy", tmp_path / "data")


def test_offline_leaves_the_network_alone(public: pytest.MonkeyPatch, tmp_path: Path) -> None:
    source = FakeSource(CONTENT)
    _offer(public, source)
    public.setenv("SEMICROWD_OFFLINE", "1")
    with pytest.raises(UserError, match="SEMICROWD_OFFLINE is set"):
        fetch("toy", tmp_path / "data")
    assert source.asked == []
    _mirror(public, tmp_path / "mirror", CONTENT)
    assert _read(fetch("toy", tmp_path / "data")) == CONTENT


def test_a_data_root_that_cannot_be_written(public: pytest.MonkeyPatch, tmp_path: Path) -> None:
    _offer(public, FakeSource(CONTENT))
    (tmp_path / "data").write_text("a file where the folder should be")
    with pytest.raises(UserError, match="files of toy cannot be kept there"):
        fetch("toy", tmp_path / "data")


def test_remains_of_a_killed_download_are_removed(public: pytest.MonkeyPatch, tmp_path: Path) -> None:
    _offer(public, FakeSource(CONTENT))
    (tmp_path / ".fetch-abc").mkdir()
    (tmp_path / ".fetch-abc/a.bin").write_bytes(b"fir")
    fetch("toy", tmp_path)
    assert not (tmp_path / ".fetch-abc").exists()


def test_runs_that_start_together_fetch_once(public: pytest.MonkeyPatch, tmp_path: Path) -> None:
    source = FakeSource(CONTENT)
    _offer(public, source)
    results: list[dict[str, bytes]] = []
    start = threading.Barrier(4)

    def run() -> None:
        start.wait()
        results.append(_read(fetch("toy", tmp_path)))

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [CONTENT] * 4
    assert len(source.asked) == 1


def test_data_root(public: pytest.MonkeyPatch, tmp_path: Path) -> None:
    project = Path(__file__).parents[2]
    assert data_root() == project / "data"
    public.setenv("SEMICROWD_DATA", str(tmp_path))
    assert data_root() == tmp_path
