"""Settings of a folder of pictures."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from semicrowd.errors import UserError
from semicrowd.settings.data import OwnDataSettings
from semicrowd.settings.embedding import EFFICIENTNET_LITE0, EMBEDDING_HELP
from semicrowd.settings.fields import choice, each, either, flag, setting, shown, whole

_SIDE = whole(1, 1024)


def _folder(value: Any) -> str | None:
    return None if isinstance(value, str | Path) and str(value).strip() else "the path of a folder"


@dataclass(frozen=True)
class ImagesSettings(OwnDataSettings):
    """Your own images, data.path=<folder of images or of a folder for each class>: pixels, words or an embedding."""

    path: str | Path | None = setting(None, "folder of images, or of folders of them", _folder, optional=True)
    features: str | None = setting(
        None, f"pixels: scaled to one size | words: counts of visual words | {EMBEDDING_HELP}; null: pixels for small "
        "images, else words", choice("pixels", "words", EFFICIENTNET_LITE0), optional=True,
    )  # fmt: skip
    size: int | tuple[int, int] | None = setting(
        None, "size in pixels: side of a square, or [height, width]; null: that of the images if all have the same "
        "size of at most 64 × 64, else 32", either(_SIDE, each(_SIDE, "[32, 48]", length=2)), optional=True,
    )  # fmt: skip
    words: int | None = setting(
        None, "number of visual words, k-means centres of the descriptors; null: 500, or fewer for few descriptors",
        whole(2), optional=True,
    )
    data_seed: int = setting(0, "seed of the visual words, separate from the run's seed", whole(0))
    skip_unreadable: bool = setting(False, "leave out files that cannot be read, and name them in a note", flag())

    def __post_init__(self) -> None:
        super().__post_init__()
        named = self.features or "null"
        for name, value, of in (("size", self.size, "pixels"), ("words", self.words, "words")):
            if value is not None and named not in ("null", of):
                raise UserError(f"data.{name}={shown(value)}: expected null with data.features={named}")
        if self.size is not None and self.words is not None:
            raise UserError(f"data.words={self.words}: expected null with data.size={shown(self.size)} (pixels)")

    @property
    def shape(self) -> tuple[int, int] | None:
        """Height and width of the pixels; None if they are not given."""
        return (self.size, self.size) if isinstance(self.size, int) else self.size
