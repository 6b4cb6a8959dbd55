"""The start where annotators misplace items: who the annotated items are, by features that have not been told."""

import numpy as np
import torch
from tests.models.test_placements import M, build, misplaced

from semicrowd.expfam import beta
from semicrowd.starts.answer_classifier import Annotators, average_of_learners, held_out
from semicrowd.starts.start import placed

RIGHT = beta.to_natural(torch.tensor([9.0, 1.0], dtype=torch.float64)).expand(1, M, 2)


def test_items_are_placed_and_misplacements_found() -> None:
    """Right on nearly all items, where the features alone are wrong on every fifth; three in four slips are seen."""
    labels = np.random.default_rng(0).integers(3, size=60)
    answers = misplaced(labels, num_tasks=15, task_size=12, share=0.1)
    items, rng = torch.from_numpy(answers.annotated), np.random.default_rng(3)
    truth = torch.from_numpy(labels)[items]
    said = torch.where(torch.from_numpy(rng.random(len(items)) < 0.2), (truth + 1) % 3, truth)
    unary = (1.5 * torch.nn.functional.one_hot(said, 4)[None]).float().log_softmax(-1)
    model = build(restarts=1)
    found = placed(model, answers, Annotators(RIGHT, RIGHT), unary)
    assert (found[0].argmax(-1) == truth).float().mean() > 0.95
    slips = beta.to_standard(model.globals.eta["slips"].detach()) - beta.to_standard(model.globals.prior("slips"))
    assert 0.6 < float(slips[..., 0].sum()) / 18 < 1.4


def test_networks_do_not_echo_what_they_have_not_been_told() -> None:
    """Of items in three blobs every tenth is taught as another kind: networks told so agree, the others do not."""
    rng = np.random.default_rng(0)
    labels = rng.integers(3, size=120)
    features = torch.from_numpy((3 * np.eye(3)[labels] + 0.3 * rng.normal(size=(120, 3))).astype(np.float32))
    wrong = np.arange(120) % 10 == 0
    taught = torch.from_numpy(np.where(wrong, (labels + 1) % 3, labels))
    target = torch.nn.functional.one_hot(taught, 3)[None].float()
    apart = held_out(features, target, torch.arange(len(features)) % 5, [20], 1, 0).log()
    torch.testing.assert_close(apart.exp().sum(-1), torch.ones(1, 120))
    assert (apart[0].argmax(-1).numpy() == labels).mean() > 0.97
    told = average_of_learners(features, torch.arange(120), target, [20], 5, 0).log()
    cost = [-(of.exp().clamp(min=1e-9).log() * target)[0].sum(-1)[wrong].mean() for of in (apart, told)]
    assert cost[0] > cost[1]


def test_networks_of_folds_are_asked_for_their_own_items_alone() -> None:
    """Folds of unlike sizes, against all items by all folds' networks."""
    rng = np.random.default_rng(0)
    features, fold = torch.from_numpy(rng.normal(size=(60, 3)).astype(np.float32)), torch.arange(60) % 7 % 3
    target = torch.nn.functional.one_hot(torch.from_numpy(rng.integers(4, size=60)), 4).float().expand(2, -1, -1)
    told = (fold != torch.arange(3)[:, None])[:, :, None] * target[:, None]
    whole = average_of_learners(features, torch.arange(60), told.flatten(0, 1), (8,), 2, 0)
    expected = whole.unflatten(0, (2, 3))[:, fold, torch.arange(60)]
    torch.testing.assert_close(held_out(features, target, fold, (8,), 2, 0), expected)
