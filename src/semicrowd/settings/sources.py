"""Settings of every data set and of every kind of answers.

A kind's dataclass has all of its options, their defaults and what can be checked without the data. ``None`` is a value
of the optional ones (``data.pca``: the pixels); given for another it is its default.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from semicrowd.errors import UserError
from semicrowd.settings.answers import ANONYMISE, AnswerSettings, FileSettings
from semicrowd.settings.cifar10 import CIFAR10Settings
from semicrowd.settings.data import DataSettings, OwnDataSettings
from semicrowd.settings.fields import Rule, Settings, choice, each, either, flag, nearest, number, setting, text, whole
from semicrowd.settings.images import ImagesSettings
from semicrowd.settings.realistic import ExpertsSettings, RealisticSettings, RealisticTasksSettings

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
_SUBSET = _expecting("a whole number >= 2, or null for all", whole(2))


def _components(most: int) -> Rule:
    return _expecting(f"a whole number from 1 to {most}, or null for the pixels", whole(1, most))


@dataclass(frozen=True)
class PinwheelSettings(DataSettings):
    """Five bent arms in the plane, generated (Johnson et al. 2016, SVAE)."""

    data_seed: int = setting(0, "of the points; not the run's: the seeds of a sweep share their points", whole(0))
    num_classes: int = setting(5, "arms", _COUNT)
    points_per_class: int = setting(100, "points of each arm", _COUNT)


@dataclass(frozen=True)
class ShapesSettings(DataSettings):
    """Generated points of the plane (Li et al. 2022, Fig. 1), data.which=<gaussians, moons>."""

    which: str = setting(
        "moons", "gaussians: three, each long in a direction of its own | moons: two half circles in each other",
        choice("gaussians", "moons"),
    )  # fmt: skip
    data_seed: int = setting(0, "of the points; not the run's: the seeds of a sweep share their points", whole(0))
    points_per_class: int = setting(500, "points of each cluster", _COUNT)


@dataclass(frozen=True)
class MNISTSettings(DataSettings):
    """60,000 training and 10,000 test images of 28 × 28 pixels."""

    subset: int | None = setting(None, "training images to draw; null: all, in their order", _SUBSET, optional=True)
    data_seed: int = setting(0, "of what is drawn; not the run's", whole(0))


@dataclass(frozen=True)
class FaceSettings(DataSettings):
    """624 images of 20 people, 30 × 32 pixels; the classes are the four poses (CMU, UCI 124)."""

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
class TableSettings(OwnDataSettings):
    """Your own features, data.path=<.csv with a header, .parquet, .xlsx, .npy or .npz>.

    A column ``label`` is used for the metrics only, a column ``id`` names the items.
    """

    path: str | Path | None = setting(
        None, ".csv or .tsv with a header, .parquet, .xlsx, .npy or .npz", _PATH, optional=True
    )
    id: str | None = setting(
        None, "column that names the items; null: one called id or the like, or a first one of names", text(),
        optional=True,
    )  # fmt: skip
    label: str | None = setting(
        None, "column with the true classes, for the scores alone; null: one called label", text(), optional=True
    )
    ignore: tuple[str, ...] = setting((), "names of columns that are no features", each(text(), "[date, comment]"))


@dataclass(frozen=True)
class NpzSettings(OwnDataSettings):
    """Your own .npz, data.path=<file or name>: arrays features, labels and pairs (annotations=crowd), or X and y."""

    path: str | Path | None = setting(
        None, ".npz, or the name of one in the folder SEMICROWD_CROWDS, by default data/crowds", _PATH, optional=True
    )
    subset: int | None = setting(None, "items to draw where there are no answers; null: all", _SUBSET, optional=True)
    data_seed: int = setting(0, "of what is drawn; not the run's", whole(0))


#: Name → what it is.
BENCHMARKS = {
    "iris": "150 flowers, 4 measures, 3 kinds (UCI 53, from scikit-learn)",
    "wine": "178 wines, 13 measures of different units, 3 growers (UCI 109, from scikit-learn)",
    "digits": "1,797 images of 8 × 8 pixels, 10 digits (UCI 80, from scikit-learn)",
    "optdigits": "5,620 images of 8 × 8 pixels, 10 digits (UCI 80)",
    "pen": "10,992 pen strokes at 8 points of the plane, 10 digits (UCI 81)",
    "letter": "20,000 printed letters, 16 measures, A to Z (UCI 59)",
    "leukaemia": "248 patients, 2,526 genes, 6 subtypes (Yeoh et al. 2002)",
    "lung": "203 patients, 1,543 genes, 5 kinds of tissue (Bhattacharjee et al. 2001)",
    "activities": "5,418 stretches of 10 s of a telephone's accelerometer, 43 measures, 6 activities (WISDM 1.1)",
    "texts": "7,674 news of Reuters in 8 subjects, tf-idf of the 2,000 most frequent words (R8)",
    "har": "10,299 windows of a telephone's sensors, 561 measures, 6 activities; files of yours (UCI 240)",
    "stl10": "13,000 images of 10 kinds of things, your features of them or means of 3 × 3 pixels; files of yours",
    "reuters10k": "10,000 news in 4 subjects, tf-idf of the 2,000 most frequent words; files of yours (RCV1-v2)",
    "wifi_1": "2,737 scans of user 1 in 4 floors of buildings, signals of 141 access points (UCI 310)",
    "wifi_11": "4,516 scans of user 11 in 8 floors, signals of 357 access points (UCI 310)",
    "wifi_14": "1,596 scans of user 14 in 4 floors, signals of 184 access points (UCI 310)",
    "chains": "300 generated points of the plane, 2 chains of 5 Gaussians each (Nguyen et al. 2017, Fig. 2)",
    "families": "4,500 generated items, 166 features, 14 kinds of unequal size in 4 families whose kinds look alike",
}


@dataclass(frozen=True)
class BenchmarkSettings(DataSettings):
    """A public table with classes, data.which=<iris, wine, digits, letter, …>, features as published.

    Some classes alone: ``data.which=letter "data.classes=[I, J]"``.
    """

    which: str = setting("iris", " | ".join(BENCHMARKS), choice(*BENCHMARKS))
    classes: tuple[Any, ...] | None = setting(
        None, "names of the classes to keep; null: all",
        each(either(text(), whole(0)), "[I, J]", least=1), optional=True,
    )  # fmt: skip
    columns: int | None = setting(None, "columns of largest variance to keep; null: all", whole(1), optional=True)
    subset: int | None = setting(None, "items to draw; null: all, in the file's order", _SUBSET, optional=True)
    per_class: int | None = setting(None, "items of each class to draw; null: all", _COUNT, optional=True)
    item_scale: bool = setting(False, "each item to mean 0 and variance 1, as chips are made alike", flag())
    folds: int = setting(3, "parts of the items, drawn; one of them may be the test split", whole(2))
    fold: int | None = setting(None, "part that is the test split, from 0; null: none", whole(0), optional=True)
    fold_classes: bool = setting(False, "the parts are of classes, not of items", flag())
    data_seed: int = setting(0, "of what is drawn; not the run's", whole(0))

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.fold is not None and self.fold >= self.folds:
            raise UserError(f"data.fold={self.fold}: expected a number below data.folds={self.folds}")


#: Name → what it is, and what has been encoded.
ENCODED = {
    "mnist": "60,000 training and 10,000 test images, as data=mnist has them",
    "activities": "data=benchmark data.which=activities",
    "texts": "the four largest subjects of data=benchmark data.which=texts",
    "har": "data=benchmark data.which=har",
    "stl10": "data=benchmark data.which=stl10",
    "reuters10k": "data=benchmark data.which=reuters10k",
}
#: Shares of the training, in per cent, after which codes are kept.
TRAINED = (25, 50, 75, 100)


@dataclass(frozen=True)
class EncodedSettings(DataSettings):
    """Codes of a stacked autoencoder, data.which=<mnist, activities, texts, …>; the pipeline makes them once."""

    which: str = setting("mnist", " | ".join(ENCODED), choice(*ENCODED))
    trained: int = setting(
        100, "per cent of the autoencoder's training: 25, 50, 75 or 100",
        lambda value: None if value in TRAINED else "25, 50, 75 or 100",
    )  # fmt: skip
    subset: int | None = setting(None, "items to draw; null: all, in their order", _SUBSET, optional=True)
    data_seed: int = setting(0, "of what is drawn; not the run's", whole(0))


#: Name → what it is.
SEQUENCES = {
    "wifi_1": "2,737 scans of user 1 in 4 floors of buildings, 141 access points heard or not (UCI 310)",
    "wifi_11": "4,516 scans of user 11 in 8 floors, 357 access points heard or not (UCI 310)",
    "wifi_14": "1,596 scans of user 14 in 4 floors, 184 access points heard or not (UCI 310)",
    "home_a": "home A by five minutes, 12 sensors, 9 activities and none (UCI 271)",
    "home_b": "home B by five minutes, 12 sensors, 10 activities and none (UCI 271)",
    "walk": "600 generated scans of 3 walks through 6 rooms, 40 access points",
}


@dataclass(frozen=True)
class SequenceSettings(DataSettings):
    """Counts in the order of time, data.which=<wifi_1, wifi_11, wifi_14, home_a, home_b, walk>."""

    which: str = setting("walk", " | ".join(SEQUENCES), choice(*SEQUENCES))
    data_seed: int = setting(0, "of what is generated; not the run's", whole(0))


@dataclass(frozen=True)
class NoAnswers(AnswerSettings):
    """No answers."""


@dataclass(frozen=True)
class TwoCoinSettings(AnswerSettings):
    """Simulated: annotators answer random pairs (SCDC paper, pinwheel)."""

    num_annotators: int = setting(20, "M", _COUNT)
    pairs_per_annotator: int = setting(49, "distinct pairs that each of them answers", _COUNT)
    num_annotated: int | None = setting(100, "items that the pairs are made of; null: all", whole(2), optional=True)
    sensitivity: Rates = setting(0.9, "P(answer same | same): of all annotators, or a list", _RATES)
    specificity: Rates = setting(0.9, "P(answer different | different)", _RATES)

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_rates(self, self.num_annotators)


@dataclass(frozen=True)
class QuotaSettings(AnswerSettings):
    """Simulated: half of each annotator's pairs are truly the same (SCDC paper, faces)."""

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
class TasksSettings(AnswerSettings):
    """Simulated: annotators group the items of a grid, as the MNIST crowd did; the answers are all its pairs."""

    num_annotators: int = setting(48, "M", _COUNT)
    num_tasks: int = setting(91, "grids; every annotator has one at least", _COUNT)
    task_size: int | tuple[int, int] = setting(
        36, "items of a grid, or the least and the most", either(_COUNT, each(_COUNT, "[12, 20]", length=2))
    )
    num_annotated: int | None = setting(2759, "items that the grids share out; null: all", whole(2), optional=True)
    sensitivity: Rates = setting(0.98, "P(answer same | same): of all annotators, or a list", _RATES)
    specificity: Rates = setting(0.99, "P(answer different | different)", _RATES)
    families: int | None = setting(None, "of kinds that look alike, neighbours; null: none", _COUNT, optional=True)
    alike: float = setting(0.5, "P(an annotator of a task takes two kinds of a family for one)", number(0, 1))
    misplaced: float = setting(0.0, "share of the placements that slip to another kind, or alone", number(0, 1))
    merging: float = setting(0.0, "share of the annotators who always take two kinds of theirs for one", _SHARE_FLIPPED)
    guessing: float = setting(0.0, "share of the annotators who group without looking", _SHARE_FLIPPED)
    flipped: float = setting(0.0, "share of the annotators whose every answer is its opposite", _SHARE_FLIPPED)
    confused: str | None = setting(
        None, "cifar10h: every annotator takes images for another kind as often as people did (Peterson et al. 2019; "
        "data=cifar10); null: nobody does", choice("cifar10h"), optional=True,
    )  # fmt: skip

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
        if self.merging + self.guessing > 1:
            rest = f"{1 - self.merging:g} at most, the rest merges"
            raise UserError(f"annotations.guessing={self.guessing}: expected {rest}")
        low, high = self.sizes
        if low > high:
            raise UserError(f"annotations.task_size=[{low}, {high}]: expected the least and the most items of a grid")

    @property
    def sizes(self) -> tuple[int, int]:
        """Least and most items of a grid."""
        return (self.task_size, self.task_size) if isinstance(self.task_size, int) else self.task_size


@dataclass(frozen=True)
class LabelSettings(AnswerSettings):
    """Simulated: labels of some items, as must-links between each and the next of its class (SLPD paper)."""

    fraction: float = setting(0.25, "of the items whose labels are known", number(0, 1))


@dataclass(frozen=True)
class CrowdSettings(AnswerSettings):
    """The real answers of 48 people about MNIST, in 91 tasks of 36 images; of data=npz those in its file."""

    num_tasks: int | None = setting(
        None, "of MNIST's 91, drawn by the seed (5 are among 10); null: all",
        _expecting(f"a whole number from 1 to {CROWD_TASKS}, or null for all", whole(1, CROWD_TASKS)), optional=True,
    )  # fmt: skip
    flipped: float = setting(0.0, "share of the annotators whose every answer is its opposite", _SHARE_FLIPPED)
    anonymise: bool = setting(False, ANONYMISE, flag())


DATA: dict[str, type[Settings]] = {
    "pinwheel": PinwheelSettings,
    "shapes": ShapesSettings,
    "mnist": MNISTSettings,
    "face": FaceSettings,
    "cifar10": CIFAR10Settings,
    "table": TableSettings,
    "npz": NpzSettings,
    "images": ImagesSettings,
    "benchmark": BenchmarkSettings,
    "sequence": SequenceSettings,
    "encoded": EncodedSettings,
}
ANSWERS: dict[str, type[Settings]] = {
    "none": NoAnswers,
    "two_coin": TwoCoinSettings,
    "quota": QuotaSettings,
    "tasks": TasksSettings,
    "realistic": RealisticSettings,
    "realistic_tasks": RealisticTasksSettings,
    "experts": ExpertsSettings,
    "labels": LabelSettings,
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
        near = nearest(str(name), kinds)
        raise UserError(f"{group}={name}: no such {group}{near}; there are {', '.join(kinds)}")
    return kinds[name].of(options)


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
