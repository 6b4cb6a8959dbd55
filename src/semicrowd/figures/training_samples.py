"""Generated images while a model trains: a column for each cluster, a row for each epoch (SCDC paper, Fig. 4a)."""

import numpy as np
from matplotlib.figure import Figure

from semicrowd.figures.grid import draw_grid
from semicrowd.figures.style import new_figure
from semicrowd.fitting.snapshots import Snapshots
from semicrowd.metrics import USED_SHARE

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
    images = (brightness[:, :, None] * np.clip(snapshots.samples, 0, 1))[:, order]
    height, width = image_shape[-2:]
    tall = _COLUMN * rows * (height + 1) / (width + 1)
    figure = new_figure(_COLUMN * max(columns + 8, 24), max(tall, 0.5) + 1.1, title)
    axes = figure.subplots()
    names = [_name(int(epoch), weights) for epoch, weights in zip(snapshots.epochs, snapshots.weights, strict=True)]
    draw_grid(axes, images, image_shape, names)
    axes.set_xlabel(
        f"{columns} clusters by their last proportion; brightness: proportion over the largest of the epoch", fontsize=9
    )
    return figure


def in_use(weights: np.ndarray) -> int:
    """How many of [K] proportions are 0.5 % or more, the bound of metrics.json."""
    return int((weights >= USED_SHARE).sum())


def _name(epoch: int, weights: np.ndarray) -> str:
    return f"{f'epoch {epoch}' if epoch else 'start'}: {in_use(weights)} in use"
