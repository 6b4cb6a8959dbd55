"""Numbers of cells, paired differences, differences from the papers' settings, and the page in both forms."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from reproduction.report import engine, tables
from reproduction.report.engine import build, deviations, read_papers
from reproduction.report.runs import read_runs
from reproduction.report.tables import conclusions, corrected_p, fill, paired, summarise
from semicrowd.errors import UserError

from .conftest import Make, exhibit, row


def frame(values: Mapping[int, float], name: str = "final/nmi", /, **more: Any) -> pd.DataFrame:
    """Finished runs of some seeds."""
    about = {"status": "finished", "recorded": False, "folder": "", "commit": "c0ffee", "data": "face", **more}
    runs = pd.DataFrame({"seed": list(values), name: list(values.values())}).assign(**about)
    runs["arguments"] = [[f"seed={seed}"] for seed in values]
    return runs.astype(object)


def test_a_cell_is_the_mean_and_sample_deviation_over_finished_runs() -> None:
    values = {0: 0.2, 1: 0.4, 5: 0.9}
    runs = pd.concat([frame(values), frame({6: 0.1}, status="failed")], ignore_index=True)
    found = summarise(runs, ["test/nmi", "final/nmi"])
    assert (found.mean, found.sd, found.n) == (pytest.approx(0.5), pytest.approx(np.std([0.2, 0.4, 0.9], ddof=1)), 3)
    assert found.remark == "seed 6 failed"
    single = summarise(frame({3: 0.5}), "final/nmi")
    assert (single.mean, single.sd, single.n) == (0.5, None, 1)
    best = summarise(frame(values), "final/nmi", "max")
    assert (best.mean, best.sd, best.n) == (0.9, None, 3)
    assert summarise(frame(values), "test/nmi") is None
    with pytest.raises(UserError, match="final/nmi"):
        summarise(frame({0: np.inf}), "final/nmi")


def test_a_samplers_run_has_the_deviation_of_its_chains() -> None:
    runs = frame({0: 0.6}, "samples/nmi", **{"samples/nmi_sd": 0.1, "params.n_chains": 4, "params.n_kept": 5,
                 "params.n_sweeps": 3, "chains/mixed": 0, "chains/rhat_clusters": 1.7})  # fmt: skip
    found = summarise(runs, ["samples/nmi", "train/nmi"])
    assert (found.mean, found.sd, found.n) == (0.6, 0.1, 12)
    assert "NOT MIXED" in found.remark


def difference(of: pd.DataFrame, minus: pd.DataFrame) -> tuple[float, int] | None:
    found = paired(*(one.assign(value=one["final/nmi"]) for one in (of, minus)))
    return None if found is None else (found.mean, found.n)


def test_differences_are_of_runs_with_the_same_seed_items_and_answers() -> None:
    one = frame({0: 0.6, 1: 0.8, 2: 0.1}, **{"data.subset": 5000, "answers.num_pairs": 9})
    other = frame({1: 0.5, 0: 0.4, 7: 0.9}, **{"data.subset": 5000, "answers.num_pairs": 9})
    assert difference(one, other) == (pytest.approx(0.25), 2)
    assert difference(one, other.assign(**{"data.subset": 50_000})) is None
    assert difference(one, other.assign(**{"answers.num_pairs": 8})) is None
    assert difference(one, other.assign(**{"answers.num_pairs": np.nan})) == (pytest.approx(0.25), 2), "without answers"
    elsewhere = other.assign(data="encoded", **{"data.subset": "null"})
    assert difference(one, elsewhere) == (pytest.approx(0.25), 2), "options of other data are not the same options"
    again = pd.concat([one, frame({0: 9.0, 1: 9.0})])  # recorded runs of the same seeds come second
    assert difference(again, other) == (pytest.approx(0.25), 2)
    draws = [frame({0: value}, **{"data.data_seed": draw}) for draw, value in enumerate((0.5, 0.7, 0.9))]
    assert difference(pd.concat(draws), pd.concat([one.assign(**{"final/nmi": 0.1}) for one in draws])) == (
        pytest.approx(0.6), 3,
    )  # fmt: skip


def test_the_corrected_p_is_the_usual_one_for_independent_splits_and_larger_otherwise() -> None:
    values = np.random.default_rng(0).normal(0.3, 1, 40)
    usual = stats.ttest_1samp(values, 0).pvalue
    assert corrected_p(values, 0.0) == pytest.approx(usual)
    n, ratio = len(values), 0.5
    by_hand = values.mean() / np.sqrt((1 / n + ratio) * values.var(ddof=1))
    assert corrected_p(values, ratio) == pytest.approx(2 * stats.t.sf(abs(by_hand), n - 1))
    assert corrected_p(values, ratio) > usual
    assert np.isnan(corrected_p(np.ones(5), 0.5))


TABLE = {
    "key": "t", "metrics": {"NMI": "final/nmi"}, "models": ["scdc"], "n": 5,
    "settings": {"epochs": 200, "hidden": [4, 4], "steps": {"paper": "N / 5", "same": [12]}, "optimizer": "momentum"},
    "rows": [
        {"row": "SCDC, {} answers", "key": "scdc", "paper": {"NMI": [0.7, 0.1]}, "each": {"answers": None},
         "where": {"model": "scdc"}, "protocol": {"protocol": "paper"}, "ours": {"protocol": "default"}},
        {"row": "k-means", "key": "kmeans", "where": {"model": "kmeans"}, "ours": {}},
    ],
    "differences": [{"row": "SCDC minus k-means", "of": "scdc.ours", "minus": "kmeans.ours"}],
}  # fmt: skip


def test_a_row_comes_once_for_each_value_that_runs_have() -> None:
    runs = pd.concat([
        frame({0: 0.5, 1: 0.7}, model="scdc", protocol="default", answers=200),
        frame({0: 0.9}, model="scdc", protocol="default", answers=400),
        frame({3: 0.1}, model="scdc", protocol="paper", answers=400, recorded=True),
    ], ignore_index=True)  # fmt: skip
    rows = fill(TABLE, runs)
    assert [one.label for one in rows] == ["SCDC, 200 answers", "SCDC, 400 answers", "k-means"]
    first, second = row(rows, "scdc", 200), row(rows, "scdc", 400)
    ours, paper = first.number("NMI"), second.number("NMI", "protocol")
    assert (ours.mean, ours.n, paper.mean) == (pytest.approx(0.6), 2, 0.1)
    assert first.number("NMI", "protocol") is None
    assert second.first_run("protocol") is None, "a recorded run has no folder"
    with pytest.raises(UserError, match="kmean"):
        fill({**TABLE, "differences": [{"row": "a", "of": "scdc.ours", "minus": "kmean.ours"}]}, runs)


def claimed(of: Mapping[int, float], minus: Mapping[int, float], /, **claim: Any) -> dict[str, str]:
    """Column → verdict of the claim that SCDC has a higher NMI than k-means."""
    runs = pd.concat([frame(of, model="scdc", protocol="default", answers=200),
                      frame(minus, model="kmeans")], ignore_index=True)  # fmt: skip
    spec = {"exhibit": "t", "of": "scdc", "minus": "kmeans.ours", "quantities": ["NMI"], **claim}
    (found,) = conclusions({"conclusions": [spec]}, {"t": fill(TABLE, runs)})
    return {column: verdict for column, (verdict, _) in found["cells"].items()}


def test_a_conclusion_holds_is_reversed_or_not_decided_by_two_standard_errors() -> None:
    high, low = {0: 0.6, 1: 0.8, 2: 0.7}, {0: 0.3, 1: 0.4, 2: 0.5}
    assert claimed(high, low) == {"ours": "holds"}
    assert claimed(low, high) == {"ours": "reversed"}
    assert claimed(high, {0: 0.8, 1: 0.4, 2: 0.7}) == {"ours": "not decided"}
    assert claimed({0: 0.6}, low) == {"ours": "not decided"}, "one pair"
    assert claimed({0: 0.6, 1: 0.7}, low) == {"ours": "not decided"}, "two pairs, equal differences"
    assert claimed(high, low, test_to_train=10) == {"ours": "not decided"}, "a corrected standard error"
    assert claimed(high, {7: 0.1}) == {}
    assert claimed(high, low, of="{}", over=[["scdc"]]) == {"ours": "holds"}
    assert claimed(high, low, at=[[200, 200]]) == {}, "k-means has no number of answers"
    assert claimed(high, low, unit="data") == {"ours": "not decided"}, "one data set"
    with pytest.raises(UserError, match="other"):
        claimed(high, low, of="other")


def test_a_mark_says_whether_ours_is_better_than_seven_tenths() -> None:
    def marks(quantity: str, *ours: float, sd: float | None = None) -> str:
        return "".join(tables.mark(quantity, 0.7, sd, one) for one in ours)

    assert (marks("NMI", 0.6, 0.81, 0.59, sd=0.1), marks("NMI", 0.72)) == ("=↑↓", "↑")
    assert marks("seconds", 0.6, 0.8) == marks("clusters", 1.7, 2) == ""


def test_a_printed_result_is_beaten_reached_missed_or_has_no_data() -> None:
    """The paper prints .7 ± .1."""
    runs = pd.concat([frame({0: 0.9}, model="scdc", protocol="default", answers=200),
                      frame({0: 0.1}, model="scdc", protocol="paper", answers=200)], ignore_index=True)  # fmt: skip
    rows = fill(TABLE, runs)
    best, protocol, ours = tables.scoreboard({"t": rows})
    assert [one["column"] for one in (best, protocol, ours)] == ["best", "protocol", "ours"]
    assert (ours["numbers"], ours["beaten"], ours["reached"]) == (1, {"t": 1}, {})
    assert (best["beaten"], protocol["missed"]) == ({"t": 1}, {"t": 1})
    printed = {"NMI": 0.7, "clusters": 4}
    alone = {**TABLE, "rows": [{"row": "a", "paper": printed}, {"row": "b", "paper": printed, "repeats": "a"}],
             "differences": ()}  # fmt: skip
    (one,) = tables.scoreboard({"t": fill(alone, runs)})
    assert (one["column"], one["no data"]) == ("best", {"t": 1})


def test_a_factor_is_compared_with_that_of_the_paper() -> None:
    table = {
        "key": "t", "metrics": {"seconds": "seconds"},
        "rows": [{"row": name, "where": {"model": name}, "ours": {}, "paper": {"seconds": printed}}
                 for name, printed in (("scdc", 100.0), ("bayes", 10.0))],
    }  # fmt: skip
    claim = {"exhibit": "t", "of": "scdc", "minus": "bayes", "quantities": ["seconds"], "ratio": True}
    for seconds, expected in ((12.0, "holds"), (4.0, "weaker"), (0.5, "reversed")):
        runs = pd.concat([frame({0: seconds}, "seconds", model="scdc"), frame({0: 1.0}, "seconds", model="bayes")])
        (found,) = conclusions({"conclusions": [claim]}, {"t": fill(table, runs.reset_index(drop=True))})
        assert found["cells"]["ours"][0] == expected


def test_what_differs_from_the_papers_settings_is_named_with_both_values() -> None:
    params = {"params.epochs": 40, "params.hidden": "[4, 4]", "params.steps": 12, "params.learning_rate": 3}
    runs = frame({0: 0.5, 1: 0.7}, model="scdc", protocol="default", answers=200, **params)
    first = fill(TABLE, runs)[0]
    ours = first.number("NMI")
    assert deviations(first, ours) == ["n = 2 (paper: 5)", "epochs 40 (paper: 200)"]
    kmeans = fill(TABLE, runs.assign(model="kmeans"))[-1]
    number = kmeans.number("NMI") or kmeans.number("NMI, paired difference")
    assert deviations(kmeans, number) == [], "the paper's settings are those of its own models"


def test_every_table_and_figure_is_on_the_page_and_each_number_links_its_command(
    make: Make, results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "PAPERS", ("scdc",))
    for seed in (0, 1):
        make(f"mnist/{seed}", "mnist", "bayes", "crowd", seed,
             metrics={"test/acc": 0.9 + seed / 10, "seconds/fit": 620.0, "epochs": 40})  # fmt: skip
    failed = make("mnist/2", "mnist", "bayes", "crowd", 2, metrics=None)
    (failed.parent / "jobs.csv").write_text('job,status,error,folder\n2,failed,<b>bold</b> | "more",2\n')
    progress = build(results, tmp_path / "report")
    assert progress.endswith("tables and figures have numbers of our own")
    text = (tmp_path / "report/index.html").read_text()
    anchors, links = (re.findall(rf'<[^>]* {name}([^"]+)"', text) for name in ('id="', 'href="#'))
    assert len(set(anchors)) == len(anchors)
    keys = [f"scdc-{one['key']}" for one in read_papers()["scdc"]["exhibits"]]
    assert [one for one in anchors if one in keys] == keys
    assert set(keys) < set(links) <= set(anchors)
    assert "&lt;b&gt;bold" in text
    assert "<b>bold" not in text
    table = (tmp_path / "report/REPORT.md").read_text().split("### Table 1:")[1].split("### ")[0]
    line = next(one for one in table.splitlines() if one.startswith("| BayesSCDC, with | accuracy"))
    assert "0.842 ± 0.055" in line
    assert "0.950 ± 0.071 (n 2, seeds 0-1)" in line
    assert "seed 2 failed" in line
    assert "recorded, n" in line
    assert "python src/train.py -m data=mnist model=bayes annotations=crowd seed=0-1` at commit c0ffee0000" in table
    assert "| 15.5 " in table, "620 s of 40 epochs"


def test_a_table_has_the_columns_with_runs_and_says_where_data_are_missing(
    results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "PAPERS", ("discriminative_bnp",))
    build(results, tmp_path / "report")
    text = (tmp_path / "report/REPORT.md").read_text()
    head = next(line for line in text.splitlines() if line.startswith("| row"))
    assert "the paper's model alone" not in head
    of_nus = next(line for line in text.splitlines() if line.startswith("| NUS-WIDE animals, DPM | NMI"))
    assert "0.191 ± 0.006 | no data" in of_nus


def test_a_run_with_simulated_answers_in_place_of_a_crowds_says_so(make: Make, results: Path) -> None:
    make("mnist/0", "mnist", "bayes", "crowd", metrics={"test/acc": 0.9}, answers={"simulated": True, "num_pairs": 9})
    rows = fill(exhibit("table-1"), read_runs(results, Path("/nowhere")))
    ours = row(rows, "bayes_crowd").number("accuracy")
    assert "answers.simulated True (paper: False)" in deviations(row(rows, "bayes_crowd"), ours)
