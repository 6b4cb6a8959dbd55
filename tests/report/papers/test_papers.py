"""The papers' folders: each table and figure is listed once, and the engine names none of them."""

from pathlib import Path

import pytest

from semicrowd import report
from semicrowd.errors import UserError
from semicrowd.report import papers
from semicrowd.report.build import build, find_papers, progress
from semicrowd.report.cells import PaperValue
from semicrowd.report.exhibits import Exhibit, Result

from ..conftest import collected, exhibit, finished

#: Counted in the papers: tables, and figures with separately captioned panels as the catalogue has them; and ours.
COUNTS = {"scdc": 9, "deep-dpm": 8, "discriminative-bnp": 6, "slpd": 6}
PAPER = """
from semicrowd.report.cells import PaperValue
from semicrowd.report.exhibits import Exhibit, Result

TITLE = "A new paper"
VERIFIED = "pinwheel_two_coin"
EXHIBITS = (
    Exhibit("table-1", "Table 1", "what it shows", fill=lambda exhibit, collected, folder: Result(text="it is there")),
    Exhibit("table-2", "Table 2", "what nobody has done", values=(PaperValue("row", "nmi", 0.25),)),
)
"""


def test_every_table_and_figure_is_listed_once_the_longest_paper_first() -> None:
    found = find_papers()
    assert {paper.key: len(paper.exhibits) for paper in found} == COUNTS
    assert [paper.key for paper in found] == list(COUNTS)
    for paper in found:
        keys = [one.key for one in paper.exhibits]
        assert len(set(keys)) == len(keys)


@pytest.mark.usefixtures("none_recorded")
def test_a_further_paper_is_one_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a_new_one").mkdir()
    (tmp_path / "a_new_one" / "__init__.py").write_text(PAPER)
    monkeypatch.setattr(papers, "__path__", [*papers.__path__, str(tmp_path)])
    build(collected(), tmp_path)
    text = (tmp_path / "REPORT.md").read_text()
    assert "## A new paper" in text
    assert "it is there" in text
    assert "| row | NMI | 0.250 | – | – | – | – | – | not yet done |" in text


def test_a_figure_whose_data_cannot_be_had_says_so_and_stops_no_other(tmp_path: Path) -> None:
    def fill(*_: object) -> Result:
        raise UserError("wifi: cannot be fetched")

    one = Exhibit("figure-9", "Fig. 9", "some", values=(PaperValue("row", "NMI", 0.25),), fill=fill)
    result = one.build(collected(), tmp_path)
    assert (result.status, result.text) == ("not yet done", "Not made here: wifi: cannot be fetched")
    assert [(cell.paper, cell.ours, cell.remark) for cell in result.cells] == [(one.values[0], None, "data missing")]


def test_the_engine_names_no_paper() -> None:
    for path in Path(report.__file__).parent.glob("*.py"):
        text = path.read_text()
        assert not [key for key in COUNTS if key in text.replace("-", "_") or key in text], path


def test_the_report_claims_what_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # some tables are read from results/, where there may be some
    before = progress(build(collected(), tmp_path))
    assert before == "0 of 24 tables and figures, of 0 of 4 papers, have numbers of our own"
    after = progress(build(collected(mnist_scdc_crowd=[finished("mnist_scdc_crowd")]), tmp_path))
    assert after == "1 of 24 tables and figures, of 1 of 4 papers, have numbers of our own"
    assert after in (tmp_path / "index.html").read_text()
    # What chose the settings is said where the numbers stand.
    text = (tmp_path / "REPORT.md").read_text()
    assert "settings of protocol semicrowd were found by looking at the test accuracy of seed 0" in text
    assert "on which the rule of protocol semicrowd was made, while looking at their labels" in text


def test_every_result_says_why_ours_differ() -> None:
    for one in (one for paper in find_papers() for one in paper.exhibits):
        beside_a_paper = one.computed and one.label != "Beyond the paper"
        assert one.gap.endswith(".") == beside_a_paper, one.key
        assert one.gap.replace("Fig. ", "").count(". ") == 0, "one sentence"


def test_values_are_fractions_counts_and_seconds() -> None:
    for one in (one for paper in find_papers() for one in paper.exhibits):
        for value in one.values:
            if value.quantity in ("accuracy", "nmi"):
                assert 0 < value.value < 1
                assert value.sd is None or 0 < value.sd < 0.1
        addresses = [(value.cell, value.quantity) for value in one.values]
        assert len(set(addresses)) == len(addresses)


def test_table_1_has_its_four_rows() -> None:
    rows = [value.value for value in exhibit("table-1").values if value.quantity == "accuracy"]
    assert [round(100 * row, 2) for row in rows] == [65.92, 81.87, 77.64, 84.24]
    assert exhibit("table-1").value("BayesSCDC, with", "nmi").sd == 0.021
    with pytest.raises(KeyError, match="seconds"):
        exhibit("figure-2").value("d: with answers", "seconds")
