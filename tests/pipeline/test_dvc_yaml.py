"""dvc.yaml: its stages, and what each depends on."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from semicrowd.pipeline.experiments import load_plan, profile_path
from semicrowd.pipeline.fetch import folder_of

ROOT = Path(__file__).parents[2]
PROFILES = sorted(path.stem for path in (ROOT / "conf" / "profile").glob("*.yaml"))


def stages() -> dict[str, dict[str, Any]]:
    """Every stage, those of a list filled in."""
    found = {}
    for name, stage in yaml.safe_load((ROOT / "dvc.yaml").read_text())["stages"].items():
        for key, item in stage.get("foreach", {"": ""}).items():
            text = yaml.safe_dump(stage.get("do", stage)).replace("${key}", key).replace("${item}", item)
            found[f"{name}@{key}" if key else name] = yaml.safe_load(text)
    return found


def outs_of(stage: dict[str, Any]) -> list[str]:
    return [next(iter(out)) if isinstance(out, dict) else out for out in stage["outs"]]


def test_what_a_stage_depends_on_is_in_the_project_or_made_by_another_stage() -> None:
    made = [out for stage in stages().values() for out in outs_of(stage)]
    assert len(set(made)) == len(made)
    assert len(stages()) <= 15
    for stage in stages().values():
        for dependency in stage.get("deps", []):
            path = Path(dependency)
            by_stage = any(path.is_relative_to(out) or Path(out).is_relative_to(path) for out in made)
            assert by_stage or (ROOT / path).exists(), dependency


def test_every_stage_starts_a_module_of_its_own_tree() -> None:
    for stage in stages().values():
        *start, module = stage["cmd"].split()[:5]
        assert start == ["env", "PYTHONPATH=src", "python", "-m"]
        assert (ROOT / "src" / Path(*module.split(".")).with_suffix(".py")).is_file()


@pytest.mark.parametrize("profile", PROFILES)
def test_experiments_depend_on_all_that_they_read(profile: str) -> None:
    """Files that are fetched are checked by their sha256, so that whether they are there is enough."""
    stage = stages()["experiments"]
    assert {"annotations", "configurations", "data/status.json"} <= set(stage["deps"])
    fetched = set(outs_of(stages()["fetch"]))
    of_stages = {out for one in stages().values() for out in outs_of(one)}
    for experiment in load_plan(profile_path(profile)).experiments.values():
        for needed in experiment.needs:
            folder = f"data/{folder_of(needed).parts[0]}"
            assert folder in fetched or folder in {*stage["deps"]} & of_stages
    own = {"fifteen_scenes", "har", "nus_animals", "reuters10k", "stl10"}
    assert {f"data/{name}" for name in own} <= set(stage["deps"])
