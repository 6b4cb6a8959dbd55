"""All settings of a fit: given values, else those of the protocol's rule, else defaults.

The rules of both protocols set what the user has not set (docs/DEFAULTS.md). Each statement sets some values and gives
a reason in one line; later statements override earlier ones. A setting without a statement has the default of its
dataclass. Statements may depend on properties of data and answers, :class:`Facts`.

``src/train.py`` and the estimators of SCDC and BayesSCDC both call :func:`fit_settings`. Other estimators take their
parameters as given; ``src/train.py`` gets these from here, too.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from semicrowd.errors import UserError
from semicrowd.settings.fields import described_by_name
from semicrowd.settings.methods import METHODS
from semicrowd.settings.parameters import FitSettings, Recipe


@dataclass(frozen=True)
class Facts:
    """Properties of data and answers; all that the rules may use.

    Attributes
    ----------
    num_items, num_features : N and D
    image_shape : (height, width) or (colours, height, width) if each row of the features is an image
    unit_interval : whether all feature values are between 0 and 1
    num_answers : P, 0 without answers
    num_annotated : number of items with at least one answer
    num_tasks : number of tasks from which the answers are, 0 if they do not come in tasks
    data : name of the data set, or None
    num_classes : number of classes in the data, if known; labels of items are never used
    """

    num_items: int
    num_features: int
    image_shape: tuple[int, ...] | None = None
    unit_interval: bool = False
    num_answers: int = 0
    num_annotated: int = 0
    num_tasks: int = 0
    data: str | None = None
    num_classes: int | None = None

    @classmethod
    def of(
        cls,
        features: np.ndarray,
        answers: Any,
        image_shape: tuple[int, ...] | None = None,
        data: str | None = None,
        num_classes: int | None = None,
    ) -> Self:
        """The properties of features [N, D] and of the answers about these items, PairAnnotations or None."""
        known: tuple[int, int, int] = (0, 0, 0)
        if answers is not None:
            known = answers.num_pairs, len(answers.annotated), answers.num_tasks
        inside = bool(features.min(initial=0.0) >= 0 and features.max(initial=0.0) <= 1)
        num_items, num_features = features.shape
        return cls(num_items, num_features, image_shape, inside, *known, data, num_classes)


#: Values by dotted name, and the reason for them.
Statement = tuple[dict[str, Any], str]
PROTOCOLS = ("semicrowd", "paper")
#: Data sets for which the SCDC paper gives separate settings.
PAPER_DATA = ("pinwheel", "face", "mnist")
#: Number of items in a table above which the number of epochs is reduced, in inverse proportion to the items.
MANY_ITEMS = 10_000
#: Number of images to which the stated numbers of epochs for grey images refer.
MNIST_ITEMS = 60_000
#: Batch size for images.
IMAGE_BATCH = 128
#: Minimal number of training steps in which q(z | o) learns to predict the start's clusters.
TAUGHT = 1000
#: Maximal number of answers that count as few; classifiers of the answers use all of them in each training step.
FEW_ANSWERS = 20_000


def fit_settings(
    method: str, given: Mapping[str, Any], facts: Facts | None, protocol: str = "semicrowd"
) -> FitSettings:
    """All settings of a fit by ``method``.

    Parameters
    ----------
    given : dotted name → value, such as ``model.K``, ``start.kind`` or ``epochs``; None means "not given", unless None
        is a valid value of the setting
    facts : properties of the data and the answers; None: no rules, settings that are not given keep their defaults
    protocol : ``semicrowd`` (the best inference here) or ``paper`` (what the SCDC paper states)
    """
    kinds = METHODS[method].groups
    optional = {name for name, one in described_by_name(kinds).items() if one.optional}
    chosen = {name: value for name, value in given.items() if value is not None or name in optional}
    rules = [] if facts is None else statements(method, chosen, facts, protocol)
    by_rule = {name: value for values, _ in rules for name, value in values.items()}
    groups: dict[str, dict[str, Any]] = {}
    for name, value in (by_rule | chosen).items():
        group, _, setting = name.rpartition(".")
        groups.setdefault(group, {})[setting] = value
    for group in groups.keys() - kinds.keys():
        there = ", ".join(filter(None, kinds))
        raise UserError(f"{group or next(iter(groups[group]))}: no such group of settings; there are {there}")
    made: dict[str, Any] = {group or "training": kind.of(groups.get(group, {})) for group, kind in kinds.items()}
    return (Recipe if METHODS[method].trained else FitSettings)(**made)


def recipe(method: str, given: Mapping[str, Any], facts: Facts | None, protocol: str = "semicrowd") -> Recipe:
    """:func:`fit_settings` of ``bayes`` or ``scdc``."""
    found = fit_settings(method, given, facts, protocol)
    assert isinstance(found, Recipe)
    return found


def statements(method: str, given: Mapping[str, Any], facts: Facts, protocol: str = "semicrowd") -> list[Statement]:
    """The statements of a protocol's rule for these facts, in order.

    For SCDC and BayesSCDC the protocol ``semicrowd`` does not use the name of the data set. For other methods the
    protocols are the same.
    """
    if protocol not in PROTOCOLS:
        raise UserError(f"protocol={protocol}: expected {' or '.join(PROTOCOLS)}")
    if not METHODS[method].trained:
        return list(_other_methods(method, given, facts))
    if protocol == "paper":
        return list(_paper(method, facts))
    return list(_semicrowd(method, given, replace(facts, data=None, num_classes=None)))


def _semicrowd(method: str, given: Mapping[str, Any], facts: Facts) -> Iterator[Statement]:
    """The best inference found here for the paper's models (docs/DEFAULTS.md)."""
    bayes = method == "bayes"
    grey = facts.image_shape is not None and len(facts.image_shape) == 2 and facts.unit_interval
    kind = given.get("nets.kind", "conv" if grey and not bayes else "mlp")
    yield {"model.latent_dim": min(8, facts.num_features)}, "enough for about ten classes, but no more than columns"
    if grey and kind != "resnet":
        yield from _grey_images(bayes, kind == "conv", given, facts)
        return
    yield from _tables(bayes, facts.num_items)
    if kind == "mlp":
        yield {"model.preparation": "standard"}, "columns with large values would otherwise dominate the others"
    else:
        yield from _seen(given, facts)
    if facts.num_answers:
        yield {"start.kind": "portfolio"}, "no single start is best on all data; held-out answers select one"
    else:
        yield {"start.kind": "features"}, "without answers, the features separate clusters better than latent means"
    if not bayes and given.get("start.kind") != "cold":
        yield {"start.hold": True}, "ELBO training must not undo clusters selected on held-out answers"
    elif bayes and facts.num_answers:
        yield {"start.teach_weight": 30.0}, "with a smaller weight, ELBO training forgets the answers"
        if kind != "mlp" and facts.image_shape is not None and len(facts.image_shape) == 3:
            share = {"start.teach_weight": float(facts.num_features), "model.amortisation": 0.1 * facts.num_features}
            yield share, "the ELBO grows with the number of pixels and would dominate the clusters"


def _tables(bayes: bool, num_items: int) -> Iterator[Statement]:
    """All data but grey images, with any number of items; values that depend on this number do so continuously."""
    K = min(50, max(15, round(15 * math.sqrt(num_items / MANY_ITEMS))), max(2, num_items))
    yield {"model.K": K}, "more items may have more classes; superfluous clusters become empty"

    def passes(most: int) -> int:
        return max(1, min(most, round(most * MANY_ITEMS / num_items)))

    yield {"epochs": passes(20), "batch_size": 100}, "the paper's epochs on Face, fewer for many items to save time"
    if bayes:
        start = {"start.epochs": passes(20), "start.learning_rate": 0.01}
        yield start, "a VAE of a few hundred items has converged by then"
        yield {"start.teach_epochs": passes(50)}, "networks and mixture are trained jointly on the answers' clusters"
        yield {"model.step_size": 0.01, "model.amortisation": 3.0}, "larger values let items without answers drift"
    else:
        enough = max(passes(50), math.ceil(TAUGHT * 100 / num_items))
        yield {"start.epochs": passes(50)}, "a VAE of a few hundred items has converged by then"
        yield {"start.teach_epochs": enough}, "q(z | o) predicts the start's clusters by then"


def _seen(given: Mapping[str, Any], facts: Facts) -> Iterator[Statement]:
    """Tables of images, with convolutional or residual networks."""
    if facts.unit_interval:
        colours = facts.image_shape is not None and len(facts.image_shape) == 3
        yield {"model.likelihood": "logistic" if colours else "bernoulli"}, "values from 0 to 1"
    if given["nets.kind"] == "resnet":
        blocks = {"nets.channels": (8, 16, 32), "nets.blocks": 2}
        yield blocks, "five residual blocks as in the SCDC paper, fewer channels"
        yield {"nets.classifier": 16}, "nine layers as in the SCDC paper, an eighth of its channels"
    yield {"nets.precision": "auto"}, "on machines with bfloat16 twice as fast, with the same accuracy"
    passes = {"epochs": 5, "start.epochs": 4, "start.learning_rate": 0.001}
    yield passes, "convolutions: more epochs would take hours on a CPU"
    yield {"start.teach_epochs": 20}, "the networks learn the start's clusters"


def _grey_images(bayes: bool, conv: bool, given: Mapping[str, Any], facts: Facts) -> Iterator[Statement]:
    """Grey images with values from 0 to 1, of any number and size, with as many training steps as for MNIST."""
    assert facts.image_shape is not None
    few = facts.num_answers <= FEW_ANSWERS

    def passes(of_mnist: int) -> int:
        """Number of epochs with as many steps as ``of_mnist`` epochs of MNIST; an epoch has at least one step."""
        return max(1, round(of_mnist * MNIST_ITEMS / max(facts.num_items, IMAGE_BATCH)))

    K = min(50, max(2, facts.num_items))
    yield {"model.K": K}, "images may have many classes; superfluous clusters become empty"
    yield {"model.hidden": (500, 500), "model.likelihood": "bernoulli"}, "SCDC paper, section 5.3 and App. B"
    yield {"nets.precision": "auto"}, "on machines with bfloat16 twice as fast, with the same accuracy"
    yield {"epochs": passes(8)}, "accuracy has converged by then"
    start = {"start.epochs": passes(8), "start.learning_rate": 0.001, "start.cells": 100, "start.candidates": 3}
    yield start, "few steps; twice as many cells as clusters"
    if bayes:
        yield {"start.teach_epochs": 50}, "networks and mixture are trained jointly on the answers' clusters"
        yield {"model.amortisation": 10.0}, "the network generalises the answers to similar items"
        yield {"model.step_size": 0.002}, "with larger steps, items without answers move the clusters too much"
        yield {"model.max_sweeps": 3}, "total variation distance of .001 from q(z) after ten sweeps"
    else:
        yield {"model.drop_mass": 0.01}, ".01 nats per item below the exact sum, with 1.4 clusters evaluated"
        yield {"start.teach_epochs": passes(2)}, "q(z | o) predicts the start's clusters by then"
        if conv:
            yield {"nets.kind": "conv"}, "convolutions profit more from views than dense networks, at equal speed"
    if bayes and conv:
        wide = {"batch_size": 64, "start.epochs": passes(4), "model.amortisation": 100.0, "views.kind": "affine"}
        yield wide, "convolutions profit from views; a batch has as many views as images"
        if facts.num_tasks and given.get("model.sampler", "auto") in ("auto", "tasks"):
            yield {"model.sample_size": 2}, "convolutions: a batch is two tasks with their views"
    if bayes and not few:
        return
    shift = min(facts.image_shape) / 14
    views = {"views.kind": "affine", "views.shift": shift, "batch_size": IMAGE_BATCH, "start.kind": "communities"}
    yield views, "views show which changes of an image keep its class"
    yield {"start.epochs": passes(12)}, "communities need a VAE that was trained longer"
    if bayes:
        yield {"model.step_size": 0.005}, "with few or no answers, larger steps hardly move clusters away from them"
        return
    yield {"epochs": passes(6)}, "with views, accuracy has converged by then"
    if conv and given.get("views.kind") != "none" and given.get("start.kind") != "cold":
        yield {"start.agree_epochs": passes(10)}, "convolutions learn the same cluster for images with similar views"
        yield {"start.hold": True, "epochs": passes(3)}, "ELBO training must not undo clusters learned from views"


def _paper(method: str, facts: Facts) -> Iterator[Statement]:
    """The settings of the SCDC paper (section 5, App. B), without additions of this project."""
    yield {"epochs": 200, "batch_size": 128}, "SCDC paper, App. B, MNIST"
    if facts.data == "pinwheel":
        yield {"epochs": 20, "batch_size": 50}, "SCDC paper, App. B, pinwheel"
    if facts.data == "face":
        yield {"model.K": 4, "model.latent_dim": 8}, "SCDC paper, section 5.2 and App. B"
        yield {"epochs": 20, "batch_size": 10}, "SCDC paper, App. B, face"
    if facts.data == "mnist":
        sizes = {"model.K": 50, "model.latent_dim": 8, "model.hidden": (500, 500), "model.likelihood": "bernoulli"}
        yield sizes, "SCDC paper, section 5.3 and App. B"
    yield {"start.kind": "cold"}, "SCDC paper: random initial values"
    yield {"model.sampler": "pairs"}, "SCDC paper: a random minibatch of answers"
    yield {"model.final_rate": 1.0, "model.final_refits": 0}, "SCDC paper: a constant step size, no final refits"
    if method == "scdc":
        yield {"model.initial_quality": "paper"}, "SCDC paper: draws from Beta(1, 1)"
        return
    yield {"model.annotators": "fixed"}, "SCDC paper: a fixed prior Beta(1, 1)"
    yield {"model.natural_gradient": "full", "model.step_size": 0.0001}, "SCDC paper: eq. 17, both terms, and App. B"
    optimizer = "adam" if facts.data == "face" else "momentum"
    yield {"model.optimizer": optimizer}, "SCDC paper, App. B"


def _other_methods(method: str, given: Mapping[str, Any], facts: Facts) -> Iterator[Statement]:
    """For methods with these settings: the number of classes as number of clusters, and scaled columns of a table."""
    known = described_by_name(METHODS[method].groups)
    if "model.K" in known:
        if facts.num_classes is not None:
            yield {"model.K": facts.num_classes}, f"{facts.num_classes} classes of data={facts.data}"
        elif "model.K" not in given:
            raise UserError(f"model.K: expected a number of clusters, because data={facts.data} has no labels to count")
    if "model.standardize" in known and facts.data == "table":
        yield {"model.standardize": True}, "the columns of a table have different units"
