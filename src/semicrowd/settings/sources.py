"""Settings of each data set and of each source of answers.

Each dataclass has the options of one data set or source, their defaults, and the checks that are possible without the
data. For optional settings ``None`` is a valid value (``data.pca``: the pixels); for all others it means the default.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from semicrowd.errors import UserError
from semicrowd.settings.data import (
    AnswerSettings,
    CIFAR10Settings,
    DataSettings,
    FileSettings,
    ImagesSettings,
    OwnDataSettings,
    SequenceSettings,
    count_or_all,
)
from semicrowd.settings.fields import (
    Settings,
    choice,
    each,
    either,
    expecting,
    file_path,
    flag,
    keywords,
    number,
    setting,
    text,
    whole,
)

#: Number of tasks in the real answers about MNIST.
CROWD_TASKS = 91

#: One number for all annotators, or one for each of them.
Rates = float | Sequence[float]


_RATES = expecting("probabilities between 0 and 1", either(number(0, 1), each(number(0, 1), "[.9, .8]", least=1)))
_COUNT = whole(1)


@dataclass(frozen=True)
class PinwheelSettings(DataSettings):
    """Generated two-dimensional points in five curved clusters, the arms of a pinwheel (Johnson et al. 2016, SVAE)."""

    data_seed: int = setting(
        0, "seed of the points; it does not depend on the run's seed, so that all seeds of a sweep use the same points",
        whole(0),
    )
    num_classes: int = setting(5, "number of arms", whole(1, 10_000))
    points_per_class: int = setting(100, "points of each arm", whole(1, 1_000_000))


@dataclass(frozen=True)
class ShapesSettings(DataSettings):
    """Generated two-dimensional points (Li et al. 2022, Fig. 1), data.which=<gaussians, moons>."""

    which: str = setting(
        "moons", "gaussians: three elongated clusters of different directions | moons: two interlocking half circles",
        choice("gaussians", "moons"),
    )  # fmt: skip
    data_seed: int = setting(
        0, "seed of the points; it does not depend on the run's seed, so that all seeds of a sweep use the same points",
        whole(0),
    )
    points_per_class: int = setting(500, "points of each cluster", whole(1, 1_000_000))


@dataclass(frozen=True)
class MNISTSettings(DataSettings):
    """60,000 training and 10,000 test images of 28 × 28 pixels."""

    subset: int | None = setting(
        None, "number of training images, drawn at random; null: all, in their order", count_or_all, optional=True
    )
    data_seed: int = setting(0, "seed of this draw, separate from the run's seed", whole(0))


@dataclass(frozen=True)
class FaceSettings(DataSettings):
    """624 images of 20 people, 30 × 32 pixels; the classes are the four poses (CMU, UCI 124)."""

    pca: int | None = setting(
        20, "number of principal components; null: the pixels",
        expecting("a whole number from 1 to 600, or null for the pixels", whole(1, 600)), optional=True,
    )  # fmt: skip
    standardize: str = setting(
        "none", "standardise: none | before the PCA | after it (whitening) | both",
        choice("none", "before", "after", "both"),
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

    A column ``label`` is only used for the metrics; a column ``id`` has the ids of the items.
    """

    path: str | Path | None = setting(
        None, ".csv or .tsv with a header, .parquet, .xlsx, .npy or .npz", file_path(), optional=True
    )
    id: str | None = setting(
        None, "column with the ids of the items; null: one called id, if any", text(), optional=True
    )
    label: str | None = setting(
        None, "column with the true classes, only for scores; null: one called label, if any", text(), optional=True
    )
    ignore: tuple[str, ...] = setting((), "names of columns to leave out", each(text(), "[date, comment]"))
    read_csv: Mapping[str, Any] | None = setting(
        None, "keywords of pandas.read_csv for a text file, such as {sep: \";\", decimal: \",\"}", keywords(
            ("sep", "decimal", "thousands", "encoding", "quotechar", "skipinitialspace", "skiprows", "comment",
             "na_values", "keep_default_na", "true_values", "false_values"), '{sep: ";", decimal: ","}'),
        optional=True,
    )  # fmt: skip


@dataclass(frozen=True)
class NpzSettings(OwnDataSettings):
    """Your own .npz, data.path=<file or name>: arrays features, labels and pairs (annotations=crowd), or X and y."""

    path: str | Path | None = setting(
        None, "an .npz file, or the name of one in the folder SEMICROWD_CROWDS, by default data/crowds", file_path(),
        optional=True,
    )
    subset: int | None = setting(
        None, "number of items, drawn at random, if there are no answers; null: all", count_or_all, optional=True
    )
    data_seed: int = setting(0, "seed of this draw, separate from the run's seed", whole(0))


#: Name → description.
BENCHMARKS = {
    "iris": "150 flowers, 4 measures, 3 species (UCI 53, from scikit-learn)",
    "wine": "178 wines, 13 measures of different units, 3 growers (UCI 109, from scikit-learn)",
    "digits": "1,797 images of 8 × 8 pixels, 10 digits (UCI 80, from scikit-learn)",
    "optdigits": "5,620 images of 8 × 8 pixels, 10 digits (UCI 80)",
    "pen": "10,992 pen strokes at 8 points of the plane, 10 digits (UCI 81)",
    "letter": "20,000 printed letters, 16 measures, A to Z (UCI 59)",
    "leukaemia": "248 patients, 2,526 genes, 6 subtypes (Yeoh et al. 2002)",
    "lung": "203 patients, 1,543 genes, 5 types of tissue (Bhattacharjee et al. 2001)",
    "activities": "5,418 stretches of 10 s of a telephone's accelerometer, 43 measures, 6 activities (WISDM 1.1)",
    "texts": "7,674 news of Reuters in 8 subjects, tf-idf of the 2,000 most frequent words (R8)",
    "har": "10,299 windows of a telephone's sensors, 561 measures, 6 activities; you provide the files (UCI 240)",
    "stl10": "13,000 images of 10 classes, your features or means of 3 × 3 pixels; you provide the files",
    "reuters10k": "10,000 news in 4 subjects, tf-idf of the 2,000 most frequent words; you provide the files (RCV1-v2)",
    "wifi_1": "2,737 scans of user 1 on 4 floors of buildings, signals of 141 access points (UCI 310)",
    "wifi_11": "4,516 scans of user 11 on 8 floors, signals of 357 access points (UCI 310)",
    "wifi_14": "1,596 scans of user 14 on 4 floors, signals of 184 access points (UCI 310)",
    "chains": "300 generated two-dimensional points, 2 chains of 5 Gaussians each (Nguyen et al. 2017, Fig. 2)",
}


@dataclass(frozen=True)
class BenchmarkSettings(DataSettings):
    """A public table with classes, data.which=<iris, wine, digits, letter, …>, features as published.

    To select classes: ``data.which=letter "data.classes=[I, J]"``.
    """

    which: str = setting("iris", " | ".join(BENCHMARKS), choice(*BENCHMARKS))
    classes: tuple[Any, ...] | None = setting(
        None, "names of the classes to keep; null: all",
        each(either(text(), whole(0)), "[I, J]", least=1), optional=True,
    )  # fmt: skip
    columns: int | None = setting(
        None, "number of columns to keep, those of largest variance; null: all", whole(1), optional=True
    )
    subset: int | None = setting(
        None, "number of items, drawn at random; null: all, in the file's order", count_or_all, optional=True
    )
    per_class: int | None = setting(
        None, "number of items of each class, drawn at random; null: all", _COUNT, optional=True
    )
    item_scale: bool = setting(
        False, "scale each item to mean 0 and variance 1, as gene expression chips are normalised", flag()
    )
    folds: int = setting(3, "number of random folds of the items, one of which may be the test split", whole(2))
    fold: int | None = setting(
        None, "fold that is the test split, from 0; null: no test split", whole(0), optional=True
    )
    fold_classes: bool = setting(False, "folds consist of whole classes instead of items", flag())
    data_seed: int = setting(0, "seed of these draws, separate from the run's seed", whole(0))

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.fold is not None and self.fold >= self.folds:
            raise UserError(f"data.fold={self.fold}: expected a number below data.folds={self.folds}")


#: Name → the data that the autoencoder encodes.
ENCODED = {
    "mnist": "60,000 training and 10,000 test images, as data=mnist has them",
    "activities": "data=benchmark data.which=activities",
    "texts": "the four largest subjects of data=benchmark data.which=texts",
    "har": "data=benchmark data.which=har",
    "stl10": "data=benchmark data.which=stl10",
    "reuters10k": "data=benchmark data.which=reuters10k",
}
#: Percentages of the autoencoder's training after which codes are stored.
TRAINED = (25, 50, 75, 100)


@dataclass(frozen=True)
class EncodedSettings(DataSettings):
    """Latent codes of a stacked autoencoder, data.which=<mnist, activities, texts, …>; the pipeline makes them once."""

    which: str = setting("mnist", " | ".join(ENCODED), choice(*ENCODED))
    trained: int = setting(
        100, "completed percentage of the autoencoder's training: 25, 50, 75 or 100",
        lambda value: None if value in TRAINED else "25, 50, 75 or 100",
    )  # fmt: skip
    subset: int | None = setting(
        None, "number of items, drawn at random; null: all, in their order", count_or_all, optional=True
    )
    data_seed: int = setting(0, "seed of this draw, separate from the run's seed", whole(0))


@dataclass(frozen=True)
class NoAnswers(AnswerSettings):
    """No answers."""


class Rated(AnswerSettings):
    """What the settings of simulated annotators with given rates have in common."""

    num_annotators: int
    sensitivity: Rates
    specificity: Rates

    def __post_init__(self) -> None:
        """Refuse lists of rates that are not one for each annotator."""
        super().__post_init__()
        for name, given in (("sensitivity", _listed(self.sensitivity)), ("specificity", _listed(self.specificity))):
            if len(given) not in (1, self.num_annotators):
                raise UserError(f"annotations.{name}: {len(given)} numbers; expected one, or one for each of "
                                f"{self.num_annotators}")

    @property
    def rates(self) -> tuple[Sequence[float], ...]:
        """Sensitivity and specificity, a number for each annotator."""
        both = _listed(self.sensitivity), _listed(self.specificity)
        return tuple(one if len(one) > 1 else (*one,) * self.num_annotators for one in both)


@dataclass(frozen=True)
class TwoCoinSettings(Rated):
    """Simulated: annotators answer random pairs (SCDC paper, pinwheel)."""

    num_annotators: int = setting(20, "M, number of annotators", whole(1, 100_000))
    pairs_per_annotator: int = setting(49, "number of distinct pairs that each annotator answers", _COUNT)
    num_annotated: int | None = setting(
        100, "number of items from which the pairs are made; null: all", whole(2), optional=True
    )
    sensitivity: Rates = setting(0.9, "P(answer same | same), for all annotators or a list", _RATES)
    specificity: Rates = setting(0.9, "P(answer different | different), for all annotators or a list", _RATES)


@dataclass(frozen=True)
class QuotaSettings(Rated):
    """Simulated: half of each annotator's pairs are truly the same (SCDC paper, faces)."""

    sensitivity: Rates = setting((0.95, 0.9, 0.85, 0.8, 0.75), "P(answer same | same) of each annotator", _RATES)
    specificity: Rates = setting((0.95, 0.9, 0.85, 0.8, 0.75), "P(answer different | different)", _RATES)
    pairs_per_annotator: int = setting(200, "number of distinct pairs that each annotator answers", _COUNT)
    num_annotated: int | None = setting(
        None, "number of items from which the pairs are made; null: all", whole(2), optional=True
    )

    @property
    def num_annotators(self) -> int:  # type: ignore[override]
        """M, the length of the longer of the two lists."""
        return max(len(_listed(self.sensitivity)), len(_listed(self.specificity)))


@dataclass(frozen=True)
class TasksSettings(Rated):
    """Simulated: annotators group the items of tasks (grids), as for MNIST; answers are all pairs of a task."""

    num_annotators: int = setting(48, "M, number of annotators", whole(1, 100_000))
    num_tasks: int = setting(91, "number of tasks; each annotator has at least one", _COUNT)
    task_size: int | tuple[int, int] = setting(
        36, "number of items in a task, or [minimum, maximum]", either(_COUNT, each(_COUNT, "[12, 20]", length=2))
    )
    num_annotated: int | None = setting(
        2759, "number of items that are distributed to the tasks; null: all", whole(2), optional=True
    )
    sensitivity: Rates = setting(0.98, "P(answer same | same), for all annotators or a list", _RATES)
    specificity: Rates = setting(0.99, "P(answer different | different), for all annotators or a list", _RATES)
    confused: str | None = setting(
        None, "cifar10h: each annotator confuses classes with the frequencies of real people (Peterson et al. 2019; "
        "data=cifar10); null: no confusion", choice("cifar10h"), optional=True,
    )  # fmt: skip

    @property
    def sizes(self) -> tuple[int, int]:
        """Minimum and maximum number of items in a task."""
        return (self.task_size, self.task_size) if isinstance(self.task_size, int) else self.task_size

    def __post_init__(self) -> None:
        super().__post_init__()
        low, high = self.sizes
        if low > high:
            raise UserError(f"annotations.task_size=[{low}, {high}]: expected [minimum, maximum]")
        if self.num_tasks < self.num_annotators:
            raise UserError(
                f"annotations.num_tasks={self.num_tasks}: expected one or more for each of {self.num_annotators}"
            )
        if any(a <= 0 or a + b < 1 for a, b in zip(*self.rates, strict=True)):
            raise UserError("annotations=tasks: expected sensitivity > 0 and sensitivity + specificity >= 1")


@dataclass(frozen=True)
class LabelSettings(AnswerSettings):
    """Simulated: labels of some items, as must-links from each to the next one of its class (SLPD paper)."""

    fraction: float = setting(0.25, "share of the items whose labels are known", number(0, 1))


@dataclass(frozen=True)
class CrowdSettings(AnswerSettings):
    """Real answers: of 48 people about MNIST, in 91 tasks of 36 images; with data=npz the answers in its file."""

    num_tasks: int | None = setting(
        None, "number of MNIST's 91 tasks, drawn by the seed (a larger number includes those of a smaller); null: all",
        expecting(f"a whole number from 1 to {CROWD_TASKS}, or null for all", whole(1, CROWD_TASKS)), optional=True,
    )  # fmt: skip


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
    "labels": LabelSettings,
    "crowd": CrowdSettings,
    "file": FileSettings,
}


def source_settings(group: str, name: str, options: Mapping[str, Any]) -> Settings:
    """Settings of the data set (``group`` data) or of the source of answers (``group`` annotations) called ``name``."""
    kinds = {"data": DATA, "annotations": ANSWERS}[group]
    if name not in kinds:
        raise UserError(f"{group}={name}: no such {group}; there are {', '.join(kinds)}")
    return kinds[name].of(options)


def _listed(rates: Rates) -> Sequence[float]:
    return rates if isinstance(rates, Sequence) else (rates,)

