"""The generality suite: what it plans, that it goes on where it was stopped, and its numbers against loops."""

import csv
import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris
from sklearn.metrics import normalized_mutual_info_score

from semicrowd.errors import UserError
from semicrowd.estimators.base import CrowdClusterer
from semicrowd.pipeline.generality import cell as cell_module
from semicrowd.pipeline.generality.__main__ import LOOKS, main
from semicrowd.pipeline.generality.cell import fingerprint, finished, inputs, run_cell
from semicrowd.pipeline.generality.plan import BASELINES, DEVELOPMENT, LOCKED, OURS, REGIMES, Cell, cells
from semicrowd.pipeline.generality.summary import cell_table, summary

MADE = {"commit": "0123456789abcdef", "dirty": False, "date": "2026-11-22T00:00:00+00:00"}


def test_every_list_of_data_can_be_planned_and_none_is_in_both() -> None:
    assert not DEVELOPMENT.keys() & LOCKED.keys()
    methods = [*OURS, *BASELINES]
    plan = list(cells(list(DEVELOPMENT), list(REGIMES), methods, range(5), locked=False))
    # Eight tables under seven regimes with answers and one without (where four methods can do something), one table
    # with a regime of its own.
    assert len(plan) == 5 * (8 * (7 * 7 + 4) + 7)
    assert {cell.regime for cell in plan if cell.data == "families"} == {"hard"}
    assert len({cell.name for cell in plan}) == len(plan)


def test_locked_data_need_the_flag_and_the_look_is_noted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(UserError, match=r"--data lung: a locked data set, which is looked at once, at the end"):
        list(cells(["lung"], ["none"], ["kmeans"], [0], locked=False))
    with pytest.raises(UserError, match=r"--data iris: no such name; there are letter_last"):
        list(cells(["iris"], ["none"], ["kmeans"], [0], locked=True))
    folders = ["--cells", str(tmp_path / "cells"), "--reports", str(tmp_path / "reports")]
    assert main(["--data", "lung", "--methods", "kmeans", *folders]) == 2
    assert "with --locked" in capsys.readouterr().err
    assert not (tmp_path / "reports").exists()


@pytest.mark.parametrize(("regime", "share"), [("misplaced5", 0.05), ("misplaced", 0.2), ("misplaced100", 1.0)])
@pytest.mark.parametrize("name", ["iris", "digits"])
def test_answers_are_about_the_share_of_items_that_the_regime_says(name: str, regime: str, share: float) -> None:
    data, answers = inputs(Cell(name, regime, "kmeans", 3), Path("unused"))
    assert answers is not None
    assert answers.task is not None
    assert len(answers.annotated) == max(20, round(share * data.num_items))
    items = (1 + np.sqrt(1 + 8 * np.bincount(answers.task))) / 2  # n (n − 1) / 2 answers of n items
    assert items.min() >= 12
    assert items.max() <= 20
    assert items.sum() == pytest.approx(3 * len(answers.annotated), rel=0.1, abs=20)
    again = inputs(Cell(name, regime, "mcvc", 3), Path("unused"))[1]
    assert again is not None
    assert np.array_equal(answers.label, again.label)


def test_a_cell_has_the_scores_of_its_fit(tmp_path: Path) -> None:
    cell, path = Cell("iris", "misplaced", "kmeans", 4), tmp_path / "cell.json"
    assert not finished(cell, path, 60, any_code=True)
    row = run_cell(cell, path, Path("unused"), 60, MADE)
    assert json.loads(path.read_text()) == row
    bunch = load_iris()
    found = KMeans(3, n_init=20, random_state=4).fit_predict(bunch.data.astype(np.float32))
    assert row["nmi"] == pytest.approx(normalized_mutual_info_score(bunch.target, found), abs=1e-5)
    assert (row["clusters"], row["classes"], row["items"], row["status"]) == (3, 3, 150, "done")
    assert finished(cell, path, 60, any_code=False)


def test_a_cell_counts_for_its_own_code_alone_unless_it_is_to_be_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cell, path = Cell("iris", "none", "kmeans", 0), tmp_path / "cell.json"
    run_cell(cell, path, Path("unused"), 60, MADE)
    before = fingerprint(cell)
    monkeypatch.setattr(cell_module, "_code", lambda *_: "other code")
    assert fingerprint(cell) != before
    assert not finished(cell, path, 60, any_code=False)
    assert finished(cell, path, 60, any_code=True)


class _Slow(CrowdClusterer):
    """A method that takes its time, or fails."""

    requires_answers = False
    __module__ = "semicrowd.estimators.unsupervised"

    def __init__(self, random_state: int, **_: Any) -> None:
        self.fail = random_state

    def fit(self, *_: Any) -> None:  # type: ignore[override]
        if self.fail:
            raise ValueError("no luck\nat all")
        for _step in range(1000):
            time.sleep(0.01)


def test_a_fit_over_the_limit_and_a_failed_one_say_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cell_module, "ESTIMATORS", {"kmeans": _Slow})
    slow, failed = (Cell("iris", "none", "kmeans", seed) for seed in (0, 1))
    row = run_cell(slow, tmp_path / "slow.json", Path("unused"), 0.2, MADE)
    assert (row["status"], row["seconds"]) == ("over 0.2 s", 0.2)
    assert "nmi" not in row
    # It is not tried again within the same time, but with more of it.
    assert finished(slow, tmp_path / "slow.json", 0.2, any_code=False)
    assert not finished(slow, tmp_path / "slow.json", 1, any_code=False)
    assert run_cell(failed, tmp_path / "failed.json", Path("unused"), 60, MADE)["status"] == "ValueError: no luck"
    assert not finished(failed, tmp_path / "failed.json", 60, any_code=True)


def _rows(scores: dict[tuple[str, str, str], list[float | None]]) -> pd.DataFrame:
    rows = []
    for (data, regime, method), fits in scores.items():
        for seed, nmi in enumerate(fits):
            status = "done" if nmi is not None else "over 60 s"
            rows.append({"data": data, "regime": regime, "method": method, "seed": seed, "status": status, "nmi": nmi,
                         "clusters": 3, "classes": 3, "seconds": 1.0, **MADE})
    return pd.DataFrame(rows)


def test_differences_are_paired_and_ranks_and_shares_counted() -> None:
    rows = _rows({
        ("iris", "pairs90", "bayes"): [0.9, 0.8], ("iris", "pairs90", "scdc"): [0.95, 0.7],
        ("iris", "pairs90", "kmeans"): [0.7, 0.7], ("iris", "pairs90", "crowd_logistic"): [0.8, 0.9],
        ("wine", "pairs90", "bayes"): [0.5, 0.5], ("wine", "pairs90", "scdc"): [0.7, 0.7],
        ("wine", "pairs90", "kmeans"): [0.6, 0.6], ("wine", "pairs90", "crowd_logistic"): [None, 0.99],
        ("iris", "none", "bayes"): [0.6, 0.7], ("iris", "none", "scdc"): [0.1, 0.1],
        ("iris", "none", "kmeans"): [0.7, 0.7],
    })  # fmt: skip
    table = cell_table(rows).set_index(["data", "regime", "method"]).sort_index()
    bayes = table.loc[("iris", "pairs90", "bayes")]
    assert bayes["best_baseline"] == "crowd_logistic"
    assert bayes["to_best"] == pytest.approx(0.0)
    # Differences .1 and −.1: standard deviation .1 √2, over √2.
    assert bayes["to_best_se"] == pytest.approx(0.1)
    assert bayes["to_kmeans"] == pytest.approx(0.15)
    assert table.loc[("iris", "pairs90"), "rank"].to_dict() == {
        "bayes": 1.5, "crowd_logistic": 1.5, "kmeans": 4, "scdc": 3,
    }  # fmt: skip
    # A baseline that was stopped once has no difference.
    assert np.isnan(table.loc[("wine", "pairs90", "scdc"), "to_lr"])
    # A baseline with a fit that was stopped is no best one, and comes last.
    assert table.loc[("wine", "pairs90", "scdc"), "best_baseline"] == "kmeans"
    assert table.loc[("wine", "pairs90", "crowd_logistic"), "rank"] == 4
    assert table.loc[("wine", "pairs90", "scdc"), "to_best"] == pytest.approx(0.1)
    _, text = summary(rows, ["iris", "wine"], ["pairs90", "none"])
    shares = next(row.split(" | ") for row in text.splitlines() if row.startswith("| bayes | 2 |"))
    assert shares[2:4] == ["1 of 2 (50 %)", "1 of 2 (50 %)"]
    assert shares[5:] == ["−.100", "1 of 1 (100 %) |"]
    assert "over 60 s" in text


@pytest.mark.slow
def test_killed_it_goes_on_with_what_is_left(tmp_path: Path) -> None:
    command = [
        sys.executable, "-m", "semicrowd.pipeline.generality", "--data", "iris,wine", "--regimes", "none,pairs90",
        "--methods", "kmeans,gmm,crowd_logistic", "--seeds", "0-1", "--jobs", "1", "--cells", str(tmp_path / "cells"),
        "--reports", str(tmp_path / "reports"),
    ]  # fmt: skip
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True) as process:
        assert process.stdout is not None
        for text in process.stdout:
            if text.startswith("[3/"):
                process.send_signal(signal.SIGKILL)
                break
    before = {path: path.read_bytes() for path in (tmp_path / "cells").rglob("*.json")}
    assert 3 <= len(before) < 20
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert f"20 fits, {len(before)} of them finished before" in done.stdout
    assert all(path.read_bytes() == content for path, content in before.items())
    with (tmp_path / "reports/results.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 20
    assert {row["status"] for row in rows} == {"done"}
    assert "| wine | pairs90 |" in (tmp_path / "reports/summary.md").read_text()
    assert not (tmp_path / "reports" / LOOKS).exists()
