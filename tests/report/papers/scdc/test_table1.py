"""Table 1: both protocols beside the paper, rows of our own, numbers that are not there."""

from pathlib import Path

import pytest

from semicrowd.report.cells import Cell
from semicrowd.report.collect import Run
from semicrowd.report.exhibits import Result
from semicrowd.report.experiments import Row, not_in_profile
from semicrowd.report.papers.scdc import mnist

from ...conftest import build as build_exhibit
from ...conftest import collected, exhibit, finished


def build(folder: Path, *runs: Run) -> Result:
    by_name: dict[str, list[Run]] = {}
    for run in runs:
        by_name.setdefault(Path(run.directory).parent.name, []).append(run)
    return build_exhibit("table-1", collected(**by_name), folder)


def cells(result: Result) -> dict[tuple[str, str], Cell]:
    found = {(cell.cell, cell.quantity): cell for cell in result.cells}
    assert len(found) == len(result.cells)  # no row is there twice
    return found


def test_each_cell_of_the_paper_stands_beside_a_run_of_either_protocol(tmp_path: Path) -> None:
    accuracy = {row.experiment: 0.5 + 0.01 * number for number, row in enumerate(mnist.PAPER_ROWS)}
    result = build(tmp_path, *(finished(name, test__acc=value) for name, value in accuracy.items()))
    found = cells(result)
    for model, label in (("scdc", "SCDC"), ("bayes", "BayesSCDC")):
        for answers, name in (("none", "without"), ("crowd", "with")):
            for protocol, prefix in (("paper", "whole_"), ("semicrowd", "")):
                row = f"{label}, {name}; protocol {protocol}"
                ours = found[row, "accuracy"].ours
                assert ours is not None
                assert ours.mean == accuracy[f"mnist_{prefix}{model}_{answers}"]
                paper = {v.quantity: v for v in exhibit("table-1").values if v.cell == f"{label}, {name}"}
                assert {q: found[row, q].paper for q in ("accuracy", "nmi", "seconds_per_epoch")} == paper
    assert result.status == "done"
    assert len(accuracy) == 8


def test_a_protocol_that_has_not_run_leaves_the_table_partly_done(tmp_path: Path) -> None:
    result = build(tmp_path, finished("mnist_bayes_crowd"))
    assert result.status == "partly done"
    missing = cells(result)["BayesSCDC, with; protocol paper", "accuracy"]
    assert (missing.ours, missing.remark) == (None, not_in_profile("mnist_whole_bayes_crowd"))


def test_rows_without_a_number_of_the_paper_are_there_before_they_have_run(tmp_path: Path) -> None:
    before = cells(build(tmp_path))
    for row in mnist.OTHER_ROWS:
        cell = before[row.label, "accuracy"]
        assert (cell.ours, cell.paper, cell.remark) == (None, None, not_in_profile(row.experiment))
        after = cells(build(tmp_path, finished(row.experiment, test__nmi=0.7)))[row.label, "nmi, arithmetic"]
        assert after.ours is not None
        assert (after.ours.mean, after.paper) == (0.7, None)


def test_data_that_cannot_be_had_are_named_in_rows_of_our_own_too(tmp_path: Path) -> None:
    runs = [Run(0, f"results/{row.experiment}/seed-0", "unavailable", "get it") for row in mnist.OTHER_ROWS]
    found = cells(build(tmp_path, *runs))
    assert {found[row.label, "accuracy"].remark for row in mnist.OTHER_ROWS} == {"data not available here: get it"}


def test_ranks_are_averaged_over_the_runs_that_have_one_and_the_others_are_named(tmp_path: Path) -> None:
    one, other = finished("mnist_flipped", 0, workers__sensitivity_rank=0.4), finished("mnist_flipped", 3)
    del other.metrics["workers/sensitivity_rank"]
    found = cells(build(tmp_path, one, other))
    label = "BayesSCDC, with, answers of half of the annotators inverted"
    rank = found[label, "sensitivity rank"]
    assert rank.ours is not None
    assert (rank.ours.mean, rank.ours.seeds, rank.remark) == (0.4, (0,), "seed 3: not defined")
    nowhere = found[label, "specificity rank"]
    assert (nowhere.ours, nowhere.remark) == (None, "seed 0: not defined; seed 3: not defined")


@pytest.mark.parametrize("row", mnist.PAPER_ROWS + mnist.OTHER_ROWS, ids=lambda row: row.experiment)
def test_annotators_have_errors_where_there_are_answers(row: Row, tmp_path: Path) -> None:
    found = cells(build(tmp_path, finished(row.experiment)))
    quantities = {quantity for label, quantity in found if label == row.label}
    assert ("sensitivity error" in quantities) == ("none" not in row.experiment)
    assert {"accuracy", "nmi", "clusters"} <= quantities
