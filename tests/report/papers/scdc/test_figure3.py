"""Fig. 3: curves, and the annotators' weights from workers.csv."""

from dataclasses import replace
from pathlib import Path

import matplotlib.image as mpimg
import numpy as np
import pytest

from semicrowd.files import write_csv
from semicrowd.report.collect import Run
from semicrowd.report.papers.scdc import face

from ...conftest import build, collected, kmeans_on_face, on_face

HEADER = ("annotator", "pairs", "weight", "true_sensitivity", "true_specificity")


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def with_weights(run: Run, weights: list[float]) -> Run:
    quality = (0.95, 0.8)
    rows = [(name, 2000, w, q, q) for name, w, q in zip("ab", weights, quality, strict=True)]
    write_csv(Path(run.directory) / "workers.csv", HEADER, rows)
    return run


def test_both_regimes_have_their_table_and_figure(tmp_path: Path) -> None:
    runs = collected(
        face_all_mcvc=on_face("mcvc", "face_all", {200: [0.6], 400: [0.7]}),
        face_100_mcvc=on_face("mcvc", "face_100", {200: [0.5], 400: [0.55]}),
        face_kmeans=kmeans_on_face([0.11]),
    )
    for answers, key in ((face.ALL, "figure-3a"), (face.SOME, "figure-3b")):
        result = build(key, runs, tmp_path)
        assert result.status == "partly done"
        (cell,) = (cell for cell in result.cells if cell.cell == "MCVC, 400 answers each")
        assert cell.ours is not None
        assert cell.ours.mean == runs.finished(f"{answers}_mcvc")[1].metrics["final/nmi"]
        assert mpimg.imread(tmp_path / result.images[0].path).std() > 0.05
        assert result.commands == (f"python src/train.py {answers}_mcvc", "python src/train.py face_kmeans")
    assert build("figure-3a", collected(), tmp_path).status == "not yet done"


def test_recorded_models_have_rows_at_the_numbers_of_answers_that_were_recorded(tmp_path: Path) -> None:
    found = collected(face_all_mcvc=on_face("mcvc", "face_all", {200: [0.6], 400: [0.7]}))
    recorded = {"face_all_scdc_held": on_face("scdc", "face_all", {400: [0.9]})}
    result = build("figure-3a", replace(found, recorded=recorded), tmp_path)
    held = [cell for cell in result.cells if cell.cell.startswith(face.MODEL_LABELS["scdc_held"])]
    assert [(cell.cell.partition(", 400")[1], cell.ours is not None) for cell in held] == [(", 400", True)]


def test_weights_are_those_of_the_most_answers_over_all_images_beside_the_truth(tmp_path: Path) -> None:
    few, *many = on_face("bayes", "face_all", {200: [0.6], 2000: [0.9, 0.9]}, "figure-3c")
    runs = [with_weights(few, [9.0, 9.0]), with_weights(many[0], [6.0, 2.5]), with_weights(many[1], [5.0, 2.9])]
    result = build("figure-3c", collected(face_all_bayes=runs), tmp_path)
    found = {cell.cell: cell.ours for cell in result.cells}
    assert [found.pop(name) for name in ("SCDC", "SCDC, protocol paper", "BayesSCDC, protocol paper")] == [None] * 3
    # log(.95 / .05) and log(.8 / .2), twice.
    assert list(found) == ["BayesSCDC, annotator 1, true 5.889", "BayesSCDC, annotator 2, true 2.773"]
    means = [summary.mean for summary in found.values() if summary]
    assert means == pytest.approx([5.5, 2.7])
    deviations = [summary.sd for summary in found.values() if summary]
    assert deviations == pytest.approx([np.sqrt(0.5), np.sqrt(0.08)])
    assert mpimg.imread(tmp_path / result.images[0].path).std() > 0.05
    assert "2000 answers" in result.images[0].caption


def test_without_runs_the_weights_say_why(tmp_path: Path) -> None:
    unavailable = [Run(0, "results/x", "unavailable", "get it", point={"pairs_per_annotator": 200})]
    result = build("figure-3c", collected(face_all_scdc=unavailable), tmp_path)
    assert [cell.remark for cell in result.cells] == [
        "data not available here: get it", *["not in this profile: make reproduce PROFILE=paper"] * 3
    ]  # fmt: skip
    assert result.images == ()
