"""Views: slightly changed copies of images, which belong to the cluster of their image (docs/DEVIATIONS.md).

This is an assumption about images in general, and uses no labels. A link between an image and its view has a weight w
in eq. 14, as an answer "same" has.
"""

import math

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import grid_sample

from semicrowd.crowd.batch import RelationalBatch
from semicrowd.errors import UserError
from semicrowd.inference.graph import PairGraph

#: Weight of the link between an image and its view, in nats: that of an answer "same" with rates of .99.
WEIGHT = 4.6


class Views:
    """Views of a data set's images: rotated, sheared, scaled and shifted; zero outside.

    Parameters
    ----------
    image_shape : (height, width) or (colours, height, width)

    Attributes
    ----------
    rotate, shear : largest angles, in degrees
    scale : largest relative change of size
    shift : largest shift, as a share of the smaller side: 2 pixels of MNIST's images
    """

    rotate, shear, scale, shift = 12.0, 20.0, 0.1, 1 / 14

    def __init__(self, image_shape: tuple[int, ...] | None) -> None:
        if image_shape is None:
            raise UserError("augmentation: these data are no images; expected augmentation=none")
        self.image_shape = (*(image_shape[:-2] or (1,)), *image_shape[-2:])

    def of(
        self, features: Float[Tensor, "B D"], generator: torch.Generator, *, shared: bool = False
    ) -> Float[Tensor, "B D"]:
        """A view of each image.

        Parameters
        ----------
        shared : the same transformation for all images, in place of one for each
        """
        drawn = torch.rand(1 if shared else len(features), 6, generator=generator, device=generator.device)
        draws = drawn.to(features.device).expand(len(features), -1)
        return self.transformed(features.unflatten(1, self.image_shape), draws).flatten(1)

    def transformed(self, images: Float[Tensor, "B C H W"], draws: Float[Tensor, "B 6"]) -> Float[Tensor, "B C H W"]:
        """Transformed images; draws uniform on [0, 1): angle, shear, two scales and two shifts."""
        height, width = images.shape[-2:]
        draws, shift = 2 * draws - 1, self.shift * min(height, width)
        angle, shear = math.radians(self.rotate) * draws[:, 0], math.radians(self.shear) * draws[:, 1]
        zoom_x, zoom_y = (1 + self.scale * draws[:, i] for i in (2, 3))
        cos, sin, slope = angle.cos(), angle.sin(), shear.tan()
        # From output to input coordinates, both in [−1, 1]: zoom, then shear, then rotation, then shift.
        rows = (
            (cos * zoom_x, (slope * cos - sin) * zoom_y, 2 * shift / width * draws[:, 4]),
            (sin * zoom_x, (slope * sin + cos) * zoom_y, 2 * shift / height * draws[:, 5]),
        )
        theta = torch.stack([torch.stack(row, 1) for row in rows], 1)
        return grid_sample(images, sampling_grid(theta, height, width), align_corners=False)


def sampling_grid(theta: Float[Tensor, "B 2 3"], height: int, width: int) -> Float[Tensor, "B H W 2"]:
    """Where an affine map takes the centres of pixels, as (x, y) in [−1, 1].

    That of ``torch.nn.functional.affine_grid`` but for rounding, in a tenth of its time on a processor.
    """
    x, y = ((2 * torch.arange(size, device=theta.device) + 1) / size - 1 for size in (width, height))
    of_x, of_y, shift = theta[..., None, None].unbind(2)
    return (of_x * x + (of_y * y[:, None] + shift)).movedim(1, -1)


def build_views(augmentation: str, image_shape: tuple[int, ...] | None) -> Views | None:
    """The views of images of this shape; None for ``none``. See :class:`Views` for errors."""
    return None if augmentation == "none" else Views(image_shape)


def graph_with_views(num_items: int, weight: Float[Tensor, "R Q"], answers: RelationalBatch | None) -> PairGraph:
    """The graph over B items and their B views.

    Parameters
    ----------
    num_items : B; the answers' items come first among them
    weight : [R, P + B], w of the answers, then of the links; without answers [R, B], of the links alone
    answers : over the first items, or None
    """
    item = torch.arange(num_items, device=weight.device)
    if answers is None:
        return PairGraph(2 * num_items, item, item + num_items, weight, item.repeat(2), num_items)
    C, n = answers.num_components, answers.num_nodes
    i, j = torch.cat([answers.i, item]), torch.cat([answers.j, item + num_items])
    component = torch.cat([answers.component, C + item[: num_items - n]]).repeat(2)
    return PairGraph(2 * num_items, i, j, weight, component, C + num_items - n)
