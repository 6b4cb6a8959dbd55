"""report.html at the end of a run, and made anew from the run's folder."""

from pathlib import Path
from runpy import run_path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from semicrowd.__main__ import main as command

from .conftest import Command, _called

SCRIPT = Path(__file__).parents[2] / "src" / "report.py"


def report(folder: Path, *arguments: str) -> Any:
    """What ``python src/report.py`` does with these arguments."""
    script = run_path(str(SCRIPT), run_name="report")
    return _called(script["main"], folder, ["--collect", *arguments], {})


@pytest.mark.usefixtures("table", "answers")
def test_a_run_has_a_page_and_it_can_be_made_anew(train: Command, tmp_path: Path) -> None:
    done = train("data=table", "data.path=items.csv", "model=kmeans", "model.K=2", "hydra.run.dir=run",
                 "annotations=file", "annotations.path=answers.csv")  # fmt: skip
    assert done.returncode == 0, done.stderr
    page = tmp_path / "run" / "report.html"
    text = page.read_text()
    assert "items.csv" in text
    assert "hydra.run.dir=run" in text
    page.unlink()
    again = report(tmp_path, "run=run")
    assert again.returncode == 0, again.stderr
    assert page.read_text() == text
    page.unlink()
    for argument in ("run", "run=run"):
        installed = _called(command, tmp_path, ["report", argument], {})
        assert installed.returncode == 0, installed.stderr
        assert page.read_text() == text
        page.unlink()
    assert report(tmp_path, "run").returncode == 0
    assert page.read_text() == text

    for wrong in ("nowhere", "run=nowhere"):
        assert "error: nowhere: cannot be read: No such file or directory" in report(tmp_path, wrong).stderr
    assert "run=: expected the folder of a finished run" in report(tmp_path, "run=").stderr
    with (tmp_path / "items.csv").open("a") as file:
        file.write((tmp_path / "items.csv").read_text().splitlines()[1] + "\n")
    changed = report(tmp_path, "run=run")
    assert changed.returncode == 2
    assert "items.csv has changed since the run was started" in changed.stderr
    assert page.read_text() == text


def test_the_help_of_the_report_says_that_it_takes_a_folder(tmp_path: Path) -> None:
    said = _called(command, tmp_path, ["report", "--help"], {}).stdout
    assert "[FOLDER ...]" in said
    assert "folder of a finished run, as runs/FOLDER" in " ".join(said.split())


def test_outputs_call_items_by_their_ids_and_clusters_by_their_size(train: Command, tmp_path: Path) -> None:
    """assignments.csv, predict.py and the model agree."""
    from semicrowd import load
    from semicrowd.run.predict import main as predict

    draws = np.random.default_rng(0)
    centres = np.repeat([[0, 0], [9, 0], [0, 9]], [5, 20, 10], axis=0)
    table = pd.DataFrame(centres + draws.normal(size=(35, 2)), columns=["x", "y"])
    table.insert(0, "id", [f"item, {k}" for k in range(35)])
    table.to_csv(tmp_path / "named.csv", index=False)
    done = train("data=table", "data.path=named.csv", "model=kmeans", "model.K=3", "hydra.run.dir=run")
    assert done.returncode == 0, done.stderr
    found = pd.read_csv(tmp_path / "run" / "assignments.csv")
    assert list(found) == ["item", "cluster", "probability", "second_cluster", "second_probability", "annotated", "row"]
    assert found["item"].tolist() == table["id"].tolist()
    assert found["cluster"].tolist() == [2] * 5 + [0] * 20 + [1] * 10
    model = load(tmp_path / "run" / "model.pt")
    np.testing.assert_array_equal(model.labels_, found["cluster"])
    assert _called(predict, tmp_path, ["run", "named.csv", "--output", "new.csv"], {}).returncode == 0
    pd.testing.assert_frame_equal(pd.read_csv(tmp_path / "new.csv"), found)
