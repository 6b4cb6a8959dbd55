"""The driver of iterations: curves, checkpoints, a stop and what comes after it; with a method that only counts."""

import os
import signal
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from threadpoolctl import threadpool_info

from semicrowd.errors import UserError
from semicrowd.fitting import iterate as driver
from semicrowd.fitting.iterate import Method, iterate
from semicrowd.fitting.monitor import CHECKPOINT, CURVES, Monitor
from semicrowd.fitting.progress import threads_of_a_fit
from semicrowd.fitting.result import Assignment, Result
from semicrowd.starts.recent import ProgressCallback


class Counting(Method):
    """Adds draws of its own stream; every second iteration is worth a point of a curve."""

    def __init__(self, iterations: int = 6) -> None:
        self.iterations, self.total, self.started = iterations, torch.zeros(2), 0

    def start(self, progress: ProgressCallback) -> None:
        progress("counting")
        self.started += 1

    def step(self, iteration: int) -> Mapping[str, float]:
        self.total = self.total + torch.rand(2, generator=torch.Generator().manual_seed(iteration))
        return {"total": float(self.total.sum())} if iteration % 2 else {}

    def state(self) -> dict[str, Any]:
        return {"total": self.total}

    def load_state(self, state: Mapping[str, Any]) -> None:
        if "total" not in state:
            raise UserError("of another method")
        self.total = state["total"]

    def result(self) -> Result:
        found = Assignment.hard(np.array([int(1e6 * self.total[0])]))
        return Result(1, found, found)


class Stopped(Counting):
    """Stopped in its fifth iteration, by whatever a test wants."""

    def __init__(self, by: signal.Signals | None) -> None:
        super().__init__()
        self.by = by

    def step(self, iteration: int) -> Mapping[str, float]:
        if iteration == 4:
            if self.by is None:
                raise KeyboardInterrupt
            os.kill(os.getpid(), self.by)
        return super().step(iteration)


@pytest.fixture(autouse=True)
def every_iteration(monkeypatch: pytest.MonkeyPatch) -> None:
    """A checkpoint after each iteration, however short."""
    monkeypatch.setattr(driver, "EVERY", -1.0)


def test_curves_hold_the_points_and_the_log_hears_them(tmp_path: Path) -> None:
    heard: list[int] = []
    method = Counting()
    monitor = Monitor(tmp_path, lambda iteration, _: heard.append(iteration))
    iterate(method, monitor)
    assert heard == [2, 4, 6]
    rows = (tmp_path / CURVES).read_text().splitlines()
    assert rows[0] == "epoch,total"
    assert [row.split(",")[0] for row in rows[1:]] == ["2", "4", "6"]
    assert float(rows[-1].split(",")[1]) == pytest.approx(float(method.total.sum()), rel=1e-5)
    assert (method.started, monitor.seconds > 0) == (1, True)


@pytest.mark.parametrize("by", [None, signal.SIGTERM, signal.SIGINT])
def test_a_stopped_fit_goes_on_as_if_it_had_not_been(by: signal.Signals | None, tmp_path: Path) -> None:
    expected = iterate(Counting(), Monitor(tmp_path / "whole"))
    with pytest.raises(KeyboardInterrupt):
        iterate(Stopped(by), Monitor(tmp_path / "stopped"))
    method = Counting()
    found = iterate(method, Monitor(tmp_path / "stopped", resume=True))
    assert method.started == 0
    assert found.final.cluster == expected.final.cluster
    curves = [(tmp_path / folder / CURVES).read_bytes() for folder in ("whole", "stopped")]
    assert curves[0] == curves[1]


def test_time_before_the_stop_counts(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        iterate(Stopped(None), Monitor(tmp_path))
    content = torch.load(tmp_path / CHECKPOINT, weights_only=True)
    content["monitor"]["seconds"] = 1000.0
    torch.save(content, tmp_path / CHECKPOINT)
    monitor = Monitor(tmp_path, resume=True)
    iterate(Counting(), monitor)
    assert 1000 < monitor.seconds < 1100
    assert monitor.seconds == monitor.seconds, "the clock stands after the end"


@pytest.mark.parametrize("damage", ["cut", "other", "list", "text", "code"])
def test_a_damaged_checkpoint_is_refused(damage: str, tmp_path: Path) -> None:
    iterate(Counting(), Monitor(tmp_path))
    path = tmp_path / CHECKPOINT
    content = {"cut": path.read_bytes()[: path.stat().st_size // 2], "text": b"no checkpoint"}
    kept: dict[str, Any] = {"other": {"state": 1}, "list": [1], "code": {"done": os.getcwd}}
    if damage in content:
        path.write_bytes(content[damage])
    else:
        torch.save(kept[damage], path)
    with pytest.raises(UserError, match=r"last\.ckpt"):
        iterate(Counting(), Monitor(tmp_path, resume=True))


@pytest.mark.parametrize("threads", [1, 2])
def test_threads_are_those_of_a_fit_within_the_block_alone(threads: int) -> None:
    before = torch.get_num_threads(), [pool["num_threads"] for pool in threadpool_info()]
    with threads_of_a_fit(threads):
        assert torch.get_num_threads() == threads
        assert {pool["num_threads"] for pool in threadpool_info()} == {threads}
    assert (torch.get_num_threads(), [pool["num_threads"] for pool in threadpool_info()]) == before
    with pytest.raises(ZeroDivisionError), threads_of_a_fit(threads):
        _ = 1 / 0
    assert torch.get_num_threads() == before[0]
