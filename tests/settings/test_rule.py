"""The rules: what they say of the paper's data, that what is given counts more, and that they stay out of the rest."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.errors import UserError
from semicrowd.settings.model import BayesSettings, NetSettings, SCDCSettings
from semicrowd.settings.rule import FEW_ANSWERS, Facts, fit_settings, recipe
from semicrowd.settings.training import TrainingSettings, ViewSettings

PINWHEEL = Facts(500, 2, num_answers=980, num_annotated=100, data="pinwheel", num_classes=5)
FACE = Facts(624, 20, num_answers=1000, num_annotated=600, data="face", num_classes=4)
MNIST = Facts(60_000, 784, (28, 28), True, 57_330, 2759, 91, "mnist", 10)
CIFAR = Facts(50_000, 3072, (3, 32, 32), True, 151_200, 4000, 240, "cifar10", 10)
TABLE = Facts(300, 5, num_answers=50, num_annotated=40, data="table")
LARGE = Facts(40_000, 30, num_answers=5000, num_annotated=900, data="table")
ALL = (PINWHEEL, FACE, MNIST, CIFAR, TABLE, LARGE, replace(MNIST, num_items=2000), replace(TABLE, num_answers=30_000))


def without_answers(facts: Facts) -> Facts:
    return replace(facts, num_answers=0, num_annotated=0, num_tasks=0)


@pytest.mark.parametrize("method", ["bayes", "scdc"])
@pytest.mark.parametrize("facts", [*ALL, *map(without_answers, ALL)])
def test_the_name_of_a_data_set_changes_nothing(method: str, facts: Facts) -> None:
    for given in ({}, {"nets.kind": "conv"}):
        found = recipe(method, given, facts)
        for name in ("mnist", "face", "pinwheel", "cifar10", "a stranger's", None):
            other = recipe(method, given, replace(facts, data=name, num_classes=None))
            assert other == found


@pytest.mark.parametrize(("facts", "epochs", "batch"), [(PINWHEEL, 20, 50), (FACE, 20, 10), (MNIST, 200, 128)])
def test_the_papers_protocol_is_the_papers(facts: Facts, epochs: int, batch: int) -> None:
    found = recipe("bayes", {}, facts, "paper")
    model = found.model
    assert isinstance(model, BayesSettings)
    assert (found.training.epochs, found.training.batch_size, found.start.kind) == (epochs, batch, "cold")
    assert (model.natural_gradient, model.step_size, model.final_rate, model.final_refits) == ("full", 0.0001, 1.0, 0)
    assert (model.sampler, model.annotators, model.amortisation) == ("pairs", "fixed", 0.0)
    assert model.optimizer == ("adam" if facts is FACE else "momentum")
    assert (found.nets, found.views) == (NetSettings(), ViewSettings())
    scdc = recipe("scdc", {}, facts, "paper").model
    assert isinstance(scdc, SCDCSettings)
    assert (scdc.initial_quality, scdc.drop_mass) == ("paper", 0.0)
    assert (scdc.K, scdc.latent_dim) == (model.K, model.latent_dim)
FEW = replace(MNIST, num_tasks=5, num_answers=3150, num_annotated=180)


@pytest.mark.parametrize("facts", [MNIST, without_answers(MNIST), FEW], ids=["answers", "none", "few tasks"])
def test_scdcs_convolutions_learn_from_views_and_keep_it(facts: Facts) -> None:
    mlp, conv = (recipe("scdc", {"nets.kind": kind}, facts) for kind in ("mlp", "conv"))
    assert recipe("scdc", {}, facts) == conv
    assert conv.start == replace(mlp.start, agree_epochs=10, hold=True)
    assert (conv.model, conv.views) == (mlp.model, mlp.views)
    assert conv.training == replace(mlp.training, epochs=3)
    for without in ({"views.kind": "none"}, {"start.kind": "cold"}):  # nothing to keep
        start = recipe("scdc", {"nets.kind": "conv", **without}, facts).start
        assert (start.agree_epochs, start.hold) == (0, False)


@pytest.mark.parametrize("method", ["bayes", "scdc"])
@pytest.mark.parametrize("facts", [TABLE, PINWHEEL, FACE])
def test_tables_of_some_hundred_or_thousand_items_share_one_rule(method: str, facts: Facts) -> None:
    for one in (facts, without_answers(facts), replace(facts, num_answers=FEW_ANSWERS + 1)):
        found = recipe(method, {}, one)
        assert (found.model.preparation, found.model.latent_dim) == ("standard", min(8, one.num_features))
        assert (found.model.K, found.model.hidden, found.model.likelihood) == (15, (40, 40), "gaussian")
        assert found.training == TrainingSettings(epochs=20, batch_size=100)
        assert (found.nets, found.views) == (NetSettings(), ViewSettings())
        assert found.start.kind == ("portfolio" if one.num_answers else "features")
        steps = found.start.teach_epochs * one.num_items / 100
        assert method == "bayes" or (steps >= 1000 and found.start.hold)
        assert not recipe(method, {"start.kind": "cold"}, one).start.hold  # there is nothing to keep


@pytest.mark.parametrize("method", ["bayes", "scdc"])
@pytest.mark.parametrize("facts", [LARGE, CIFAR, MNIST, *map(without_answers, (LARGE, CIFAR, MNIST))])
def test_no_number_of_items_changes_the_settings_at_once(method: str, facts: Facts) -> None:
    before = recipe(method, {}, replace(facts, num_items=100))
    for num_items in np.geomspace(101, 1_000_000, 200).astype(int).tolist():
        found = recipe(method, {}, replace(facts, num_items=num_items))
        assert (found.start.kind, found.model.preparation) == (before.start.kind, before.model.preparation)
        for now, then in (
            (found.model.K, before.model.K),
            (found.training.epochs, before.training.epochs),
            (found.start.epochs, before.start.epochs),
        ):
            assert abs(now - then) <= max(1, 0.1 * then)
        before = found
    assert before.training.epochs * 1_000_000 <= 1_000_000


@pytest.mark.parametrize("num_items", [20, 624, 9_900, 10_100, 60_000, 1_000_000])
def test_grey_images_of_any_number_and_size_get_as_many_steps_as_mnists(num_items: int) -> None:
    some = replace(without_answers(MNIST), num_items=num_items)
    found = recipe("scdc", {}, some)
    assert (found.model.preparation, found.model.likelihood, found.model.hidden) == ("none", "bernoulli", (500, 500))
    assert (found.start.kind, found.views) == ("communities", ViewSettings("affine", shift=2.0))
    if num_items <= 60_000:
        steps = found.start.epochs * max(num_items, 128) / 128
        assert steps == pytest.approx(12 * 60_000 / 128, rel=0.01)
    small = recipe("scdc", {}, replace(some, image_shape=(14, 21), num_features=294))
    assert small == replace(found, views=replace(found.views, shift=1.0))


def test_what_is_no_grey_image_with_values_from_0_to_1_is_a_table() -> None:
    for other in (replace(MNIST, image_shape=None), replace(MNIST, unit_interval=False), CIFAR):
        found = recipe("bayes", {}, other)
        assert (found.model.preparation, found.model.likelihood) == ("standard", "gaussian")
        assert (found.start.kind, found.views.kind) == ("portfolio", "none")


@pytest.mark.parametrize("protocol", ["semicrowd", "paper"])
def test_what_is_given_counts_more_than_a_rule(protocol: str) -> None:
    given = {"model.K": 7, "epochs": 3, "start.kind": "cells", "nets.precision": "float32", "model.likelihood": None}
    found = recipe("bayes", given, MNIST, protocol)
    assert (found.model.K, found.training.epochs, found.start.kind) == (7, 3, "cells")
    assert found.nets.precision == "float32"
    assert found.model.likelihood == "bernoulli"  # None is not given


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"model.k": 3}, "model.k: .* K,"),
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


def test_baselines_have_the_classes_of_the_data() -> None:
    found = fit_settings("kmeans", {"model.n_init": 3}, FACE)
    assert found.values == {"model.K": 4, "model.n_init": 3, "model.standardize": False}
    unknown = Facts(30, 2, data="table")
    given = fit_settings("kmeans", {"model.K": 7}, unknown)
    assert given.values["model.K"] == 7
    assert "model.K" not in fit_settings("gmeans", {}, unknown).values  # it finds the number
    with pytest.raises(UserError, match="K: expected a number of clusters, because data=table has no labels"):
        fit_settings("kmeans", {}, unknown)


def test_facts_are_those_of_data_and_answers() -> None:
    features = np.array([[0.0, 1.0], [0.5, 0.2], [0.1, 0.9]], np.float32)
    known = PairAnnotations.from_arrays([0, 0], [1, 2], [0, 1], [1, 0], task=[0, 1], num_items=3)
    assert Facts.of(features, known, None, "mine", 2) == Facts(3, 2, None, True, 2, 3, 2, "mine", 2)
    assert Facts.of(features * 2, None) == Facts(3, 2)


def test_what_the_answers_say_of_colour_images_weighs_as_their_pixels_do() -> None:
    """Of BayesSCDC whose networks see them; the paper's shapes of grey images and tables keep what they had."""
    some = replace(CIFAR, num_items=5000)
    for kind in ("conv", "resnet"):
        found = recipe("bayes", {"nets.kind": kind}, some)
        assert isinstance(found.model, BayesSettings)
        assert (found.start.teach_weight, found.model.amortisation) == (3072.0, pytest.approx(307.2))
        assert recipe("bayes", {"nets.kind": kind}, without_answers(some)).start.teach_weight == 1.0
    grey = recipe("bayes", {"nets.kind": "resnet"}, replace(MNIST, num_items=2000))
    assert grey.start.teach_weight == 30.0
    assert recipe("bayes", {}, some).start.teach_weight == 30.0
    assert recipe("bayes", {"nets.kind": "resnet", "start.teach_weight": 2.0}, some).start.teach_weight == 2.0


@pytest.mark.parametrize("method", ["bayes", "scdc"])
@pytest.mark.parametrize("shape", [None, (4, 4)])
def test_no_rule_sets_more_clusters_than_there_are_items(method: str, shape: tuple[int, int] | None) -> None:
    few = Facts(6, 16, shape, unit_interval=True)
    assert recipe(method, {}, few).model.K == 6


@pytest.mark.parametrize("method", ["kmeans", "gmm"])
def test_methods_without_answers_scale_the_columns_of_a_table_and_nothing_else(method: str) -> None:
    for data, given in (("table", {}), ("face", {}), ("images", {}), ("table", {"model.standardize": False})):
        found: Any = fit_settings(method, {"model.K": 3, **given}, replace(TABLE, data=data))
        assert found.model.standardize == (data == "table" and not given)
