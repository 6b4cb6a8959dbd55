"""Names and values under which a run's settings and metrics go to MLflow."""

import math

from omegaconf import OmegaConf

from semicrowd.tracking import content


def test_parameters_are_named_as_on_the_command_line_and_cut_to_what_servers_take() -> None:
    cfg = OmegaConf.create(
        {
            "data": {"name": "mnist"},
            "model": {"name": "bayes", "prior": {"kappa": 0.5, "name": "wide"}, "hidden": [500, 2000]},
            "annotations": {"name": "file", "path": None},
            "logger": {"name": "mlflow"},
            "resume": True,
            "seed": 3,
            "copy": "${seed}",
            "long": "x" * 251,
        }
    )
    assert content.parameters(cfg) == {
        "data": "mnist", "model": "bayes", "model.prior": "wide", "model.prior.kappa": "0.5",
        "model.hidden": "[500, 2000]", "annotations": "file", "annotations.path": "null", "seed": "3", "copy": "3",
        "long": "x" * 249 + "…",
    }  # fmt: skip


def test_tags_leave_out_what_is_not_known() -> None:
    found = content.tags({"git_commit": None, "git_dirty": None, "annotations": None, "data_hashes": {"a:b": "12"}})
    assert found == {"mlflow.source.type": "LOCAL", "sha256.a_b": "12"}


def test_runs_on_own_files_are_called_by_them_and_by_what_the_user_has_set() -> None:
    settings = {"seed": 3, "data": {"name": "table", "path": "data/my wines.csv"}, "model": {"name": "cotrain"},
                "annotations": {"name": "file", "path": ["in/answers.csv", "in/groups.csv"]}}  # fmt: skip
    assert content.run_name(settings) == "my wines.csv cotrain answers.csv + groups.csv seed 3"
    folder = settings | {"data": {"name": "images", "path": "photos/"}, "annotations": {"name": "none"}}
    given = {"model": "cotrain", "model.hidden": [8, 8], "model.K": 4, "seed": 3, "annotations.path": "a.csv"}
    assert content.run_name(folder, given) == "photos cotrain none K=4 hidden=[8, 8] seed 3"
    assert content.run_name(folder | {"data": {"name": "benchmark", "which": "iris"}}) == "iris cotrain none seed 3"
    assert len(content.run_name(settings, {f"model.number_{k}": k for k in range(30)})) < 150


def test_weights_of_annotators_are_metrics_whatever_their_names() -> None:
    found = content.annotator_weights({"Zoë/1": 2.0, "a<b": 1.0, "a>b": float("inf"), "..": 0.0})
    assert list(found) == [f"annotator weight/{name}" for name in ("Zoë_1", "a_b", "a_b 2", "_")]
    assert found["annotator weight/a_b"] == 1
    assert math.isnan(found["annotator weight/a_b 2"])
    assert content.annotator_weights({str(k): 0.0 for k in range(61)}) == {}
