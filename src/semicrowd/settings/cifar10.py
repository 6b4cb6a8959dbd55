"""Settings of CIFAR-10."""

from dataclasses import dataclass
from typing import Any

from semicrowd.errors import UserError
from semicrowd.settings.data import DataSettings
from semicrowd.settings.embedding import EFFICIENTNET_LITE0, EMBEDDING_HELP
from semicrowd.settings.fields import choice, setting, whole

#: Principal components of the pixels that ``data.pca=auto`` takes.
PIXEL_COMPONENTS = 100


def _components(value: Any) -> str | None:
    fits = value == "auto" or whole(1, 3072)(value) is None
    return None if fits else "auto, a whole number from 1 to 3072, or null for none"


def _subset(value: Any) -> str | None:
    return None if whole(2)(value) is None else "a whole number >= 2, or null for all"


@dataclass(frozen=True)
class CIFAR10Settings(DataSettings):
    """50,000 training images of 32 × 32 pixels in three colours, or those of the existing files, and test images."""

    features: str = setting("pixels", f"pixels | {EMBEDDING_HELP}", choice("pixels", EFFICIENTNET_LITE0))
    pca: int | str | None = setting(
        "auto", f"number of principal components; null: no PCA; auto: {PIXEL_COMPONENTS} for pixels, else no PCA",
        _components, optional=True,
    )  # fmt: skip
    subset: int | None = setting(
        None, "number of training images, drawn at random; null: all, in their order", _subset, optional=True
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
