"""docs/results.md and the pages that quote it are what recorded/ gives."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from reproduction.report.results import short
from tools import results_page, results_tables


@pytest.mark.parametrize("path", ["docs/results.md", "README.md"])
def test_pages_are_as_make_results_writes_them(path: str) -> None:
    assert results_page.pages()[Path(path)] == Path(path).read_text(encoding="utf-8")


def test_every_source_is_there_once_and_every_link_has_one() -> None:
    text = results_page.pages()[results_page.PAGE]
    anchors = re.findall(r'<a id="(\w+)">', text)
    assert len(anchors) == len(set(anchors))
    assert {*re.findall(r"\]\(#(\w+)\)", text)} - {"sources"} <= set(anchors)
    assert {path.stem for path in Path("recorded/runs").glob("*.json")} <= set(anchors)


def test_every_printed_result_is_counted_and_none_hides() -> None:
    values = results_page.context()
    counts = pd.DataFrame([paper["count"] for paper in values["papers"]]).fillna(0)
    assert (counts["printed"].tolist(), counts["no data"].tolist()) == ([19, 54, 84, 36], [0, 27, 68, 0])
    assert (counts["printed"] == counts[["no data", "no run", "ours"]].sum(axis=1)).all()
    tables = {one["label"]: one["table"] for one in values["papers"][0]["exhibits"]}
    names = [row[0] for row in tables["Fig. 4b"]]
    assert "#cifar_scdc_tasks" in names[names.index("SCDC, with: paper") + 1]
    assert {"10×10", "7×10; 3 failed"} <= {row[1] for row in tables["Fig. 2"]}


def test_numbers_are_short() -> None:
    assert [short(0.9784, 0.063), short(10.04), short(-0.5), short(np.nan)] == [".978±.063", "10.040", "−.500", "–"]


def test_co_training_is_beside_the_best_variant_of_each_other_method() -> None:
    def fits(method: str, *nmi: float) -> pd.DataFrame:
        about = {"data": "iris", "regime": "pairs90", "method": method, "classes": 3, "clusters": 4.0}
        return pd.DataFrame({"nmi": nmi, "seed": range(len(nmi))}).assign(**about)

    others = pd.concat([fits("kmeans_raw", 0.1, 0.3), fits("kmeans_scaled", 0.5, 0.7), fits("gmm_raw", 0.4)])
    table, less = results_tables.beside(fits("cotrain", 0.8, 0.9), others)
    assert table[0][5:7] == ["gmm", "kmeans"]
    assert table[1][3:] == [".850±.071", "4 4", ".400", ".600", "+.250"]
    assert less == [pytest.approx(0.25)]
    few = pd.concat([fits("cotrain", 0.8), fits("kmeans", 0.95)]).assign(regime="half")
    table, less = results_tables.harder(pd.concat([fits("cotrain", 0.7).assign(regime="none"), few]))
    assert (table[1][3:], less) == ([".800", ".700", ".950", "–", "−.150"], [pytest.approx(-0.15)])
    pieces = pd.concat([fits("scdc", 0.8, 0.9), fits("scdc[epochs=0]", 0.7, 0.6)]).assign(kind="tables")
    for whole in ("scdc", ""):
        assert results_tables.less_the_whole(pieces, "method", whole)[1] == ["scdc[epochs=0]", "−.200±.100", "2"]


def test_runs_of_mnist_are_starts_of_one_run() -> None:
    runs = pd.DataFrame({"train/acc": [0.5, 0.7, 0.9], "train/nmi": [0.1, 0.2, 0.3], "elbo/train": [-3.0, -1, -2]})
    runs = runs.assign(experiment="one", annotations="crowd", data="mnist", protocol="model", seed=[0, 1, 2], **{
        "annotations.num_tasks": "null", "annotations.pairs_per_annotator": None, "starts/mean_acc": None})  # fmt: skip
    assert len(results_tables.starts(runs.assign(seed=0))) == 1  # with one seed they are changes of a setting
    assert results_tables.starts(runs)[1][2:] == ["1×3", ".700", ".700", ".900", ".200", ".200", ".300"]


def test_cases_of_a_conclusion_share_a_line() -> None:
    claims = [{"claim": f"a beats b ({case})", "quantity": "NMI", "cells": {"ours": (verdict, "")}}
              for case, verdict in (("x", "not decided"), ("y", "holds"))]  # fmt: skip
    table, counts = results_tables.verdicts(claims)
    assert (table, counts["ours"].total()) == ([["a beats b", "–", "–", "–", "holds 1 (y NMI), open 1"]], 2)
