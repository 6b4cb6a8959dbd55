"""Composed configurations: what reaches them, and what does not."""

from pathlib import Path

import pytest
import yaml

from semicrowd.pipeline.configurations import answer_settings, run_settings, write_configurations
from semicrowd.pipeline.experiments import Answers, Experiment

CROWD = Answers("crowd", {"num_tasks": 10}, Answers("tasks", {"num_tasks": 10, "num_annotators": 9}))


def mnist(*overrides: str, answers: Answers | None = None) -> Experiment:
    settings = dict(override.split("=") for override in ("data=mnist", *overrides))
    return Experiment("some", settings, (0, 1), answers)


def test_an_override_reaches_its_experiment_and_what_changes_no_number_does_not() -> None:
    plain = run_settings(mnist("model=bayes", answers=CROWD))
    assert plain["annotations"] == {
        "name": "file", "columns": None, "errors": "raise",
    }  # fmt: skip
    assert plain["defaults"]["model"]["learning_rate"] == 0.001
    assert run_settings(mnist("model=bayes", "epochs=3", answers=CROWD))["epochs"] == 3
    assert run_settings(mnist("model=bayes", "model.K=30", answers=CROWD))["model"]["K"] == 30
    assert run_settings(mnist("model=bayes", "views=none", answers=CROWD))["views"] == {"kind": "none"}
    for same in ("logger=none", "figures=false", "trainer.accelerator=cpu", "seed=7", "resume=true"):
        assert run_settings(mnist("model=bayes", same, answers=CROWD)) == plain


def test_answers_depend_on_their_options_and_on_no_setting_of_the_model() -> None:
    settings = answer_settings(mnist("model=bayes", answers=CROWD))
    assert [(one["name"], one["num_tasks"]) for one in settings["answers"]] == [("crowd", 10), ("tasks", 10)]
    assert settings["answers"][1]["num_annotators"] == 9
    assert settings == answer_settings(mnist("model=scdc", "epochs=3", answers=CROWD))
    assert not [path for path in settings["code"] if path.startswith(("semicrowd/models", "semicrowd/settings/rule"))]
    assert answer_settings(mnist("model=bayes")) == {}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Folder of the configurations of an empty project."""
    monkeypatch.chdir(tmp_path)
    return tmp_path / "configurations"


def test_shared_answers_have_one_file_and_a_sweep_names_its_runs(folder: Path) -> None:
    shared = Answers("quota", shared="set")
    sweeps = [
        Experiment(f"set_{model}", {"data": "pinwheel", "model": model}, (0, 1), shared, sweep={"num_annotated": of})
        for model, of in (("mcvc", [7]), ("itml", [7, 9]))
    ]
    write_configurations(sweeps)
    written = sorted(path.relative_to(folder).as_posix() for path in folder.glob("set*/*.yaml"))
    assert written == ["set/answers.yaml", "set_itml/run.yaml", "set_mcvc/run.yaml"]
    assert "semicrowd/data/faces.py" in yaml.safe_load((folder / "face_features" / "code.yaml").read_text())
    of_seven = [f"num_annotated-7_seed-{seed}" for seed in (0, 1)]
    assert yaml.safe_load((folder / "set_mcvc" / "run.yaml").read_text())["runs"] == of_seven
    answers = yaml.safe_load((folder / "set" / "answers.yaml").read_text())
    assert answers["runs"] == [*of_seven, *(f"num_annotated-9_seed-{seed}" for seed in (0, 1))]
    assert answers["answers"][0]["name"] == "quota"
