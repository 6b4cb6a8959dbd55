"""Batches of colour images cropped, mirrored and recoloured, every image by amounts of its own.

torchvision's transforms and their functions move all images of a batch by one amount; these do to each image what its
``functional.crop``, ``horizontal_flip`` and ``adjust_*`` do to one.
"""

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

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
