"""The generality suite on the report's page: what is measured, what is not, and the bars."""

from pathlib import Path

import pandas as pd
import pytest

from semicrowd.pipeline.generality.plan import OURS, cells
from semicrowd.pipeline.generality.record import FOLDER
from semicrowd.pipeline.generality.tables import DEVELOPMENT, REGIMES, TABLES
from semicrowd.report import studies
from semicrowd.report.build import build
from semicrowd.report.studies import NOT_MEASURED, generality

from .conftest import collected

pytestmark = pytest.mark.usefixtures("none_recorded")

ROOT = Path(__file__).parents[2]
MADE = {"commit": "0123456789abcdef", "dirty": False, "date": "2026-11-22T00:00:00+00:00"}


def write(folder: Path, name: str, scores: dict[tuple[str, str, str], list[float | None]]) -> None:
    rows = [
        {"data": data, "regime": regime, "method": method, "seed": seed, "nmi": nmi, "clusters": 4, "classes": 3,
         "status": "done" if nmi is not None else "ValueError: a | b", "seconds": 1.0, **MADE}
        for (data, regime, method), fits in scores.items() for seed, nmi in enumerate(fits)
    ]  # fmt: skip
    (folder / "generality").mkdir(exist_ok=True)
    pd.DataFrame(rows).to_csv(folder / "generality" / name, index=False)


def test_without_results_the_page_says_what_to_do(tmp_path: Path) -> None:
    found = generality(tmp_path)
    for study in found:
        assert study.status == "not measured yet"
        assert study.findings == (NOT_MEASURED,)
        assert study.rows == ()
    build(collected(), tmp_path)
    for name in ("index.html", "REPORT.md"):
        assert (tmp_path / name).read_text().count("not measured yet: make generality") == len(found)


def test_recorded_fits_are_shown_where_the_suite_has_not_been_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(studies, "RECORDED", ROOT / FOLDER)
    developed, _, locked, embedded = generality(tmp_path)
    for study, file, of in (
        (developed, "development.csv", False), (locked, "locked.csv", False), (embedded, "locked.csv", True)
    ):  # fmt: skip
        rows = pd.read_csv(ROOT / FOLDER / file, dtype={"settings": str}, keep_default_na=False)
        ours = rows[rows["method"].isin(OURS) & (rows["settings"] == "") & rows["data"].isin(TABLES)]
        ours = ours[[TABLES[name].embedded == of for name in ours["data"]]]
        expected = set(zip(ours["data"], ours["regime"], ours["method"], strict=True))
        assert {row[:3] for row in study.rows} <= expected
        assert study.rows
        first = study.rows[0]
        values = pd.to_numeric(ours[(ours[["data", "regime", "method"]] == list(first[:3])).all(axis=1)]["nmi"])
        assert first[3].startswith(f"{values.mean():.3f}")
        assert "cells are measured, and recorded; the others: make generality" in study.findings[-1]


def test_numbers_stand_beside_the_best_baseline_and_missing_cells_are_counted(tmp_path: Path) -> None:
    write(tmp_path, "results.csv", {
        ("iris", "pairs90", "bayes"): [0.9, 0.8], ("iris", "pairs90", "scdc"): [0.7, None],
        ("iris", "pairs90", "kmeans"): [0.7, 0.7], ("iris", "pairs90", "crowd_logistic"): [0.9, 0.83],
        ("iris", "none", "scdc"): [0.66], ("iris", "none", "kmeans"): [0.7], ("iris", "none", "gmm"): [0.5],
    })  # fmt: skip
    (tmp_path / "generality" / "difference.png").write_bytes(b"")
    study, embedded = generality(tmp_path)
    assert (study.status, embedded.status) == ("partly done", "not measured yet")
    assert embedded.images == ()
    rows = {row[:3]: row[3:] for row in study.rows}
    assert rows["iris", "pairs90", "bayes"] == (
        "0.850 ± 0.071", "2", "0 1", "4 4", "3", "crowd_logistic", "0.865 ± 0.049", "−0.015 ± 0.015", "yes", "",
    )  # fmt: skip
    failed = rows["iris", "pairs90", "scdc"]
    assert (failed[0], failed[-2:]) == ("–", ("no", "ValueError: a | b"))
    # Without answers .05 below the better of k-means and GMM is near enough.
    assert rows["iris", "none", "scdc"][-3:] == ("−0.040", "yes", "")
    assert ("wine", "pairs90", "bayes") not in rows
    plan = [cell for cell in cells(list(DEVELOPMENT), list(REGIMES), OURS, [0], locked=False)
            if not DEVELOPMENT[cell.data].embedded]  # fmt: skip
    assert study.findings[-1] == f"3 of {len(plan)} cells are measured; the others: make generality"
    assert any(line.startswith("bayes: within 0.02") and "in 1 of 1" in line for line in study.findings)
    build(collected(), tmp_path)
    text = (tmp_path / "REPORT.md").read_text()
    assert r"ValueError: a \| b |" in text
    assert "(generality/difference.png)" in text
    assert "told the true number K" in text


def test_locked_sets_have_a_section_once_they_have_been_looked_at(tmp_path: Path) -> None:
    write(tmp_path, "locked_results.csv", {("crabs", "none", "bayes"): [0.5], ("crabs", "none", "kmeans"): [0.4]})
    developed, _, locked, embedded = generality(tmp_path)
    assert developed.status == "not measured yet"
    assert (locked.key, locked.status) == ("generality-locked", "partly done")
    assert {row[0] for row in locked.rows} == {"crabs"}
    assert embedded.rows == ()


@pytest.mark.parametrize("name", ["index.html", "REPORT.md"])
def test_the_contents_name_it(name: str, tmp_path: Path) -> None:
    build(collected(), tmp_path)
    assert "beside the papers" in (tmp_path / name).read_text()
