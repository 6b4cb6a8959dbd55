"""The rules of both protocols: what a fit of SCDC or BayesSCDC takes where nobody has set it.

Each statement sets some values and says why in one line; of two that set the same, the later one counts. What no
statement sets is the default of its dataclass.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from semicrowd.defaults.facts import Facts
from semicrowd.errors import UserError
from semicrowd.settings.fields import Settings, described
from semicrowd.settings.model import BayesSettings, NetSettings, SCDCSettings
from semicrowd.settings.recipe import Recipe
from semicrowd.settings.training import StartSettings, TrainingSettings, ViewSettings

#: Values by dotted name, and the reason for them.
Statement = tuple[dict[str, Any], str]
PROTOCOLS = ("semicrowd", "paper")
#: Data sets whose settings were found by looking at them; all other data share one rule.
TUNED = ("pinwheel", "face", "mnist")
#: Classifiers of the answers look at all of them in each of their steps.
FEW_ANSWERS = 20_000
MODELS: dict[str, type[BayesSettings | SCDCSettings]] = {"bayes": BayesSettings, "scdc": SCDCSettings}

#: Group → its settings, beside the model's.
KINDS: dict[str, type[Settings]] = {
    "nets": NetSettings, "start": StartSettings, "views": ViewSettings, "": TrainingSettings,
}  # fmt: skip


def recipe(method: str, given: Mapping[str, Any], facts: Facts, protocol: str = "semicrowd") -> Recipe:
    """All settings of a fit: what is given, else what the protocol's rule says of these facts, else the default.

    Parameters
    ----------
    method : ``bayes`` or ``scdc``
    given : dotted name → value, such as ``model.K``, ``start.kind`` or ``epochs``; None is not given, but of a setting
        of which it is a value
    protocol : ``semicrowd`` (the best inference here) or ``paper`` (what the SCDC paper states)

    Raises
    ------
    UserError
        For a setting that there is not, or a value that does not fit.
    """
    if protocol not in PROTOCOLS:
        raise UserError(f"protocol={protocol}: expected {' or '.join(PROTOCOLS)}")
    kinds = {"model": MODELS[method]} | KINDS
    optional = {f"{group}.{one.name}" for group, kind in kinds.items() for one in described(kind) if one.optional}
    chosen = {name: value for name, value in given.items() if value is not None or name in optional}
    statements = [*_sizes(facts), *(_semicrowd if protocol == "semicrowd" else _paper)(method, chosen, facts)]
    said = {name: (value, why) for values, why in statements for name, value in values.items()}
    values = {name: value for name, (value, _) in said.items()} | chosen
    groups: dict[str, dict[str, Any]] = {}
    for name, value in values.items():
        group, _, setting = name.rpartition(".")
        groups.setdefault(group, {})[setting] = value
    for group in groups.keys() - kinds.keys():
        raise UserError(f"{group}: no such group of settings; there are {', '.join(filter(None, kinds))}")
    made: dict[str, Any] = {group or "training": kind.of(groups.get(group, {})) for group, kind in kinds.items()}
    return Recipe(**made, reasons={name: why for name, (_, why) in said.items() if name not in chosen})


def _sizes(facts: Facts) -> Iterator[Statement]:
    """Sizes that the paper states, under both protocols."""
    if facts.data == "face":
        yield {"model.K": 4, "model.latent_dim": 8}, "SCDC paper, section 5.2 and App. B"
    if facts.data == "mnist":
        sizes = {"model.K": 50, "model.latent_dim": 8, "model.hidden": (500, 500), "model.likelihood": "bernoulli"}
        yield sizes, "SCDC paper, section 5.3 and App. B"


def _semicrowd(method: str, given: Mapping[str, Any], facts: Facts) -> Iterator[Statement]:
    """The best inference found here for the paper's models (docs/DEVIATIONS.md)."""
    bayes, alone = method == "bayes", not facts.num_answers
    if bayes:
        yield {"start.teach_epochs": 50}, "networks and mixture learn together what the answers say"
        if facts.num_tasks:
            yield {"model.answers": "auto"}, "answers of a task fail together: an item misplaced is one witness"
    if facts.data == "pinwheel":
        yield {"epochs": 100, "batch_size": 50}, "500 points: the paper's batch; the bound has settled by then"
        if alone:
            longer = {"epochs": 150, "model.learning_rate": 0.003, "model.initial_variance": 0.3}
            yield longer, "no answers: only networks that straighten the arms tell one arm from two"
            if bayes:
                yield {"model.merge_every": 10}, "no answers: nothing but merges joins the pieces of an arm"
    if facts.data not in TUNED:
        yield {"model.preparation": "standard"}, "columns in units of their own would hide each other"
        yield {"model.latent_dim": min(8, facts.num_features)}, "room for ten kinds, no more than there are columns"
    if facts.data == "face" or facts.data not in TUNED:
        yield {"epochs": 20, "batch_size": 100}, "the paper's epochs on faces; ten times its batch, for speed"
        if 0 < facts.num_answers <= FEW_ANSWERS:
            yield {"start.kind": "answers"}, "few answers: classifiers trained on them find all classes"
        if bayes:
            yield {"start.epochs": 20, "start.learning_rate": 0.01}, "a VAE of some hundred items has settled by then"
            yield {"start.teach_weight": 30.0}, "less of it lets the ELBO undo what the answers say"
            yield {"model.step_size": 0.01, "model.amortisation": 3.0}, "more lets items without answers drift"
        else:
            yield {"start.epochs": 50, "start.teach_epochs": 50}, "q(z | o) has learned the start by then"
    if facts.data == "mnist":
        yield from _mnist(bayes, given, facts)


def _mnist(bayes: bool, given: Mapping[str, Any], facts: Facts) -> Iterator[Statement]:
    alone = not facts.num_answers
    yield {"nets.precision": "bfloat16"}, "twice as fast, the same accuracy"
    yield {"epochs": 8 if bayes else 10}, "accuracy has settled by then"
    start = {"start.epochs": 8, "start.learning_rate": 0.001, "start.cells": 100, "start.candidates": 3}
    yield start, "60,000 items: few passes, twice as many cells as clusters"
    if bayes:
        yield {"model.amortisation": 10.0}, "the network learns from the answers what they say of like items"
        yield {"model.step_size": 0.002}, "larger steps let the 95 % without answers pull clusters off the answers"
        yield {"model.max_sweeps": 3}, "q(z) is then .001 from where ten sweeps end, in total variation"
        yield {"model.merge_every": 0}, "a round of merges passes over all images many times"
        if given.get("nets.kind") == "conv":
            conv = {"epochs": 8, "batch_size": 64, "start.epochs": 4, "model.amortisation": 100.0}
            yield conv | {"views.kind": "affine"}, "convolutions: with as many views, which they learn from"
            if facts.num_tasks and given.get("model.sampler", "auto") in ("auto", "tasks"):
                yield {"model.sample_size": 2}, "convolutions: two tasks and their views are a batch"
    else:
        yield {"model.drop_mass": 0.01}, ".01 nats an image below the exact sum, with 1.4 clusters evaluated"
        yield {"start.teach_epochs": 2}, "60,000 items: two passes teach q(z | o) the start"
    if alone:
        views = {"views.kind": "affine", "views.anew": 2, "batch_size": 128}
        yield views, "no answers: views say what may change within a kind"
        yield {"epochs": 8 if bayes else 6}, "no answers: each new partition corrects the one before"
        yield {"start.epochs": 12, "start.candidates": 2}, "no answers: the first partition is of a longer VAE"
        if bayes:
            yield {"model.step_size": 0.005}, "no answers that larger steps could pull clusters off"


def _paper(method: str, given: Mapping[str, Any], facts: Facts) -> Iterator[Statement]:  # noqa: ARG001 - as the other
    """What the SCDC paper states (section 5, App. B), and nothing that it does not have."""
    yield {"epochs": 200, "batch_size": 128}, "SCDC paper, App. B, MNIST"
    if facts.data in ("pinwheel", "face"):
        yield {"epochs": 20, "batch_size": 50 if facts.data == "pinwheel" else 10}, f"SCDC paper, App. B, {facts.data}"
    yield {"start.kind": "cold"}, "SCDC paper: random initial values"
    yield {"model.sampler": "pairs"}, "SCDC paper: a random minibatch of answers"
    yield {"model.final_rate": 1.0, "model.final_refits": 0}, "SCDC paper: steps of one size, and no others"
    if method == "scdc":
        yield {"model.initial_quality": "paper"}, "SCDC paper: draws from Beta(1, 1)"
        return
    yield {"model.answers": "two_coin"}, "SCDC paper, section 2.2: every answer on its own"
    yield {"model.annotators": "fixed"}, "SCDC paper: Beta(1, 1) stays the prior"
    yield {"model.natural_gradient": "full", "model.step_size": 0.0001}, "SCDC paper: eq. 17, both terms, and App. B"
    optimizer = "adam" if facts.data == "face" else "momentum"
    yield {"model.optimizer": optimizer}, "SCDC paper, App. B"
    yield {"model.merge_every": 0}, "SCDC paper: no merges"


def baseline(method: str, facts: Facts) -> dict[str, tuple[Any, str]]:
    """What the rule sets of a baseline's own parameters: name → value and reason."""
    said: dict[str, tuple[Any, str]] = {}
    if facts.num_classes is not None:
        said["K"] = facts.num_classes, f"{facts.num_classes} classes of data={facts.data}"
    if (facts.data, method) == ("cifar10", "deep_mcvc"):
        held = "the best bound of seeds 0 and 1; annotators held for 40 steps alone end as guessers"
        said |= {
            "n_views": (1, "one view: the annotators were asked one thing"),
            "n_held": (300, held),
            "learning_rate": (0.01, held),
        }
    return said


def answers(kind: str, data: str) -> dict[str, tuple[Any, str]]:
    """What the rule sets of simulated answers about a data set: name → value and reason."""
    values, why = _ANSWERS.get((data, kind), ({}, ""))
    return {name: (value, why) for name, value in values.items()}


_ANSWERS: dict[tuple[str, str], Statement] = {
    ("pinwheel", "tasks"): (
        {"num_annotators": 20, "num_tasks": 20, "task_size": 10, "num_annotated": 100, "sensitivity": 0.9,
         "specificity": 0.9},
        "as many answers about as many items as two_coin has there",
    ),
    ("cifar10", "tasks"): (
        {"num_annotators": 32, "num_tasks": 240, "num_annotated": 4000},
        "as many as the SCDC paper's crowd gave, none of them published: 8640 placements",
    ),
}  # fmt: skip
