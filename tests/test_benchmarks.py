"""The benchmarks run; what they measure is for ``make bench`` to say."""

import contextlib
import hashlib
import importlib
import io
import re
import sys
import warnings
from pathlib import Path
from unittest.mock import patch as mock

import numpy as np
import pandas as pd
import pytest
from jaxtyping import config
from sklearn.datasets import load_iris
from sklearn.metrics import normalized_mutual_info_score
from sklearn.preprocessing import StandardScaler

from semicrowd.methods.unsupervised import KMeansOnly

ROOT = Path(__file__).parents[1]


def tables(*arguments: str) -> list[list[list[str]]]:
    """Cells of the rows, header first, of every table that ``benchmarks/run.py --quick`` prints."""
    out = io.StringIO()
    with (
        pytest.MonkeyPatch.context() as patch,
        contextlib.redirect_stdout(out),
        warnings.catch_warnings(action="ignore", category=FutureWarning),  # of Lightning against this torch
        mock.object(config, "jaxtyping_disable", True),  # what is measured has nothing to be checked
    ):
        patch.syspath_prepend(ROOT / "benchmarks")
        patch.setattr(sys, "argv", ["run.py", "--quick", *arguments])
        patch.chdir(ROOT)
        importlib.import_module("run").main()
    text = out.getvalue()
    blocks = re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE)
    cells = [[[cell.strip() for cell in line.strip("| ").split(" | ")] for line in b.splitlines()] for b in blocks]
    return [[header, *rows] for header, _, *rows in cells]


@pytest.mark.slow
@pytest.mark.parametrize("name", [
    "steps", "predict", "questions", "pairs", "tables", "growth", "sizes", "full_size", "curves", "time_to",
    "restarts", "large", "scaling",
])  # fmt: skip
def test_every_slow_benchmark_has_rows(name: str) -> None:
    found = tables(name)
    assert found
    assert all(len(rows) > 1 for rows in found)


def test_the_subjects_that_pages_name_exist(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    pages = "".join((ROOT / "docs" / page).read_text(encoding="utf-8") for page in ("results.md", "SCALING.md"))
    named = {name for one in re.findall(r"`(?:…|python benchmarks/run\.py) ([a-z_ ]+)`", pages) for name in one.split()}
    assert named == {*importlib.import_module("run").subjects(True)}


def test_the_suite_continues_and_is_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    suite, out = importlib.import_module("suite"), tmp_path / "new.csv"
    fits = ["--data", "iris", "--regimes", "none", "pairs90", "--methods", "kmeans", "crowd_logistic", "--jobs", "1"]
    assert suite.main([*fits, "--seeds", "0", "--out", str(out)]) == 0
    first = pd.read_csv(out)
    assert first.columns.tolist() == suite.COLUMNS
    # Without answers only k-means runs, on standardised columns.
    assert sorted(first["method"]) == ["crowd_logistic", "kmeans", "kmeans"]
    features, labels = load_iris(return_X_y=True)
    found = KMeansOnly(3, random_state=0).fit(StandardScaler().fit_transform(features.astype(np.float32))).labels_
    row = first[(first["method"] == "kmeans") & (first["regime"] == "none")].iloc[0]
    assert row["sha256"] == hashlib.sha256(found.astype("<i8").tobytes()).hexdigest()
    assert row["nmi"] == pytest.approx(normalized_mutual_info_score(labels, found), abs=1e-5)
    assert suite.main([*fits, "--seeds", "0-1", "--out", str(out)]) == 0
    assert pd.read_csv(out)[:3].equals(first)
    assert len(pd.read_csv(out)) == 6
    old = tmp_path / "old.csv"
    first.assign(nmi=first["nmi"] - [0.1, 0.2, 0.3], sha256="other").to_csv(old, index=False)
    capsys.readouterr()
    assert suite.main(["--out", str(out), "--compare", str(old)]) == 0
    assert "all: nmi +0.2000 ± 0.0577, acc +0.0000 ± 0.0000, 0 of 3 identical" in capsys.readouterr().out


def test_the_recorded_baseline_is_of_cells_of_the_suite(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    suite, rows = importlib.import_module("suite"), pd.read_csv(ROOT / "recorded" / "development_baseline.csv")
    assert set(rows.columns) <= {*suite.COLUMNS, "commit"}
    plan = suite.plan([*suite.TABLES, *suite.CROWDS], suite.REGIMES, ["cotrain"], range(3))
    assert set(rows[suite.KEY].itertuples(index=False, name=None)) <= set(plan)
