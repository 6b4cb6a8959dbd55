"""Snapshots of the clusters: what they hold, that they change nothing else, and that they survive a stop."""

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hydra import compose, initialize_config_dir
from omegaconf import DictConfig
from semicrowd.run.cli import CONF
from semicrowd.run.method import Fit
from semicrowd.run.trained_method import TrainedMethod

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.data import Dataset
from semicrowd.errors import UserError
from semicrowd.files import RunDirectory
from semicrowd.fitting.snapshots import Snapshots, read_snapshots, write_snapshots
from semicrowd.random import torch_stream

QUICK = (
    "data=table", "epochs=3", "batch_size=10", "restarts=2", "model.K=4", "model.hidden=[6]", "trainer.progress=false",
    "trainer.accelerator=cpu", "model.start=cold", "model.likelihood=bernoulli",
)  # fmt: skip


def data(image_shape: tuple[int, ...] | None = (3, 4)) -> Dataset:
    rng = np.random.default_rng(0)
    bright = np.repeat(rng.random((2, 12)) > 0.5, 30, axis=0)
    return Dataset("tiny", np.clip(bright + rng.normal(0, 0.2, (60, 12)), 0, 1).astype(np.float32), None,
                   image_shape=image_shape)  # fmt: skip


def answers() -> PairAnnotations:
    return PairAnnotations.from_arrays([0, 1, 31, 2], [1, 40, 35, 50], [0, 0, 1, 1], [1, 0, 1, 0], num_items=60)


def configuration(*overrides: str) -> DictConfig:
    with initialize_config_dir(str(CONF), version_base="1.3"):
        return compose("config", [*QUICK, *overrides])


def method(*overrides: str) -> TrainedMethod:
    return TrainedMethod(configuration(*overrides), data(), answers())


def fit(
    one: TrainedMethod, folder: Path, log_epoch: Callable[[int, dict[str, float]], Any] = lambda *_: None,
    resume: bool = False,
) -> Fit:  # fmt: skip
    directory = RunDirectory(folder)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # of Lightning against this torch
        return one.fit(directory, log_epoch, one.resume_point(directory) if resume else None)


def equal(one: Snapshots, other: Snapshots) -> bool:
    return all(np.array_equal(vars(one)[name], vars(other)[name]) for name in vars(one))


@pytest.mark.parametrize("model", ["bayes", "scdc"])
def test_they_hold_the_best_restart_at_the_start_after_the_epochs_and_at_the_end(model: str, tmp_path: Path) -> None:
    one = method(f"model={model}", "snapshots=[0,1]", "seed=3")
    kept = fit(one, tmp_path).snapshots
    found = read_snapshots(tmp_path)
    assert kept is not None
    assert found is not None
    assert equal(kept, found)
    assert found.epochs.tolist() == [0, 1, 3]
    assert (found.weights.shape, found.samples.shape) == ((3, 4), (3, 4, 12))
    best = int(one.model.elbo()["total"].argmax())
    assert best > 0  # with this seed: else the first restart would do
    np.testing.assert_array_equal(found.weights[-1], one.model.cluster_weights()[best].float().numpy())
    samples = one.model.sample(1, torch_stream(3, "evaluation", 2))[best, :, 0]
    np.testing.assert_array_equal(found.samples[-1], samples.float().numpy())
    assert not np.array_equal(found.samples[0], found.samples[1])


def test_the_start_is_the_model_before_its_first_step(tmp_path: Path) -> None:
    kept = fit(method("model=bayes", "restarts=1", "snapshots=[0]"), tmp_path).snapshots
    fresh = method("model=bayes", "restarts=1").model
    assert kept is not None
    np.testing.assert_array_equal(kept.weights[0], fresh.cluster_weights()[0].float().numpy())


def test_all_else_is_the_same_with_and_without_them(tmp_path: Path) -> None:
    with_them, without = method("snapshots=[0,1,2]"), method()
    results = [fit(one, tmp_path / str(n)) for n, one in enumerate((with_them, without))]
    assert results[1].snapshots is None
    assert read_snapshots(tmp_path / "1") is None
    assert (tmp_path / "0" / "curves.csv").read_bytes() == (tmp_path / "1" / "curves.csv").read_bytes()
    for name, value in with_them.model.state_dict().items():
        assert torch.equal(value, without.model.state_dict()[name]), name


def test_a_run_that_is_stopped_and_resumed_has_those_of_one_that_was_not(tmp_path: Path) -> None:
    fit(method("snapshots=[0,1]"), tmp_path / "whole")

    def stop(epoch: int, metrics: dict[str, float]) -> None:
        if epoch == 2:  # before its checkpoint is written
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fit(method("snapshots=[0,1]"), tmp_path / "stopped", stop)
    stopped = read_snapshots(tmp_path / "stopped")
    assert stopped is not None
    assert stopped.epochs.tolist() == [0, 1]
    kept = fit(method("snapshots=[0,1]"), tmp_path / "stopped", resume=True).snapshots
    whole = read_snapshots(tmp_path / "whole")
    assert whole is not None
    assert kept is not None
    assert equal(kept, whole)
    names = [folder / "snapshots.npz" for folder in (tmp_path / "stopped", tmp_path / "whole")]
    assert names[0].read_bytes() == names[1].read_bytes()


@pytest.mark.parametrize("wanted", ["[4]", "[-1]", "[0.5]", "3", "null", "[true]", "start"])
def test_what_is_no_list_of_epochs_is_refused(wanted: str) -> None:
    with pytest.raises(UserError, match=r"^snapshots=.*: expected a list of epochs from 0 \(the start\) to 3$"):
        method(f"snapshots={wanted}")


def test_data_that_are_no_images_are_refused() -> None:
    with pytest.raises(UserError, match=r"^snapshots=\[1\]: expected \[\], since data=tiny has no images to draw$"):
        TrainedMethod(configuration("snapshots=[1]"), data(None), answers())


def test_a_new_run_removes_those_of_an_earlier_one(tmp_path: Path) -> None:
    with RunDirectory(tmp_path) as directory:
        directory.set_status("finished")
        write_snapshots(Snapshots(np.arange(1), np.ones((1, 2)), np.ones((1, 2, 3))), tmp_path)
        directory.clear()
    assert read_snapshots(tmp_path) is None
