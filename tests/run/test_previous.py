"""``previous=FOLDER``: a run that goes on from an earlier one."""

from pathlib import Path

import pandas as pd
import pytest

from .conftest import Command

OWN = ("data=table", "data.path=items.csv", "annotations=file", "annotations.path=answers.csv", "logger=none")


@pytest.mark.usefixtures("table", "answers")
@pytest.mark.parametrize("model", [("model=cotrain",), ("model=kmeans", "model.K=2")], ids=["cotrain", "kmeans"])
def test_clusters_have_the_numbers_of_the_earlier_run(
    train: Command, predict: Command, tmp_path: Path, model: tuple[str, ...]
) -> None:
    assert train(*OWN, *model, "hydra.run.dir=before").returncode == 0
    path = tmp_path / "before" / "assignments.csv"
    before = pd.read_csv(path)
    before["cluster"] = before["cluster"].map({0: 3, 1: 1})
    before.drop(index=[2, 30]).to_csv(path, index=False)

    done = train(*OWN, *model, "previous=before", "hydra.run.dir=after")
    assert done.returncode == 0, done.stderr
    after = pd.read_csv(tmp_path / "after" / "assignments.csv")
    assert after["cluster"].tolist() == before["cluster"].tolist()
    sizes = pd.read_csv(tmp_path / "after" / "clusters.csv")["items"]
    assert sizes.tolist() == [0, 20, 0, 20]
    done = predict("after", "items.csv", "--output", "new.csv")
    assert done.returncode == 0, done.stderr
    assert pd.read_csv(tmp_path / "new.csv")["cluster"].tolist() == after["cluster"].tolist()


@pytest.mark.usefixtures("table", "answers")
def test_a_folder_that_is_no_run_is_one_clear_line(train: Command, tmp_path: Path) -> None:
    def refused(said: str) -> None:
        done = train(*OWN, "model=cotrain", "previous=before", "hydra.run.dir=run")
        assert done.returncode == 2
        assert done.stderr.splitlines()[-1].startswith("error: previous=before")
        assert said in done.stderr
        assert not (tmp_path / "run").exists()

    refused("expected the folder of a finished run")
    (tmp_path / "before").mkdir()
    path = tmp_path / "before" / "assignments.csv"
    path.write_text("item,cluster\n0,a\n")
    refused("whole numbers")
    path.write_text("item,cluster\n0,1\n0,1\n")
    refused("each item once")
    path.write_text("item,cluster\nnobody,0\n")
    refused("has none of these items")
