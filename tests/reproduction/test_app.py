"""One run of the command line: its arguments, its files, its repetition, its continuation, what it refuses."""

import io
import json
import os
import signal
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from filelock import FileLock
from sklearn.metrics import normalized_mutual_info_score

import semicrowd
from reproduction.app import arguments
from semicrowd.data.benchmark import load_benchmark

from .conftest import Command, metrics_of, refused, rows_of, started

_NAMES = ("acc", "nmi", "ami", "ami_max", "ari", "f1", "bri", "purity", "homogeneity", "completeness")
#: The table and its answers.
OWN = ("items.csv", "answers.csv", "hydra.run.dir=run")
#: A short fit by gradients.
SHORT = ("model=scdc", "model.n_clusters=4", "model.epochs=3", "model.batch_size=10", "model.init=mixture",
         "model.init_epochs=5", "model.teach_epochs=5")  # fmt: skip


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (["seed=0-2,7"], ["seed=0,1,2,7"]),
        (["seed=3"], ["seed=3"]),
        (["seed=range(0,3)", "-m"], ["seed=range(0,3)", "-m"]),
        (["a.csv", "model=kmeans"], ["data=table", "data.path=a.csv", "model=kmeans"]),
        (["a.csv", "b c.csv", "a.csv"],
         ["data=table", "data.path=a.csv", "annotations=file", "annotations.path=['b c.csv',a.csv]"]),
        (["pictures"], ["data=images", "data.path=pictures"]),
        (["x.npz"], ["data=npz", "data.path=x.npz"]),
        (["-cd", "pictures", "--cfg", "job"], ["-cd", "pictures", "--cfg", "job"]),
        (["data.path=a.csv"], ["data.path=a.csv"]),
    ],
)  # fmt: skip
def test_arguments_before_hydra(
    given: list[str], expected: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("pictures").mkdir()
    for name in ("a.csv", "b c.csv", "x.npz"):
        Path(name).touch()
    assert arguments(given) == expected


@pytest.mark.usefixtures("table", "answers")
def test_a_run_leaves_its_files_which_agree_and_the_next_one_there_removes_them(train: Command, tmp_path: Path) -> None:
    done = train(*OWN, *SHORT, "model.restarts=2", "figures=true")
    assert done.stderr == ""
    run = tmp_path / "run"
    assert {path.name for path in run.iterdir()} == {
        ".hydra", "annotations.csv", "assignments.csv", "checkpoints", "config.yaml", "curves.csv", "figures",
        "metrics.json", "model.pt", "provenance.json", "questions.csv", "report.html", "restart_assignments.npz",
        "restarts.csv", "warnings.json", "workers.csv",
    }  # fmt: skip
    metrics = metrics_of(run)
    of = {split: [f"{split}/{name}" for name in _NAMES] for split in ("train", "final", "annotated")}
    assert list(metrics) == [
        *of["train"], *of["final"], "final/calibration_error", "clusters/occupied", "clusters/used",
        "clusters/effective", "restart/best", "elbo/train", "restart/oracle_acc", *of["annotated"],
        "annotated/calibration_error", "workers/observed_sensitivity_mae", "workers/observed_specificity_mae",
        "seconds/fit", "epochs", "warnings/count"]  # fmt: skip
    assert metrics["epochs"] == 3

    config = yaml.safe_load((run / "config.yaml").read_text())
    assert (config["seed"], config["model"]["n_clusters"], config["n_classes"]) == (0, 4, 2)
    assert (config["choices"]["model"], config["choices"]["annotations"]) == ("scdc", "file")
    assert config["params"]["likelihood"] == "gaussian", "set by the data"

    items = rows_of(run / "assignments.csv")
    assert [int(item["item"]) for item in items] == list(range(40))
    assert [i for i, item in enumerate(items) if item["annotated"] == "1"] == [*range(6), *range(20, 26)]
    assert all(0.25 <= float(item["probability"]) <= 1 for item in items)
    annotated = np.array([int(item["cluster"]) for item in items if item["annotated"] == "1"])
    labels = np.repeat([0, 1], 6)
    assert metrics["annotated/nmi"] == pytest.approx(normalized_mutual_info_score(labels, annotated), abs=1e-9)
    every = normalized_mutual_info_score(np.repeat([0, 1], 20), [int(item["cluster"]) for item in items])
    assert metrics["final/nmi"] == pytest.approx(every, abs=1e-9)

    known = [(w["annotator"], w["pairs"], w["true_sensitivity"]) for w in rows_of(run / "workers.csv")]
    assert known == [("ann", "66", ""), ("bob", "66", "")]
    restarts = rows_of(run / "restarts.csv")
    elbo = [float(restart["elbo"]) for restart in restarts]
    assert metrics["restart/best"] == int(np.argmax(elbo))
    assert metrics["elbo/train"] == max(elbo)
    assert np.load(run / "restart_assignments.npz", allow_pickle=False)["clusters"].shape == (2, 40)
    assert [row["epoch"] for row in rows_of(run / "curves.csv")] == ["1", "2", "3"]
    provenance = json.loads((run / "provenance.json").read_text())
    assert "data.path=items.csv" in provenance["overrides"]
    assert provenance["command"].endswith("model.restarts=2 figures=true logger=none verbose=false hydra.run.dir=run")
    assert provenance["annotations"]["num_pairs"] == 132
    assert [path.name for path in (run / "checkpoints").iterdir()] == ["last.ckpt"]

    (run / "figures" / "mine.png").touch()
    with FileLock(run / ".hydra" / "lock"):
        refused(train(*OWN, code=2), "run")
    assert metrics_of(run) == metrics
    train("items.csv", "model=kmeans", "hydra.run.dir=run")
    assert {path.name for path in run.rglob("*.*") if path.parent.name != ".hydra"} == {
        ".hydra", "assignments.csv", "config.yaml", "metrics.json", "mine.png", "model.pt", "provenance.json",
        "questions.csv", "report.html", "warnings.json",
    }  # fmt: skip


@pytest.mark.usefixtures("table", "answers")
def test_the_same_command_gives_the_same_bytes_and_a_checkpoint_goes_on(train: Command, tmp_path: Path) -> None:
    files = ("assignments.csv", "curves.csv", "workers.csv")
    longer = ["model.epochs=4", "ckpt_path=first/checkpoints/last.ckpt"]
    results = {}
    for run, more in (("first", []), ("other", ["seed=1"]), ("again", []), ("on", longer), ("whole", longer[:1])):
        folder = "first" if run == "on" else run
        train(*OWN, *SHORT, *more, f"hydra.run.dir={folder}")
        results[run] = [(tmp_path / folder / name).read_bytes() for name in files]
    assert results["first"] == results["again"] != results["other"]
    # The step sizes decrease with the number of epochs, so that a run of four has others from the first on.
    assert len(results["on"][1].splitlines()) == len(results["whole"][1].splitlines()) == 5
    assert results["on"][1].splitlines()[:4] == results["first"][1].splitlines()


def test_the_default_crowd_has_true_rates_and_figures(train: Command, tmp_path: Path) -> None:
    done = train("model=mcvc", "model.n_restarts=2", "model.n_steps=60", "figures=true")
    (run,) = (tmp_path / "runs").iterdir()
    assert f"files: {run}" in done.stdout
    metrics, workers = metrics_of(run), rows_of(run / "workers.csv")
    assert {worker["true_sensitivity"] for worker in workers} == {"0.9"}
    for name in ("sensitivity", "specificity"):
        error = np.mean([abs(float(worker[name]) - 0.9) for worker in workers])
        assert metrics[f"workers/{name}_mae"] == pytest.approx(error, abs=1e-5)
    assert {path.name for path in (run / "figures").iterdir()} >= {"clusters.png", "workers.png"}
    assert "data:image/png" in (run / "report.html").read_text()
    assert not (run / "restarts.csv").exists()


def test_a_test_split_and_gaps_of_a_table(train: Command, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    items = rng.normal(size=(40, 2)) + 6 * (np.arange(40) % 2)[:, None]
    lines = [f"{a:.3f},{'' if row % 7 == 3 else f'{b:.3f}'},{row % 2}" for row, (a, b) in enumerate(items)]
    (tmp_path / "holes.csv").write_text("\n".join(["x,y,label", *lines]) + "\n")
    for model in (("model=kmeans",), ("model=slpd", "model.n_restarts=2")):  # fills them, does without
        train("holes.csv", *model, "hydra.run.dir=run")
        assert metrics_of(tmp_path / "run")["train/acc"] > 0.9
    train("data=benchmark", "data.which=iris", "data.fold=0", "model=gmm", "annotations=none", "seed=1",
                 "hydra.run.dir=split")  # fmt: skip
    truth = load_benchmark(which="iris", fold=0).test_labels
    found = pd.read_csv(tmp_path / "split" / "test_assignments.csv")["cluster"]
    expected = normalized_mutual_info_score(truth, found)
    assert metrics_of(tmp_path / "split")["test/nmi"] == pytest.approx(expected, abs=1e-9)


@pytest.mark.usefixtures("table", "answers")
def test_held_out_answers_score_any_method_and_a_bad_one_is_warned_of(train: Command, tmp_path: Path) -> None:
    (tmp_path / "flat.csv").write_text("x\n" + "\n".join(["0"] * 39 + ["1"]) + "\n")
    for items in ("flat.csv", "items.csv"):
        done = train(items, "answers.csv", "model=kmeans", "n_classes=2", "held_out=true", f"hydra.run.dir={items[:4]}")
        lines = [line for line in done.stderr.splitlines() if line.startswith("warning: ")]
        told = json.loads((tmp_path / items[:4] / "warnings.json").read_text())["warnings"]
        assert [f"warning: {line}" for line in told] == lines
        assert metrics_of(tmp_path / items[:4])["warnings/count"] == len(lines) == (2 if items == "flat.csv" else 0)
    bad, good = (metrics_of(tmp_path / name)["answers/held_out_gain"] for name in ("flat", "item"))
    assert good > 0.2 > abs(bad)
    (tmp_path / "few.csv").write_text("i,j,worker,label\n0,1,ann,1\n0,20,ann,0\n")
    done = train("items.csv", "few.csv", "model=kmeans", "held_out=true", "hydra.run.dir=few")
    assert "held_out" in done.stderr
    assert "answers/held_out_gain" not in metrics_of(tmp_path / "few")


def test_a_messy_table_runs_from_the_two_files_alone_and_numbers_are_not_rounded(
    train: Command, predict: Command, tmp_path: Path
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
    done = train(*OWN)
    assert "column remark" in done.stderr
    run = tmp_path / "run"
    assert yaml.safe_load((run / "config.yaml").read_text())["choices"]["model"] == "cotrain"
    metrics, candidates = metrics_of(run), rows_of(run / "candidates.csv")
    assert metrics["final/ari"] == 1.0
    assert metrics["answers/evidence"] > 20
    assert metrics["clusters/probability_3"] > 0.9
    evidence = [float(row["evidence"]) for row in candidates]
    assert evidence == sorted(evidence, reverse=True)
    assert sum(row["winner"] == "1" for row in candidates) == 1
    # As new items, in other columns' order and without labels; and by the model that the run has saved.
    mixed = table[["sold", "colour", "rating", "id", "at", "north"]].assign(more=1)
    mixed.to_csv(tmp_path / "new.csv", index=False)
    found = pd.read_csv(io.StringIO(predict("run", "new.csv").stdout))
    assert found["item"].tolist() == table["id"].tolist()
    assert semicrowd.load(run / "model.pt").predict(mixed).tolist() == found["cluster"].tolist()
    mixed.drop(columns="at").to_csv(tmp_path / "fewer.csv", index=False)
    refused(predict("run", "fewer.csv", code=2), "fewer.csv", "column at")


@pytest.mark.usefixtures("table", "answers")
@pytest.mark.parametrize(
    ("given", "named"),
    [
        ("model=kmeans model.n_clusters=1", "n_clusters"), ("model=kmeans +model.depth=3", "depth"),
        ("model=kmeans n_classes=501", "n_clusters=501"), ("model=mcvc annotations=none", "annotations=none"),
        ("model=kmeans annotations=crowd", "annotations=crowd"), ("model=kmeans ckpt_path=run/last.ckpt", "ckpt_path"),
        ("answers.csv items.csv", "answers.csv"), ("model=scdc trainer=ddp held_out=true", "held_out"),
        ("model=scdc model.n_clusters=4 ckpt_path=items.csv", "ckpt_path=items.csv"),
        ("model=kmeans seed=-1", "seed"), ("seed=3-1", "seed=3-1"), ("nowhere.csv", "nowhere.csv"),
    ],
)
def test_a_mistake_is_one_line_and_leaves_no_folder(train: Command, tmp_path: Path, given: str, named: str) -> None:
    before = {*tmp_path.rglob("*"), tmp_path / "runs"}
    refused(train(*given.split(), code=2), named)
    assert {*tmp_path.rglob("*")} <= before


@pytest.mark.parametrize("given", ["model=kmean", "epoch=3", "seed=1,2"])
def test_what_hydra_cannot_compose_it_says_itself(train_alone: Command, tmp_path: Path, given: str) -> None:
    done = train_alone(given, code=1)
    assert given.partition("=")[0] in done.stderr
    assert "Traceback" not in done.stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("kind", [signal.SIGINT, signal.SIGTERM], ids=["SIGINT", "SIGTERM"])
def test_a_run_that_is_stopped_has_no_result_and_goes_on_from_its_checkpoint(
    train: Command, tmp_path: Path, kind: signal.Signals
) -> None:
    # Four hundred epochs that nobody waits for.
    given = ("data.points_per_class=50", "model.epochs=400", "model.batch_size=6", "model.init=cold")
    process = started(tmp_path, *given, "hydra.run.dir=stopped")
    checkpoint, deadline = tmp_path / "stopped" / "checkpoints" / "last.ckpt", time.monotonic() + 120
    while not checkpoint.exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(0.2)
    os.kill(process.pid, kind)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert "Traceback" not in err
    assert not (tmp_path / "stopped" / "metrics.json").exists()
    train(*given, f"ckpt_path={checkpoint}", "model.epochs=1", "hydra.run.dir=again")


def test_an_allocation_without_srun_is_one_process(train: Command) -> None:
    done = train("model=scdc", "model.init=cold", "model.epochs=1", SLURM_NTASKS="2", SLURM_JOB_ID="7",
                 SLURM_JOB_NAME="mine")  # fmt: skip
    about_srun, about_data = done.stderr.splitlines()
    assert "srun" in about_srun
    assert "data=pinwheel" in about_data
