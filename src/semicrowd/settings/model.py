"""Settings of SCDC, BayesSCDC and their networks (SCDC paper, sections 2 and 3, App. B)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from semicrowd.errors import UserError
from semicrowd.settings.fields import Settings, choice, each, either, flag, number, setting, whole
from semicrowd.settings.training import StartSettings, TrainingSettings, ViewSettings

_WIDTHS = each(whole(1, 100_000), "[40, 40]", least=1)
_SHARE = number(above=0, high=1)
#: Numerator of ρ = 100 / N: the authors' code uses steps of 10 / N with momentum .9, in total ten times as long.
RELEASED_STEP = 100


@dataclass(frozen=True)
class NetSettings(Settings):
    """Architecture of the networks, and their precision."""

    group = "nets"

    kind: str = setting(
        "mlp", "mlp: dense layers of the widths model.hidden | conv: convolutional encoders | resnet: residual "
        "encoders and decoder (SCDC paper, App. B, CIFAR-10)",
        choice("mlp", "conv", "resnet"),
    )
    precision: str = setting(
        "float32", "precision of matrix products, while parameters are float32: float32 | bfloat16 | auto (bfloat16 if "
        "the machine has instructions for it)",
        choice("float32", "bfloat16", "auto"),
    )
    channels: tuple[int, ...] = setting(
        (16, 32), "channels of the convolutions of stride 2 (conv), or of the blocks at each resolution (resnet)",
        each(whole(1, 100_000), "[16, 32]", least=1),
    )
    blocks: int = setting(
        1, "residual blocks at the last resolution (conv), or at each resolution but the first, which has one (resnet)",
        whole(0, 1000),
    )
    width: int = setting(128, "width of the layer between convolutions and heads", whole(1, 100_000))
    classifier: int = setting(
        32, "channels of the first of the nine layers of q(z | o); resnet, scdc", whole(1, 10_000)
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.kind == "resnet" and not self.blocks:
            raise UserError("nets.blocks=0: expected 1 at least with nets=resnet (one at each resolution)")


@dataclass(frozen=True)
class GenerativeSettings(Settings):
    """The common settings of SCDC and BayesSCDC."""

    group = "model"
    #: Other groups with settings of the method, by name; "" are settings without a group.
    others: ClassVar[Mapping[str, type[Settings]]] = {
        "nets": NetSettings, "start": StartSettings, "views": ViewSettings, "": TrainingSettings,
    }  # fmt: skip

    preparation: str = setting(
        "none", "preparation of the features: none | standard (drop constant columns, standardise, principal "
        "components)",
        choice("none", "standard"),
    )
    K: int = setting(
        15, "maximal number of clusters; superfluous ones become empty", whole(2, 100_000)
    )
    latent_dim: int = setting(2, "d, number of dimensions of the latent x", whole(1, 10_000))
    hidden: tuple[int, ...] = setting((40, 40), "widths of the networks' hidden layers", _WIDTHS)
    linear_skip: bool = setting(
        True, "linear skip connection from the input to the networks' first head, as in SVAE", flag()
    )
    likelihood: str = setting(
        "gaussian", "likelihood of the features: gaussian | bernoulli (values from 0 to 1) | logistic (256 steps from "
        "0 to 1)", choice("gaussian", "bernoulli", "logistic"),
    )
    initial_variance: float = setting(0.1, "variance of the untrained networks' Gaussians", number(above=0, high=100))
    learning_rate: float = setting(0.001, "initial learning rate of the networks", number(above=0))
    final_rate: float = setting(
        0.05, "final step sizes as a share of the initial ones; they decrease along a cosine", number(0, 1)
    )
    clip: float | None = setting(
        None, "maximal norm of a restart's gradient, per item in nats; larger gradients are scaled down to it; null: "
        "no limit", number(above=0), optional=True,
    )
    final_refits: int = setting(
        3, "exact updates of the annotators' rates from all answers after the last epoch", whole(0)
    )
    sampler: str = setting(
        "auto", "how the answers of a training step are sampled: pairs (as in the paper) | tasks | nodes | auto: tasks "
        "if there are any, else nodes", choice("auto", "pairs", "tasks", "nodes"),
    )
    sample_size: int | None = setting(
        None, "number of pairs, tasks or nodes in a step; null: 3 tasks (up to 60 if some are single pairs), 108 nodes "
        "(items), or pairs in proportion to the items (App. B)", whole(1), optional=True,
    )


@dataclass(frozen=True)
class BayesSettings(GenerativeSettings):
    """Settings of BayesSCDC (SCDC paper, section 3, Algorithm 1)."""

    concentration: str = setting(
        "paper", "concentration of p(π): paper (.05/K) | corrected (1 + .05/K) | released (1.05)",
        choice("paper", "corrected", "released"),
    )
    annotators: str = setting(
        "empirical", "priors of the annotators' rates after training: empirical (fitted to all annotators) | fixed",
        choice("empirical", "fixed"),
    )
    natural_gradient: str = setting("svi", "svi | full (with the second term of eq. 17)", choice("svi", "full"))
    step_size: float | str = setting(
        0.1, "initial ρ of the natural gradient step; released: 100 / N, at most 1, equivalent to the authors' steps "
        "of 10 / N with momentum .9", either(_SHARE, choice("released")),
    )
    optimizer: str = setting(
        "adam", "optimizer of the networks: adam | momentum (gradient steps with momentum .9)",
        choice("adam", "momentum"),
    )
    amortisation: float = setting(
        0.0, "weight of E ln q(z | features alone) under q(z), with which the networks learn to predict q(z)", number(0)
    )
    max_sweeps: int = setting(
        10, "maximal number of message-passing sweeps in a step (eqs. 12 and 14)", whole(1, 100_000)
    )

    def first_step(self, num_items: int) -> float:
        """ρ of the first step as a number, also if ``step_size`` is ``released``."""
        return min(1.0, RELEASED_STEP / num_items) if isinstance(self.step_size, str) else self.step_size


@dataclass(frozen=True)
class SCDCSettings(GenerativeSettings):
    """Settings of SCDC (SCDC paper, section 2)."""

    initial_quality: str = setting(
        "corrected", "initial α and β: corrected (.9) | paper (a draw of Beta(1, 1) each) | released (one draw for "
        "all)",
        choice("corrected", "paper", "released"),
    )
    drop_mass: float = setting(
        0.0, "probability mass of unlikely clusters of an item that share one x; 0: the exact sum over z",
        number(0, 0.999999),
    )
    max_clusters: int | None = setting(
        None, "maximal number of clusters of an item with an x of their own; null: no limit", whole(1), optional=True
    )
