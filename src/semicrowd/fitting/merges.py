"""Merge moves: two clusters become one where the ELBO, after a refit of the conjugate part, says so.

Gradient steps alone keep a cluster that was cut in two by its start. The two posteriors are added: that is the exact
posterior of the united cluster.
"""

from collections.abc import Iterator
from functools import partial

import torch
from torch import Tensor

from semicrowd.fitting.climb import MIN_COUNT, Move, climb, expected_items
from semicrowd.inference.message_passing import Found
from semicrowd.inference.mixture import union_gains
from semicrowd.models.bayes import BayesSCDC
from semicrowd.models.training_data import TrainingData


def merge_moves(model: BayesSCDC, data: TrainingData) -> Tensor:
    """A round of merges; returns how many each restart accepted, [R]."""
    return climb(model, data, _proposals)


def _proposals(model: BayesSCDC, data: TrainingData, found: list[Found]) -> list[Iterator[Move]]:  # noqa: ARG001
    return [_moves(model, restart) for restart in range(model.num_restarts)]


def _moves(model: BayesSCDC, restart: int) -> Iterator[Move]:
    for pair in candidates(model, restart):
        yield partial(model.globals.unite, restart, *pair)


def candidates(model: BayesSCDC, restart: int) -> list[tuple[int, int]]:
    """Pairs of clusters in use; first that whose union loses the least evidence of the conjugate mixture."""
    used = torch.nonzero(expected_items(model, restart) > MIN_COUNT)[:, 0]
    eta = model.globals.eta["components"].detach()[restart, used]
    gains = union_gains(eta, model.globals.prior("components")[0, 0])
    a, b = torch.triu_indices(len(used), len(used), offset=1)
    gains = gains[a, b]
    order = [index for index in gains.argsort(descending=True).tolist() if gains[index].isfinite()]
    return [(int(used[a[index]]), int(used[b[index]])) for index in order]
