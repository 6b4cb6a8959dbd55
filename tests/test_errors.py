"""What surrounds a command: its errors, who reads it, the terminal, the user and the folder that it is called in."""

import argparse
import contextlib
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import semicrowd as semicrowd_package
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


COMMAND = [sys.executable, "-B", "-m", "semicrowd"]
#: What other processes have; without HOME and the user's name.
SOURCE = str(Path(semicrowd_package.__file__).parents[1])
PLAIN = {"PATH": os.environ["PATH"], "PYTHONPATH": SOURCE, "OMP_NUM_THREADS": "1"}


def test_a_mistake_is_one_line_without_control_characters_and_passwords() -> None:
    error = UserError("a\n  b \x1b[31m sqlite:///a@b https://ann:secret@example.org/x postgresql+psycopg2://ann@db/y\n")
    assert str(error) == "a b ?[31m sqlite:///a@b https://…@example.org/x postgresql+psycopg2://…@db/y"


@pytest.mark.parametrize("variables", [{"PYTHONIOENCODING": "ascii"}, {"PYTHONIOENCODING": "latin-1"},
                                       {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}])  # fmt: skip
def test_a_terminal_that_is_not_utf_8(variables: dict[str, str]) -> None:
    done = subprocess.run([*COMMAND, "train", "--help"], env=PLAIN | variables, capture_output=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, b"")
    assert len(done.stdout) > 1000


_NAMELESS = """
import os, pwd, sys
def nobody(*_): raise KeyError("uid not found")
pwd.getpwuid = nobody
from semicrowd.__main__ import main
sys.exit(main(sys.argv[1:]))
"""


def test_a_user_without_name_and_home(tmp_path: Path) -> None:
    """Tracked, with figures."""
    (tmp_path / "items.csv").write_text("x,y\n" + "".join(f"{k},{k * k % 7}\n" for k in range(20)))
    done = subprocess.run(
        [sys.executable, "-B", "-c", _NAMELESS, "train", "data=table", "data.path=items.csv", "model=kmeans",
         "model.K=2", "figures=true", "hydra.run.dir=run", "logger.uri=sqlite:///m.db"],
        env=PLAIN, cwd=tmp_path, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "run" / "report.html").exists()


def test_the_folder_of_numbas_cache_is_the_users_or_none(tmp_path: Path) -> None:
    (tmp_path / "one.py").write_text("from semicrowd.inference.compiled import compiled\nprint(compiled(lambda: 1)())")
    for folder in (tmp_path / "cache", Path("/proc/none")):
        done = subprocess.run([sys.executable, "-B", tmp_path / "one.py"], env=PLAIN | {"NUMBA_CACHE_DIR": str(folder)},
                              capture_output=True, text=True, timeout=60)  # fmt: skip
        assert (done.returncode, done.stdout) == (0, "1\n"), done.stderr
    assert list((tmp_path / "cache").iterdir())


@pytest.mark.parametrize("place", ["gone", os.fsdecode(b"here\xff"), "."])
def test_a_folder_that_is_gone_and_names_that_are_no_utf_8(tmp_path: Path, place: str) -> None:
    arguments = "train", os.fsdecode(b"data.path=items\xff.csv") if place == "." else "data.path=items.csv"
    (tmp_path / place).mkdir(exist_ok=True)
    gone = f"rmdir {tmp_path}/gone; " if place == "gone" else ""
    done = subprocess.run(["sh", "-c", f'{gone}exec "$@"', "sh", *COMMAND, *arguments], cwd=tmp_path / place, env=PLAIN,
                          capture_output=True, text=True, timeout=60)  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert {"gone": "current folder", ".": "items?.csv"}.get(place, "here?") in done.stderr


_WARNS = """
import warnings
import numpy as np
import pandas as pd
from semicrowd import CoTraining, KMeansOnly, read_answers, write_report

X = pd.DataFrame({"a": np.arange(30.0) % 2, "b": np.sin(np.arange(30))}, index=[f"r{k}" for k in range(30)])
answers = pd.DataFrame({"i": ["r0", "r1", "r2"], "j": ["r2", "r3", "r4"], "label": [1, 0, ""]})
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    KMeansOnly().fit_predict(X, pairs=answers)
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
