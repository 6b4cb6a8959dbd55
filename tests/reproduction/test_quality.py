"""One bar of quality each for MNIST and Face, on seeds by which nothing was chosen: a part of ``make test-nightly``.

A bar is below what docs/BENCHMARKS.md has of the same command: a change that costs quality is noticed, chance is not.
"""

from collections.abc import Callable
from pathlib import Path

import pytest

from .conftest import Command, metrics_of

pytestmark = [pytest.mark.slow, pytest.mark.needs_data]

Public = Callable[[str], Path]


def scores(train: Command, tmp_path: Path, root: Path, *arguments: str) -> dict[str, float]:
    """Metrics of a run with the data of ``root``."""
    done = train(*arguments, "hydra.run.dir=run", SEMICROWD_DATA=str(root))
    assert done.returncode == 0, done.stderr
    return metrics_of(tmp_path / "run")


def test_bayes_of_mnist_with_its_crowd(train: Command, tmp_path: Path, public_data: Public) -> None:
    """Seeds 0 to 4 have .955 ± .001 and .893 ± .002; two minutes."""
    public_data("mnist_crowd")
    found = scores(train, tmp_path, public_data("mnist"), "data=mnist", "model=bayes", "annotations=crowd", "seed=7")
    assert found["test/acc"] >= 0.93
    assert found["test/nmi"] >= 0.87


@pytest.mark.parametrize("seed", [40, 41, 42])
def test_scdc_of_face_with_many_answers(train: Command, tmp_path: Path, public_data: Public, seed: int) -> None:
    """Seeds 0 to 9 have .994 ± .007; 20 seconds."""
    found = scores(
        train, tmp_path, public_data("face"), "data=face", "model=scdc", "model.n_clusters=4", "annotations=quota",
        "annotations.pairs_per_annotator=1000", f"seed={seed}",
    )  # fmt: skip
    assert found["final/nmi"] >= 0.97
