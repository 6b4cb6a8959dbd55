"""Norms of gradients and their clipping, restart by restart; a fit that diverges."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from tests.small_fits import ANSWERS, POINTS, SmallFit, small_fit, trainer_in
from torch import nn
from torch.nn.utils import clip_grad_norm_

from semicrowd.errors import UserError
from semicrowd.training.module import ClusteringModule, clip_by_restart, norm_by_restart
from semicrowd.training.train import train

BOTH = pytest.mark.parametrize("name", ["bayes", "scdc"])


def parameters(restarts: int) -> list[nn.Parameter]:
    """Parameters of several shapes; gradients of restart r are those of r whatever R is, some long, some short."""
    made = [nn.Parameter(torch.zeros(restarts, *shape)) for shape in ((3,), (4, 5), (2, 3, 1, 1))]
    for number, parameter in enumerate(made):
        draws = [torch.Generator().manual_seed(10 * restart + number) for restart in range(restarts)]
        sizes = [10.0 if restart % 2 else 0.01 for restart in range(restarts)]
        parameter.grad = torch.stack(
            [size * torch.randn(parameter.shape[1:], generator=g) for size, g in zip(sizes, draws, strict=True)]
        )
    return made


def gradients(of: list[nn.Parameter]) -> list[torch.Tensor]:
    return [parameter.grad for parameter in of if parameter.grad is not None]


@pytest.mark.parametrize("most", [1.0, 1e-3, 1e6])
@pytest.mark.parametrize("restarts", [1, 4])
def test_each_restart_is_clipped_as_torch_clips_it_alone(restarts: int, most: float) -> None:
    found = parameters(restarts)
    norm = norm_by_restart(gradients(found))
    clip_by_restart(gradients(found), norm, most)
    for restart in range(restarts):
        alone = [nn.Parameter(torch.zeros(parameter.shape[1:])) for parameter in found]
        for one, parameter in zip(alone, parameters(restarts), strict=True):
            one.grad = parameter.grad[restart].clone()
        expected = clip_grad_norm_(alone, most)
        torch.testing.assert_close(norm[restart].float(), expected)
        for one, parameter in zip(alone, found, strict=True):
            torch.testing.assert_close(parameter.grad[restart], one.grad)


def new(name: str, **settings: Any) -> SmallFit[Any]:
    usual: dict[str, Any] = {"n_clusters": 4, "hidden": (6,), "init": "cold"}
    return small_fit(name, POINTS, ANSWERS, **(usual | settings))


def fit(made: SmallFit[Any], folder: Path | None = None) -> dict[str, float]:
    """Metrics of the last epoch."""
    module = ClusteringModule(made.model, made.data)
    train(module, trainer_in(folder))
    return module.history[-1]


@BOTH
def test_norms_are_those_of_the_loss(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Against autograd's gradients of the networks, seen by the optimizer itself."""
    seen: list[float] = []
    step = torch.optim.Adam.step

    def listen(self: torch.optim.Adam, closure: Any = None) -> Any:
        flat = [p.grad.flatten() for group in self.param_groups for p in group["params"] if p.grad is not None]
        seen.append(float(torch.cat(flat).norm()))
        return step(self, closure)

    monkeypatch.setattr(torch.optim.Adam, "step", listen)
    metrics = fit(new(name, epochs=1, batch_size=10))
    assert len(seen) > 1
    assert metrics["gradient/norm"] == pytest.approx(np.mean(seen), rel=1e-5)
    assert metrics["gradient/norm_max"] == pytest.approx(max(seen), rel=1e-5)
    seen.clear()
    fit(new(name, epochs=1, batch_size=10, clip=0.01))
    assert seen == pytest.approx([0.01] * len(seen), rel=1e-3)


@BOTH
def test_clipping_does_not_tie_restarts_to_each_other(name: str) -> None:
    """A restart of two ends where it ends when the other's networks are others, or diverge."""
    found = []
    for seed, by in ((1, 1.0), (2, 1.0), (3, math.nan)):
        made = new(name, restarts=2, epochs=2, clip=0.05)
        with torch.no_grad():
            for parameter in made.model.vae_parameters():
                parameter[1] += by * torch.randn(parameter[1].shape, generator=torch.Generator().manual_seed(seed))
        fit(made)
        found.append([parameter.detach().clone() for parameter in made.model.parameters()])
    assert any(not torch.equal(one[1], other[1]) for one, other, _ in zip(*found, strict=True))
    for one, other, diverged in zip(*found, strict=True):
        torch.testing.assert_close(one[0], other[0], rtol=1e-4, atol=1e-5)
        # Message passing stops by the largest change of all restarts: here only when it must.
        torch.testing.assert_close(one[0], diverged[0], rtol=1e-2, atol=1e-3)


def break_after(made: SmallFit[Any], epoch: int, restarts: slice, monkeypatch: pytest.MonkeyPatch) -> ClusteringModule:
    """Its module, which sets a weight of some restarts to NaN at the first step after ``epoch`` epochs."""
    module = ClusteringModule(made.model, made.data)
    step = module.training_step

    def broken(batch: Any, batch_idx: int) -> None:
        if module.current_epoch == epoch:
            with torch.no_grad():
                made.model.decoder.net.heads[0].weight[restarts] = math.nan
        step(batch, batch_idx)

    monkeypatch.setattr(module, "training_step", broken)
    return module


@BOTH
def test_divergence_leaves_the_last_good_checkpoint(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = new(name, restarts=2, epochs=4)
    module = break_after(made, 2, slice(None), monkeypatch)
    with pytest.raises(UserError, match="epoch 3"):
        train(module, trainer_in(tmp_path))
    kept = torch.load(tmp_path / "last.ckpt", weights_only=True)
    assert all(value.isfinite().all() for value in kept["state_dict"].values())
    assert [row["epoch"] for row in kept["history"]] == [1, 2]


def test_a_covariance_that_is_none_any_more_is_divergence(tmp_path: Path) -> None:
    made = new("bayes", epochs=1)
    with torch.no_grad():
        made.model.globals.eta["components"][..., -1] = math.nan
    with pytest.raises(UserError, match="epoch 1"):
        fit(made, tmp_path)
    assert not (tmp_path / "last.ckpt").exists()


@BOTH
def test_a_restart_that_diverges_is_not_the_best(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    made = new(name, restarts=2, epochs=2)
    module = break_after(made, 0, slice(1), monkeypatch)
    train(module, trainer_in())
    assert all(math.isfinite(value) for value in module.history[-1].values())
