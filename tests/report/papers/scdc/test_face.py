"""NMI on Face by model and number of answers."""

from dataclasses import replace
from pathlib import Path

import matplotlib.image as mpimg
import numpy as np
import pytest

from semicrowd.files import write_csv
from semicrowd.report.cells import Cell
from semicrowd.report.collect import Collected, Run
from semicrowd.report.experiments import not_in_profile
from semicrowd.report.papers.scdc import face

from ...conftest import build, collected, exhibit, kmeans_on_face, on_face, summary_of

KEY = exhibit("figure-3a")


@pytest.fixture
def runs() -> Collected:
    return collected(
        face_all_scdc=on_face("scdc", "face_all", {200: [0.5, 0.7], 2000: [0.9, 0.98]}),
        face_all_crowd_only=on_face("crowd_only", "face_all", {200: [0.02, 0.04], 2000: [1.0, 1.0]}),
        face_kmeans=kmeans_on_face([0.1, 0.12]),
    )


def by_name(cells: list[Cell]) -> dict[str, Cell]:
    return {cell.cell: cell for cell in cells}


def test_a_row_for_each_model_and_number_with_mean_and_standard_deviation(runs: Collected) -> None:
    cells = by_name(face.cells(runs, KEY, "face_all", ["scdc", "crowd_only", "mcvc"]))
    assert len(cells) == 2 + 3 * 2
    ours = summary_of(cells["SCDC, 200 answers each"])
    assert (ours.mean, ours.sd, ours.seeds) == (pytest.approx(0.6), pytest.approx(0.02**0.5), (0, 1))
    assert all(cell.paper is None for cell in cells.values())
    assert "2 runs (paper: 10)" in cells["SCDC, 200 answers each"].deviations
    assert cells["MCVC, 200 answers each"].remark == not_in_profile("face_all_mcvc")
    assert cells["Gaussian mixture, no answers"].ours is None


def test_what_is_below_k_means_is_explained_and_nothing_else(runs: Collected) -> None:
    cells = by_name(face.cells(runs, KEY, "face_all", ["scdc", "crowd_only"]))
    explained = [name for name, cell in cells.items() if "below k-means (0.110)" in cell.remark]
    assert explained == ["answers alone, 200 answers each"]
    assert "it sees the answers alone" in cells[explained[0]].remark


def test_every_baseline_of_the_paper_could_be_explained() -> None:
    # Never below k-means where this was tried.
    ours_and_linear = {"scdc", "bayes", "scdc_held", "bayes_held", "cotrain", "mcvc", "deep_mcvc", "scdc_answers",
                       "scdc_free"}  # fmt: skip
    assert set(face._WHY) == set(face.MODEL_LABELS) - ours_and_linear


def test_a_run_that_failed_is_not_in_the_mean_of_its_point_and_says_so(runs: Collected) -> None:
    first, *rest = runs.runs["face_all_scdc"]
    runs.runs["face_all_scdc"] = [replace(first, status="failed", message="no memory"), *rest]
    cells = by_name(face.cells(runs, KEY, "face_all", ["scdc"]))
    fewer, whole = (cells[f"SCDC, {number} answers each"] for number in (200, 2000))
    assert summary_of(fewer).seeds == (1,)
    assert fewer.remark == "seed 0 failed: not in the mean"
    assert whole.remark == ""


def test_curves_hold_the_finished_runs_and_the_caption_names_the_rest(runs: Collected, tmp_path: Path) -> None:
    models = ["scdc", "mcvc", "crowd_only"]
    found = face.curves(runs, KEY, "face_all", models)
    assert {model: list(curve) for model, curve in found.items()} == {"scdc": [200, 2000], "crowd_only": [200, 2000]}
    path = Path("figures/some.png")
    (image,) = face.image(runs, KEY, "face_all", models, "Face", path, tmp_path)
    assert mpimg.imread(tmp_path / path).std() > 0.05  # not an empty sheet
    assert "Not there: MCVC." in image.caption
    assert "over 2 runs" in image.caption
    assert face.image(runs, KEY, "face_100", models, "Face", path, tmp_path) == ()


def test_lines_go_through_the_means_and_bands_are_a_standard_deviation(runs: Collected) -> None:
    found = face.curves(runs, KEY, "face_all", ["scdc"])
    (axes,) = face.draw("Face", found, None).axes
    (line,), (band,) = axes.lines, axes.collections
    assert np.asarray(line.get_xydata()) == pytest.approx(np.array([[200, 0.6], [2000, 0.94]]))
    sd = 0.02**0.5
    edge = np.asarray(band.get_paths()[0].vertices)
    heights = edge[edge[:, 0] == 200, 1]
    assert (heights.min(), heights.max()) == (pytest.approx(0.6 - sd), pytest.approx(0.6 + sd))


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
        assert summary_of(cell).mean == runs.finished(f"{answers}_mcvc")[1].metrics["final/nmi"]
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
