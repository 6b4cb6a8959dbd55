"""MPCK-means against the package active-semi-supervised-clustering, on features and links of the size of Face."""

import time
import warnings
from importlib import import_module
from types import ModuleType

import numpy as np

from semicrowd.crowd import simulate
from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.crowd.links import Links, majority_vote
from semicrowd.errors import UserError
from semicrowd.methods.mpckmeans import MPCKMeans
from semicrowd.random import stream
from table import at_least, print_table

_CLUSTERS, _FEATURES = 4, 20


def mpckmeans(quick: bool = False) -> None:
    """One start of each, as many iterations at most; seconds that this process computes, the least of some turns.

    Raises
    ------
    UserError
        Where the package is not installed.
    """
    published = _published()
    rows = []
    for items, answers in ((60, 40),) if quick else ((624, 40), (624, 200)):
        features, pairs = _draw(items, answers)
        links = majority_vote(pairs)
        ours = min(_seconds(lambda: _ours(features, pairs)) for _ in range(1 if quick else 3))  # noqa: B023
        theirs = _seconds(lambda: _theirs(published, features, links))  # noqa: B023
        rows.append((f"{items} items, {len(links.i)} links", f"{theirs:.2f}", f"{ours:.3f}", f"{theirs / ours:.0f}",
                     at_least(theirs / ours, 20)))  # fmt: skip
    print_table(("MPCK-means, one start", "s, the package", "s, here", "ratio", "bar"), rows)


def _published() -> ModuleType:
    before = np.geterr()  # on import the package makes NumPy raise on underflow
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return import_module("active_semi_clustering")
    except ImportError as error:
        raise UserError("the package active-semi-supervised-clustering is not installed (pip install it)") from error
    finally:
        np.seterr(**before)


def _draw(items: int, answers: int) -> tuple[np.ndarray, PairAnnotations]:
    """Four clusters that overlap, and right answers about them: the package refuses links in contradiction."""
    rng = stream(0, "data")
    labels = rng.integers(_CLUSTERS, size=items)
    features = rng.normal(size=(items, _FEATURES)) + rng.normal(size=(_CLUSTERS, _FEATURES))[labels]
    pairs = simulate.quota(
        labels, stream(0, "annotations"), sensitivity=1.0, specificity=[1.0] * 5, pairs_per_annotator=answers
    )
    return features, pairs


def _ours(features: np.ndarray, pairs: PairAnnotations) -> None:
    MPCKMeans(_CLUSTERS, n_init=1, max_iter=10).fit(features, pairs)


def _theirs(package: ModuleType, features: np.ndarray, links: Links) -> None:
    both = list(zip(links.i.tolist(), links.j.tolist(), links.must.tolist(), strict=True))
    must, cannot = ([(i, j) for i, j, same in both if same is kind] for kind in (True, False))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        package.MPCKMeans(n_clusters=_CLUSTERS, max_iter=10).fit(features, ml=must, cl=cannot)


def _seconds(work: object) -> float:
    assert callable(work)
    start = time.process_time()
    work()
    return time.process_time() - start
