"""What a fit says of its progress where the output is no terminal."""

import re

import numpy as np
import pytest

from semicrowd import DPM, CoTraining
from semicrowd.crowd import simulate
from semicrowd.fitting import progress
from semicrowd.fitting.progress import Progress

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
    assert re.search(r"^\[\d+ s\] start: candidate 1 of \d+: few cells", said.err, re.M)
    assert re.search(r"^\[\d+ s\] iteration 19/20, \d+ s left$", said.err, re.M)
