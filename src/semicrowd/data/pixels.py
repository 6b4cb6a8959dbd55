"""Pictures of any size as pixels of one size, grey or colour."""

import numpy as np
from PIL import Image, ImageOps

from semicrowd.data.dataset import Dataset
from semicrowd.data.image_files import ImageFiles, read_images, said

#: Pictures of up to so many pixels a side are small.
SMALL = 64
#: Side of the square that pictures are brought to where they have no small size of their own.
SIDE = 32

#: A picture, and the width and height that it had before.
_Fitted = tuple[Image.Image, tuple[int, int]]


def read_pixels(files: ImageFiles, size: tuple[int, int] | None, colour: bool | None = None) -> Dataset:
    """Pixels of every picture, all of one size.

    Of a picture of another shape the middle is kept. A margin that were added instead would be the same pixels in all
    pictures of a format, and look like a kind of things.

    Parameters
    ----------
    size : height and width; None for the pictures' own where all have the same, of up to :data:`SMALL` pixels a side,
        else :data:`SIDE` × :data:`SIDE`
    colour : whether pixels have three colours or are grey; None: three unless all pictures are grey

    Returns
    -------
    Dataset
        ``features`` [pictures, D] from 0 to 1, a picture colour by colour, row by row; the size is in ``chosen``.

    Raises
    ------
    UserError
        For files that cannot be read.
    """
    (height, width), why = size or (SIDE, SIDE), "a small square"
    if size is None and int(files.longest.max()) <= SMALL:
        # Small pictures are kept until all have been seen: only then it is known whether they have one size.
        read = read_images(files, lambda image: (image, image.size), SMALL)
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
    coloured = grey < len(made) if colour is None else colour
    if other := grey if coloured else len(made) - grey:
        notes.append(said(files, other, "grey, taken as colour" if coloured else "in colour, taken as grey"))
    arrays = (np.atleast_3d(np.asarray(image.convert("RGB" if coloured else "L"))) for image, _ in made)
    features = np.stack([np.moveaxis(array, 2, 0).ravel() for array in arrays]) / np.float32(255)
    return Dataset(
        "images", features, image_shape=(3, height, width) if coloured else (height, width),
        hashes={files.folder.name: read.digest}, notes=tuple(notes), chosen={"size": ((height, width), why)},
    )  # fmt: skip


def _fitted(image: Image.Image, height: int, width: int) -> _Fitted:
    return ImageOps.fit(image, (width, height)), image.size
