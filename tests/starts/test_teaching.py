"""Networks that learn the clusters of a start: BayesSCDC with clusters to spare."""

from collections.abc import Callable
from typing import Any

import torch
from sklearn.metrics import adjusted_rand_score
from tests.small_fits import SmallFit

from semicrowd.models.training_data import TrainingData
from semicrowd.settings.training import StartSettings
from semicrowd.starts.teaching import teach_bayes


def test_clusters_to_spare_do_not_blur_those_in_use(bayes: Callable[..., SmallFit[Any]]) -> None:
    """The four quarters of the plane, and eleven clusters that no item is in."""
    fit = bayes(K=15, with_answers=False, start={"epochs": 20, "learning_rate": 0.01})
    fit.begin()
    data: TrainingData = fit.data
    quarter = ((fit.features > 0) * torch.tensor([1, 2])).sum(-1)
    settings = StartSettings(kind="answers", learning_rate=0.01, teach_epochs=50, teach_weight=30.0)
    teach_bayes(fit.model, data, settings, quarter[None], lambda _: None)
    assert adjusted_rand_score(quarter.numpy(), fit.clusters()) > 0.8
