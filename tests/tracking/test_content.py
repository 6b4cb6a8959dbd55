"""Names and values under which a run's settings and metrics go to MLflow."""

import math

from omegaconf import OmegaConf

from semicrowd.tracking import content


def test_parameters_are_named_as_on_the_command_line() -> None:
    cfg = OmegaConf.create(
        {
            "data": {"name": "mnist"},
            "model": {"name": "bayes", "prior": {"kappa": 0.5, "name": "wide"}, "hidden": [500, 2000]},
            "annotations": {"name": "file", "path": None},
            "logger": {"name": "mlflow"},
            "resume": True,
            "seed": 3,
            "copy": "${seed}",
        }
    )
    assert content.parameters(cfg) == {
        "data": "mnist",
        "model": "bayes",
        "model.prior": "wide",
        "model.prior.kappa": "0.5",
        "model.hidden": "[500, 2000]",
        "annotations": "file",
        "annotations.path": "null",
        "seed": "3",
        "copy": "3",
    }


def test_long_parameters_are_cut_to_250_characters() -> None:
    short, long = "x" * 250, "x" * 251
    parameters = content.parameters(OmegaConf.create({"short": short, "long": long}))
    assert parameters["short"] == short
    assert parameters["long"] == "x" * 249 + "…"


def test_tags_leave_out_what_is_not_known() -> None:
    found = content.tags({"git_commit": None, "git_dirty": None, "annotations": None, "data_hashes": {"a:b": "12"}})
    assert found == {"mlflow.source.type": "LOCAL", "sha256.a_b": "12"}


def test_runs_on_own_files_are_called_by_them() -> None:
    settings = {"seed": 3, "data": {"name": "table", "path": "data/my wines.csv"}, "model": {"name": "cotrain"},
                "annotations": {"name": "file", "path": "/home/me/answers.csv"}}  # fmt: skip
    assert content.run_name(settings) == "my wines.csv cotrain answers.csv seed 3"
    several = settings | {"annotations": {"name": "file", "path": ["in/answers.csv", "in/groups.csv"]}}
    assert content.run_name(several) == "my wines.csv cotrain answers.csv + groups.csv seed 3"
    folder = settings | {"data": {"name": "images", "path": "photos/"}, "annotations": {"name": "none"}}
    assert content.run_name(folder) == "photos cotrain none seed 3"
    assert content.run_name(folder | {"data": {"name": "benchmark", "which": "iris"}}) == "iris cotrain none seed 3"


def test_weights_of_annotators_are_metrics_whatever_their_names() -> None:
    found = content.annotator_weights({"Zoë/1": 2.0, "a<b": 1.0, "a>b": float("inf"), "..": 0.0})
    assert list(found) == [f"annotator weight/{name}" for name in ("Zoë_1", "a_b", "a_b 2", "_")]
    assert found["annotator weight/a_b"] == 1
    assert math.isnan(found["annotator weight/a_b 2"])
    assert content.annotator_weights({str(k): 0.0 for k in range(61)}) == {}


def test_the_name_of_a_run_has_what_the_user_has_set_of_the_model_and_the_answers() -> None:
    settings = {"seed": 0, "data": {"name": "table", "path": "c.csv"}, "model": {"name": "kmeans"},
                "annotations": {"name": "none"}}  # fmt: skip
    given = {"model": "kmeans", "model.hidden": [8, 8], "model.K": 4, "seed": 0, "data.path": "c.csv",
             "annotations.path": "a.csv", "annotations.must_link": "/home/me/same.csv",
             "trainer.threads": 2}  # fmt: skip
    assert content.run_name(settings, given) == "c.csv kmeans none must_link=same.csv K=4 hidden=[8, 8] seed 0"
    long = content.run_name(settings, {f"model.number_{k}": k for k in range(30)})
    assert len(long) < 100
    assert long.endswith("… seed 0")
