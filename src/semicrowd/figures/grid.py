"""Images side by side, a name before each row."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes

#: Grey between the images.
_GAP = 0.35


def draw_grid(axes: Axes, images: np.ndarray, image_shape: tuple[int, ...], names: Sequence[str]) -> None:
    """Draw rows of images, with a pixel of grey between them.

    Parameters
    ----------
    images : [rows, columns, D] in [0, 1]; values outside are cut
    image_shape : (height, width), or (channels, height, width) with one or three channels
    names : of the rows
    """
    # Imported here: torchvision takes a second, and most figures show no images.
    import torch
    from torchvision.utils import make_grid  # type: ignore[import-untyped]

    rows, columns = images.shape[:2]
    channels = image_shape[0] if len(image_shape) == 3 else 1
    stack = torch.from_numpy(np.clip(images, 0, 1)).reshape(rows * columns, channels, *image_shape[-2:])
    mosaic = make_grid(stack, nrow=columns, padding=1, pad_value=_GAP).permute(1, 2, 0).numpy()
    axes.imshow(mosaic, interpolation="nearest" if columns <= 20 else "antialiased")
    axes.set_yticks((np.arange(rows) + 0.5) * (len(mosaic) - 1) / rows, names, fontsize=8)
    axes.set_xticks([])
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
