"""Views: every image beside a slightly moved copy of it, and the answer that the two are of one kind.

The copy is one more item of the data set, drawn anew in every step; the answer is that of an annotator who is asked
about nothing else and whose w_ij (SCDC paper, eq. 14) is given, not learned. What an image shows does not change when
it is moved a little: this is knowledge about images in general, none about labels.
"""

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import affine_grid, grid_sample

from semicrowd.crowd.samplers import RelationalBatch
from semicrowd.crowd.two_coin import PairEvidence
from semicrowd.errors import UserError
from semicrowd.inference.graph import PairGraph


def affine_view(features: Tensor, image_shape: tuple[int, ...], settings: Any, generator: torch.Generator) -> Tensor:
    """Each image turned, sheared, scaled and moved by amounts of its own.

    Parameters
    ----------
    features : [B, D], flattened images, zero outside
    image_shape : (height, width)
    settings : ``rotate`` and ``shear`` in degrees, ``scale`` as a fraction, ``shift`` in pixels: each drawn uniformly
        from minus to plus its value
    """
    height, width = image_shape
    draws = 2 * torch.rand(len(features), 6, generator=generator, device=features.device) - 1
    angle, shear = (math.radians(degrees) * draws[:, i] for i, degrees in enumerate((settings.rotate, settings.shear)))
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


class Views:
    """Views of a data set's images.

    Parameters
    ----------
    settings : ``model.views``
    image_shape : (height, width)
    """

    def __init__(self, settings: Any, image_shape: tuple[int, ...]) -> None:
        self.settings, self.image_shape = settings, image_shape

    def of(self, features: Tensor, generator: torch.Generator) -> Tensor:
        """A view of every image, [B, D]."""
        return affine_view(features, self.image_shape, self.settings, generator)

    def evidence(self, num_items: int, restarts: int, device: torch.device | str = "cpu") -> PairEvidence:
        """w of the links of B items to their views, [R, B]."""
        weight = torch.full((restarts, num_items), float(self.settings.weight), device=device)
        return PairEvidence(weight, torch.zeros_like(weight))


def graph_with_views(num_items: int, weight: Tensor, batch: RelationalBatch | None) -> PairGraph:
    """The graph over B items and their B views.

    Parameters
    ----------
    num_items : B; the answers' items come first among them
    weight : [R, P + B], w of the answers, then of the links
    batch : the answers, or None
    """
    item = torch.arange(num_items, device=weight.device)
    if batch is None:
        return PairGraph(2 * num_items, item, item + num_items, weight, item.repeat(2), num_items)
    C, n = batch.num_components, batch.num_nodes
    i, j = torch.cat([batch.i, item]), torch.cat([batch.j, item + num_items])
    component = torch.cat([batch.component, C + item[: num_items - n]]).repeat(2)
    return PairGraph(2 * num_items, i, j, weight, component, C + num_items - n)


def build_views(settings: Any, image_shape: tuple[int, ...] | None) -> Views | None:
    """The views ``model.views``.

    Raises
    ------
    UserError
        For a kind that is not there, and for data that are no images.
    """
    if settings.kind == "none":
        return None
    if settings.kind != "affine":
        raise UserError(f"model.views.kind={settings.kind}: expected none or affine")
    if image_shape is None or len(image_shape) != 2:
        raise UserError("model.views.kind=affine: these data are no grey images; use model.views.kind=none")
    for name in ("rotate", "shear", "scale", "shift", "weight"):
        if not _is_number(settings[name]) or settings[name] < 0:
            raise UserError(f"model.views.{name}={settings[name]}: expected a number from 0 on")
    weights = settings.join_weight
    if isinstance(weights, str) or not isinstance(weights, Sequence) or [_is_number(w) for w in weights] != [True] * 2:
        raise UserError(f"model.views.join_weight={weights}: expected two numbers, as [1.0, 2.0]")
    if isinstance(settings.anew, bool) or not isinstance(settings.anew, int) or settings.anew < 0:
        raise UserError(f"model.views.anew={settings.anew}: expected a whole number from 0 on")
    return Views(settings, image_shape)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
