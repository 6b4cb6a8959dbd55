"""Settings of a run: resolved in order, refused in one line, told apart by where they came from."""

from pathlib import Path

import pytest

from semicrowd.errors import UserError
from semicrowd.run.composition import composed
from semicrowd.run.files.config import check_same, read_config, same_given, write_config
from semicrowd.run.settings import check_given, resolve, resolved
from semicrowd.settings.rule import Facts

MNIST = Facts(60_000, 784, (28, 28), True, 57_330, 2759, 91, "mnist", 10)


def test_an_argument_counts_more_than_a_rule_and_a_rule_more_than_a_default() -> None:
    found = resolved(composed(["data=mnist", "model=bayes", "annotations=crowd", "model.K=20", "epochs=3"]), MNIST)
    assert {name: found.values[name] for name in ("model.K", "epochs", "model.max_sweeps", "views.rotate")} == {
        "model.K": 20, "epochs": 3, "model.max_sweeps": 3, "views.rotate": 12.0,
    }  # fmt: skip
    assert found.given == {"model.K": 20, "epochs": 3}
    content = found.content
    assert (content["model"]["name"], content["model"]["hidden"]) == ("bayes", [500, 500])
    assert (content["seed"], content["protocol"]) == (0, "semicrowd")
    assert content["data"] == {"name": "mnist", "subset": None, "data_seed": 0}


def test_before_there_are_data_the_rule_is_silent() -> None:
    settings = resolve(["annotations=tasks", "annotations.num_annotators=30"])
    assert (settings["annotations"]["num_annotators"], settings["annotations"]["num_tasks"]) == (30, 91)
    assert "model" in settings
    assert "K" not in settings["model"]  # the rule decides with the data
    assert resolve(["model.K=3"])["model"] == {"name": "scdc", "K": 3}


def test_a_baseline_asks_for_its_number_of_clusters_where_the_data_do_not_say() -> None:
    given = composed(["model=kmeans", "data=table"])
    with pytest.raises(UserError, match=r"model\.K: expected a number of clusters"):
        resolved(given, Facts(30, 2, data="table"))
    found = resolved(given, Facts(30, 2, data="table", num_classes=3))
    assert (found.values["model.K"], found.given) == (3, {})


@pytest.mark.parametrize(
    ("arguments", "facts", "said"),
    [
        ("model.K=501", Facts(500, 2, data="pinwheel"), "model.K=501: more clusters than the 500 items of pinwheel"),
        ("model=kmeans model.K=9", Facts(3, 2, data="pinwheel"), "model.K=9: more clusters than the 3 items"),
        ("snapshots=[1]", Facts(500, 2, data="pinwheel"), "snapshots=[1]: expected [], since data=pinwheel"),
        ("snapshots=[9] data=mnist epochs=2", MNIST, "snapshots=[9]: expected a list of epochs from 0"),
    ],
)
def test_what_does_not_fit_the_data_is_refused(arguments: str, facts: Facts, said: str) -> None:
    with pytest.raises(UserError) as error:
        resolved(composed(arguments.split()), facts)
    assert said in str(error.value)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("trainer.devices=2", "trainer.devices=2: several processes need trainer=ddp"),
        ("trainer=ddp model=kmeans", "several processes need model=bayes or scdc"),
        ("trainer=cpu trainer.devices=2", "trainer.devices=2: several processes need trainer=ddp"),
        ("trainer.num_nodes=2", "trainer.num_nodes=2: several processes need trainer=ddp"),
        ("trainer.num_nodes=0", "trainer.num_nodes=0: expected a whole number from 1"),
        ("trainer.devices=2 trainer=ddp model=kmeans", "several processes need model=bayes or scdc"),
        ("trainer.num_nodes=2 trainer=ddp model=kmeans", "several processes need model=bayes or scdc"),
        ("model=kmeans nets=conv", "nets.kind=conv: model=kmeans"),
        ("model=kmeans start.epochs=3", "start.epochs=3: model=kmeans has no such settings"),
        ("hydra.run.dir=", "hydra.run.dir=: expected the path of a folder"),
        ("annotations=tasks annotations.num_tasks=30", "annotations.num_tasks=30: expected one or more for each of 48"),
        ("model=semicrowd model.lower=0.9", "model.lower=0.9, model.upper="),
        ("model=mcvc +model.hiden=3", "model.hiden: no such setting"),
    ],
)
def test_what_does_not_go_together_is_refused_before_there_are_data(arguments: str, said: str) -> None:
    with pytest.raises(UserError) as error:
        check_given(composed(arguments.split()))
    assert said in str(error.value)


def test_a_resumed_run_may_change_how_and_not_what() -> None:
    before = {"seed": 0, "resume": False, "figures": True, "model": {"K": 15}, "logger": {"name": "mlflow"}}
    check_same(before, before | {"resume": True, "figures": False, "logger": {"name": "none"}}, Path("run"))
    with pytest.raises(UserError, match=r"run: resume=true, but the run was started with model\.K=15, not 20"):
        check_same(before, before | {"model": {"K": 20}}, Path("run"))
    with pytest.raises(UserError, match=r"annotations\.path=null, not a\.csv"):
        check_same(before, before | {"annotations": {"path": "a.csv"}}, Path("run"))


def test_a_configuration_remembers_what_was_given(tmp_path: Path) -> None:
    write_config(tmp_path, {"seed": 0, "model": {"name": "bayes", "K": 3}}, {"model": "bayes", "model.K": 3})
    kept = read_config(tmp_path / "config.yaml")
    assert same_given(kept, {"model": "bayes", "model.K": 3, "resume": True, "trainer.progress": False})
    assert not same_given(kept, {"model": "bayes", "model.K": 3, "seed": 0})
    assert not same_given({}, {})


@pytest.mark.parametrize("content", ["a: [1", "- 1", "!!python/object/apply:os.system ['true']"])
def test_a_configuration_is_plain_yaml(tmp_path: Path, content: str) -> None:
    path = tmp_path / "config.yaml"
    path.write_text(content)
    with pytest.raises(UserError, match=r"config\.yaml"):
        read_config(path)
