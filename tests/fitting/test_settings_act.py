"""Every setting of a fit changes what comes out, where it is said to."""

import hashlib
from dataclasses import fields
from typing import Any

import numpy as np
import pytest
from tests.small_fits import small_fit

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.crowd.simulate import tasks
from semicrowd.settings.model import BayesSettings, NetSettings, SCDCSettings
from semicrowd.settings.training import StartSettings, ViewSettings
from semicrowd.starts import answer_classifier

SIDE, N = 6, 48
LABELS = np.arange(N) % 3
CONV = {"kind": "conv", "channels": (2, 2), "width": 4}
AFFINE, COLOUR = {"kind": "affine"}, {"kind": "colour"}
ANSWERED = {"kind": "answers", "networks": 3}

#: Setting → a value other than the usual one here, and what else it needs to matter.
BAYES: dict[str, tuple[Any, dict[str, Any]]] = {
    "K": (5, {}), "latent_dim": (3, {}), "hidden": ((7,), {}), "linear_skip": (False, {}),
    "likelihood": ("bernoulli", {}), "initial_variance": (0.2, {}), "learning_rate": (0.01, {}),
    "final_rate": (0.5, {}), "clip": (0.01, {}),
    "final_refits": (0, {}), "sampler": ("pairs", {}), "sample_size": (1, {}),
    "concentration": ("corrected", {}), "annotators": ("fixed", {}), "natural_gradient": ("full", {}),
    "step_size": (0.3, {}), "optimizer": ("momentum", {}), "amortisation": (2.0, {}), "max_sweeps": (1, {}),
}  # fmt: skip
SCDC = {name: BAYES[name] for name in (f.name for f in fields(SCDCSettings)) if name in BAYES} | {
    "initial_quality": ("paper", {}), "drop_mass": (0.3, {}),
    "max_clusters": (1, {}),
}  # fmt: skip
START: dict[str, tuple[Any, dict[str, Any]]] = {
    "kind": ("cold", {}), "epochs": (3, {}), "learning_rate": (0.01, {}),
    "candidates": (20, {"K": 8, "start": {"cells": 0}}), "cells": (0, {}),
    "networks": (1, {"start": ANSWERED}), "teach_epochs": (3, {"start": ANSWERED}),
    "teach_weight": (9.0, {"start": ANSWERED}), "hold": (True, {"model": "scdc"}),
    "agree_epochs": (1, {"model": "scdc", "views": {"kind": "affine"}}),
}  # fmt: skip
VIEWS: dict[str, tuple[Any, dict[str, Any]]] = {
    "kind": ("none", {}), "rotate": (40.0, {}), "shear": (40.0, {}), "scale": (0.4, {}), "shift": (0.5, {}),
    "crop": (1, COLOUR), "flip": (0.0, COLOUR), "jitter": (0.1, COLOUR),
}  # fmt: skip
NETS: dict[str, tuple[Any, dict[str, Any]]] = {
    "kind": ("mlp", {}), "precision": ("bfloat16", {}), "channels": ((3, 2), {}), "blocks": (2, {}), "width": (5, {}),
    "classifier": (3, {"model": "scdc", "kind": "resnet"}),
}  # fmt: skip


def images() -> np.ndarray:
    rng = np.random.default_rng(0)
    return np.clip(rng.random((3, SIDE * SIDE))[LABELS] + 0.3 * rng.random((N, SIDE * SIDE)) - 0.2, 0, 1).astype("f4")


def answers() -> PairAnnotations:
    rng = np.random.default_rng(0)
    return tasks(LABELS, rng, num_annotators=3, num_tasks=6, task_size=6, num_annotated=30)


#: Digests of the usual settings, by what they are compared for.
KNOWN: dict[str, str] = {}


def usual(name: str, **settings: Any) -> str:
    """``outcome``, each one time."""
    key = repr((name, settings))
    if key not in KNOWN:
        KNOWN[key] = outcome(name, **settings)
    return KNOWN[key]


def outcome(name: str, **settings: Any) -> str:
    """Digest of the parameters after the start and, mostly, two epochs."""
    base: dict[str, Any] = {"K": 4, "hidden": (6,), "learning_rate": 0.003}
    start = {"epochs": 2, "candidates": 2, "cells": 9, "teach_epochs": 2} | settings.pop("start", {})
    shape: tuple[int, ...] = (SIDE, SIDE)
    if settings.get("views", {}).get("kind") == "colour":
        shape = 3, SIDE, SIDE // 3
    fit = small_fit(
        name, images(), answers(), image_shape=shape, batch_size=9, start=start, **(base | settings)
    )  # fmt: skip
    fit.begin()
    fit.train(fit.recipe.training.epochs)
    digest = hashlib.sha256()
    for value in fit.model.state_dict().values():
        digest.update(value.numpy().tobytes())
    return digest.hexdigest()


@pytest.mark.parametrize(
    ("known", "settings"),
    [(BAYES, BayesSettings), (SCDC, SCDCSettings), (START, StartSettings), (VIEWS, ViewSettings), (NETS, NetSettings)],
)
def test_none_is_left_out(known: dict[str, Any], settings: type) -> None:
    # The features are prepared by the estimator, before there is a model (tests/estimators/test_generative.py).
    assert set(known) == {f.name for f in fields(settings)} - {"preparation"}


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few steps of the classifiers."""
    monkeypatch.setattr(answer_classifier, "STEPS", 10)


@pytest.mark.parametrize("setting", BAYES)
def test_of_bayes(setting: str) -> None:
    value, others = BAYES[setting]
    assert outcome("bayes", **others, **{setting: value}) != usual("bayes", **others)


@pytest.mark.parametrize("setting", SCDC)
def test_of_scdc(setting: str) -> None:
    value, others = SCDC[setting]
    assert outcome("scdc", **others, **{setting: value}) != usual("scdc", **others)


@pytest.mark.parametrize("setting", START)
def test_of_the_start(setting: str) -> None:
    value, others = START[setting]
    start, model = others.get("start", {}), others.get("model", "bayes")
    rest = {name: value for name, value in others.items() if name not in ("start", "model")}
    changed = outcome(model, start={**start, setting: value}, **rest)
    assert changed != usual(model, start=start, **rest)


@pytest.mark.parametrize("setting", VIEWS)
def test_of_views(setting: str) -> None:
    value, others = VIEWS[setting]
    views = AFFINE | others
    assert outcome("bayes", views={**views, setting: value}) != usual("bayes", views=views)


@pytest.mark.parametrize("setting", NETS)
def test_of_networks(setting: str) -> None:
    value, others = NETS[setting]
    nets = CONV | {name: other for name, other in others.items() if name != "model"}
    model = others.get("model", "bayes")
    assert outcome(model, nets={**nets, setting: value}) != usual(model, nets=nets)
