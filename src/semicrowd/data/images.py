"""The user's own pictures: a folder of them as pixels of one size, or as features of a trained network."""

import os
from collections.abc import Sequence
from numbers import Integral
from pathlib import Path

import numpy as np
from PIL import Image, ImageOps
from sklearn.utils._param_validation import Interval, StrOptions, validate_params

from semicrowd.data.dataset import Dataset
from semicrowd.data.embedding import EFFICIENTNET_LITE0, embedded
from semicrowd.data.embedding import SIDE as NETWORK_SIDE
from semicrowd.data.fetch import data_root
from semicrowd.errors import UserError
from semicrowd.files import PICTURES, digest_of, expanded, find_images

#: Folder below the data root where the features of all folders of pictures are kept.
EMBEDDED = "images_embedding"
#: Pixels are the features where the longer side of half of the pictures has at most so many. Pictures of one size that
#: are no larger keep their size.
SMALL = 64
#: Otherwise they are scaled to a square with this side, in pixels.
SIDE = 32
#: Pillow's modes of grey pictures.
_GREY = ("1", "L", "LA")


@validate_params(
    {
        "path": [str, Path, None], "features": [StrOptions({"pixels", EFFICIENTNET_LITE0}), None],
        "size": [Interval(Integral, 1, 1024, closed="both"), "array-like", None], "colour": ["boolean", None],
    },
    prefer_skip_nested_validation=False,
)  # fmt: skip
def load_images(
    *, path: str | Path | None = None, features: str | None = None, size: int | Sequence[int] | None = None,
    colour: bool | None = None, root: Path | None = None,
) -> Dataset:  # fmt: skip
    """Load a folder of pictures.

    The items are the pictures below the folder, sorted by their paths within it, which ``files`` has; a picture's class
    is the folder within it, and there are none where a picture lies in the folder itself.

    Parameters
    ----------
    path : folder of pictures, or of a folder for each class
    features : pixels, scaled to one size; or efficientnet_lite0, 1280 numbers by a network trained on photographs
        (:mod:`semicrowd.data.embedding`), kept in ``root/images_embedding``; None: pixels where ``size`` is given or
        half of the pictures have at most 64 on the longer side, else the network's
    size : of the pixels, the side of a square, or height and width; a picture with another ratio of the sides is
        cropped to its middle. None: that of the pictures if all have the same of at most 64 × 64, else 32
    colour : whether pixels have three colours or are grey; None: three unless all pictures are stored as grey
    root : data root, None: that of the environment

    Returns
    -------
    Dataset
        ``features`` [pictures, pixels], from 0 to 1, ordered by colour, row and column, with an ``image_shape``; or
        [pictures, 1280].
    """
    if not path:
        raise UserError(f"data=images: data.path is missing; expected {PICTURES}")
    if size is not None and features == EFFICIENTNET_LITE0:
        raise UserError(f"data.size={size}: expected null with data.features={features}")
    wanted = (size, size) if isinstance(size, int) else None if size is None else tuple(size)
    if wanted is not None and not (len(wanted) == 2 and all(isinstance(one, int) and one >= 1 for one in wanted)):
        raise UserError(f"data.size={size}: expected the side of a square, or [height, width]")
    folder = expanded(path)
    paths = find_images(folder)
    headers = [_header(path) for path in paths]
    longest = np.array([max(size) for size, _ in headers])
    digest = digest_of(paths)
    if features is None:
        small = wanted is not None or float(np.median(longest)) <= SMALL
        features = "pixels" if small else EFFICIENTNET_LITE0
    shape: tuple[int, ...] | None = None
    if features == "pixels":
        alike = len({size for size, _ in headers}) == 1 and longest.max() <= SMALL
        height, width = wanted or (headers[0][0][::-1] if alike else (SIDE, SIDE))
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
        kept = (root or data_root()) / EMBEDDED
        x = embedded(paths, lambda path: np.asarray(read_image(path, NETWORK_SIDE, "RGB")), digest, kept)
    # Bytes of a name that are no UTF-8 are replaced.
    names = [os.fsencode(path.relative_to(folder).as_posix()).decode(errors="replace") for path in paths]
    labels, num_classes, class_names = None, None, None
    if all("/" in name for name in names):
        classes, labels = np.unique([name.split("/")[0] for name in names], return_inverse=True)
        num_classes, class_names = len(classes), tuple(classes.tolist())
    return Dataset(
        "images", x, labels, image_shape=shape, hashes={folder.name: digest}, num_classes=num_classes,
        class_names=class_names, files=tuple(names),
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
