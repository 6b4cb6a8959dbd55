"""The rules: what they say of the paper's data, that what is given counts more, and that they stay out of the rest."""

import subprocess
import sys
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.defaults.facts import Facts
from semicrowd.defaults.rule import FEW_ANSWERS, answers, baseline, recipe
from semicrowd.errors import UserError
from semicrowd.settings.model import BayesSettings, NetSettings, SCDCSettings
from semicrowd.settings.training import StartSettings, TrainingSettings, ViewSettings

PINWHEEL = Facts(500, 2, num_answers=980, num_annotated=100, data="pinwheel", num_classes=5)
FACE = Facts(624, 20, num_answers=1000, num_annotated=600, data="face", num_classes=4)
MNIST = Facts(60_000, 784, (28, 28), True, 57_330, 2759, 91, "mnist", 10)
TABLE = Facts(300, 5, num_answers=50, num_annotated=40, data="table")


def without_answers(facts: Facts) -> Facts:
    return Facts(facts.num_items, facts.num_features, facts.image_shape, facts.unit_interval, data=facts.data)


def test_the_pinwheel_with_answers_and_without() -> None:
    found = recipe("bayes", {}, PINWHEEL)
    assert found.model == BayesSettings(K=15, latent_dim=2)
    assert found.training == TrainingSettings(epochs=100, batch_size=50)
    alone = recipe("bayes", {}, without_answers(PINWHEEL))
    assert alone.model == BayesSettings(learning_rate=0.003, initial_variance=0.3, merge_every=10)
    assert alone.training == TrainingSettings(epochs=150, batch_size=50)
    scdc = recipe("scdc", {}, without_answers(PINWHEEL)).model
    assert scdc == SCDCSettings(learning_rate=0.003, initial_variance=0.3)


def test_the_faces() -> None:
    found = recipe("bayes", {}, FACE)
    assert found.model == BayesSettings(K=4, latent_dim=8, step_size=0.01, amortisation=3.0)
    assert found.start == StartSettings("answers", epochs=20, learning_rate=0.01, teach_epochs=50, teach_weight=30.0)
    assert found.training == TrainingSettings(epochs=20, batch_size=100)
    assert recipe("scdc", {}, FACE).start == StartSettings("answers", epochs=50, teach_epochs=50)
    assert recipe("scdc", {}, without_answers(FACE)).start.kind == "cells"


def test_mnist() -> None:
    sizes: dict[str, Any] = {"K": 50, "latent_dim": 8, "hidden": (500, 500), "likelihood": "bernoulli"}
    found = recipe("bayes", {}, MNIST)
    assert found.model == BayesSettings(**sizes, amortisation=10.0, step_size=0.002, max_sweeps=3, merge_every=0)
    assert found.nets == NetSettings(precision="bfloat16")
    assert found.start == StartSettings(epochs=8, learning_rate=0.001, cells=100, candidates=3, teach_epochs=50)
    assert (found.training.epochs, found.training.batch_size, found.views) == (8, 128, ViewSettings())
    scdc = recipe("scdc", {}, MNIST)
    assert scdc.model == SCDCSettings(**sizes, drop_mass=0.01)
    assert (scdc.training.epochs, scdc.start.teach_epochs) == (10, 2)
    alone = recipe("bayes", {}, without_answers(MNIST))
    assert alone.views == ViewSettings("affine", anew=2)
    assert (alone.model.step_size, alone.start.epochs, alone.start.candidates) == (0.005, 12, 2)  # type: ignore[union-attr]


def test_convolutional_networks_on_mnist_draw_two_tasks_where_there_are_tasks() -> None:
    given = {"nets.kind": "conv"}
    found = recipe("bayes", given, MNIST)
    assert (found.views.kind, found.training.batch_size, found.start.epochs) == ("affine", 64, 4)
    assert found.model.sample_size == 2
    assert recipe("bayes", given | {"model.sampler": "pairs"}, MNIST).model.sample_size is None
    no_tasks = Facts(60_000, 784, (28, 28), True, 300, 200, 0, "mnist", 10)
    assert recipe("bayes", given, no_tasks).model.sample_size is None
    assert recipe("bayes", given, without_answers(MNIST)).training.batch_size == 128


@pytest.mark.parametrize(("facts", "epochs", "batch"), [(PINWHEEL, 20, 50), (FACE, 20, 10), (MNIST, 200, 128)])
def test_the_papers_protocol_is_the_papers(facts: Facts, epochs: int, batch: int) -> None:
    found = recipe("bayes", {}, facts, "paper")
    model = found.model
    assert isinstance(model, BayesSettings)
    assert (found.training.epochs, found.training.batch_size, found.start.kind) == (epochs, batch, "cold")
    assert (model.natural_gradient, model.step_size, model.final_rate, model.final_refits) == ("full", 0.0001, 1.0, 0)
    assert (model.sampler, model.annotators, model.merge_every, model.amortisation) == ("pairs", "fixed", 0, 0.0)
    assert model.optimizer == ("adam" if facts is FACE else "momentum")
    assert (found.nets, found.views) == (NetSettings(), ViewSettings())
    scdc = recipe("scdc", {}, facts, "paper").model
    assert isinstance(scdc, SCDCSettings)
    assert (scdc.initial_quality, scdc.drop_mass) == ("paper", 0.0)
    assert (scdc.K, scdc.latent_dim) == (model.K, model.latent_dim)


@pytest.mark.parametrize("method", ["bayes", "scdc"])
def test_all_other_data_share_one_rule(method: str) -> None:
    for facts in (TABLE, without_answers(TABLE), Facts(500, 2), Facts(50_000, 3072, (3, 32, 32), True, data="cifar10")):
        found = recipe(method, {}, facts)
        more = {"step_size": 0.01, "amortisation": 3.0} if method == "bayes" else {}
        kind, dimensions = {"bayes": BayesSettings, "scdc": SCDCSettings}[method], min(8, facts.num_features)
        assert found.model == kind(preparation="standard", latent_dim=dimensions, **more)
        assert found.training == TrainingSettings(epochs=20, batch_size=100)
        assert (found.nets, found.views) == (NetSettings(), ViewSettings())
        few = 0 < facts.num_answers <= FEW_ANSWERS
        assert (found.start.kind, found.start.teach_epochs) == ("answers" if few else "cells", 50)
    many = replace(TABLE, num_answers=FEW_ANSWERS + 1)
    assert recipe(method, {}, many).start.kind == "cells"


@pytest.mark.parametrize("protocol", ["semicrowd", "paper"])
def test_what_is_given_counts_and_what_a_rule_says_has_one_line_of_reason(protocol: str) -> None:
    given = {"model.K": 7, "epochs": 3, "start.kind": "cells", "nets.precision": "float32", "model.likelihood": None}
    found = recipe("bayes", given, MNIST, protocol)
    assert (found.model.K, found.training.epochs, found.start.kind) == (7, 3, "cells")
    assert found.nets.precision == "float32"
    assert found.model.likelihood == "bernoulli"  # None is not given
    assert found.reasons.keys().isdisjoint({"model.K", "epochs", "start.kind", "nets.precision"})
    assert found.reasons["model.latent_dim"] == "SCDC paper, section 5.3 and App. B"
    assert all(reason and "\n" not in reason and len(reason) <= 110 for reason in found.reasons.values())


def test_null_is_a_value_of_an_optional_setting() -> None:
    assert recipe("bayes", {"nets.kind": "conv", "model.sample_size": None}, MNIST).model.sample_size is None


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"model.k": 3}, "model.k: no such setting; the nearest is model.K"),
        ({"model.K": 1}, "model.K=1: expected a whole number from 2"),
        ({"epochs": -1}, "epochs=-1: expected a whole number >= 0"),
        ({"modle.K": 3}, "modle: no such group of settings; there are model, nets"),
        ({"model.drop_mass": 0.1}, "model.drop_mass: no such setting"),
    ],
)
def test_wrong_settings_are_refused(given: dict[str, Any], said: str) -> None:
    with pytest.raises(UserError, match=said):
        recipe("bayes", given, TABLE)
    with pytest.raises(UserError, match="protocol=none: expected semicrowd or paper"):
        recipe("bayes", {}, TABLE, "none")


def test_baselines_have_the_classes_of_the_data_and_deep_mcvc_its_settings_for_cifar10() -> None:
    assert baseline("mcvc", FACE)["K"] == (4, "4 classes of data=face")
    assert baseline("mcvc", Facts(30, 2, data="table")) == {}
    cifar = Facts(50_000, 100, data="cifar10", num_classes=10)
    values = {name: value for name, (value, _) in baseline("deep_mcvc", cifar).items()}
    assert values == {"K": 10, "n_views": 1, "n_held": 300, "learning_rate": 0.01}
    assert baseline("mcvc", cifar).keys() == {"K"}


def test_simulated_tasks_are_as_many_as_suit_the_data() -> None:
    assert {name: value for name, (value, _) in answers("tasks", "pinwheel").items()} == {
        "num_annotators": 20, "num_tasks": 20, "task_size": 10, "num_annotated": 100, "sensitivity": 0.9,
        "specificity": 0.9,
    }  # fmt: skip
    assert answers("tasks", "cifar10")["num_tasks"][0] == 240
    assert answers("tasks", "mnist") == answers("two_coin", "pinwheel") == {}


def test_facts_are_those_of_data_and_answers() -> None:
    features = np.array([[0.0, 1.0], [0.5, 0.2], [0.1, 0.9]], np.float32)
    known = PairAnnotations.from_arrays([0, 0], [1, 2], [0, 1], [1, 0], task=[0, 1], num_items=3)
    assert Facts.of(features, known, None, "mine", 2) == Facts(3, 2, None, True, 2, 3, 2, "mine", 2)
    assert Facts.of(features * 2, None) == Facts(3, 2)


def test_rules_do_without_torch() -> None:
    code = "import sys, semicrowd.defaults.rule, semicrowd.defaults.facts; print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
