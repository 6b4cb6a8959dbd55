"""Every training command that README and docs/ show is one: its settings exist and go together.

Nothing is run. An ellipsis or NAME stands for what a reader fills in, and is left out.
"""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from semicrowd.run.commandline.arguments import completed, parse
from semicrowd.run.composition import composed, parsed
from semicrowd.run.settings import check_given
from semicrowd.run.sweep import combinations

ROOT = Path(__file__).parents[2]
PROGRAM = "python src/train.py"
#: In a copy of the project, and installed.
_PROGRAMS = re.compile(rf"(?:{re.escape(PROGRAM)}|semicrowd train)(?!\S)")
#: Text in backticks, over the end of a line too, and lines of a block of commands, one going on after a backslash.
_QUOTED = re.compile(r"`([^`]+)`")
_BLOCK = re.compile(r"^```\w*\n(.*?)^```", re.M | re.S)
#: Arguments without the program, as tables have them: at least two.
_ARGUMENTS = re.compile(r"(?:[a-z_]+(?:[./][\w.]+)?=\S+\s+)+[a-z_]+(?:[./][\w.]+)?=\S+")


def shown(text: str) -> Iterator[str]:
    """The arguments of every command in a page of Markdown."""
    for block in _BLOCK.findall(text):
        for line in block.replace("\\\n", " ").splitlines():
            if found := _PROGRAMS.match(line.lstrip()):
                yield line.lstrip()[found.end() :]
    for quoted in _QUOTED.findall(_BLOCK.sub("", text)):
        command = " ".join(quoted.split())
        if found := _PROGRAMS.match(command):
            yield command[found.end() :]
        elif _ARGUMENTS.fullmatch(command) and command.startswith(("data=", "model=")):
            yield command


def arguments(command: str) -> list[str]:
    """As a shell gives them; what a reader fills in is left out."""
    return [one for one in shlex.split(command, comments=True) if not re.search(r"…|<|=NAME$", one)]


COMMANDS = sorted({(page.name, command) for page in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))
                   for command in shown(page.read_text(encoding="utf-8"))})  # fmt: skip


def test_commands_are_found_in_blocks_and_in_lines() -> None:
    text = f"""`{PROGRAM} data=face
model=…` and `data=face model=scdc`, `x=1`
```sh
{PROGRAM} -m model=scdc \\
  seed=0-9  # ten
semicrowd train data=table
semicrowd trains data=table
make demo
```"""
    assert [arguments(one) for one in shown(text)] == [
        ["-m", "model=scdc", "seed=0-9"], ["data=table"], ["data=face"], ["data=face", "model=scdc"],
    ]  # fmt: skip
    assert len(COMMANDS) > 40


@pytest.mark.parametrize(("page", "command"), COMMANDS)
def test_a_command_composes(page: str, command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    several = ["-m"] if "," in command or re.search(r"seed=\d+-", command) else []
    given = arguments(command)
    for path in (tmp_path / one for one in given if one[:1] != "-" and "=" not in one):
        path.parent.mkdir(exist_ok=True)
        path.touch()
    others, more = completed(given)
    asked = parse([*several, *others, *more])
    jobs = combinations(parsed(asked.overrides))
    for overrides in {tuple(one for one in job.overrides if not one.startswith("seed=")) for job in jobs}:
        check_given(composed(overrides))
