"""Images as counts of visual words: SIFT descriptors, k-means of them, and a histogram for each image.

Csurka et al. 2004, "Visual categorization with bags of keypoints"; descriptors are Lowe's (2004), by OpenCV.
"""

from pathlib import Path

import numpy as np
from PIL import Image
from sklearn.cluster import MiniBatchKMeans
from sklearn.metrics import pairwise_distances_argmin
from threadpoolctl import threadpool_limits

from semicrowd.data.arrays import read_npz
from semicrowd.errors import UserError
from semicrowd.files import write_arrays
from semicrowd.random import stream

#: Larger images are scaled down to this length of their longer side, in pixels.
LONGEST = 320
#: Numbers of a descriptor.
LENGTH = 128
#: File of a run with its visual words.
WORDS = "visual_words.npz"
#: Maximal number of descriptors of an image to which k-means is fitted.
_DESCRIPTORS = 100
#: Maximal default number of words, and the number of descriptors for each.
_MOST_WORDS, _FOR_EACH = 500, 10


def sift(image: Image.Image) -> np.ndarray:
    """SIFT descriptors [n, 128] uint8 of the grey values of an image; n = 0 for an image without structure."""
    # Imported here, because the import takes a tenth of a second and only these features need it.
    import cv2

    grey = np.asarray(image.convert("L"))
    shrink = LONGEST / max(grey.shape)
    if shrink < 1:
        # The shorter side of a very narrow image keeps at least one pixel.
        height, width = (max(1, round(side * shrink)) for side in grey.shape)
        grey = cv2.resize(grey, (width, height), interpolation=cv2.INTER_AREA)
    _, found = cv2.SIFT.create().detectAndCompute(grey, None)
    # OpenCV returns whole numbers from 0 to 255 as float32, which need four times the memory.
    return np.zeros((0, LENGTH), np.uint8) if found is None else found.astype(np.uint8)


def usual_words(descriptors: list[np.ndarray]) -> int:
    """The default number of words: a tenth of the number of descriptors to which k-means is fitted, from 2 to 500."""
    return max(2, min(_MOST_WORDS, usable_descriptors(descriptors) // _FOR_EACH))


def usable_descriptors(descriptors: list[np.ndarray]) -> int:
    """The number of descriptors to which k-means is fitted."""
    return sum(min(len(one), _DESCRIPTORS) for one in descriptors)


def decisive_descriptors(words: int | None) -> int:
    """So many of :func:`usable_descriptors` tell the number of words; None: words are not given."""
    return _MOST_WORDS * _FOR_EACH if words is None else words


def check_words(words: int, descriptors: int) -> None:
    """Refuse more words than descriptors.

    Raises
    ------
    UserError
        With the number of descriptors.
    """
    if descriptors < words:
        raise UserError(f"data.words={words}: expected {descriptors} at most, the descriptors of these images")


def find_words(descriptors: list[np.ndarray], words: int, seed: int) -> np.ndarray:
    """The visual words of these images.

    Parameters
    ----------
    descriptors : of each image, [n, 128]
    words : W, the number of words, which are centres of k-means

    Returns
    -------
    np.ndarray
        [W, 128] float32.

    Raises
    ------
    UserError
        If there are fewer descriptors than words.
    """
    rng = stream(seed, "data/words")
    some = np.concatenate([rng.permutation(one)[:_DESCRIPTORS] for one in descriptors]).astype(np.float32)
    check_words(words, len(some))
    means = MiniBatchKMeans(words, n_init=3, batch_size=4096, random_state=int(rng.integers(2**31)))
    with threadpool_limits(1):  # its steps are short: beside a busy process several threads take five times as long
        means.fit(some)
    return means.cluster_centers_.astype(np.float32)


def count_words(descriptors: list[np.ndarray], words: np.ndarray) -> np.ndarray:
    """Number of descriptors of each image nearest to each of the visual words [W, 128]: [images, W] float32."""
    nearest = [
        pairwise_distances_argmin(one.astype(np.float32), words) if len(one) else np.zeros(0, np.int64)
        for one in descriptors
    ]
    return np.stack([np.bincount(one, minlength=len(words)) for one in nearest]).astype(np.float32)


def write_words(words: np.ndarray, run_dir: Path) -> None:
    """Write the visual words of a run into its folder."""
    write_arrays(run_dir / WORDS, {"words": words})


def read_words(run_dir: Path) -> np.ndarray:
    """The visual words of a run, [W, 128] float32.

    Raises
    ------
    UserError
        If the file is missing or has other content.
    """
    path = run_dir / WORDS
    if not path.exists():
        raise UserError(f"{path}: not found; a run of an earlier version did not keep its visual words, run it again")
    words = read_npz(path).get("words", np.zeros(0))
    if words.ndim != 2 or words.shape[1] != LENGTH or words.dtype != np.float32 or not np.isfinite(words).all():
        raise UserError(f"{path}: not the visual words of a run, float32 [words, {LENGTH}]")
    return words
