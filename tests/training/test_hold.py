"""SCDC with q(z | o) held as the start has taught it."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from tests.small_fits import SmallFit


@pytest.mark.parametrize("hold", [True, False])
def test_training_leaves_the_held_classifier_alone(build: Callable[..., SmallFit[Any]], hold: bool) -> None:
    fit = build("scdc", n_clusters=5, hold=hold)
    fit.begin()
    before = {name: value.clone() for name, value in fit.model.state_dict().items()}
    fit.train(1)
    changed = {name for name, value in fit.model.state_dict().items() if not torch.equal(value, before[name])}
    assert any(name.startswith("classifier") for name in changed) is not hold
    assert any(name.startswith("decoder") for name in changed)
    assert {"location", "logits_quality"} <= changed
    # What is held costs no backward pass.
    assert any(parameter.requires_grad for parameter in fit.model.classifier.parameters()) is not hold
