"""What a command does where nobody reads what it prints: ``semicrowd check … | head -1``."""

import argparse
import contextlib
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from rich.console import Console

from semicrowd.__main__ import COMMANDS
from semicrowd.__main__ import main as semicrowd
from semicrowd.errors import UserError, without_traceback


@contextlib.contextmanager
def unread() -> Iterator[None]:
    """Standard output is a pipe whose reader has gone."""
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w") as stream:
        with contextlib.redirect_stdout(stream):
            yield
        # What is left in it goes nowhere, whether or not the command has seen to that.
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def much() -> int:
    print("line\n" * 100_000)
    return 0


def little() -> int:
    print("a line")
    return 0


def table() -> int:
    Console(width=80).print("a line\n" * 10_000)
    return 0


def help_page() -> int:
    argparse.ArgumentParser().parse_args(["--help"])
    return 0


@pytest.mark.parametrize("main", [much, little, table, help_page])
def test_a_command_that_nobody_reads_ends_as_others_do(main: Callable[[], int]) -> None:
    with unread():
        assert without_traceback(main)() == 141
        print("a word more", flush=True)  # as at the interpreter's end


def test_a_mistake_is_told_even_so(capsys: pytest.CaptureFixture[str]) -> None:
    def mistaken() -> int:
        raise UserError("items.csv: no such file")

    with unread():
        assert without_traceback(mistaken)() == 2
    assert capsys.readouterr().err == "error: items.csv: no such file\n"


def test_a_pipe_to_a_process_of_ours_is_another_matter() -> None:
    def worker() -> int:
        raise BrokenPipeError

    with pytest.raises(BrokenPipeError):
        without_traceback(worker)()


@pytest.mark.parametrize("command", [*COMMANDS, None])
def test_every_command_is_of_that_kind(command: str | None) -> None:
    with unread():
        assert semicrowd(["--help"] if command is None else [command, "--help"]) == 141


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_check_says_nothing_when_head_has_its_line(tmp_path: Path, unbuffered: str) -> None:
    (tmp_path / "items.csv").write_text("x,y\n" + "".join(f"{k},{k * k % 7}\n" for k in range(40)))
    reader, writer = os.pipe()
    os.close(reader)
    source = Path(__file__).parents[1] / "src" / "check.py"
    done = subprocess.run(
        [sys.executable, str(source), "data.path=items.csv"], cwd=tmp_path, stdout=writer, stderr=subprocess.PIPE,
        env=os.environ | {"PYTHONUNBUFFERED": unbuffered}, text=True, check=False,
    )  # fmt: skip
    os.close(writer)
    assert (done.returncode, done.stderr) == (141, "")


_WARNS = """
import warnings
import numpy as np
import pandas as pd
from semicrowd import CoTraining, KMeansOnly, read_answers, write_report

X = pd.DataFrame({"a": np.arange(30.0) % 2, "b": np.sin(np.arange(30))}, index=[f"r{k}" for k in range(30)])
answers = pd.DataFrame({"i": ["r0", "r1", "r2", "zz"], "j": ["r2", "r3", "r4", "r1"], "label": [1, 0, "?", 0]})
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    KMeansOnly().fit_predict(X.assign(id=range(30)), pairs=answers)
    CoTraining(random_state=0).fit(X, pairs=answers)
    write_report(KMeansOnly().fit(X, answers), X, answers, "page.html")
    read_answers(answers)
print(*(f"{one.filename.rpartition('/')[2]} {one.lineno} {one.category.__name__}" for one in caught), sep="\\n")
"""


def test_a_warning_names_the_users_line_however_deep_its_cause_is_found(tmp_path: Path) -> None:
    """Not in this process: while tests run, each function of the package is called by one that checks its arguments."""
    (tmp_path / "mine.py").write_text(_WARNS)
    found = subprocess.run([sys.executable, "mine.py"], cwd=tmp_path, capture_output=True, text=True, check=True)
    lines = [one.split() for one in found.stdout.splitlines()]
    assert {file for file, *_ in lines} == {"mine.py"}
    assert {int(line) for _, line, _ in lines} == {11, 12, 13, 14}
    assert "UnreliableResultWarning" in {category for *_, category in lines}
