"""Baselines through the command line: the files of a run, what it refuses, its repetition."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import normalized_mutual_info_score

from semicrowd.data import Dataset, load_dataset
from semicrowd.fitting.monitor import Monitor
from semicrowd.run.composition import composed
from semicrowd.run.estimator import fitted
from semicrowd.run.session import Session
from semicrowd.run.settings import resolved
from semicrowd.settings.rule import Facts
from semicrowd.tracking import Tracker

from .conftest import Command, metrics_of, rows_of

#: Few starts and steps; the pinwheel's points and answers are simulated.
QUICK = (
    "model=mcvc", "model.n_restarts=2", "model.n_steps=60", "model.K=5", "annotations=two_coin", "hydra.run.dir=run",
)  # fmt: skip
_NAMES = ("acc", "nmi", "ami", "ami_max", "ari", "f1", "bri", "purity", "homogeneity", "completeness")
SCORES = [f"{split}/{name}" for split in ("train", "annotated", "final") for name in _NAMES]
CALIBRATION = ["annotated/calibration_error", "final/calibration_error"]
CLUSTERS = ["clusters/occupied", "clusters/used", "clusters/effective"]
ENDS = ["seconds/fit", "epochs", "restart/best", "warnings/count"]


def test_a_run_leaves_its_files_and_they_agree(train: Command, tmp_path: Path) -> None:
    done = train(*QUICK, "seed=0")
    assert done.returncode == 0, done.stderr
    assert not done.stderr
    run = tmp_path / "run"
    found = {path.name for path in run.iterdir()} - {"checkpoints"}  # of a fit that takes some seconds
    assert found == {
        "annotations.csv", "assignments.csv", "config.yaml", "curves.csv", "metrics.json", "model.pt",
        "provenance.json", "questions.csv", "report.html", "status.json", "warnings.json", "workers.csv",
    }  # fmt: skip
    metrics = metrics_of(run)
    workers = [f"workers/{name}_mae" for name in ("sensitivity", "specificity")]
    workers += [f"workers/observed_{name}_{of}" for of in ("mae", "rank") for name in ("sensitivity", "specificity")]
    workers += ["workers/sensitivity_coverage", "workers/specificity_coverage"]
    assert list(metrics) == [*SCORES, *CALIBRATION, *CLUSTERS, *workers, *ENDS]
    assert (metrics["epochs"], metrics["restart/best"]) == (1, 0)
    assert json.loads((run / "status.json").read_text())["status"] == "finished"

    items = rows_of(run / "assignments.csv")
    assert [int(item["item"]) for item in items] == list(range(500))
    assert all(0.2 <= float(item["probability"]) <= 1 for item in items)  # the largest of five
    clusters = np.array([int(item["cluster"]) for item in items])
    # MCVC's clusters are a function of the features, so that those of the training items are those of the file.
    labels = load_dataset("pinwheel", tmp_path).labels
    assert labels is not None
    assert metrics["train/nmi"] == pytest.approx(normalized_mutual_info_score(labels, clusters), abs=1e-9)
    annotated = np.array([item["annotated"] == "1" for item in items])
    assert annotated.sum() == 100
    expected = normalized_mutual_info_score(labels[annotated], clusters[annotated])
    assert metrics["annotated/nmi"] == pytest.approx(expected, abs=1e-9)

    quality = rows_of(run / "workers.csv")
    assert {worker["true_sensitivity"] for worker in quality} == {"0.9"}
    for name in ("sensitivity", "specificity"):
        error = np.mean([abs(float(worker[name]) - 0.9) for worker in quality])
        assert metrics[f"workers/{name}_mae"] == pytest.approx(error, abs=1e-5)
        assert all(float(w[f"{name}_low"]) < float(w[name]) < float(w[f"{name}_high"]) for w in quality)


def test_a_finished_run_is_left_alone_and_one_that_was_stopped_is_fitted_again(train: Command, tmp_path: Path) -> None:
    assert train(*QUICK, "seed=0").returncode == 0
    run, names = tmp_path / "run", ("assignments.csv", "workers.csv")
    results, status = [(run / name).read_bytes() for name in names], (run / "status.json").read_bytes()
    done = train(*QUICK, "seed=0", "resume=true")
    assert done.returncode == 0, done.stderr
    assert "finished before" in done.stderr
    assert (run / "status.json").read_bytes() == status
    # As if the process had been killed on the way.
    (run / "status.json").write_text('{"status": "running", "error": null, "seconds": 1.0}\n')
    (run / "metrics.json").unlink()
    (run / "assignments.csv").write_text("item,cluster\n")
    again = train(*QUICK, "seed=0", "resume=true")
    assert again.returncode == 0, again.stderr
    assert [(run / name).read_bytes() for name in names] == results
    assert metrics_of(run)["epochs"] == 1


def test_a_sweep_without_answers_leaves_out_who_needs_them(train: Command, tmp_path: Path) -> None:
    done = train("-m", "model=kmeans,mcvc", "annotations=none", "model.K=5", "restarts=3", "hydra.run.dir=sweep")
    assert done.returncode == 1, done.stderr
    message = "model=mcvc: needs answers; expected annotations=<name> other than annotations=none"
    jobs = rows_of(tmp_path / "sweep" / "jobs.csv")
    assert [(job["arguments"], job["status"], job["error"]) for job in jobs] == [
        ("model=kmeans", "finished", ""), ("model=mcvc", "failed", message),
    ]  # fmt: skip
    assert "note: restarts=3: has no effect with model=kmeans\n" in done.stderr
    run = tmp_path / "sweep" / "model-kmeans"
    assert list(metrics_of(run)) == [*SCORES[: len(_NAMES)], *SCORES[2 * len(_NAMES) :], *CLUSTERS, *ENDS]
    assert {item["probability"] for item in rows_of(run / "assignments.csv")} == {""}  # k-means has none
    assert not (run / "workers.csv").exists()
    assert not (tmp_path / "sweep" / "model-mcvc").exists()


@pytest.mark.usefixtures("table", "answers")
def test_who_has_no_rule_for_features_gives_its_own_clusters(train: Command, predict: Command, tmp_path: Path) -> None:
    done = train("data=table", "data.path=items.csv", "annotations=file", "annotations.path=answers.csv",
                 "model=crowd_only", "model.K=2", "figures=true", "hydra.run.dir=run")  # fmt: skip
    assert done.returncode == 0, done.stderr
    run = tmp_path / "run"
    metrics = metrics_of(run)
    assert metrics["annotated/acc"] == 1  # all answers are right
    assert metrics["train/acc"] == pytest.approx(26 / 40)  # the 28 others are in one cluster: 14 of them rightly
    # No true rates came with the answers; how many of them are right the labels say.
    workers = {name: value for name, value in metrics.items() if name.startswith("workers/")}
    assert workers == {"workers/observed_sensitivity_mae": 0, "workers/observed_specificity_mae": 0}
    assert [worker["annotator"] for worker in rows_of(run / "workers.csv")] == ["ann", "bob"]
    assert {path.name for path in (run / "figures").iterdir()} == {"clusters.png", "workers.png"}
    new = predict("run", "items.csv")
    assert new.returncode == 2
    assert "a run of SignedSpectral, which cannot assign new items" in new.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("model=mcvc", ["model=mcvc", "needs answers", "annotations="]),
        ("model=kmean", ["model/kmean", "kmeans", "crowd_logistic", "scdc"]),
        ("model=kmeans +model.hidden=3", ["model.hidden", "no such setting", "n_init"]),
    ],
)
def test_mistakes_are_one_line(train: Command, tmp_path: Path, arguments: str, said: list[str]) -> None:
    done = train(*arguments.split())
    assert done.returncode == 2, done.stderr
    assert done.stderr.count("\n") == 1
    for text in said:
        assert text in done.stderr
    assert not list(tmp_path.iterdir())


def test_a_test_split_is_predicted_and_figures_have_shares(tmp_path: Path) -> None:
    features = np.concatenate([np.full((5, 1), -9.0), np.full((5, 1), 9.0)]).astype(np.float32)
    features += np.linspace(0, 1, 10, dtype=np.float32)[:, None]
    labels = np.repeat(np.arange(2), 5)
    data = Dataset("known", features, labels, np.array([[9.0], [-9.0], [8.0]], np.float32), np.array([1, 0, 1]))
    given = composed(["model=gmm", "model.K=2", "model.n_init=1", "figures=false"])
    settings = resolved(given, Facts(10, 1, data="known"))
    monitor = Monitor()
    estimator = fitted(settings, data, None, monitor)
    metrics = Session(settings, tmp_path, data, None, estimator, monitor, Tracker()).finish()
    assert metrics["test/acc"] == metrics["train/acc"] == 1
    test = rows_of(tmp_path / "test_assignments.csv")
    assert test[0]["cluster"] == test[2]["cluster"] == rows_of(tmp_path / "assignments.csv")[-1]["cluster"]
    assert {row["probability"] for row in test} == {"1.000000"}


def test_cells_without_a_value_are_filled_but_for_methods_that_do_without(
    train: Command, predict: Command, tmp_path: Path
) -> None:
    rng = np.random.default_rng(0)
    items = rng.normal(size=(40, 2)) + 6 * (np.arange(40) % 2)[:, None]
    lines = [f"{a:.3f},{'' if row % 7 == 3 else f'{b:.3f}'},{row % 2}" for row, (a, b) in enumerate(items)]
    (tmp_path / "holes.csv").write_text("\n".join(["x,y,label", *lines]) + "\n")
    own = ("data=table", "data.path=holes.csv", "annotations=none", "model.K=2", "logger=none", "hydra.run.dir=run")
    filled = train(*own, "model=kmeans", "hydra.run.dir=filled")
    assert filled.returncode == 0, filled.stderr
    assert metrics_of(tmp_path / "filled")["train/acc"] > 0.9
    new = predict("filled", "holes.csv")
    assert new.returncode == 0, new.stderr
    assert [row["cluster"] for row in csv.DictReader(new.stdout.splitlines())] == [
        row["cluster"] for row in csv.DictReader((tmp_path / "filled" / "assignments.csv").read_text().splitlines())
    ]
    np.save(tmp_path / "holes.npy", np.where(np.arange(40)[:, None] % 7 == 3, np.nan, items))
    nameless = train("data=table", "data.path=holes.npy", *own[2:], "model=kmeans", "hydra.run.dir=nameless")
    assert nameless.returncode == 0, nameless.stderr
    np.save(tmp_path / "few.npy", np.array([[np.nan, np.nan], [6, 6]]))
    new = predict("nameless", "few.npy")
    assert new.returncode == 0, new.stderr
    assert new.stdout.count("\n") == 3
    done = train(*own, "model=slpd", "model.n_restarts=2", "figures=true")
    assert done.returncode == 0, done.stderr
    assert metrics_of(tmp_path / "run")["train/acc"] > 0.9
    new = predict("run", "holes.csv")
    assert new.returncode == 0, new.stderr
