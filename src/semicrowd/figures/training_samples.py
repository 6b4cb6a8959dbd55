"""Generated images while a model trains: a column for each cluster, a row for each epoch (SCDC paper, Fig. 4a)."""

import numpy as np
from matplotlib.figure import Figure

from semicrowd.figures.samples import as_image
from semicrowd.figures.style import new_figure
from semicrowd.fitting.snapshots import Snapshots
from semicrowd.metrics import USED_SHARE

#: Grey between the images.
_GAP = 0.35
#: A column's width in inches; the row labels take as much as eight.
_COLUMN = 0.27


def training_samples(snapshots: Snapshots, image_shape: tuple[int, ...], title: str) -> Figure:
    """One sample of every cluster after each epoch, as bright as the cluster is large.

    An image is multiplied by the cluster's proportion over the largest one of that epoch. The columns are ordered by
    the last proportions and are the same clusters in all rows.

    Parameters
    ----------
    snapshots : of images
    image_shape : (height, width), or (channels, height, width) with one or three channels
    title : of the figure
    """
    order = np.argsort(-snapshots.weights[-1], kind="stable")
    rows, columns = len(snapshots.epochs), len(order)
    brightness = snapshots.weights / snapshots.weights.max(axis=1, keepdims=True)
    mosaic = _mosaic(snapshots.samples[:, order], brightness[:, order], image_shape)
    height, width = mosaic.shape[:2]
    inches = _COLUMN * max(columns + 8, 24)
    figure = new_figure(inches, max(_COLUMN * columns * height / width, 0.5) + 1.1, title)
    axes = figure.subplots()
    axes.imshow(mosaic, cmap="gray", vmin=0, vmax=1)
    names = [_name(int(epoch), weights) for epoch, weights in zip(snapshots.epochs, snapshots.weights, strict=True)]
    axes.set_yticks((np.arange(rows) + 0.5) * (height - 1) / rows, names, fontsize=8)
    axes.set_xticks([])
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    axes.set_xlabel(
        f"{columns} clusters by their last proportion; brightness: proportion over the largest of the epoch", fontsize=9
    )
    return figure


def in_use(weights: np.ndarray) -> int:
    """How many of [K] proportions are 0.5 % or more, the bound of metrics.json."""
    return int((weights >= USED_SHARE).sum())


def _name(epoch: int, weights: np.ndarray) -> str:
    return f"{f'epoch {epoch}' if epoch else 'start'}: {in_use(weights)} in use"


def _mosaic(samples: np.ndarray, brightness: np.ndarray, image_shape: tuple[int, ...]) -> np.ndarray:
    """All images [E, K, D] in one, [E (height + 1) + 1, K (width + 1) + 1] perhaps with three channels."""
    first = as_image(samples[0, 0], image_shape)
    (height, width), channels = first.shape[:2], first.shape[2:]
    rows, columns = brightness.shape
    mosaic = np.full((rows * (height + 1) + 1, columns * (width + 1) + 1, *channels), _GAP)
    for row in range(rows):
        for column in range(columns):
            top, left = row * (height + 1) + 1, column * (width + 1) + 1
            image = as_image(samples[row, column], image_shape)
            mosaic[top : top + height, left : left + width] = brightness[row, column] * image
    return mosaic
