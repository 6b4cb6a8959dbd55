"""Recorded results of the suite and the claims that are computed from them, on made-up data; and the README's own."""

import json
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.errors import UserError
from semicrowd.files import write_json
from semicrowd.fitting.result import Assignment, Result
from semicrowd.methods.unsupervised import KMeansOnly
from semicrowd.pipeline.generality import cell as cell_module
from semicrowd.pipeline.generality import plan
from semicrowd.pipeline.generality.__main__ import main
from semicrowd.pipeline.generality.cell import fingerprint
from semicrowd.pipeline.generality.claims import checked, claims, rewritten
from semicrowd.pipeline.generality.claims import main as claims_main
from semicrowd.pipeline.generality.plan import Cell
from semicrowd.pipeline.generality.record import COLUMNS, FOLDER, LOOKS, record, recorded, settings_text

ROOT = Path(__file__).parents[2]
MADE = {"commit": "0123456789abcdef", "dirty": False, "date": "2026-11-23T12:00:00+00:00"}


def result(data: str, regime: str, method: str, seed: int, nmi: float | None, **other: Any) -> dict[str, Any]:
    """The numbers of a cell."""
    score = {} if nmi is None else {"nmi": nmi, "acc": nmi / 2, "clusters": 3}
    return {"data": data, "regime": regime, "method": method, "seed": seed, "classes": 3, "seconds": 1.25,
            "status": "done" if nmi is not None else "over 60 s", "features": 4, **score, **MADE, **other}  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Recorded tables: four development cells with answers, one of people, and a cell without; two seeds."""
    scores = {
        ("iris", "pairs90"): {"scdc": (0.9, 0.8), "kmeans_raw": (0.7, 0.7), "kmeans_scaled": (0.85, 0.87)},
        ("wine", "lazy"): {"scdc": (0.5, 0.6), "kmeans_raw": (0.6, 0.7), "mcvc_raw_one": (0.5, 0.2)},
        ("olive", "drift"): {
            "scdc": (0.5, 0.6), "kmeans_raw": (0.56, 0.56), "crowd_logistic_raw_predict": (0.57, 0.56)
        },
        ("felix_cats", "crowd"): {"scdc": (0.8, 0.8), "kmeans_raw": (0.1, 0.2), "crowd_logistic_raw": (0.9, 0.5)},
        ("iris", "none"): {"scdc": (0.7, 0.7), "kmeans_raw": (0.72, 0.74), "gmm_raw": (0.1, 0.1)},
    }
    rows = [
        result(*cell, method, seed, nmi, clusters=5 if cell[0] == "wine" else 3)
        for cell, of_methods in scores.items() for method, fits in of_methods.items() for seed, nmi in enumerate(fits)
    ]  # fmt: skip
    record(rows, tmp_path / "development.csv", tmp_path / "lock")
    record([result("crabs", "pairs90", "scdc", 0, 0.5)], tmp_path / "locked.csv", tmp_path / "lock")
    return tmp_path


def test_claims_are_the_counts_of_the_recorded_fits(folder: Path) -> None:
    found = {name: claim.value for name, claim in claims(folder).items()}
    # Differences to the best: iris −.01 (to the standardised columns), wine −.1, olive −.015, felix +.1.
    assert found["development.scdc.near"] == "3 of 4"
    assert found["development.scdc.near.percent"] == "75 %"
    assert found["development-simulated.scdc.near"] == "2 of 3"
    assert found["development-crowd.scdc.near"] == "1 of 1"
    assert found["development.scdc.worst"] == "−.100"
    assert found["development.scdc.below-kmeans"] == "1 of 4"
    assert found["development.scdc.below-lr"] == "0 of 2"
    assert found["development.scdc.alone"] == "1 of 1"
    assert found["development.scdc.exact"] == "3 of 4"
    assert found["development.scdc.within-one"] == "3 of 4"
    assert found["development.scdc.exact-fits"] == "6 of 8"
    assert found["development.scdc.within-one-fits"] == "6 of 8"
    assert found["development.scdc.alone-exact-fits"] == "2 of 2"
    assert (found["development.sets"], found["development.cells"], found["development.seeds"]) == ("4", "4", "2")
    assert found["development.fits"] == "30"
    assert found["development.commits"] == "0123456789"
    assert found["development.scdc.iris.pairs90"] == ".850"
    assert found["development.kmeans.iris.pairs90"] == ".860"
    assert found["development.scdc.wine.lazy.clusters"] == "5 5"
    assert found["locked.scdc.crabs.pairs90"] == ".500"
    assert "development.bayes.near" not in found


def test_a_fit_that_is_measured_again_takes_the_place_of_the_old_one(folder: Path) -> None:
    path = folder / "development.csv"
    before = path.read_text().splitlines()
    again = result("iris", "pairs90", "scdc", 1, 0.95, commit="feed" * 10, dirty=True)
    variant = result("iris", "pairs90", "scdc[epochs=0;model.K=4]", 1, 0.2)
    assert record([again, variant], path, folder / "lock") == len(before)  # one more row, and the header
    after = path.read_text().splitlines()
    assert len(set(after) - set(before)) == 2
    assert len(set(before) - set(after)) == 1
    row = recorded(path).set_index(["data", "regime", "method", "seed"]).loc[("iris", "pairs90", "scdc", 1)]
    assert row[["nmi", "acc", "clusters", "commit", "date"]].tolist() == [
        0.95, 0.475, 3, "feedfeedfe+changes", "2026-11-23",
    ]  # fmt: skip
    methods = set(recorded(path)["method"])
    assert "scdc[epochs=0;model.K=4]" in methods
    # What varies the default is no default: it has no part in any claim.
    assert claims(folder)["development.fits"].value == "30"


def test_fits_without_a_score_and_empty_tables_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "locked.csv"
    assert record([], path, tmp_path / "lock") == 0
    assert path.read_text().strip().split(",") == COLUMNS
    assert record([result("crabs", "none", "scdc", 0, None)], path, tmp_path / "lock") == 1
    assert record([], path, tmp_path / "lock") == 1
    assert path.read_text().splitlines()[1] == "crabs,none,scdc,0,,,,3,1.25,0123456789,2026-11-23,,over 60 s,,,,"
    assert np.isnan(recorded(path)["nmi"].iloc[0])
    assert claims(tmp_path) == {}


def test_settings_say_how_a_fit_was_run() -> None:
    assert settings_text("scdc") == ""
    assert settings_text("scdc[epochs=0]") == "epochs=0"
    assert settings_text("mcvc_scaled_one") == "columns=standardised;standardize=False;n_views=1"
    assert settings_text("crowd_logistic_raw_predict") == "columns=raw;standardize=False;predicted"


TEXT = (
    "Level in <!-- claim: development.scdc.near -->{}<!-- end --> cells, "
    "**<!-- claim: locked.sets -->{}<!-- end -->**."
)


def test_marked_figures_are_compared_and_put_in(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    known = claims(folder)
    assert checked(TEXT.format("3\nof 4", 1), known) == []
    assert checked(TEXT.format("4 of 4", 1), known) == [
        "development.scdc.near: 4 of 4 on the page, but 3 of 4 computed from the recorded results"
    ]
    assert "no number of this name" in checked(TEXT.replace("scdc", "scbc").format("3 of 4", 1), known)[0]
    assert "not closed" in checked(TEXT.format("3 of 4", 1).removesuffix("<!-- end -->**.") + "**.", known)[0]
    assert rewritten(TEXT.format("x", "y"), known) == TEXT.format("3 of 4", 1)
    readme = tmp_path / "README.md"
    readme.write_text(TEXT.format("x", 1))
    options = ["--recorded", str(folder), "--pages", str(readme)]
    assert claims_main(options) == 1
    told = capsys.readouterr()
    assert "* development.scdc.near = 3 of 4  (cells with answers within 0.02 NMI" in told.out
    assert "x on the page, but 3 of 4 computed" in told.err
    assert claims_main([*options, "--write"]) == 0
    assert readme.read_text() == TEXT.format("3 of 4", 1)
    assert claims_main(["--pages", str(tmp_path / "none.md")]) == 2


def test_the_suite_records_the_fits_that_were_asked_for_of_this_code(tmp_path: Path) -> None:
    def write(cell: Cell, mark: str) -> None:
        row = result(cell.data, cell.regime, cell.method, cell.seed, 0.5)
        write_json(tmp_path / "cells" / f"{cell.name}.json", row | {"fingerprint": mark})

    for method in ("kmeans_raw", "kmeans_scaled", "gmm_raw"):
        cell = Cell("iris", "none", method, 0)
        write(cell, fingerprint(cell) if method != "kmeans_scaled" else "other code")
    options = ["--data", "iris", "--regimes", "none", "--methods", "kmeans", "--seeds", "0", "--summary-only",
               "--cells", str(tmp_path / "cells"), "--reports", str(tmp_path), "--recorded", str(tmp_path / "kept"),
               "--record"]  # fmt: skip
    assert main(options) == 0
    path = tmp_path / "kept" / "development.csv"
    assert recorded(path)["method"].tolist() == ["kmeans_raw"]
    assert main([*options, "--keep", "kmeans"]) == 0
    assert recorded(path)["method"].tolist() == ["kmeans_raw", "kmeans_scaled"]


def test_a_look_at_locked_data_is_noted_before_anything_is_fitted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(0)
    np.savez(tmp_path / "crabs.npz", X=rng.normal(size=(40, 3)), y=np.arange(40) % 2)
    monkeypatch.setenv("SEMICROWD_CROWDS", str(tmp_path))
    # One job runs in this process: worker processes are kept for later calls, with the environment they began in.
    options = ["--locked", "--regimes", "none", "--jobs", "1", "--methods", "kmeans", "--record",
               "--cells", str(tmp_path / "cells"), "--reports", str(tmp_path),
               "--recorded", str(tmp_path / "kept")]  # fmt: skip
    for seed in ("0", "0", "1"):  # the second time nothing is left to be looked at
        assert main([*options, "--seeds", seed]) == 0
    looks = pd.read_csv(tmp_path / "kept" / LOOKS)
    assert looks[["data", "methods", "regimes", "seeds"]].to_numpy().tolist() == [
        ["crabs", "kmeans", "none", 0], ["crabs", "kmeans", "none", 1],
    ]  # fmt: skip
    assert len(recorded(tmp_path / "kept" / "locked.csv")) == 4
    assert not (tmp_path / "kept" / "development.csv").exists()


def test_any_estimator_that_needs_no_number_of_clusters_can_be_one_of_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (plan, cell_module):
        monkeypatch.setattr(module, "OURS", ("scdc", "affinity_propagation"))
    method = "affinity_propagation[model.damping=0.7]"
    planned = list(plan.cells(["iris"], ["pairs90"], [method], [0], locked=False))
    assert [cell.method for cell in planned] == ["affinity_propagation", method]
    rows = [cell_module.run_cell(cell, tmp_path / str(n), Path("unused"), 60, MADE) for n, cell in enumerate(planned)]
    assert [row["status"] for row in rows] == ["done", "done"]
    estimator = cell_module._prepared(planned[1], cell_module.inputs(planned[1], Path("unused"))[0])[1]
    assert estimator.get_params()["damping"] == 0.7
    with pytest.raises(UserError, match=r"^model\.dumping: no such setting; the nearest is model\.damping"):
        list(plan.cells(["iris"], ["pairs90"], ["affinity_propagation[model.dumping=0.7]"], [0], locked=False))


def test_claims_of_recorded_runs_are_over_their_seeds(tmp_path: Path) -> None:
    def run(seed: int, nmi: float | None, clusters: float = 3.0, **point: int) -> dict[str, Any]:
        status, metrics = ("failed", {}) if nmi is None else ("finished", {"test/nmi": nmi, "clusters/used": clusters})
        return {"run": {"seed": seed, "status": status, "point": point, "metrics": metrics}}

    runs = {
        "toy_one": [run(0, 0.5), run(1, 0.7, 5.0), run(2, None)], "toy_other": [run(1, 0.4), run(7, 0.1)],
        "else_one": [run(1, 0.9)],
        "toy_swept": [run(0, 0.1, pairs=5), run(1, 0.3, pairs=5), run(0, 0.8, pairs=9)],
        "toy_better": [run(1, 0.4, pairs=5), run(0, 0.95, pairs=9)],
    }  # fmt: skip
    (tmp_path / "runs").mkdir()
    for name, of in runs.items():
        (tmp_path / "runs" / f"{name}.json").write_text(json.dumps({"runs": of}))
    rows = [("iris", seed, method, nmi, 3.0) for seed in (0, 1)
            for method, nmi in (("cotrain", 0.5), ("scdc", 0.6 + seed / 10))]  # fmt: skip
    pd.DataFrame(rows, columns=["data", "seed", "method", "nmi", "seconds"]).to_csv(tmp_path / "pieces.csv")
    found = {name: claim.value for name, claim in claims(tmp_path / "suite").items()}
    assert found["runs.toy_one.test/nmi"] == ".600 ± .141"
    assert found["runs.toy_one.test/nmi.mean"] == ".600"
    assert found["runs.toy_one.test/nmi.seeds"] == ".500 .700"
    assert found["runs.toy_one.clusters/used.range"] == "3 to 5"
    assert found["runs.toy_one.failed"] == "1 of 3"
    assert found["runs.else_one.test/nmi"] == ".900"
    assert found["runs.toy_one.test/nmi.less.toy_other"] == "+.300"
    assert "runs.toy_one.test/nmi.less.else_one" not in found, "other data"
    assert found["runs.toy_swept[pairs=5].test/nmi.mean"] == ".200"
    assert found["runs.toy_swept[pairs=9].test/nmi"] == ".800"
    assert found["runs.toy_better[pairs=5].test/nmi.less.toy_swept"] == "+.100"
    assert found["runs.toy_better[pairs=9].test/nmi.less.toy_swept"] == "+.150"
    assert not any(name.startswith(("runs.toy_swept.", "runs.toy_one.test/nmi.less.toy_swept")) for name in found)
    assert (found["pieces.scdc.iris"], found["pieces.scdc.less"]) == (".650", "+.150 ± .050")


def test_rows_of_recorded_experiments_are_marked() -> None:
    """A row of a table that begins with the name of a recorded experiment has its figures from there."""
    names = {path.stem for path in (ROOT / FOLDER.parent / "runs").glob("*.json")}
    for line in (ROOT / "docs" / "BENCHMARKS.md").read_text(encoding="utf-8").splitlines():
        found = re.match(r"\| `(\w+)`", line)
        if found and found[1] in names:
            assert re.search(rf"<!-- claim: runs\.{found[1]}[.\[]", line)


def test_the_recorded_tables_are_as_the_suite_writes_them() -> None:
    for path in sorted((ROOT / FOLDER).glob("*.csv")):
        if path.name == LOOKS:
            looks = pd.read_csv(path)
            assert looks["commit"].str.fullmatch("[0-9a-f]{40}").all()
            assert looks["date"].is_monotonic_increasing
            continue
        rows = pd.read_csv(path)
        assert rows.columns.tolist() == COLUMNS
        assert not rows.duplicated(["data", "regime", "method", "settings", "seed"]).any()


def test_claims_take_seconds() -> None:
    started = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-m", "semicrowd.pipeline.generality.claims"], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert time.monotonic() - started < 60, "on a busy machine; usually two to five"


def test_a_cell_says_whether_probabilities_and_intervals_mean_what_they_say() -> None:
    """Four annotators of 40 answers and one of four, who does not count; one item of four is wrong with certainty."""
    labels, clusters = np.array([0, 0, 1, 1]), np.array([0, 0, 1, 0])
    worker = np.r_[np.repeat(np.arange(4), 40), np.full(4, 4)]
    i, j = np.tile([0, 0, 1, 2], 41), np.tile([1, 2, 3, 3], 41)
    right = np.random.default_rng(0).random(164) < np.r_[np.repeat([0.95, 0.9, 0.7, 0.6], 40), np.zeros(4)]
    answers = PairAnnotations.from_arrays(i, j, worker, ((labels[i] == labels[j]) == right).astype(int), num_items=4)
    sensitivity, specificity = answers.empirical_quality(labels)
    people = pd.DataFrame({"pairs": [40] * 4 + [4], "sensitivity": sensitivity, "specificity": -specificity})
    for name, true in (("sensitivity", sensitivity), ("specificity", specificity)):
        people[f"{name}_low"], people[f"{name}_high"] = true - 0.01, true + np.array([0.01, 0.01, 0.01, -0.005, -0.005])
    fitted, final = KMeansOnly(2), Assignment(clusters, np.ones(4))
    fitted.result_, fitted.workers_ = Result(2, final, final), people
    found = cell_module._trust(fitted, labels, answers)
    assert found == {
        "calibration_error": 0.25, "interval_coverage": 0.75, "sensitivity_rank": 1.0, "specificity_rank": -1.0,
    }  # fmt: skip
