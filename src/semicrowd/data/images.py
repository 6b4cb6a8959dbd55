"""The user's own images as counts of visual words: SIFT descriptors, k-means, a histogram for each image.

Csurka et al. 2004, "Visual categorization with bags of keypoints"; descriptors are Lowe's (2004), by OpenCV.
"""

import hashlib
from pathlib import Path

import numpy as np
from sklearn.cluster import MiniBatchKMeans

from semicrowd.data.dataset import Dataset
from semicrowd.errors import UserError
from semicrowd.random import stream
from semicrowd.settings.sources import ImagesSettings

#: Files that are taken for images.
SUFFIXES = (".jpg", ".jpeg", ".png", ".bmp", ".tif", ".tiff", ".pgm", ".ppm")
#: Longest side, in pixels, to which a larger image is brought; most descriptors of an image that make the words.
_LONGEST, _DESCRIPTORS = 320, 100
_EXPECTED = "a folder of images, or of a folder of images for each class"


def load_images(root: Path, settings: ImagesSettings) -> Dataset:  # noqa: ARG001 - not a public file
    """Load a folder of images as counts of visual words.

    The images are those below the folder, in the order of their paths; an image's class is the folder within it, and
    there are none where all images lie in the folder itself. The words are made of these images: k-means centres of up
    to 100 descriptors of each. An image without a descriptor has counts 0.

    Returns
    -------
    Dataset
        ``features`` [images, words], whole numbers.

    Raises
    ------
    UserError
        For a folder that cannot be read or has no images, a file that is none, and for more words than descriptors.
    """
    if not settings.path:
        raise UserError(f"data=images: data.path is missing; expected {_EXPECTED}")
    folder = Path(settings.path)
    paths = sorted(path for path in folder.rglob("*") if path.suffix.lower() in SUFFIXES and path.is_file())
    if not paths:
        raise UserError(f"{folder}: no images ({', '.join(SUFFIXES)}); expected {_EXPECTED}")
    contents = [_read(path) for path in paths]
    descriptors = [_descriptors(path, content) for path, content in zip(paths, contents, strict=True)]
    digest = hashlib.sha256(b"".join(hashlib.sha256(content).digest() for content in contents)).hexdigest()
    counts = count_words(descriptors, settings.words, settings.data_seed)
    names = np.array([path.relative_to(folder).parts[0] for path in paths])
    labels, num_classes = None, None
    if not any(path.parent == folder for path in paths):
        classes, labels = np.unique(names, return_inverse=True)
        labels, num_classes = labels.astype(np.int64), len(classes)
    return Dataset("images", counts, labels, hashes={folder.name: digest}, num_classes=num_classes)


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror or error}") from error


def _descriptors(path: Path, content: bytes) -> np.ndarray:
    """SIFT descriptors [n, 128] of an image; none of one without structure."""
    # Imported here: a tenth of a second, for this data set alone.
    import cv2

    image = cv2.imdecode(np.frombuffer(content, np.uint8), cv2.IMREAD_GRAYSCALE) if content else None
    if image is None:
        raise UserError(f"{path}: not an image that can be read; expected {', '.join(SUFFIXES)}")
    shrink = _LONGEST / max(image.shape)
    if shrink < 1:
        image = cv2.resize(image, None, fx=shrink, fy=shrink, interpolation=cv2.INTER_AREA)
    _, found = cv2.SIFT.create().detectAndCompute(image, None)
    return np.zeros((0, 128), np.float32) if found is None else found


def count_words(descriptors: list[np.ndarray], words: int, seed: int) -> np.ndarray:
    """How often an image has each visual word.

    Parameters
    ----------
    descriptors : of each image, [n, 128]
    words : W, k-means centres

    Returns
    -------
    np.ndarray
        [images, W] float32, whole numbers.

    Raises
    ------
    UserError
        If there are fewer descriptors than words.
    """
    rng = stream(seed, "data/words")
    some = np.concatenate([rng.permutation(one)[:_DESCRIPTORS] for one in descriptors])
    if len(some) < words:
        raise UserError(f"data.words={words}: expected {len(some)} at most, the descriptors of these images")
    means = MiniBatchKMeans(words, n_init=3, batch_size=4096, random_state=int(rng.integers(2**31))).fit(some)
    return np.stack(
        [np.bincount(means.predict(one), minlength=words) if len(one) else np.zeros(words) for one in descriptors]
    ).astype(np.float32)
