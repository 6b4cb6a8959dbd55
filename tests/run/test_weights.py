"""``data.weight=COLUMN``: how much each item counts, from the file to the page."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from .conftest import Command

OWN = ("data=table", "data.path=items.csv", "annotations=file", "annotations.path=answers.csv", "logger=none")


@pytest.fixture
def weighted(tmp_path: Path, table: Path) -> Path:
    """The table, whose items of the first half count three times as much as the others."""
    frame = pd.read_csv(table)
    frame.assign(survey_weight=np.where(np.arange(len(frame)) < len(frame) // 2, 3, 1)).to_csv(table, index=False)
    return table


@pytest.mark.usefixtures("answers", "quick_cotraining")
def test_weights_are_used_shown_and_not_needed_for_new_items(
    train: Command, predict: Command, tmp_path: Path, weighted: Path
) -> None:
    done = train(*OWN, "data.weight=survey_weight", "hydra.run.dir=run")
    assert done.returncode == 0, done.stderr
    assert "how much each item counts, no feature" in done.stderr
    page = (tmp_path / "run" / "report.html").read_text()
    assert "percentages of items are shares of their weights" in page
    assert "20 items, 75.0 %" in page
    assert "20 items, 25.0 %" in page
    pd.read_csv(weighted).drop(columns="survey_weight").to_csv(tmp_path / "new.csv", index=False)
    clusters = []
    for path in ("items.csv", "new.csv"):
        done = predict("run", path, "--output", "predicted.csv")
        assert done.returncode == 0, done.stderr
        clusters.append(pd.read_csv(tmp_path / "predicted.csv")["cluster"].tolist())
    assert clusters[0] == clusters[1]


@pytest.mark.usefixtures("answers", "weighted")
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("model=kmeans", "model.K=2", "data.weight=survey_weight"), "KMeansOnly takes no weights; expected"),
        (("data.weight=weight",), "data.weight=[weight]: items.csv has no such column"),
        (("data.weight=survey_weight", "data.ignore=[survey_weight]"), "expected in one of data.ignore"),
    ],
)
def test_weights_that_cannot_be_used_are_one_clear_line(
    train: Command, tmp_path: Path, arguments: tuple[str, ...], said: str
) -> None:
    done = train(*OWN, *arguments, "hydra.run.dir=run")
    assert done.returncode == 2
    assert said in done.stderr.splitlines()[-1]
    assert not (tmp_path / "run" / "metrics.json").exists()
