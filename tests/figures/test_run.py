"""The figures of a run: which there are, and that the files are images."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib.image import imread

from semicrowd.data import Dataset
from semicrowd.errors import UserError
from semicrowd.evaluation.scores import Evaluation
from semicrowd.figures.run import run_figures
from semicrowd.result import Assignment, Restarts, Result
from semicrowd.training.callbacks import Snapshots


def found(clusters: np.ndarray, latent: np.ndarray, restarts: int, workers: pd.DataFrame | None) -> Evaluation:
    """What a method has found, in so many restarts, of which the last is the best."""
    items = Assignment.hard(clusters)
    several = Restarts(np.arange(float(restarts)), restarts - 1, np.tile(clusters, (restarts, 1)))
    scores = {"elbo": several.score, "clusters_used": np.full(restarts, 3), "oracle_acc": np.linspace(0.8, 1, restarts)}
    return Evaluation(Result(4, items, items, None, latent, several), None, workers, {}, scores)


def planar() -> dict[str, Any]:
    """A run on 2-d data with three restarts and no annotators."""
    rng = np.random.default_rng(0)
    clusters = np.repeat(np.arange(3), 20)
    points = rng.normal(size=(60, 2)) + 5.0 * clusters[:, None]
    return {
        "title": "pinwheel bayes none seed 0",
        "data": Dataset("pinwheel", points.astype(np.float32), clusters),
        "result": found(clusters, points, 3, None),
        "rows": [
            {"epoch": n, "elbo/epoch": -1.0 / n, "proportions/used": 3, "proportions/effective": 2.9} for n in (1, 2)
        ],
        "generated": (rng.normal(size=(4, 10, 2)), np.array([0.4, 0.3, 0.3, 0.0])),
    }


def images() -> dict[str, Any]:
    """A run on images without labels, with annotators, one restart, a latent line."""
    rng = np.random.default_rng(0)
    rates = {f"{name}{end}": 0.5 for name in ("sensitivity", "specificity") for end in ("", "_low", "_high")}
    truth = {"true_sensitivity": np.nan, "true_specificity": np.nan}
    workers = pd.DataFrame({"annotator": ["ann", "bob"], "pairs": 9, **rates, "weight": 0.0, **truth})
    return planar() | {
        "data": Dataset("images", rng.random((60, 12)).astype(np.float32), image_shape=(3, 4)),
        "result": found(np.repeat(np.arange(3), 20), rng.normal(size=(60, 1)), 1, workers),
        "generated": (rng.random((4, 10, 12)), planar()["generated"][1]),
    }


def test_planar_data(tmp_path: Path) -> None:
    paths = run_figures(tmp_path / "figures", **planar())
    assert [path.name for path in paths] == ["clusters.png", "latent.png", "samples.png", "curves.png", "restarts.png"]
    for path in paths:
        height, width, _ = imread(path).shape
        assert min(height, width) > 400
    assert sorted(tmp_path.rglob("*")) == sorted([tmp_path / "figures", *paths])  # no temporary file stays


def test_snapshots_of_images_are_drawn_and_those_of_points_are_not(tmp_path: Path) -> None:
    snapshots = Snapshots(np.arange(2), np.full((2, 4), 0.25), np.random.default_rng(0).random((2, 4, 12)))
    names = [path.name for path in run_figures(tmp_path, **images(), snapshots=snapshots)]
    assert names == ["samples.png", "workers.png", "curves.png", "training_samples.png"]
    drawn = run_figures(tmp_path, **planar(), snapshots=snapshots)
    assert "training_samples.png" not in [path.name for path in drawn]


def test_a_folder_that_is_a_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "figures").write_text("")
    with pytest.raises(UserError, match="figures"):
        run_figures(tmp_path / "figures", **planar())


def test_the_same_run_gives_the_same_bytes(tmp_path: Path) -> None:
    first, second = run_figures(tmp_path / "a", **planar()), run_figures(tmp_path / "b", **planar())
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in second]
