"""The page: what is there, what is missing and why, in both forms; the papers' folders, each table and figure once."""

import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from semicrowd.report.build import _runs, build, find_papers, progress
from semicrowd.report.collect import Collected, Run

from .conftest import collected, finished, kmeans_on_face, on_face

NAME = "mnist_bayes_crowd"
ROW = "BayesSCDC, with; protocol semicrowd |"
REAL = {"simulated": False, "num_pairs": 57330, "num_annotators": 48}
SIMULATED = {"simulated": True, "num_pairs": 57330, "num_annotators": 48, "kind": "tasks", "because": "no network"}


def real(*seeds: int) -> list[Run]:
    return [finished(NAME, seed, REAL) for seed in seeds]


def stopped(seed: int, status: str, message: str) -> Run:
    return Run(seed, f"results/{NAME}/seed-{seed}", status, message)


def of(*runs: Run) -> Collected:
    return collected(**{NAME: list(runs)})


def row(text: str, *words: str) -> str:
    """The one line of the Markdown table that has all words."""
    lines = [line for line in text.splitlines() if line.startswith("|") and all(word in line for word in words)]
    assert len(lines) == 1, lines
    return lines[0]


def test_paper_and_ours_stand_side_by_side(tmp_path: Path) -> None:
    build(of(*real(0, 1)), tmp_path)
    text = (tmp_path / "REPORT.md").read_text()
    cells = [cell.strip() for cell in row(text, ROW, "accuracy").strip("|").split("|")]
    assert cells[2:7] == ["0.842 ± 0.055", "0.930 ± 0.000", "2", "0-1", "+0.088"]
    assert "× 0.95" in row(text, ROW, "seconds an epoch")  # 620 s / 40 epochs against 16.4 s
    assert "make record EXPERIMENT=mnist_whole_scdc_none" in row(text, "| SCDC, without; protocol paper |", "0.659")
    assert "epochs: 40 (paper: 200)" in text
    assert "simulated answers" not in text.split("## Runs")[0].lower()


@pytest.mark.parametrize(
    ("runs", "expected"),
    [
        ([finished(NAME, 0, SIMULATED)], ["| 1 | 0 |", "simulated answers |"]),
        ([stopped(0, "unavailable", "put the files | into data/mnist")],
         ["0.842 ± 0.055 | – |", r"put the files \| into data/mnist"]),
        ([*real(0), stopped(1, "failed", "boom")], ["| 1 | 0 |", "seed 1 failed"]),
        ([stopped(0, "failed", "ValueError: no")], ["| – | – |", "seed 0 failed: ValueError: no"]),
        ([stopped(0, "interrupted", "")], ["| – | – |", "seed 0 interrupted"]),
    ],
)  # fmt: skip
def test_a_row_names_simulated_answers_missing_data_and_failed_runs(
    runs: list[Run], expected: list[str], tmp_path: Path
) -> None:
    build(of(*runs), tmp_path)
    line = row((tmp_path / "REPORT.md").read_text(), ROW, "accuracy")
    assert [one for one in expected if one not in line] == [], line


def test_every_table_and_figure_is_on_the_page_and_texts_are_escaped(tmp_path: Path) -> None:
    build(of(stopped(0, "failed", "<b>bold</b> & more")), tmp_path)
    page = (tmp_path / "index.html").read_text()
    anchors: list[str] = []

    class Sections(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            if tag == "section":
                anchors.extend(value or "" for key, value in attrs if key == "id")

    Sections().feed(page)
    of_papers = [f"{paper.key}-{exhibit.key}" for paper in find_papers() for exhibit in paper.exhibits]
    assert anchors == of_papers
    assert "&lt;b&gt;bold&lt;/b&gt; &amp; more" in page
    assert "<b>bold" not in page


def test_runs_of_a_sweep_share_a_row_unless_they_ended_differently() -> None:
    runs = on_face("mcvc", "face_all", {200: [0.6, 0.7, 0.8], 400: [0.9]})
    runs[1] = replace(runs[1], status="failed", message="no memory")
    rows = _runs(collected(face_all_mcvc=runs, face_kmeans=kmeans_on_face([0.1, 0.11])))
    assert [(row["experiment"], row["seed"], row["status"]) for row in rows] == [
        ("face_all_mcvc pairs_per_annotator=200", "0,2", "finished"),
        ("face_all_mcvc pairs_per_annotator=200", "1", "failed"),
        ("face_all_mcvc pairs_per_annotator=400", "0", "finished"),
        ("face_kmeans", "0", "finished"),
        ("face_kmeans", "1", "finished"),
    ]
    assert rows[0]["directory"] == "results/face_all_mcvc/…"
    assert rows[1]["directory"] == "results/face_all_mcvc/pairs_per_annotator-200_seed-1"


#: Counted in the papers: tables, and figures with separately captioned panels as the catalogue has them; and ours.
COUNTS = {"scdc": 9, "deep-dpm": 8, "discriminative-bnp": 6, "slpd": 6}


def test_every_table_and_figure_is_listed_once_the_longest_paper_first() -> None:
    found = find_papers()
    assert {paper.key: len(paper.exhibits) for paper in found} == COUNTS
    assert [paper.key for paper in found] == list(COUNTS)
    for paper in found:
        keys = [one.key for one in paper.exhibits]
        assert len(set(keys)) == len(keys)


def test_the_report_claims_what_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # some tables are read from results/, where there may be some
    before = progress(build(collected(), tmp_path))
    assert re.findall(r"\d+", before) == ["0", "24", "0", "4"]
    after = progress(build(collected(mnist_scdc_crowd=[finished("mnist_scdc_crowd")]), tmp_path))
    assert re.findall(r"\d+", after) == ["1", "24", "1", "4"]
    assert after in (tmp_path / "index.html").read_text()


def test_values_are_fractions_counts_and_seconds() -> None:
    for one in (one for paper in find_papers() for one in paper.exhibits):
        for value in one.values:
            if value.quantity in ("accuracy", "nmi"):
                assert 0 < value.value < 1
                assert value.sd is None or 0 < value.sd < 0.1
        addresses = [(value.cell, value.quantity) for value in one.values]
        assert len(set(addresses)) == len(addresses)
