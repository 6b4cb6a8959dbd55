"""Features of images: similarity of their parts to the mean patches of their own data set.

Coates, Ng & Lee 2011, "An analysis of single-layer networks in unsupervised feature learning": patches are normalised
in contrast, whitened and clustered by k-means; the feature of a mean is how much nearer it is to a patch than the
means are on average, or 0 ("triangle" activation), averaged over each part of the image. Labels and other data sets are
not used.
"""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
import torch
from jaxtyping import Float
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.cluster import MiniBatchKMeans
from threadpoolctl import threadpool_limits
from torch import Tensor
from torch.nn.functional import adaptive_avg_pool2d, unfold

from semicrowd.random import stream

#: Maximal number of means of k-means.
MEANS = 400
#: Number of parts along each side of an image, over which features are pooled.
PARTS = 3
#: Number of random patches to which k-means is fitted.
DRAWN = 50_000
#: Approximate number of patches along the shorter side of an image of any size.
ALONG = 16
#: Least distance of neighbouring patches, in pixels.
LEAST_STRIDE = 2
#: Images whose shorter side has fewer pixels have no patch features.
LEAST_SIDE = 12
#: Added to a patch's variance in the contrast normalisation, as a share of the variance of all pixels.
_CONTRAST = 0.0025
#: Added to the eigenvalues of the patches' covariance in the whitening.
_WHITENING = 0.1
#: Number of images that are processed together.
_PIECE = 32


def has_patches(image_shape: Sequence[int] | None) -> bool:
    """Whether rows are images that are large enough for patches."""
    return image_shape is not None and min(image_shape[-2:]) >= LEAST_SIDE


class PatchFeatures(TransformerMixin, BaseEstimator):
    """Images [N, D] → similarity of each of nine parts to each mean patch, [N, 9 × means].

    Parameters
    ----------
    image_shape : (height, width) or (colours, height, width)
    seed : of the random patches and of k-means

    Attributes
    ----------
    eps_ : added to the variance of a patch in the contrast normalisation
    mean_, whitening_ : of the patches, [C] and [C, C]
    means_ : [means, C], of the whitened patches
    """

    def __init__(self, image_shape: Sequence[int] = (28, 28), seed: int = 0) -> None:
        self.image_shape = image_shape
        self.seed = seed

    @property
    def _geometry(self) -> tuple[tuple[int, ...], int, int]:
        *colours, height, width = self.image_shape
        stride = max(LEAST_STRIDE, round(min(height, width) / ALONG))
        return (*(colours or (1,)), height, width), stride, 2 * stride + 1

    def fit(self, X: Float[np.ndarray, "N D"], y: Any = None) -> Self:  # noqa: ARG002 - as scikit-learn has it
        """Fit the whitening and the means of the patches."""
        shape, _, side = self._geometry
        rng = stream(self.seed, "patches")
        self.eps_ = float(_CONTRAST * X.var()) or 1.0
        image = rng.integers(len(X), size=DRAWN)
        top, left = (rng.integers(size - side + 1, size=DRAWN) for size in shape[1:])
        windows = np.lib.stride_tricks.sliding_window_view(X.reshape(-1, *shape), (side, side), (2, 3))
        # torch.unfold has the colours outermost as well.
        drawn = torch.from_numpy(windows[image, :, top, left].reshape(DRAWN, -1)).float()
        patches = self._one_contrast(drawn)
        self.mean_ = patches.mean(0).numpy()
        values, axes = torch.linalg.eigh(torch.cov(patches.T))
        self.whitening_ = ((axes / (values.clamp(min=0) + _WHITENING).sqrt()) @ axes.T).numpy()
        with threadpool_limits(1):  # with more threads sums have another order, and the result differs
            kmeans = MiniBatchKMeans(
                min(MEANS, len(X)), batch_size=4096, n_init=1, max_iter=15, random_state=self.seed
            ).fit(self._whitened(patches).numpy())
        self.means_ = kmeans.cluster_centers_.astype(np.float32)
        return self

    def transform(self, X: Float[np.ndarray, "N D"]) -> Float[np.ndarray, "N F"]:
        """Similarity to each mean, averaged over each part."""
        shape, stride, side = self._geometry
        means = torch.from_numpy(self.means_)
        squares, pooled = means.square().sum(1), []
        for first in range(0, len(X), _PIECE):
            images = torch.from_numpy(np.ascontiguousarray(X[first : first + _PIECE])).float().reshape(-1, *shape)
            windows = unfold(images, side, stride=stride).transpose(1, 2)
            patches = self._whitened(self._one_contrast(windows.flatten(0, 1)))
            distance = torch.addmm(squares, patches, means.T, alpha=-2)
            distance = distance.add_(patches.square().sum(1, keepdim=True)).clamp_(min=0).sqrt_()
            nearer = (distance.mean(1, keepdim=True) - distance).clamp_(min=0)
            height, width = ((size - side) // stride + 1 for size in shape[1:])
            maps = nearer.reshape(len(images), height, width, -1).movedim(-1, 1)
            pooled.append(adaptive_avg_pool2d(maps, PARTS).flatten(1))
        return torch.cat(pooled).numpy()

    def _one_contrast(self, patches: Tensor) -> Tensor:
        centred = patches - patches.mean(1, keepdim=True)
        return centred / (centred.square().mean(1, keepdim=True) + self.eps_).sqrt()

    def _whitened(self, patches: Tensor) -> Tensor:
        return (patches - torch.from_numpy(self.mean_)) @ torch.from_numpy(self.whitening_)
