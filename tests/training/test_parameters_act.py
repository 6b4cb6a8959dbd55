"""Every parameter of a fit changes what comes out, where it is said to."""

import hashlib
from typing import Any

import numpy as np
import pytest
from tests.small_fits import small_fit

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.crowd.simulate import tasks
from semicrowd.methods import method
from semicrowd.methods.generative import NOT_OF_THE_FIT
from semicrowd.starts import answer_classifier

SIDE, N = 6, 48
LABELS = np.arange(N) % 3
CONV: dict[str, Any] = {"architecture": "conv", "channels": (2, 2)}
ANSWERED: dict[str, Any] = {"init": "answers"}

#: Parameter → a value other than the usual one here, and what else it needs to matter.
BOTH: dict[str, tuple[Any, dict[str, Any]]] = {
    "n_clusters": (5, {}), "latent_dim": (3, {}), "hidden": ((7,), {}), "linear_skip": (False, {}),
    "likelihood": ("bernoulli", {}), "learning_rate": (0.01, {}),
    "final_rate": (0.5, {}), "clip": (0.01, {}), "final_refits": (0, {}), "sampler": ("pairs", {}),
    "sample_size": (1, {}), "epochs": (3, {}), "batch_size": (7, {}),
    "init": ("cold", {}), "init_epochs": (3, {}), "init_learning_rate": (0.01, {}),
    "teach_epochs": (3, ANSWERED),
    "augmentation": ("affine", {}), "architecture": ("conv", {}), "precision": ("bfloat16", CONV),
    "channels": ((3, 2), CONV), "blocks": (2, CONV), "initial_weights": ("glorot", {}), "binary_draws": (True, {}),
}  # fmt: skip
OF: dict[str, dict[str, tuple[Any, dict[str, Any]]]] = {
    "bayes": BOTH | {
        "concentration": ("corrected", {}), "annotators": ("fixed", {}), "natural_gradient": ("full", {}),
        "step_size": (0.3, {}), "natural_momentum": (0.5, {}), "optimizer": ("momentum", {}),
        "amortisation": (2.0, {}), "max_sweeps": (1, {}), "teach_weight": (9.0, ANSWERED),
        "potentials": ("natural", {}), "inference": ("unrolled", {}), "batch_weights": ("released", {}),
    },
    "scdc": BOTH | {
        "location_scale": (3.0, {"init": "cold"}), "covariance": ("diagonal", {}),
        "initial_quality": ("paper", {}), "drop_mass": (0.3, {}), "hold": (True, {}),
        "agree_epochs": (1, {"augmentation": "affine"}), "classifier_channels": (3, {"architecture": "resnet"}),
    },
}  # fmt: skip


def images() -> np.ndarray:
    rng = np.random.default_rng(0)
    return np.clip(rng.random((3, SIDE * SIDE))[LABELS] + 0.3 * rng.random((N, SIDE * SIDE)) - 0.2, 0, 1).astype("f4")


def answers() -> PairAnnotations:
    rng = np.random.default_rng(0)
    return tasks(LABELS, rng, num_annotators=3, num_tasks=6, task_size=6, num_annotated=30)


#: Digests of the usual parameters, by what they are compared for.
KNOWN: dict[str, str] = {}


def usual(name: str, **given: Any) -> str:
    """``outcome``, each one time."""
    key = repr((name, given))
    if key not in KNOWN:
        KNOWN[key] = outcome(name, **given)
    return KNOWN[key]


def outcome(name: str, **given: Any) -> str:
    """Digest of the model's tensors after the start and, mostly, two epochs."""
    base: dict[str, Any] = {"n_clusters": 4, "hidden": (6,), "learning_rate": 0.003, "teach_epochs": 2}
    fit = small_fit(name, images(), answers(), image_shape=(SIDE, SIDE), **(base | {"batch_size": 9} | given))
    fit.begin()
    fit.train(fit.model.params.epochs)
    digest = hashlib.sha256()
    for value in fit.model.state_dict().values():
        digest.update(value.numpy().tobytes())
    return digest.hexdigest()


@pytest.mark.parametrize("name", OF)
def test_none_is_left_out(name: str) -> None:
    # The features are prepared by the estimator, before there is a model (tests/estimators/test_generative.py).
    assert set(OF[name]) == method(name)().get_params().keys() - {*NOT_OF_THE_FIT, "preparation"}


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few steps of the classifiers."""
    monkeypatch.setattr(answer_classifier, "STEPS", 10)


def test_a_start_sets_scdcs_means() -> None:
    assert outcome("scdc", location_scale=3.0) == usual("scdc")


@pytest.mark.parametrize(("name", "parameter"), [(name, one) for name, of in OF.items() for one in of])
def test_it_does(name: str, parameter: str) -> None:
    value, others = OF[name][parameter]
    assert outcome(name, **(others | {parameter: value})) != usual(name, **others)
