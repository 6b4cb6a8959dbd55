"""Files whose names or links lead out of their folder are read, and nothing is written outside the run's folder."""

import os
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from PIL import Image

from .conftest import Command, rows_of


def contents(folder: Path) -> dict[str, bytes]:
    """Every file below a folder."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_pictures_behind_links_are_read_and_left_as_they_are(
    train: Command, predict: Command, tmp_path: Path
) -> None:
    rng, outside = np.random.default_rng(0), tmp_path / "outside"
    (outside / "more").mkdir(parents=True)
    for number in range(12):
        place = outside / "more" if number % 2 else outside
        Image.fromarray(rng.integers(0, 256, (8, 8), dtype=np.uint8)).save(place / f"{number:02}.png")
    (tmp_path / "pictures").mkdir()
    (tmp_path / "pictures" / "linked").symlink_to(outside / "more")
    (tmp_path / "pictures" / "one.png").symlink_to(outside / "00.png")
    os.link(outside / "02.png", tmp_path / "pictures" / "two.png")
    before = contents(outside)
    done = train("data=images", "data.path=pictures", "model=kmeans", "model.K=2", "hydra.run.dir=run", "figures=true")
    assert done.returncode == 0, done.stderr
    items = [row["item"] for row in rows_of(tmp_path / "run" / "assignments.csv")]
    assert items == [*(f"linked/{number:02}.png" for number in range(1, 12, 2)), "one.png", "two.png"]
    assert predict("run", "pictures", "--output", "new.csv").returncode == 0
    assert contents(outside) == before
    assert {path.name for path in tmp_path.iterdir()} - {"data"} == {"outside", "pictures", "run", "new.csv"}


def test_names_that_lead_upwards_are_names(train: Command, predict: Command, tmp_path: Path) -> None:
    rng, work = np.random.default_rng(0), tmp_path / "a" / "b"
    work.mkdir(parents=True)
    table = rng.normal(size=(12, 2))
    up = [f"../../{k}/../item" for k in range(12)]
    arrays: dict[str, Any] = {"features": table, "ids": np.array(up), "../../escaped": np.zeros(3)}
    np.savez(work / "items.npz", **arrays)
    frame = pd.DataFrame({"id": up, "../x": table[:, 0], "y": table[:, 1], "label": ["../up", "/tmp/down"] * 6})
    frame.to_csv(work / "items.csv", index=False)
    rows = [f"{up[k]},{up[k + 1]},../../eve{k % 2},{k % 2}" for k in range(11)]
    (work / "answers.csv").write_text("\n".join(["i,j,worker,label", *rows]) + "\n")
    for suffix in ("npz", "csv"):
        run = f"run_{suffix}"
        done = train("data=table", f"data.path={work}/items.{suffix}", "annotations=file", "figures=true",
                     f"annotations.path={work}/answers.csv", "model=crowd_logistic", "model.K=2",
                     f"hydra.run.dir={work}/{run}")  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert [row["item"] for row in rows_of(work / run / "assignments.csv")] == up
        assert predict(str(work / run), str(work / f"items.{suffix}")).returncode == 0
    assert {path.name for path in work.iterdir()} == {"items.npz", "items.csv", "answers.csv", "run_npz", "run_csv"}
    assert [path.name for path in work.parent.iterdir()] == ["b"]
    assert {path.name for path in tmp_path.iterdir()} <= {"a", "data"}
