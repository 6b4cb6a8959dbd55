"""Geweke 2004: states drawn from the model itself, and states that alternate between sampler and new data, agree.

Hyperplanes see items that stay as they are; the data of the clusters are drawn anew. Partitions are drawn from the
prior and kept with the probability that hyperplanes give them, hyperplanes from a grid: no sampler is needed for them.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

from semicrowd.inference.gibbs import hyperplanes
from semicrowd.inference.gibbs.chain import Chain, Model
from semicrowd.inference.gibbs.franchise import neighbours
from semicrowd.inference.gibbs.gaussian import gaussian
from semicrowd.inference.gibbs.hyperplanes import Hyperplanes
from semicrowd.inference.gibbs.multinomial import multinomial

from .small import (
    DEGREES, DIRICHLET, ITEMS, KAPPA, SCATTER, SEEN, VARIANCE, blocks, likelihood, log_separation, named, partitions,
)  # fmt: skip

DRAWS = 10_000
ORDER = neighbours(np.zeros(ITEMS, int))
MODELS = [(kind, family, loss) for kind in ("restaurant", "franchise")
          for family, loss in (("gaussian", ""), ("multinomial", ""), ("gaussian", "svm"), ("gaussian", "logistic"))]


def draw_partition(kind: str, rng: np.random.Generator) -> tuple[np.ndarray, float, float]:
    """From the prior, concentrations too: customers, or states with sticks, one after the other."""
    alpha, gamma = rng.exponential(size=2)
    z: list[int] = []
    sticks, left = [], 1.0
    for item in range(ITEMS):
        states = max(z, default=-1) + 1
        if kind == "restaurant":
            weight = np.append(np.bincount(z, minlength=states), alpha)
        else:
            before = [b for a, b in zip(z, z[1:], strict=False) if a == z[-1]] if z else []
            weight = np.bincount(before, minlength=states) + alpha * np.append(sticks, left)[: states]
            weight = np.append(weight, alpha * left)
        z.append(int(rng.choice(states + 1, p=weight / weight.sum())))
        if z[-1] == states:
            sticks.append(left * rng.beta(1, gamma))
            left -= sticks[-1]
    return np.array(z), alpha, gamma


@cache
def separation(loss: str) -> tuple[dict[tuple[int, ...], float], float]:
    """ln weight of every partition for its hyperplanes, and the largest."""
    found = {z: sum(log_separation(loss, tuple(block)) for block in blocks(z)) for z in partitions()}
    return found, max(found.values())


@cache
def grid(loss: str, block: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Hyperplanes of a grid, and the sums of their probabilities."""
    line = np.linspace(-6, 6, 241) * np.sqrt(VARIANCE)
    eta = np.stack(np.meshgrid(line, line), -1).reshape(-1, 2)
    y = np.full(ITEMS, -1.0)
    y[list(block)] = 1
    weight = np.exp(-np.square(eta).sum(-1) / (2 * VARIANCE)) * likelihood(loss, y * (eta @ SEEN.T)).prod(-1)
    return eta, np.cumsum(weight) / weight.sum()


def draw_data(family: str, z: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """One column, or counts of three, of items in these clusters, whose parameters come from the base."""
    _, label = np.unique(z, return_inverse=True)
    clusters = label.max() + 1
    if family == "multinomial":
        share = rng.dirichlet([DIRICHLET] * 3, size=clusters)
        return np.stack([rng.multinomial(3, share[k]) for k in label])
    variance = SCATTER / 2 / rng.gamma(DEGREES / 2, size=clusters)
    mean = np.sqrt(variance / KAPPA) * rng.standard_normal(clusters)
    return (mean[label] + np.sqrt(variance[label]) * rng.standard_normal(ITEMS))[:, None]


def families(family: str, x: np.ndarray) -> Callable[[int], Any]:
    return multinomial(x, DIRICHLET) if family == "multinomial" else gaussian(
        x, np.zeros(1), KAPPA, DEGREES, SCATTER * np.eye(1)
    )  # fmt: skip


def functions(z: np.ndarray, alpha: float, gamma: float, x: np.ndarray, eta: np.ndarray | None) -> list[float]:
    """Of a state: at least eleven numbers that are bounded or have light tails."""
    label = np.array(named(z))
    sizes, stays = np.bincount(label), (label[1:] == label[:-1]).sum()
    squashed = np.tanh(x[:, 0] / 2)
    found = [
        len(sizes), np.square(sizes).sum(), float(label[0] == label[1]), float(label[0] == label[-1]), stays,
        np.log(alpha), np.log(gamma), alpha * len(sizes) / (1 + alpha),
        squashed[0], squashed[0] * squashed[1], squashed[1] * squashed[4] * (label[1] == label[4]),
    ]  # fmt: skip
    if eta is not None:  # that of the first item's cluster
        f = SEEN @ eta
        found += [f[0], f[3], abs(f[2]), np.square(eta).sum(), f[0] * (label[0] == label[1]), np.tanh(f[4]) * stays]
    return found


def from_the_model(kind: str, family: str, loss: str, draws: int) -> np.ndarray:
    rng = np.random.default_rng(1)
    rows = []
    while len(rows) < draws:
        z, alpha, gamma = draw_partition(kind, rng)
        eta = None
        if loss:
            weight, largest = separation(loss)
            if np.log(rng.random()) > weight[named(z)] - largest:
                continue
            points, chance = grid(loss, tuple(np.flatnonzero(z == z[0])))
            eta = points[np.searchsorted(chance, rng.random())]
        rows.append(functions(z, alpha, gamma if kind == "franchise" else 1.0, draw_data(family, z, rng), eta))
    return np.array(rows)


def from_the_sampler(kind: str, family: str, loss: str, draws: int) -> np.ndarray:
    rng = np.random.default_rng(2)
    planes = Hyperplanes(SEEN, loss, VARIANCE) if loss else None
    model = Model(families(family, draw_data(family, np.zeros(ITEMS, int), rng)), ITEMS,
                  neighbours=ORDER if kind == "franchise" else None, planes=planes)  # fmt: skip
    chain, rows = Chain(model), []
    for _ in range(draws + 100):
        chain.sweep(rng)
        x = draw_data(family, chain.z, rng)
        eta = chain.eta[chain.plane[chain.z[0]]] if loss else None
        rows.append(functions(chain.z, chain.alpha, chain.gamma, x, eta))
        chain.model = replace(model, family=families(family, x))
    return np.array(rows[100:])


def differences(kind: str, family: str, loss: str, draws: int = DRAWS) -> np.ndarray:
    """Of the functions' means in standard errors, the sampler's by the means of batches."""
    independent, markov = from_the_model(kind, family, loss, draws), from_the_sampler(kind, family, loss, draws)
    batches = markov.reshape(50, -1, markov.shape[1]).mean(1)
    variance = independent.var(0) / len(independent) + batches.var(0, ddof=1) / len(batches)
    moving = variance > 0
    return (independent.mean(0) - markov.mean(0))[moving] / np.sqrt(variance[moving])


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "family", "loss"), MODELS)
def test_sampler_and_model_agree(kind: str, family: str, loss: str) -> None:
    found = differences(kind, family, loss)
    assert len(found) >= 10
    assert np.abs(found).max() < 4


@pytest.mark.slow
@pytest.mark.parametrize("loss", ["svm", "logistic"])
def test_one_auxiliary_variable_for_all_hyperplanes_is_found_out(loss: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """ERRATA 24: as the paper prints it, that of the item's own hyperplane serves all of them."""
    right = hyperplanes.augmented

    def printed(y: np.ndarray, f: np.ndarray, loss: str, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        weight, _ = right(y, f, loss, rng)
        own = weight[np.arange(len(y)), y.argmax(1)][:, None].repeat(y.shape[1], 1)
        return own, y / 2 if loss == "logistic" else y * (1 + own)

    monkeypatch.setattr(hyperplanes, "augmented", printed)
    assert np.abs(differences("restaurant", "gaussian", loss)).max() > 4
