"""docs/tutorial.md does what it says: all its blocks are run, in the order of the page, in a folder of their own.

Blocks of Python share their names, a line of a block ``sh`` is a command of the program, and each line of a block
``text`` has to be in the output of the block before it.
"""

import contextlib
import io
import os
import re
import shlex
import sys
from importlib import import_module
from pathlib import Path
from typing import Any
from unittest.mock import patch

import jaxtyping
import pytest

from reproduction.__main__ import COMMANDS

PAGE = Path(__file__).parents[2] / "docs" / "tutorial.md"
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.M | re.S)
#: What README.md shows of the first fit: below its command.
README = re.findall(
    r"^\$ semicrowd train [^\n]+\n(.*?)^```", PAGE.parents[1].joinpath("README.md").read_text(), re.M | re.S
)


@pytest.mark.slow  # two fits: a minute of one core
def test_the_tutorial_does_what_it_says(tmp_path: Path) -> None:
    names: dict[str, Any] = {}
    said = everything = ""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("SEMICROWD_")}
    with (
        patch.dict(os.environ, kept | {"OMP_NUM_THREADS": "1"}, clear=True),
        patch.object(sys, "argv", ["semicrowd"]),
        patch.object(jaxtyping.config, "jaxtyping_disable", True),  # whole runs are many calls
        contextlib.chdir(tmp_path),
    ):
        for language, text in BLOCKS:
            if language == "text":
                missing = [line for line in text.splitlines() if " ".join(line.split()) not in said]
                assert not missing, f"{missing} not in:\n{said}"
                continue
            out = io.StringIO()
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
                if language == "python":
                    exec(compile(text, f"{PAGE.name}", "exec"), names)
                else:
                    assert language == "sh"
                    for line in text.splitlines():
                        assert _run(line) == 0, out.getvalue()
            said = "\n".join(" ".join(line.split()) for line in out.getvalue().splitlines())
            everything += said
    (shown,) = README
    assert all(" ".join(line.split()) in everything for line in shown.splitlines())
    assert (tmp_path / "runs" / "first" / "report.html").is_file()
    assert names["second"] > max(0.95, names["first"])
    assert names["new"] > 0.7
    assert not names["first"] > 0.95, "the first fit is said to be wrong about some bottles"


def _run(command: str) -> int:
    """A line of the tutorial, untracked; its exit code."""
    program, name, *arguments = shlex.split(command)
    assert program == "semicrowd"
    untracked = ["logger=none"] if name == "train" else []
    code: int = import_module(COMMANDS[name][0]).main([*arguments, *untracked])
    return code
