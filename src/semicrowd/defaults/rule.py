"""The rules of both protocols: settings of a fit that the user has not given.

Each statement sets some values and gives a reason in one line; later statements override earlier ones. A setting
without a statement has the default of its dataclass (:mod:`semicrowd.defaults.resolution`).
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from semicrowd.defaults.facts import Facts
from semicrowd.errors import UserError
from semicrowd.settings.fields import described_by_name
from semicrowd.settings.methods import METHODS

#: Values by dotted name, and the reason for them.
Statement = tuple[dict[str, Any], str]
PROTOCOLS = ("semicrowd", "paper")
#: Data of which the SCDC paper states settings of their own.
PAPER_DATA = ("pinwheel", "face", "mnist")
#: Of more items in a table fewer passes do, in proportion.
MANY_ITEMS = 10_000
#: Number of images for which the epochs on grey images are stated.
MNIST_ITEMS = 60_000
#: Batch size for images.
IMAGE_BATCH = 128
#: Steps in which q(z | o) learns the start.
TAUGHT = 1000
#: Classifiers of the answers look at all of them in each of their steps.
FEW_ANSWERS = 20_000


def statements(method: str, given: Mapping[str, Any], facts: Facts, protocol: str = "semicrowd") -> list[Statement]:
    """The statements of a protocol's rule for these facts, in order.

    For SCDC and BayesSCDC the protocol ``semicrowd`` does not use the name of the data set. For other methods the
    protocols are the same.

    Raises
    ------
    UserError
        For a protocol that there is not, and for a number of clusters that is neither given nor known.
    """
    if protocol not in PROTOCOLS:
        raise UserError(f"protocol={protocol}: expected {' or '.join(PROTOCOLS)}")
    if not METHODS[method].trained:
        return list(_number_of_clusters(method, given, facts))
    if protocol == "paper":
        return list(_paper(method, facts))
    return list(_semicrowd(method, given, replace(facts, data=None, num_classes=None)))


def _semicrowd(method: str, given: Mapping[str, Any], facts: Facts) -> Iterator[Statement]:
    """The best inference found here for the paper's models (docs/DEFAULTS.md)."""
    bayes = method == "bayes"
    grey = facts.image_shape is not None and len(facts.image_shape) == 2 and facts.unit_interval
    kind = given.get("nets.kind", "conv" if grey and not bayes else "mlp")
    yield {"model.latent_dim": min(8, facts.num_features)}, "room for ten kinds, no more than there are columns"
    if facts.num_tasks and not bayes:
        yield {"model.answers": "confusions"}, "who misplaces an item or merges kinds errs in many answers at once"
    if grey and kind != "resnet":
        yield from _grey_images(bayes, kind == "conv", given, facts)
        return
    yield from _tables(bayes, facts.num_items)
    if kind == "mlp":
        yield {"model.preparation": "standard"}, "columns in units of their own would hide each other"
    else:
        yield from _seen(given, facts)
    if facts.num_answers:
        yield {"start.kind": "portfolio"}, "no one start is right on all data; held-out answers judge them"
    else:
        yield {"start.kind": "features"}, "no answers: latent means say less than the features"
    if not bayes and given.get("start.kind") != "cold":
        yield {"start.hold": True}, "what the start has chosen out of sample is not for the ELBO to undo"
    elif bayes and facts.num_answers:
        yield {"start.teach_weight": 30.0}, "less of it lets the ELBO undo what the answers say"
        if kind != "mlp" and facts.image_shape is not None and len(facts.image_shape) == 3:
            share = {"start.teach_weight": float(facts.num_features), "model.amortisation": 0.1 * facts.num_features}
            yield share, "the ELBO of an image grows with its pixels, and would drown the clusters"


def _tables(bayes: bool, num_items: int) -> Iterator[Statement]:
    """All but grey images, of any size: what grows with the items grows without a step."""
    K = min(50, max(15, round(15 * math.sqrt(num_items / MANY_ITEMS))), max(2, num_items))
    yield {"model.K": K}, "more items may be of more kinds; what is not needed empties itself"

    def passes(most: int) -> int:
        return max(1, min(most, round(most * MANY_ITEMS / num_items)))

    yield {"epochs": passes(20), "batch_size": 100}, "the paper's epochs on faces, fewer of many items; for speed"
    if bayes:
        start = {"start.epochs": passes(20), "start.learning_rate": 0.01}
        yield start, "a VAE of some hundred items has settled by then"
        yield {"start.teach_epochs": passes(50)}, "networks and mixture learn together what the answers say"
        yield {"model.step_size": 0.01, "model.amortisation": 3.0}, "more lets items without answers drift"
    else:
        enough = max(passes(50), math.ceil(TAUGHT * 100 / num_items))
        yield {"start.epochs": passes(50)}, "a VAE of some hundred items has settled by then"
        yield {"start.teach_epochs": enough}, "q(z | o) has learned the start by then"


def _seen(given: Mapping[str, Any], facts: Facts) -> Iterator[Statement]:
    """Images that convolutions see."""
    if facts.unit_interval:
        colours = facts.image_shape is not None and len(facts.image_shape) == 3
        yield {"model.likelihood": "logistic" if colours else "bernoulli"}, "values from 0 to 1"
    if given["nets.kind"] == "resnet":
        yield {"nets.channels": (8, 16, 32), "nets.blocks": 2}, "five residual blocks, as the SCDC paper; few channels"
        yield {"nets.classifier": 16}, "nine layers, as the SCDC paper; an eighth of the channels"
    yield {"nets.precision": "auto"}, "bfloat16 is twice as fast where the machine has it, the same accuracy"
    passes = {"epochs": 5, "start.epochs": 4, "start.learning_rate": 0.001}
    yield passes, "convolutions: what has not settled by then takes hours on a processor"
    yield {"start.teach_epochs": 20}, "networks learn the start"


def _grey_images(bayes: bool, conv: bool, given: Mapping[str, Any], facts: Facts) -> Iterator[Statement]:
    """Grey images with values from 0 to 1, of any number and size: as many steps as MNIST's 60,000 images need."""
    assert facts.image_shape is not None
    few = facts.num_answers <= FEW_ANSWERS

    def passes(of_mnist: int) -> int:
        """Epochs, of which fewer images need more; one of less than a batch is a step all the same."""
        return max(1, round(of_mnist * MNIST_ITEMS / max(facts.num_items, IMAGE_BATCH)))

    K = min(50, max(2, facts.num_items))
    yield {"model.K": K}, "images may be of many kinds; what is not needed empties itself"
    yield {"model.hidden": (500, 500), "model.likelihood": "bernoulli"}, "SCDC paper, section 5.3 and App. B"
    yield {"nets.precision": "auto"}, "bfloat16 is twice as fast where the machine has it, the same accuracy"
    yield {"epochs": passes(8)}, "accuracy has settled by then"
    start = {"start.epochs": passes(8), "start.learning_rate": 0.001, "start.cells": 100, "start.candidates": 3}
    yield start, "few steps, twice as many cells as clusters"
    if bayes:
        yield {"start.teach_epochs": 50}, "networks and mixture learn together what the answers say"
        yield {"model.amortisation": 10.0}, "the network learns from the answers what they say of like items"
        yield {"model.step_size": 0.002}, "larger steps let the items without answers pull clusters off the answers"
        yield {"model.max_sweeps": 3}, "q(z) is then .001 from where ten sweeps end, in total variation"
        yield {"model.merge_every": 0}, "a round of merges passes over all items many times"
    else:
        yield {"model.drop_mass": 0.01}, ".01 nats an item below the exact sum, with 1.4 clusters evaluated"
        yield {"start.teach_epochs": passes(2)}, "q(z | o) has learned the start by then"
        if conv:
            yield {"nets.kind": "conv"}, "convolutions learn more from views than networks of all pixels, as fast"
    if bayes and conv:
        wide = {"batch_size": 64, "start.epochs": passes(4), "model.amortisation": 100.0, "views.kind": "affine"}
        yield wide, "convolutions: with as many views, which they learn from"
        if facts.num_tasks and given.get("model.sampler", "auto") in ("auto", "tasks"):
            yield {"model.sample_size": 2}, "convolutions: two tasks and their views are a batch"
    if bayes and not few:
        return
    shift = min(facts.image_shape) / 14
    views = {"views.kind": "affine", "views.shift": shift, "batch_size": IMAGE_BATCH, "start.kind": "communities"}
    yield views, "views say what may change within a kind"
    yield {"start.epochs": passes(12)}, "communities are of a longer VAE"
    if bayes:
        yield {"model.step_size": 0.005}, "few answers or none that larger steps could pull clusters off"
        return
    yield {"epochs": passes(6)}, "with views, accuracy has settled by then"
    if conv and given.get("views.kind") != "none" and given.get("start.kind") != "cold":
        yield {"start.agree_epochs": passes(10)}, "convolutions see which images views lead to"
        yield {"start.hold": True, "epochs": passes(3)}, "what views have settled is not for the ELBO to undo"


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
    yield {"model.final_rate": 1.0, "model.final_refits": 0}, "SCDC paper: steps of one size, and no others"
    if method == "scdc":
        yield {"model.initial_quality": "paper"}, "SCDC paper: draws from Beta(1, 1)"
        return
    yield {"model.annotators": "fixed"}, "SCDC paper: Beta(1, 1) stays the prior"
    yield {"model.natural_gradient": "full", "model.step_size": 0.0001}, "SCDC paper: eq. 17, both terms, and App. B"
    optimizer = "adam" if facts.data == "face" else "momentum"
    yield {"model.optimizer": optimizer}, "SCDC paper, App. B"
    yield {"model.merge_every": 0}, "SCDC paper: no merges"


def _number_of_clusters(method: str, given: Mapping[str, Any], facts: Facts) -> Iterator[Statement]:
    """The number of clusters of a method that has to be given one: the number of classes."""
    if "model.K" not in described_by_name(METHODS[method].groups):
        return
    if facts.num_classes is not None:
        yield {"model.K": facts.num_classes}, f"{facts.num_classes} classes of data={facts.data}"
    elif "model.K" not in given:
        raise UserError(f"model.K: expected a number of clusters, since data={facts.data} has no labels to count")
