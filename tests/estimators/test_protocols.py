"""What parameters that are None become: for the paper's data, and that what is given counts more."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sklearn.utils import Bunch

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.methods import method
from semicrowd.methods.generative import NOT_OF_THE_FIT
from semicrowd.methods.protocols import Facts, statements, with_defaults

PINWHEEL = Facts(500, 2, num_answers=980)
FACE = Facts(624, 20, num_answers=1000)
MNIST = Facts(60_000, 784, (28, 28), True, 57_330, 91)
CIFAR = Facts(50_000, 3072, (3, 32, 32), True, 151_200, 240)
TABLE = Facts(300, 5, num_answers=50)
LARGE = Facts(40_000, 30, num_answers=5000)
BOTH = pytest.mark.parametrize("model", ["bayes", "scdc"])


def without_answers(facts: Facts) -> Facts:
    return replace(facts, num_answers=0, num_tasks=0)


def of(model: str, facts: Facts, protocol: str = "default", **given: Any) -> Bunch:
    """All parameters of a fit."""
    values = method(model)(**given).get_params()
    kept = {name: value for name, value in values.items() if name not in NOT_OF_THE_FIT}
    return with_defaults(model, kept, facts, protocol)


@pytest.mark.parametrize(("facts", "K", "d"), [(PINWHEEL, 15, 2), (MNIST, 50, 8)])
def test_the_papers_protocol_is_the_papers(facts: Facts, K: int, d: int) -> None:
    bayes, scdc = (of(model, facts, "paper") for model in ("bayes", "scdc"))
    for params in (bayes, scdc):
        assert (params.epochs, params.batch_size, params.init, params.n_clusters) == (200, 128, "cold", K)
        assert (params.latent_dim, params.final_rate, params.final_refits, params.sampler) == (d, 1.0, 0, "pairs")
        assert (params.preparation, params.augmentation, params.architecture) == ("none", "none", "mlp")
    assert (bayes.natural_gradient, bayes.step_size, bayes.annotators) == ("full", 0.0001, "fixed")
    assert (bayes.optimizer, bayes.amortisation) == ("momentum", 0.0)
    assert (scdc.location_scale, scdc.drop_mass, scdc.hold) == (0.19, 0.0, False)
    assert scdc.initial_quality == ("paper" if facts == MNIST else "corrected")


def test_scdc_learns_coloured_images_with_convolutions_more_slowly() -> None:
    colours = replace(TABLE, num_features=3072, image_shape=(3, 32, 32), unit_interval=True)
    rates = [of(model, colours, architecture="resnet").learning_rate for model in ("scdc", "bayes")]
    assert (rates, of("scdc", colours).learning_rate) == ([1e-4, 1e-3], 1e-3)


@BOTH
@pytest.mark.parametrize("facts", [TABLE, PINWHEEL, FACE])
def test_tables_of_some_hundred_or_thousand_items_share_one_rule(model: str, facts: Facts) -> None:
    for one in (facts, without_answers(facts), replace(facts, num_answers=50_000)):
        params = of(model, one)
        assert (params.preparation, params.latent_dim) == ("standard", min(8, one.num_features))
        assert (params.n_clusters, params.hidden, params.likelihood) == (15, (40, 40), "gaussian")
        assert (params.epochs, params.batch_size, params.augmentation) == (20, 128, "none")
        assert params.init == ("cotraining" if one.num_answers else "features")
        assert model == "bayes" or params.teach_epochs * one.num_items >= 128_000
        assert not params.get("hold", False)


@BOTH
@pytest.mark.parametrize("facts", [LARGE, CIFAR, MNIST, *map(without_answers, (LARGE, CIFAR, MNIST))])
def test_no_number_of_items_changes_the_parameters_at_once(model: str, facts: Facts) -> None:
    before = of(model, replace(facts, num_items=100))
    for num_items in np.geomspace(101, 1_000_000, 200).astype(int).tolist():
        params = of(model, replace(facts, num_items=num_items))
        assert (params.init, params.preparation) == (before.init, before.preparation)
        for name in ("n_clusters", "epochs", "init_epochs"):
            assert abs(params[name] - before[name]) <= max(1, 0.1 * before[name])
        before = params
    assert before.epochs <= 1


@pytest.mark.parametrize("num_items", [20, 624, 9_900, 10_100, 60_000, 1_000_000])
def test_grey_images_of_any_number_and_size_get_as_many_steps_as_mnists(num_items: int) -> None:
    some = replace(without_answers(MNIST), num_items=num_items)
    params = of("scdc", some)
    assert (params.preparation, params.likelihood, params.hidden) == ("none", "bernoulli", (500, 500))
    assert (params.init, params.augmentation) == ("communities", "affine")
    if num_items <= 60_000:
        steps = params.init_epochs * max(num_items, 128) / 128
        assert steps == pytest.approx(12 * 60_000 / 128, rel=0.01)
    assert of("scdc", replace(some, image_shape=(14, 21), num_features=294)) == params


def test_what_is_no_grey_image_with_values_from_0_to_1_is_a_table() -> None:
    for other in (replace(MNIST, image_shape=None), replace(MNIST, unit_interval=False), CIFAR):
        params = of("bayes", other)
        assert (params.preparation, params.likelihood) == ("standard", "gaussian")
        assert (params.init, params.augmentation) == ("cotraining", "none")


@BOTH
def test_the_model_alone_takes_as_many_steps_on_all_data_of_a_kind(model: str) -> None:
    """Steps of the VAE, and a step on q(Θ) of one batch in N items, at most .005."""
    for facts in (MNIST, without_answers(MNIST), replace(MNIST, num_items=6000)):
        params = of(model, facts, "model")
        assert (params.init, params.n_clusters, params.augmentation) == ("mixture", 50, "none")
        assert params.init_epochs * facts.num_items / 128 == pytest.approx(22_500, rel=0.01)
    for number, batch in ((500, 50), (624, 10), (20_000, 50)):
        params = of(model, replace(CIFAR, num_items=number, image_shape=None), "model", batch_size=batch)
        assert (params.init, params.preparation) == ("mixture", "standard")
        assert params.init_epochs * number / batch == pytest.approx(1000, abs=number / batch)
        if model == "bayes":
            assert params.step_size == min(0.005, batch / number)
    assert not of(model, MNIST, "model").get("hold", False)


@BOTH
@pytest.mark.parametrize("protocol", ["default", "paper", "released", "model"])
def test_what_a_protocol_sets_is_none_by_default(model: str, protocol: str) -> None:
    defaults = method(model)().get_params()  # another default would count as given, and more than the protocol
    set_by = [statements(model, {}, facts, protocol) for facts in (PINWHEEL, MNIST, CIFAR)]
    assert {defaults.get(name) for each in set_by for values, _ in each for name in values} == {None}


@pytest.mark.parametrize("protocol", ["default", "paper", "released", "model"])
def test_what_is_given_counts_more_than_a_protocol(protocol: str) -> None:
    given: dict[str, Any] = {"n_clusters": 7, "epochs": 3, "init": "mixture", "precision": "float32", "hidden": (9,)}
    params = of("bayes", MNIST, protocol, **given)
    assert {name: params[name] for name in given} == given
    assert params.likelihood == "bernoulli"


def test_facts_are_those_of_data_and_answers() -> None:
    features = np.array([[0.0, 1.0], [0.5, 0.2], [0.1, 0.9]], np.float32)
    known = PairAnnotations.from_arrays([0, 0], [1, 2], [0, 1], [1, 0], task=[0, 1], num_items=3)
    assert Facts.of(features, known) == Facts(3, 2, None, True, 2, 2)
    assert Facts.of(features * 2, None) == Facts(3, 2)


@BOTH
@pytest.mark.parametrize("shape", [None, (4, 4)])
def test_there_are_no_more_clusters_than_items(model: str, shape: tuple[int, int] | None) -> None:
    assert of(model, Facts(6, 16, shape, unit_interval=True)).n_clusters == 6
