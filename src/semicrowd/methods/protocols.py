"""What SCDC and BayesSCDC do where a parameter is None: the values of four protocols.

``protocol="paper"`` has the settings of the SCDC paper (section 5, App. B), ``protocol="released"`` what the authors'
code does beside them, ``protocol="model"`` the paper's models and inference with a start of their own, a VAE and a
mixture; ``protocol="default"`` the best inference found here (docs/DEFAULTS.md), which depends on the size of the data,
on whether the items are images, and on whether there are answers. Each statement gives its reason; later ones override
earlier ones.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
from sklearn.utils import Bunch

#: Values where no statement of a protocol says otherwise.
USUAL: dict[str, Any] = {
    "n_clusters": 15, "latent_dim": 2, "hidden": (40, 40), "likelihood": "gaussian", "preparation": "none",
    "linear_skip": True, "initial_weights": "he", "binary_draws": False,
    "final_rate": 0.05, "final_refits": 3, "sampler": "auto",
    "architecture": "mlp", "precision": "float32", "channels": (16, 32), "blocks": 1,
    "init": "mixture", "init_epochs": 100, "init_learning_rate": 0.003,
    "teach_epochs": 20, "augmentation": "none", "epochs": 50, "batch_size": 128, "learning_rate": 0.001,
}  # fmt: skip
#: Those of one of the models.
USUAL_OF: dict[str, dict[str, Any]] = {
    "bayes": {"concentration": "paper", "annotators": "empirical", "natural_gradient": "svi", "step_size": 0.1,
              "natural_momentum": 0.0, "optimizer": "adam", "amortisation": 0.0, "max_sweeps": 10, "teach_weight": 1.0,
              "potentials": "moments", "inference": "fixed_point", "batch_weights": "unbiased"},
    "scdc": {"location_scale": 0.19, "covariance": "full", "initial_quality": "corrected",
             "drop_mass": 0.0, "classifier_channels": 32, "agree_epochs": 0,
             "hold": False},
}  # fmt: skip
#: Number of items in a table above which the number of epochs is reduced, in inverse proportion to the items.
MANY_ITEMS = 10_000
#: Number of images to which the stated numbers of epochs for grey images refer.
MNIST_ITEMS = 60_000
#: Batch size for images.
IMAGE_BATCH = 128
#: Items, with repetitions, that q(z | o) sees at least while it learns the start's clusters: 1000 steps.
TAUGHT = 128_000
#: Values by name, and the reason for them.
Statement = tuple[dict[str, Any], str]


@dataclass(frozen=True)
class Facts:
    """Properties of data and answers; all that the protocols may use. Labels of items are not among them.

    Attributes
    ----------
    num_items, num_features : N and D
    image_shape : (height, width) or (colours, height, width) if each row of the features is an image
    unit_interval : whether all feature values are between 0 and 1
    num_answers : P, 0 without answers
    num_tasks : number of tasks from which the answers are, 0 if they do not come in tasks
    """

    num_items: int
    num_features: int
    image_shape: tuple[int, ...] | None = None
    unit_interval: bool = False
    num_answers: int = 0
    num_tasks: int = 0

    @classmethod
    def of(cls, features: np.ndarray, answers: Any, image_shape: tuple[int, ...] | None = None) -> "Facts":
        """The properties of features [N, D] and of the answers about these items, PairAnnotations or None."""
        known = (0, 0) if answers is None else (answers.num_pairs, answers.num_tasks)
        inside = bool(features.min(initial=0.0) >= 0 and features.max(initial=0.0) <= 1)
        return cls(features.shape[0], features.shape[1], image_shape, inside, *known)

    @property
    def grey_images(self) -> bool:
        """Whether the items are grey images with values from 0 to 1."""
        return self.image_shape is not None and len(self.image_shape) == 2 and self.unit_interval


def with_defaults(model: str, given: Mapping[str, Any], facts: Facts | None, protocol: str = "default") -> Bunch:
    """All parameters of a fit: those that are given, and for those that are None what the protocol says.

    Parameters
    ----------
    model : ``scdc`` or ``bayes``
    given : parameter → value
    facts : None: no protocol, only :data:`USUAL` values
    """
    chosen = {name: value for name, value in given.items() if value is not None}
    values: dict[str, Any] = dict(given) | USUAL | USUAL_OF[model]
    for stated, _ in () if facts is None else statements(model, chosen, facts, protocol):
        values |= {name: value for name, value in stated.items() if name in values}
    return Bunch(**(values | chosen))


def statements(model: str, given: Mapping[str, Any], facts: Facts, protocol: str) -> Iterator[Statement]:
    """The statements of a protocol for these facts, in order; ``given`` are the parameters that are not None."""
    if protocol == "default":
        return _default(model, given, facts)
    beside = {"paper": (), "released": _released(model, facts), "model": _model(model, given, facts)}
    return chain(_paper(model, facts), beside[protocol])


def _paper(model: str, facts: Facts) -> Iterator[Statement]:
    """The settings of the SCDC paper (section 5, App. B); what it does not state is in :data:`USUAL`.

    Those of pinwheel and faces, which differ, are in conf/experiment.
    """
    yield {"epochs": 200, "batch_size": 128}, "App. B, MNIST"
    if facts.grey_images:
        sizes = {"n_clusters": 50, "latent_dim": 8, "hidden": (500, 500), "likelihood": "bernoulli"}
        yield sizes, "section 5.3 and App. B, MNIST"
        yield {"initial_quality": "paper"}, "section 5.3: α, β drawn from Beta(1, 1); of the others it says nothing"
    yield {"init": "cold"}, "random initial values"
    yield {"sampler": "pairs"}, "a random minibatch of answers"
    yield {"final_rate": 1.0, "final_refits": 0}, "a constant step size, no final refits"
    if model == "scdc":
        return
    yield {"annotators": "fixed"}, "a fixed prior Beta(1, 1)"
    yield {"natural_gradient": "full", "step_size": 0.0001}, "eq. 17, both terms, and App. B"
    yield {"optimizer": "momentum"}, "App. B, but for the faces"


def _released(model: str, facts: Facts) -> Iterator[Statement]:
    """What the authors' code, which is for MNIST, does otherwise than the paper says: rows of docs/DEVIATIONS.md."""
    yield {"initial_weights": "glorot", "linear_skip": False}, "15: plain networks by Glorot & Bengio 2010"
    yield {"binary_draws": facts.grey_images}, "16: pixels are black or white, drawn anew in each step"
    if model == "scdc":
        yield {"covariance": "diagonal"}, "16: μ_k and ln σ_k are linear in z, and ln σ of q(x | z, o) is linear"
        yield {"initial_quality": "released"}, "14: one α and one β for all annotators"
        return
    yield {"batch_weights": "released"}, "7: the mean of a bound of all items and one of the annotated, wrong counts"
    yield {"concentration": "released", "natural_gradient": "svi"}, "12, 6: mixture, no second term of eq. 17"
    yield {"step_size": "released", "natural_momentum": 0.9}, "8: steps of 10 / N with momentum"
    yield {"potentials": "natural", "inference": "unrolled", "max_sweeps": 4}, "15, 10: four sweeps from a random q(z)"


def _model(model: str, given: Mapping[str, Any], facts: Facts) -> Iterator[Statement]:
    """The paper's models and their inference, from a start of their own: a VAE, then a mixture of its latent means.

    One rule for images and one for tables: numbers of training steps, not of epochs; small steps on q(Θ).
    """
    images = facts.image_shape is not None
    batch = given.get("batch_size", IMAGE_BATCH if images else 50)
    yield {"batch_size": batch}, "that of the paper's images and pinwheel"

    def epochs_of(steps: int) -> int:
        return max(1, math.ceil(steps * batch / facts.num_items))

    yield {"init": "mixture"}, "as VaDE (Jiang et al. 2017)"
    if images:
        yield {"init_epochs": epochs_of(22_500), "init_learning_rate": 0.001, "precision": "auto"}, "48 epochs of MNIST"
        yield {"teach_epochs": epochs_of(469), "epochs": epochs_of(9_375)}, "2 and 20 epochs of MNIST"
    else:
        yield {"preparation": "standard", "latent_dim": min(8, facts.num_features)}, "the prior of Σ_k is about 1"
        yield {"init_epochs": epochs_of(1000), "teach_epochs": epochs_of(300)}, "q(z | o) is not yet saturated then"
        yield {"epochs": max(20, epochs_of(1000))}, "the paper's on Face"
    yield {"sampler": "auto", "final_rate": 0.05, "final_refits": 3}, "whole tasks, steps that decrease, exact rates"
    if model == "scdc":
        yield {"initial_weights": "glorot", "linear_skip": False}, "plain networks, as the released code's"
        yield {"initial_quality": "corrected"}, "drawn rates with α + β < 1 read answers as their opposite"
        yield {"drop_mass": 0.01 if images else 0.0}, "close to the exact sum"
        return
    yield {"optimizer": "adam", "natural_gradient": "svi"}, "as the paper's SCDC; as SVAE"
    step = min(0.005, batch / facts.num_items)
    yield {"step_size": step}, "q(Θ) is a mean over an epoch at least; with larger steps Face has a lower ELBO"
    yield {"annotators": "empirical", "max_sweeps": 3}, "one prior of all annotators, fitted to them"


def _default(model: str, given: Mapping[str, Any], facts: Facts) -> Iterator[Statement]:
    """The best inference found here for the paper's models (docs/DEFAULTS.md)."""
    bayes, N = model == "bayes", facts.num_items
    yield {"latent_dim": min(8, facts.num_features)}, "enough for about ten classes, but no more than columns"
    K = min(50, max(15, round(15 * math.sqrt(N / MANY_ITEMS))), max(2, N))
    yield {"n_clusters": K}, "more items may have more classes; superfluous clusters become empty"
    if bayes:
        yield {"step_size": 0.005}, "with larger steps, items without answers move the clusters too much"
        yield {"max_sweeps": 3}, "q(z) hardly differs from that after ten sweeps"
        yield {"teach_weight": 30.0}, "with a smaller weight, ELBO training forgets the answers"
    if facts.grey_images:
        yield from _grey_images(bayes, N)
        return
    if facts.num_answers:
        yield {"init": "cotraining"}, "no single start is best on all data; their evidence selects one"
    else:
        yield {"init": "features"}, "without answers, the features separate clusters better than latent means"
    if given.get("architecture", "mlp") != "mlp":
        yield from _colour_images(bayes, given["architecture"], facts)
        return
    yield {"preparation": "standard"}, "columns with large values would otherwise dominate the others"

    def passes(most: int) -> int:
        return max(1, min(most, round(most * MANY_ITEMS / N)))

    yield {"epochs": passes(20)}, "the paper's on Face, fewer for many items to save time"
    yield {"init_epochs": passes(50)}, "a VAE has converged by then"
    if bayes:
        yield {"teach_epochs": passes(50)}, "networks and mixture are trained jointly on the start's clusters"
    else:
        yield {"teach_epochs": max(passes(50), math.ceil(TAUGHT / N))}, "q(z | o) predicts the start's clusters by then"


def _colour_images(bayes: bool, kind: str, facts: Facts) -> Iterator[Statement]:
    """Images other than grey ones, with convolutional or residual networks."""
    if facts.unit_interval and facts.image_shape is not None:
        yield {"likelihood": "logistic"}, "256 steps from 0 to 1"
    if kind == "resnet":
        blocks = {"channels": (8, 16, 32), "blocks": 2, "classifier_channels": 16}
        yield blocks, "as many residual blocks and layers as in the SCDC paper, fewer channels"
    yield {"precision": "auto"}, "on machines with bfloat16 twice as fast, with the same accuracy"
    passes = {"epochs": 5, "init_epochs": 4, "init_learning_rate": 0.001}
    yield passes, "convolutions: more epochs would take hours on a CPU"
    if not bayes:
        yield {"learning_rate": 0.0001}, "with larger steps latent variables move too far: one cluster is left"


def _grey_images(bayes: bool, num_items: int) -> Iterator[Statement]:
    """Grey images with values from 0 to 1, of any number and size, with as many training steps as for MNIST."""

    def steps(of_mnist: int) -> int:
        """Number of epochs with as many steps as ``of_mnist`` epochs of MNIST; an epoch has at least one step."""
        return max(1, round(of_mnist * MNIST_ITEMS / max(num_items, IMAGE_BATCH)))

    yield {"hidden": (500, 500), "likelihood": "bernoulli"}, "SCDC paper, section 5.3 and App. B"
    yield {"precision": "auto"}, "on machines with bfloat16 twice as fast, with the same accuracy"
    yield {"augmentation": "affine"}, "views keep an image's class"
    start = {"init": "communities", "init_epochs": steps(12), "init_learning_rate": 0.001}
    yield start, "communities of latent means follow the classes more closely than Gaussians do"
    if bayes:
        yield {"amortisation": 10.0}, "the network generalises the answers to similar items"
        yield {"epochs": steps(8)}, "accuracy has converged by then"
        return
    yield {"architecture": "conv"}, "convolutions profit more from views than dense networks, at equal speed"
    yield {"drop_mass": 0.01}, "few clusters are evaluated, close to the exact sum"
    yield {"teach_epochs": steps(2)}, "q(z | o) predicts the start's clusters by then"
    yield {"agree_epochs": steps(10)}, "q(z | o) learns the same cluster for images with similar views"
    yield {"epochs": steps(3)}, "clusters learned from views change little afterwards"
