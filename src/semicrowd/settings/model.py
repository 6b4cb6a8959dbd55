"""Settings of SCDC, BayesSCDC and their networks (SCDC paper, sections 2 and 3, App. B)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from semicrowd.settings.fields import Settings, choice, each, either, flag, number, setting, whole
from semicrowd.settings.training import StartSettings, TrainingSettings, ViewSettings

_WIDTHS = each(whole(1, 100_000), "[40, 40]", least=1)
_SHARE = number(above=0, high=1)
#: Over N items: the first step of the authors' code, 10 / N, times ten, as momentum of .9 makes of it in the long run.
RELEASED_STEP = 100


@dataclass(frozen=True)
class NetSettings(Settings):
    """What the networks are made of, and the precision of all of them."""

    group = "nets"

    kind: str = setting(
        "mlp", "mlp: of the widths model.hidden | conv: convolutions see the images | resnet: residual blocks see and "
        "draw them (SCDC paper, App. B, CIFAR-10)",
        choice("mlp", "conv", "resnet"),
    )
    precision: str = setting(
        "float32", "of products, parameters stay float32: float32 | bfloat16 | auto (bfloat16 where the machine has "
        "instructions for it)",
        choice("float32", "bfloat16", "auto"),
    )
    channels: tuple[int, ...] = setting(
        (16, 32), "of the convolutions of stride 2 (conv); of the blocks at each resolution (resnet)",
        each(whole(1, 100_000), "[16, 32]", least=1),
    )
    blocks: int = setting(
        1, "residual blocks at the last resolution (conv); at each resolution but the first, which has one (resnet)",
        whole(0, 1000),
    )
    width: int = setting(128, "of the layer between convolutions and heads", whole(1, 100_000))
    classifier: int = setting(32, "channels of the first of nine layers of q(z | o); resnet, scdc", whole(1, 10_000))


@dataclass(frozen=True)
class GenerativeSettings(Settings):
    """What SCDC and BayesSCDC share."""

    group = "model"
    #: Other groups that have settings of the method; those of "" have none.
    others: ClassVar[Mapping[str, type[Settings]]] = {
        "nets": NetSettings, "start": StartSettings, "views": ViewSettings, "": TrainingSettings,
    }  # fmt: skip

    preparation: str = setting(
        "none", "of the features: none | standard (constant columns out, standardised, principal components)",
        choice("none", "standard"),
    )
    K: int = setting(15, "clusters; of bayes the number to begin with", whole(2, 100_000))
    latent_dim: int = setting(2, "d, dimensions of x", whole(1, 10_000))
    hidden: tuple[int, ...] = setting((40, 40), "widths of the networks' hidden layers", _WIDTHS)
    linear_skip: bool = setting(True, "from the input to the networks' first head, as SVAE has it", flag())
    likelihood: str = setting(
        "gaussian", "gaussian | bernoulli (features from 0 to 1) | logistic (256 steps from 0 to 1)",
        choice("gaussian", "bernoulli", "logistic"),
    )
    initial_variance: float = setting(0.1, "of the untrained networks' Gaussians", number(above=0))
    learning_rate: float = setting(0.001, "of the networks, at first", number(above=0))
    final_rate: float = setting(0.05, "step sizes fall to this share along a cosine over the epochs", number(0, 1))
    clip: float | None = setting(
        None, "norm of a restart's gradient above which it is scaled down to it before the networks' step, per item in "
        "nats; null: never", number(above=0), optional=True,
    )
    final_refits: int = setting(3, "exact updates of the annotators from all answers after the last epoch", whole(0))
    sampler: str = setting(
        "auto", "what a step draws: pairs (the paper's) | tasks | nodes | auto: tasks where there are any, else nodes",
        choice("auto", "pairs", "tasks", "nodes"),
    )
    sample_size: int | None = setting(
        None, "how many of them; null: 3 tasks, 108 items, or answers in proportion to the items (App. B)", whole(1),
        optional=True,
    )
    merge_every: int = setting(0, "epochs between rounds of merges, accepted by the ELBO; 0: none", whole(0))
    splits: bool = setting(False, "a round of merges tries splits, too, then merges again", flag())


@dataclass(frozen=True)
class BayesSettings(GenerativeSettings):
    """Settings of BayesSCDC (SCDC paper, section 3, Algorithm 1)."""

    concentration: str = setting(
        "paper", "of p(π): paper (.05/K) | corrected (1 + .05/K) | released (1.05)",
        choice("paper", "corrected", "released"),
    )
    annotators: str = setting(
        "empirical", "their priors after training: empirical (fitted to the crowd) | fixed",
        choice("empirical", "fixed"),
    )
    natural_gradient: str = setting("svi", "svi | full (with the second term of eq. 17)", choice("svi", "full"))
    step_size: float | str = setting(
        0.1, "ρ of the natural gradient's step, at first; released: 100 / N, at most 1, which the authors' steps of "
        "10 / N with momentum .9 amount to", either(_SHARE, choice("released")),
    )
    optimizer: str = setting(
        "adam", "of the networks: adam | momentum (gradient steps with momentum .9)", choice("adam", "momentum")
    )
    amortisation: float = setting(
        0.0, "weight of ln q(z | features alone) under the joint q(z)", number(0)
    )
    max_sweeps: int = setting(10, "of message passing in a step (eqs. 12 and 14)", whole(1, 100_000))
    merge_every: int = setting(50, "epochs between rounds of merges, accepted by the ELBO; 0: none", whole(0))

    def first_step(self, num_items: int) -> float:
        """ρ of the first step, a number whichever way it was given."""
        return min(1.0, RELEASED_STEP / num_items) if isinstance(self.step_size, str) else self.step_size


@dataclass(frozen=True)
class SCDCSettings(GenerativeSettings):
    """Settings of SCDC (SCDC paper, section 2)."""

    initial_quality: str = setting(
        "corrected", "first α and β: corrected (.9) | paper (Beta(1, 1) each) | released (one draw for all)",
        choice("corrected", "paper", "released"),
    )
    answers: str = setting(
        "two_coin", "two_coin | confusions (annotators place the items of a task, and may misplace one or take two "
        "kinds for one) | auto (confusions where answers come in tasks)",
        choice("two_coin", "confusions", "auto"),
    )
    drop_mass: float = setting(
        0.0, "mass of q(z | o) whose clusters may share one x; 0: the exact sum over z", number(0, 0.999999)
    )
    max_clusters: int | None = setting(
        None, "clusters of an item with an x of their own, at most; null: no limit", whole(1), optional=True
    )
