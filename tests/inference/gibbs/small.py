"""Five items, all 52 partitions of them with their exact probabilities, and what samplers of them are made of.

Nothing here calls the samplers' own formulas: Student densities and Dirichlet-multinomials are scipy's, integrals over
hyperplanes are sums over a grid, those over concentrations and sticks means of prior draws.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numpy as np
from scipy import stats
from scipy.special import gammaln

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.inference.gibbs.answers import Answers
from semicrowd.inference.gibbs.chain import Chain, Model
from semicrowd.inference.gibbs.franchise import neighbours
from semicrowd.inference.gibbs.gaussian import gaussian
from semicrowd.inference.gibbs.hyperplanes import Hyperplanes
from semicrowd.inference.gibbs.isotropic import isotropic
from semicrowd.inference.gibbs.multinomial import multinomial

ITEMS = 5
#: Families of clusters with their hyperplanes, and all models of them.
CLUSTERS = [(family, loss) for family in ("gaussian", "multinomial") for loss in ("", "svm", "logistic")]
MODELS = [(kind, *clusters) for kind in ("restaurant", "franchise") for clusters in [*CLUSTERS, ("isotropic", "")]]
Partition = tuple[int, ...]
#: Base of the Gaussians: κ₀, ν₀, Ψ₀; μ₀ is 0. Parameter of the Dirichlet base.
KAPPA, DEGREES, SCATTER, DIRICHLET = 0.5, 4.0, 1.5, 0.6
#: Of the isotropic ones, whose κ₀ is the same: α₀, β₀.
SHAPE, RATE = 2.0, 0.8
#: Prior variance of the hyperplanes: so large that auxiliary variables of different hyperplanes differ.
VARIANCE = 8.0
POINTS = np.array([[-1.4, 0.3], [-0.9, -0.4], [0.2, 0.1], [1.1, 0.8], [1.3, -0.5]])
COUNTS = np.array([[3, 0, 1], [2, 0, 0], [0, 1, 4], [1, 1, 1], [0, 2, 3]])
#: Two annotators; the first contradicts the points, the second himself.
PAIRS = PairAnnotations.from_arrays(
    np.array([0, 0, 1, 2, 0, 3]), np.array([3, 1, 4, 3, 2, 4]), np.array([0, 0, 0, 1, 1, 1]),
    np.array([1, 0, 1, 1, 0, 1]), task=None, num_items=ITEMS, worker_names=["a", "b"], source="pairs",
)  # fmt: skip
#: Their sensitivities and specificities.
QUALITY = np.array([[0.7, 0.8], [0.6, 0.9]])
#: What hyperplanes see: columns whose products are 0, as the samplers have them. Without a constant one, so that no
#: side of a hyperplane has all items to itself, and two clusters or three are as likely as one.
_LEFT, _LENGTH, _ = np.linalg.svd(POINTS - POINTS.mean(0), full_matrices=False)
SEEN = _LEFT * _LENGTH


def partitions(items: int = ITEMS) -> Iterator[Partition]:
    """All of them, labels in the order of their first items."""

    def grow(begun: Partition) -> Iterator[Partition]:
        if len(begun) == items:
            yield begun
        else:
            for label in range(max(begun, default=-1) + 2):
                yield from grow((*begun, label))

    return grow(())


def named(z: np.ndarray) -> Partition:
    """A partition's labels in the order of their first items."""
    names: dict[int, int] = {}
    return tuple(names.setdefault(int(one), len(names)) for one in z)


def blocks(z: Partition) -> list[list[int]]:
    """Items of each cluster."""
    return [[i for i, label in enumerate(z) if label == k] for k in range(max(z) + 1)]


def log_evidence(family: str, block: list[int]) -> float:
    """ln p(x of the block | they are one cluster), multinomial coefficients left out."""
    if family == "multinomial":
        n = COUNTS[block].sum(0)
        found = stats.dirichlet_multinomial([DIRICHLET] * 3, n.sum()).logpmf(n)
        return float(found - gammaln(n.sum() + 1) + gammaln(n + 1).sum())
    found = 0.0
    for seen, item in enumerate(block):
        before, kappa = POINTS[block[:seen]], KAPPA + seen
        mean = before.mean(0) if seen else np.zeros(2)
        if family == "isotropic":
            degrees = 2 * (SHAPE + seen)
            square = np.square(before - mean).sum() + KAPPA * seen / kappa * np.square(mean).sum()
            scatter = (2 * RATE + square) * np.eye(2)
        else:
            degrees = DEGREES + seen - 1
            scatter = SCATTER * np.eye(2) + (before - mean).T @ (before - mean)
            scatter += KAPPA * seen / kappa * np.outer(mean, mean)
        shape = scatter * (kappa + 1) / (kappa * degrees)
        found += stats.multivariate_t(seen * mean / kappa, shape, df=degrees).logpdf(POINTS[item])
    return float(found)


def log_joint(z: Partition, family: str, alpha: float, answers: Answers | None = None) -> float:
    """ln p of a partition and the items at one concentration, but for a constant, and of answers at :data:`QUALITY`."""
    found = sum(np.log(alpha) + gammaln(len(block)) + log_evidence(family, block) for block in blocks(z))
    if answers is not None:
        found += answers.weights(QUALITY)[np.array(z)[PAIRS.i] == np.array(z)[PAIRS.j]].sum()
    return float(found)


def likelihood(loss: str, margin: np.ndarray) -> np.ndarray:
    """p(y | f) at margins y f, eq. 2."""
    return 1 / (1 + np.exp(-margin)) if loss == "logistic" else np.exp(-2 * np.maximum(1 - margin, 0))


def _integral(loss: str, variance: float, y: np.ndarray) -> float:
    grid = np.linspace(-7, 7, 281) * np.sqrt(variance)
    eta = np.stack(np.meshgrid(grid, grid), -1).reshape(-1, 2)
    weight = np.exp(-np.square(eta).sum(-1) / (2 * variance))
    return float((weight * likelihood(loss, y * (eta @ SEEN.T)).prod(-1)).sum())


@cache
def _nobody(loss: str, variance: float) -> float:
    return _integral(loss, variance, np.full(ITEMS, -1.0))


@cache
def log_separation(loss: str, block: Partition, variance: float = VARIANCE) -> float:
    """ln of ∫ N(η | 0, w I) Π p(y_i | x_i, η) dη with y = 1 in the block, less that of no block at all."""
    y = np.full(ITEMS, -1.0)
    y[list(block)] = 1
    return float(np.log(_integral(loss, variance, y) / _nobody(loss, variance)))


@cache
def prior(kind: str) -> tuple[np.ndarray, np.ndarray, dict[Partition, np.ndarray]]:
    """Draws of both concentrations from Gamma(1, 1), and the probability of every partition under each of them.

    Customers, or states whose sticks are drawn too, come one after the other.
    """
    rng = np.random.default_rng(0)
    alpha, gamma = rng.exponential(size=(2, 100_000))
    left = np.cumprod(np.concatenate([np.ones((1, 100_000)), 1 - rng.beta(1, gamma, size=(ITEMS, 100_000))]), 0)
    beta = left[:-1] - left[1:]
    found = {}
    for z in partitions():
        moves = np.zeros((ITEMS + 1, ITEMS))
        p, row, states = np.ones(100_000), ITEMS, 0  # the row before the first item
        for state in z:
            new = state == states
            if kind == "restaurant":
                p *= (alpha if new else moves[ITEMS, state]) / (moves[ITEMS].sum() + alpha)
            else:
                share = left[states] if new else beta[state]
                p *= (moves[row, state] + alpha * share) / (moves[row].sum() + alpha)
                row, before = state, row
            states += new
            moves[ITEMS if kind == "restaurant" else before, state] += 1
        found[z] = p
    return alpha, gamma, found


def exact(kind: str, family: str, loss: str) -> dict[Partition, float]:
    """Posterior of every partition."""
    score = {
        z: np.log(prior(kind)[2][z].mean()) + sum(
            (log_evidence(family, block) if family else 0.0) + (log_separation(loss, tuple(block)) if loss else 0.0)
            for block in blocks(z)
        )
        for z in partitions()
    }  # fmt: skip
    top = max(score.values())
    total = sum(np.exp(one - top) for one in score.values())
    return {z: float(np.exp(one - top) / total) for z, one in score.items()}


def families(family: str) -> Callable[[int], Any]:
    """What the chain takes of the items."""
    if family == "multinomial":
        return multinomial(COUNTS, DIRICHLET)
    if family == "isotropic":
        return isotropic(POINTS, np.zeros(2), KAPPA, SHAPE, RATE)
    return gaussian(POINTS, np.zeros(2), KAPPA, DEGREES, SCATTER * np.eye(2))


def chain(kind: str, family: str, loss: str, new: str = "corrected") -> Chain:
    """A chain of the same model; splits and merges are proposed where they are."""
    planes = Hyperplanes(SEEN, loss, VARIANCE) if loss else None
    order = neighbours(np.zeros(ITEMS, int)) if kind == "franchise" else None
    return Chain(Model(families(family), ITEMS, neighbours=order, planes=planes, new=new, splits=1 if loss else 3))


def frequencies(one: Chain, sweeps: int, seed: int = 0) -> dict[Partition, float]:
    """How often a chain visits each partition."""
    rng = np.random.default_rng(seed)
    for _ in range(50):
        one.sweep(rng)
    seen: Counter[Partition] = Counter()
    for _ in range(sweeps):
        one.sweep(rng)
        seen[named(one.z)] += 1
    return {z: count / sweeps for z, count in seen.items()}


def distance(p: dict[Partition, float], q: dict[Partition, float]) -> float:
    """Total variation."""
    return sum(abs(p.get(z, 0.0) - q.get(z, 0.0)) for z in partitions()) / 2
