"""Snapshots of the clusters: what they hold, that they change nothing else, and that they survive a stop."""

import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from tests.small_fits import SmallFit, small_fit

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.errors import UserError
from semicrowd.fitting.module import ClusteringModule
from semicrowd.fitting.monitor import Monitor
from semicrowd.fitting.snapshots import Snapshots, read_snapshots
from semicrowd.fitting.training import train
from semicrowd.random import torch_stream
from semicrowd.settings.training import RunSettings, TrainerSettings


def images() -> np.ndarray:
    """Sixty of 3 × 4 pixels, of two kinds."""
    rng = np.random.default_rng(0)
    bright = np.repeat(rng.random((2, 12)) > 0.5, 30, axis=0)
    return np.clip(bright + rng.normal(0, 0.2, (60, 12)), 0, 1).astype(np.float32)


def answers() -> PairAnnotations:
    return PairAnnotations.from_arrays([0, 1, 31, 2], [1, 40, 35, 50], [0, 0, 1, 1], [1, 0, 1, 0], num_items=60)


def new(name: str, restarts: int = 2, seed: int = 0) -> SmallFit[Any]:
    return small_fit(
        name, images(), answers(), image_shape=(3, 4), K=4, hidden=(6,), likelihood="bernoulli", epochs=3,
        batch_size=10, start={"kind": "cold"}, restarts=restarts, seed=seed, initial_variance=0.1, learning_rate=0.001,
    )  # fmt: skip


def run(
    fit: SmallFit[Any], folder: Path, log: Callable[[int, Mapping[str, float]], Any] = lambda *_: None,
    snapshots: tuple[int, ...] = (), resume: bool = False,
) -> Snapshots | None:  # fmt: skip
    monitor = Monitor(folder, log, resume, snapshots=snapshots)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # of Lightning against this torch
        train(ClusteringModule(fit.model, fit.data, fit.recipe), monitor, TrainerSettings(accelerator="cpu"))
    return monitor.kept


def equal(one: Snapshots, other: Snapshots) -> bool:
    return all(np.array_equal(vars(one)[name], vars(other)[name]) for name in vars(one))


def test_a_run_that_stopped_after_its_last_epoch_has_them_when_it_is_resumed(tmp_path: Path) -> None:
    kept = run(new("scdc"), tmp_path, snapshots=(1,))
    again = run(new("scdc"), tmp_path, snapshots=(1,), resume=True)
    assert kept is not None
    assert again is not None
    assert equal(again, kept)


@pytest.mark.parametrize("model", ["bayes", "scdc"])
def test_they_hold_the_best_restart_at_the_start_after_the_epochs_and_at_the_end(model: str, tmp_path: Path) -> None:
    one = new(model, seed=1)
    kept = run(one, tmp_path, snapshots=(0, 1))
    found = read_snapshots(tmp_path)
    assert kept is not None
    assert found is not None
    assert equal(kept, found)
    assert found.epochs.tolist() == [0, 1, 3]
    assert (found.weights.shape, found.samples.shape) == ((3, 4), (3, 4, 12))
    best = int(one.elbo()["total"].argmax())
    assert best > 0  # with this seed: else the first restart would do
    np.testing.assert_array_equal(found.weights[-1], one.model.cluster_weights()[best].float().numpy())
    samples = one.model.sample(1, torch_stream(1, "evaluation/snapshots"))[best, :, 0]
    np.testing.assert_array_equal(found.samples[-1], samples.float().numpy())
    assert not np.array_equal(found.samples[0], found.samples[1])


def test_all_else_is_the_same_with_and_without_them(tmp_path: Path) -> None:
    with_them, without = new("bayes"), new("bayes")
    assert run(with_them, tmp_path / "0", snapshots=(0, 1, 2)) is not None
    assert run(without, tmp_path / "1") is None
    assert read_snapshots(tmp_path / "1") is None
    assert (tmp_path / "0" / "curves.csv").read_bytes() == (tmp_path / "1" / "curves.csv").read_bytes()
    for name, value in with_them.model.state_dict().items():
        assert torch.equal(value, without.model.state_dict()[name]), name


def test_a_run_that_is_stopped_and_resumed_has_those_of_one_that_was_not(tmp_path: Path) -> None:
    run(new("bayes"), tmp_path / "whole", snapshots=(0, 1))

    def stop(epoch: int, metrics: Mapping[str, float]) -> None:
        if epoch == 2:  # before its checkpoint is written
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(new("bayes"), tmp_path / "stopped", stop, snapshots=(0, 1))
    stopped = read_snapshots(tmp_path / "stopped")
    assert stopped is not None
    assert stopped.epochs.tolist() == [0, 1]
    kept = run(new("bayes"), tmp_path / "stopped", snapshots=(0, 1), resume=True)
    whole = read_snapshots(tmp_path / "whole")
    assert whole is not None
    assert kept is not None
    assert equal(kept, whole)
    names = [folder / "snapshots.npz" for folder in (tmp_path / "stopped", tmp_path / "whole")]
    assert names[0].read_bytes() == names[1].read_bytes()


@pytest.mark.parametrize("wanted", [(-1,), (0.5,), 3, (True,), "start"])
def test_what_is_no_list_of_epochs_is_refused(wanted: Any) -> None:
    with pytest.raises(UserError, match=r"^snapshots="):
        RunSettings(snapshots=wanted)
