"""Views: slightly changed copies of images, which belong to the cluster of their image (docs/DEVIATIONS.md).

This is an assumption about images in general, and uses no labels. A link between an image and its view has a weight w
in eq. 14, as an answer "same" has.

torchvision's transforms move all images of a batch by one amount; :func:`cropped` and :func:`recoloured` do to each
image what its ``functional.crop``, ``horizontal_flip`` and ``adjust_*`` do to one.
"""

import math
from abc import ABC, abstractmethod
from typing import ClassVar

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.nn.functional import grid_sample

from semicrowd.crowd.batch import RelationalBatch
from semicrowd.errors import UserError
from semicrowd.inference.graph import PairGraph

#: Shares of red, green and blue in the grey that is as bright (ITU-R BT.601).
GREY = (0.2989, 0.587, 0.114)


def cropped(
    images: Float[Tensor, "B C H W"], down: Int[Tensor, "B"], right: Int[Tensor, "B"], mirrored: Bool[Tensor, "B"]
) -> Float[Tensor, "B C H W"]:
    """A window as large as the image, moved down and to the right by whole pixels; the edge goes on outside.

    Parameters
    ----------
    mirrored : whether left and right change places in the window
    """
    height, width = images.shape[-2:]
    rows = (torch.arange(height, device=images.device) + down[:, None]).clamp(0, height - 1)
    columns = (torch.arange(width, device=images.device) + right[:, None]).clamp(0, width - 1)
    columns = torch.where(mirrored[:, None], columns.flip(1), columns)
    found = images.gather(2, rows[:, None, :, None].expand_as(images))
    return found.gather(3, columns[:, None, None].expand_as(images))


def recoloured(
    images: Float[Tensor, "B 3 H W"],
    brightness: Float[Tensor, "B"],
    contrast: Float[Tensor, "B"],
    saturation: Float[Tensor, "B"],
    hue: Float[Tensor, "B"],
) -> Float[Tensor, "B 3 H W"]:
    """Images with values from 0 to 1, which they keep, in another light.

    Parameters
    ----------
    brightness, contrast, saturation : factors, at least 0, in this order; 1 changes nothing
    hue : turned by so many rounds of the colour circle
    """
    seen = (images * _of_each(brightness)).clamp(0, 1)
    seen = _away_from(_grey(seen).mean((-2, -1), keepdim=True), seen, contrast)
    seen = _away_from(_grey(seen), seen, saturation)
    return _turned(seen, _of_each(hue))


def _of_each(amounts: Float[Tensor, "B"]) -> Float[Tensor, "B 1 1 1"]:
    return amounts[:, None, None, None]


def _grey(images: Float[Tensor, "B 3 H W"]) -> Float[Tensor, "B 1 H W"]:
    return (images * images.new_tensor(GREY)[:, None, None]).sum(1, keepdim=True)


def _away_from(middle: Tensor, images: Float[Tensor, "B 3 H W"], factor: Float[Tensor, "B"]) -> Tensor:
    return (middle + _of_each(factor) * (images - middle)).clamp(0, 1)


def _turned(images: Float[Tensor, "B 3 H W"], rounds: Float[Tensor, "B 1 1 1"]) -> Float[Tensor, "B 3 H W"]:
    """Other hues of the same saturation and value (HSV, Smith 1978)."""
    low, high = images.aminmax(dim=1, keepdim=True)
    spread = high - low
    red, green, blue = (images / spread.clamp(min=1e-12)).split(1, 1)
    # In sixths of the circle, from red over green to blue, by the strongest colour.
    sixths = torch.where(images[:, 1:2] == high, 2 + blue - red, 4 + red - green)
    sixths = torch.where(images[:, :1] == high, green - blue, sixths) + 6 * rounds
    # How many sixths a colour has gone beyond where it is strongest: it is weak from the second to the fourth.
    beyond = (images.new_tensor((5.0, 3.0, 1.0))[:, None, None] + sixths).remainder(6)
    return high - spread * torch.minimum(beyond, 4 - beyond).clamp(0, 1)


#: Weight of the link between an image and its view, in nats: that of an answer "same" with rates of .99.
WEIGHT = 4.6
#: Largest change of the hue, in turns of the colour circle, as a share of ``jitter``. It is smaller because the hue
#: depends more on the class than brightness, contrast and saturation (SimCLR, Chen et al. 2020, has the same share).
HUE = 0.25


class Views(ABC):
    """Views of a data set's images.

    Parameters
    ----------
    image_shape : (height, width) or (colours, height, width)
    """

    #: Number of random numbers of a view.
    num_draws: ClassVar[int]
    #: Images that can be transformed so, for error messages.
    expected: ClassVar[str] = "images"

    #: Colours that an image must have; None: any number.
    colours: ClassVar[int | None] = None

    def __init__(self, image_shape: tuple[int, ...] | None) -> None:
        shape = None if image_shape is None else (*(image_shape[:-2] or (1,)), *image_shape[-2:])
        if shape is None or self.colours not in (None, shape[0]):
            raise UserError(f"augmentation: these data are no {self.expected}; expected augmentation=none")
        self.image_shape = shape

    def of(
        self, features: Float[Tensor, "B D"], generator: torch.Generator, *, shared: bool = False
    ) -> Float[Tensor, "B D"]:
        """A view of each image.

        Parameters
        ----------
        shared : the same transformation for all images, in place of one for each
        """
        drawn = torch.rand(1 if shared else len(features), self.num_draws, generator=generator, device=generator.device)
        draws = drawn.to(features.device).expand(len(features), -1)
        return self.transformed(features.unflatten(1, self.image_shape), draws).flatten(1)

    @abstractmethod
    def transformed(self, images: Float[Tensor, "B C H W"], draws: Float[Tensor, "B n"]) -> Float[Tensor, "B C H W"]:
        """Transformed images; ``draws`` are uniform on [0, 1)."""


class AffineViews(Views):
    """Images rotated, sheared, scaled and shifted; zero outside.

    Attributes
    ----------
    rotate, shear : largest angles, in degrees
    scale : largest relative change of size
    shift : largest shift, as a share of the smaller side: 2 pixels of MNIST's images
    """

    num_draws = 6
    rotate, shear, scale, shift = 12.0, 20.0, 0.1, 1 / 14

    def transformed(self, images: Float[Tensor, "B C H W"], draws: Float[Tensor, "B 6"]) -> Float[Tensor, "B C H W"]:
        """Draws: angle, shear, two scales and two shifts."""
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


class ColourViews(Views):
    """Images in three colours from 0 to 1, shifted, flipped and with changed colours.

    Attributes
    ----------
    crop : largest shift in each direction, in whole pixels
    flip : probability of a horizontal flip
    jitter : largest relative change of brightness, contrast and saturation
    """

    crop, flip, jitter = 4, 0.5, 0.4
    num_draws = 7
    expected = "images in three colours"
    colours = 3

    def transformed(self, images: Float[Tensor, "B 3 H W"], draws: Float[Tensor, "B 7"]) -> Float[Tensor, "B 3 H W"]:
        """Draws: two shifts, flip, brightness, contrast, saturation and hue."""
        down, right = ((draws[:, i] * (2 * self.crop + 1)).long() - self.crop for i in (0, 1))
        seen = cropped(images, down, right, draws[:, 2] < self.flip)
        brightness, contrast, saturation, hue = (self.jitter * (2 * draws[:, 3:] - 1)).unbind(1)
        return recoloured(seen, 1 + brightness, 1 + contrast, 1 + saturation, HUE * hue)


#: By the value of ``augmentation``.
KINDS: dict[str, type[Views]] = {"affine": AffineViews, "colour": ColourViews}


def build_views(augmentation: str, image_shape: tuple[int, ...] | None) -> Views | None:
    """The views of images of this shape; None for ``none``. See :class:`Views` for errors."""
    return None if augmentation == "none" else KINDS[augmentation](image_shape)


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
