"""Slow parts of a start are done once for the same inputs, where there is a memory."""

from pathlib import Path
from typing import Any

import pytest
import torch
from joblib import Memory
from tests.small_fits import small_fit

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.data import Dataset
from semicrowd.starts import vae
from semicrowd.starts.vae import train_vae


@pytest.mark.parametrize("name", ["scdc", "bayes"])
def test_fits_share_their_vae_whatever_their_answers(
    name: str, pinwheel: Dataset, answers: PairAnnotations, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The networks of the second model are those of the first, to the byte, and other parameters train anew."""
    trained, real = list[object](), vae._train

    def counted(*given: Any) -> None:
        trained.append(given)
        real(*given)

    monkeypatch.setattr(vae, "_train", counted)

    def values(answers: PairAnnotations | None, memory: Memory, **how: Any) -> list[torch.Tensor]:
        fit = small_fit(name, pinwheel.features, answers, **how)
        object.__setattr__(fit.data, "memory", memory)
        train_vae(fit.model, fit.data, fit.said.append)
        return [parameter.detach().clone() for parameter in fit.model.vae_parameters()]

    kept = Memory(tmp_path, verbose=0)
    first, again = values(None, kept), values(answers, kept)
    assert len(trained) == 1
    assert all(torch.equal(one, other) for one, other in zip(first, again, strict=True))
    others: list[dict[str, Any]] = [
        {"seed": 1}, {"batch_size": 20}, {"init_epochs": 1}, {"hidden": (9,)}, {"latent_dim": 3},
        {"initial_variance": 0.5},
    ]  # fmt: skip
    for number, how in enumerate(others, 2):
        values(None, kept, **how)
        assert len(trained) == number
    values(None, Memory(None))
    assert len(trained) == number + 1, "without a place nothing is kept"
