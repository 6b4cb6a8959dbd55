"""Training batches: every item once, the same for the same seed and epoch, shared out between processes, unbiased."""

import numpy as np
import pytest
import torch

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.models.training_data import TrainingData
from semicrowd.training.data import Batch, TrainingBatches

ANSWERS = PairAnnotations.from_arrays([0, 3, 3, 7], [3, 7, 9, 9], [0, 0, 0, 0], [1, 0, 1, 1], num_items=23)
PAIRS = ("pairs", 2)


def epoch(number: int = 0, seed: int = 0, rank: int = 0, world_size: int = 1, answers: bool = True) -> list[Batch]:
    data = TrainingData(torch.zeros(23, 2), ANSWERS if answers else None, None, seed, batch_size=4)
    return list(TrainingBatches(data, *PAIRS, lambda: number, rank, world_size))


def drawn(batches: list[Batch]) -> list[int]:
    """Items without answers, in order."""
    first = [0 if batch.relational is None else batch.relational.num_nodes for batch in batches]
    return [int(item) for batch, n in zip(batches, first, strict=True) for item in batch.items[n:]]


def test_every_item_comes_at_most_once_in_an_epoch_and_answered_ones_with_their_answers() -> None:
    items = drawn(epoch())
    assert len(items) == len(set(items)) == 16  # four batches of the nineteen without answers
    assert not set(items) & {0, 3, 7, 9}
    without = drawn(epoch(answers=False))
    assert len(without) == len(set(without)) == 20


def test_an_epoch_depends_on_seed_and_number_alone() -> None:
    for one, other in zip(epoch(3), epoch(3), strict=True):
        assert torch.equal(one.items, other.items)
        assert torch.equal(one.relational.label, other.relational.label)
    assert drawn(epoch(3)) != drawn(epoch(4)) != drawn(epoch(4, seed=1))


def test_weights_are_unbiased_for_the_sum_over_all_items() -> None:
    value = 1 + 0.1 * np.random.default_rng(0).normal(size=23)  # mostly its number of items: a wrong factor shows
    estimates = [
        float(batch.weight.double() @ torch.from_numpy(value[batch.items])) for n in range(800) for batch in epoch(n)
    ]
    error = np.std(estimates) / len(estimates) ** 0.5
    assert np.mean(estimates) == pytest.approx(value.sum(), abs=4 * error)


def test_processes_share_the_items() -> None:
    shares = [drawn(epoch(rank=rank, world_size=2)) for rank in range(2)]
    assert not set(shares[0]) & set(shares[1])
    assert [len(share) for share in shares] == [8, 8]


@pytest.mark.parametrize("num_annotated", [2, 12, 20, 23, 24])
def test_an_epoch_passes_over_the_larger_part_of_the_items(num_annotated: int) -> None:
    n, size = 24, 4
    chain = np.arange(num_annotated)
    zeros, ones = np.zeros(len(chain) - 1, int), np.ones(len(chain) - 1, int)
    answers = PairAnnotations.from_arrays(chain[:-1], chain[1:], zeros, ones, num_items=n)
    data = TrainingData(torch.zeros(n, 2), answers, batch_size=size)
    batches = list(TrainingBatches(data, *PAIRS, lambda: 0))
    assert len(batches) == max(num_annotated, n - num_annotated) // size
    items, remaining = drawn(batches), n - num_annotated
    assert len(items) == len(batches) * min(size, remaining)
    # None is shown twice more often than another, and together they weigh as many as they are.
    counts = np.bincount(items, minlength=n)[num_annotated:]
    assert remaining == 0 or np.ptp(counts) <= 1
    for batch in batches:
        assert float(batch.weight[batch.relational.num_nodes :].sum()) == pytest.approx(remaining)


@pytest.mark.parametrize(("sampler", "size", "answers"), [("pairs", None, 1), ("pairs", 3, 3), ("nodes", 4, 4)])
def test_a_step_draws_as_many_answers_as_its_settings_say(sampler: str, size: int | None, answers: int) -> None:
    """By default in proportion: four answers for 23 items are .7 for a batch of four. All four nodes: all answers."""
    data = TrainingData(torch.zeros(23, 2), ANSWERS, batch_size=4)
    batch = next(iter(TrainingBatches(data, sampler, size, lambda: 0)))
    assert len(batch.relational.label) == answers
