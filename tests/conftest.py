"""Fixtures for tests of several folders."""

import gc
import hashlib
import os
import signal
import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import settings
from tests import type_checks

# Shapes and types of all signatures are checked while the tests run. Before other imports.
type_checks.install()
# The same examples in every run, however slow the machine.
settings.register_profile("semicrowd", deadline=None, derandomize=True)
settings.load_profile("semicrowd")

# A shell's background job ignores Ctrl-C, and so would the runs that tests start and interrupt.
signal.signal(signal.SIGINT, signal.default_int_handler)

from semicrowd.crowd import simulate  # noqa: E402
from semicrowd.crowd.annotations import PairAnnotations  # noqa: E402
from semicrowd.data import Dataset  # noqa: E402
from semicrowd.data.cifar10 import CIFAR10_RECORD  # noqa: E402
from semicrowd.data.fetch import PUBLIC, data_root, fetch  # noqa: E402
from semicrowd.data.generated import load_pinwheel  # noqa: E402
from semicrowd.errors import UserError  # noqa: E402


def pytest_collection_finish() -> None:
    """What has been imported and collected stays to the end, so that looking for garbage among it is time lost."""
    gc.collect()
    gc.freeze()


def pytest_runtest_setup() -> None:
    """Signatures are checked in each test anew."""
    type_checks.begin_test()


@pytest.fixture(scope="session")
def published() -> ModuleType:
    """The package of other constrained methods, which on import makes NumPy raise on underflow everywhere."""
    before = np.geterr()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            package: ModuleType = pytest.importorskip("active_semi_clustering")
            return package
    finally:
        np.seterr(**before)


@pytest.fixture
def pinwheel() -> Dataset:
    """Five arms of 24 points."""
    return load_pinwheel(points_per_class=24)


@pytest.fixture
def answers(pinwheel: Dataset) -> PairAnnotations:
    """Six annotators, right nine times of ten, 40 pairs each on 50 of the points."""
    return simulate.two_coin(
        pinwheel.labels, np.random.default_rng(0), num_annotators=6, pairs_per_annotator=40, num_annotated=50
    )


@pytest.fixture
def build(pinwheel: Dataset, answers: PairAnnotations) -> Callable[..., Any]:
    """``build("scdc", n_clusters=4, init_epochs=20, with_answers=True, …)``: a fit of the pinwheel; see small_fit."""

    from tests.small_fits import SmallFit, small_fit  # here: what a fit needs, other tests do without

    def make(name: str, with_answers: bool = True, **settings: Any) -> SmallFit[Any]:
        return small_fit(name, pinwheel.features, answers if with_answers else None, **settings)

    return make


@pytest.fixture
def bayes(build: Callable[..., Any]) -> Callable[..., Any]:
    """``build`` of BayesSCDC."""
    return partial(build, "bayes")


@pytest.fixture
def scdc(build: Callable[..., Any]) -> Callable[..., Any]:
    """``build`` of SCDC."""
    return partial(build, "scdc")


@pytest.fixture(scope="session")
def public_data(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """``public_data(name)``: a data root with a public data set, from the data root or the mirror of this machine.

    The network is left alone; where the files are not on this machine, the test is skipped and says so.
    """
    root = tmp_path_factory.mktemp("public-data")

    def find(name: str) -> Path:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("SEMICROWD_MIRROR", os.environ.get("SEMICROWD_MIRROR") or str(data_root()))
            patch.setenv("SEMICROWD_OFFLINE", "1")
            try:
                fetch(name, root)
            except UserError as error:
                pytest.skip(f"real data not on this machine: {error}")
        return root

    return find


@pytest.fixture
def write_cifar10(monkeypatch: pytest.MonkeyPatch) -> Callable[..., dict[str, np.ndarray]]:
    """``write_cifar10(root, data_batch_1=3, …)``: batches of so many random images, which pass for the published ones.

    The records [n, 3073] of each batch come back. The network and the mirror are left alone.
    """
    monkeypatch.delenv("SEMICROWD_MIRROR", raising=False)
    monkeypatch.setenv("SEMICROWD_OFFLINE", "1")

    def write(root: Path, **images: int) -> dict[str, np.ndarray]:
        public = PUBLIC["cifar10"]
        folder = root / public.folder
        folder.mkdir(parents=True)
        rng = np.random.default_rng(0)
        records, files = {}, dict(public.files)
        for batch, number in images.items():
            name = f"{batch}.bin"
            records[batch] = rng.integers(256, size=(number, CIFAR10_RECORD), dtype=np.uint8)
            records[batch][:, 0] = np.arange(number) % 10
            content = records[batch].tobytes()
            (folder / name).write_bytes(content)
            files[name] = f"md5:{hashlib.md5(content).hexdigest()}"
        monkeypatch.setitem(PUBLIC, "cifar10", replace(public, files=files))
        return records

    return write
