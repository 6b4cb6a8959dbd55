"""New items through the command line."""

import csv
import io
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import semicrowd
from semicrowd.crowd import answer_files
from semicrowd.crowd.simulate import two_coin
from semicrowd.run.predict import main

from .conftest import Command, metrics_of
from .test_bad_input import refused


@pytest.fixture
def run(train: Command, tmp_path: Path, table: Path, answers: Path) -> Path:
    """A finished run on the two groups of the table, of two restarts."""
    done = train("data=table", f"data.path={table}", "annotations=file", f"annotations.path={answers}", "model=scdc",
                 "model.K=4", "epochs=5", "batch_size=10", "restarts=2", "start=cells", "start.teach_epochs=50",
                 "hydra.run.dir=run")  # fmt: skip
    assert done.returncode == 0, done.stderr
    return tmp_path / "run"


def test_new_items(
    predict: Command,
    run: Path,
    tmp_path: Path,
    table: Path,
    answers: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    # The run's own items, read anew without labels: the same clusters as in assignments.csv.
    points = np.loadtxt(table, delimiter=",", skiprows=1, usecols=(0, 1))
    np.save(tmp_path / "items.npy", points)
    done = predict("run", "items.npy", "--annotations", str(answers), "--output", "with.csv")
    assert (done.returncode, done.stderr, done.stdout) == (0, "note: with.csv: the clusters of 40 items\n", "")
    assert (tmp_path / "with.csv").read_bytes() == (run / "assignments.csv").read_bytes()

    # What follows is in this process: importing torch for each command takes its time.
    monkeypatch.chdir(tmp_path)

    # An earlier output is replaced, and said to be; any other file is kept.
    assert main(["run", "items.npy", "--output", "with.csv"]) == 0
    assert capsys.readouterr().err == "note: with.csv: the clusters of 40 items, instead of those that were there\n"
    assert main(["run", str(table), "--output", str(table)]) == 2
    assert "is there, and no earlier output of this command; expected another --output" in capsys.readouterr().err
    assert np.array_equal(np.loadtxt(table, delimiter=",", skiprows=1, usecols=(0, 1)), points)

    # From the features alone, on standard output, the same twice; only the answered items may differ.
    alone = []
    for _ in range(2):
        assert main(["run", str(table)]) == 0
        alone.append(capsys.readouterr().out)
    assert alone[0] == alone[1]
    rows = list(csv.DictReader(io.StringIO(alone[0])))
    assert [row["annotated"] for row in rows] == ["0"] * 40
    with (run / "assignments.csv").open(newline="") as file:
        for row, own in zip(rows, csv.DictReader(file), strict=True):
            assert own["annotated"] == "1" or row == own

    # Answers move clusters: must-links tie an item between the groups to one of them.
    np.save("new.npy", np.array([[-5.0, -5.0], [-4.8, -5.2], [0.0, 0.0]], np.float32))
    pairs = [f"{i},{j},{worker},1" for i, j in ((0, 1), (0, 2), (1, 2)) for worker in ("ann", "bob")]
    Path("tie.csv").write_text("\n".join(["i,j,worker,label", *pairs]) + "\n")
    assert main(["run", "new.npy", "--annotations", "tie.csv"]) == 0
    tied = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert len({row["cluster"] for row in tied}) == 1
    assert [row["annotated"] for row in tied] == ["1"] * 3
    for number in range(2):
        Path(f"part {number}.csv").write_text("\n".join(["i,j,worker,label", *pairs[number::2]]) + "\n")
    assert main(["run", "new.npy", "--annotations", "part 0.csv", "--annotations", "part 1.csv"]) == 0
    assert list(csv.DictReader(io.StringIO(capsys.readouterr().out))) == tied

    np.save("wide.npy", np.zeros((3, 5), np.float32))
    Path("stranger.csv").write_text("i,j,worker,label\n0,1,Zoe,1\n")
    Path("empty").mkdir()
    for arguments, said in (
        (["run", "wide.npy"], "wide.npy: 5 columns"),
        (["run", "nowhere.npy"], "nowhere.npy"),
        (["run", "new.npy", "--annotations", "stranger.csv"], "stranger.csv: annotator Zoe is not among the 2"),
        (["run", "new.npy", "--annotations", "stranger.csv"], "leave out these answers, or fit again with all answers"),
        (["empty", "new.npy"], "not the folder of a run"),
    ):
        assert main([*arguments, "--output", "bad.csv"]) == 2
        error = capsys.readouterr().err
        assert error.count("\n") == 1
        assert error.startswith("error: ")
        assert said in error
    assert not Path("bad.csv").exists()


def test_a_messy_table_is_converted_as_in_the_run(train: Command, predict: Command, tmp_path: Path) -> None:
    rng, kind = np.random.default_rng(0), np.arange(60) % 2
    table = pd.DataFrame({
        "id": [f"{k:03}" for k in range(60)], "x": rng.normal(size=60) + 50 * kind, "same": 99.0,
        "kind": [["a", "b", "c"][k % 3] for k in range(60)], "day": pd.date_range("2020-01-01", periods=60),
        "age": [31, 32, None] * 20, "remark": [f"said {k}" for k in range(60)],
    })  # fmt: skip
    table.to_csv(tmp_path / "items.csv", index=False, sep=";", decimal=",")
    how = """data.read_csv={sep: ";", decimal: ","}"""
    done = train("data=table", "data.path=items.csv", how, "model=kmeans", "model.K=2", "hydra.run.dir=run")
    assert done.returncode == 0, done.stderr
    assert "column remark" in done.stderr
    expected = (tmp_path / "run" / "assignments.csv").read_text()
    mixed = table[["day", "kind", "age", "id", "x"]].assign(more=1)
    mixed.to_csv(tmp_path / "new.csv", index=False, sep=";", decimal=",")
    done = predict("run", "new.csv")
    assert (done.returncode, done.stdout, done.stderr) == (0, expected, "")
    model = semicrowd.load(tmp_path / "run" / "model.pt")
    assert [str(label) for label in model.predict(mixed)] == [row.split(",")[1] for row in expected.split()[1:]]
    mixed.drop(columns="x").to_csv(tmp_path / "fewer.csv", index=False, sep=";")
    refused(predict("run", "fewer.csv"), "fewer.csv", "column x")


@pytest.mark.usefixtures("quick_cotraining")
@pytest.mark.parametrize("name", ["kmeans", "scdc", "bayes", "cotrain", "dpm", "mcvc"])
def test_the_model_of_a_run_has_the_numbers_of_the_run(
    name: str, train: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    draws, kind = np.random.default_rng(0), np.repeat([0, 1, 2, 3], [6, 9, 30, 15])
    points = np.array([[0, 0], [9, 0], [0, 9], [9, 9]])[kind] + draws.normal(size=(60, 2))
    np.save(tmp_path / "items.npy", points)
    answers = two_coin(kind, draws, num_annotators=3, pairs_per_annotator=80, num_annotated=30)
    answer_files.write(answers, tmp_path / "answers.csv")
    short = {
        **{name: ("model.K=6", "epochs=2", "start=cells", "start.teach_epochs=20") for name in ("scdc", "bayes")},
        "kmeans": ("model.K=4",), "mcvc": ("model.K=4", "model.n_restarts=2"), "dpm": ("model.n_sweeps=20",),
    }  # fmt: skip
    done = train("data=table", "data.path=items.npy", "annotations=file", "annotations.path=answers.csv",
                 f"model={name}", *short.get(name, ()), "hydra.run.dir=run")  # fmt: skip
    assert done.returncode == 0, done.stderr
    model = semicrowd.load(tmp_path / "run" / "model.pt")
    found = model.predict(points)
    assigned = pd.read_csv(tmp_path / "run" / "assignments.csv")
    assert np.array_equal(assigned["cluster"], model.labels_)
    assert (assigned["cluster"] == found).mean() > 0.9, "answers can change some"
    monkeypatch.chdir(tmp_path)
    assert main(["run", "items.npy"]) == 0
    assert np.array_equal(pd.read_csv(io.StringIO(capsys.readouterr().out))["cluster"], found)
    if name == "kmeans":  # features alone decide
        assert np.array_equal(assigned["cluster"], found)
        assert np.bincount(found).tolist() == [30, 15, 9, 6]


@pytest.mark.usefixtures("quick_cotraining")
def test_a_messy_table_runs_from_the_two_files_alone_and_numbers_are_not_rounded(
    train: Command, tmp_path: Path
) -> None:
    rng, kind = np.random.default_rng(0), np.arange(90) % 3
    place = np.array([[0, 0], [40, 0], [0, 40]])[kind] + rng.normal(size=(90, 2))
    table = pd.DataFrame({
        "id": [f"item {k:03}" for k in range(90)], "north": 5_400_000 + place[:, 0], "at": 1.7e9 + place[:, 1],
        "colour": rng.choice(["red", "blue", "n/a"], 90), "sold": pd.date_range("2020-01-01", periods=90),
        "rating": np.where(rng.random(90) < 0.1, np.nan, rng.integers(5, size=90)), "label": kind,
        "remark": [f"I said {k}" for k in range(90)],
    })  # fmt: skip
    table.to_csv(tmp_path / "items.csv", index=False)
    i, j = rng.integers(90, size=(2, 300))
    answers = pd.DataFrame({"i": table["id"][i].array, "j": table["id"][j].array, "worker": rng.choice(list("ab"), 300),
                            "label": (kind[i] == kind[j]).astype(int)})  # fmt: skip
    answers[i != j].to_csv(tmp_path / "answers.csv", index=False)
    done = train("items.csv", "answers.csv", "logger=none", "hydra.run.dir=run")
    assert done.returncode == 0, done.stderr
    assert "column remark" in done.stderr
    assert "overflow" not in done.stderr
    assert metrics_of(tmp_path / "run")["final/ari"] == 1.0
