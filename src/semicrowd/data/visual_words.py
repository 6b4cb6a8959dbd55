"""Pictures as counts of visual words: SIFT descriptors, k-means, a histogram for each picture.

Csurka et al. 2004, "Visual categorization with bags of keypoints"; descriptors are Lowe's (2004), by OpenCV.
"""

import numpy as np
from PIL import Image
from sklearn.cluster import MiniBatchKMeans

from semicrowd.errors import UserError
from semicrowd.random import stream

#: Larger images are scaled down to this length of their longer side, in pixels.
LONGEST = 320
#: Descriptors of an image that k-means of the visual words is fitted to, at most.
_DESCRIPTORS = 100


def sift(image: Image.Image) -> np.ndarray:
    """SIFT descriptors [n, 128] of an image, seen in grey; none of one without structure."""
    # Imported here: a tenth of a second, for this data set alone.
    import cv2

    grey = np.asarray(image.convert("L"))
    shrink = LONGEST / max(grey.shape)
    if shrink < 1:
        # A long and narrow picture keeps a pixel of its shorter side.
        height, width = (max(1, round(side * shrink)) for side in grey.shape)
        grey = cv2.resize(grey, (width, height), interpolation=cv2.INTER_AREA)
    _, found = cv2.SIFT.create().detectAndCompute(grey, None)
    return np.zeros((0, 128), np.float32) if found is None else found


def usual_words(descriptors: list[np.ndarray]) -> int:
    """Words where nobody says how many: one for every ten of the descriptors that make them, 2 to 500."""
    return max(2, min(500, sum(min(len(one), _DESCRIPTORS) for one in descriptors) // 10))


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
