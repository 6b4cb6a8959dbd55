"""params.yaml and profiles."""

from pathlib import Path

import pytest
from hydra import compose, initialize_config_dir

from semicrowd.errors import UserError
from semicrowd.pipeline.experiments import format_ranges, load_plan
from semicrowd.pipeline.profile import drift, select_profile
from semicrowd.run.settings import check

PROFILES = Path(__file__).parents[2] / "conf" / "profile"


@pytest.mark.parametrize(
    ("seeds", "text"), [([0], "0"), ([0, 1, 2], "0-2"), ([7, 0, 1, 2], "0-2,7"), ([3, 5], "3,5"), ([4, 5], "4-5")]
)
def test_seeds_as_the_command_line_takes_them(seeds: list[int], text: str) -> None:
    assert format_ranges(seeds) == text


@pytest.mark.parametrize("profile", sorted(path.stem for path in PROFILES.glob("*.yaml")))
def test_every_profile_is_selected_and_read(profile: str, tmp_path: Path) -> None:
    params = tmp_path / "params.yaml"
    assert select_profile(profile, params, PROFILES)
    assert not select_profile(profile, params, PROFILES)
    plan = load_plan(params)
    assert plan.profile == profile
    assert set(plan.experiments) == {"pinwheel_none", "pinwheel_two_coin", "mnist_crowd"}
    assert drift(params, PROFILES) == ""


def test_an_edited_file_is_used_and_said_so(tmp_path: Path) -> None:
    params = tmp_path / "params.yaml"
    select_profile("laptop", params, PROFILES)
    params.write_text(params.read_text().replace("seeds: [0, 1, 2, 3, 4]", "seeds: [0, 1, 2, 3, 9]"))
    assert load_plan(params).experiments["pinwheel_none"].seeds == (0, 1, 2, 3, 9)
    assert "differs from" in drift(params, PROFILES)


def test_command_by_hand(tmp_path: Path) -> None:
    params = tmp_path / "params.yaml"
    params.write_text(
        "profile: tiny\nexperiments:\n"
        "  one: {overrides: [data=mnist], seeds: [3], answers: {kind: crowd, fallback: tasks}}\n"
        "  many: {overrides: [data=pinwheel, annotations=none], seeds: [0, 1]}\n"
    )
    plan = load_plan(params)
    assert plan.experiment("one").command() == "python src/train.py data=mnist annotations=crowd seed=3"
    assert plan.experiment("many").command() == "python src/train.py -m data=pinwheel annotations=none seed=0-1"
    assert plan.experiment("one").option("data") == "mnist"
    with pytest.raises(UserError, match="'two' is not in profile tiny: it has one, many"):
        plan.experiment("two")


def test_unknown_profile_names_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="'laptob': expected one of laptop"):
        select_profile("laptob", tmp_path / "params.yaml", PROFILES)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "not found"),
        ("experiments: [", "no valid YAML"),
        ("profile: x\n", "expected profile and experiments"),
        ("profile: x\nexperiments: {a: {seeds: [0]}}\n", "overrides"),
    ],
)
def test_bad_params_are_one_clear_line(content: str | None, message: str, tmp_path: Path) -> None:
    path = tmp_path / "params.yaml"
    if content is not None:
        path.write_text(content)
    with pytest.raises(UserError, match=message) as error:
        load_plan(path)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("profile", sorted(path.stem for path in PROFILES.glob("*.yaml")))
def test_every_experiment_is_a_configuration(profile: str) -> None:
    plan = load_plan(PROFILES / f"{profile}.yaml")
    with initialize_config_dir(str(PROFILES.parent), version_base="1.3"):
        for experiment in plan.experiments.values():
            config = compose("config", [*experiment.overrides, f"seed={experiment.seeds[0]}"])
            check(config)
            assert config.data.name == experiment.option("data")
