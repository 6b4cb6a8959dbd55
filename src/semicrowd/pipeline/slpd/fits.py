"""SLPD on many tables at once: the fits of as many runs of ``src/train.py``, whose starts these are."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from sklearn.preprocessing import StandardScaler
from torch import Tensor
from torch.nn.functional import pad

from semicrowd.inference.slpd import Clusters, Prior, Samples, samples_of
from semicrowd.methods.slpd import SLPDParameters, first_clusters, proportions
from semicrowd.models.slpd import Decomposition, best_of, posterior

#: Values that the fits of one batch have, in copies: 128 MiB.
_VALUES = 2**24


@dataclass(frozen=True)
class Table:
    """What a run is fitted to, and asked about.

    Attributes
    ----------
    train, test : [D, G] and [N, G], as they come
    blocks : [D], of the items of ``train``
    seed : of the run
    """

    train: np.ndarray
    test: np.ndarray
    blocks: np.ndarray
    seed: int


@dataclass(frozen=True)
class Fitted:
    """The restarts of one table.

    Attributes
    ----------
    scaler : of its features
    clusters, bound : of the restarts, [R, …]
    test : the items asked about, standardised, a block each
    """

    scaler: StandardScaler
    clusters: Clusters
    bound: Tensor
    test: Samples

    def chosen(self, restart: int) -> Clusters:
        """One of the restarts, as fits of their own."""
        return Clusters(*(part[restart : restart + 1] for part in self.clusters))

    def best(self, some: range) -> int:
        """The best of some of the restarts."""
        return some[best_of(self.bound[list(some)], Clusters(*(part[list(some)] for part in self.clusters)))]

    def predict(self, restart: int) -> np.ndarray:
        """Clusters [N] of the items asked about."""
        return proportions(posterior(self.test, self.chosen(restart)))[0].argmax(-1).numpy()


def decompose(
    tables: Sequence[Table], num_clusters: int, restarts: int, prior: Prior, *, standardize: bool = True
) -> Iterator[Fitted]:
    """Fit all tables, as many at a time as memory allows; results in their order."""
    size = max(table.train.size for table in tables) * restarts
    at_once = max(_VALUES // size, 1)
    for low in range(0, len(tables), at_once):
        yield from _batch(tables[low : low + at_once], num_clusters, restarts, prior, standardize)


def _batch(
    tables: Sequence[Table], num_clusters: int, restarts: int, prior: Prior, standardize: bool
) -> Iterator[Fitted]:
    scalers = [StandardScaler(with_std=standardize).fit(table.train) for table in tables]
    values = [scaler.transform(table.train) for scaler, table in zip(scalers, tables, strict=True)]
    samples = _padded(values, [table.blocks for table in tables])
    begun = [
        first_clusters(one, table.blocks, num_clusters, restarts, table.seed)
        for one, table in zip(values, tables, strict=True)
    ]
    longest = samples.block.shape[1]
    first = torch.cat([pad(of, (0, longest - of.shape[1]), value=-1) for _, of in begun])
    of_fit = torch.arange(len(tables)).repeat_interleave(restarts)
    fits = Decomposition(samples, of_fit, torch.cat([means for means, _ in begun]), first, prior)
    for _ in range(SLPDParameters.n_iter):
        fits.step()
        if not fits.active.any():
            break
    for number, (scaler, table) in enumerate(zip(scalers, tables, strict=True)):
        mine = of_fit == number
        test = torch.from_numpy(scaler.transform(table.test))[None]
        alone = samples_of(test, torch.arange(test.shape[1])[None])
        yield Fitted(scaler, Clusters(*(part[mine] for part in fits.clusters)), fits.bound[mine], alone)


def _padded(values: Sequence[np.ndarray], blocks: Sequence[np.ndarray]) -> Samples:
    """Tables of unequal length as one; rows without a value, a block each, fill up the shorter ones."""
    longest = max(map(len, values))
    padded = np.full((len(values), longest, values[0].shape[1]), np.nan)
    block = np.zeros((len(values), longest), np.int64)
    for row, (one, of) in enumerate(zip(values, blocks, strict=True)):
        padded[row, : len(one)] = one
        block[row] = np.concatenate([of, of.max() + 1 + np.arange(longest - len(one))])
    missing = np.isnan(padded)
    observed = torch.from_numpy(~missing) if missing.any() else None
    return samples_of(torch.from_numpy(np.nan_to_num(padded)), torch.from_numpy(block), observed)
