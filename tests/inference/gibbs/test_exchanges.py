"""Splits and merges beside hyperplanes, alone and where they are needed."""

from collections import Counter

import numpy as np
import pytest

from semicrowd.data.generated import draw_chains
from semicrowd.inference.gibbs.chain import Chain, Model
from semicrowd.inference.gibbs.gaussian import gaussian
from semicrowd.inference.gibbs.hyperplanes import Hyperplanes, nearest_gaussian, rotated

from .small import ITEMS, SEEN, Partition, blocks, distance, families, log_separation, named
from .test_splits import ALPHA
from .test_splits import exact as without

#: Smaller than the other tests': with theirs, what a split or a merge leads to is seldom as likely as what was.
VARIANCE = {"svm": 0.03, "logistic": 0.1}


def exact(loss: str) -> dict[Partition, float]:
    """Posterior of every partition at one concentration."""
    found = {
        z: p * np.exp(sum(log_separation(loss, tuple(block), VARIANCE[loss]) for block in blocks(z)))
        for z, p in without("multinomial", None).items()
    }
    return {z: float(p / sum(found.values())) for z, p in found.items()}


@pytest.mark.slow
@pytest.mark.parametrize("loss", ["svm", "logistic"])
def test_they_visit_partitions_as_often_as_they_are_likely(loss: str) -> None:
    planes = Hyperplanes(SEEN, loss, VARIANCE[loss])
    chain = Chain(Model(families("multinomial"), ITEMS, alpha=ALPHA, planes=planes, splits=5))
    chain.begin(np.zeros(ITEMS, np.int64))
    rng, visits = np.random.default_rng(0), Counter[Partition]()
    for _ in range(6_000):
        chain._move_planes(rng)
        chain._split(rng, True)
        visits[named(chain.z)] += 1
    assert len(visits) > 30
    assert distance({z: n / 6_000 for z, n in visits.items()}, exact(loss)) < 0.06


@pytest.mark.parametrize("loss", ["svm", "logistic"])
def test_the_gaussian_has_nearly_the_posteriors_moments(loss: str) -> None:
    rng = np.random.default_rng(3)
    items, _ = rotated(np.column_stack([rng.normal(size=(80, 2)), np.ones(80)]))
    y = np.sign(items[:, 0] + 0.5 * rng.normal(size=80))
    planes = Hyperplanes(items, loss, 2.0)
    eta, draws = np.zeros((100, 3)), []
    for _ in range(120):
        eta = planes.redraw(eta, y[:, None].repeat(100, 1), rng)
        draws.append(eta)
    found = np.concatenate(draws[20:])
    mean, root = nearest_gaussian(planes, y)
    covariance = np.linalg.inv(root @ root.T)
    assert (np.abs(mean - found.mean(0)) / found.std(0)).max() < 0.4  # the logistic's mode is not its mean
    assert np.sqrt(np.diag(covariance)) == pytest.approx(found.std(0), rel=0.2)


@pytest.mark.parametrize("loss", ["svm", "logistic"])
def test_what_was_cut_without_hyperplanes_is_joined(loss: str) -> None:
    """Two chains, each cut in two halves: items one at a time do not get out of that in any of three runs.

    With moves a run is soon at two or stays at three, by chance and by the machine's rounding: one of six is at two.
    """
    x, truth = draw_chains()
    items, _ = rotated(np.column_stack([(x - x.mean(0)) / x.std(0) / np.sqrt(2), np.ones(len(x))]))
    clusters = gaussian(x, x.mean(0), 0.01, 4, 0.5 * np.diag(x.var(0)))

    def end(splits: int, seed: int) -> int:
        chain = Chain(Model(clusters, len(x), planes=Hyperplanes(items, loss, 1.0), splits=splits))
        chain.begin(2 * truth + (x[:, 0] > 0))
        rng = np.random.default_rng(seed)
        for _ in range(8):
            chain.sweep(rng)
        return chain.clusters

    assert [end(0, seed) for seed in range(3)] == [4, 4, 4]
    assert any(end(20, seed) == 2 for seed in range(6))
