"""Tables and figures of the discriminative paper from made runs."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from semicrowd.data import load_dataset
from semicrowd.metrics import clustering_scores
from semicrowd.pipeline.experiments import RECORDED, load_plan, profile_path
from semicrowd.report.cells import Summary
from semicrowd.report.collect import Collected, Run
from semicrowd.report.exhibits import Result
from semicrowd.report.experiments import not_in_profile
from semicrowd.report.papers.discriminative_bnp import figures, paper, tables
from semicrowd.settings.fields import dotted
from semicrowd.settings.methods import METHODS

from ..conftest import collected, config_of_experiment, exhibit, summary_of

PAPER = "discriminative-bnp"
#: What the report says of every sampler: the paper tells neither.
NOT_SAID = {
    "sweeps of each: 60 (paper: not said)",
    "clusters of the first partition (1: items are seated one by one): 20 (paper: not said)",
}


def build(key: str, folder: Path, **runs: list[Run]) -> Result:
    return exhibit(key, PAPER).build(collected(**runs), folder)


def sampled(model: str, mixed: int = 1, point: dict[str, Any] | None = None, **changed: Any) -> Run:
    """A finished run of a sampler as the paper has it, but for what is given."""
    kind = METHODS[model].settings
    settings = {one: getattr(kind(), one) for one in ("n_kept", "w", "n_warm") if hasattr(kind, one)}
    settings |= {"name": model, "n_chains": 10, "n_sweeps": 60, "n_start": 20, "splits": 0, "alpha_prior": [1.0, 1.0],
                 "family": "multinomial", "dirichlet": 0.01, "bias": False, "scale": "none", "new": "paper",
                 "count_scale": 4.5, "scatter": 0.3, **changed}  # fmt: skip
    numbers = {"clusters": (14.5, 1.0), "nmi": (0.6, 0.02), "f1": (0.45, 0.03)}
    metrics = {f"samples/{name}": mean for name, (mean, _) in numbers.items()}
    metrics |= {f"samples/{name}_sd": sd for name, (_, sd) in numbers.items()}
    metrics |= {"chains/mixed": mixed, "chains/rhat_clusters": 1.2, "chains/ess_clusters": 30.0,
                "chains/rhat_log_likelihood": 1.01, "chains/ess_log_likelihood": 250.0}  # fmt: skip
    return Run(0, "results/x/seed-0", "finished", metrics=metrics, config={"model": settings}, point=point or {})


def told(clusters: int, nmi: float) -> Run:
    metrics = {"clusters/occupied": float(clusters), "train/nmi": nmi, "train/f1": nmi / 2}
    return Run(0, "x", "finished", metrics=metrics, config={"model": {"name": "kmeans"}}, point={"model.K": clusters})


def test_the_printed_numbers() -> None:
    assert (len(paper.TABLE_1_PRINTED), len(paper.TABLE_2_PRINTED)) == (3 * (6 + 8 + 8), 3 * 2 * 6)
    table, other = exhibit("table-1", PAPER), exhibit("table-2", PAPER)
    assert (table.value("MNIST, DPM", "nmi").value, table.value("MNIST, DPM", "nmi").sd) == (0.603, 0.02)
    assert table.value("MNIST, DDPM-S", "clusters").value == 14
    assert table.value("Fifteen Scenes, AP", "f1").value == 0.124
    assert other.value("user C, DIH-L", "f1").sd == 0.034
    with pytest.raises(KeyError):
        table.value("MNIST, GMM", "clusters")


def test_a_samplers_cell_is_over_its_chains_and_says_whether_they_mixed(tmp_path: Path) -> None:
    result = build("table-1", tmp_path, bnp_mnist_ddpm_s=[sampled("ddpm_s", mixed=0)], bnp_mnist_dpm=[sampled("dpm")])
    cell = next(c for c in result.cells if (c.cell, c.quantity) == ("MNIST, DDPM-S", "nmi"))
    assert summary_of(cell) == Summary(0.6, 0.02, (0,), drawn=50)
    assert cell.difference == pytest.approx(0.6 - 0.597)
    assert cell.remark == (
        "10 chains, their last 5 partitions; NOT MIXED: R-hat of K 1.20 (ESS 30), of ln p(x | z) 1.01 (ESS 250)"
    )
    assert set(cell.deviations) == NOT_SAID
    other = next(c for c in result.cells if (c.cell, c.quantity) == ("MNIST, DPM", "f1"))
    assert "; mixed: R-hat" in other.remark
    assert "scale from 0 to 4.5" in result.text
    assert "DPM (0.600)" in result.text
    swept = [sampled("ddpm_l", point={"model.w": w}, w=w, n_kept=kept) for w, kept in ((0.1, 4), (1.0, 3))]
    digits = build("table-1", tmp_path, bnp_optdigits_ddpm_l=swept).cells
    (at,) = [c for c in digits if c.ours is not None and c.quantity == "nmi"]
    assert at.cell == "optdigits, 1,000 images, DDPM-L"
    assert at.remark.startswith("10 chains, their last 3 partitions;")
    missing = next(c for c in result.cells if c.cell == "Fifteen Scenes, DPM")
    assert (missing.ours, missing.remark) == (None, not_in_profile("bnp_scenes_dpm"))


def test_deviations_are_read_off_the_run(tmp_path: Path) -> None:
    runs = {"bnp_mnist_ddpm_l": [sampled("ddpm_l", n_chains=4, scale="standard", w=2.0, splits=20)]}
    cell = next(c for c in build("table-1", tmp_path, **runs).cells if c.cell == "MNIST, DDPM-L")
    assert set(cell.deviations) == {
        "runs (here: chains): 4 (paper: 10)", "prior variance of the hyperplanes: 2 (paper: 1)",
        "scaling of the features that hyperplanes use: standard (paper: none)",
        "splits and merges proposed before a sweep: 20 (paper: 0)", *NOT_SAID,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("key", "experiment", "found"),
    [
        ("table-1", "bnp_mnist_dpm", {"splits and merges proposed before a sweep: 20 (paper: 0)",
                                      "sweeps of each: 60 (paper: not said)",
                                      "clusters of the first partition (1: items are seated one by one): 1 (paper: "
                                      "not said)"}),
        ("table-2", "bnp_sequence_ihmm", {"runs (here: chains): 4 (paper: 10)", *NOT_SAID}),
        ("table-1", "bnp_mnist_dp_means", set()),
        ("table-1", "bnp_mnist_affinity_propagation",
         {"number of clusters to approximate: 17 (paper: not said; it has 18 on all three sets)"}),
    ],
)  # fmt: skip
def test_differences_of_what_the_laptop_runs(key: str, experiment: str, found: set[str]) -> None:
    protocol = exhibit(key, PAPER).protocol
    config = config_of_experiment(load_plan(profile_path("laptop")), experiment)
    assert set(protocol.deviations(config, with_answers=False, runs=1)) - set(protocol.notes) == found
    config["model"]["K"] = 18
    changed = set(protocol.deviations(config, with_answers=False, runs=1)) - set(protocol.notes)
    told = {"bnp_mnist_affinity_propagation": set(),
            "bnp_mnist_dp_means": {"expected number of clusters: 18 (paper: 17)"}}  # fmt: skip
    assert changed == told.get(experiment, found)


def test_the_recorded_row_is_to_the_letter_and_its_numbers_are_of_its_own_chains(tmp_path: Path) -> None:
    protocol = exhibit("table-1", PAPER).protocol
    ((name, (label, paper)),) = tables.RECORDED_ROWS.items()
    literal = config_of_experiment(load_plan(RECORDED), name)
    assert set(protocol.deviations(literal, with_answers=False, runs=1)) == NOT_SAID
    usual = config_of_experiment(load_plan(profile_path("laptop")), "bnp_mnist_ddpm_l")
    flat, other = dotted(literal), dotted(usual)
    assert {key for key in flat.keys() | other.keys() if flat.get(key) != other.get(key)} == {
        "model.new", "model.bias", "model.scale", "model.splits", "model.n_start"
    }  # fmt: skip

    kept = sampled("ddpm_l", mixed=0, n_kept=3)
    kept.metrics.update({"samples/nmi": 0.5, "samples/nmi_sd": 0.04, "train/nmi": 0.7})
    both = {name: [kept], "bnp_mnist_ddpm_l": [kept]}
    of = Collected("laptop", {}, {"bnp_mnist_ddpm_l": [sampled("ddpm_l")]}, both)
    result = exhibit("table-1", PAPER).build(of, tmp_path)
    found = {cell.cell: cell for cell in result.cells if cell.quantity == "nmi" and cell.ours is not None}
    assert found.keys() == {"MNIST, DDPM-L", "MNIST, DDPM-L (recorded)", f"{label} (recorded)"}
    for name_here, mean, sd, drawn in (
        ("MNIST, DDPM-L", 0.6, 0.02, 50), ("MNIST, DDPM-L (recorded)", 0.5, 0.04, 30),
        (f"{label} (recorded)", 0.5, 0.04, 30),
    ):  # fmt: skip
        assert summary_of(found[name_here]) == Summary(mean, sd, (0,), drawn)
    cell = found[f"{label} (recorded)"]
    assert cell.paper == exhibit("table-1", PAPER).value(paper, "nmi")
    recorded = f"recorded: make record EXPERIMENT={name} SEEDS=0; 10 chains, their last 3 partitions; NOT"
    assert cell.remark.startswith(recorded)
    _, before, ranking = result.text.partition("in the order of their mean NMI")
    assert before
    assert label.partition(", ")[2] not in ranking
    empty = exhibit("table-1", PAPER).build(collected(), tmp_path).cells
    assert [c.remark for c in empty if c.cell == label] == [not_in_profile(name)] * 3


@pytest.mark.parametrize("key", ["table-1", "table-2", "figure-3"])
def test_what_nmi_divides_by_is_said(key: str, tmp_path: Path) -> None:
    assert "The paper does not say what its NMI divides" in build(key, tmp_path).text
    # The arithmetic mean of the entropies ln 2 and ln 4; of which ln 2 is shared.
    assert clustering_scores(np.arange(8) % 2, np.arange(8) % 4)["nmi"] == pytest.approx(2 / 3)


def test_methods_that_are_told_k_are_averages_over_it(tmp_path: Path) -> None:
    cells = build("table-1", tmp_path, bnp_mnist_kmeans=[told(10, 0.4), told(11, 0.5)]).cells
    (cell,) = [c for c in cells if (c.cell, c.quantity) == ("MNIST, k-means", "nmi")]
    ours = summary_of(cell)
    assert (ours.mean, ours.sd) == pytest.approx((0.45, np.sqrt(0.005)))
    assert (ours.num_runs, ours.seeds) == (2, (0,))
    assert cell.remark == "K = 10, 11"
    assert not [c for c in cells if (c.cell, c.quantity) == ("MNIST, k-means", "clusters")]


def test_restricted_users_stay_empty_and_stand_ins_have_rows(tmp_path: Path) -> None:
    run = sampled("ihmm", point={"data.which": "home_a"})
    cells = build("table-2", tmp_path, bnp_sequence_ihmm=[run]).cells
    users = [cell for cell in cells if cell.paper is not None]
    assert len(users) == 36
    assert all(cell.ours is None and cell.remark.startswith("data not available here: ") for cell in users)
    (ours,) = [c for c in cells if c.ours is not None and c.quantity == "f1"]
    assert (ours.cell, ours.paper) == ("ADL home A, iHMM", None)


def test_figure_3_has_a_point_for_each_width(tmp_path: Path) -> None:
    runs = [sampled("ddpm_s", point={"model.w": w}, w=w) for w in (1e-6, 10.0)]
    result = build("figure-3", tmp_path, bnp_optdigits_ddpm_s=runs)
    labels = [cell.cell for cell in result.cells if cell.ours is not None and cell.quantity == "nmi"]
    assert labels == [f"optdigits, 1,000 images, DDPM-S, w = {w}" for w in ("1e-06", "10")]
    assert (tmp_path / result.images[0].path).stat().st_size > 1000
    assert result.cells[0].remark.startswith("data not available here")


def write_run(folder: Path, partitions: np.ndarray, chain: list[int], sweep: list[int]) -> None:
    np.savez(folder / "partitions.npz", partitions=partitions, chain=chain, sweep=sweep, kept=np.ones(len(chain), bool))
    pd.DataFrame({"item": np.arange(partitions.shape[1]), "cluster": partitions[-1]}).to_csv(
        folder / "assignments.csv", index=False
    )
    seconds = [0.5 * (1 + c) * s for c, s in zip(chain, sweep, strict=True)]
    pd.DataFrame({"chain": chain, "sweep": sweep, "clusters": 1, "seconds": seconds}).to_csv(
        folder / "chains.csv", index=False
    )


def of_folder(run: Run, folder: Path, data: dict[str, str]) -> Run:
    return Run(0, str(folder), "finished", metrics=run.metrics, config={**run.config, "data": data}, point=run.point)


def test_figure_2_counts_the_chains_that_end_with_two_clusters(tmp_path: Path) -> None:
    (tmp_path / "figures").mkdir()
    chains = np.arange(300) // 150
    write_run(tmp_path, np.stack([chains, np.arange(300) % 3, chains]), [0, 1, 2], [60, 60, 60])
    run = of_folder(sampled("ddpm_s", family="gaussian"), tmp_path, {"name": "benchmark", "which": "chains"})
    assert figures.number_of_clusters(run).tolist() == [2, 3, 2]
    result = build("figure-2", tmp_path, bnp_chains_ddpm_s=[run])
    (cell,) = [c for c in result.cells if "K = 2, of 3" in c.cell]
    assert summary_of(cell).mean == 2
    assert (tmp_path / result.images[0].path).stat().st_size > 1000


def test_figure_4_is_f1_against_the_processors_time(tmp_path: Path) -> None:
    (tmp_path / "figures").mkdir()
    labels = load_dataset("sequence", Path("unused"), which="walk").labels
    assert labels is not None
    nothing = np.zeros(600, int)
    write_run(tmp_path, np.stack([nothing, nothing, labels, nothing]), [0, 1, 0, 1], [5, 5, 10, 10])
    made = sampled("ihmm", point={"data.which": figures.USER})
    run = of_folder(made, tmp_path, {"name": "sequence", "which": "walk"})
    curve = figures.curve_of(run)
    one = curve["f1"].iloc[0]
    pairs = np.bincount(labels)
    same = (pairs * (pairs - 1)).sum() / (600 * 599)
    assert one == pytest.approx(2 * same / (1 + same))
    assert curve["f1"].iloc[1] == pytest.approx((1 + one) / 2)
    assert curve["seconds"].tolist() == [0.75 * 5, 0.75 * 10]
    result = build("figure-4", tmp_path, bnp_sequence_ihmm=[run])
    (cell,) = [c for c in result.cells if c.ours is not None]
    assert cell.cell == "iHMM, after 7.5 s and 10 sweeps of a chain"
    assert (tmp_path / result.images[0].path).stat().st_size > 1000
