"""Networks that learn the clusters of a start: BayesSCDC with clusters to spare."""

from collections.abc import Callable
from typing import Any

import torch
from sklearn.metrics import adjusted_rand_score
from tests.small_fits import SmallFit

from semicrowd.models.training_data import TrainingData
from semicrowd.settings.training import StartSettings
from semicrowd.starts.teaching import among_used, teach_bayes


def test_clusters_that_no_item_prefers_get_nothing() -> None:
    given = torch.tensor([[[0.6, 0.3, 0.1], [0.1, 0.8, 0.1]], [[0.5, 0.1, 0.4], [0.2, 0.1, 0.7]]])
    found = among_used(given)
    expected = torch.tensor([[[2 / 3, 1 / 3, 0], [1 / 9, 8 / 9, 0]], [[5 / 9, 0, 4 / 9], [2 / 9, 0, 7 / 9]]])
    torch.testing.assert_close(found, expected)


def test_clusters_to_spare_do_not_blur_those_in_use(bayes: Callable[..., SmallFit[Any]]) -> None:
    """The four quarters of the plane, fifteen clusters, and a start that is sure of each item's to .95."""
    fit = bayes(K=15, with_answers=False, start={"epochs": 20, "learning_rate": 0.01})
    fit.begin()
    data: TrainingData = fit.data
    quarter = ((fit.features > 0) * torch.tensor([1, 2])).sum(-1)
    sure = torch.full((1, len(quarter), 15), 0.05 / 14).scatter(2, quarter[None, :, None], 0.95)
    settings = StartSettings(kind="answers", learning_rate=0.01, teach_epochs=50, teach_weight=30.0)
    teach_bayes(fit.model, data, settings, sure, lambda _: None)
    assert adjusted_rand_score(quarter.numpy(), fit.clusters()) > 0.8
