"""Names that people give clusters: on the page, for new items, and in runs that go on from this one."""

from pathlib import Path

import pandas as pd
import pytest

from semicrowd.run.files.clusters import read_components, read_names
from semicrowd.run.page import rebuild

from .conftest import Command

OWN = ("data=table", "data.path=items.csv", "annotations=file", "annotations.path=answers.csv", "logger=none",
       "model=kmeans", "model.K=2")  # fmt: skip


def name_clusters(folder: Path, names: list[str], separator: str = ",") -> None:
    """Fill in the column, as a spreadsheet would write the file."""
    table = pd.read_csv(folder / "clusters.csv")
    assert table["name"].isna().all()
    table.assign(name=names).to_csv(folder / "clusters.csv", index=False, sep=separator, encoding="utf-8-sig")


@pytest.mark.usefixtures("table", "answers")
@pytest.mark.parametrize("separator", [",", ";"])
def test_names_are_shown_predicted_and_kept(
    train: Command, predict: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, separator: str
) -> None:
    monkeypatch.chdir(tmp_path)
    before, after = tmp_path / "before", tmp_path / "after"
    assert train(*OWN, "hydra.run.dir=before").returncode == 0
    assert list(pd.read_csv(before / "assignments.csv"))[-1] == "annotated"
    name_clusters(before, ["pumps, small", ""], separator)
    assert "<b>Cluster 0, pumps, small</b>" in rebuild(before).read_text()
    assert predict("before", "items.csv", "--output", "new.csv").returncode == 0
    new = pd.read_csv(tmp_path / "new.csv", keep_default_na=False)
    assert new["name"].tolist() == ["pumps, small" if cluster == 0 else "" for cluster in new["cluster"]]

    done = train(*OWN, "previous=before", "hydra.run.dir=after")
    assert done.returncode == 0, done.stderr
    assert pd.read_csv(after / "assignments.csv", keep_default_na=False)["name"].tolist() == new["name"].tolist()
    assert pd.read_csv(after / "clusters.csv", keep_default_na=False)["name"].tolist() == ["pumps, small", ""]
    page = (after / "report.html").read_text()
    assert "<b>Cluster 0, pumps, small</b>" in page
    assert "<b>Cluster 1</b>" in page
    assert train(*OWN, "previous=before", "hydra.run.dir=after").returncode == 0  # its names are known from before


@pytest.mark.usefixtures("table", "answers")
def test_names_are_not_lost(train: Command, tmp_path: Path) -> None:
    assert train(*OWN, "hydra.run.dir=run").returncode == 0
    name_clusters(tmp_path / "run", ["pumps", "valves"])
    for more in ((), ("resume=true", "model.n_init=2")):
        done = train(*OWN, "hydra.run.dir=run", *more)
        assert done.returncode == 2
    done = train(*OWN, "hydra.run.dir=run")
    assert "clusters.csv: has names of clusters (pumps, valves), which would be lost" in done.stderr
    assert (tmp_path / "run" / "assignments.csv").exists()
    assert train(*OWN, "hydra.run.dir=run", "resume=true").returncode == 0  # nothing to do


@pytest.mark.usefixtures("table", "answers")
def test_a_file_of_clusters_that_is_damaged_is_one_clear_line(
    train: Command, predict: Command, tmp_path: Path
) -> None:
    assert train(*OWN, "hydra.run.dir=run").returncode == 0
    for content in ("name\npumps\n", "cluster,name\nzero,pumps\n", "", "cluster,name\n0,pumps\n0,valves\n"):
        (tmp_path / "run" / "clusters.csv").write_text(content)
        done = predict("run", "items.csv")
        assert done.returncode == 2
        assert done.stderr.startswith("error: run/clusters.csv: ")


def test_names_are_read_however_the_file_was_saved(tmp_path: Path) -> None:
    path = tmp_path / "clusters.csv"
    names = {0: "dogs, big", 2: "Käse"}
    for content in (
        "cluster,items,component,name\n0,5,1,dogs, big\n1,4,0,\n2,3,2,Käse\n",
        'cluster,items,component,name\n2,3,2,Käse\n1,4,0,\n0,5,1,"dogs, big"\n,,,\n',
        '"cluster";"items";"component";"Name"\r\n0;5;1;"dogs, big"\r\n1;4;0;""\r\n2;3;2;"Käse"\r\n',
        "cluster\titems\tcomponent\tname\n0\t5\t1\tdogs, big\n1\t4\t0\n2\t3\t2\tKäse\n",
    ):
        for encoding in ("utf-8", "utf-8-sig", "cp1252"):
            path.write_text(content, encoding=encoding)
            assert read_names(tmp_path) == names
            assert read_components(tmp_path, 3).tolist() == [1, 0, 2]
