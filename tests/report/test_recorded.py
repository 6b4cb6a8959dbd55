"""Results kept in the repository: written by a run, shown beside the profile's, compared with a run of today."""

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from semicrowd.pipeline.slpd import plan, tables
from semicrowd.report import record, verify
from semicrowd.report.cells import PaperValue, format_value
from semicrowd.report.collect import Collected, RecordedRun, Run, load, read_recorded, save, write_recorded
from semicrowd.report.exhibits import Exhibit, Result
from semicrowd.report.experiments import Row, cells_of_rows, metric, paired, worst_start
from semicrowd.report.papers.slpd import tables as of_slpd
from semicrowd.run.main import main

from .conftest import summary_of

ROOT = Path(__file__).parents[2]
COMMIT = "c0ffee0000"
RUN_AGAIN = record.run_again
PROFILE = """
profile: laptop
groups: {some: {seeds: [0, 1], experiments: [quick]}}
experiments: {quick: {settings: {data: pinwheel, model: kmeans, model.K: 5, annotations: none}}}
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with one quick experiment and no uncommitted changes."""
    for name in ("conf", "src"):
        (tmp_path / name).symlink_to(ROOT / name)
    (tmp_path / "experiments.yaml").write_text(PROFILE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(record, "RECORDED", tmp_path / "experiments.yaml")
    monkeypatch.setattr(record, "revision", lambda: {"commit": COMMIT, "dirty": False})

    def committed(given: list[str], directory: Path, *, quiet: bool = False) -> int:
        """A run in this process that has found no change, whatever there is while tests run."""
        code = main([*given, "resume=true", "figures=false", "logger=none", f"hydra.run.dir={directory}"])
        provenance = directory / "provenance.json"
        content = json.loads(provenance.read_text()) | {"git_commit": COMMIT, "git_dirty": False}
        provenance.write_text(json.dumps(content))
        return code

    for module in (record, verify):
        monkeypatch.setattr(module, "run_again", committed)
    return tmp_path


def test_what_a_run_gives_is_kept_and_given_again(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert record.main(["quick"]) == 0
    path = project / "recorded/runs/quick.json"
    kept = read_recorded()["quick"]
    assert [one.run.seed for one in kept] == [0, 1]
    for one in kept:
        assert one.run.metrics == json.loads((project / one.run.directory / "metrics.json").read_text())
        assert one.data_hashes
        assert one.commit == COMMIT
        assert one.processor == record.processor()
        assert "model=kmeans" in one.arguments
    before = path.read_text()
    assert record.main(["quick", "--seeds", "1"]) == 0
    assert path.read_text() == before, "a finished run of the same commit is not run again"
    shutil.rmtree(project / "runs")
    with monkeypatch.context() as patch:
        patch.setattr(verify, "run_again", RUN_AGAIN)  # as users have it, in a process of its own
        assert verify.main(["--experiments", "quick"]) == 0, "the same command, the same numbers"
    content = json.loads(before)
    for one in content["runs"]:
        one["run"]["metrics"]["train/nmi"] += 1e-9
    path.write_text(json.dumps(content))
    capsys.readouterr()
    assert verify.main(["--experiments", "quick"]) == 1
    assert "train/nmi: recorded" in capsys.readouterr().err


def test_trials_of_the_slpd_tables_are_kept(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every row that the pipeline has for these trials and methods, and none of other methods; no trial runs twice."""
    (project / "experiments.yaml").write_text(f"{PROFILE}\nslpd: {{iris: 2}}\n")
    monkeypatch.setattr(of_slpd, "RECORDED", project / "experiments.yaml")
    monkeypatch.setitem(plan.SETS, "iris", replace(plan.SETS["iris"], restarts=2, choose=False))
    assert record.main(["slpd.iris"]) == 0
    rows = of_slpd.read_trials("iris")
    made = tables.read_rows("iris", project / "runs/recorded" / COMMIT[:10] / "slpd")
    made = made[made["method"].isin(["ckm", "slpd"])]
    assert len(rows) == len(made) == 2 * 3 * 2 * plan.SETS["iris"].folds
    assert rows["bri"].sum() == pytest.approx(made["bri"].sum(), abs=1e-5)
    origin = json.loads((project / "recorded/slpd/iris.json").read_text())
    assert (origin["trials"], origin["processor"]) == (2, record.processor())
    assert origin["data_hashes"]
    monkeypatch.setattr(tables, "rows_of", None)
    assert record.main(["slpd.iris"]) == 0
    assert (record.main(["slpd.bees"]), record.main(["slpd.iris", "--seeds", "0"])) == (2, 2)
    (project / "experiments.yaml").write_text(f"{PROFILE}\nslpd: {{iris: 13}}\n")
    before = (project / "recorded/slpd/iris.csv").read_bytes()
    monkeypatch.setattr(of_slpd, "run", lambda *_: None)
    assert record.main(["slpd.iris"]) == 2
    assert (project / "recorded/slpd/iris.csv").read_bytes() == before, "trials are missing"


def test_a_start_that_diverged_is_kept_as_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run = Run(0, "", "finished", restarts={"elbo": [-3.0, None, -2.0], "oracle_acc": [0.5, None, 0.9]})
    one = RecordedRun(run, [], COMMIT, "", "", {}, {})
    write_recorded("some", [one])
    kept = read_recorded()["some"][0].run
    assert kept.restarts == run.restarts
    assert worst_start("oracle_acc")(kept) == 0.5


def test_a_run_that_failed_is_recorded_as_one_and_said_beside_the_mean(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_again = record.run_again

    def diverges(given: list[str], directory: Path) -> int:
        code = run_again(given, directory)
        if "seed=1" not in given:
            return code
        (directory / "status.json").write_text(json.dumps({"status": "failed", "error": "diverged in epoch 2"}))
        return 2

    monkeypatch.setattr(record, "run_again", diverges)
    assert record.main(["quick"]) == 1
    runs = [one.run for one in read_recorded()["quick"]]
    assert [run.status for run in runs] == ["finished", "failed"]
    assert verify.cheapest(read_recorded()["quick"]).run.seed == 0
    collected = Collected("laptop", {}, {}, {"quick": runs})
    save(collected, project / "runs.json")
    assert load(project / "runs.json") == collected
    row = Row("quick", "quick", with_answers=False)
    (cell,) = cells_of_rows(collected, Exhibit("t", "Table", "a table"), [row], {"nmi": metric("train/nmi")})
    assert summary_of(cell).num_runs == 1
    assert "seed 1 failed: diverged in epoch 2" in cell.remark


def test_what_no_commit_has_is_not_recorded(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(record, "revision", lambda: {"commit": COMMIT, "dirty": True})
    assert record.main(["quick"]) == 2
    assert "commit first" in capsys.readouterr().err
    assert not (project / "recorded").exists()


def test_seeds_that_are_none_are_refused(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "experiments.yaml").write_text(PROFILE.replace("seeds:", "sweep: {}, seeds:"))
    assert record.main(["quick", "--seeds", "3"]) == 0, "an empty sweep has any seed"
    (project / "experiments.yaml").write_text(PROFILE.replace("seeds:", "sweep: {model.K: [2]}, seeds:"))
    assert record.main(["quick", "--seeds", "7"]) == 2
    assert "quick" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        record.main(["quick", "--seeds", "3-1"])
    assert "3-1" in capsys.readouterr().err


def test_another_package_may_round_differently(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert record.main(["quick", "--seeds", "0"]) == 0
    path = project / "recorded/runs/quick.json"
    content = json.loads(path.read_text())
    (one,) = content["runs"]
    one["versions"]["scikit-learn"] = "0.1"
    for change, code in ((0.01, 0), (0.2, 1)):
        one["run"]["metrics"]["train/nmi"] -= change
        path.write_text(json.dumps(content))
        assert verify.main(["--experiments", "quick"]) == code
    assert "recorded with scikit-learn 0.1, now" in capsys.readouterr().err


def test_times_differ_and_other_processors_round_differently() -> None:
    before = {"train/nmi": 0.9, "clusters/used": 5.0, "seconds/fit": 3.0}
    assert not verify.differences(before, before | {"seconds/fit": 9.0}, same_machine=True)
    assert verify.differences(before, before | {"clusters/used": 6.0}, same_machine=True)
    assert not verify.differences(before, before | {"train/nmi": 0.91, "clusters/used": 6.0}, same_machine=False)
    assert verify.differences(before, before | {"train/nmi": 0.8}, same_machine=False)
    assert verify.differences(before, {}, same_machine=False)


def test_the_report_has_a_row_of_its_own_for_what_is_recorded() -> None:
    shown = Exhibit("t", "Table", "a table", values=(PaperValue("row", "nmi", 0.5),))
    of_kmeans = {"model": {"name": "kmeans"}}
    runs = [
        Run(seed, "", "finished", metrics={"test/nmi": value}, config=of_kmeans) for seed, value in ((0, 0.6), (1, 0.8))
    ]
    collected = Collected("laptop", {}, {"one": []}, {"one": runs})
    row = Row("one", paper="row", with_answers=False)
    cells = cells_of_rows(collected, shown, [row], {"nmi": metric("test/nmi")})
    missing, kept = cells
    assert missing.ours is None
    assert (kept.cell, summary_of(kept).mean, summary_of(kept).seeds) == ("row (recorded)", pytest.approx(0.7), (0, 1))
    assert "make record EXPERIMENT=one" in kept.remark
    assert kept.paper == missing.paper
    assert Result(tuple(cells)).status == "done"


def test_differences_are_of_the_seeds_that_both_have() -> None:
    def runs(experiment: str, values: dict[int, float]) -> list[Run]:
        return [Run(seed, "", "finished", metrics={"test/nmi": value}) for seed, value in values.items()]

    measures = {"nmi": metric("test/nmi"), "accuracy": metric("test/acc")}
    one, other = runs("one", {0: 0.6, 1: 0.8, 2: 0.1}), runs("other", {1: 0.5, 0: 0.4, 7: 0.9})
    failed = Run(2, "", "failed")
    collected = Collected("laptop", {}, {"one": one, "other": [*other, failed]})
    (cell,) = paired(collected, "one less other", "one", "other", measures)
    assert (cell.quantity, summary_of(cell).seeds, cell.paper) == ("nmi, paired", (0, 1), None)
    assert (summary_of(cell).mean, summary_of(cell).sd) == (pytest.approx(0.25), pytest.approx(0.005**0.5))
    assert cell.remark == "standard error 0.050"
    assert format_value(summary_of(cell).mean, summary_of(cell).sd, cell.quantity) == "+0.250 ± 0.071"
    assert not paired(collected, "", "one", "nothing", measures)
    kept = replace(collected, runs={"one": one[:1]}, recorded={"one": runs("one", {0: 0.9}), "other": other})
    (cell,) = paired(kept, "", "other", "one", measures)
    assert (summary_of(cell).mean, cell.remark) == (pytest.approx(-0.2), "one seed; with recorded runs")


def test_differences_are_of_runs_with_the_same_inputs() -> None:
    def run(value: float, subset: int, **answers: Any) -> Run:
        config = {"data": {"name": "cifar10", "subset": subset}}
        return Run(0, "somewhere", "finished", metrics={"test/nmi": value}, config=config, answers=answers)

    def difference(first: Run, second: Run) -> float | None:
        collected = Collected("some", {}, {"one": [first], "other": [second]})
        cells = paired(collected, "", "one", "other", {"nmi": metric("test/nmi")})
        return cells[0].ours.mean if cells and cells[0].ours is not None else None

    assert difference(run(0.75, 5000, num_pairs=9), run(0.5, 5000, num_pairs=9)) == 0.25
    assert difference(run(0.75, 5000), run(0.5, 50_000)) is None, "other images"
    assert difference(run(0.75, 5000, num_pairs=9), run(0.5, 5000, num_pairs=8)) is None, "other answers"
    assert difference(run(0.75, 5000, num_pairs=9), run(0.5, 5000)) == 0.25, "without answers"
    simulated = run(0.5, 5000, num_pairs=9, because="not there")
    assert difference(run(0.75, 5000, num_pairs=9), simulated) is None
