"""Views of images against scipy's affine maps; their graph against a dictionary of links."""

import math
from typing import Any

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose
from scipy.ndimage import affine_transform
from torch.nn.functional import affine_grid

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.errors import UserError
from semicrowd.models.views import Views, build_views, graph_with_views, sampling_grid

NONE: dict[str, Any] = {"rotate": 0.0, "shear": 0.0, "scale": 0.0, "shift": 0.0}


def images(height: int, width: int) -> torch.Tensor:
    """Three smooth images with empty margins."""
    y, x = np.mgrid[:height, :width]
    blobs = [np.exp(-((y - height / 2 - a) ** 2) / 4 - (x - width / 2 + a) ** 2 / 6) for a in (-1, 0, 2)]
    return torch.from_numpy(np.stack(blobs).reshape(3, -1).astype(np.float32))


@pytest.mark.parametrize("kind", ["rotate", "shear", "scale", "shift"])
def test_a_view_is_the_affine_map_of_its_draw(kind: str) -> None:
    """Square images: rotation, shear, zoom and shift as a matrix on pixel coordinates about the centre."""
    size, settings = 20, {"rotate": 25.0, "shear": 20.0, "scale": 0.2, "shift": 2.0}
    features = images(size, size)
    views = Views((size, size))
    for amount, value in (NONE | {kind: settings[kind]}).items():
        setattr(views, amount, value / size if amount == "shift" else value)
    view = views.of(features, torch.Generator().manual_seed(3))
    draws = (2 * torch.rand(3, 6, generator=torch.Generator().manual_seed(3)) - 1).double().numpy()
    centre = np.full(2, (size - 1) / 2)
    for image, seen, draw in zip(features, view, draws, strict=True):
        a, s = math.radians(settings["rotate"]) * draw[0], math.radians(settings["shear"]) * draw[1]
        inverse = {  # of coordinates (x, y), from the view to the image
            "rotate": np.array([[math.cos(a), -math.sin(a)], [math.sin(a), math.cos(a)]]),
            "shear": np.array([[1, math.tan(s)], [0, 1]]),
            "scale": np.diag(1 + settings["scale"] * draw[2:4]),
            "shift": np.eye(2),
        }[kind]
        moved = settings["shift"] * draw[4:6] if kind == "shift" else np.zeros(2)
        matrix = inverse[::-1, ::-1]  # scipy's coordinates are (row, column)
        expected = affine_transform(
            image.reshape(size, size).numpy(), matrix, offset=centre - matrix @ centre + moved[::-1], order=1
        )
        assert_allclose(seen.reshape(size, size), expected, atol=2e-3)
        assert np.abs(expected - image.reshape(size, size).numpy()).max() > 0.02  # it did move


def test_pixels_are_sampled_where_torch_samples_them() -> None:
    theta = torch.randn(5, 2, 3, generator=torch.Generator().manual_seed(0))
    grid = sampling_grid(theta, 4, 7)
    assert_allclose(grid, affine_grid(theta, [5, 1, 4, 7], align_corners=False), atol=1e-6)


def test_the_graph_links_answered_items_and_every_item_with_its_view() -> None:
    answers = PairAnnotations.from_arrays([4, 4, 9], [7, 9, 5], [0, 1, 0], [1, 0, 1], num_items=12)
    batch = answers.index.whole  # nodes 4, 5, 7, 9
    weight = torch.arange(1.0, 10.0)[None]  # three answers, six items
    graph = graph_with_views(6, weight, batch)
    q = torch.softmax(torch.randn(1, 12, 3, generator=torch.Generator().manual_seed(0)), -1)
    links = {(0, 2): 1.0, (0, 3): 2.0, (1, 3): 3.0} | {(i, i + 6): 4.0 + i for i in range(6)}
    expected = torch.zeros(12, 3)
    for (i, j), w in links.items():
        expected[i] += w * q[0, j]
        expected[j] += w * q[0, i]
    torch.testing.assert_close(graph.messages(q)[0], expected)
    torch.testing.assert_close(graph.agreement(q)[0], torch.stack([(q[0, i] * q[0, j]).sum() for i, j in links]))
    component = graph.component.tolist()
    assert graph.num_components == 3
    assert len({component[i] for i in (0, 1, 2, 3, 6, 7, 8, 9)}) == 1
    assert component[4] == component[10] != component[5] == component[11]


def test_views_of_what_is_no_image_are_refused() -> None:
    with pytest.raises(UserError, match="augmentation"):
        build_views("affine", None)
    assert build_views("none", None) is None


def test_images_that_share_a_draw_are_moved_alike() -> None:
    """One image among others is moved as it is alone, and as a batch of one moves it by the same generator."""
    features = images(12, 12)
    views = Views((12, 12))
    together = views.of(features, torch.Generator().manual_seed(5), shared=True)
    for image, moved in zip(features, together, strict=True):
        alone = views.of(image[None], torch.Generator().manual_seed(5))[0]
        torch.testing.assert_close(moved, alone)
    assert (together - features).abs().max() > 0.02
