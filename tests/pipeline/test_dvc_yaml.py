"""dvc.yaml: which runs it has, and what each depends on."""

import re
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import yaml

from semicrowd.pipeline.experiments import Plan, load_plan
from semicrowd.pipeline.parallel import stage_groups

ROOT = Path(__file__).parents[2]
PROFILES = sorted(path.stem for path in (ROOT / "conf" / "profile").glob("*.yaml"))
RUN, ANSWERS = "semicrowd.pipeline.experiment", "semicrowd.pipeline.answers"


def stages(profile: str) -> tuple[Plan, list[dict[str, Any]]]:
    """The plan of a profile and every stage that dvc.yaml has under it, its variables filled in."""
    path = ROOT / "conf" / "profile" / f"{profile}.yaml"
    params = yaml.safe_load(path.read_text())

    def value(expression: str) -> Any:
        found: Any = params
        for part in expression.removeprefix("${").removesuffix("}").split("."):
            found = found[part]
        return found

    found = []
    for definition in yaml.safe_load((ROOT / "dvc.yaml").read_text())["stages"].values():
        matrix = {name: value(expression) for name, expression in definition.pop("matrix", {}).items()}
        for combination in product(*matrix.values()):
            text = yaml.safe_dump(definition)
            for name, item in zip(matrix, combination, strict=True):
                text = text.replace(f"${{item.{name}}}", str(item))
            assert "${" not in text
            found.append(yaml.safe_load(text))
    return load_plan(path), found


def of_module(all_stages: list[dict[str, Any]], module: str) -> dict[tuple[str, int], dict[str, Any]]:
    """Stages that start a module, by experiment and seed; none twice."""
    found: dict[tuple[str, int], dict[str, Any]] = {}
    for stage in all_stages:
        match = re.fullmatch(rf"python -m {re.escape(module)} (\w+) --seed (\d+)", stage["cmd"])
        if match:
            address = match[1], int(match[2])
            assert address not in found
            found[address] = stage
    return found


@pytest.mark.parametrize("profile", PROFILES)
def test_every_run_of_the_profile_is_one_stage_and_depends_on_its_configuration_and_answers(profile: str) -> None:
    plan, all_stages = stages(profile)
    runs, answers = of_module(all_stages, RUN), of_module(all_stages, ANSWERS)
    assert set(runs) == {(name, seed) for name, one in plan.experiments.items() for seed in one.seeds}
    for (name, seed), stage in runs.items():
        experiment = plan.experiments[name]
        written = experiment.annotation_dir(seed).as_posix()
        assert stage["outs"] == [experiment.run_dir(seed).as_posix()]
        assert f"configurations/{name}/run.yaml" in stage["deps"]
        assert (written in stage["deps"]) == ((name, seed) in answers)
        assert {f"data/{needed}" for needed in experiment.needs} <= set(stage["deps"])
        if experiment.answers:
            assert answers[name, seed]["outs"] == [written]
            assert f"configurations/{name}/answers.yaml" in answers[name, seed]["deps"]
        if experiment.answers and experiment.answers.fallback:
            assert "data/status.json" in answers[name, seed]["deps"]


@pytest.mark.parametrize("profile", PROFILES)
def test_what_a_stage_depends_on_is_in_the_project_or_made_by_another_stage(profile: str) -> None:
    _, all_stages = stages(profile)
    made = [next(iter(out)) if isinstance(out, dict) else out for stage in all_stages for out in stage["outs"]]
    assert len(set(made)) == len(made)
    for stage in all_stages:
        for dependency in stage.get("deps", []):
            path = Path(dependency)
            by_stage = any(path.is_relative_to(out) or Path(out).is_relative_to(path) for out in made)
            assert by_stage or (ROOT / path).exists(), dependency


def test_a_run_depends_on_all_code_that_decides_its_numbers() -> None:
    """All packages of semicrowd but those that start runs, keep track of them and show them."""
    _, all_stages = stages("laptop")
    package = ROOT / "src" / "semicrowd"
    folders = {f"src/semicrowd/{path.parent.name}" for path in package.glob("*/__init__.py")}
    others = {f"src/semicrowd/{name}" for name in ("baselines", "figures", "pipeline", "report", "run", "tracking")}
    of_run = {f"src/semicrowd/run/{name}.py" for name in ("evaluate", "results", "trained_method", "training")}
    for stage in of_module(all_stages, RUN).values():
        assert folders - others | of_run <= set(stage["deps"])


def test_every_folder_of_settings_reaches_the_configurations() -> None:
    _, all_stages = stages("laptop")
    (stage,) = (s for s in all_stages if s["outs"] == [{"configurations": {"cache": False}}])
    # Profiles become params.yaml; logger, trainer and Hydra's own change no number.
    others = {"profile", "logger", "trainer", "hydra"}
    folders = {f"conf/{path.name}" for path in (ROOT / "conf").iterdir() if path.name not in others}
    assert folders == {dependency for dependency in stage["deps"] if dependency.startswith("conf/")}
    assert set(stage["params"]) == {"experiments", "groups"}


def test_what_runs_ahead_in_parallel_is_told_by_its_module() -> None:
    before, experiments = stage_groups(ROOT / "dvc.yaml")
    assert set(before) == {"fetch", "configurations", "pinwheel_two_coin_answers", "mnist_answers"}
    assert set(experiments) == {"pinwheel_none", "pinwheel_two_coin", "mnist"}
