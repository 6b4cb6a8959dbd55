"""Pictures of any size as pixels of one size, grey or colour."""

from typing import NamedTuple

import numpy as np
from PIL import Image, ImageOps

from semicrowd.data.image_files import ImageFiles, read_images, said

#: Pictures of up to so many pixels a side are small.
SMALL = 64
#: Side of the square that pictures are brought to where they have no small size of their own.
SIDE = 32


class Pixels(NamedTuple):
    """Pictures of one size.

    Attributes
    ----------
    features : [pictures, D] float32 from 0 to 1, a picture colour by colour, row by row
    shape : (height, width) where all pictures are grey, else (3, height, width)
    digest : sha256 of the files
    notes : what was done to which pictures, a line each
    why : this size
    """

    features: np.ndarray
    shape: tuple[int, ...]
    digest: str
    notes: tuple[str, ...]
    why: str


class _Fitted(NamedTuple):
    image: Image.Image
    before: tuple[int, int]  # width and height that it had


def read_pixels(files: ImageFiles, size: tuple[int, int] | None, colour: bool | None = None) -> Pixels:
    """Pixels of every picture, all of one size.

    Of a picture of another shape the middle is kept. A margin that were added instead would be the same pixels in all
    pictures of a format, and look like a kind of things.

    Parameters
    ----------
    size : height and width; None for the pictures' own where all have the same, of up to :data:`SMALL` pixels a side,
        else :data:`SIDE` × :data:`SIDE`
    colour : whether pixels have three colours or are grey; None: three unless all pictures are grey

    Raises
    ------
    UserError
        For files that cannot be read.
    """
    (height, width), why = size or (SIDE, SIDE), "a small square"
    if size is None and int(files.longest.max()) <= SMALL:
        # Small pictures are kept until all have been seen: only then it is known whether they have one size.
        read = read_images(files, lambda image: _Fitted(image, image.size), SMALL)
        sizes = {before for _, before in read.made}
        if len(sizes) == 1:
            ((width, height),) = sizes
            why = "the size that all images have"
        made = [_fitted(image, height, width) for image, _ in read.made]
    else:
        read = read_images(files, lambda image: _fitted(image, height, width), max(height, width))
        made = read.made
    notes = list(read.notes)
    cropped = sum(w * height != h * width for _, (w, h) in made)
    if cropped:
        notes.append(said(files, cropped, f"of another shape than {height} × {width}, the middle is kept"))
    resized = sum(before != (width, height) for _, before in made)
    if resized:
        notes.append(said(files, resized, f"brought to {height} × {width} pixels (data.size)"))
    grey = sum(image.mode == "L" for image, _ in made)
    if not (grey < len(made) if colour is None else colour):
        if grey < len(made):
            notes.append(said(files, len(made) - grey, "in colour, taken as grey"))
        features = np.stack([np.asarray(image.convert("L")).ravel() for image, _ in made])
        return Pixels(features / np.float32(255), (height, width), read.digest, tuple(notes), why)
    if grey:
        notes.append(said(files, grey, "grey, taken as colour"))
    features = np.stack([np.moveaxis(np.asarray(image.convert("RGB")), 2, 0).ravel() for image, _ in made])
    return Pixels(features / np.float32(255), (3, height, width), read.digest, tuple(notes), why)


def _fitted(image: Image.Image, height: int, width: int) -> _Fitted:
    return _Fitted(ImageOps.fit(image, (width, height)), image.size)
