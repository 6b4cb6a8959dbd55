"""Settings of simulated annotators whose errors are no independent coin flips.

All effects may be on at once; with every share at 0 the answers are those of ``two_coin`` or ``tasks``.
"""

from dataclasses import dataclass

from semicrowd.errors import UserError
from semicrowd.settings.fields import Settings, each, either, number, setting, whole

_SHARE = number(0, 1)
#: What switches each effect off.
EFFECTS = ("hardness", "confused", "other_axis", "lazy", "drift", "copying")


@dataclass(frozen=True)
class EffectSettings(Settings):
    """What goes wrong, in pairs and in tasks alike."""

    group = "annotations"

    num_annotators: int = setting(20, "M", whole(1))
    num_annotated: int | None = setting(100, "items that the answers are about; null: all", whole(2), optional=True)
    hardness: float = setting(
        0.1, "share of the items taken for another kind: few are hard, and most annotators take these for the same",
        _SHARE,
    )  # fmt: skip
    confused: float = setting(0.4, "share of the kinds that everybody confuses with another kind", _SHARE)
    confusion: float = setting(0.5, "P(two kinds that are confused are taken for one)", _SHARE)
    other_axis: float = setting(0.1, "share of the annotators who sort by other labels, as by person, not pose", _SHARE)
    other_kinds: int = setting(4, "kinds of the other labels, which are drawn where the data have none", whole(2))
    lazy: float = setting(0.1, "share of the annotators who always say the same thing, half of them 'same'", _SHARE)
    drift: float = setting(0.2, "share of guesses at the end of an annotator's work; none at its beginning", _SHARE)
    copying: float = setting(0.1, "share of the annotators who copy another one's answers", _SHARE)

    def __post_init__(self) -> None:
        super().__post_init__()
        if sum(self.counts) >= self.num_annotators + (self.copies == 0):
            raise UserError(
                f"annotations: other_axis={self.other_axis:g}, lazy={self.lazy:g}, copying={self.copying:g} of "
                f"{self.num_annotators} annotators: expected shares of less than 1 together"
            )

    @property
    def counts(self) -> tuple[int, int, int]:
        """Annotators who sort by something else, who are lazy, and who copy."""
        shares = (self.other_axis, self.lazy, self.copying)
        other, lazy, copies = (round(share * self.num_annotators) for share in shares)
        return other, lazy, copies

    @property
    def copies(self) -> int:
        """Annotators who copy."""
        return self.counts[2]


@dataclass(frozen=True)
class RealisticSettings(EffectSettings):
    """Simulated: pairs; items are hard, kinds confused, annotators lazy or tired, or copy or sort by other labels."""

    pairs_per_annotator: int = setting(49, "distinct pairs that each of them answers", whole(1))
    sensitivity: float = setting(0.95, "P(answer same | seen as the same)", _SHARE)
    specificity: float = setting(0.95, "P(answer different | seen as different)", _SHARE)


@dataclass(frozen=True)
class RealisticTasksSettings(EffectSettings):
    """Simulated: groupings of the items of a task, by annotators with the weaknesses of `realistic`."""

    num_tasks: int = setting(40, "groupings; every annotator makes one at least", whole(1))
    task_size: int | tuple[int, int] = setting(
        16, "items of a task, or the least and the most", either(whole(2), each(whole(2), "[12, 20]", length=2))
    )
    sensitivity: float = setting(0.98, "P(put together | seen as the same)", _SHARE)
    specificity: float = setting(0.99, "P(put apart | seen as different)", _SHARE)

    def __post_init__(self) -> None:
        super().__post_init__()
        low, high = self.sizes
        if low > high:
            raise UserError(f"annotations.task_size=[{low}, {high}]: expected the least and the most items of a task")
        if self.num_tasks < self.num_annotators:
            raise UserError(
                f"annotations.num_tasks={self.num_tasks}: expected one or more for each of {self.num_annotators}"
            )
        if self.sensitivity <= 0 or self.sensitivity + self.specificity < 1:
            raise UserError("annotations: expected sensitivity > 0 and sensitivity + specificity >= 1")

    @property
    def sizes(self) -> tuple[int, int]:
        """Least and most items of a task."""
        return (self.task_size, self.task_size) if isinstance(self.task_size, int) else self.task_size


@dataclass(frozen=True)
class ExpertsSettings(Settings):
    """Simulated: random pairs, judged by networks that know next to nothing of some kinds (Zhang & Chen 2026)."""

    group = "annotations"

    num_annotators: int = setting(3, "M; the kinds are shared out among them, to be blind to", whole(2))
    pairs_per_annotator: int = setting(3000, "distinct pairs that each of them answers", whole(1))
    num_annotated: int | None = setting(None, "items that the pairs are made of; null: all", whole(2), optional=True)
    familiar: float = setting(0.1, "share of the items of a kind whose labels an expert has learnt from", _SHARE)
    unfamiliar: float = setting(0.0001, "the same of the kinds that the expert is blind to; one at least", _SHARE)
    corrupted: float = setting(0.3, "share of the answers that a fair coin's take the place of", _SHARE)
