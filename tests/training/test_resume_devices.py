"""A fit that goes on with another number of processes than it was begun with."""

from pathlib import Path
from typing import Any

import pytest
import torch
from pytorch_lightning.strategies import DDPStrategy
from tests.small_fits import ANSWERS, POINTS, small_fit, trainer_in

from semicrowd.training.module import ClusteringModule
from semicrowd.training.train import train

#: Of Lightning, in every fit.
pytestmark = pytest.mark.filterwarnings(
    "ignore:.*LeafSpec.*:FutureWarning", "ignore:.*does not have many workers.*", "ignore:Grad strides.*"
)

#: 53 items without answers in batches of 8: six steps of one process, three of two.
STEPS = {1: 6, 2: 3}
OF_MODEL: dict[str, dict[str, Any]] = {
    "bayes": {}, "full": {"natural_gradient": "full"}, "momentum": {"optimizer": "momentum"},
    "scdc": {},
}  # fmt: skip


def fit(kind: str, folder: Path, epochs: int, devices: int) -> None:
    """The epochs that the checkpoint in ``folder`` leaves."""
    name = "scdc" if kind == "scdc" else "bayes"
    made = small_fit(
        name, POINTS, ANSWERS, n_clusters=4, hidden=(6,), init="cold", restarts=2, epochs=epochs, batch_size=8,
        **OF_MODEL[kind],
    )  # fmt: skip
    kept = folder / "last.ckpt"
    # The other process is a copy of this one: there is no command to repeat.
    strategy: Any = DDPStrategy(start_method="fork") if devices > 1 else "auto"
    module = ClusteringModule(made.model, made.data, begin=not kept.exists())
    train(module, trainer_in(folder, strategy=strategy, devices=devices), kept if kept.exists() else None)


def networks(kept: dict[str, Any]) -> list[dict[str, torch.Tensor]]:
    """What the networks' optimizer keeps of each of its parameters."""
    return list(kept["optimizer_states"][0]["state"].values())


@pytest.mark.parametrize("kind", OF_MODEL)
@pytest.mark.parametrize(("before", "after"), [(1, 2), (2, 1)])
def test_it_goes_on_where_it_was_and_ends(
    kind: str, before: int, after: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the first step of the continued fit finds is what the checkpoint has."""
    fit(kind, tmp_path, 2, before)
    kept = torch.load(tmp_path / "last.ckpt", weights_only=True)
    begin = ClusteringModule.on_train_epoch_start

    def listen(self: ClusteringModule) -> None:
        begin(self)
        if self.current_epoch == 2 and self.trainer.is_global_zero:
            torch.save([optimizer.state_dict()["state"] for optimizer in self.trainer.optimizers], tmp_path / "found")
            torch.save(self.state_dict(), tmp_path / "model")

    monkeypatch.setattr(ClusteringModule, "on_train_epoch_start", listen)
    fit(kind, tmp_path, 5, after)
    model = torch.load(tmp_path / "model", weights_only=True)
    assert model.keys() == kept["state_dict"].keys()
    for name, value in kept["state_dict"].items():
        assert torch.equal(model[name], value)
    for found, state in zip(torch.load(tmp_path / "found", weights_only=True), kept["optimizer_states"], strict=True):
        assert found.keys() == state["state"].keys()
        for key, of_parameter in state["state"].items():
            for name, value in of_parameter.items():
                assert torch.equal(found[key][name], value), name

    last = torch.load(tmp_path / "last.ckpt", weights_only=True)
    assert (kept["epoch"], last["epoch"]) == (1, 4)
    assert all(value.isfinite().all() for value in last["state_dict"].values())
    for state in networks(last):
        if kind != "momentum":  # Adam counts its steps
            assert state["step"] == 2 * STEPS[before] + 3 * STEPS[after]
        assert all(value.isfinite().all() for value in state.values())
    assert last["history"][:2] == kept["history"]
    assert [row["epoch"] for row in last["history"]] == [1, 2, 3, 4, 5]
