"""Configuration files and settings hold together; what is given is known with where it came from."""

from pathlib import Path

import pytest
import yaml
from hypothesis import given as drawn
from hypothesis import settings
from hypothesis import strategies as st

from semicrowd.estimators import ESTIMATORS
from semicrowd.run.composition import CONF, composed, known_keys
from semicrowd.settings.cluster import SlurmSettings
from semicrowd.settings.fields import described, plain, shown
from semicrowd.settings.groups import CHOSEN, FIXED, SEVERAL, choice_of, names_of

from .conftest import Command

FILES = [path for group in CHOSEN for path in sorted((CONF / group).glob("*.yaml"))]


#: Data that a user brings.
OWN = ("images", "npz", "table")


@pytest.mark.parametrize("group", CHOSEN)
def test_every_choice_has_settings_and_a_file(group: str) -> None:
    assert {path.stem for path in (CONF / group).glob("*.yaml")} == set(CHOSEN[group])


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_choice_is_its_heading_its_name_and_the_names_of_its_settings(path: Path) -> None:
    assert path.read_text().startswith("# ")
    group, name = path.parent.name, path.stem
    defaults = [{f"/settings/{group}@_here_": name}]
    if path.stem in OWN:
        defaults.append({"override /model@_global_.model": "cotrain"})
    assert yaml.safe_load(path.read_text()) == {"defaults": defaults, "name": name}
    found = composed([f"{group}={name}"])
    assert found.choices[group] == name
    assert found.values == {}  # nothing is given, so that rules and defaults decide
    assert found.origins[group] == f"{group}={name}"


@pytest.mark.parametrize("name", OWN)
def test_a_users_own_data_are_clustered_by_co_training_unless_another_model_is_named(name: str) -> None:
    found = composed([f"data={name}"])
    assert (found.choices["model"], found.origins["model"]) == ("cotrain", f"conf/data/{name}.yaml")
    found = composed([f"data={name}", "model=bayes"])
    assert (found.choices["model"], found.origins["model"]) == ("bayes", "model=bayes")
    assert composed([]).choices["model"] == "scdc"


@pytest.mark.parametrize("group", FIXED)
def test_the_other_groups_choices_are_values_of_a_setting(group: str) -> None:
    setting, choices = choice_of(group)
    for choice in choices:
        found = composed([f"{group}={choice}"])
        expected = SEVERAL.get(group, {}).get(choice, {setting: choice})
        assert found.values == {f"{group}.{name}": value for name, value in expected.items()}
        assert set(found.origins.items()) >= {(name, f"{group}={choice}") for name in found.values}


def test_a_choice_that_stands_for_several_settings_gives_way_to_each_of_them() -> None:
    found = composed(["trainer=ddp", "trainer.devices=4"])
    assert found.values == {"trainer.strategy": "ddp", "trainer.devices": 4}
    assert found.origins["trainer.strategy"] == "trainer=ddp"
    assert found.origins["trainer.devices"] == "trainer.devices=4"
    found = composed(["trainer=cpu", "trainer.accelerator=auto", "trainer.devices=1"])
    assert found.values == {"trainer.strategy": "single", "trainer.accelerator": "auto", "trainer.devices": 1}
    assert found.origins["trainer.devices"] == "trainer.devices=1"


def test_the_file_of_a_slurm_cluster_has_every_setting_with_its_default() -> None:
    content = yaml.safe_load((CONF / "hydra" / "launcher" / "slurm.yaml").read_text())
    assert content == {one.name: plain(one.default) for one in described(SlurmSettings)}
    found = composed(["hydra/launcher=slurm", "hydra.launcher.time=9"])
    assert found.launcher == content | {"name": "slurm", "time": 9}


def test_there_are_few_files_and_few_settings() -> None:
    files = [path for path in CONF.rglob("*") if path.is_file()]
    assert {path.stem for path in files if path.parent.name == "model"} == set(ESTIMATORS)
    assert len(files) - len(ESTIMATORS) <= 37
    keys = known_keys()
    assert {"seed", "epochs", "model.K", "data.path", "annotations.path", "start.kind", "experiment"} <= set(keys)
    for model in ("bayes", "scdc"):
        kinds = [CHOSEN["model"][model], *(FIXED[group] for group in ("nets", "start", "views"))]
        assert sum(len(names_of(kind)) for kind in kinds) <= 47


def test_arguments_files_and_groups_are_told_apart() -> None:
    found = composed(["experiment=mnist_conv_crowd", "model.K=20", "+note=a", "data.pca=3", "data=face", "seed=4"])
    assert found.choices == {"data": "face", "model": "bayes", "annotations": "crowd"}
    assert found.values == {"model.K": 20, "data.pca": 3, "nets.kind": "conv", "seed": 4}
    assert found.extra == {"note": "a"}
    file = "conf/experiment/mnist_conv_crowd.yaml"
    assert found.origins == {
        "data": "data=face", "model": file, "annotations": file, "model.K": "model.K=20", "data.pca": "data.pca=3",
        "nets.kind": file, "seed": "seed=4",
    }  # fmt: skip
    assert composed(["experiment=face_scdc_quota"]).origins["annotations.pairs_per_annotator"] == (
        "conf/experiment/face_scdc_quota.yaml"
    )


def test_null_is_a_value_where_a_setting_is_optional_and_otherwise_not_given() -> None:
    assert composed(["data=face", "data.pca=null", "model.K=null", "seed=null"]).values == {"data.pca": None}


@settings(max_examples=10, deadline=None)  # composing takes a tenth of a second
@drawn(st.dictionaries(st.sampled_from(known_keys()).filter(lambda key: key.startswith(("start.", "views."))),
                       st.one_of(st.integers(), st.booleans(), st.floats(allow_nan=False, allow_infinity=False))))
def test_what_is_given_comes_through_as_it_is(values: dict[str, object]) -> None:
    assert composed([f"{key}={shown(value)}" for key, value in values.items()]).values == values


def test_a_setting_of_another_model_is_told_whose_it_is(train: Command) -> None:
    done = train("data=table", "data.path=items.csv", "model.K=4")
    assert done.returncode == 2
    assert done.stderr.startswith("error: model.K=4: the model that is chosen has no setting K; model=")
    assert " scdc" in done.stderr
