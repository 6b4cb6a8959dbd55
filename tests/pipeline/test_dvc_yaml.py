"""dvc.yaml: which runs it has, and what each depends on."""

import re
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import yaml

from semicrowd.pipeline.experiments import Job, Plan, load_plan
from semicrowd.pipeline.fetch import folder_of
from semicrowd.pipeline.parallel import stage_groups
from semicrowd.pipeline.profile import select_profile

ROOT = Path(__file__).parents[2]
PROFILES = sorted(path.stem for path in (ROOT / "conf" / "profile").glob("*.yaml"))
RUN, ANSWERS = "semicrowd.pipeline.experiment", "semicrowd.pipeline.answers"


def stages(profile: str, folder: Path) -> tuple[Plan, list[dict[str, Any]]]:
    """The plan of a profile and every stage that dvc.yaml has under it, its variables filled in."""
    path = folder / "params.yaml"
    select_profile(profile, path, ROOT / "conf" / "profile")
    params = yaml.safe_load(path.read_text())

    def value(expression: Any) -> Any:
        if isinstance(expression, list):
            return expression
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


def of_module(all_stages: list[dict[str, Any]], module: str) -> dict[tuple[str, int | None], dict[str, Any]]:
    """Stages that start a module, by experiment and seed (None: all of a sweep); none twice."""
    found: dict[tuple[str, int | None], dict[str, Any]] = {}
    for stage in all_stages:
        match = re.fullmatch(rf"python -m {re.escape(module)} (\w+)(?: --seed (\d+))?", stage["cmd"])
        if match:
            address = match[1], int(match[2]) if match[2] else None
            assert address not in found
            found[address] = stage
    return found


@pytest.mark.parametrize("profile", PROFILES)
def test_every_run_is_one_stage_and_depends_on_its_configuration_and_answers(profile: str, tmp_path: Path) -> None:
    plan, all_stages = stages(profile, tmp_path)
    runs, answers = of_module(all_stages, RUN), of_module(all_stages, ANSWERS)
    assert set(runs) == {
        (name, seed)
        for name, one in plan.experiments.items()
        for seed in (one.seeds if one.sweep is None else [None])
    }
    for (name, seed), stage in runs.items():
        experiment = plan.experiments[name]
        of_answers = (experiment.answers_name, seed)
        written, results = f"annotations/{experiment.answers_name}", f"results/{name}"
        if seed is None:
            # A sweep that was stopped goes on: DVC must not remove what it has done.
            assert stage["outs"] == [{results: {"persist": True}}]
        else:
            written, results = experiment.annotation_dir(Job(seed)).as_posix(), experiment.run_dir(Job(seed)).as_posix()
            assert stage["outs"] == [results]
        assert f"configurations/{name}/run.yaml" in stage["deps"]
        assert written in stage["deps"] or of_answers not in answers
        assert {f"data/{folder_of(needed).parts[0]}" for needed in experiment.needs} <= set(stage["deps"])
        if experiment.answers:
            assert answers[of_answers]["outs"] == [written]
            assert f"configurations/{experiment.answers_name}/answers.yaml" in answers[of_answers]["deps"]
        if experiment.answers and experiment.answers.fallback:
            assert "data/status.json" in answers[of_answers]["deps"]


@pytest.mark.parametrize("profile", PROFILES)
def test_what_a_stage_depends_on_is_in_the_project_or_made_by_another_stage(profile: str, tmp_path: Path) -> None:
    _, all_stages = stages(profile, tmp_path)
    made = [next(iter(out)) if isinstance(out, dict) else out for stage in all_stages for out in stage["outs"]]
    assert len(set(made)) == len(made)
    for stage in all_stages:
        for dependency in stage.get("deps", []):
            path = Path(dependency)
            by_stage = any(path.is_relative_to(out) or Path(out).is_relative_to(path) for out in made)
            assert by_stage or (ROOT / path).exists(), dependency


def test_no_stage_of_a_run_names_code_by_hand(tmp_path: Path) -> None:
    _, all_stages = stages("laptop", tmp_path)
    for stage in of_module(all_stages, RUN).values():
        assert not [dependency for dependency in stage["deps"] if dependency.startswith("src")]
    (found,) = (s for s in all_stages if s["outs"] == [{"configurations": {"cache": False}}])
    assert found["deps"] == ["conf", "src/semicrowd"]
    assert set(found["params"]) == {"answers", "experiments", "groups"}


def test_what_runs_ahead_in_parallel_is_told_by_its_module() -> None:
    before, experiments = stage_groups(ROOT / "dvc.yaml")
    assert set(before) == {
        "fetch", "configurations", "pinwheel_two_coin_answers", "face_features", "face_answers", "cifar10_features",
        "cifar10_answers", "cifar10_pixels_answers", "mnist_answers", "autoencoder_mnist", "autoencoder_standins",
        "autoencoder_own", "cifar10_embedding", "cifar10_embedded_answers",
    }  # fmt: skip
    assert set(experiments) == {
        "pinwheel_none", "pinwheel_two_coin", "face", "cifar10", "cifar10_pixels", "cifar10_embedded", "mnist",
        "bnp_generated",
        "bnp_mnist", "bnp_nus",
        "bnp_scenes", "bnp_optdigits", "bnp_sequence",
        "slpd_tables", "slpd_curve", "slpd_crowd", "deep_shapes", "deep_mnist", "deep_trained", "deep_crowd",
        "deep_standins", "deep_own",
    }  # fmt: skip
