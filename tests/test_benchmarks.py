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

from semicrowd.methods import METHODS, method
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


#: Of 784-500-500-(8, 8) and 8-500-500-784 with their skips.
_OF_PIXELS = 784 * (500 + 8)
_WEIGHTS = _OF_PIXELS + 500 * 500 + 2 * 500 * 8 + 8 * 500 + 500 * 500 + 500 * 784 + 8 * 784
#: Operations for an image: three products a layer, none for the pixels' gradient.
_PRODUCTS = 6 * _WEIGHTS - 2 * _OF_PIXELS


@pytest.mark.slow
def test_a_step_takes_longer_than_its_products_alone() -> None:
    steps, (_, alone) = tables("steps")
    assert [row[:2] for row in steps[1:]] == [["bayes", "50"], ["scdc", "50"], ["scdc", "10"], ["scdc", "100"]]
    assert float(alone[1]) == pytest.approx(float(steps[1][2]) * _PRODUCTS / 1e9, abs=0.01)
    assert 0 < float(alone[3]) < float(steps[1][3])


@pytest.mark.slow
def test_every_method_that_takes_new_items_assigns_some_in_a_second() -> None:
    (rows,) = tables("predict")
    assert [row[0] for row in rows[1:]] == [name for name in METHODS if hasattr(method(name), "predict")]
    speeds = [float(row[1].replace(",", "")) for row in rows[1:]]
    assert [row[2].endswith("met") for row in rows[1:]] == [speed >= 50_000 for speed in speeds]


def test_a_step_is_counted() -> None:
    (counts,) = tables("scaling")
    (row,) = (row for row in counts if row[0] == "MNIST, BayesSCDC, mlp")
    images, gflop, gigabytes, _, networks, natural = map(float, row[1:])
    # Message passing and clusters add little.
    assert images * _PRODUCTS / 1e9 <= gflop <= 1.1 * images * _PRODUCTS / 1e9
    biases = 500 + 500 + 2 * 8 + 8 + 500 + 500 + 784 + 784
    assert networks == pytest.approx(4 * (_WEIGHTS + biases) / 1e6, rel=0.01)
    # π of 50, Normal-inverse-Wisharts of 8 + 64 + 2 numbers, two Betas of each of 48 people, in float64.
    assert natural == pytest.approx(8 * (50 + 50 * (8 + 64 + 2) + 48 * 4) / 1e6, rel=0.01)
    # Adam alone reads parameter, gradient and both moments, and writes three of them.
    assert gigabytes > 7 * networks / 1e3


@pytest.mark.slow
@pytest.mark.parametrize("name", ["pairs", "tables", "growth", "sizes", "full_size", "curves", "time_to", "restarts"])
def test_every_other_benchmark_has_rows(name: str) -> None:
    found = tables(name)
    assert found
    assert all(len(rows) > 1 for rows in found)


def test_the_subjects_that_pages_name_exist(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    pages = "".join((ROOT / "docs" / page).read_text(encoding="utf-8") for page in ("BENCHMARKS.md", "SCALING.md"))
    named = {name for one in re.findall(r"`(?:…|python benchmarks/run\.py) ([a-z_ ]+)`", pages) for name in one.split()}
    assert named == {*importlib.import_module("run").subjects(True)}


def test_answers_take_the_bytes_of_their_types() -> None:
    (rows,) = tables("large")
    of = {row[0]: [float(cell) for cell in row[1:]] for row in rows[1:]}
    table = of["the table: i, j, worker, label, task"]
    assert table[0] == pytest.approx(5 * 8, abs=10)  # five int64, and the annotators' names of few answers
    assert table[3] == pytest.approx(table[0] * 9450 / 10_000 * 10_000 * 1000 / 2**30, rel=0.1)
    assert all(peak >= kept for kept, peak, *_ in of.values())


@pytest.mark.slow
def test_answers_to_questions_are_beside_those_about_random_pairs() -> None:
    ((_, row),) = tables("questions")
    before, asked, random, difference = map(float, row[2:])
    assert difference == pytest.approx(asked - random, abs=0.0015)
    assert min(before, asked, random) > 0.5


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
    assert rows.columns.tolist() == [*suite.COLUMNS, "commit"]
    plan = suite.plan([*suite.TABLES, *suite.CROWDS], suite.REGIMES, ["cotrain"], range(3))
    assert set(rows[suite.KEY].itertuples(index=False, name=None)) <= set(plan)
