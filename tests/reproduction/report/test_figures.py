"""Figures and derived numbers come from the files of runs."""

from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from reproduction.report.engine import Image
from reproduction.report.runs import read_runs
from reproduction.report.tables import Row, fill
from semicrowd.data.generated import load_pinwheel
from semicrowd.evaluation.scores import Likeliest
from semicrowd.files import write_arrays
from semicrowd.metrics.clustering import pairwise_f1
from semicrowd.result import Assignment

from .conftest import Make, exhibit, row

PINWHEEL = {"data._target_": "semicrowd.data.generated.load_pinwheel", "data.points_per_class": 20}


@pytest.fixture
def figures(monkeypatch: pytest.MonkeyPatch) -> list[Figure]:
    """The figures that are saved, to look into their axes."""
    saved: list[Figure] = []
    original = Figure.savefig

    def savefig(self: Figure, *given: Any, **options: Any) -> None:
        saved.append(self)
        original(self, *given, **options)

    monkeypatch.setattr(Figure, "savefig", savefig)
    return saved


def drawn(paper: str, key: str, results: Path, folder: Path) -> tuple[list[Row], list[Image]]:
    """Rows and images of a table or figure; every image is a file and has runs."""
    module, one = import_module(f"reproduction.report.{paper}.figures"), exhibit(key, paper)
    (folder / "figures").mkdir(parents=True, exist_ok=True)
    runs = module.prepare(read_runs(results, Path("/nowhere")), results)
    rows = fill(one, runs)
    images: list[Image] = [image for name in one["figures"] for image in getattr(module, name)(rows, folder)]
    for image in images:
        assert (folder / image.path).read_bytes().startswith(b"\x89PNG")
        assert len(image.runs)
    return rows, images


@pytest.mark.parametrize(
    ("paper", "key"),
    [("scdc", key) for key in ("figure-2", "figure-3a", "figure-3c", "table-1", "figure-4a", "figure-4b", "figure-5")]
    + [("deep_dpm", f"figure-{number}") for number in (1, 2, 3, 4)]
    + [("discriminative_bnp", f"figure-{number}") for number in (2, 3, 4)] + [("slpd", "figure-2")],
)  # fmt: skip
def test_without_runs_nothing_is_drawn(paper: str, key: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rows, images = drawn(paper, key, tmp_path / "results", tmp_path)
    assert not images
    assert not any(one.has_runs for one in rows)


def test_pinwheels_panels_are_starts_of_highest_and_lowest_elbo(make: Make, results: Path, tmp_path: Path) -> None:
    labels = load_pinwheel(points_per_class=20).labels
    metrics = {"train/acc": 0.9, "train/nmi": 0.8, "clusters/used": 5}
    none = make("none/0", "pinwheel", "bayes", config=PINWHEEL, metrics=metrics)
    asked = make("asked/0", "pinwheel", "bayes", "two_coin", config=PINWHEEL, metrics=metrics)
    starts = np.stack([labels, np.zeros_like(labels), labels % 2, labels])
    elbo = [-2.0, -9.0, -1.0, np.nan]  # the last one diverged
    write_arrays(none / "restart_assignments.npz", {"clusters": starts})
    pd.DataFrame({"elbo": elbo, "oracle_acc": 0.5, "oracle_nmi": 0.4}).to_csv(none / "restarts.csv", index=False)
    pd.DataFrame({"id": range(len(labels)), "cluster": labels}).to_csv(asked / "assignments.csv", index=False)
    rows, (image,) = drawn("scdc", "figure-2", results, tmp_path)
    assert "best of 4 starts by ELBO (seed 0): 2 clusters" in image.caption
    assert "worst of 4 starts by ELBO (seed 0): 1 clusters, accuracy 0.200" in image.caption
    assert "5 clusters, accuracy 1.000" in image.caption
    worst = row(rows, "worst").number("accuracy")
    assert worst.mean == 0.5


def test_curves_on_face_are_means_over_runs(make: Make, results: Path, tmp_path: Path, figures: list[Figure]) -> None:
    nmi = {200: (0.4, 0.6), 1000: (0.9, 1.0)}
    for number, values in nmi.items():
        for seed, value in enumerate(values):
            config = {"annotations.pairs_per_annotator": number, "annotations.num_annotated": None}
            for model, metric in (("scdc", value), ("mcvc", value / 2)):
                make(f"face/{model}{number}{seed}", "face", model, "quota", seed, config=config,
                     metrics={"final/nmi": metric})  # fmt: skip
    make("alone/0", "face", "kmeans", metrics={"final/nmi": 0.1})
    _, (image,) = drawn("scdc", "figure-3a", results, tmp_path)
    lines = {str(line.get_label()): line for line in figures[0].axes[0].lines}
    assert lines["SCDC"].get_xdata() == pytest.approx([200, 1000])
    assert lines["SCDC"].get_ydata() == pytest.approx([0.5, 0.95])
    assert lines["MCVC"].get_ydata() == pytest.approx([0.25, 0.475])
    assert lines["k-means, no answers"].get_ydata() == pytest.approx([0.1, 0.1])
    assert set(image.runs["folder"]) == set(read_runs(results, Path("/nowhere"))["folder"])


def test_weights_are_those_of_workers_csv(make: Make, results: Path, tmp_path: Path, figures: list[Figure]) -> None:
    rates = np.array([0.95, 0.9, 0.85, 0.8, 0.75])
    true = 2 * np.log(rates / (1 - rates))
    for seed in (0, 1):
        config = {"annotations.pairs_per_annotator": 2000, "annotations.num_annotated": None}
        folder = make(f"face/{seed}", "face", "bayes", "quota", seed, config=config)
        pd.DataFrame({"weight": true + seed}).to_csv(folder / "workers.csv", index=False)
    rows, _ = drawn("scdc", "figure-3c", results, tmp_path)
    numbers = row(rows, "bayes").cells
    assert [float(name.partition("true ")[2][:-1]) for name in numbers] == pytest.approx(true, abs=1e-3)
    assert [row(rows, "bayes").number(name).mean for name in numbers] == pytest.approx(true + 0.5)
    assert figures[0].axes[0].lines[0].get_ydata() == pytest.approx(true, abs=1e-3)


def test_tasks_snapshots_and_likeliest_images(make: Make, results: Path, tmp_path: Path, figures: list[Figure]) -> None:
    whole = make("mnist/0", "mnist", "bayes", "crowd", metrics={"test/acc": 0.9})
    make("mnist/1", "mnist", "bayes", metrics={"test/acc": 0.7})
    make("mnist/2", "mnist", "bayes", "crowd", config={"annotations.num_tasks": 20}, metrics={"test/acc": 0.8})
    _, (image,) = drawn("scdc", "table-1", results, tmp_path)
    containers: Any = figures[0].axes[0].containers
    ours, paper = (containers[number].lines[0] for number in (0, 1))
    assert list(ours.get_xdata()) == [0, 20, 91]
    assert list(ours.get_ydata()) == [0.7, 0.8, 0.9]
    assert list(paper.get_ydata()) == [0.7764, 0.8424]
    assert "Not there: 5, 10, 45 tasks" in image.caption
    weights = np.array([[0.5, 0.3, 0.2], [0.9, 0.0996, 0.0004]])
    arrays = {"epochs": np.array([0, 4]), "weights": weights, "samples": np.zeros((2, 3, 784))}
    write_arrays(whole / "snapshots.npz", arrays)
    rows, (image,) = drawn("scdc", "figure-4a", results, tmp_path)
    used = [row(rows, "bayes").number(f"clusters {when}") for when in ("at the start", "after epoch 4")]
    assert [one.mean for one in used if one] == [3, 2]
    assert image.path.name == "mnist-training-default.png"
    folder = make("cifar/0", "cifar10", "scdc", metrics={"test/acc": 0.2})
    items = Assignment(np.array([0, 0, 1, 1]), np.array([0.9, 0.5, 0.7, 0.8]))
    Likeliest.of(items, np.zeros((4, 3072))).write(folder)
    _, (image,) = drawn("scdc", "figure-4b", results, tmp_path)
    assert image.path.name == "cifar10-without-answers.png"


def test_chains_of_the_sequences_and_of_two_chains(make: Make, results: Path, tmp_path: Path) -> None:
    metrics = {"samples/nmi": 0.5, "samples/nmi_sd": 0.1, "chains/mixed": 1}
    config = {**PINWHEEL, "params.n_chains": 2, "params.n_kept": 1, "params.n_sweeps": 4}
    labels = load_pinwheel(points_per_class=20).labels
    partitions = np.stack([labels, labels % 2, labels % 2, np.zeros_like(labels)])
    samples = {"chain": np.array([0, 0, 1, 1]), "sweep": np.array([2, 4, 2, 4]), "partitions": partitions}
    chains = pd.DataFrame({"chain": [0, 0, 1, 1], "sweep": [2, 4, 2, 4], "seconds": [1.0, 2.0, 2.0, 6.0]})
    for place, data, model, which in (("a", "sequence", "ihmm", "wifi_1"), ("b", "benchmark", "dpm", "chains")):
        folder = make(f"some/{place}", data, model, config=config, metrics=metrics)
        write_arrays(folder / "partitions.npz", samples)
        chains.to_csv(folder / "chains.csv", index=False)
        pd.DataFrame({"cluster": labels % 2}).to_csv(folder / "assignments.csv", index=False)
        runs = read_runs(results, Path("/nowhere"))
        mine = runs[runs["folder"] == folder.as_posix()].assign(**{"data.which": which})
        prepared = import_module("reproduction.report.discriminative_bnp.figures").prepare(mine, results).iloc[0]
        if data == "sequence":
            ends = [pairwise_f1(labels, partitions[number]) for number in (1, 3)]
            assert prepared["chains/last_f1"] == pytest.approx(np.mean(ends))
            assert prepared["chains/seconds"] == 4.0
        else:
            assert prepared["chains/two"] == 1, "the last partitions have two clusters and one"


def test_rows_of_the_stages_beside_train(results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SEMICROWD_DATA", str(tmp_path / "data"))
    spaces, slpd = results / "spaces_mnist", results / "slpd"
    spaces.mkdir(parents=True)
    slpd.mkdir()
    scores = [("mnist", seed, space, "kmeans", 9, 9, 0.1 * seed, 0.2, 0.3)
              for seed in (1, 2) for space in ("autoencoder", "flow")]  # fmt: skip
    columns = ["which", "seed", "space", "method", "told", "clusters", "ari", "f1", "nmi"]
    pd.DataFrame(scores, columns=columns).to_csv(spaces / "scores.csv", index=False)
    within = {"epochs": np.array([0, 7]), "within": np.array([0.5, 0.25])}
    write_arrays(spaces / "embedding.npz", {"points": np.zeros((2, 9, 2)), "labels": np.arange(9), **within})
    write_arrays(spaces / "digits.npz", {"images": np.zeros((2, 4, 784)), "classes": np.array([3, 8])})
    rows, images = drawn("deep_dpm", "figure-2", results, tmp_path)
    flow = row(rows, "mnist_kmeans", "flow").number("ARI")
    assert (flow.mean, flow.n) == (pytest.approx(0.15), 2)
    assert [image.path.name for image in images] == ["deep-dpm-spaces.png"]
    rows, _ = drawn("deep_dpm", "figure-3", results, tmp_path)
    assert [one.number("share").mean for one in rows] == [0.5, 0.25]
    _, (image,) = drawn("deep_dpm", "figure-4", results, tmp_path)
    assert "3, 8" in image.caption
    trials = [(method, 0.25, trial, fold, 0.5 + 0.1 * (method == "slpd") + 0.01 * fold, 3)
              for method in ("slpd", "ckm") for trial in range(2) for fold in range(3)]  # fmt: skip
    columns = ["method", "share", "trial", "fold", "bri", "clusters"]
    pd.DataFrame(trials, columns=columns).to_csv(slpd / "iris.csv", index=False)
    curve = [(labels, k, run, -abs(k - best), 0.1) for labels, best in (("none", 4), ("one class", 3), ("all", 2))
             for k in (2, 3, 4) for run in range(3)]  # fmt: skip
    columns = ["labels", "clusters", "run", "log_likelihood", "error"]
    pd.DataFrame(curve, columns=columns).to_csv(slpd / "curve.csv", index=False)
    module = import_module("reproduction.report.slpd.figures")
    rows = fill(exhibit("table-2", "slpd"), module.prepare(read_runs(results, Path("/nowhere")), results))
    ours = row(rows, "iris_slpd_0.25").number("BRI")
    assert (ours.mean, ours.n) == (pytest.approx(0.61), 6)
    less = next(one for one in rows if one.label == "iris, SLPD minus CKM, 25% of the labels")
    number = less.number("BRI, paired difference")
    assert (number.mean, number.n) == (pytest.approx(0.1), 6)
    rows = fill(exhibit("figure-2", "slpd"), module.prepare(read_runs(results, Path("/nowhere")), results))
    peaks = [one.number("clusters") for one in rows if one.paper]
    assert [one.mean for one in peaks if one] == [4, 3, 2]
