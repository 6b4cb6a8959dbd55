"""Geweke 2004: states drawn from the model itself, and states that alternate between sampler and new data, agree.

Hyperplanes see items that stay as they are; the data of the clusters are drawn anew. Partitions are drawn from the
list of all of them, hyperplanes from a grid: no sampler is needed for them.
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
from semicrowd.inference.gibbs.isotropic import isotropic
from semicrowd.inference.gibbs.multinomial import multinomial

from .small import (
    DEGREES,
    DIRICHLET,
    ITEMS,
    KAPPA,
    MODELS,
    RATE,
    SCATTER,
    SEEN,
    SHAPE,
    VARIANCE,
    Partition,
    exact,
    likelihood,
    named,
    prior,
)

DRAWS = 10_000
ORDER = neighbours(np.zeros(ITEMS, int))


@cache
def chances(kind: str, loss: str) -> tuple[list[Partition], np.ndarray]:
    """All partitions and the sums of their probabilities, hyperplanes counted in and data left out."""
    found = exact(kind, "", loss)
    return list(found), np.cumsum(list(found.values()))


@cache
def concentrations(kind: str, z: Partition) -> np.ndarray:
    """Sums of the probabilities of the prior's draws given a partition."""
    weight = prior(kind)[2][z]
    return np.cumsum(weight) / weight.sum()


@cache
def grid(loss: str, block: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Hyperplanes of a grid, and the sums of their probabilities."""
    line = np.linspace(-6, 6, 241) * np.sqrt(VARIANCE)
    eta = np.stack(np.meshgrid(line, line), -1).reshape(-1, 2)
    y = np.full(ITEMS, -1.0)
    y[list(block)] = 1
    weight = np.exp(-np.square(eta).sum(-1) / (2 * VARIANCE)) * likelihood(loss, y * (eta @ SEEN.T)).prod(-1)
    return eta, np.cumsum(weight) / weight.sum()


def draw_data(family: str, z: np.ndarray, loss: str, rng: np.random.Generator) -> np.ndarray:
    """One column, or counts of three, of items in these clusters, whose parameters come from the base.

    Beside hyperplanes an item has a single count: with three, chains of counts stay long where they are.
    """
    _, label = np.unique(z, return_inverse=True)
    clusters = label.max() + 1
    if family == "multinomial":
        share = rng.dirichlet([DIRICHLET] * 3, size=clusters)
        return np.stack([rng.multinomial(1 if loss else 3, share[k]) for k in label])
    if family == "isotropic":  # two columns: with one the printed eq. 19 would be right
        precision = rng.gamma(SHAPE, size=clusters) / RATE
        mean = rng.standard_normal((clusters, 2)) / np.sqrt(KAPPA * precision[:, None])
        return mean[label] + rng.standard_normal((ITEMS, 2)) / np.sqrt(precision[label, None])
    variance = SCATTER / 2 / rng.gamma(DEGREES / 2, size=clusters)
    mean = np.sqrt(variance / KAPPA) * rng.standard_normal(clusters)
    return (mean[label] + np.sqrt(variance[label]) * rng.standard_normal(ITEMS))[:, None]


def families(family: str, x: np.ndarray, eq19: str = "corrected") -> Callable[[int], Any]:
    if family == "isotropic":
        return isotropic(x, np.zeros(2), KAPPA, SHAPE, RATE, eq19)
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
        found += [f[0], f[4], abs(f[2]), np.square(eta).sum(), f[4] * (label[0] == label[4]), f[4] * (sizes[0] == 1)]
    return found


def from_the_model(kind: str, family: str, loss: str, draws: int) -> np.ndarray:
    rng = np.random.default_rng(1)
    rows = []
    known, sums = chances(kind, loss)
    alpha, gamma, _ = prior(kind)
    for _ in range(draws):
        z = known[np.searchsorted(sums[:-1], rng.random())]
        drawn, label, eta = np.searchsorted(concentrations(kind, z)[:-1], rng.random()), np.array(z), None
        if loss:
            points, sums_of_points = grid(loss, tuple(np.flatnonzero(label == label[0])))
            eta = points[np.searchsorted(sums_of_points[:-1], rng.random())]
        x = draw_data(family, label, loss, rng)
        rows.append(functions(label, alpha[drawn], gamma[drawn] if kind == "franchise" else 1.0, x, eta))
    return np.array(rows)


def from_the_sampler(kind: str, family: str, loss: str, draws: int, **options: str) -> np.ndarray:
    rng = np.random.default_rng(2)
    planes = Hyperplanes(SEEN, loss, VARIANCE) if loss else None
    x = draw_data(family, np.zeros(ITEMS, int), loss, rng)
    model = Model(families(family, x, **options), ITEMS, neighbours=ORDER if kind == "franchise" else None,
                  planes=planes, splits=3)  # fmt: skip
    chain, rows = Chain(model), []
    for _ in range(draws + 100):
        chain.sweep(rng)
        x = draw_data(family, chain.z, loss, rng)
        eta = chain.eta[chain.plane[chain.z[0]]] if loss else None
        rows.append(functions(chain.z, chain.alpha, chain.gamma, x, eta))
        chain.model = replace(model, family=families(family, x, **options))
    return np.array(rows[100:])


def differences(kind: str, family: str, loss: str, draws: int = DRAWS, **options: str) -> np.ndarray:
    """Of the functions' means in standard errors, the sampler's by the means of batches."""
    independent = from_the_model(kind, family, loss, draws)
    markov = from_the_sampler(kind, family, loss, draws, **options)
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
def test_the_printed_density_of_a_new_cluster_is_found_out() -> None:
    """Eq. 19 as the paper prints it opens too many clusters."""
    assert np.abs(differences("restaurant", "isotropic", "", eq19="printed")).max() > 4


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
