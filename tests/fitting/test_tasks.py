"""Answers that come in tasks: batches of whole tasks, and the setting that looks through misplaced items."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from semicrowd.crowd import simulate
from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.errors import UserError
from semicrowd.fitting.batches import TrainingBatches
from semicrowd.fitting.generative import answer_model
from semicrowd.models.training_data import TrainingData
from semicrowd.settings.model import BayesSettings

M = 6


@pytest.fixture(scope="module")
def answers() -> PairAnnotations:
    """Twelve tasks of six annotators, of twelve items each."""
    labels = np.random.default_rng(0).integers(3, size=90)
    return simulate.tasks(
        labels, np.random.default_rng(1), num_annotators=M, num_tasks=12, task_size=12, num_annotated=60,
        sensitivity=0.9, specificity=0.9,
    )  # fmt: skip


def test_counts_of_batches_are_unbiased(answers: PairAnnotations) -> None:
    """Batches of tasks with their weights add up to all placements, and a placement stands at its own item."""
    whole = answers.index.whole
    assert whole.placements is not None
    assert len(whole.placements.item) == 12 * 12
    assert (whole.items[whole.placements.item[whole.placements.i]] == whole.items[whole.i]).all()
    assert (whole.placements.worker[whole.placements.j] == whole.worker).all()
    data = TrainingData(torch.zeros(90, 3), answers, None, 0, 30)
    batches, total = TrainingBatches(data, BayesSettings(sampler="tasks"), lambda: 0), torch.zeros(M).double()
    assert batches.sampler is not None
    rng = np.random.default_rng(0)
    for _ in range(3000):
        one = batches.sampler.sample(rng)
        assert one.placements is not None
        assert (one.items[one.placements.item[one.placements.i]] == one.items[one.i]).all()
        total += one.pair_weight * torch.bincount(one.placements.worker, minlength=M) / 3000
    expected = torch.bincount(whole.placements.worker, minlength=M).double()
    torch.testing.assert_close(total, expected, rtol=0, atol=2.5)  # five standard errors


def test_auto_takes_confusions_where_there_are_tasks(answers: PairAnnotations) -> None:
    assert answer_model("auto", answers) == "confusions"
    assert answer_model("auto", replace(answers, task=None)) == "two_coin"
    assert answer_model("two_coin", answers) == "two_coin"
    assert answer_model("auto", None) == "auto"


def test_confusions_need_tasks(answers: PairAnnotations) -> None:
    assert answer_model("confusions", answers) == "confusions"
    with pytest.raises(UserError, match="do not come in tasks"):
        answer_model("confusions", replace(answers, task=None))
