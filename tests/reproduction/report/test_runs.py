"""Runs are found by their files, selected by their values, and repeated by their commands."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from reproduction.report.runs import RECORDED, commands, data_of, format_ranges, read_runs, select

from .conftest import Make


def test_a_run_is_a_row_of_what_its_files_say(make: Make, results: Path) -> None:
    config = {"model.init": None, "params.init": "cold", "params.hidden": [4, 4]}
    folder = make(
        "face/3", "face", "bayes", "quota", 7, config=config,
        metrics={"final/nmi": 0.25, "seconds/fit": 12.0, "epochs": 4}, answers={"num_pairs": 9, "simulated": True},
    )  # fmt: skip
    restarts = {"elbo": [-3.0, np.nan, -2.0], "oracle_acc": [0.5, np.nan, 0.9], "oracle_nmi": [0.4, 0, 0.8]}
    pd.DataFrame(restarts).to_csv(folder / "restarts.csv", index=False)
    pd.DataFrame({"worker": ["a", "b"], "weight": [1.5, 2.5]}).to_csv(folder / "workers.csv", index=False)
    (folder / ".hydra").mkdir()
    (folder / ".hydra/config.yaml").write_text("seed: 1")  # Hydra's own, which is no run
    found = read_runs(results, Path("/nowhere"))
    assert len(found) == 1
    run = found.iloc[0]
    expected = {
        "data": "face", "model": "bayes", "annotations": "quota", "seed": 7, "status": "finished", "model.init": "null",
        "params.init": "cold", "params.hidden": "[4, 4]", "final/nmi": 0.25, "seconds/epoch": 3.0,
        "worst/acc": 0.5, "worst/nmi": 0.4, "starts/mean_acc": 0.7, "starts/oracle_nmi": 0.8, "workers/weight_2": 2.5,
        "answers.num_pairs": 9,
        "commit": "c0ffee0000cafe", "recorded": False, "folder": folder.as_posix(),
    }  # fmt: skip
    assert {name: run[name] for name in expected} == expected


def test_a_run_without_metrics_has_failed_or_has_not_ended(make: Make, results: Path) -> None:
    for number in range(2):
        make(f"some/{number}", "face", "bayes", seed=number, metrics=None)
    assert list(read_runs(results, Path("/nowhere"))["status"]) == ["unfinished"] * 2
    (results / "some/jobs.csv").write_text("job,status,error,folder\n0,failed,boom,0\n1,failed,,1\n")
    found = read_runs(results, Path("/nowhere"))
    assert list(found["status"]) == ["failed"] * 2
    assert list(found["message"]) == ["boom", ""]


def test_recorded_runs_have_the_numbers_of_their_files(recorded: pd.DataFrame) -> None:
    files = {path.stem: json.loads(path.read_text())["runs"] for path in RECORDED.glob("*.json")}
    assert recorded["recorded"].all()
    assert recorded["experiment"].value_counts().to_dict() == {name: len(runs) for name, runs in files.items()}
    for name, runs in files.items():
        mine = recorded[recorded["experiment"] == name]
        for metric in {metric for run in runs for metric in run["metrics"]}:
            expected = [run["metrics"][metric] for run in runs if metric in run["metrics"]]
            assert mine[metric].dropna().tolist() == expected


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ({}, [0, 1, 2, 3]),
        ({"model": "scdc"}, [0, 1]),
        ({"model": ["scdc", "bayes"]}, [0, 1, 2]),
        ({"model.hold": None}, [1, 2, 3]),
        ({"model.hold": False}, [0]),
        ({"model.hold": [None, True], "model": "scdc"}, [1]),
        ({"model.steps": {"not": 0}}, [0, 1, 3]),
        ({"seed": "1-2"}, [1, 2]),
        ({"data.absent": None}, [0, 1, 2, 3]),
        ({"data.absent": 3}, []),
    ],
)
def test_where_selects_by_values(where: dict[str, object], expected: list[int]) -> None:
    runs = pd.DataFrame(
        {"model": ["scdc", "scdc", "bayes", "kmeans"], "model.hold": [False, "null", np.nan, np.nan], "seed": range(4),
         "model.steps": [5, "null", 0, np.nan]}, dtype=object,
    )  # fmt: skip
    assert list(select(runs, where).index) == expected


def test_commands_are_sweeps_of_what_differs() -> None:
    arguments = [
        *(["data=face", f"annotations.pairs_per_annotator={n}", f"seed={seed}", "logger=none"]
          for n in (200, 400) for seed in (0, 1, 2, 7)),
        ["data=face", "seed=3"],
    ]  # fmt: skip
    assert commands(pd.DataFrame({"arguments": arguments})) == [
        "python src/train.py -m data=face annotations.pairs_per_annotator=200,400 seed=0-2,7",
        "python src/train.py data=face seed=3",
    ]
    assert commands(pd.DataFrame({"arguments": [[]], "command": ["dvc repro slpd"]})) == ["dvc repro slpd"]
    assert format_ranges([3, 1, 2, 9, 1]) == "1-3,9"


def test_the_items_of_a_run_are_loaded_as_it_did(make: Make, results: Path) -> None:
    target = {"data._target_": "semicrowd.data.generated.load_pinwheel", "data.points_per_class": 7}
    make("some/0", "pinwheel", "kmeans", config=target)
    features, labels = data_of(read_runs(results, Path("/nowhere")).iloc[0])
    assert features.shape == (35, 2)
    assert np.bincount(labels).tolist() == [7] * 5
