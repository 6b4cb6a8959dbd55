"""A folder of pictures through the command line: items are called by their files, also new ones."""

import csv
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import yaml
from PIL import Image
from sklearn.metrics import normalized_mutual_info_score

from .conftest import Command, rows_of
from .test_bad_input import refused

ARGUMENTS = ("data=images", "data.path=pictures", "annotations=file", "annotations.path=answers.csv")


def _pictures(folder: Path) -> np.ndarray:
    """Forty pictures of 10 × 10, half of them light above, half light below; one is grey, one larger."""
    rng = np.random.default_rng(0)
    (folder / "pictures").mkdir()
    kinds = np.arange(40) % 2
    for number, kind in enumerate(kinds):
        pixels = rng.integers(0, 60, (10, 10, 3))
        pixels[slice(0, 5) if kind else slice(5, 10)] += 150
        image = Image.fromarray(pixels.astype(np.uint8))
        if number == 3:
            image = image.convert("L")
        if number == 5:
            image = image.resize((40, 40), Image.Resampling.NEAREST)
        image.save(folder / "pictures" / f"{number:02}.png")
    pairs = [(i, j) for i in range(12) for j in range(i)]
    rows = [f"{i:02}.png,{j:02}.png,{worker},{int(kinds[i] == kinds[j])}" for worker in "ab" for i, j in pairs]
    (folder / "answers.csv").write_text("\n".join(["i,j,worker,label", *rows]) + "\n")
    return kinds


@pytest.mark.usefixtures("quick_cotraining")
def test_a_run_names_the_files_and_places_new_ones(train: Command, predict: Command, tmp_path: Path) -> None:
    kinds = _pictures(tmp_path)
    done = train(*ARGUMENTS, "data.size=10", "hydra.run.dir=run")
    assert done.returncode == 0, done.stderr
    config = yaml.safe_load((tmp_path / "run" / "config.yaml").read_text())
    assert (config["data"]["features"], config["data"]["size"]) == ("pixels", 10)
    assert config["model"]["name"] == "cotrain"
    rows = rows_of(tmp_path / "run" / "assignments.csv")
    assert [row["item"] for row in rows] == [f"{number:02}.png" for number in range(40)]
    assert normalized_mutual_info_score(kinds, [row["cluster"] for row in rows]) > 0.9
    (tmp_path / "new").mkdir()
    for number in (30, 31):
        (tmp_path / "pictures" / f"{number}.png").rename(tmp_path / "new" / f"{number}.png")
    new = predict("run", "new")
    assert new.returncode == 0, new.stderr
    found = list(csv.DictReader(new.stdout.splitlines()))
    assert [(row["item"], row["cluster"]) for row in found] == [(row["item"], row["cluster"]) for row in rows[30:32]]


def test_new_pictures_are_seen_by_the_network_of_the_run(
    train: Command, predict: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _pictures(tmp_path)
    for path in (tmp_path / "pictures").iterdir():
        Image.open(path).resize((120, 120), Image.Resampling.NEAREST).save(path)

    def network(pictures: Sequence[np.ndarray]) -> np.ndarray:
        """The brightness of the upper and the lower half."""
        halves = [[picture[:60].mean(), picture[60:].mean()] for picture in pictures]
        return np.pad(np.array(halves, np.float32), ((0, 0), (0, 1278)))

    monkeypatch.setattr("semicrowd.data.embedding.efficientnet_lite0", lambda: network)
    done = train(*ARGUMENTS, "model=kmeans", "model.K=2", "hydra.run.dir=run")
    assert done.returncode == 0, done.stderr
    config = yaml.safe_load((tmp_path / "run" / "config.yaml").read_text())
    assert config["data"]["features"] == "efficientnet_lite0"
    rows = rows_of(tmp_path / "run" / "assignments.csv")
    refused(predict("run", "pictures/30.png"), "pictures/30.png")
    every = predict("run", "pictures")
    assert every.returncode == 0, every.stderr
    found = list(csv.DictReader(every.stdout.splitlines()))
    assert [row["cluster"] for row in found] == [row["cluster"] for row in rows]
    assert len({row["cluster"] for row in rows}) == 2


def test_grey_pictures_for_a_run_in_colour_and_the_figures_of_runs(
    train: Command, predict: Command, tmp_path: Path
) -> None:
    _pictures(tmp_path)
    command = ("data=images", "data.path=.", "data.size=8", "model=kmeans", "model.K=2", "figures=true")
    assert train(*command, "hydra.run.dir=runs/one").returncode == 0
    assert list((tmp_path / "runs" / "one" / "figures").glob("*.png"))
    again = train(*command, "hydra.run.dir=runs/two")
    assert again.returncode == 0, again.stderr
    files = [tmp_path / "runs" / name / "assignments.csv" for name in ("one", "two")]
    assert files[0].read_bytes() == files[1].read_bytes()
    (tmp_path / "grey").mkdir()
    for number in range(4):
        Image.open(tmp_path / "pictures" / f"{number:02}.png").convert("L").save(tmp_path / "grey" / f"{number}.png")
    new = predict("runs/one", "grey")
    assert new.returncode == 0, new.stderr
    assert len(new.stdout.splitlines()) == 5


def test_a_run_that_is_finished_is_not_taken_for_one_on_pictures_that_have_changed(
    train: Command, tmp_path: Path
) -> None:
    _pictures(tmp_path)
    picture = tmp_path / "pictures" / "07.png"
    command = ("data=images", "data.path=pictures", "data.size=4", "model=kmeans", "model.K=2", "hydra.run.dir=run")
    assert train(*command).returncode == 0
    assert "finished before" in train(*command, "resume=true").stderr
    Image.fromarray(255 - np.asarray(Image.open(picture))).save(picture)
    refused(train(*command, "resume=true"), "pictures has changed since the run was started")
    picture.unlink()
    refused(train(*command, "resume=true"), "pictures has changed since the run was started")


def test_a_broken_picture_leaves_nothing_behind(train: Command, tmp_path: Path) -> None:
    _pictures(tmp_path)
    (tmp_path / "pictures" / "07.png").write_bytes(b"\x89PNG no image")
    refused(train(*ARGUMENTS, "hydra.run.dir=run"), "07.png")
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("nets", ["conv", "resnet"])
def test_convolutions_and_figures_see_the_pictures(train: Command, tmp_path: Path, nets: str) -> None:
    _pictures(tmp_path)
    short = ("epochs=1", "start.epochs=1", "start.teach_epochs=1", "start.kind=cells", "restarts=1", "model.K=2")
    done = train(*ARGUMENTS, "data.size=[10,13]", "model=scdc", f"nets={nets}", *short, "figures=true",
                 "hydra.run.dir=run")  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert json.loads((tmp_path / "run" / "provenance.json").read_text())["image_shape"] == [3, 10, 13]
    drawn = {path.stem for path in (tmp_path / "run" / "figures").iterdir()}
    assert {"samples", "likeliest"} <= drawn
