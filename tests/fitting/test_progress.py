"""What a fit says of its progress where the output is no terminal."""

import io
import re
from functools import partial

import numpy as np
import pytest
from rich.console import Console

from semicrowd import DPM, CoTraining
from semicrowd.crowd import simulate
from semicrowd.fitting import progress
from semicrowd.fitting.progress import Progress
from semicrowd.starts.course import Course, Step
from semicrowd.starts.portfolio import Portfolio

X = np.concatenate([np.random.default_rng(0).normal(size=(30, 2)) + at for at in (-4, 4)])
KIND = np.repeat([0, 1], 30)


def test_lines_come_when_five_seconds_and_a_tenth_of_the_time_have_passed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = iter(np.arange(300, dtype=float))
    monkeypatch.setattr("semicrowd.fitting.progress.time.monotonic", lambda: next(now))
    with Progress(200) as bar:
        bar.progress("start: cells")
        for done in range(1, 201):
            bar.reach(done)
    told = [int(seconds) for seconds in re.findall(r"^\[(\d+) s\]", capsys.readouterr().err, re.M)]
    assert told[:4] == [5, 10, 15, 20]
    assert told[-1] - told[-2] == np.ceil(told[-1] / 10)
    assert (np.diff(told) >= np.maximum(progress._LINE_SECONDS, np.array(told[1:]) / 10)).all()


@pytest.mark.usefixtures("quick_cotraining")
@pytest.mark.parametrize("verbose", [False, True])
def test_a_verbose_fit_says_what_it_does_and_another_one_nothing(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, verbose: bool
) -> None:
    monkeypatch.setattr(progress, "_LINE_SECONDS", 0.0)
    monkeypatch.setattr(progress, "_LINE_SHARE", 0.0)
    asked = {"num_annotators": 3, "pairs_per_annotator": 80, "num_annotated": 30}
    answers = simulate.two_coin(KIND, np.random.default_rng(0), **asked)
    CoTraining(verbose=verbose).fit(X, pairs=answers)
    DPM(n_sweeps=20, n_chains=2, verbose=verbose).fit(X)
    said = capsys.readouterr()
    assert said.out == ""
    if not verbose:
        assert said.err == ""
        return
    assert re.search(r"^\[\d+ s\] start 1/\d+: few cells of standardised features", said.err, re.M)
    assert re.search(r"^\[\d+ s\] start \d+/\d+, some \d+ s left: networks of the answers", said.err, re.M)
    assert re.search(r"^\[\d+ s\] iteration 19/20, \d+ s left$", said.err, re.M)


def test_the_time_left_of_a_start_is_that_passed_times_the_work_left_over_the_work_done(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [100.0]
    monkeypatch.setattr("semicrowd.fitting.progress.time.monotonic", lambda: now[0])
    with Progress(20) as bar:
        bar.progress("start 1/40: of something else")
        now[0] += 50
        course = Course(bar.progress, {"short": (2, 1.0), "long": (2, 4.0), "never": (1, 6.0)})
        for kind, seconds in (("short", 10), ("short", 10), ("long", 40), ("long", 40)):
            course.step(kind, f"start: {kind}")
            now[0] += seconds
        course.end("start: over")
        now[0] += 10
        bar.reach(1)
    assert capsys.readouterr().err.splitlines() == [
        "[50 s] start 1/5: short",
        "[60 s] start 2/5, some 2 minutes left: short", "[70 s] start 3/5, some 2 minutes left: long",
        "[110 s] start 4/5, some 2 minutes left: long", "[150 s] start 5/5: over",
    ]  # fmt: skip


def test_on_a_terminal_a_start_has_a_bar_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("semicrowd.data.progress.Console", partial(Console, file=io.StringIO(), force_terminal=True))
    bar = Progress(20)
    course = Course(bar.progress, {"step": (4, 1.0)})

    def shown() -> list[tuple[str, float | None, float, str | None]]:
        tasks = [task for task in bar._progress.tasks if task.visible]
        return [(task.description, task.total, task.completed, task.fields.get("left")) for task in tasks]

    course.step("step", "start: one")
    assert shown() == [("start: one", 4, 0, "")]
    course.step("step", "start: two")
    ((said, total, done, left),) = shown()
    assert (said, total, done) == ("start: two", 4, 1)
    assert left == "some 0 s left"
    bar.progress("start: part of the second step")
    assert shown() == [("start: part of the second step", 4, 1, left)]
    bar.reach(1)
    assert shown() == [("iteration", 20, 1, None)]
    course.end("start: another one ends")
    assert shown() == [("iteration", 20, 1, None)]


@pytest.mark.usefixtures("quick_cotraining")
def test_a_fit_that_takes_its_result_from_an_earlier_one_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    answers = simulate.two_coin(KIND, np.random.default_rng(1), num_annotators=3, pairs_per_annotator=80)
    for again in (False, True):
        CoTraining(random_state=0, verbose=True).fit(X, pairs=answers)
        said = capsys.readouterr().err
        assert ("[0 s] start: co-training as in an earlier fit of this process\n" in said) == again


@pytest.mark.usefixtures("quick_cotraining")
@pytest.mark.parametrize("doubt", [False, True])
def test_the_share_of_a_start_never_goes_back_and_ends_at_1(doubt: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Candidates are fitted again, or not, which nobody knows beforehand."""
    monkeypatch.setattr(Portfolio, "_in_doubt", lambda *_: doubt)
    answers = simulate.two_coin(KIND, np.random.default_rng(0), num_annotators=3, pairs_per_annotator=80)
    said = list[str]()
    Portfolio(X, answers, 0, said.append).cotrained()
    steps = [line for line in said if isinstance(line, Step)]
    assert any("fitted again without fold 2 of 3" in line for line in steps) == doubt
    shares = [step.share for step in steps]
    assert shares == sorted(shares)
    assert (shares[0], shares[-1]) == (0, 1)
    assert all(1 <= step.number <= step.of for step in steps)
    assert len({step.of for step in steps}) == 1
