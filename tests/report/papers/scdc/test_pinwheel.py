"""Fig. 2 from real, very short runs: collected, drawn, and set beside the paper."""

import csv
import json
from pathlib import Path

import matplotlib.image as mpimg
import numpy as np
import pytest
from semicrowd.pipeline import answers, experiment
from semicrowd.pipeline.configurations import write_configurations
from semicrowd.pipeline.experiments import Job, load_plan
from semicrowd.run.files.results import final_clusters
from sklearn.metrics import adjusted_rand_score

from semicrowd.data import load_dataset
from semicrowd.data.frames import read_npz
from semicrowd.metrics import clustering_scores
from semicrowd.report import collect
from semicrowd.report.collect import Collected
from semicrowd.report.papers.scdc import pinwheel

from ...conftest import build, summary_of
from ...conftest import collected as synthetic

PARAMS = """\
profile: tiny
groups:
  some: {seeds: [0], experiments: [pinwheel_none, pinwheel_two_coin]}
experiments:
  pinwheel_none:
    settings: {data: pinwheel, model: bayes, annotations: none, restarts: 3, epochs: 1, start.epochs: 9,
               start.kind: cells, logger: none}
  pinwheel_two_coin:
    settings: {data: pinwheel, model: bayes, epochs: 1, start.epochs: 9,
               start.kind: cells, logger: none}
    answers: {kind: two_coin}
    seeds: [0, 1]
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project folder in which both experiments have run with seed 0, as the pipeline runs them."""
    root = tmp_path_factory.mktemp("project")
    (root / "src").symlink_to(Path(__file__).parents[4] / "src")
    (root / "params.yaml").write_text(PARAMS)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(root)
        plan = load_plan()
        write_configurations(list(plan.experiments.values()))
        answers.make_answers(plan.experiment("pinwheel_two_coin"), Job(0))
        for one in plan.experiments.values():
            assert experiment.run(one, 0) == 0
    return root


@pytest.fixture
def collected(project: Path, monkeypatch: pytest.MonkeyPatch) -> Collected:
    monkeypatch.chdir(project)
    collect.main([])
    return collect.load()


def test_collected_runs_are_what_the_run_directories_say(collected: Collected, project: Path) -> None:
    (run,) = collected.finished("pinwheel_none")
    directory = project / "results" / "pinwheel_none" / "seed-0"
    assert run.metrics == json.loads((directory / "metrics.json").read_text())
    assert run.config["restarts"] == 3
    with (directory / "restarts.csv").open(newline="") as file:
        assert run.restarts["elbo"] == [float(row["elbo"]) for row in csv.DictReader(file)]
    assert run.metrics["restart/best"] == np.argmax(run.restarts["elbo"])
    (with_answers,) = collected.finished("pinwheel_two_coin")
    assert with_answers.answers["simulated"]
    assert with_answers.answers["num_pairs"] == 980
    assert 0 <= with_answers.metrics["workers/sensitivity_mae"] < 1  # the answers' file has the true rates
    assert [run.status for run in collected.unfinished("pinwheel_two_coin")] == ["missing"]


def test_panels_show_what_the_runs_found(collected: Collected) -> None:
    labels = load_dataset("pinwheel", Path("data")).labels
    assert labels is not None
    true, best, worst, answered = pinwheel._panels(collected)
    np.testing.assert_array_equal(true.groups, labels)
    (run,) = collected.finished("pinwheel_none")
    clusters = read_npz(Path(run.directory) / "restart_assignments.npz")["clusters"]
    assert clusters.shape == (3, 500)
    np.testing.assert_array_equal(best.groups, clusters[int(run.metrics["restart/best"])])
    # Outputs of a run number clusters by size; restarts have the components of their models.
    assert adjusted_rand_score(best.groups, final_clusters(Path(run.directory))) == 1
    assert clustering_scores(labels, best.groups)["acc"] == pytest.approx(run.metrics["train/acc"])
    lowest = int(np.argmin(run.restarts["elbo"]))
    assert clustering_scores(labels, worst.groups)["acc"] == pytest.approx(run.restarts["oracle_acc"][lowest])
    assert "d: with answers, one start (seed 0)" in answered.title


def test_the_figure_is_an_image_and_the_cells_hold_our_numbers(collected: Collected, tmp_path: Path) -> None:
    result = build("figure-2", collected, tmp_path)
    (shown,) = result.images
    assert "b: best of 3 starts by ELBO (seed 0)" in shown.caption
    image = mpimg.imread(tmp_path / shown.path)
    assert image.shape[0] > 800
    assert image.std() > 0.05  # not an empty sheet
    cells = {(cell.cell[0], cell.quantity): cell for cell in result.cells}
    (run,) = collected.finished("pinwheel_none")
    ours = summary_of(cells["b", "accuracy"])
    assert ours.mean == run.metrics["train/acc"]
    lowest = int(np.argmin(run.restarts["elbo"]))
    worst = summary_of(cells["c", "nmi"])
    assert worst.mean == run.restarts["oracle_nmi"][lowest]
    assert cells["d", "accuracy"].remark == "seed 1 missing: not in the mean"


def test_without_runs_there_are_only_the_papers_numbers(tmp_path: Path) -> None:
    result = build("figure-2", synthetic(), tmp_path)
    assert not result.images
    assert {cell.ours for cell in result.cells} == {None}
    assert result.status == "not yet done"
