"""Deviations are read off a run's configuration."""

import copy
from typing import Any

import pytest
from hydra import compose, initialize_config_dir
from omegaconf import OmegaConf

from semicrowd.models import MODELS
from semicrowd.report.protocols import NOTES, PROTOCOLS, deviations
from semicrowd.run.cli import CONF

from .conftest import paper_config


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("exhibit", PROTOCOLS)
def test_the_paper_itself_deviates_in_nothing_but_the_notes(exhibit: str, model: str) -> None:
    found = deviations(exhibit, paper_config(exhibit, model), with_answers=True, runs=5, paper_runs=5)
    assert found == list(NOTES[exhibit])


def test_what_differs_is_named_with_both_values() -> None:
    config = paper_config("scdc/table-1")
    config["epochs"] = 40
    config["model"]["relational"]["sampler"] = "tasks"
    found = deviations("scdc/table-1", config, with_answers=True, runs=1, paper_runs=5)
    assert "1 run (paper: 5)" in found
    assert "epochs: 40 (paper: 200)" in found
    assert "sampling of answers: tasks (paper: pairs)" in found


def test_settings_of_answers_do_not_matter_without_answers() -> None:
    config = paper_config("scdc/figure-2")
    other = copy.deepcopy(config)
    other["model"]["relational"]["sampler"] = "nodes"
    found = [deviations("scdc/figure-2", c, with_answers=False, runs=1, paper_runs=1) for c in (config, other)]
    assert found[0] == found[1]


def test_a_renamed_setting_does_not_pass_for_an_equal_one() -> None:
    config = paper_config("scdc/figure-2")
    del config["epochs"]
    with pytest.raises(KeyError, match="epochs"):
        deviations("scdc/figure-2", config, with_answers=False, runs=1, paper_runs=1)


def composed(*overrides: str) -> dict[str, Any]:
    with initialize_config_dir(str(CONF), version_base="1.3"):
        config = OmegaConf.to_container(compose("config", [*overrides]), resolve=True)
    assert isinstance(config, dict)
    return {str(key): value for key, value in config.items()}


@pytest.mark.parametrize(
    ("exhibit", "data", "model"),
    [
        ("scdc/figure-2", "pinwheel", "bayes"),
        ("scdc/table-1", "mnist", "bayes"),
        ("scdc/table-1", "mnist", "scdc"),
        ("scdc/figure-4a", "mnist", "bayes"),
    ],
)
def test_every_setting_is_one_of_the_project(exhibit: str, data: str, model: str) -> None:
    ours = composed(f"data={data}", f"model={model}")
    assert "start: warm (paper: cold)" in deviations(exhibit, ours, with_answers=True, runs=1, paper_runs=1)


@pytest.mark.parametrize("model", MODELS)
def test_the_papers_protocol_deviates_in_the_linear_skip_and_the_number_of_starts(model: str) -> None:
    config = composed("data=mnist", f"model={model}", "protocol=paper", "annotations=crowd")
    found = deviations("scdc/table-1", config, with_answers=True, runs=5, paper_runs=5)
    said = {deviation.split(":")[0] for deviation in found} - {note.split(":")[0] for note in NOTES["scdc/table-1"]}
    assert said == {"initialisations a run, the best counts", "linear skip in the networks"}
