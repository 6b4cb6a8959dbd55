"""What surrounds a command: its errors, who reads it, the terminal, the user that calls it."""

import argparse
import contextlib
import os
import subprocess
import sys
from collections.abc import Callable, Iterator

import pytest

from reproduction.commandline import without_traceback
from semicrowd.errors import UserError

from .conftest import SOURCE

COMMAND = [sys.executable, "-B", "-m", "reproduction"]
#: What other processes have; without HOME and the user's name.
PLAIN = {"PATH": os.environ["PATH"], "PYTHONPATH": str(SOURCE), "OMP_NUM_THREADS": "1"}


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


def help_page() -> int:
    argparse.ArgumentParser().parse_args(["--help"])
    return 0


@pytest.mark.parametrize("main", [much, help_page])
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


def test_the_commands_are_named_and_each_has_a_page() -> None:
    for given, code in (([], 0), (["--help"], 0), (["nonsense"], 2)):
        done = subprocess.run([*COMMAND, *given], env=PLAIN, capture_output=True, text=True, timeout=60)
        assert done.returncode == code
        for name in ("train", "predict", "report", "ui"):
            assert name in done.stdout + done.stderr
            if not given:
                subprocess.run([*COMMAND, name, "--help"], env=PLAIN, capture_output=True, check=True, timeout=60)
