"""New items through the command line, and the page of a run made anew."""

import contextlib
import csv
import io
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import yaml
from PIL import Image
from sklearn.metrics import normalized_mutual_info_score

from .conftest import Command, refused, rows_of


@pytest.fixture
def run(train: Command, tmp_path: Path, table: Path, answers: Path) -> Path:
    """A finished run on the two groups of the table, of two restarts."""
    train(table.name, answers.name, "model=scdc", "model.n_clusters=4", "model.epochs=5", "model.batch_size=10",
                 "model.restarts=2", "model.init=mixture", "model.init_epochs=20", "hydra.run.dir=run")  # fmt: skip
    return tmp_path / "run"


def test_new_items(predict: Command, run: Path, tmp_path: Path, table: Path, answers: Path) -> None:
    # The run's own items, read anew without labels: the same clusters as in assignments.csv.
    points = np.loadtxt(table, delimiter=",", skiprows=1, usecols=(0, 1))
    np.save(tmp_path / "items.npy", points)
    done = predict("run", "items.npy", "--annotations", answers.name, "--output", "with.csv")
    assert done.stdout == ""
    assert (tmp_path / "with.csv").read_bytes() == (run / "assignments.csv").read_bytes()

    # An earlier output is replaced; any other file is kept.
    predict("run", "items.npy", "--output", "with.csv")
    refused(predict("run", table.name, "--output", table.name, code=2), table.name)
    assert np.array_equal(np.loadtxt(table, delimiter=",", skiprows=1, usecols=(0, 1)), points)

    # From the features alone, on standard output, the same twice; only the answered items may differ.
    alone = [predict("run", table.name).stdout for _ in range(2)]
    assert alone[0] == alone[1]
    rows = list(csv.DictReader(io.StringIO(alone[0])))
    assert [row["annotated"] for row in rows] == ["0"] * 40
    for row, own in zip(rows, rows_of(run / "assignments.csv"), strict=True):
        assert own["annotated"] == "1" or row == own

    # Answers move clusters: must-links tie an item between the groups to one of them.
    np.save(tmp_path / "new.npy", np.array([[-5.0, -5.0], [-4.8, -5.2], [0.0, 0.0]], np.float32))
    pairs = [f"{i},{j},{worker},1" for i, j in ((0, 1), (0, 2), (1, 2)) for worker in ("ann", "bob")]
    files = {"tie.csv": pairs, "part 0.csv": pairs[::2], "part 1.csv": pairs[1::2]}
    for name, lines in files.items():
        (tmp_path / name).write_text("\n".join(["i,j,worker,label", *lines]) + "\n")
    tied = predict("run", "new.npy", "--annotations", "tie.csv").stdout
    assert len({row["cluster"] for row in csv.DictReader(io.StringIO(tied))}) == 1
    assert predict("run", "new.npy", "--annotations", "part 0.csv", "--annotations", "part 1.csv").stdout == tied

    np.save(tmp_path / "wide.npy", np.zeros((3, 5), np.float32))
    (tmp_path / "stranger.csv").write_text("i,j,worker,label\n0,1,Zoe,1\n")
    (tmp_path / "empty").mkdir()
    for given, named in (
        (["run", "wide.npy"], "wide.npy"),
        (["run", "nowhere.npy"], "nowhere.npy"),
        (["run", "new.npy", "--annotations", "stranger.csv"], "Zoe"),
        (["empty", "new.npy"], "empty"),
    ):
        refused(predict(*given, "--output", "bad.csv", code=2), named)
    assert not (tmp_path / "bad.csv").exists()


def _pictures(folder: Path, scale: int = 1) -> np.ndarray:
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
        side = scale * (40 if number == 5 else 10)
        image.resize((side, side), Image.Resampling.NEAREST).save(folder / "pictures" / f"{number:02}.png")
    pairs = [(i, j) for i in range(12) for j in range(i)]
    rows = [f"{i:02}.png,{j:02}.png,{worker},{int(kinds[i] == kinds[j])}" for worker in "ab" for i, j in pairs]
    (folder / "answers.csv").write_text("\n".join(["i,j,worker,label", *rows]) + "\n")
    return kinds


def test_pictures_are_called_by_files_and_new_ones_placed(train: Command, predict: Command, tmp_path: Path) -> None:
    kinds = _pictures(tmp_path)
    train("pictures", "answers.csv", "data.size=10", "hydra.run.dir=run")
    config = yaml.safe_load((tmp_path / "run" / "config.yaml").read_text())
    assert config["choices"]["model"] == "cotrain"
    assert config["image_shape"] == [3, 10, 10]
    rows = rows_of(tmp_path / "run" / "assignments.csv")
    assert [row["item"] for row in rows] == [f"{number:02}.png" for number in range(40)]
    assert normalized_mutual_info_score(kinds, [row["cluster"] for row in rows]) > 0.9
    (tmp_path / "new").mkdir()
    for number in (30, 31):
        (tmp_path / "pictures" / f"{number}.png").rename(tmp_path / "new" / f"{number}.png")
    new = predict("run", "new")
    found = list(csv.DictReader(new.stdout.splitlines()))
    assert [(row["item"], row["cluster"]) for row in found] == [(row["item"], row["cluster"]) for row in rows[30:32]]


def test_new_pictures_are_seen_by_the_network_of_the_run(
    train: Command, predict: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _pictures(tmp_path, scale=12)

    def network(pictures: Sequence[np.ndarray]) -> np.ndarray:
        """The brightness of the upper and the lower half."""
        halves = [[picture[:60].mean(), picture[60:].mean()] for picture in pictures]
        return np.pad(np.array(halves, np.float32), ((0, 0), (0, 1278)))

    monkeypatch.setattr("semicrowd.data.embedding.efficientnet_lite0", lambda: network)
    train("pictures", "answers.csv", "model=kmeans", "n_classes=2", "hydra.run.dir=run")
    rows = rows_of(tmp_path / "run" / "assignments.csv")
    refused(predict("run", "pictures/30.png", code=2), "pictures/30.png")
    found = list(csv.DictReader(predict("run", "pictures").stdout.splitlines()))
    assert [row["cluster"] for row in found] == [row["cluster"] for row in rows]
    assert len({row["cluster"] for row in rows}) == 2


@pytest.mark.usefixtures("table", "answers")
def test_a_method_of_answers_alone_asks_questions_has_a_page_and_places_no_new_items(
    train: Command, predict: Command, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from reproduction.report.engine import main

    train("items.csv", "answers.csv", "model=crowd_only", "n_classes=2", "questions=7", "hydra.run.dir=run")
    refused(predict("run", "items.csv", code=2), "SignedSpectral")
    assert len(rows_of(tmp_path / "run" / "questions.csv")) == 7
    page = tmp_path / "run" / "report.html"
    text = page.read_text()
    assert "items.csv" in text
    page.unlink()
    with contextlib.chdir(tmp_path):
        assert main(["run"]) == 0
        assert page.read_text() == text
        Path("items.csv").write_text(Path("items.csv").read_text() + "1,2,a\n")
        assert main(["run"]) == 2
        Path("items.csv").unlink()
        assert main(["run"]) == main(["nowhere"]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert all(name in line for name, line in zip(("items.csv", "items.csv", "nowhere"), lines, strict=True))
