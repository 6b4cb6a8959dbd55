"""Views of colour images against torchvision's transforms, image by image."""

from typing import Any

import pytest
import torch
from torchvision.transforms.v2 import functional as one  # type: ignore[import-untyped]

from semicrowd.models.views import HUE, ColourViews, build_views, cropped, recoloured

SHAPES = ((3, 8, 8), (3, 5, 11), (3, 1, 4))
STILL: dict[str, Any] = {"crop": 0, "flip": 0.0, "jitter": 0.0}


def images(shape: tuple[int, ...], number: int = 24) -> torch.Tensor:
    """Random ones; the first have one colour, black, white, two strongest colours, hardly any colour."""
    drawn = torch.rand(number, *shape, generator=torch.Generator().manual_seed(0))
    drawn[0], drawn[1], drawn[2, 2] = 0.3, 0.0, 0.0
    drawn[3], drawn[4, 0] = 1.0, drawn[4, 1]
    drawn[5] = 0.5 + 1e-4 * drawn[5]
    return drawn


def seeded() -> torch.Generator:
    return torch.Generator().manual_seed(7)


@pytest.mark.parametrize("shape", SHAPES)
def test_a_crop_is_torchvisions(shape: tuple[int, ...]) -> None:
    given, far = images(shape), 6
    down, right = torch.randint(-far, far + 1, (2, len(given)), generator=seeded())
    mirrored = torch.arange(len(given)) % 3 == 0
    windows = cropped(given, down, right, mirrored)
    for image, y, x, flip, found in zip(given, down, right, mirrored, windows, strict=True):
        padded = one.pad(image, [far], padding_mode="edge")
        window = one.crop(padded, far + int(y), far + int(x), *shape[1:])
        torch.testing.assert_close(found, one.horizontal_flip(window) if flip else window, rtol=0, atol=0)


@pytest.mark.parametrize("change", ["brightness", "contrast", "saturation", "hue", "all"])
def test_another_light_is_torchvisions(change: str) -> None:
    given = images(SHAPES[1])
    drawn = torch.rand(4, len(given), generator=seeded())
    amounts = {"brightness": 2 * drawn[0], "contrast": 2 * drawn[1], "saturation": 2 * drawn[2], "hue": drawn[3] - 0.5}
    nothing = {name: torch.full_like(value, float(name != "hue")) for name, value in amounts.items()}
    amounts = amounts if change == "all" else nothing | {change: amounts[change]}
    found = recoloured(given, **amounts)
    for number, image in enumerate(given):
        expected = image
        for name, amount in amounts.items():
            expected = getattr(one, f"adjust_{name}")(expected, float(amount[number]))
        torch.testing.assert_close(found[number], expected, rtol=0, atol=2e-5)
    assert (found - given).abs().max() > 0.1
    assert found.min() >= 0
    assert found.max() <= 1


def test_a_view_is_what_its_draws_say() -> None:
    """Within the limits, each image by its own draws, the same ones from the same seed."""
    shape = SHAPES[1]
    given = images(shape)
    draws = torch.rand(len(given), 7, generator=seeded())
    views = ColourViews(shape)
    views.crop, views.flip, views.jitter = 2, 0.3, 0.5
    found = views.of(given.flatten(1), seeded()).unflatten(1, shape)
    for image, draw, view in zip(given, draws, found, strict=True):
        y, x = (int(5 * draw[i]) - 2 for i in (0, 1))
        window = one.crop(one.pad(image, [2], padding_mode="edge"), 2 + y, 2 + x, *shape[1:])
        seen = one.horizontal_flip(window) if draw[2] < 0.3 else window
        for name, amount in zip(("brightness", "contrast", "saturation"), draw[3:6], strict=True):
            seen = getattr(one, f"adjust_{name}")(seen, float(0.5 + amount))
        seen = one.adjust_hue(seen, HUE * 0.5 * float(2 * draw[6] - 1))
        torch.testing.assert_close(view, seen, rtol=0, atol=2e-5)


def test_images_that_share_a_draw_are_moved_alike() -> None:
    views, given = build_views("colour", SHAPES[0]), images(SHAPES[0]).flatten(1)
    assert views is not None
    together = views.of(given, seeded(), shared=True)
    for image, moved in zip(given, together, strict=True):
        torch.testing.assert_close(moved, views.of(image[None], seeded())[0])


def test_colour_images_can_be_turned_too() -> None:
    """Each colour as a grey image is."""
    shape = SHAPES[1]
    colour, grey = build_views("affine", shape), build_views("affine", shape[1:])
    assert colour is not None
    assert grey is not None
    given = images(shape)
    found = colour.of(given.flatten(1), seeded()).unflatten(1, shape)
    for number in range(3):
        torch.testing.assert_close(found[:, number].flatten(1), grey.of(given[:, number].flatten(1), seeded()))
