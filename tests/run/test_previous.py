"""``previous=FOLDER``: a run that goes on from an earlier one."""

from pathlib import Path

import pandas as pd
import pytest

from .conftest import Command

OWN = ("data=table", "data.path=items.csv", "annotations=file", "annotations.path=answers.csv", "logger=none")


@pytest.mark.usefixtures("table", "answers", "quick_cotraining")
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
    done = predict("after", "items.csv", "--output", "new.csv")
    assert done.returncode == 0, done.stderr
    assert pd.read_csv(tmp_path / "new.csv")["cluster"].tolist() == after["cluster"].tolist()


@pytest.mark.usefixtures("table", "answers", "quick_cotraining")
def test_a_model_of_fewer_clusters_than_the_earlier_run_draws_its_figures(train: Command, tmp_path: Path) -> None:
    assert train(*OWN, "model=kmeans", "model.K=2", "hydra.run.dir=before").returncode == 0
    path = tmp_path / "before" / "assignments.csv"
    before = pd.read_csv(path)
    before["cluster"] = before["cluster"].map({0: 6, 1: 4})
    before.to_csv(path, index=False)
    model = ("model=scdc", "model.K=4", "epochs=1", "start.epochs=1", "start.teach_epochs=5")
    done = train(*OWN, *model, "previous=before", "hydra.run.dir=after")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "after" / "report.html").exists()


@pytest.mark.usefixtures("table", "answers")
def test_a_folder_that_is_no_run_is_one_clear_line(train: Command, tmp_path: Path) -> None:
    def refused(said: str) -> None:
        done = train(*OWN, "model=cotrain", "previous=before", "hydra.run.dir=run")
        assert done.returncode == 2
        assert done.stderr.splitlines()[-1].startswith("error: previous=before")
        assert said in done.stderr
        assert not (tmp_path / "run").exists()

    refused("No such file or directory")
    (tmp_path / "before").mkdir()
    refused("expected the folder of a finished run")
    path = tmp_path / "before" / "assignments.csv"
    path.write_text("item,cluster\n0,a\n")
    refused("whole numbers")
    path.write_text("item,cluster\n0,1\n0,1\n")
    refused("each item once")
    path.write_text("item,cluster\nnobody,0\n")
    refused("has none of these items")


@pytest.mark.usefixtures("table", "answers")
@pytest.mark.parametrize("finished", [True, False], ids=["finished", "stopped"])
def test_a_run_is_not_resumed_from_other_clusters(train: Command, tmp_path: Path, finished: bool) -> None:
    given = (*OWN, "model=kmeans", "model.K=2")
    for more in (("hydra.run.dir=before",), ("previous=before", "hydra.run.dir=after")):
        assert train(*given, *more).returncode == 0
    status, clusters = tmp_path / "after" / "status.json", tmp_path / "before" / "assignments.csv"
    if not finished:
        status.write_text(status.read_text().replace('"finished"', '"interrupted"'))
    again = (*given, "previous=before", "hydra.run.dir=after", "resume=true")
    table = pd.read_csv(clusters)
    table["cluster"] = 1 - table["cluster"]
    kept, last = clusters.read_bytes(), (tmp_path / "after" / "assignments.csv").read_bytes()
    table.to_csv(clusters, index=False)
    done = train(*again)
    assert done.returncode == 2
    assert "after: before/assignments.csv has changed since the run was started" in done.stderr.splitlines()[-1]
    assert (tmp_path / "after" / "assignments.csv").read_bytes() == last
    clusters.write_bytes(kept)
    done = train(*again)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "after" / "assignments.csv").read_bytes() == last


def test_a_run_is_not_made_of_its_own_files(train: Command, tmp_path: Path) -> None:
    """They would be removed before they are read again after a stop."""
    arguments = ["data=pinwheel", "data.points_per_class=20", "model=kmeans", "model.K=5", "logger=none"]
    folder = f"hydra.run.dir={tmp_path / 'run'}"
    assert train(*arguments, folder).returncode == 0
    again = train(*arguments, folder, f"previous={tmp_path / 'run'}")
    assert again.returncode == 2
    assert "assignments.csv: is in the run's own folder, which is emptied; choose another hydra.run.dir" in again.stderr
    assert (tmp_path / "run" / "assignments.csv").exists()
