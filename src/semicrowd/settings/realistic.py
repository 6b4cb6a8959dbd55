"""Settings of simulated annotators whose errors are not independent.

All effects can be combined; if every share is 0, the answers are those of ``two_coin`` or ``tasks``.
"""

from dataclasses import dataclass

from semicrowd.errors import UserError
from semicrowd.settings.fields import Settings, each, either, number, setting, whole

_SHARE = number(0, 1)
#: The settings that switch off an effect if they are 0.
EFFECTS = ("hardness", "confused", "other_axis", "lazy", "drift", "copying")


class Grouped(Settings):
    """What the settings of simulated tasks have in common."""

    num_annotators: int
    num_tasks: int
    task_size: int | tuple[int, int]

    @property
    def sizes(self) -> tuple[int, int]:
        """Minimum and maximum number of items in a task."""
        return (self.task_size, self.task_size) if isinstance(self.task_size, int) else self.task_size

    def __post_init__(self) -> None:
        """Refuse sizes that are no interval, and fewer tasks than annotators."""
        super().__post_init__()
        low, high = self.sizes
        if low > high:
            raise UserError(f"annotations.task_size=[{low}, {high}]: expected [minimum, maximum]")
        if self.num_tasks < self.num_annotators:
            raise UserError(
                f"annotations.num_tasks={self.num_tasks}: expected one or more for each of {self.num_annotators}"
            )


@dataclass(frozen=True)
class EffectSettings(Settings):
    """Sources of error that answers in pairs and in tasks have in common."""

    group = "annotations"

    num_annotators: int = setting(20, "M, number of annotators", whole(1))
    num_annotated: int | None = setting(100, "number of items with answers; null: all", whole(2), optional=True)
    hardness: float = setting(
        0.1, "share of wrong classifications caused by hard items: few items are hard, and most annotators assign such "
        "an item to the same wrong class", _SHARE,
    )  # fmt: skip
    confused: float = setting(0.4, "share of the classes that all annotators confuse with another class", _SHARE)
    confusion: float = setting(0.5, "P(two confused classes are regarded as the same)", _SHARE)
    other_axis: float = setting(
        0.1, "share of the annotators who answer by other labels, for example by person instead of pose", _SHARE
    )
    other_kinds: int = setting(4, "number of classes of these labels, which are random if the data have none", whole(2))
    lazy: float = setting(0.1, "share of the annotators who always give the same answer, half of them 'same'", _SHARE)
    drift: float = setting(0.2, "share of random answers at the end of an annotator's work; 0 at the start", _SHARE)
    copying: float = setting(0.1, "share of the annotators who copy the answers of another one", _SHARE)

    def __post_init__(self) -> None:
        super().__post_init__()
        if sum(self.counts) >= self.num_annotators + (self.counts[2] == 0):
            raise UserError(
                f"annotations: other_axis={self.other_axis:g}, lazy={self.lazy:g}, copying={self.copying:g} of "
                f"{self.num_annotators} annotators: expected shares of less than 1 together"
            )

    @property
    def counts(self) -> tuple[int, int, int]:
        """Number of annotators who use other labels, who are lazy, and who copy."""
        shares = (self.other_axis, self.lazy, self.copying)
        other, lazy, copies = (round(share * self.num_annotators) for share in shares)
        return other, lazy, copies


@dataclass(frozen=True)
class RealisticSettings(EffectSettings):
    """Simulated: pairs with dependent errors, such as hard items, confused classes, or lazy or copying annotators."""

    pairs_per_annotator: int = setting(49, "number of distinct pairs that each annotator answers", whole(1))
    sensitivity: float = setting(0.95, "P(answer same | perceived as the same class)", _SHARE)
    specificity: float = setting(0.95, "P(answer different | perceived as different classes)", _SHARE)


@dataclass(frozen=True)
class RealisticTasksSettings(Grouped, EffectSettings):
    """Simulated: groupings of the items of tasks, with the dependent errors of `realistic`."""

    num_tasks: int = setting(40, "number of tasks; each annotator has at least one", whole(1))
    task_size: int | tuple[int, int] = setting(
        16, "number of items in a task, or [minimum, maximum]", either(whole(2), each(whole(2), "[12, 20]", length=2))
    )
    sensitivity: float = setting(0.98, "P(put into one group | perceived as the same class)", _SHARE)
    specificity: float = setting(0.99, "P(put into different groups | perceived as different classes)", _SHARE)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.sensitivity <= 0 or self.sensitivity + self.specificity < 1:
            raise UserError("annotations: expected sensitivity > 0 and sensitivity + specificity >= 1")


@dataclass(frozen=True)
class ExpertsSettings(Settings):
    """Simulated: pairs answered by classifiers, each trained on almost no items of some classes (Zhang & Chen 2026)."""

    group = "annotations"

    num_annotators: int = setting(3, "M, number of experts; each class is unfamiliar to one of them", whole(2))
    pairs_per_annotator: int = setting(3000, "number of distinct pairs that each annotator answers", whole(1))
    num_annotated: int | None = setting(
        None, "number of items from which the pairs are made; null: all", whole(2), optional=True
    )
    familiar: float = setting(0.1, "share of the items of a familiar class on which an expert is trained", _SHARE)
    unfamiliar: float = setting(0.0001, "the same for unfamiliar classes; at least one item", _SHARE)
    corrupted: float = setting(0.3, "share of the answers that are replaced by random ones", _SHARE)
