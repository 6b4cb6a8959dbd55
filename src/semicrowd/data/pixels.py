"""Images of any size as pixels of one size, grey or in colour."""

import numpy as np
from PIL import Image, ImageOps

from semicrowd.data.dataset import Dataset
from semicrowd.data.image_files import ImageFiles, read_images, said

#: Images keep their size if all have the same size, and both sides have at most this number of pixels.
SMALL = 64
#: Otherwise they are scaled to a square with this side, in pixels.
SIDE = 32

#: A scaled image, and its width and height before.
_Fitted = tuple[Image.Image, tuple[int, int]]


def read_pixels(files: ImageFiles, size: tuple[int, int] | None, colour: bool | None = None) -> Dataset:
    """Pixels of every image, all of one size.

    An image with another ratio of the sides is cropped to its middle. It is not padded, because the padding would make
    images of the same format similar.

    Parameters
    ----------
    size : height and width; None: that of the images if it is the same for all and at most :data:`SMALL`, else
        :data:`SIDE` × :data:`SIDE`
    colour : whether pixels have three colours or are grey; None: three unless all pictures are grey

    Returns
    -------
    Dataset
        ``features`` [images, D] from 0 to 1, ordered by colour, row and column; the size is in ``chosen``.

    Raises
    ------
    UserError
        For files that cannot be read.
    """
    (height, width), why = size or (SIDE, SIDE), "a small square"
    if size is None and int(files.longest.max()) <= SMALL:
        # Small images are kept in memory until all are read: only then it is known whether they have the same size.
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
