"""Settings of every data set and of every kind of answers.

A kind's dataclass has all of its options, their defaults and what can be checked without the data. ``None`` is a value
of the optional ones (``data.pca``: the pixels); given for another it is its default.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from semicrowd.errors import UserError
from semicrowd.settings.fields import Rule, Settings, check, choice, each, either, number, setting, whole

#: Tasks of MNIST's crowd.
CROWD_TASKS = 91

#: One number for all annotators, or one for each of them.
Rates = float | Sequence[float]


def _expecting(expected: str, rule: Rule) -> Rule:
    """``rule`` in other words."""
    return lambda value: None if rule(value) is None else expected


_RATES = _expecting("probabilities between 0 and 1", either(number(0, 1), each(number(0, 1), "[.9, .8]", least=1)))
_SHARE_FLIPPED = _expecting("a fraction of the annotators, from 0 to 1", number(0, 1))
_PATH = _expecting(
    "the path of a file", lambda value: None if isinstance(value, str | Path) and str(value).strip() else ""
)
_COUNT = whole(1)


def _components(most: int) -> Rule:
    return _expecting(f"a whole number from 1 to {most}, or null for the pixels", whole(1, most))


@dataclass(frozen=True)
class PinwheelSettings(Settings):
    """Five bent arms in the plane, generated (Johnson et al. 2016, SVAE)."""

    group = "data"

    data_seed: int = setting(0, "of the points; not the run's: the seeds of a sweep share their points", whole(0))
    num_classes: int = setting(5, "arms", _COUNT)
    points_per_class: int = setting(100, "points of each arm", _COUNT)


@dataclass(frozen=True)
class MNISTSettings(Settings):
    """60,000 training and 10,000 test images of 28 × 28 pixels."""

    group = "data"


@dataclass(frozen=True)
class FaceSettings(Settings):
    """624 images of 20 people, 30 × 32 pixels; the classes are the four poses (CMU, UCI 124)."""

    group = "data"

    pca: int | None = setting(20, "principal components, null: the pixels", _components(600), optional=True)
    standardize: str = setting(
        "none", "none | before the PCA | after it: whitening | both", choice("none", "before", "after", "both")
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.pca is None and self.standardize != "none":
            raise UserError(
                f"data.standardize={self.standardize}: expected none with data.pca=null (the pixels as they are)"
            )


@dataclass(frozen=True)
class CIFAR10Settings(Settings):
    """50,000 training images of 32 × 32 pixels in three colours, or as many as there are, and test images."""

    group = "data"

    pca: int | None = setting(100, "principal components, null: the pixels", _components(3072), optional=True)


@dataclass(frozen=True)
class TableSettings(Settings):
    """Your own features; a column ``label`` of the csv is used for the metrics only."""

    group = "data"

    path: str | Path | None = setting(None, ".csv with a header, or .npy", _PATH, optional=True)


@dataclass(frozen=True)
class NoAnswers(Settings):
    """No answers."""

    group = "annotations"


@dataclass(frozen=True)
class TwoCoinSettings(Settings):
    """Simulated: annotators answer random pairs (SCDC paper, pinwheel)."""

    group = "annotations"

    num_annotators: int = setting(20, "M", _COUNT)
    pairs_per_annotator: int = setting(49, "distinct pairs that each of them answers", _COUNT)
    num_annotated: int | None = setting(100, "items that the pairs are made of; null: all", whole(2), optional=True)
    sensitivity: Rates = setting(0.9, "P(answer same | same): of all annotators, or a list", _RATES)
    specificity: Rates = setting(0.9, "P(answer different | different)", _RATES)

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_rates(self, self.num_annotators)


@dataclass(frozen=True)
class QuotaSettings(Settings):
    """Simulated: half of each annotator's pairs truly the same (SCDC paper, faces)."""

    group = "annotations"

    sensitivity: Rates = setting((0.95, 0.9, 0.85, 0.8, 0.75), "P(answer same | same) of each annotator", _RATES)
    specificity: Rates = setting((0.95, 0.9, 0.85, 0.8, 0.75), "P(answer different | different)", _RATES)
    pairs_per_annotator: int = setting(200, "distinct pairs that each of them answers", _COUNT)
    num_annotated: int | None = setting(None, "items that the pairs are made of; null: all", whole(2), optional=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_rates(self, self.num_annotators)

    @property
    def num_annotators(self) -> int:
        """M, the longer of the two lists."""
        return max(len(_listed(self.sensitivity)), len(_listed(self.specificity)))


@dataclass(frozen=True)
class TasksSettings(Settings):
    """Simulated: annotators group the items of a grid, as the MNIST crowd did; the answers are all its pairs."""

    group = "annotations"

    num_annotators: int = setting(48, "M", _COUNT)
    num_tasks: int = setting(91, "grids; every annotator has one at least", _COUNT)
    task_size: int = setting(36, "items of a grid", _COUNT)
    num_annotated: int | None = setting(2759, "items that the grids share out; null: all", whole(2), optional=True)
    sensitivity: Rates = setting(0.98, "P(answer same | same): of all annotators, or a list", _RATES)
    specificity: Rates = setting(0.99, "P(answer different | different)", _RATES)
    flipped: float = setting(0.0, "share of the annotators whose every answer is its opposite", _SHARE_FLIPPED)

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_rates(self, self.num_annotators)
        alpha, beta = (_for_each(rates, self.num_annotators) for rates in (self.sensitivity, self.specificity))
        if any(a <= 0 or a + b < 1 for a, b in zip(alpha, beta, strict=True)):
            raise UserError("annotations=tasks: expected sensitivity > 0 and sensitivity + specificity >= 1")
        if self.num_tasks < self.num_annotators:
            raise UserError(
                f"annotations.num_tasks={self.num_tasks}: expected one or more for each of {self.num_annotators}"
            )


@dataclass(frozen=True)
class CrowdSettings(Settings):
    """The real answers of 48 people about MNIST, in 91 tasks of 36 images."""

    group = "annotations"

    num_tasks: int | None = setting(
        None, "of the 91, drawn by the seed (5 are among 10); null: all",
        _expecting(f"a whole number from 1 to {CROWD_TASKS}, or null for all", whole(1, CROWD_TASKS)), optional=True,
    )  # fmt: skip
    flipped: float = setting(0.0, "share of the annotators whose every answer is its opposite", _SHARE_FLIPPED)


@dataclass(frozen=True)
class FileSettings(Settings):
    """Your own answers: i and j count items from 0, label is 1 (same) or 0 (different)."""

    group = "annotations"

    path: str | Path | None = setting(None, "csv with i,j,worker,label[,task]", _PATH, optional=True)


DATA: dict[str, type[Settings]] = {
    "pinwheel": PinwheelSettings,
    "mnist": MNISTSettings,
    "face": FaceSettings,
    "cifar10": CIFAR10Settings,
    "table": TableSettings,
}
ANSWERS: dict[str, type[Settings]] = {
    "none": NoAnswers,
    "two_coin": TwoCoinSettings,
    "quota": QuotaSettings,
    "tasks": TasksSettings,
    "crowd": CrowdSettings,
    "file": FileSettings,
}


def source_settings(group: str, name: str, options: Mapping[str, Any]) -> Settings:
    """Settings of the data set (``group`` data) or of the kind of answers (annotations) called ``name``.

    Raises
    ------
    UserError
        For a name or an option that is not there, with the nearest, and for values that do not fit.
    """
    kinds = {"data": DATA, "annotations": ANSWERS}[group]
    if name not in kinds:
        close = get_close_matches(str(name), kinds, n=1, cutoff=0.5)
        nearest = f"; the nearest is {close[0]}" if close else ""
        raise UserError(f"{group}={name}: no such {group}{nearest}; there are {', '.join(kinds)}")
    optional = {f.name for f in fields(kinds[name]) if f.metadata["optional"]}  # type: ignore[arg-type]
    given = {option: value for option, value in options.items() if value is not None or option in optional}
    check(kinds[name], given, group)
    return kinds[name](**given)


def _check_rates(settings: TwoCoinSettings | QuotaSettings | TasksSettings, num_annotators: int) -> None:
    for name, rates in (("sensitivity", settings.sensitivity), ("specificity", settings.specificity)):
        if len(_listed(rates)) not in (1, num_annotators):
            raise UserError(
                f"annotations.{name}: {len(_listed(rates))} numbers; expected one, or one for each of {num_annotators}"
            )


def _listed(rates: Rates) -> Sequence[float]:
    return rates if isinstance(rates, Sequence) else (rates,)


def _for_each(rates: Rates, num_annotators: int) -> Sequence[float]:
    listed = _listed(rates)
    return listed if len(listed) > 1 else (*listed,) * num_annotators
