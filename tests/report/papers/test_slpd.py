"""Tables and Fig. 2 of the SLPD paper from made rows, and the corrected resampled t test."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from semicrowd.files import write_json
from semicrowd.pipeline.slpd import curve
from semicrowd.pipeline.slpd import tables as stage
from semicrowd.pipeline.slpd.plan import size_of
from semicrowd.report.papers.slpd import figure2, tables
from semicrowd.report.papers.slpd.tables import corrected_p

from ..conftest import collected, exhibit, summary_of

TABLE_1, TABLE_2, TABLE_3, FIGURE_2 = (exhibit(key, "slpd") for key in ("table-1", "table-2", "table-3", "figure-2"))


def made_rows() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    rows = [
        (method, share, trial, fold, 0.8 + 0.1 * (method == "slpd") + 0.02 * rng.normal(), 3 + (fold == 2))
        for method in ("ckm", "slpd", "ckm, range", stage.CHOSEN) for share in (0.0, 0.25, 0.5)
        for trial in range(4) for fold in range(3)
    ]  # fmt: skip
    return pd.DataFrame(rows, columns=list(stage.COLUMNS))


@pytest.fixture(autouse=True)
def nothing_there(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """As in a project without recorded/slpd and results/slpd."""
    for name in ("read_trials", "read_rows"):
        monkeypatch.setattr(tables, name, lambda _: made_rows().iloc[:0])
    monkeypatch.setattr(tables, "FOLDER", tmp_path)


def test_cells_have_mean_and_spread_of_folds_and_the_paired_difference(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    rows = made_rows()
    monkeypatch.setattr(tables, "read_rows", lambda name: rows if name == "wine" else rows.iloc[:0])
    result = TABLE_2.build(collected(), tmp_path)
    cells = {cell.cell: cell for cell in result.cells}
    one = cells["wine, SLPD, 25% of the labels"]
    values = rows[(rows["method"] == "slpd") & (rows["share"] == 0.25)]["bri"]
    assert one.paper is not None
    assert (one.paper.value, one.paper.sd) == (0.926, 0.032)
    assert (summary_of(one).mean, summary_of(one).sd) == pytest.approx((values.mean(), values.std()))
    assert summary_of(one).num_runs == 4
    assert one.deviations == ("4 trials (paper: 100)",)
    paired = cells["wine, SLPD minus CKM, 50% of the labels"]
    half = rows[rows["share"] == 0.5].pivot(index=["trial", "fold"], columns="method", values="bri")
    difference = half["slpd"] - half["ckm"]
    t = difference.mean() / ((1 / 12 + 1 / 2) * difference.var()) ** 0.5  # a third is tested, two are trained on
    assert summary_of(paired).mean == pytest.approx(difference.mean())
    assert summary_of(paired).num_runs == 4
    assert summary_of(paired).sd == pytest.approx(difference.groupby("trial").mean().std())
    assert paired.remark == f"corrected p = {2 * stats.t(df=11).sf(t):.2g}"
    chosen = cells[f"wine, {stage.CHOSEN}, 25% of the labels"]
    assert (chosen.remark, chosen.paper) == ("K = 3: 8, K = 4: 4", None)
    assert cells["wine, ckm, range, 25% of the labels"].remark == ""
    assert cells["wine, ckm, range, 0% of the labels"].paper is None
    assert cells["iris, UKM"].remark == "not run in this profile"
    assert cells["iris, UKM"].ours is None
    assert len([value for value in TABLE_2.values if cells[value.cell].paper == value]) == 24
    assert any("model=slpd" in command and "seed=0-3" in command for command in result.commands)


def test_recorded_trials_have_rows_of_their_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    rows = made_rows()
    more = pd.concat([rows, rows.assign(trial=rows["trial"] + 4, bri=rows["bri"] / 2)])
    monkeypatch.setattr(tables, "read_rows", lambda name: rows if name == "iris" else rows.iloc[:0])
    monkeypatch.setattr(tables, "read_trials", lambda name: more if name == "iris" else rows.iloc[:0])
    cells = {cell.cell: cell for cell in TABLE_2.build(collected(), tmp_path).cells}
    own, recorded = (cells[f"iris, SLPD, 50% of the labels{end}"] for end in ("", " (recorded)"))
    assert (summary_of(own).num_runs, summary_of(recorded).num_runs) == (4, 8)
    assert summary_of(recorded).mean == pytest.approx(0.75 * summary_of(own).mean)
    assert recorded.paper == own.paper
    assert recorded.remark == "recorded: make record EXPERIMENT=slpd.iris"
    paired = cells["iris, SLPD minus CKM, 0% of the labels (recorded)"]
    assert paired.remark.startswith("recorded: make record EXPERIMENT=slpd.iris; corrected p = ")
    assert not any("wine" in name and "recorded" in name for name in cells)


def test_leukaemia_has_the_other_reading_beside_it_and_its_own_ratio(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    rows = made_rows()
    rows = rows[rows["fold"] < 2]
    alone = rows[(rows["method"] == "ckm") & (rows["share"] == 0)].assign(method=f"ckm, {stage.ALONE}")
    monkeypatch.setattr(tables, "read_rows", lambda name: pd.concat([rows, alone]) if name == "leukaemia" else rows[:0])
    result = TABLE_3.build(collected(), tmp_path)
    cells = {cell.cell: cell for cell in result.cells}
    one = cells[f"leukaemia, ckm, {stage.ALONE}, 0% of the labels"]
    assert summary_of(one).mean == pytest.approx(alone["bri"].mean())
    without = rows[rows["share"] == 0].pivot(index=["trial", "fold"], columns="method", values="bri")
    difference = (without["slpd"] - without["ckm"]).to_numpy()
    remark = f"corrected p = {corrected_p(difference, 1.0):.2g}"  # two parts: as many tested as not
    assert cells["leukaemia, SLPD minus CKM, 0% of the labels"].remark == remark


def test_of_a_stage_that_was_stopped_what_is_there(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    rows = made_rows()
    monkeypatch.setattr(tables, "read_rows", lambda _: rows[rows["share"] == 0])
    cells = {cell.cell: cell for cell in TABLE_2.build(collected(), tmp_path).cells}
    assert cells["wine, SLPD, 25% of the labels"].ours is None
    assert "wine, SLPD minus CKM, 0% of the labels" in cells
    assert "wine, SLPD minus CKM, 25% of the labels" not in cells


def test_sizes_are_those_of_the_loaded_data(tmp_path: Path) -> None:
    place = tmp_path / "tables" / "wine"
    place.mkdir(parents=True)
    write_json(place / "size.json", size_of("wine", Path("unused")))
    cells = {cell.cell: cell for cell in TABLE_1.build(collected(), tmp_path).cells}
    assert [cells[f"wine, {of}"].difference for of in ("samples", "features", "classes")] == [0, 0, 0]
    assert cells["lung, samples"].remark == "not run in this profile"
    assert (len(cells), TABLE_1.computed) == (18, False)


def test_data_that_cannot_be_had_say_how_to_get_them(tmp_path: Path) -> None:
    (tmp_path / "tables" / "letter").mkdir(parents=True)
    (tmp_path / "tables" / "letter" / "unavailable.json").write_text('{"message": "put it there"}')
    cells = TABLE_2.build(collected(), tmp_path).cells
    assert {cell.remark for cell in cells if cell.cell.startswith("letter")} == {
        "data not available here: put it there"
    }


def test_peaks_of_the_curves(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = tmp_path / "wine.csv"
    rows = [
        (labelled, k, run, -abs(k - peak) + 0.1 * run, 0.01)
        for labelled, peak in (("none", 5), ("one class", 3), ("all", 2)) for k in (2, 3, 4, 5) for run in range(3)
    ]  # fmt: skip
    pd.DataFrame(rows, columns=list(curve.COLUMNS)).to_csv(path, index=False)
    monkeypatch.setattr(figure2, "PATH", path)
    result = FIGURE_2.build(collected(), tmp_path)
    peaks = {cell.cell: cell for cell in result.cells if cell.paper is not None}
    found = [(cell.paper.value, cell.ours.mean) for cell in peaks.values() if cell.paper and cell.ours]
    assert found == [(4, 5), (3, 3), (3, 2)]
    assert [c.remark for c in result.cells if c.quantity == "runs"] == ["K = 5: 3", "K = 3: 3", "K = 2: 3"]
    assert (tmp_path / result.images[0].path).stat().st_size > 10_000


def test_by_hand() -> None:
    """Mean .02, variance .0001, n = 5: t = .02 / √((1/5 + 1/2) · .0001) = 2.39046, four degrees of freedom."""
    differences = np.array([0.01, 0.01, 0.02, 0.03, 0.03])
    assert corrected_p(differences, 0.5) == pytest.approx(2 * (1 - stats.t(df=4).cdf(2.39045722)), rel=1e-6)
    assert corrected_p(-differences, 0.5) == pytest.approx(corrected_p(differences, 0.5))


def test_without_shared_items_it_is_the_usual_test() -> None:
    rng = np.random.default_rng(0)
    slpd, ckm = rng.normal(0.1, 1, 9), rng.normal(0, 1, 9)
    assert corrected_p(slpd - ckm, 0.0) == pytest.approx(stats.ttest_rel(slpd, ckm).pvalue)
    assert corrected_p(slpd - ckm, 0.0) == pytest.approx(stats.ttest_1samp(slpd - ckm, 0).pvalue)


@pytest.mark.parametrize("values", [[], [0.1], [0.1, 0.1]])
def test_nothing_varies(values: list[float]) -> None:
    assert np.isnan(corrected_p(np.array(values), 0.5))


def test_it_is_as_often_wrong_as_it_says_where_methods_do_not_differ() -> None:
    """Items whose differences are mere noise, split in three ten times: p < .05 in one data set of twenty.

    The usual test finds something in every second one.
    """
    rng = np.random.default_rng(1)
    found = []
    for _ in range(300):
        item = rng.normal(size=150)
        folds = np.concatenate([rng.permutation(item).reshape(3, 50).mean(1) for _ in range(10)])
        found.append([corrected_p(folds, ratio) < 0.05 for ratio in (0.5, 0.0)])
    corrected, usual = np.mean(found, axis=0)
    assert 0.02 < corrected < 0.09
    assert usual > 0.4
