"""Views: an image beside a copy of it that was moved a little, both of one kind (docs/DEVIATIONS.md).

That what an image shows does not change when it is moved a little is knowledge about images in general, none about
labels. A link between an image and its view enters the model as an answer "same" does: with a weight w in eq. 14.
"""

import math

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import affine_grid, grid_sample

from semicrowd.crowd.batch import RelationalBatch
from semicrowd.errors import UserError
from semicrowd.inference.graph import PairGraph
from semicrowd.settings.training import ViewSettings

#: Log odds that an image and its view are of one kind.
WEIGHT = 4.6


class Views:
    """Views of a data set's images.

    Parameters
    ----------
    settings : how far an image may be moved
    image_shape : (height, width)

    Raises
    ------
    UserError
        For items that are no grey images.
    """

    def __init__(self, settings: ViewSettings, image_shape: tuple[int, ...] | None) -> None:
        if image_shape is None or len(image_shape) != 2:
            raise UserError(f"views={settings.kind}: these data are no grey images; use views=none")
        self.settings, self.image_shape = settings, image_shape

    def of(
        self, features: Float[Tensor, "B D"], generator: torch.Generator, *, shared: bool = False
    ) -> Float[Tensor, "B D"]:
        """Each image turned, sheared, scaled and moved; zero outside.

        torchvision's transforms move all images of a batch by one draw, or one image after the other.

        Parameters
        ----------
        shared : by the same amounts for all images, in place of amounts of its own for each
        """
        height, width = self.image_shape
        settings = self.settings
        drawn = torch.rand(1 if shared else len(features), 6, generator=generator, device=generator.device)
        draws = (2 * drawn - 1).to(features.device).expand(len(features), 6)
        angle, shear = math.radians(settings.rotate) * draws[:, 0], math.radians(settings.shear) * draws[:, 1]
        zoom_x, zoom_y = (1 + settings.scale * draws[:, i] for i in (2, 3))
        cos, sin, slope = angle.cos(), angle.sin(), shear.tan()
        # From output to input coordinates, both in [−1, 1]: zoom, then shear, then rotation, then shift.
        rows = (
            (cos * zoom_x, (slope * cos - sin) * zoom_y, 2 * settings.shift / width * draws[:, 4]),
            (sin * zoom_x, (slope * sin + cos) * zoom_y, 2 * settings.shift / height * draws[:, 5]),
        )
        theta = torch.stack([torch.stack(row, 1) for row in rows], 1)
        images = features.reshape(-1, 1, height, width)
        grid = affine_grid(theta, list(images.shape), align_corners=False)
        return grid_sample(images, grid, align_corners=False).flatten(1)


def build_views(settings: ViewSettings, image_shape: tuple[int, ...] | None) -> Views | None:
    """The views that the settings ask for; see :class:`Views` for errors."""
    return None if settings.kind == "none" else Views(settings, image_shape)


def graph_with_views(num_items: int, weight: Float[Tensor, "R Q"], answers: RelationalBatch | None) -> PairGraph:
    """The graph over B items and their B views.

    Parameters
    ----------
    num_items : B; the answers' items come first among them
    weight : [R, P + B], w of the answers, then of the links; or [R, B], of the links alone
    answers : or None; without weights in ``weight`` they only decide the components
    """
    item = torch.arange(num_items, device=weight.device)
    if answers is None:
        return PairGraph(2 * num_items, item, item + num_items, weight, item.repeat(2), num_items)
    C, n = answers.num_components, answers.num_nodes
    i, j = item, item + num_items
    if weight.shape[1] > num_items:
        i, j = torch.cat([answers.i, i]), torch.cat([answers.j, j])
    component = torch.cat([answers.component, C + item[: num_items - n]]).repeat(2)
    return PairGraph(2 * num_items, i, j, weight, component, C + num_items - n)
