"""The papers' protocols as settings, so that a run's deviations are read off its own configuration."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Setting:
    """One setting of a paper.

    Attributes
    ----------
    key
        Where a run's resolved configuration has it, as ``model.K``.
    label
        What it is.
    paper
        The paper's value.
    with_answers
        True for a setting that matters only to a run with answers.
    said
        How to print the paper's value, where the value itself is an option's name.
    model
        The only model that has it; empty for a setting of both.
    """

    key: str
    label: str
    paper: Any
    with_answers: bool = False
    said: str = ""
    model: str = ""


# What the paper's experiments share (App. B and sections 2.3 and 3.2).
_COMMON = (
    Setting("model.start", "start", "cold"),
    Setting("model.warm.partition", "where the start's clusters come from", "cells", said="there is none"),
    Setting("model.linear_skip", "linear skip in the networks", False),
    Setting("model.nets.kind", "networks", "mlp"),
    Setting("model.nets.precision", "precision of the networks", "float32"),
    Setting("model.views.kind", "views", "none"),
    Setting("model.learning_rate", "learning rate of the networks", 1e-3),
    Setting("model.schedule.final", "last step sizes as a fraction of the first", 1.0),
    Setting("model.relational.sampler", "sampling of answers", "pairs", with_answers=True),
    Setting("model.final_refits", "updates of the annotators from all answers after training", 0, with_answers=True),
    Setting("model.prior.concentration", "prior concentration of the mixing weights", "paper", said=".05/K",
            model="bayes"),
    Setting("model.prior.annotators", "prior of the annotators", "fixed", with_answers=True, model="bayes"),
    Setting("model.optimizer", "optimiser of the networks", "momentum", said="steps with momentum .9", model="bayes"),
    Setting("model.natural_gradient", "natural gradient", "full", said="with both terms of eq. 17", model="bayes"),
    Setting("model.step_size", "step on the global posterior", 1e-4, model="bayes"),
    Setting("model.moves.every", "epochs between rounds of merges (0: none)", 0, model="bayes"),
    Setting("model.amortisation", "weight of the recognition network's own objective", 0.0, model="bayes"),
    Setting("model.initial_quality", "first sensitivities and specificities", "paper", with_answers=True,
            said="each from Beta(1, 1)", model="scdc"),
    Setting("model.drop_mass", "mass of q(z | o) without an x of its own", 0.0, model="scdc"),
    Setting("model.max_clusters", "clusters with an x of their own, at most", None, model="scdc"),
)  # fmt: skip

_FACE = (
    Setting("epochs", "epochs", 20),
    Setting("batch_size", "batch", 10),
    Setting("data.pca", "principal components", 20),
    Setting("model.K", "K", 4),
    Setting("model.latent_dim", "latent dimensions", 8),
    Setting("model.hidden", "hidden layers", [40, 40]),
    *_COMMON,
)

_MNIST = (
    Setting("epochs", "epochs", 200),
    Setting("batch_size", "batch", 128),
    Setting("restarts", "initialisations a run, the best counts", 10),
    Setting("model.K", "K", 50),
    Setting("model.latent_dim", "latent dimensions", 8),
    Setting("model.hidden", "hidden layers", [500, 500]),
    *_COMMON,
)

PROTOCOLS: dict[str, tuple[Setting, ...]] = {
    "scdc/figure-2": (
        Setting("epochs", "epochs", 20),
        Setting("batch_size", "batch", 50),
        Setting("model.K", "K", 15),
        Setting("model.latent_dim", "latent dimensions", 2),
        Setting("model.hidden", "hidden layers", [40, 40]),
        *_COMMON,
    ),
    "scdc/figure-3a": _FACE,
    "scdc/figure-3b": _FACE,
    "scdc/figure-3c": _FACE,
    "scdc/figure-5": _FACE,
    "scdc/table-1": _MNIST,
    "scdc/figure-4a": _MNIST,
}

#: Models with the settings above. A baseline is held to the notes alone: the paper does not say how it ran them.
_MODELS = ("scdc", "bayes")

_FACE_NOTES = (
    "the 624 images that the archive holds (paper: 640)",
    "half of each annotator's pairs are truly of one pose (paper: equal numbers of must-links and cannot-links)",
)

# What no setting tells.
NOTES: dict[str, tuple[str, ...]] = {
    "scdc/figure-2": (),
    **dict.fromkeys(("scdc/figure-3a", "scdc/figure-3b", "scdc/figure-3c", "scdc/figure-5"), _FACE_NOTES),
    "scdc/table-1": (
        "the paper's NMI is adjusted mutual information with the 'max' average: compared with ours of the same kind",
        "on the test set (paper: not said)",
        "the best start is chosen by the ELBO (paper: not said)",
    ),
    "scdc/figure-4a": ("with the crowd's answers (paper: not said)",),
}


def _lookup(config: dict[str, Any], key: str) -> Any:
    value: Any = config
    for part in key.split("."):
        value = value[part]
    return value


def _say(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, float) else str(value)


def deviations(exhibit: str, config: dict[str, Any], *, with_answers: bool, runs: int, paper_runs: int) -> list[str]:
    """How a run's protocol differs from the paper's: one phrase each.

    Parameters
    ----------
    exhibit
        A key of :data:`PROTOCOLS`.
    config
        Resolved configuration of a run.
    with_answers
        Whether the run had answers.
    runs, paper_runs
        How many runs stand behind our number and behind the paper's.

    Raises
    ------
    KeyError
        If the configuration lacks a setting: a renamed one must not pass for an equal one.
    """
    found = []
    if runs != paper_runs:
        found.append(f"{runs} run{'s' if runs != 1 else ''} (paper: {paper_runs})")
    for setting in PROTOCOLS[exhibit] if config["model"]["name"] in _MODELS else ():
        if (setting.with_answers and not with_answers) or setting.model not in ("", config["model"]["name"]):
            continue
        ours = _lookup(config, setting.key)
        if ours != setting.paper:
            found.append(f"{setting.label}: {_say(ours)} (paper: {setting.said or _say(setting.paper)})")
    return [*found, *NOTES[exhibit]]
