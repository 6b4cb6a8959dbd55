"""A fit that is stopped between two epochs and goes on is the fit that was not, to the last bit; snapshots of it."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from pytorch_lightning.callbacks import LambdaCallback
from tests.small_fits import ANSWERS, SmallFit, small_fit, trainer_in

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.errors import UserError
from semicrowd.methods.generative import evaluate
from semicrowd.random import torch_stream
from semicrowd.result import Result
from semicrowd.training.callbacks import SnapshotRecorder, read_snapshots
from semicrowd.training.module import ClusteringModule
from semicrowd.training.train import train

EPOCHS, STOPPED = 4, 3
IMAGES = np.random.default_rng(0).random((60, 64)).astype(np.float32)
#: A seed with which the second restart is the better one.
SECOND_BEST = {"bayes": 0, "scdc": 2}
KINDS: dict[str, tuple[str, dict[str, Any]]] = {
    "bayes": ("bayes", {}),
    "scdc": ("scdc", {}),
    "momentum": ("bayes", {"optimizer": "momentum", "learning_rate": 1e-5}),
    "mean direction": ("bayes", {"natural_momentum": 0.9}),
    "full": ("bayes", {"natural_gradient": "full"}),
    "convolutions": ("bayes", {"architecture": "conv", "channels": (2, 3)}),
    "views": ("bayes", {"augmentation": "affine", "likelihood": "bernoulli"}),
    "views of scdc": ("scdc", {"augmentation": "affine", "likelihood": "bernoulli"}),
}


def new(kind: str, answers: PairAnnotations | None = ANSWERS, seed: int = 0) -> SmallFit[Any]:
    name, settings = KINDS[kind]
    return small_fit(
        name, IMAGES, answers, n_clusters=4, hidden=(6,), image_shape=(8, 8), restarts=2, epochs=EPOCHS, batch_size=16,
        seed=seed, **settings,
    )  # fmt: skip


def run(
    fit: SmallFit[Any], folder: Path, at_epoch: Callable[[int], None] = lambda _: None, resume: bool = False,
    snapshots: tuple[int, ...] = (),
) -> tuple[Result, list[dict[str, float]]]:  # fmt: skip
    """The result, and the rows of the curves."""
    module = ClusteringModule(fit.model, fit.data, begin=not resume)
    hook = LambdaCallback(on_train_epoch_end=lambda trainer, _: at_epoch(trainer.current_epoch + 1))
    recorder = [SnapshotRecorder(snapshots)] if snapshots else []
    train(module, trainer_in(folder, hook, *recorder), folder / "last.ckpt" if resume else None)
    return evaluate(fit.model, module.data), module.history


def stop(epoch: int) -> None:
    """Ctrl-C before the checkpoint of this epoch is written."""
    if epoch == STOPPED:
        raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("kind", "with_answers"),
    [*((kind, True) for kind in KINDS), ("bayes", False), ("scdc", False)],
)
def test_it_ends_the_same(kind: str, with_answers: bool, tmp_path: Path) -> None:
    answers = ANSWERS if with_answers else None
    whole, first, second = (new(kind, answers) for _ in range(3))
    expected, curves = run(whole, tmp_path / "whole")
    with pytest.raises(KeyboardInterrupt):
        run(first, tmp_path / "stopped", stop)
    assert any(not torch.equal(a, b) for a, b in zip(first.model.parameters(), whole.model.parameters(), strict=True))
    found, continued = run(second, tmp_path / "stopped", resume=True)
    for name, value in whole.model.state_dict().items():
        assert torch.equal(value, second.model.state_dict()[name]), name
    for one, other in ((expected.final, found.final), (expected.features, found.features)):
        assert one.cluster.tobytes() == other.cluster.tobytes()
        assert one.probability.tobytes() == other.probability.tobytes()
    assert curves == continued
    assert [row["epoch"] for row in curves] == [*range(1, 1 + EPOCHS)]


def test_a_checkpoint_that_is_damaged_or_not_whole_is_refused(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        run(new("scdc"), tmp_path, stop)
    path = tmp_path / "last.ckpt"
    good, whole = torch.load(path, weights_only=True), path.read_bytes()
    damaged: list[Any] = [whole[: len(whole) // 2], b"no checkpoint", {"state": 1}]
    parts = "optimizer_states", "loops", "epoch", "state_dict", "verdicts", "history"
    damaged += [{key: value for key, value in good.items() if key != part} for part in parts]
    for content in damaged:
        path.write_bytes(content) if isinstance(content, bytes) else torch.save(content, path)
        with pytest.raises(UserError, match=re.escape(str(path))):
            run(new("scdc"), tmp_path, resume=True)
    path.write_bytes(whole)
    with pytest.raises(UserError, match=r"last\.ckpt"):
        run(new("bayes"), tmp_path, resume=True)


@pytest.mark.parametrize("kind", ["bayes", "scdc"])
def test_snapshots_are_of_the_best_restart_at_the_start_after_epochs_and_at_the_end(kind: str, tmp_path: Path) -> None:
    one = new(kind, seed=SECOND_BEST[kind])
    run(one, tmp_path, snapshots=(0, 1))
    found = read_snapshots(tmp_path)
    assert found.epochs.tolist() == [0, 1, EPOCHS]
    assert (found.weights.shape, found.samples.shape) == ((3, 4), (3, 4, 64))
    best = int(one.elbo()["total"].argmax())
    assert best > 0  # with this seed: else the first restart would do
    np.testing.assert_array_equal(found.weights[-1], one.model.cluster_weights()[best].float().numpy())
    samples = one.model.sample(1, torch_stream(SECOND_BEST[kind], "evaluation/snapshots"))[best, :, 0]
    np.testing.assert_array_equal(found.samples[-1], samples.float().numpy())
    assert not np.array_equal(found.samples[0], found.samples[1])


def test_snapshots_change_nothing_else_and_survive_a_stop(tmp_path: Path) -> None:
    with_them, without = new("bayes"), new("bayes")
    run(with_them, tmp_path / "whole", snapshots=(0, 1))
    run(without, tmp_path / "without")
    assert read_snapshots(tmp_path / "without") is None
    for name, value in with_them.model.state_dict().items():
        assert torch.equal(value, without.model.state_dict()[name]), name
    with pytest.raises(KeyboardInterrupt):
        run(new("bayes"), tmp_path / "stopped", stop, snapshots=(0, 1))
    assert read_snapshots(tmp_path / "stopped").epochs.tolist() == [0, 1]
    run(new("bayes"), tmp_path / "stopped", resume=True, snapshots=(0, 1))
    whole, stopped = (tmp_path / name / "snapshots.npz" for name in ("whole", "stopped"))
    assert whole.read_bytes() == stopped.read_bytes()
