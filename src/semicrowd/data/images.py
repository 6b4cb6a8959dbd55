"""The user's own pictures: a folder of them as pixels of one size, or as features of a trained network."""

import os
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image, ImageOps

from semicrowd.data.dataset import Dataset
from semicrowd.data.embedding import SIDE as NETWORK_SIDE
from semicrowd.data.embedding import embedded
from semicrowd.errors import UserError
from semicrowd.files import PICTURES, digest_of, expanded, find_images
from semicrowd.settings.data import EFFICIENTNET_LITE0, ImagesSettings

#: Folder below the data root where the features of all folders of pictures are kept.
EMBEDDED = "images_embedding"
#: Pixels are the features where the longer side of half of the pictures has at most so many. Pictures of one size that
#: are no larger keep their size.
SMALL = 64
#: Otherwise they are scaled to a square with this side, in pixels.
SIDE = 32
#: Pillow's modes of grey pictures.
_GREY = ("1", "L", "LA")


def load_images(root: Path, settings: ImagesSettings, colour: bool | None = None) -> Dataset:
    """Load a folder of pictures.

    The items are the pictures below the folder, sorted by their paths within it, which ``files`` has; a picture's class
    is the folder within it, and there are none where a picture lies in the folder itself. ``data.features`` says what
    a picture is to the methods: its pixels, or the numbers that a network has for it (:mod:`semicrowd.data.embedding`),
    which are kept in ``root/images_embedding``. A picture with another ratio of the sides is cropped to its middle.

    Parameters
    ----------
    colour : whether pixels have three colours or are grey; None: three unless all pictures are stored as grey

    Returns
    -------
    Dataset
        ``features`` [pictures, pixels], from 0 to 1, ordered by colour, row and column, with an ``image_shape``; or
        [pictures, 1280]. ``chosen`` has the settings that were null.
    """
    if not settings.path:
        raise UserError(f"data=images: data.path is missing; expected {PICTURES}")
    folder = expanded(settings.path)
    paths = find_images(folder)
    headers = [_header(path) for path in paths]
    longest = np.array([max(size) for size, _ in headers])
    digest = digest_of(paths)
    if settings.features is not None:
        features = settings.features
    elif settings.size is not None:
        features = "pixels"
    else:
        small = float(np.median(longest)) <= SMALL
        features = "pixels" if small else EFFICIENTNET_LITE0
    chosen: dict[str, Any] = {"features": features}
    shape: tuple[int, ...] | None = None
    if features == "pixels":
        alike = len({size for size, _ in headers}) == 1 and longest.max() <= SMALL
        width, height = headers[0][0] if alike else (SIDE, SIDE)
        if settings.shape is not None:
            height, width = settings.shape
        chosen["size"] = height, width
        if colour is None:
            colour = any(mode not in _GREY for _, mode in headers)
        shape = (3, height, width) if colour else (height, width)
        x = np.empty((len(paths), *shape), np.float32)
        for row, path in zip(x, paths, strict=True):
            picture = ImageOps.fit(read_image(path, max(height, width), "RGB" if colour else "L"), (width, height))
            pixels = np.asarray(picture) / np.float32(255)
            row[:] = np.moveaxis(pixels, 2, 0) if colour else pixels
        x = x.reshape(len(paths), -1)
    else:
        x = embedded(paths, lambda path: np.asarray(read_image(path, NETWORK_SIDE, "RGB")), digest, root / EMBEDDED)
    # Bytes of a name that are no UTF-8 are replaced.
    names = [os.fsencode(path.relative_to(folder).as_posix()).decode(errors="replace") for path in paths]
    labels, num_classes, class_names = None, None, None
    if all("/" in name for name in names):
        classes, labels = np.unique([name.split("/")[0] for name in names], return_inverse=True)
        num_classes, class_names = len(classes), tuple(classes.tolist())
    return Dataset(
        "images", x, labels, image_shape=shape, hashes={folder.name: digest}, num_classes=num_classes,
        class_names=class_names, files=tuple(names), chosen=chosen,
    )  # fmt: skip


def read_image(path: Path, least: int, mode: str) -> Image.Image:
    """A picture, upright, in mode ``L`` or ``RGB``; a large JPEG is decoded at a fraction of its size.

    Parameters
    ----------
    least : pixels a side that are needed at least
    """
    try:
        with Image.open(path) as image:
            if image.mode[0] in "IF":  # converted by Pillow, nearly all of it would be white
                raise ValueError("more than 8 bits a colour")
            image.draft(None, (least, least))
            return ImageOps.exif_transpose(image).convert(mode)
    except Exception as error:  # what a damaged file makes Pillow raise depends on where it is damaged
        raise _unreadable(path, error) from error


def _header(path: Path) -> tuple[tuple[int, int], str]:
    """Width and height in the file, and Pillow's mode."""
    try:
        with Image.open(path) as image:
            return image.size, image.mode
    except Exception as error:
        raise _unreadable(path, error) from error


def _unreadable(path: Path, error: Exception) -> UserError:
    return UserError(f"{path}: not a picture that can be read ({(str(error) or type(error).__name__).splitlines()[0]})")
