"""Configuration files and settings hold together; what is given is known with where it came from."""

import subprocess
import sys
from itertools import product
from pathlib import Path

import pytest
import yaml
from hypothesis import given as drawn
from hypothesis import settings
from hypothesis import strategies as st

from semicrowd.run.composition import CONF, composed, parsed
from semicrowd.run.sweep import combinations
from semicrowd.settings.fields import described, plain, shown
from semicrowd.settings.groups import CHOSEN, FIXED, SEVERAL, choice_of, names_of
from semicrowd.settings.training import SlurmSettings

from .conftest import composed_once

CHOICES = [(group, name) for group in CHOSEN for name in CHOSEN[group]]
#: Data that a user brings.
OWN = ("images", "npz", "table")


@pytest.mark.parametrize(("group", "name"), CHOICES)
def test_every_choice_composes_and_gives_nothing_but_itself(group: str, name: str) -> None:
    found = composed_once(f"{group}={name}")
    assert found.choices[group] == name
    assert found.values == {}  # so that rules and defaults decide
    others = {other: choice for other, choice in found.choices.items() if other != group}
    own = {"model": "cotrain"} if group == "data" and name in OWN else {}
    assert others == {other: choice for other, choice in composed_once().choices.items() if other != group} | own


@pytest.mark.parametrize("name", OWN)
def test_a_users_own_data_are_clustered_by_co_training_unless_another_model_is_named(name: str) -> None:
    found = composed_once(f"data={name}")
    assert found.choices["model"] == "cotrain"
    found = composed([f"data={name}", "model=bayes"])
    assert found.choices["model"] == "bayes"
    assert composed([]).choices["model"] == "scdc"


@pytest.mark.parametrize("group", FIXED)
def test_the_other_groups_choices_are_values_of_a_setting(group: str) -> None:
    setting, choices = choice_of(group)
    for choice in choices:
        found = composed([f"{group}={choice}"])
        expected = SEVERAL.get(group, {}).get(choice, {setting: choice})
        assert found.values == {f"{group}.{name}": value for name, value in expected.items()}


def test_a_choice_that_stands_for_several_settings_gives_way_to_each_of_them() -> None:
    found = composed(["trainer=ddp", "trainer.devices=4"])
    assert found.values == {"trainer.strategy": "ddp", "trainer.devices": 4}
    found = composed(["trainer=cpu", "trainer.accelerator=auto", "trainer.devices=1"])
    assert found.values == {"trainer.strategy": "single", "trainer.accelerator": "auto", "trainer.devices": 1}


def test_the_file_of_a_slurm_cluster_has_every_setting_with_its_default() -> None:
    content = yaml.safe_load((CONF / "hydra" / "launcher" / "slurm.yaml").read_text())
    assert content == {one.name: plain(one.default) for one in described(SlurmSettings)}
    found = composed(["hydra/launcher=slurm", "hydra.launcher.time=9"])
    assert found.launcher == content | {"name": "slurm", "time": 9}


def test_a_configuration_file_of_a_users_own_is_a_choice_as_others_are(tmp_path: Path) -> None:
    for group in ("data", "experiment"):
        (tmp_path / group).mkdir()
    mine = "defaults: [/settings/data@_here_: table, override /model@_global_.model: bayes]\nname: table\npath: a.csv\n"
    (tmp_path / "data" / "mine.yaml").write_text(mine)
    whole = "# @package _global_\ndefaults: [override /data: table, override /annotations: tasks]\nseed: 3\n"
    (tmp_path / "experiment" / "whole.yaml").write_text(whole)
    where = f"hydra.searchpath=[file://{tmp_path}]"
    found = composed(["data=mine", where])
    assert found.choices == {"data": "table", "model": "bayes", "annotations": "none"}
    assert found.values == {"data.path": "a.csv"}
    found = composed(["experiment=whole", where])
    assert found.choices == {"data": "table", "model": "cotrain", "annotations": "tasks"}
    assert found.values == {"seed": 3}


def test_interpolations_and_sweeps_over_the_choices_of_a_group() -> None:
    found = composed(["data=table", "data.path=a.csv", "annotations=file", "annotations.path=${data.path}"])
    assert found.values == {"data.path": "a.csv", "annotations.path": "a.csv"}
    jobs = combinations(parsed(["model=glob(ddpm_*)", "data=mnist,table"]))
    expected = product(("model=ddpm_l", "model=ddpm_s"), ("data=mnist", "data=table"))
    assert [job.overrides for job in jobs] == list(expected)


def test_a_slip_of_the_finger_loads_no_method() -> None:
    """PyTorch and scikit-learn take seconds."""
    use = """
import sys
from semicrowd.run.main import main
for arguments in (["data=table", "data.path=a.csv", "model.regions=3"], ["model.n_inti=3"], ["model=dpm", "model.K=3"]):
    assert main(arguments) == 2
assert sys.modules.keys().isdisjoint({"torch", "sklearn", "scipy"})
"""
    done = subprocess.run([sys.executable, "-c", use], check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    said = done.stderr.splitlines()
    assert len(said) == 3
    assert all(name in line for name, line in zip(("model.regions", "model.n_inti", "model.K"), said, strict=True))


def test_arguments_files_and_groups_are_told_apart() -> None:
    found = composed(["experiment=mnist_conv_crowd", "model.K=20", "+note=a", "data.pca=3", "data=face", "seed=4"])
    assert found.choices == {"data": "face", "model": "bayes", "annotations": "crowd"}
    assert found.values == {"model.K": 20, "data.pca": 3, "nets.kind": "conv", "seed": 4}
    assert found.extra == {"note": "a"}


def test_null_is_a_value_where_a_setting_is_optional_and_otherwise_not_given() -> None:
    assert composed(["data=face", "data.pca=null", "model.K=null", "seed=null"]).values == {"data.pca": None}


@settings(max_examples=10, deadline=None)  # composing takes a tenth of a second
@drawn(st.dictionaries(st.sampled_from([f"views.{name}" for name in names_of(FIXED["views"])]),
                       st.one_of(st.integers(), st.booleans(), st.floats(allow_nan=False, allow_infinity=False))))
def test_what_is_given_comes_through_as_it_is(values: dict[str, object]) -> None:
    assert composed([f"{key}={shown(value)}" for key, value in values.items()]).values == values
