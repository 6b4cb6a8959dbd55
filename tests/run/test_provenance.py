"""Which changes make a result one of no commit."""

import subprocess
from pathlib import Path

import pytest

from semicrowd.run.files import provenance


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with one committed source file, of which the module takes itself to be a part."""
    source = tmp_path / "src" / "package" / "module.py"
    source.parent.mkdir(parents=True)
    source.write_text("one = 1\n")
    who = ["-c", "user.name=nobody", "-c", "user.email=nobody@example.org", "-c", "commit.gpgsign=false"]
    for words in (["init", "--quiet"], ["add", "."], [*who, "commit", "--quiet", "--message", "first"]):
        subprocess.run(["git", *words], cwd=tmp_path, check=True)
    monkeypatch.setattr(provenance, "__file__", str(source))
    return tmp_path


@pytest.mark.parametrize(
    ("changed", "dirty"),
    [
        (None, False),
        ("dvc.lock", False),
        ("features.csv", False),
        ("src/package/module.py", True),
        ("src/package/new.py", True),
        ("conf/experiment/new.yaml", True),
    ],
)
def test_dirty_is_said_of_code_and_configurations_alone(clone: Path, changed: str | None, dirty: bool) -> None:
    if changed is not None:
        (clone / changed).parent.mkdir(parents=True, exist_ok=True)
        (clone / changed).write_text("two = 2\n")
    made = provenance.revision()
    assert made["dirty"] is dirty
    assert len(made["commit"]) == 40


def test_outside_a_repository_nothing_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    monkeypatch.setattr(provenance, "__file__", str(tmp_path / "module.py"))
    made = provenance.revision()
    assert made["commit"] is None
    assert made["dirty"] is None
