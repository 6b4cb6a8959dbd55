"""Sweeps of the Gibbs samplers on MNIST, against a sampler in plain NumPy, and their growth with items."""

import time
from collections.abc import Callable
from functools import cache

import numpy as np
from scipy.special import gammaln

from measuring import at_least, growth_row, print_table
from semicrowd.data.mnist import load_mnist
from semicrowd.inference.gibbs.chain import Chain, Model
from semicrowd.inference.gibbs.hyperplanes import Hyperplanes, rotated
from semicrowd.inference.gibbs.multinomial import multinomial
from semicrowd.random import stream

#: Grey levels of a pixel are its counts; parameter of the Dirichlet base, as the paper's.
_LEVELS, _DIRICHLET = 4, 0.01
#: Sweeps a second on one core, and how many times as fast as plain NumPy.
_BARS = {"DPM": 20.0, "DDPM-L": 3.0, "DDPM-S": 3.0}
_RATIO = 30.0


def gibbs(quick: bool = False) -> None:
    """CPU seconds of one thread, the least of some turns, after the first sweeps."""
    items, sweeps = (200, 2) if quick else (1000, 10)
    counts = _counts(items, quick)
    begun = _chain(counts, "")
    for number in range(10):
        begun.sweep(stream(0, "bench", number))
    rows = []
    plain = _seconds(lambda: _plain_sweep(counts, begun.z.copy(), begun.alpha, stream(0, "bench/plain")))
    for name, loss in (("DPM", ""), ("DDPM-L", "logistic"), ("DDPM-S", "svm")):
        chain = _chain(counts, loss)
        chain.begin(begun.z.copy())
        chain.alpha = begun.alpha
        seconds = _of_sweep(chain, sweeps)
        ratio = (f"{plain / seconds:.0f}", at_least(plain / seconds, _RATIO)) if not loss else ("", "")
        rows.append((name, str(chain.clusters), f"{1000 * seconds:.1f}", f"{1 / seconds:.1f}",
                     at_least(1 / seconds, _BARS[name]), *ratio))  # fmt: skip
    rows.append(("DPM, plain NumPy", str(begun.clusters), f"{1000 * plain:.0f}", f"{1 / plain:.2f}", "", "", ""))
    print_table(("MNIST, D = 784, multinomial", "K", "ms a sweep", "sweeps a s", "bar", "× NumPy", "bar"), rows)
    print()
    sizes = (100, 200) if quick else (500, 1000, 2000, 4000)
    curves = []
    for name, loss in (("DPM", ""), ("DDPM-L", "logistic")):
        found = [1000 * _of_sweep(_planted(size, 20, loss), sweeps) for size in sizes]
        curves.append(growth_row(f"{name}, N at K = 20", sizes, found))
    print_table(("a sweep", "sizes", "ms", "slope of the logs", "bar"), curves)


@cache
def _counts(items: int, quick: bool) -> np.ndarray:
    if quick:
        return stream(0, "data").integers(_LEVELS, size=(items, 784)) * (stream(1, "data").random((items, 784)) < 0.2)
    images = load_mnist().features
    drawn = stream(0, "data").permutation(len(images))[:items]
    return np.rint(images[drawn] * _LEVELS).astype(np.int64)


def _chain(counts: np.ndarray, loss: str) -> Chain:
    planes = None
    if loss:
        spread = counts.std(0)
        seen = (counts - counts.mean(0)) / np.where(spread > 0, spread, 1) / np.sqrt(counts.shape[1])
        planes = Hyperplanes(rotated(np.column_stack([seen, np.ones(len(seen))]))[0], loss, 1.0)
    return Chain(Model(multinomial(counts, _DIRICHLET), len(counts), planes=planes))


def _planted(items: int, clusters: int, loss: str) -> Chain:
    """A chain that begins with the clusters that its items are drawn from, and keeps them."""
    rng = stream(0, "bench/planted")
    shares = rng.dirichlet(np.full(784, 0.1), size=clusters)
    z = np.arange(items) % clusters
    chain = _chain(np.stack([rng.multinomial(200, shares[one]) for one in z]), loss)
    while chain.slots <= clusters:
        chain._grow()
    chain.z = z
    return chain


def _of_sweep(chain: Chain, sweeps: int) -> float:
    """Seconds a sweep, after the first: that one compiles, and finds the first hyperplanes."""
    return min(_seconds(lambda: chain.sweep(stream(0, "bench/sweep", number))) for number in range(1 + sweeps))  # noqa: B023


def _plain_sweep(x: np.ndarray, z: np.ndarray, alpha: float, rng: np.random.Generator) -> None:
    """Algorithm 3 of Neal 2000 as one writes it down: for every item the predictive density of all clusters at once."""
    _, z = np.unique(z, return_inverse=True)
    counts = np.stack([x[z == cluster].sum(0) for cluster in range(z.max() + 1)])
    sizes = np.bincount(z)
    for item, one in enumerate(x):
        counts[z[item]] -= one
        sizes[z[item]] -= 1
        if sizes[z[item]] == 0:
            counts, sizes = np.delete(counts, z[item], 0), np.delete(sizes, z[item])
            z[z > z[item]] -= 1
        before = np.concatenate([counts, np.zeros((1, x.shape[1]), np.int64)]) + _DIRICHLET
        score = gammaln(before + one).sum(1) - gammaln(before).sum(1)
        score += gammaln(before.sum(1)) - gammaln(before.sum(1) + one.sum())
        score += np.log(np.append(sizes, alpha))
        weight = np.exp(score - score.max())
        z[item] = rng.choice(len(weight), p=weight / weight.sum())
        if z[item] == len(sizes):
            counts, sizes = np.concatenate([counts, np.zeros_like(counts[:1])]), np.append(sizes, 0)
        counts[z[item]] += one
        sizes[z[item]] += 1


def _seconds(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start
