"""The images that a method is surest of: a row for each cluster."""

import numpy as np
from matplotlib.figure import Figure

from semicrowd.evaluation.likeliest import Likeliest
from semicrowd.figures.grid import draw_grid
from semicrowd.figures.style import new_figure, percent


def likeliest_images(likeliest: Likeliest, image_shape: tuple[int, ...], title: str) -> Figure:
    """The likeliest images of each cluster, the largest cluster first, each row with its share of the images.

    Parameters
    ----------
    image_shape : (height, width), or (channels, height, width) with one or three channels
    title : of the figure
    """
    rows, columns = likeliest.probability.shape
    figure = new_figure(0.55 * columns + 1.5, 0.55 * rows + 0.7, title)
    shares = zip(likeliest.clusters, likeliest.share, strict=True)
    names = [f"cluster {k}: {percent(float(share))}" for k, share in shares]
    draw_grid(figure.subplots(), likeliest.images.astype(np.float32), image_shape, names)
    return figure
