"""Every command of README, docs/ and the Makefile is one: Hydra composes it, and its model takes its parameters.

Nothing is fitted. An ellipsis or NAME stands for what a reader fills in, and is left out.
"""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hydra import compose, initialize_config_dir
from hydra._internal.core_plugins.basic_sweeper import BasicSweeper
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.utils import instantiate

from reproduction import predict
from reproduction.app import CONF, arguments

ROOT = Path(__file__).parents[2]
PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))
#: In a copy of the project, and installed.
TRAIN = re.compile(r"(?:python src/train\.py|semicrowd train)(?!\S)")
PREDICT = re.compile(r"(?:python src/predict\.py|semicrowd predict)(?!\S)")
#: Text in backticks, over the end of a line too, and lines of a block of commands, one going on after a backslash.
_QUOTED = re.compile(r"`([^`]+)`")
_BLOCK = re.compile(r"^```\w*\n(.*?)^```", re.M | re.S)
#: Arguments without the program, as tables have them: at least two.
_ARGUMENTS = re.compile(r"(?:data|model|experiment)=\S+(?:\s+[a-z_]+(?:[./][\w.]+)?=\S+)+")


def shown(text: str, program: re.Pattern[str]) -> Iterator[str]:
    """The arguments of every command of a program in a page of Markdown."""
    for block in _BLOCK.findall(text):
        for line in block.replace("\\\n", " ").splitlines():
            if found := re.search(rf"^[^#]*?{program.pattern}", line):
                yield line[found.end() :]
    for quoted in _QUOTED.findall(_BLOCK.sub("", text)):
        command = " ".join(quoted.split())
        if found := program.match(command):
            yield command[found.end() :]
        elif program is TRAIN and _ARGUMENTS.fullmatch(command):
            yield command


def words(command: str) -> list[str]:
    """As a shell gives them; what a reader fills in is left out."""
    return [word for word in shlex.split(command, comments=True) if not re.search(r"…|<|=NAME$", word)]


def commands(program: re.Pattern[str]) -> list[tuple[str, str]]:
    texts = {page.name: page.read_text("utf-8") for page in PAGES}
    texts["Makefile"] = f"```\n{(ROOT / 'Makefile').read_text('utf-8').replace('$(PY)', 'python')}```"
    found = sorted({(name, command) for name, text in texts.items() for command in shown(text, program) if command})
    assert len(found) > (40 if program is TRAIN else 0)
    return found


@pytest.mark.parametrize(("page", "command"), commands(TRAIN))
def test_a_training_composes(page: str, command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for word in words(command):
        if word[:1] != "-" and "=" not in word:
            path = tmp_path / word
            path.parent.mkdir(exist_ok=True)
            path.touch() if path.suffix else path.mkdir()
    given = [word for word in arguments(words(command)) if word[:1] != "-" and word != "job"]
    jobs = BasicSweeper.split_arguments(OverridesParser.create().parse_overrides(given), None)[0]
    with initialize_config_dir(CONF, version_base="1.3"):
        for job in {tuple(one for one in job if not one.startswith("seed=")) for job in jobs}:
            config: Any = compose("config", list(job))
            config.n_classes, config.trainer = config.n_classes or 5, None
            instantiate(config.model, _convert_="all")._validate_params()


@pytest.mark.parametrize(("page", "command"), commands(PREDICT))
def test_a_prediction_has_arguments_of_the_program(page: str, command: str) -> None:
    assert predict.parser().parse_args(words(command)).run.parts[0] == "runs"
