"""Deviations are read off a run's configuration."""

import copy

import pytest

from semicrowd.report.papers.scdc import EXHIBITS
from semicrowd.run.composition import composed
from semicrowd.run.settings import resolved
from semicrowd.settings.fields import Settings, names
from semicrowd.settings.model import BayesSettings, NetSettings, SCDCSettings
from semicrowd.settings.rule import Facts
from semicrowd.settings.training import StartSettings, TrainingSettings, ViewSettings

from ...conftest import exhibit, paper_config

MODELS: dict[str, type[Settings]] = {"bayes": BayesSettings, "scdc": SCDCSettings}
WITH_SETTINGS = [one.key for one in EXHIBITS if one.protocol.settings]


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("key", WITH_SETTINGS)
def test_the_paper_itself_deviates_in_nothing_but_the_notes(key: str, model: str) -> None:
    protocol = exhibit(key).protocol
    found = protocol.deviations(paper_config(key, model), with_answers=True, runs=protocol.runs or 1)
    assert found == list(protocol.notes)


def test_what_differs_is_named_with_both_values() -> None:
    config = paper_config("table-1")
    config["epochs"] = 40
    config["model"]["sampler"] = "tasks"
    found = exhibit("table-1").protocol.deviations(config, with_answers=True, runs=1)
    assert "1 run (paper: 5)" in found
    assert "epochs: 40 (paper: 200)" in found
    assert "sampling of answers: tasks (paper: pairs)" in found


def test_settings_of_answers_do_not_matter_without_answers() -> None:
    config = paper_config("figure-2")
    other = copy.deepcopy(config)
    other["model"]["sampler"] = "nodes"
    protocol = exhibit("figure-2").protocol
    found = [protocol.deviations(c, with_answers=False, runs=1) for c in (config, other)]
    assert found[0] == found[1]


def test_a_renamed_setting_does_not_pass_for_an_equal_one() -> None:
    config = paper_config("figure-2")
    del config["epochs"]
    with pytest.raises(KeyError, match="epochs"):
        exhibit("figure-2").protocol.deviations(config, with_answers=False, runs=1)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("key", WITH_SETTINGS)
def test_every_setting_is_one_of_the_project(key: str, model: str) -> None:
    groups = (MODELS[model], NetSettings, StartSettings, ViewSettings, TrainingSettings)
    known = {f"{group.group}.{name}".lstrip(".") for group in groups for name in names(group)}
    known |= {"data.pca", "data.subset"}
    asked = {s.key for s in exhibit(key).protocol.settings if s.model in ("", model)}
    assert asked <= known


@pytest.mark.parametrize("model", MODELS)
def test_the_papers_protocol_deviates_in_the_linear_skip_and_the_number_of_starts(model: str) -> None:
    facts = Facts(60_000, 784, (28, 28), True, 57_330, 3_276, 91, "mnist", 10)
    config = resolved(composed(["data=mnist", f"model={model}", "protocol=paper", "annotations=crowd"]), facts).content
    protocol = exhibit("table-1").protocol
    found = protocol.deviations(config, with_answers=True, runs=5)
    said = {deviation.split(":")[0] for deviation in found} - {note.split(":")[0] for note in protocol.notes}
    assert said == {"initialisations of each run, of which the best is used", "linear skip in the networks"}
