"""Snapshots of the clusters: what they hold, that they change nothing else, and that they survive a stop."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from pytorch_lightning.callbacks import LambdaCallback
from tests.small_fits import SmallFit, small_fit, trainer_in

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.random import torch_stream
from semicrowd.training.callbacks import SnapshotRecorder, Snapshots, read_snapshots
from semicrowd.training.module import ClusteringModule
from semicrowd.training.train import train


def images() -> np.ndarray:
    """Sixty of 3 × 4 pixels, of two kinds."""
    rng = np.random.default_rng(0)
    bright = np.repeat(rng.random((2, 12)) > 0.5, 30, axis=0)
    return np.clip(bright + rng.normal(0, 0.2, (60, 12)), 0, 1).astype(np.float32)


def answers() -> PairAnnotations:
    return PairAnnotations.from_arrays([0, 1, 31, 2], [1, 40, 35, 50], [0, 0, 1, 1], [1, 0, 1, 0], num_items=60)


def new(name: str, restarts: int = 2, seed: int = 0) -> SmallFit[Any]:
    return small_fit(
        name, images(), answers(), image_shape=(3, 4), n_clusters=4, hidden=(6,), likelihood="bernoulli", epochs=3,
        batch_size=10, init="cold", restarts=restarts, seed=seed, initial_variance=0.1, learning_rate=0.001,
    )  # fmt: skip


def run(
    fit: SmallFit[Any], folder: Path, snapshots: tuple[int, ...] | None,
    at_epoch: Callable[[int], None] = lambda _: None, resume: bool = False,
) -> Snapshots | None:  # fmt: skip
    hook = LambdaCallback(on_train_epoch_end=lambda trainer, _: at_epoch(trainer.current_epoch + 1))
    recorder = [] if snapshots is None else [SnapshotRecorder(snapshots)]
    module = ClusteringModule(fit.model, fit.data, begin=not resume)
    train(module, trainer_in(folder, hook, *recorder), folder / "last.ckpt" if resume else None)
    return read_snapshots(folder)


def equal(one: Snapshots, other: Snapshots) -> bool:
    return all(np.array_equal(vars(one)[name], vars(other)[name]) for name in vars(one))


def test_a_run_that_stopped_after_its_last_epoch_has_them_when_it_is_resumed(tmp_path: Path) -> None:
    kept = run(new("scdc"), tmp_path, (1,))
    again = run(new("scdc"), tmp_path, (1,), resume=True)
    assert kept is not None
    assert again is not None
    assert equal(again, kept)


@pytest.mark.parametrize("model", ["bayes", "scdc"])
def test_they_hold_the_best_restart_at_the_start_after_the_epochs_and_at_the_end(model: str, tmp_path: Path) -> None:
    one = new(model, seed=1)
    found = run(one, tmp_path, (0, 1))
    assert found is not None
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
    assert run(with_them, tmp_path / "0", (0, 1, 2)) is not None
    assert run(without, tmp_path / "1", None) is None
    for name, value in with_them.model.state_dict().items():
        assert torch.equal(value, without.model.state_dict()[name]), name


def test_a_run_that_is_stopped_and_resumed_has_those_of_one_that_was_not(tmp_path: Path) -> None:
    run(new("bayes"), tmp_path / "whole", (0, 1))

    def stop(epoch: int) -> None:
        if epoch == 2:  # before its checkpoint is written
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(new("bayes"), tmp_path / "stopped", (0, 1), stop)
    stopped = read_snapshots(tmp_path / "stopped")
    assert stopped is not None
    assert stopped.epochs.tolist() == [0, 1]
    kept = run(new("bayes"), tmp_path / "stopped", (0, 1), resume=True)
    whole = read_snapshots(tmp_path / "whole")
    assert whole is not None
    assert kept is not None
    assert equal(kept, whole)
    names = [folder / "snapshots.npz" for folder in (tmp_path / "stopped", tmp_path / "whole")]
    assert names[0].read_bytes() == names[1].read_bytes()
