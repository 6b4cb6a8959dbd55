"""The figures of a run: which there are, and that the files are images."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from matplotlib.image import imread

from semicrowd.errors import UserError
from semicrowd.figures import RunFigureData, run_figures
from semicrowd.fitting.snapshots import Snapshots


def planar() -> RunFigureData:
    """A run on 2-d data with three restarts and no annotators."""
    rng = np.random.default_rng(0)
    clusters = np.repeat(np.arange(3), 20)
    points = rng.normal(size=(60, 2)) + 5.0 * clusters[:, None]
    return RunFigureData(
        title="pinwheel bayes none seed 0",
        features=points,
        labels=clusters,
        clusters=clusters,
        latent_mean=points,
        samples=rng.normal(size=(4, 10, 2)),
        weights=np.array([0.4, 0.3, 0.3, 0.0]),
        image_shape=None,
        workers=None,
        curves=[{"epoch": n, "elbo/epoch": -1.0 / n, "clusters/used": 3, "clusters/effective": 2.9} for n in (1, 2)],
        restarts={"elbo": np.arange(3.0), "clusters_used": np.full(3, 3), "oracle_acc": np.linspace(0.8, 1, 3)},
        best=2,
    )


def images() -> RunFigureData:
    """A run on images without labels, with annotators, one restart, a latent line."""
    rng = np.random.default_rng(0)
    rates = {f"{name}{end}": 0.5 for name in ("sensitivity", "specificity") for end in ("", "_low", "_high")}
    truth = {"true_sensitivity": np.nan, "true_specificity": np.nan}
    return replace(
        planar(),
        features=rng.random((60, 12)),
        labels=None,
        latent_mean=rng.normal(size=(60, 1)),
        samples=rng.random((4, 10, 12)),
        image_shape=(3, 4),
        workers=pd.DataFrame({"annotator": ["ann", "bob"], "pairs": 9, **rates, "weight": 0.0, **truth}),
        restarts={"elbo": np.zeros(1), "clusters_used": np.full(1, 3), "oracle_acc": np.full(1, np.nan)},
        best=0,
    )


def test_planar_data(tmp_path: Path) -> None:
    paths = run_figures(planar(), tmp_path / "figures")
    assert [path.name for path in paths] == ["clusters.png", "latent.png", "samples.png", "curves.png", "restarts.png"]
    for path in paths:
        height, width, _ = imread(path).shape
        assert min(height, width) > 400
    assert sorted(tmp_path.rglob("*")) == sorted([tmp_path / "figures", *paths])  # no temporary file stays


def test_images_with_annotators(tmp_path: Path) -> None:
    names = [path.name for path in run_figures(images(), tmp_path)]
    assert names == ["samples.png", "workers.png", "curves.png"]


def test_snapshots_of_images_are_drawn_and_those_of_points_are_not(tmp_path: Path) -> None:
    snapshots = Snapshots(np.arange(2), np.full((2, 4), 0.25), np.random.default_rng(0).random((2, 4, 12)))
    names = [path.name for path in run_figures(replace(images(), snapshots=snapshots), tmp_path)]
    assert names == ["samples.png", "workers.png", "curves.png", "training_samples.png"]
    drawn = run_figures(replace(planar(), snapshots=snapshots), tmp_path)
    assert "training_samples.png" not in [path.name for path in drawn]


def test_features_that_cannot_be_shown_have_no_samples(tmp_path: Path) -> None:
    names = [path.name for path in run_figures(replace(images(), image_shape=None, curves=[]), tmp_path)]
    assert names == ["workers.png"]


def test_a_folder_that_is_a_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "figures").write_text("")
    with pytest.raises(UserError, match="figures"):
        run_figures(planar(), tmp_path / "figures")


def test_the_same_run_gives_the_same_bytes(tmp_path: Path) -> None:
    first, second = run_figures(planar(), tmp_path / "a"), run_figures(planar(), tmp_path / "b")
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in second]
