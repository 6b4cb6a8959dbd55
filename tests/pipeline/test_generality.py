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
from sklearn.preprocessing import StandardScaler

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.errors import UserError
from semicrowd.estimators import ESTIMATORS
from semicrowd.estimators.base import CrowdClusterer
from semicrowd.files import write_json
from semicrowd.methods.crowd_only import CrowdLogistic
from semicrowd.methods.generative import BayesSCDC
from semicrowd.pipeline.generality import cell as cell_module
from semicrowd.pipeline.generality.__main__ import _options, main
from semicrowd.pipeline.generality.cell import fingerprint, finished, inputs, run_cell
from semicrowd.pipeline.generality.figures import figures
from semicrowd.pipeline.generality.plan import BASELINES, OURS, VARIANTS, Cell, cells, expanded
from semicrowd.pipeline.generality.record import LOOKS
from semicrowd.pipeline.generality.summary import ablation, cell_table, summary
from semicrowd.pipeline.generality.tables import DEVELOPMENT, LOCKED, REGIMES

MADE = {"commit": "0123456789abcdef", "dirty": False, "date": "2026-11-22T00:00:00+00:00"}


def test_every_list_of_data_can_be_planned_and_none_is_in_both() -> None:
    assert not DEVELOPMENT.keys() & LOCKED.keys()
    methods = [*OURS, *BASELINES]
    plan = list(cells(list(DEVELOPMENT), list(REGIMES), methods, range(5), locked=False))
    # 23 tables under seventeen regimes with answers (17 methods and variants) and one without (where seven can do
    # something), one table with a regime of its own, seven with answers of people, four of these without answers too;
    # one under three of the regimes with answers and without.
    assert len(plan) == 5 * (23 * (17 * 17 + 7) + 17 + 7 * 17 + 4 * 7 + 3 * 17 + 7)
    assert {cell.regime for cell in plan if cell.data == "families"} == {"hard"}
    assert {cell.regime for cell in plan if cell.data == "felix_cats"} == {"crowd", "none"}
    assert len({cell.name for cell in plan}) == len(plan)


def test_locked_data_need_the_flag_and_the_look_is_noted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    message = r"--data crabs: a locked data set, which is evaluated once, at the end; needs --locked"
    with pytest.raises(UserError, match=message):
        list(cells(["crabs"], ["none"], ["kmeans"], [0], locked=False))
    with pytest.raises(UserError, match=r"--data iris: no such name; there are labelme"):
        list(cells(["iris"], ["none"], ["kmeans"], [0], locked=True))
    folders = ["--cells", str(tmp_path / "cells"), "--reports", str(tmp_path / "reports")]
    assert main(["--data", "crabs", "--methods", "kmeans", *folders]) == 2
    assert "at the end; needs --locked" in capsys.readouterr().err
    assert not (tmp_path / "reports").exists()


def asked(data: str, regime: str, seed: int, method: str = "kmeans") -> tuple[np.ndarray, PairAnnotations]:
    """Labels and answers of a cell."""
    items, answers = inputs(Cell(data, regime, method, seed), Path("unused"))
    assert items.labels is not None
    assert answers is not None
    return items.labels, answers


@pytest.mark.parametrize("regime", [name for name in REGIMES if name not in ("none", "hard", "crowd")])
def test_every_regime_has_answers_even_about_few_items(regime: str) -> None:
    labels, answers = asked("iris", regime, 0)
    assert answers.num_items == len(labels)
    assert 19 <= len(answers.annotated) <= 150
    assert answers.simulated


@pytest.mark.parametrize("seed", range(3))
def test_answers_by_chance_say_nothing(seed: int) -> None:
    labels, answers = asked("digits", "chance", seed)
    sensitivity, specificity = answers.empirical_quality(labels)
    same = labels[answers.i] == labels[answers.j]
    # Sensitivity is 1 − specificity; some 360 pairs are the same: four standard errors.
    assert answers.label[same].mean() == pytest.approx(answers.label[~same].mean(), abs=4 * 0.5 / np.sqrt(same.sum()))
    assert len(sensitivity) == len(specificity) == 10


@pytest.mark.parametrize(("regime", "share"), [("misplaced5", 0.05), ("misplaced", 0.2), ("misplaced100", 1.0)])
@pytest.mark.parametrize("name", ["iris", "digits"])
def test_answers_are_about_the_share_of_items_that_the_regime_says(name: str, regime: str, share: float) -> None:
    labels, answers = asked(name, regime, 3)
    assert answers.task is not None
    assert len(answers.annotated) == max(20, round(share * len(labels)))
    items = (1 + np.sqrt(1 + 8 * np.bincount(answers.task))) / 2  # n (n − 1) / 2 answers of n items
    assert items.min() >= 12
    assert items.max() <= 20
    assert items.sum() == pytest.approx(3 * len(answers.annotated), rel=0.1, abs=20)
    assert np.array_equal(answers.label, asked(name, regime, 3, "mcvc")[1].label)


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
    __module__ = "semicrowd.methods.unsupervised"

    def __init__(self, n_clusters: int, random_state: int) -> None:
        self.n_clusters, self.fail = n_clusters, random_state

    def _run(self, *_: Any) -> None:
        raise AssertionError

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


@pytest.mark.parametrize(
    "method",
    ["scdc[latent_dim 4]", "kmeans[model.K=3]", "scdc[model.latent_dims=4]", "scdc[model.K=0]", "scdc[]",
     "scdc[model.hidden=[7]"],
)
def test_a_variant_that_cannot_be_is_refused_before_any_fit(method: str, tmp_path: Path) -> None:
    with pytest.raises(UserError):
        list(cells(["iris"], ["none"], [method], [0], locked=False))
    folders = ["--cells", str(tmp_path / "cells"), "--reports", str(tmp_path / "reports")]
    assert main(["--data", "iris", "--methods", method, *folders]) == 2
    assert not (tmp_path / "cells").exists()


def test_a_variant_gets_its_settings_and_what_it_varies_is_fitted_too() -> None:
    variant = "bayes[model.latent_dim=3;epochs=0;model.hidden=[7,7]]"
    methods = _options(["--methods", f"{variant},kmeans_raw"]).methods
    plan = list(cells(["iris"], ["none"], methods, [4], locked=False))
    assert [cell.method for cell in plan] == ["bayes", variant, "kmeans_raw"]
    cell = plan[1]
    assert cell.settings == {"model.latent_dim": 3, "epochs": 0, "model.hidden": [7, 7]}
    _, estimator = cell_module._prepared(cell, inputs(cell, Path("unused"))[0])
    assert isinstance(estimator, BayesSCDC)
    assert estimator.settings == cell.settings
    assert fingerprint(cell) != fingerprint(plan[0])


def test_ablations_are_paired_by_seed_and_stay_out_of_the_summary(tmp_path: Path) -> None:
    variant, other = "scdc[epochs=0]", "scdc[model.K=9]"
    rows = _rows({
        ("iris", "pairs90", "scdc"): [0.9, 0.8, 0.7], ("iris", "pairs90", variant): [0.85, 0.7, 0.55],
        ("wine", "pairs90", "scdc"): [0.5, 0.6, 0.7], ("wine", "pairs90", variant): [0.53, 0.6, None],
        ("iris", "pairs90", "kmeans"): [0.1, 0.1, 0.1], ("wine", "pairs90", other): [0.4, 0.5, 0.6],
    })  # fmt: skip
    text = ablation(rows, ["wine", "iris"], ["pairs90"])
    lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line[:1] == "|"]
    # Seeds 0 and 1 have both cells: means over the cells −.01 and −.05; −.03 ± .02 over the seeds. In iris the
    # differences −.05, −.1, −.15 are −.1 ± .029, beyond two standard errors.
    (overall,) = (line for line in lines if line[0] == variant)
    assert overall == [variant, "−.030 ± .020", "2", "2", "0", "1"]
    assert ["wine", "pairs90", "+.015 ± .015", "−.100 ± .000"] in lines
    assert ["iris", "pairs90", "−.100 ± .029", "not measured"] in lines
    for row in rows.to_dict("records"):
        path = tmp_path / "cells" / f"{row['data']}/{row['regime']}/{row['method']}/{row['seed']}.json"
        write_json(path, {name: value for name, value in row.items() if value == value})
    options = ["--data", "iris,wine", "--seeds", "0-2", "--cells", str(tmp_path / "cells"), "--summary-only"]
    assert main([*options, "--methods", variant, "--reports", str(tmp_path)]) == 0
    assert variant in (tmp_path / "ablation.md").read_text()
    assert other not in (tmp_path / "ablation.md").read_text()
    assert "[" not in (tmp_path / "summary.md").read_text()


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
    assert shares[5:] == ["−.100", "1 of 1 (100 %)", "2 of 2 (100 %)", "2 of 2 (100 %) |"]
    assert "over 60 s" in text
    bars = [line.removeprefix("- ") for line in text.splitlines() if line.startswith("- bayes: ")]
    assert bars[0].startswith("bayes: within 0.02 NMI of the best baseline, or above it, in 1 of 2 (50 %) cells")
    assert bars[1].startswith("bayes: more than 0.02 below k-means in 1 of 2 and below answers + LR in 0 of 1 cells")
    assert bars[2].startswith("bayes: as many clusters as classes in 2 of 2 (100 %) cells with answers, ")
    assert bars[2].endswith(", off by at most one in 2 of 2 (100 %) (median over the seeds)")
    # Methods without a score in wine come last there: 1.5 and 2.5 of four, against 2 and 1 for the other of ours.
    assert bars[3].startswith("bayes: mean rank 2.25 with answers")
    assert bars[4].startswith("bayes: without answers within 0.05 of the better of k-means and GMM, or above it, in 1 ")


def test_the_best_variant_of_a_baseline_counts() -> None:
    rows = _rows({
        ("iris", "pairs90", "bayes"): [0.9, 0.8],
        ("iris", "pairs90", "kmeans_raw"): [0.7, 0.7], ("iris", "pairs90", "kmeans_scaled"): [0.6, 0.9],
        ("iris", "pairs90", "mcvc_raw_one"): [0.99, None], ("iris", "pairs90", "mcvc_scaled_five"): [0.1, 0.2],
        ("iris", "pairs90", "crowd_logistic_raw"): [None, None],
        ("iris", "pairs90", "crowd_logistic_scaled_predict"): [None, 0.9],
    })  # fmt: skip
    table = cell_table(rows).set_index("method")
    assert set(table.index) == {"bayes", "kmeans", "mcvc", "crowd_logistic"}
    assert table.loc["kmeans", ["variant", "variants", "nmi"]].tolist() == ["kmeans_scaled", 2, 0.75]
    # One that was stopped once is no best one; where all were, there is none.
    assert table.loc["mcvc", "variant"] == "mcvc_scaled_five"
    assert np.isnan(table.loc["crowd_logistic", "nmi"])
    assert table.loc["bayes", "best_baseline"] == "kmeans"
    assert table.loc["bayes", "to_kmeans"] == pytest.approx(0.1)
    _, text = summary(rows, ["iris"], ["pairs90"])
    assert "chosen with hindsight" in text
    assert "| iris | pairs90 | 3 | 3 3 | scaled |" in text


def test_clusters_are_counted_against_the_kinds_by_their_median_over_the_seeds() -> None:
    rows = pd.concat([
        _rows({("iris", name, "scdc"): [0.5] * 3}).assign(clusters=found)
        for name, found in (("pairs90", [3, 9, 3]), ("pairs75", [2, 4, 4]), ("lazy", [3, 5, 5]), ("chance", [3, 3, 3]))
    ])  # fmt: skip
    found = figures(cell_table(rows), "scdc")
    assert found is not None
    # Answers by chance are no answers.
    assert (str(found.exact), str(found.within_one)) == ("1 of 3", "2 of 3")


def test_a_baseline_is_run_as_its_variant_says(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert expanded(["scdc", "mcvc", "cspa"]) == [
        "scdc", "mcvc_raw_one", "mcvc_raw_five", "mcvc_scaled_one", "mcvc_scaled_five", "cspa",
    ]  # fmt: skip
    for name, variant in VARIANTS.items():
        cell = Cell("wine", "pairs90", name, 0)
        data = inputs(cell, Path("unused"))[0]
        features, estimator = cell_module._prepared(cell, data)
        assert ESTIMATORS[variant.baseline] is type(estimator)
        scaled = bool(np.allclose(features.mean(0), 0, atol=1e-3) and np.allclose(features.std(0), 1, atol=1e-3))
        assert scaled == variant.scaled == ("scaled" in name)
        assert getattr(estimator, "standardize", False) is False
        if variant.baseline == "mcvc":
            assert estimator.get_params()["n_views"] == {"one": 1, "five": 5}[name.rpartition("_")[2]]
    alone, crowd = (
        run_cell(Cell("wine", "pairs90", name, 0), tmp_path / name, Path("unused"), 60, MADE)
        for name in ("crowd_logistic_scaled_predict", "crowd_logistic_scaled")
    )
    cell = Cell("wine", "pairs90", "crowd_logistic_scaled_predict", 0)
    data, answers = inputs(cell, Path("unused"))
    model = cell_module._prepared(cell, data)[1].fit(StandardScaler().fit_transform(data.features), answers)
    assert isinstance(model, CrowdLogistic)
    predicted = model.predict(StandardScaler().fit_transform(data.features))
    assert alone["nmi"] == pytest.approx(normalized_mutual_info_score(data.labels, predicted), abs=1e-5)
    assert crowd["nmi"] == pytest.approx(normalized_mutual_info_score(data.labels, model.labels_), abs=1e-5)


def test_clusters_as_small_as_the_smallest_kind_count() -> None:
    labels = np.repeat([0, 1, 2], [600, 399, 1])
    assert cell_module._in_use(labels, labels) == 3
    # Kinds of half a per cent and more: smaller clusters are left out.
    assert cell_module._in_use(labels, np.repeat([0, 1], 500)) == 2


def test_data_sets_that_the_user_has_not_brought_are_left_out_with_a_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    np.savez(tmp_path / "felix_cats.npz", features=np.eye(4), labels=[0, 0, 1, 1], pairs=[[0, 1, 0, 1, -1]])
    monkeypatch.setenv("SEMICROWD_CROWDS", str(tmp_path))
    folders = ["--cells", str(tmp_path / "cells"), "--reports", str(tmp_path / "reports")]
    assert main(["--regimes", "crowd", "--jobs", "1", "--methods", "kmeans", "--seeds", "0", *folders]) == 0
    told = capsys.readouterr()
    assert "left out: olive: data.path=olive: no olive.npz in" in told.err
    assert "left out: felix_cats" not in told.err
    assert "2 fits, 0 of them finished before" in told.out
    # One that is asked for by its name is an error.
    assert main(["--data", "olive", "--regimes", "none", "--methods", "kmeans", "--seeds", "0", *folders]) == 2
    assert "data.path=olive: no olive.npz in" in capsys.readouterr().err


@pytest.mark.slow
def test_killed_it_goes_on_with_what_is_left(tmp_path: Path) -> None:
    command = [
        sys.executable, "-m", "semicrowd.pipeline.generality", "--data", "iris,wine", "--regimes", "none,pairs90",
        "--methods", "kmeans_raw,gmm_raw,crowd_logistic_raw", "--seeds", "0-1", "--jobs", "1",
        "--cells", str(tmp_path / "cells"), "--reports", str(tmp_path / "reports"),
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


def test_hard_groupings_are_as_hard_as_real_ones() -> None:
    """On the drawn answers, by their pairs: what the issue says of groupings by people."""
    labels, answers = asked("families", "hard", 0)
    assert answers.task is not None
    assert inputs(Cell("families", "hard", "kmeans", 0), Path("unused"))[0].features.shape == (4500, 166)
    assert 13 <= len(np.unique(labels)) <= 15
    assert len(answers.annotated) == 800
    assert len(np.unique(answers.task)) == 350
    sensitivities, specificities, confused = [], [], []
    for seed in range(5):
        drawn = asked("families", "hard", seed)[1]
        one, other = labels[drawn.i], labels[drawn.j]
        sensitivities.append(drawn.label[one == other].mean())
        specificities.append(1 - drawn.label[one != other].mean())
        # Of each pair of kinds the share of answers that take them for one.
        pairs = pd.DataFrame({"a": np.minimum(one, other), "b": np.maximum(one, other), "same": drawn.label})
        shares = pairs[one != other].groupby(["a", "b"])["same"].mean()
        confused.append([(shares > 0.5).sum(), np.median(shares)])
    assert np.mean(sensitivities) == pytest.approx(0.87, abs=0.02)
    assert np.mean(specificities) == pytest.approx(0.77, abs=0.02)
    often, usual = np.mean(confused, axis=0)
    assert often >= 8, "some kinds are often taken for one"
    assert usual < 0.2, "most are not"
