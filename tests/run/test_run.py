"""One run through the command line: its files, its repetition, its continuation."""

import json
import signal
import time
from collections.abc import Callable
from pathlib import Path
from subprocess import Popen

import numpy as np
import pytest
import yaml
from scipy.optimize import linear_sum_assignment
from sklearn.metrics import normalized_mutual_info_score

from .conftest import Command, rows_of

#: A short run with answers whose data are in the test's folder.
WHOLE = ("data=table", "data.path=items.csv", "model.K=4", "epochs=3", "batch_size=10", "hydra.run.dir=run",
         "start.teach_epochs=5")  # fmt: skip
#: With a quick start.
SHORT = (*WHOLE, "start=cells")


@pytest.mark.usefixtures("table", "answers", "quick_cotraining")
def test_a_run_leaves_its_files_and_they_agree(train: Command, tmp_path: Path) -> None:
    done = train(*WHOLE, "model=scdc", "annotations=file", "annotations.path=answers.csv", "restarts=2", "seed=0")
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""  # no banner, no warning, no progress bar without a terminal
    run = tmp_path / "run"
    metrics = json.loads((run / "metrics.json").read_text())
    names = ("acc", "nmi", "ami", "ami_max", "ari", "f1", "bri", "purity", "homogeneity", "completeness")
    splits = [f"{split}/{name}" for split in ("train", "annotated", "final") for name in names]
    others = ["annotated/calibration_error", "final/calibration_error",
              "clusters/occupied", "clusters/used", "clusters/effective", "elbo/train",
              "workers/observed_sensitivity_mae", "workers/observed_specificity_mae",
              "answers/cross_validated_gain", "answers/cross_validated_gain_error", "seconds/fit", "epochs",
              "restart/best", "restart/oracle_acc", "warnings/count"]  # fmt: skip
    assert list(metrics) == splits + others
    assert metrics["epochs"] == 3

    config = yaml.safe_load((run / "config.yaml").read_text())
    assert (config["seed"], config["model"]["K"], config["annotations"]["name"]) == (0, 4, "file")

    items = rows_of(run / "assignments.csv")
    assert [int(item["item"]) for item in items] == list(range(40))
    assert [i for i, item in enumerate(items) if item["annotated"] == "1"] == [*range(6), *range(20, 26)]
    assert all(0.25 <= float(item["probability"]) <= 1 for item in items)
    annotated = np.array([int(item["cluster"]) for item in items if item["annotated"] == "1"])
    labels = np.repeat([0, 1], 6)
    assert metrics["annotated/nmi"] == pytest.approx(normalized_mutual_info_score(labels, annotated), abs=1e-9)
    every = normalized_mutual_info_score(np.repeat([0, 1], 20), [int(item["cluster"]) for item in items])
    assert metrics["final/nmi"] == pytest.approx(every, abs=1e-9)
    table = np.zeros((2, 4))
    np.add.at(table, (labels, annotated), 1)
    assert metrics["annotated/acc"] == pytest.approx(table[linear_sum_assignment(-table)].sum() / 12)

    workers = rows_of(run / "workers.csv")
    known = [(w["annotator"], w["pairs"], w["true_sensitivity"]) for w in workers]
    assert known == [("ann", "66", ""), ("bob", "66", "")]
    for worker in workers:
        assert float(worker["sensitivity_low"]) < float(worker["sensitivity"]) < float(worker["sensitivity_high"])
        odds = [float(worker[name]) / (1 - float(worker[name])) for name in ("sensitivity", "specificity")]
        assert float(worker["weight"]) == pytest.approx(np.log(odds).sum(), abs=1e-3)
    for name in ("sensitivity", "specificity"):  # all answers are right
        error = np.mean([1 - float(worker[f"observed_{name}"]) for worker in workers])
        assert metrics[f"workers/observed_{name}_mae"] == pytest.approx(error, abs=1e-5)

    restarts = rows_of(run / "restarts.csv")
    elbo = [float(restart["elbo"]) for restart in restarts]
    assert metrics["restart/best"] == int(np.argmax(elbo))
    assert metrics["elbo/train"] == max(elbo)
    assert metrics["restart/oracle_acc"] == max(float(restart["oracle_acc"]) for restart in restarts)
    clusters = np.load(run / "restart_assignments.npz", allow_pickle=False)["clusters"]
    assert clusters.shape == (2, 40)
    assert [row["epoch"] for row in rows_of(run / "curves.csv")] == ["1", "2", "3"]
    provenance = json.loads((run / "provenance.json").read_text())
    assert provenance["command"].startswith("python src/train.py data=table")
    assert provenance["annotations"]["num_pairs"] == 132
    assert json.loads((run / "status.json").read_text())["status"] == "finished"
    assert [p.name for p in (run / "checkpoints").iterdir()] == ["last.ckpt"]
    assert (run / "model.pt").exists()
    assert not list(run.rglob("*.tmp"))


@pytest.mark.usefixtures("table", "answers")
def test_the_same_command_gives_the_same_bytes(train: Command, tmp_path: Path) -> None:
    command = [*SHORT, "model=scdc", "annotations=file", "annotations.path=answers.csv", "seed=0"]
    results = []
    for arguments in ([], ["seed=1", "hydra.run.dir=other"], []):
        assert train(*command, *arguments).returncode == 0
        results.append([(tmp_path / "run" / name).read_bytes() for name in ("assignments.csv", "curves.csv")])
    assert results[0] == results[2]
    assert (tmp_path / "other" / "curves.csv").read_bytes() != results[0][1]


def test_a_run_with_nothing_given_has_a_place_and_truth_of_simulated_workers(train: Command, tmp_path: Path) -> None:
    few = ("epochs=1", "annotations=two_coin", "start=cold")
    done = train(*few, "resume=true")
    assert done.returncode == 0, done.stderr
    run = tmp_path / "runs" / "epochs-1_annotations-two_coin_start-cold"
    assert f"files: {run}" in done.stdout
    assert [name for name in ("clusters/used", "epochs", "restart/best") if f"\n{name} " in done.stdout] == [
        "clusters/used"
    ]
    metrics = json.loads((run / "metrics.json").read_text())
    workers = rows_of(run / "workers.csv")
    assert {w["true_sensitivity"] for w in workers} == {"0.9"}
    error = np.mean([abs(float(w["sensitivity"]) - 0.9) for w in workers])
    assert metrics["workers/sensitivity_mae"] == pytest.approx(error, abs=1e-5)

    again = train(*few, "resume=true")
    assert again.returncode == 0
    assert "finished before" in again.stderr
    other = train(*few, "resume=true", "seed=3", f"hydra.run.dir={run}")
    assert other.returncode == 2
    assert "started with seed=0, not 3" in other.stderr
    # A setting given as it was anyway changes nothing.
    same = train(*few, "resume=true", "seed=0", "model.K=15", f"hydra.run.dir={run}")
    assert same.returncode == 0, same.stderr
    assert "finished before" in same.stderr


#: A run of four epochs that last long enough to be stopped between two of them.
LONG = ("data.points_per_class=50", "annotations=two_coin", "epochs=4", "batch_size=6", "seed=0", "start=cold")


def wait_for_epoch(run: Path, epoch: int) -> None:
    """Until that epoch's checkpoint is there: it is written after the curves."""
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        curves, checkpoint = run / "curves.csv", run / "checkpoints" / "last.ckpt"
        if curves.exists() and checkpoint.exists() and len(curves.read_text().splitlines()) == epoch + 1 and (
            checkpoint.stat().st_mtime_ns > curves.stat().st_mtime_ns
        ):
            return
        time.sleep(0.005)
    raise TimeoutError(f"{run}: no epoch {epoch}")


@pytest.mark.parametrize(
    "kind",
    [signal.SIGKILL, signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.slow)],
    ids=["SIGKILL", "SIGINT", "SIGTERM"],
)
def test_a_run_that_is_stopped_says_so_and_resumed_it_ends_as_one_that_was_not(
    train: Command, start: Callable[..., "Popen[str]"], tmp_path: Path, kind: signal.Signals
) -> None:
    process = start(*LONG, "hydra.run.dir=stopped")
    run = tmp_path / "stopped"
    wait_for_epoch(run, 2)
    process.send_signal(kind)
    out, err = process.communicate(timeout=60)
    status = json.loads((run / "status.json").read_text())["status"]
    assert not out
    assert not (run / "metrics.json").exists()
    assert not (run / "assignments.csv").exists()
    said = [line for line in err.splitlines() if not line.startswith("note: a fit of this size takes")]
    if kind == signal.SIGKILL:
        assert (process.returncode, status, said) == (-9, "running", [])
    else:
        assert (process.returncode, status) == (130, "interrupted")
        assert said == [
            "interrupted; the same command with resume=true continues from what the run has kept, "
            "if it had got that far, or begins again"
        ]
    assert len(rows_of(run / "curves.csv")) < 4
    if kind == signal.SIGINT:  # resuming does not ask how the run ended
        return
    assert train(*LONG, "hydra.run.dir=whole").returncode == 0
    done = train(*LONG, "hydra.run.dir=stopped", "resume=true")
    assert done.returncode == 0, done.stderr
    for name in ("assignments.csv", "workers.csv", "curves.csv", "restarts.csv"):
        assert (run / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


@pytest.mark.usefixtures("table", "answers")
def test_a_finished_run_goes_on_with_more_epochs_and_not_with_fewer(train: Command, tmp_path: Path) -> None:
    command = [*SHORT, "model=scdc", "annotations=file", "annotations.path=answers.csv"]
    assert train(*command).returncode == 0
    run = tmp_path / "run"
    before = rows_of(run / "curves.csv")
    fewer = train(*command, "epochs=2", "resume=true")
    assert fewer.returncode == 2
    assert "resume=true, but the run was started with epochs=3, not 2" in fewer.stderr
    more = train(*command, "epochs=5", "resume=true")
    assert more.returncode == 0, more.stderr
    assert "finished before" not in more.stderr
    after = rows_of(run / "curves.csv")
    assert [row["epoch"] for row in after] == ["1", "2", "3", "4", "5"]
    assert after[:3] == before
    assert json.loads((run / "metrics.json").read_text())["epochs"] == 5
    assert yaml.safe_load((run / "config.yaml").read_text())["epochs"] == 5
    assert "finished before" in train(*command, "epochs=5", "resume=true").stderr


@pytest.mark.usefixtures("table", "answers")
def test_a_run_does_not_go_on_with_inputs_that_have_changed(train: Command, tmp_path: Path) -> None:
    command = ["data=table", "data.path=items.csv", "model=kmeans", "model.K=2", "hydra.run.dir=run",
               "annotations=file", "annotations.path=answers.csv"]  # fmt: skip
    assert train(*command).returncode == 0
    run, answers = tmp_path / "run", tmp_path / "answers.csv"
    kept = answers.read_text()
    answers.write_text("\n".join(kept.splitlines()[:-1]) + "\n")
    finished = train(*command, "resume=true")
    assert finished.returncode == 2
    assert "answers.csv has changed since the run was started" in finished.stderr
    # The same of a run that was cut off, whose data are read before anything is said.
    (run / "status.json").write_text('{"status": "running", "error": null, "seconds": 1.0}\n')
    cut_off = train(*command, "resume=true")
    assert cut_off.returncode == 2
    assert "the answers have changed since the run was started" in cut_off.stderr
    answers.write_text(kept)
    again = train(*command, "resume=true")
    assert again.returncode == 0
    assert f"{run}: cut off before there was a checkpoint to go on from; begins again" in again.stderr
    with (tmp_path / "items.csv").open("a") as file:
        file.write((tmp_path / "items.csv").read_text().splitlines()[1] + "\n")
    changed = train(*command, "resume=true")
    assert changed.returncode == 2
    assert "items.csv has changed" in changed.stderr
    anew = train(*command)
    assert anew.returncode == 0, anew.stderr
    assert f"{run}: replaces the run that was there (finished)" in anew.stderr


def test_evaluation_that_failed_is_done_again_without_training(train: Command, tmp_path: Path, table: Path) -> None:
    command = [*SHORT, "model=scdc", "seed=0"]
    assert train(*command).returncode == 0
    run = tmp_path / "run"
    before = (run / "assignments.csv").read_bytes(), (run / "checkpoints" / "last.ckpt").read_bytes()
    # As if the process had been killed after the last epoch.
    (run / "status.json").write_text('{"status": "running", "error": null, "seconds": 1.0}\n')
    (run / "assignments.csv").unlink()
    done = train(*command, "resume=true")
    assert done.returncode == 0, done.stderr
    assert ((run / "assignments.csv").read_bytes(), (run / "checkpoints" / "last.ckpt").read_bytes()) == before
    assert table.exists()
